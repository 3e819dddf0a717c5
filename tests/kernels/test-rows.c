/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rows a device gets, and how. The device is simulated: what the engine
 * would queue is done by memcpy, and the reference reads the image that comes
 * of it with the device's table. Its tensor must have the bits of the one that
 * it makes of the frame.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/engine/copy_rows.h"
#include "kernels/reference/reference.h"
#include "kernels/plan/parts.h"

#include "tests/checkkern/checkcases.h"
#include "tests/common/formats.h"
#include "rowimage.h"

#define CASES 20000

/* A frame in memory of its own, plane by plane. */
struct frame {
  uint8_t *block[PP_MAX_PLANES];
  pp_view view;
};

static void *
must (void *memory)
{
  if (memory == NULL)
    abort ();
  return memory;
}

static void
frame_init (struct frame *frame, const check_case *check, check_random *random)
{
  *frame = (struct frame){ .block = { NULL } };
  for (int p = 0; p < check->n_planes; p++) {
    const size_t size = check->stride[p] * check->rows[p];

    frame->block[p] = must (malloc (check->lead[p] + size));
    frame->view.plane[p] = frame->block[p] + check->lead[p];
    frame->view.stride[p] = check->stride[p];
    check_fill_plane (check, p, frame->block[p] + check->lead[p], random);
  }
}

static void
frame_clear (struct frame *frame)
{
  for (int p = 0; p < PP_MAX_PLANES; p++)
    free (frame->block[p]);
}

/* New bytes in all rows of the extents that are not listed. */
static void
disturb_unlisted (
    const pp_plan *plan, const pp_view *source, check_random *random)
{
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    int next = 0;

    for (int row = 0; row < plan->extent[p].height; row++) {
      if (next < plan->rows[p].count && listed_row (plan, p, next) == row)
        next++;
      else
        check_fill_random (random,
            (uint8_t *) source->plane[p] + (size_t) row * source->stride[p],
            (size_t) plan->extent[p].width);
    }
  }
}

static void
check_rows (const pp_plan *plan, int number)
{
  EXPECT (rows_are_listed (plan), "case %d", number);
  EXPECT (rows_are_indexed (plan), "case %d", number);
}

/* Strides that rows can be joined at, in every other case. */
static void
align_strides (check_case *check, check_random *random)
{
  if (check_one_in (random, 2))
    return;
  for (int p = 0; p < check->n_planes; p++)
    check->stride[p] = (check->stride[p] + 15) / 16 * 16;
}

static void
check_case_number (int number)
{
  check_case check;
  check_random random = check_case_init (&check, 1, number);
  struct frame frame;
  row_image image;

  align_strides (&check, &random);
  pp_plan *plan = make_plan (
      &check.spec, &check.format, check.cropped ? &check.source : NULL);
  if (plan == NULL)
    return;
  check_rows (plan, number);

  frame_init (&frame, &check, &random);
  const pp_view source = pp_plan_crop_view (plan, &frame.view);
  uint8_t *expected = must (malloc (plan->tensor_size));
  uint8_t *tensor = must (malloc (plan->tensor_size));
  pp_apply_c (plan, &source, expected);
  disturb_unlisted (plan, &source, &random);
  memset (tensor, 0xa5, plan->tensor_size);
  EXPECT (
      row_image_init (&image, plan, (unsigned) check_next (&random), &source),
      "case %d", number);
  row_image_apply (&image, plan, check_one_in (&random, 2), tensor);
  EXPECT (memcmp (tensor, expected, plan->tensor_size) == 0,
      "case %d: other bits than from the frame", number);
  if (plan->can_be_two) {
    memset (tensor, 0xa5, plan->tensor_size);
    EXPECT (row_image_apply_bands (plan, &source, tensor) &&
            memcmp (tensor, expected, plan->tensor_size) == 0,
        "case %d: other bits in two bands", number);
  }

  free (tensor);
  free (expected);
  row_image_clear (&image);
  frame_clear (&frame);
  pp_plan_unref (&plan);
}

static void
test_cases (void)
{
  for (int number = 0; number < CASES; number++)
    check_case_number (number);
}

/* How each plane of DESIGN.md's jobs is moved. Planes that are pinned; strides
 * as GStreamer makes them, but for pad bytes more. */
