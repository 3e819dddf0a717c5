/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans for regions: the same as those of pp_plan_new, in memory that is there
 * before the first, and how long they take. What a recipe of several pictures
 * says.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/plan/plan_pool.h"
#include "kernels/plan/recipe.h"

#include "tests/checkkern/checkcases.h"
#include "tests/common/formats.h"
#include "tests/common/times.h"
#include "rowimage.h"

#define CASES 1000
#define REGIONS 12
/* Regions of a frame, and how often that many plans are made. */
#define BATCH 16
#define ROUNDS 500

static void *
must (void *memory)
{
  if (memory == NULL)
    abort ();
  return memory;
}

static pp_rect
pick_region (check_random *random, const pp_format *format)
{
  const int x = check_between (random, 0, format->width - 1);
  const int y = check_between (random, 0, format->height - 1);

  return (pp_rect){ x, y, check_between (random, 1, format->width - x),
    check_between (random, 1, format->height - y) };
}

/* All numbers but the place of the tables. */
static bool
numbers_are_equal (const pp_numbers *a, const pp_numbers *b)
{
  pp_numbers one = *a, other = *b;

  for (int k = 0; k < 2; k++) {
    one.x[k].first = one.x[k].first_weight = 0;
    one.y[k].first = one.y[k].first_weight = 0;
    other.x[k].first = other.x[k].first_weight = 0;
    other.y[k].first = other.y[k].first_weight = 0;
  }
  return memcmp (&one, &other, sizeof one) == 0;
}

static bool
axes_are_equal (const int32_t *index_a, const float *weight_a, const pp_axis *a,
    const int32_t *index_b, const float *weight_b, const pp_axis *b)
{
  const size_t n = (size_t) a->n_out, weights = n * (size_t) a->n_taps;

  return a->n_out == b->n_out && a->n_taps == b->n_taps &&
      memcmp (index_a + a->first, index_b + b->first, n * sizeof *index_a) ==
      0 &&
      memcmp (weight_a + a->first_weight, weight_b + b->first_weight,
          weights * sizeof *weight_a) == 0;
}

static bool
tables_are_equal (const pp_plan *a, const pp_plan *b)
{
  bool equal = true;

  for (int k = 0; k < 2; k++)
    equal = equal &&
        axes_are_equal (a->index, a->weight, &a->numbers.x[k], b->index,
            b->weight, &b->numbers.x[k]) &&
        axes_are_equal (a->index, a->weight, &a->numbers.y[k], b->index,
            b->weight, &b->numbers.y[k]);
  return equal;
}

/* The blocks that devices get. */
static bool
blocks_are_equal (const pp_plan *a, const pp_plan *b, bool all_rows)
{
  uint8_t *block_a = must (malloc (pp_tables_size (a)));
  uint8_t *block_b = must (malloc (pp_tables_size (b)));
  const int32_t *index_a = (int32_t *) (void *) block_a;
  const int32_t *index_b = (int32_t *) (void *) block_b;
  const float *weight_a =
      (float *) (void *) (block_a + pp_tables_weight_offset (a));
  const float *weight_b =
      (float *) (void *) (block_b + pp_tables_weight_offset (b));
  bool equal = true;

  pp_tables_write (a, all_rows, block_a);
  pp_tables_write (b, all_rows, block_b);
  for (int k = 0; k < 2; k++)
    equal = equal &&
        axes_are_equal (index_a, weight_a, &a->block_x[k], index_b, weight_b,
            &b->block_x[k]) &&
        axes_are_equal (index_a, weight_a, &a->block_y[k], index_b, weight_b,
            &b->block_y[k]);
  for (int p = 0; p < PP_MAX_PLANES && !all_rows; p++) {
    const pp_plane_rows *rows = &a->rows[p];
    const size_t size = (size_t) rows->count * sizeof (int32_t);

    equal = equal &&
        memcmp (index_a + rows->first, index_b + b->rows[p].first, size) == 0 &&
        (rows->count == 0 || memcmp (a->listed[p], b->listed[p], size) == 0);
  }
  free (block_a);
  free (block_b);
  return equal;
}

static bool
rows_are_equal (const pp_plan *a, const pp_plan *b)
{
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    pp_plane_rows one = a->rows[p], other = b->rows[p];

    one.first = other.first = 0;
    if (memcmp (&one, &other, sizeof one) != 0)
      return false;
  }
  return true;
}

