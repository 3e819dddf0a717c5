/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rows a device gets, how, and what a job's recipe says. Recipes are run on
 * a device that memcpy stands for; the tensor must have the bits of the one that
 * the reference makes of the frame.
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

/* number: for the texts. */
static void
check_moved (const check_case *check, check_random random, int number)
{
  struct frame frame;
  pp_plan *plan = make_plan (
      &check->spec, &check->format, check->cropped ? &check->source : NULL);

  if (plan == NULL)
    return;
  check_rows (plan, number);

  frame_init (&frame, check, &random);
  const pp_view source = pp_plan_crop_view (plan, &frame.view);
  uint8_t *expected = must (malloc (plan->tensor_size));
  uint8_t *tensor = must (malloc (plan->tensor_size));
  pp_apply_c (plan, &source, expected);
  disturb_unlisted (plan, &source, &random);
  memset (tensor, 0xa5, plan->tensor_size);
  pp_facts facts =
      facts_of (plan, (unsigned) check_next (&random), source.stride);
  EXPECT (run_recipe (plan, &facts, &source, check_one_in (&random, 2), tensor),
      "case %d", number);
  EXPECT (memcmp (tensor, expected, plan->tensor_size) == 0,
      "case %d: other bits than from the frame", number);
  for (int place = SOURCE_IN_PLACE; place <= BOTH_IN_PLACE; place++) {
    memset (tensor, 0xa5, plan->tensor_size);
    facts = facts_of (plan,
        place == TENSOR_IN_PLACE ? (unsigned) check_next (&random) : 0,
        source.stride);
    set_place (&facts, (enum place) place);
    facts.pad = place != SOURCE_IN_PLACE;
    EXPECT (
        run_recipe (plan, &facts, &source, check_one_in (&random, 2), tensor) &&
            memcmp (tensor, expected, plan->tensor_size) == 0,
        "case %d: other bits in place %d", number, place);
  }
  if (plan->can_be_two) {
    memset (tensor, 0xa5, plan->tensor_size);
    facts = facts_of (plan, 0, source.stride);
    facts.two_bands = true;
    EXPECT (run_recipe (plan, &facts, &source, true, tensor) &&
            memcmp (tensor, expected, plan->tensor_size) == 0,
        "case %d: other bits in two bands", number);
  }

  free (tensor);
  free (expected);
  frame_clear (&frame);
  pp_plan_unref (&plan);
}

static void
test_cases (void)
{
  for (int number = 0; number < CASES; number++) {
    check_case check;
    check_random random = check_case_init (&check, 1, number);

    align_strides (&check, &random);
    check_moved (&check, random, number);
  }
}

/* A band of a mirrored frame may begin in the middle of a group of rows that are
 * copied together: with the one that the other band takes, or with all. */
static void
test_cut_groups (void)
{
  static const pp_direction directions[] = { PP_DIRECTION_VERT,
    PP_DIRECTION_90R };
  static const double fractions[] = { 0, 0.875, 0.7 };

  for (int height = 16; height < 26; height++)
    for (int out = 4; out < height; out++)
      for (int i = 0; i < 2 * 2 * 3; i++) {
        check_case check = { .number = -4 };
        const check_random random = { (uint64_t) (height * out + i) };

        check_case_frame (&check, "RGB", 16, height);
        check.spec.method = i & 1 ? PP_METHOD_BILINEAR : PP_METHOD_NEAREST;
        check.spec.direction = directions[i >> 1 & 1];
        check.spec.crop_fraction = fractions[i >> 2];
        check.spec.width = check.spec.direction == PP_DIRECTION_VERT ? 8 : out;
        check.spec.height = check.spec.direction == PP_DIRECTION_VERT ? out : 8;
        check_moved (&check, random, height * 1000 + out);
      }
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
    const size_t stride =
        (size_t) moves[i].width * (size_t) format.component[0].pixel_stride +
        moves[i].pad;
    const size_t strides[PP_MAX_PLANES] = { stride, stride };
    pp_recipe *recipe = must (pp_recipe_new (1));
    int copies = 0;

    spec.fit = moves[i].fit;
    pp_plan *plan = make_plan (&spec, &format, NULL);
    if (plan == NULL)
      continue;
    const pp_facts facts = facts_of (plan, 0, strides);
    const pp_pictures pictures = { .n = 1, .plan = { plan } };
    pp_recipe_init (recipe, &pictures, &facts);
    for (int s = 0; s < recipe->n_steps; s++)
      copies += recipe->step[s].op == PP_OP_COPY && recipe->step[s].shape.up &&
          !recipe->step[s].tables;
    EXPECT (copies == moves[i].copies &&
            recipe->n_gathers == moves[i].gathered &&
            recipe->bytes_up == moves[i].bytes,
        "%s, %dx%d to %d, pad %zu: %d copies, %d gathered, %zu bytes",
        moves[i].name, moves[i].width, moves[i].height, moves[i].out,
        moves[i].pad, copies, (int) recipe->n_gathers, recipe->bytes_up);
    free (recipe);
    pp_plan_unref (&plan);
  }
}

