/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rows a device gets, and how. The device is simulated: what the engine
 * would queue is done by memcpy, and the reference reads the image that comes
 * of it with the device's table. Its tensor must have the bits of the one that
 * it makes of the frame.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/image.h"
#include "kernels/kernels.h"
#include "kernels/rows.h"

#include "checkcases.h"
#include "formats.h"

#define CASES 20000

/* A frame in memory of its own, plane by plane. */
struct frame {
  uint8_t *block[PP_MAX_PLANES];
  pp_view view;
};

/* A simulated device's memory: what pp_image_size asks for, no byte more. */
struct device {
  size_t size;
  uint8_t *memory;
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

/* The listed row of the plane's extent. */
static int
listed (const pp_plan *plan, int plane, int i)
{
  return plan->device_index[plan->rows[plane].first + i];
}

/* New bytes in all rows of the extents that are not listed. */
static void
disturb_unlisted (
    const pp_plan *plan, const pp_view *source, check_random *random)
{
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    int next = 0;

    for (int row = 0; row < plan->extent[p].height; row++) {
      if (next < plan->rows[p].count && listed (plan, p, next) == row)
        next++;
      else
        check_fill_random (random,
            (uint8_t *) source->plane[p] + (size_t) row * source->stride[p],
            (size_t) plan->extent[p].width);
    }
  }
}

/* The lists are ascending, inside the extents, and what their groups say. */
static void
check_lists (const pp_plan *plan, const check_case *check)
{
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_plane_rows *rows = &plan->rows[p];
    const int height = plan->extent[p].height;
    int wrong = rows->count < (height > 0) || rows->count > height, seen = 0;

    for (int i = 0; i < rows->count; i++)
      wrong += listed (plan, p, i) <= (i > 0 ? listed (plan, p, i - 1) : -1) ||
          listed (plan, p, i) >= height;
    for (int k = 0; k < rows->n_groups; k++) {
      const pp_row_groups *g = &rows->group[k];
      for (int i = 0; i < g->groups; i++)
        for (int j = 0; j < g->rows; j++, seen++)
          wrong += listed (plan, p, g->to + i * g->to_step + j) !=
              g->from + i * g->from_step + j;
    }
    wrong += rows->n_groups > 0 && seen != rows->count;
    EXPECT (wrong == 0, "case %d, plane %d: %d wrong of %d rows, %d groups",
        check->number, p, wrong, rows->count, rows->n_groups);
  }
}

/* Every tap reads a row of the image, and if it weighs something, the right
 * one. */
static void
check_index (const pp_plan *plan, const check_case *check)
{
  const pp_numbers *n = &plan->numbers;

  for (int c = 0; c < n->n_components; c++) {
    const pp_source *source = &n->source[c];
    const pp_axis *x = &n->x[source->axes], *y = &n->y[source->axes];
    const pp_plane_rows *rows = &plan->rows[source->plane];
    int wrong = memcmp (plan->index + x->first, plan->device_index + x->first,
                    (size_t) x->n_out * sizeof *plan->index) != 0;

    for (int o = 0; o < y->n_out; o++)
      for (int j = 0; j < y->n_taps; j++) {
        const float weight =
            plan->weight[y->first_weight + (ptrdiff_t) j * y->n_out + o];
        const int row = source->first_row + plan->index[y->first + o] + j;
        const int at = source->first_row + plan->device_index[y->first + o] + j;
        wrong += at < 0 || at >= rows->count ||
            (weight != 0 && listed (plan, source->plane, at) != row);
      }
    EXPECT (
        wrong == 0, "case %d, component %d: %d wrong", check->number, c, wrong);
  }
}

/* Whether a write of size bytes stays in the memory. */
static bool
inside (const struct device *device, const void *to, size_t size)
{
  const uint8_t *at = to;

  return at >= device->memory && at + size <= device->memory + device->size;
}

static void
run_copy (const struct device *device, const pp_copy *copy)
{
  EXPECT (copy->boxes == 1 && copy->up && copy->width <= copy->from_row &&
          copy->width <= copy->to_row &&
          inside (
              device, copy->to, (copy->rows - 1) * copy->to_row + copy->width),
      "%zu rows of %zu bytes, strides %zu and %zu", copy->rows, copy->width,
      copy->from_row, copy->to_row);
  for (size_t row = 0; row < copy->rows; row++)
    memcpy ((uint8_t *) copy->to + row * copy->to_row,
        (const uint8_t *) copy->from + row * copy->from_row, copy->width);
}

/* In whole words, as the kernel does it. */
static void
run_gather (const struct device *device, const pp_gather_plane *plane)
{
  const size_t words = (plane->width + PP_GATHER_ALIGNMENT - 1) /
      PP_GATHER_ALIGNMENT * PP_GATHER_ALIGNMENT;

  EXPECT ((uintptr_t) plane->to % PP_GATHER_ALIGNMENT == 0 &&
          plane->to_row % PP_GATHER_ALIGNMENT == 0 && words <= plane->to_row,
      "%zu bytes to %p, stride %zu", plane->width, (void *) plane->to,
      plane->to_row);
  for (int i = 0; i < plane->n_rows; i++) {
    uint8_t *to = plane->to + (size_t) i * plane->to_row;
    EXPECT (inside (device, to, words), "row %d is outside", i);
    memcpy (to, plane->from + (size_t) plane->rows[i] * plane->from_row,
        plane->width);
    memset (to + plane->width, 0xdb, words - plane->width);
  }
}