static void
check_equal (const pp_plan *plan, const pp_plan *single, int number)
{
  EXPECT (numbers_are_equal (&plan->numbers, &single->numbers),
      "case %d: other numbers", number);
  EXPECT (tables_are_equal (plan, single), "case %d: other tables", number);
  EXPECT (blocks_are_equal (plan, single, false) &&
          blocks_are_equal (plan, single, true),
      "case %d: other blocks", number);
  EXPECT (rows_are_equal (plan, single), "case %d: other rows", number);
  EXPECT (memcmp (plan->extent, single->extent, sizeof plan->extent) == 0 &&
          memcmp (plan->span, single->span, sizeof plan->span) == 0 &&
          memcmp (&plan->median, &single->median, sizeof plan->median) == 0 &&
          memcmp (&plan->geometry, &single->geometry, sizeof plan->geometry) ==
              0 &&
          plan->tensor_size == single->tensor_size &&
          plan->whole.last == single->whole.last &&
          memcmp (plan->whole.last_row, single->whole.last_row,
              sizeof plan->whole.last_row) == 0,
      "case %d: another extent, span, median or geometry", number);
  EXPECT (plan->id != single->id, "case %d: an id twice", number);
}

/* Whatever the format, the filter and the region. */
static void
test_equal (void)
{
  int cached = 0;

  for (int number = 0; number < CASES; number++) {
    check_case check;
    check_random random = check_case_init (&check, 3, number);
    pp_error error;

    if (number >= check_first_large () && number < check_walk_length ())
      continue;
    pp_region_plans *plans =
        pp_region_plans_new (&check.spec, &check.format, 4, &error);
    if (plans == NULL) /* as there: a frame that is resized to too much */
      continue;
    for (int i = 0; i < REGIONS; i++) {
      const pp_rect region = pick_region (&random, &check.format);
      pp_plan *plan = pp_region_plans_get (plans, &region, &error);
      pp_plan *single = pp_plan_new (&check.spec, &check.format, &region, NULL);

      EXPECT ((plan == NULL) == (single == NULL), "case %d: %s", number,
          error.text);
      if (plan != NULL && single != NULL) {
        check_equal (plan, single, number);
        cached += plan->pool != NULL;
      }
      pp_plan_unref (&plan);
      pp_plan_unref (&single);
    }
    pp_region_plans_free (&plans);
  }
  EXPECT (cached > CASES * REGIONS / 2, "%d plans were of a cache", cached);
}

/* Plans outlive what made them; those beyond the number are made one by one. */
static void
test_held (void)
{
  enum {
    PLANS = 8
  };
  const pp_format format = nv12_format (640, 360);
  const pp_spec spec = sized_spec (32, 32);
  pp_error error;
  pp_region_plans *plans =
      pp_region_plans_new (&spec, &format, PLANS / 2, &error);
  pp_plan *plan[PLANS];

  for (int i = 0; i < PLANS; i++) {
    const pp_rect region = { i, 2 * i, 100 + i, 50 + i };

    plan[i] = pp_region_plans_get (plans, &region, &error);
    EXPECT (plan[i] != NULL && (plan[i]->pool != NULL) == (i < PLANS / 2),
        "plan %d", i);
  }
  pp_region_plans_free (&plans);
  for (int i = 0; i < PLANS; i++) {
    const pp_rect region = { i, 2 * i, 100 + i, 50 + i };
    pp_plan *single = make_plan (&spec, &format, &region);

    check_equal (plan[i], single, i);
    pp_plan_unref (&plan[i]);
    pp_plan_unref (&single);
  }
}

/* More tables than there is room for: the oldest go. Plans that are held keep
 * theirs, and are in nobody's way. */