/* The recipes of NV12, 640x360 to 50x50, as text: what follows from which
 * facts. */
static const struct {
  const char *name;
  unsigned staged;
  enum place place;
  bool two_bands, after, timed, pad;
  const char *text;
} recipes[] = {
  { "timed", 0, IN_HOST_MEMORY, false, false, true, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "gather plane0+1925 -> image+0: 630 x 100 rows (640 -> 640) of "
      "index+800, plane1+644 -> image+64000: 632 x 100 rows (640 -> 640) "
      "of index+1200\n"
      "record uploaded\n"
      "launch rows 0 to 50\n"
      "record computed\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record done\n" },
  { "untimed, after another", 0, IN_HOST_MEMORY, false, true, false, false,
      "wait for after\n"
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "gather plane0+1925 -> image+0: 630 x 100 rows (640 -> 640) of "
      "index+800, plane1+644 -> image+64000: 632 x 100 rows (640 -> 640) "
      "of index+1200\n"
      "record input-read\n"
      "launch rows 0 to 50\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record end\n" },
  { "staged", 3, IN_HOST_MEMORY, false, false, true, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "copy staging+0 -> image+0: 128000\n"
      "record uploaded\n"
      "launch rows 0 to 50\n"
      "record computed\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record done\n" },
  { "one plane staged", 2, IN_HOST_MEMORY, false, false, false, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "copy staging+0 -> image+0: 64000\n"
      "gather plane0+1925 -> image+64000: 630 x 100 rows (640 -> 640) of "
      "index+800\n"
      "record input-read\n"
      "launch rows 0 to 50\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record end\n" },
  { "two bands", 0, IN_HOST_MEMORY, true, false, true, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "gather plane0+1925 -> image+0: 630 x 50 rows (640 -> 640) of "
      "index+800, plane1+644 -> image+64000: 632 x 50 rows (640 -> 640) "
      "of index+1200\n"
      "record upper-uploaded\n"
      "second: wait for upper-uploaded\n"
      "second: launch rows 0 to 25\n"
      "second: copy tensor+0 -> output+0: 200 x 25 rows (200 -> 200) x 3 "
      "boxes (10000 -> 10000)\n"
      "gather plane0+1925 -> image+32000: 630 x 50 rows (640 -> 640) of "
      "index+1000, plane1+644 -> image+96000: 632 x 50 rows (640 -> 640) "
      "of index+1400\n"
      "record uploaded\n"
      "launch rows 25 to 50\n"
      "record computed\n"
      "second: record upper-done\n"
      "wait for upper-done\n"
      "copy tensor+5000 -> output+5000: 200 x 25 rows (200 -> 200) x 3 "
      "boxes (10000 -> 10000)\n"
      "record done\n" },
  { "unified", 0, UNIFIED, false, true, true, false,
      "wait for after\n"
      "record start\n"
      "launch rows 0 to 50\n"
      "record done\n" },
  { "unified, untimed", 0, UNIFIED, false, false, false, false,
      "launch rows 0 to 50\n"
      "record end\n" },
  { "on the device", 0, BOTH_IN_PLACE, false, true, true, true,
      "wait for after\n"
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "pad pictures 0\n"
      "launch rows 0 to 50\n"
      "record done\n" },
  { "on the device, untimed", 0, BOTH_IN_PLACE, false, false, false, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "launch rows 0 to 50\n"
      "record end\n" },
  { "source on the device", 0, SOURCE_IN_PLACE, false, false, true, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "launch rows 0 to 50\n"
      "record computed\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record done\n" },
  { "source on the device, untimed", 0, SOURCE_IN_PLACE, false, false, false,
      false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "launch rows 0 to 50\n"
      "record input-read\n"
      "copy tensor+0 -> output+0: 200 x 50 rows (200 -> 200) x 3 boxes "
      "(10000 -> 10000)\n"
      "record end\n" },
  { "tensor on the device", 0, TENSOR_IN_PLACE, false, false, true, true,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "record start\n"
      "gather plane0+1925 -> image+0: 630 x 100 rows (640 -> 640) of "
      "index+800, plane1+644 -> image+64000: 632 x 100 rows (640 -> 640) "
      "of index+1200\n"
      "record uploaded\n"
      "pad pictures 0\n"
      "launch rows 0 to 50\n"
      "record done\n" },
  { "tensor on the device, staged, untimed", 3, TENSOR_IN_PLACE, false, false,
      false, false,
      "copy pinned-tables+0 -> index+0: 3392, unless there\n"
      "copy staging+0 -> image+0: 128000\n"
      "record input-read\n"
      "launch rows 0 to 50\n"
      "record end\n" },
};