static const struct {
  const char *name;
  pp_format (*format) (int width, int height);
  int width, height, out;
  pp_fit fit;
  size_t pad;
  int copies;   /* of all planes */
  int gathered; /* planes */
  size_t bytes;
} moves[] = {
#define HD rgb_format, 1920, 1080
#define HD_NV12 nv12_format, 1920, 1080
#define UHD_NV12 nv12_format, 3840, 2160
#define LETTERBOX PP_FIT_LETTERBOX
  { "every third row", HD, 640, LETTERBOX, 0, 1, 0, 2071440 },
  { "four of 15 rows, two groups", HD, 256, LETTERBOX, 0, 2, 0, 1656288 },
  { "six of ten, three groups", HD, 576, LETTERBOX, 0, 3, 0, 3730536 },
  { "eight of 15, four groups", HD, 512, LETTERBOX, 0, 0, 1, 3314304 },
  { "14 of 60, seven groups", HD, 224, LETTERBOX, 0, 0, 1, 1446984 },
  { "all rows", HD, 1080, PP_FIT_STRETCH, 0, 1, 0, 6220800 },
  { "every third row; all rows", HD_NV12, 640, LETTERBOX, 0, 2, 0, 1727280 },
  { "two of six; every third", UHD_NV12, 640, LETTERBOX, 0, 2, 0, 4145040 },
  { "all rows", nv12_format, 1280, 720, 640, LETTERBOX, 0, 2, 0, 1382400 },
  /* strides that rows cannot be joined at */
  { "every third row", HD, 640, LETTERBOX, 4, 1, 0, 2071440 },
  { "four of 15 rows, two groups", HD, 256, LETTERBOX, 4, 0, 1, 1653696 },
  { "all rows", HD, 1080, PP_FIT_STRETCH, 4, 1, 0, 6220800 },
  { "two of six; every third", UHD_NV12, 640, LETTERBOX, 4, 3, 0, 4143600 },
  { "two of six; every third", UHD_NV12, 640, LETTERBOX, 4096, 3, 0, 4143600 },
#undef HD
#undef HD_NV12
#undef UHD_NV12
#undef LETTERBOX
};

static void
test_decisions (void)
{
  for (int i = 0; i < LENGTH (moves); i++) {
    const pp_format format = moves[i].format (moves[i].width, moves[i].height);
    pp_spec spec = sized_spec (moves[i].out, moves[i].out);
    static const uint8_t frame[1], memory[1]; /* nothing is read or written */
    const size_t stride =
        (size_t) moves[i].width * (size_t) format.component[0].pixel_stride +
        moves[i].pad;
    const pp_view source = { .plane = { frame, frame },
      .stride = { stride, stride } };
    pp_image image;

    spec.fit = moves[i].fit;
    pp_plan *plan = make_plan (&spec, &format, NULL);
    if (plan == NULL)
      continue;
    pp_image_init (&image, plan, &plan->whole, 0, &source, (void *) memory,
        plan->device_index);
    EXPECT (image.n_copies == moves[i].copies &&
            image.gather.n_planes == moves[i].gathered &&
            image.bytes == moves[i].bytes,
        "%s, %dx%d to %d, pad %zu: %d copies, %d gathered, %zu bytes",
        moves[i].name, moves[i].width, moves[i].height, moves[i].out,
        moves[i].pad, image.n_copies, image.gather.n_planes, image.bytes);
    pp_plan_unref (&plan);
  }
}

/* Planes that are all staged are one copy, however many rows they have. */
static void
test_staged (void)
{
  const pp_format format = nv12_format (640, 360);
  const pp_spec spec = sized_spec (50, 50);
  pp_plan *plan = make_plan (&spec, &format, NULL);
  static uint8_t frame[640 * 540];
  pp_view view = { .plane = { frame, frame + 640 * 360 },
    .stride = { 640, 640 } };
  row_image there;
  const pp_image *image = &there.image;

  if (plan == NULL)
    return;
  view = pp_plan_crop_view (plan, &view);
  EXPECT (row_image_init (&there, plan, ~0u, &view), "no image");
  EXPECT (image->n_copies == 1 && image->gather.n_planes == 0 &&
          image->bytes == pp_image_staged_size (plan, 3) &&
          image->bytes < sizeof frame / 2,
      "%d copies, %zu bytes", image->n_copies, image->bytes);
  row_image_clear (&there);
  pp_plan_unref (&plan);
}