static void
test_evicted (void)
{
  enum {
    HELD = 5,
    LATER = 12000
  };
  const pp_format format = nv12_format (1920, 1080);
  pp_spec spec = sized_spec (96, 64);
  check_random random = { 11 };
  pp_plan *plan[HELD], *single[HELD];
  int one_by_one = 0;

  spec.method = PP_METHOD_LANCZOS;
  spec.antialias = true;
  pp_region_plans *plans = pp_region_plans_new (&spec, &format, 64, NULL);
  for (int i = 0; i < LATER; i++) {
    const pp_rect region = pick_region (&random, &format);
    pp_plan *later = pp_region_plans_get (plans, &region, NULL);

    EXPECT (later != NULL, "plan %d", i);
    one_by_one += later->pool == NULL;
    if (i < HELD) {
      plan[i] = later;
      single[i] = make_plan (&spec, &format, &region);
      continue;
    }
    if (i % 500 == 0) {
      pp_plan *same = make_plan (&spec, &format, &region);
      check_equal (later, same, i);
      pp_plan_unref (&same);
    }
    pp_plan_unref (&later);
    if (i == LATER / 2)
      for (int held = 0; held < HELD; held++) {
        check_equal (plan[held], single[held], held);
        pp_plan_unref (&plan[held]);
        pp_plan_unref (&single[held]);
      }
  }
  EXPECT (one_by_one == 0, "%d one by one", one_by_one);
  pp_region_plans_free (&plans);
}

/* More plans are held than there is room for: the rest are made one by one, until
 * there is room again. */
static void
test_full (void)
{
  enum {
    PLANS = 600
  };
  const pp_format format = gray_format (1000, 900);
  pp_spec spec = sized_spec (64, 64);
  static pp_plan *plan[PLANS];
  int one_by_one = 0;

  spec.method = PP_METHOD_BICUBIC;
  spec.antialias = true;
  pp_region_plans *plans = pp_region_plans_new (&spec, &format, PLANS, NULL);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < PLANS; i++) {
      const pp_rect region = { 0, 0, 1000 - i, 900 - i };

      plan[i] = pp_region_plans_get (plans, &region, NULL);
      one_by_one += plan[i]->pool == NULL;
    }
    EXPECT (one_by_one > 0 && one_by_one < PLANS, "%d one by one", one_by_one);
    one_by_one = 0;
    for (int i = 0; i < PLANS; i++) {
      const pp_rect region = { 0, 0, 1000 - i, 900 - i };
      pp_plan *single = make_plan (&spec, &format, &region);

      check_equal (plan[i], single, i);
      pp_plan_unref (&plan[i]);
      pp_plan_unref (&single);
    }
  }
  pp_region_plans_free (&plans);
}

static void
test_refused (void)
{
  const pp_format format = nv12_format (64, 48);
  pp_spec spec = sized_spec (8, 8);
  pp_error error;
  pp_region_plans *plans = pp_region_plans_new (&spec, &format, 4, &error);
  const pp_rect outside = { 60, 0, 8, 8 }, empty = { 1, 1, 0, 5 };

  EXPECT (pp_region_plans_get (plans, &outside, &error) == NULL &&
          error.status == PP_BAD_ARGUMENT && strstr (error.text, "60,0"),
      "%s", error.text);
  EXPECT (
      pp_region_plans_get (plans, &empty, &error) == NULL, "%s", error.text);
  pp_region_plans_free (&plans);
  EXPECT (pp_region_plans_new (&spec, &format, 0, &error) == NULL &&
          strstr (error.text, "n_plans is 0"),
      "%s", error.text);
  spec.width = 0;
  EXPECT (pp_region_plans_new (&spec, &format, 4, &error) == NULL &&
          strstr (error.text, "width"),
      "%s", error.text);
}

/* Recipes of three regions of NV12, 640x360, to 8x8 uint8. Picture 0 is in the
 * first slice, 1 in the one behind it, 2 in the one behind a gap. */