static void
device_init (struct device *device, const pp_plan *plan)
{
  device->size = pp_image_size (plan);
  device->memory = must (aligned_alloc (256, device->size));
  memset (device->memory, 0xcd, device->size);
}

/* Brings the frame there; its last word of 8 bytes a row must be readable. */
static void
make_image (const struct device *device, const pp_plan *plan, unsigned staged,
    pp_view source, pp_image *image)
{
  const size_t staged_size = pp_image_staged_size (plan, staged);
  uint8_t *staging = must (malloc (staged_size + 1));
  size_t bytes = pp_image_stage (plan, staged, staging, &source), wanted = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if ((staged & (1u << p)) != 0)
      wanted += (size_t) plan->rows[p].count * (size_t) plan->extent[p].width;
  EXPECT (bytes == wanted, "%zu bytes staged, not %zu", bytes, wanted);

  pp_image_init (
      image, plan, staged, &source, device->memory, plan->device_index);
  bytes = 0;
  for (int i = 0; i < image->n_copies; i++) {
    run_copy (device, &image->copy[i]);
    bytes += image->copy[i].width * image->copy[i].rows;
  }
  for (int i = 0; i < image->gather.n_planes; i++) {
    const pp_gather_plane *plane = &image->gather.plane[i];
    run_gather (device, plane);
    bytes += plane->width * (size_t) plane->n_rows;
  }
  EXPECT (bytes == image->bytes, "%zu bytes, not %zu", image->bytes, bytes);
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const size_t rows = (size_t) plan->rows[p].count;
    const size_t width = ((size_t) plan->extent[p].width + 7) / 8 * 8;
    EXPECT (rows == 0 ||
            (((uintptr_t) image->view.plane[p] | image->view.stride[p]) % 16 ==
                    0 &&
                inside (device, image->view.plane[p],
                    (rows - 1) * image->view.stride[p] + width)),
        "plane %d: stride %zu", p, image->view.stride[p]);
  }
  free (staging);
}

/* The tensor as a device makes it of its image, by either host kernel. */
static void
apply_image (const pp_plan *plan, const pp_image *image, bool cpu, void *tensor)
{
  pp_plan there = *plan;

  there.index = plan->device_index;
  if (!cpu) {
    pp_apply_c (&there, &image->view, tensor);
    return;
  }
  const size_t size = (pp_apply_cpu_scratch (&there) + 63) / 64 * 64;
  void *scratch = must (aligned_alloc (64, size + 64));
  pp_plan_fill_padding (&there, tensor);
  pp_apply_cpu (
      &there, &image->view, tensor, 0, there.numbers.content_height, scratch);
  free (scratch);
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
  struct device device;
  pp_image image;

  align_strides (&check, &random);
  pp_plan *plan = make_plan (
      &check.spec, &check.format, check.cropped ? &check.source : NULL);
  if (plan == NULL)
    return;
  check_lists (plan, &check);
  check_index (plan, &check);

  frame_init (&frame, &check, &random);
  device_init (&device, plan);
  const pp_view source = pp_plan_crop_view (plan, &frame.view);
  uint8_t *expected = must (malloc (plan->tensor_size));
  uint8_t *tensor = must (malloc (plan->tensor_size));
  pp_apply_c (plan, &source, expected);
  disturb_unlisted (plan, &source, &random);
  memset (tensor, 0xa5, plan->tensor_size);
  make_image (&device, plan, (unsigned) check_next (&random), source, &image);
  apply_image (plan, &image, check_one_in (&random, 2), tensor);
  EXPECT (memcmp (tensor, expected, plan->tensor_size) == 0,
      "case %d: other bits than from the frame", number);

  free (tensor);
  free (expected);
  free (device.memory);
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
    pp_image_init (
        &image, plan, 0, &source, (void *) memory, plan->device_index);
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
  struct device device;
  pp_image image;

  if (plan == NULL)
    return;
  view = pp_plan_crop_view (plan, &view);
  device_init (&device, plan);
  make_image (&device, plan, ~0u, view, &image);
  EXPECT (image.n_copies == 1 && image.gather.n_planes == 0 &&
          image.bytes == pp_image_staged_size (plan, 3) &&
          image.bytes < sizeof frame / 2,
      "%d copies, %zu bytes", image.n_copies, image.bytes);
  free (device.memory);
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
  const check_case check = { .number = -1 };
  pp_plan plan = plan_of_taps (20, 2, 4, index, weight);

  EXPECT (pp_rows_init (&plan), "no memory");
  check_lists (&plan, &check);
  check_index (&plan, &check);
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
  const check_case check = { .number = -2 };
  pp_plan plan = plan_of_taps (20, 2, 1, index, weight);

  EXPECT (pp_rows_init (&plan) && plan.rows[0].count == 2, "%d rows",
      plan.rows[0].count);
  free (plan.device_index);
  plan = plan_of_taps (20, 2, 1, index, weight);
  plan.all_rows = true;
  EXPECT (pp_rows_init (&plan) && plan.rows[0].count == 20 &&
          memcmp (plan.device_index, index, sizeof index) == 0,
      "%d rows", plan.rows[0].count);
  check_lists (&plan, &check);
  check_index (&plan, &check);
  free (plan.device_index);
}

/* Two tables in one plane, which no known format has. */
static void
test_shared_plane (void)
{
  pp_format format = yuv_format (8, 64);
  const pp_spec spec = sized_spec (8, 4);
  const check_case check = { .number = -3 };

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
  check_lists (plan, &check);
  check_index (plan, &check);
  pp_plan_unref (&plan);
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
  return expect_end ();
}