/* A plan by hand: a gray plane of 16 bytes by height rows, and a table. */
static pp_plan
plan_of_taps (int height, int n_out, int n_taps, int32_t *index, float *weight)
{
  const pp_axis axis = { n_out, n_taps, 0, 0 };

  return (pp_plan){ .numbers = { .n_components = 1, .y = { axis, axis } },
    .index = index,
    .weight = weight,
    .n_index = (size_t) n_out,
    .n_weight = (size_t) (n_out * n_taps),
    .extent = { { 0, 0, 16, height } } };
}

/* Taps that weigh nothing may read any row of the image, but none outside:
 * where it is too small for them, it has their rows. No filter is known that
 * makes such a table. */
static void
test_light_taps (void)
{
  /* rows 0 and 19, 4 taps each: there would be an image of two rows */
  int32_t index[] = { 0, 16 };
  float weight[] = { 1, 0, 0, 0, 0, 0, 0, 1 };
  pp_plan plan = plan_of_taps (20, 2, 4, index, weight);

  EXPECT (pp_rows_init (&plan), "no memory");
  check_rows (&plan, -1);
  EXPECT (plan.rows[0].count == 8 && plan.rows[0].n_groups == 1,
      "%d rows, %d groups", plan.rows[0].count, plan.rows[0].n_groups);
  free (plan.device_index);
}

/* Plans that read rows which no table names get all of them. */
static void
test_all_rows (void)
{
  int32_t index[] = { 0, 16 };
  float weight[] = { 1, 1 };
  pp_plan plan = plan_of_taps (20, 2, 1, index, weight);

  EXPECT (pp_rows_init (&plan) && plan.rows[0].count == 2, "%d rows",
      plan.rows[0].count);
  free (plan.device_index);
  plan = plan_of_taps (20, 2, 1, index, weight);
  plan.all_rows = true;
  EXPECT (pp_rows_init (&plan) && plan.rows[0].count == 20 &&
          memcmp (plan.device_index, index, sizeof index) == 0,
      "%d rows", plan.rows[0].count);
  check_rows (&plan, -2);
  free (plan.device_index);
}

/* Two tables in one plane, which no known format has. */
static void
test_shared_plane (void)
{
  pp_format format = yuv_format (8, 64);
  const pp_spec spec = sized_spec (8, 4);

  for (int c = 0; c < 3; c++)
    format.component[c] = (pp_component){ .offset = 8 * c,
      .pixel_stride = 1,
      .sub_x = c > 0,
      .sub_y = c > 0,
      .depth = 8 };
  pp_plan *plan = make_plan (&spec, &format, NULL);
  if (plan == NULL)
    return;
  EXPECT (plan->rows[0].count == plan->extent[0].height, "%d of %d rows",
      plan->rows[0].count, plan->extent[0].height);
  check_rows (plan, -3);
  pp_plan_unref (&plan);
}

/* Every width and place in a cache line, and rows in any order: what is listed
 * comes over, and nothing around it changes. */
static void
test_copied_rows (void)
{
  enum {
    ROWS = 5,
    WIDEST = 200,
    STRIDE = 256
  };
  static const int32_t listed[ROWS] = { 2, 0, 4, 4, 1 };
  uint8_t *from = must (malloc (ROWS * STRIDE + 64));
  uint8_t *to = must (aligned_alloc (64, (ROWS + 1) * STRIDE));
  check_random random = { 77 };

  check_fill_random (&random, from, ROWS * STRIDE + 64);
  for (size_t width = 1; width <= WIDEST; width++)
    for (size_t lead = 0; lead < 64; lead++) {
      const uint8_t guard = (uint8_t) (width + lead);
      bool same = true;

      memset (to, guard, (ROWS + 1) * STRIDE);
      pp_copy_rows (to + 16, STRIDE, from + lead, STRIDE, listed, ROWS, width);
      for (size_t i = 0; i < (ROWS + 1) * STRIDE; i++) {
        const size_t row = (i - 16) / STRIDE, x = (i - 16) % STRIDE;
        const bool inside = i >= 16 && row < ROWS && x < width;
        const size_t place =
            inside ? lead + (size_t) listed[row] * STRIDE + x : 0;

        same = same && to[i] == (inside ? from[place] : guard);
      }
      EXPECT (same, "width %zu, from %zu", width, lead);
    }
  free (from);
  free (to);
}

int
main (void)
{
  test_cases ();
  test_decisions ();
  test_staged ();
  test_light_taps ();
  test_all_rows ();
  test_shared_plane ();
  test_copied_rows ();
  return expect_end ();
}