static const struct {
  const char *name;
  unsigned staged;
  enum place place;
  bool together, padding, timed;
  uint64_t pad;
  bool padding_only, medians;
  const char *text;
} recipes[] = {
  { "gathered", 0, IN_HOST_MEMORY, false, false, true, 0, false, false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "record start\n"
      "gather plane0+12810 -> image+0: 12 x 16 rows (640 -> 64) of "
      "index+128, plane1+6410 -> image+1024: 12 x 8 rows (640 -> 64) "
      "of index+192, plane0+64740 -> image+1536: 11 x 9 rows (640 -> "
      "64) of index+640, plane1+32100 -> image+2304: 12 x 5 rows "
      "(640 -> 64) of index+676, plane0+128940 -> image+2816: 8 x 8 "
      "rows (640 -> 64) of index+1152, plane1+64300 -> image+3328: 8 "
      "x 12 rows (640 -> 64) of index+1184\n"
      "record uploaded\n"
      "launch pictures 0 to 3\n"
      "record computed\n"
      "copy tensor+0 -> output+0: 384\n"
      "copy tensor+384 -> output+576: 192\n"
      "record done\n" },
  { "one plane staged", 2, IN_HOST_MEMORY, false, false, false, 0, false, false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "copy staging+0 -> image+0: 1792\n"
      "gather plane0+12810 -> image+1792: 12 x 16 rows (640 -> 64) "
      "of index+128, plane0+64740 -> image+2816: 11 x 9 rows (640 -> "
      "64) of index+640, plane0+128940 -> image+3584: 8 x 8 rows "
      "(640 -> 64) of index+1152\n"
      "record input-read\n"
      "launch pictures 0 to 3\n"
      "copy tensor+0 -> output+0: 384\n"
      "copy tensor+384 -> output+576: 192\n"
      "record end\n" },
  { "together", 0, IN_HOST_MEMORY, true, false, false, 0, false, false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "copy plane0+12810 -> image+0: 18 x 18 rows (640 -> 64)\n"
      "copy plane1+6410 -> image+1280: 18 x 9 rows (640 -> 64)\n"
      "record input-read\n"
      "launch pictures 0 to 3\n"
      "copy tensor+0 -> output+0: 384\n"
      "copy tensor+384 -> output+576: 192\n"
      "record end\n" },
  { "with padding", 0, IN_HOST_MEMORY, false, true, false, 0, false, false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "gather plane0+12810 -> image+0: 12 x 16 rows (640 -> 64) of "
      "index+112, plane1+6410 -> image+1024: 12 x 8 rows (640 -> 64) "
      "of index+176, plane0+64740 -> image+1536: 11 x 9 rows (640 -> "
      "64) of index+632, plane1+32100 -> image+2304: 12 x 5 rows "
      "(640 -> 64) of index+668, plane0+128940 -> image+2816: 8 x 8 "
      "rows (640 -> 64) of index+1112, plane1+64300 -> image+3328: 8 "
      "x 12 rows (640 -> 64) of index+1144\n"
      "record input-read\n"
      "launch pictures 0 to 3 with padding\n"
      "copy tensor+0 -> output+0: 384\n"
      "copy tensor+384 -> output+576: 192\n"
      "record end\n" },
  { "unified", 0, UNIFIED, false, true, true, 0, false, false,
      "record start\n"
      "launch pictures 0 to 3 with padding\n"
      "record done\n" },
  { "on the device", 0, BOTH_IN_PLACE, false, false, true, 5, false, false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "record start\n"
      "pad pictures 0 2\n"
      "launch pictures 0 to 3\n"
      "record done\n" },
  { "on the device, with medians", 0, BOTH_IN_PLACE, false, false, false, 0,
      false, true,
      "copy pinned-tables+0 -> index+0: 1792, unless there\n"
      "launch pictures 0 to 1\n"
      "launch pictures 1 to 2\n"
      "launch pictures 2 to 3\n"
      "record end\n" },
  { "source on the device", 0, SOURCE_IN_PLACE, false, true, false, 0, false,
      false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "launch pictures 0 to 3 with padding\n"
      "record input-read\n"
      "copy tensor+0 -> output+0: 384\n"
      "copy tensor+384 -> output+576: 192\n"
      "record end\n" },
  { "tensors on the device", 0, TENSOR_IN_PLACE, true, false, true, 2, false,
      false,
      "copy pinned-tables+0 -> index+0: 1536, unless there\n"
      "record start\n"
      "copy plane0+12810 -> image+0: 18 x 18 rows (640 -> 64)\n"
      "copy plane1+6410 -> image+1280: 18 x 9 rows (640 -> 64)\n"
      "record uploaded\n"
      "pad pictures 1\n"
      "launch pictures 0 to 3\n"
      "record done\n" },
  { "padding only", 0, BOTH_IN_PLACE, false, false, false, 7, true, false,
      "fill pictures 0 1 2\n"
      "record end\n" },
  { "padding only, which is there", 0, BOTH_IN_PLACE, false, false, false, 0,
      true, false, "record end\n" },
};