/* What a job is done with, and when its stages are over. */
static void
check_marks (const pp_recipe *recipe, const char *name)
{
  const pp_facts *facts = &recipe->facts;
  const pp_mark done = facts->timed ? PP_MARK_DONE : PP_MARK_END;
  bool read = false, seen[PP_N_MARKS] = { false };

  for (int s = 0; s < recipe->n_steps; s++) {
    const pp_step *step = &recipe->step[s];

    if (step->op == PP_OP_RECORD) {
      EXPECT (step->mark != recipe->input_mark || read,
          "%s: the input is not read yet", name);
      seen[step->mark] = true;
    }
    read |= facts->source_in_place
        ? step->op == PP_OP_LAUNCH
        : step->op == PP_OP_GATHER || step->op == PP_OP_COPY;
  }
  EXPECT (recipe->done_mark == done && seen[done] && seen[recipe->input_mark],
      "%s: the job does not end", name);
  EXPECT (!facts->timed ||
          (seen[recipe->uploaded_mark] && seen[recipe->computed_mark] &&
              (recipe->uploaded_mark == PP_MARK_START) ==
                  facts->source_in_place &&
              (recipe->computed_mark == PP_MARK_DONE) ==
                  facts->tensor_in_place),
      "%s: marks %d and %d", name, (int) recipe->uploaded_mark,
      (int) recipe->computed_mark);
}

/* A recipe says what a job does, and nothing else. */
static void
test_recipes (void)
{
  const pp_format format = nv12_format (640, 360);
  const pp_spec spec = sized_spec (50, 50);
  const size_t strides[PP_MAX_PLANES] = { 640, 640 };
  pp_plan *plan = make_plan (&spec, &format, NULL);
  const pp_pictures pictures = { .n = 1, .plan = { plan } };
  pp_recipe *recipe = must (pp_recipe_new (1));
  static char text[4000];

  for (int i = 0; i < LENGTH (recipes) && plan != NULL; i++) {
    pp_facts facts = facts_of (plan, recipes[i].staged, strides);
    set_place (&facts, recipes[i].place);
    facts.pad = recipes[i].pad;
    facts.two_bands = recipes[i].two_bands;
    facts.after = recipes[i].after;
    facts.timed = recipes[i].timed;
    pp_recipe_init (recipe, &pictures, &facts);
    pp_recipe_describe (recipe, text, sizeof text);
    EXPECT (
        strcmp (text, recipes[i].text) == 0, "%s:\n%s", recipes[i].name, text);
    check_marks (recipe, recipes[i].name);
  }
  free (recipe);
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

/* A kept recipe is used again only where all facts are the same. */
static void
test_facts (void)
{
#define FIELD(name)                                                            \
  {                                                                            \
#name, offsetof(pp_facts, name)                                            \
  }
  static const struct {
    const char *name;
    size_t offset; /* of a byte of it */
  } fields[] = {
    FIELD (plan),
    FIELD (unified),
    FIELD (source_in_place),
    FIELD (tensor_in_place),
    FIELD (padding_only),
    FIELD (staged),
    FIELD (two_bands),
    FIELD (padding),
    FIELD (pad),
    FIELD (after),
    FIELD (timed),
    FIELD (stride[0]),
    FIELD (stride[PP_MAX_PLANES - 1]),
  };

  for (int i = 0; i < LENGTH (fields); i++) {
    pp_facts a = { 0 }, b = { 0 };

    EXPECT (pp_facts_equal (&a, &b), "equal facts differ");
    ((uint8_t *) &b)[fields[i].offset] = 1;
    EXPECT (!pp_facts_equal (&a, &b), "%s does not count", fields[i].name);
  }
#undef FIELD
}

int
main (void)
{
  test_cases ();
  test_cut_groups ();
  test_decisions ();
  test_recipes ();
  test_light_taps ();
  test_all_rows ();
  test_shared_plane ();
  test_copied_rows ();
  test_facts ();
  return expect_end ();
}