static void
test_recipes (void)
{
  static const pp_rect small[] = { { 10, 20, 12, 16 }, { 100, 101, 11, 9 },
    { 300, 200, 8, 24 } };
  static const pp_rect near[] = { { 10, 20, 16, 16 }, { 12, 22, 16, 16 },
    { 11, 21, 16, 16 } };
  const pp_format format = nv12_format (640, 360);
  pp_spec spec = sized_spec (8, 8);
  const size_t strides[PP_MAX_PLANES] = { 640, 640 };
  pp_recipe *recipe = must (pp_recipe_new (3));
  static char text[4000];

  spec.type = PP_TYPE_UINT8;
  for (int i = 0; i < LENGTH (recipes); i++) {
    pp_pictures pictures = { .n = 3, .slice = { 0, 192, 576 } };
    pp_plan *plan[3];

    spec.fit = recipes[i].padding ? PP_FIT_LETTERBOX : PP_FIT_STRETCH;
    spec.denoise = recipes[i].medians ? PP_DENOISE_MEDIAN : PP_DENOISE_NONE;
    for (int r = 0; r < 3; r++)
      pictures.plan[r] = plan[r] = make_plan (
          &spec, &format, recipes[i].together ? &near[r] : &small[r]);
    pp_facts facts = facts_of (plan[0], recipes[i].staged, strides);
    set_place (&facts, recipes[i].place);
    facts.pad = recipes[i].pad;
    facts.padding_only = recipes[i].padding_only;
    facts.padding = recipes[i].padding;
    facts.timed = recipes[i].timed;
    pp_recipe_init (recipe, &pictures, &facts);
    pp_recipe_describe (recipe, text, sizeof text);
    EXPECT (
        strcmp (text, recipes[i].text) == 0, "%s:\n%s", recipes[i].name, text);
    for (int r = 0; r < 3; r++)
      pp_plan_unref (&plan[r]);
  }
  free (recipe);
}

static void
pick_batch (check_random *random, bool seen, pp_rect region[BATCH])
{
  for (int i = 0; i < BATCH; i++) {
    if (!seen)
      region[i] = (pp_rect){ .width = check_between (random, 60, 240),
        .height = check_between (random, 120, 360) };
    region[i].x = check_between (random, 0, 1920 - region[i].width);
    region[i].y = check_between (random, 0, 1080 - region[i].height);
  }
}

/* The median and the ninth decile of how long a frame's plans take. way: for
 * regions as wide and as high as ones before; for random ones; for random ones
 * with a cache that is new, so that no table is there; one by one. */
static void
print_time (const pp_spec *spec, const pp_format *format, int way)
{
  static const char *const names[] = { "seen", "random", "all tables new",
    "one by one" };
  static double took[ROUNDS];
  check_random random = { 5 };
  pp_rect region[BATCH];
  pp_region_plans *plans = NULL;

  pick_batch (&random, false, region);
  for (int round = 0; round < ROUNDS; round++) {
    pp_plan *plan[BATCH];

    if (plans == NULL || way == 2) {
      pp_region_plans_free (&plans);
      plans = pp_region_plans_new (spec, format, 4 * BATCH, NULL);
    }
    pick_batch (&random, way == 0, region);
    const double start = monotonic_time ();
    for (int i = 0; i < BATCH; i++)
      plan[i] = way == 3 ? pp_plan_new (spec, format, &region[i], NULL)
                         : pp_region_plans_get (plans, &region[i], NULL);
    took[round] = monotonic_time () - start;
    for (int i = 0; i < BATCH; i++)
      pp_plan_unref (&plan[i]);
  }
  pp_region_plans_free (&plans);
  qsort (took, ROUNDS, sizeof *took, compare_times);
  printf ("%d plans, %s, %s, %s: median %.1f us, p90 %.1f\n", BATCH,
      spec->antialias ? "antialias" : "bilinear",
      spec->fit == PP_FIT_STRETCH ? "stretch" : "letterbox", names[way],
      took[ROUNDS / 2], took[ROUNDS * 9 / 10]);
}

/* Not checked: machines differ. */
static void
test_time (void)
{
  const pp_format format = nv12_format (1920, 1080);
  pp_spec spec = sized_spec (112, 112);

  for (int antialias = 0; antialias <= 1; antialias++)
    for (int fit = 0; fit <= PP_FIT_LETTERBOX; fit++)
      for (int way = 0; way <= 3; way++) {
        spec.antialias = antialias;
        spec.fit = (pp_fit) fit;
        print_time (&spec, &format, way);
      }
}

int
main (void)
{
  test_equal ();
  test_held ();
  test_evicted ();
  test_full ();
  test_refused ();
  test_recipes ();
  test_time ();
  return expect_end ();
}
