/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes recipes.
 *
 * Copies or a gather? Measured on an H200, 1080p RGB, us a frame: a tensor 576
 * wide takes three strided copies, 82, or a gather, 88; one 512 wide four copies,
 * 81, or a gather, 78. So a plane is copied with up to three copies, else
 * gathered.
 */
#include "recipe_steps.h"

#include <stdlib.h>
#include <string.h>

/* The largest distance between groups for which copies are used, bytes.
 * cudaMemcpy2DAsync's limit is INT_MAX. */
#define MAX_STEP ((size_t) 1 << 30)

bool
pp_facts_equal (const pp_facts *a, const pp_facts *b)
{
  return a->plan == b->plan && a->unified == b->unified &&
      a->source_in_place == b->source_in_place &&
      a->tensor_in_place == b->tensor_in_place &&
      a->padding_only == b->padding_only && a->staged == b->staged &&
      a->two_bands == b->two_bands && a->padding == b->padding &&
      a->pad == b->pad && a->after == b->after && a->timed == b->timed &&
      memcmp (a->stride, b->stride, sizeof a->stride) == 0;
}

pp_recipe *
pp_recipe_new (int n)
{
  const size_t steps = PP_MAX_STEPS + PP_MAX_PICTURE_STEPS * (size_t) n;
  const size_t gathers = (size_t) (n > 2 ? n : 2) * PP_MAX_PLANES;
  pp_recipe *recipe = malloc (sizeof *recipe + steps * sizeof *recipe->step +
      gathers * sizeof *recipe->gather + (size_t) n * sizeof *recipe->picture);

  if (recipe == NULL)
    return NULL;
  *recipe = (pp_recipe){ .max_pictures = n };
  recipe->step = (pp_step *) (recipe + 1);
  recipe->gather = (pp_gather_step *) (recipe->step + steps);
  recipe->picture = (pp_picture_step *) (recipe->gather + gathers);
  return recipe;
}

/* ---- steps ---------------------------------------------------------------- */

static void
add_launch (struct pp_recipe_maker *maker, const pp_band *band, bool second)
{
  pp_step *step = pp_add_step (maker, PP_OP_LAUNCH, second);

  step->first = band->first;
  step->last = band->last;
}

static void
add_tables (struct pp_recipe_maker *maker)
{
  const size_t size = pp_tables_size_of_all (maker->pictures);
  pp_step *step = pp_add_step (maker, PP_OP_COPY, false);

  step->tables = true;
  step->from = pp_place_at (PP_BASE_PINNED_TABLES, 0);
  step->to = pp_place_at (PP_BASE_INDEX, 0);
  step->shape = pp_copy_bytes (NULL, NULL, size, true);
}

static void
add_download (struct pp_recipe_maker *maker, const pp_band *band, bool second)
{
  pp_add_download (maker, maker->plan, band, 0, 0, second);
}

/* ---- rows of planes ------------------------------------------------------- */

/* Where the plan's rectangle of the plane starts in the frame. */
static pp_place
frame_place (const struct pp_recipe_maker *maker, int plane)
{
  const pp_rect *extent = &maker->plan->extent[plane];

  return pp_place_at (PP_BASE_PLANE + plane,
      (size_t) extent->y * maker->recipe->facts.stride[plane] +
          (size_t) extent->x);
}

/* How many copies the groups take. */
static int
count_copies (const pp_row_groups *group, size_t stride, bool joined)
{
  if ((size_t) group->from_step * stride > MAX_STEP)
    return PP_MAX_ROW_GROUPS + 1;
  return joined || group->groups == 1 ? 1 : group->rows;
}

/* Whether the plane's groups are few enough to be copied. */
static bool
can_copy (const pp_plane_rows *rows, size_t stride, bool joined)
{
  int copies = 0;

  for (int g = 0; g < rows->n_groups; g++)
    copies += count_copies (&rows->group[g], stride, joined);
  return copies > 0 && copies <= PP_MAX_ROW_GROUPS;
}

/* How many of start, start + step, start + 2 * step, ... are less than row; at
 * most most. */
static int
count_before (int row, int start, int step, int most)
{
  const int count = row > start ? (row - start + step - 1) / step : 0;

  return count < most ? count : most;
}

/* The part of the groups that lies in rows [first, last) of the image. A single
 * group is cut by rows; of several, those that begin there are taken whole. */
static pp_row_groups
clip_groups (const pp_row_groups *all, int first, int last)
{
  const bool one = all->groups == 1;
  const int step = one ? 1 : all->to_step;
  const int most = one ? all->rows : all->groups;
  const int begin = count_before (first, all->to, step, most);
  const int count = count_before (last, all->to, step, most) - begin;
  pp_row_groups part = *all;

  part.from += begin * (one ? 1 : all->from_step);
  part.to += begin * step;
  if (one)
    part.rows = count;
  else
    part.groups = count;
  return part;
}

/* Where adjacent rows can be joined, one copy takes all groups, each as one
 * piece. Otherwise a single group takes one copy, and several take one copy for
 * the first rows of all groups, one for the second rows, and so on. */
static void
copy_group (
    struct pp_recipe_maker *maker, int plane, const pp_row_groups *group)
{
  const size_t stride = maker->recipe->facts.stride[plane];
  const size_t to_stride = maker->layout.stride[plane];
  const size_t width = (size_t) maker->plan->extent[plane].width;
  const size_t rows = (size_t) group->rows, groups = (size_t) group->groups;
  const size_t step = (size_t) group->from_step * stride;
  const size_t to_step = (size_t) group->to_step * to_stride;
  const pp_place from = pp_place_beyond (
      frame_place (maker, plane), (size_t) group->from * stride);
  const pp_place to = pp_place_at (PP_BASE_IMAGE,
      maker->layout.offset[plane] + (size_t) group->to * to_stride);

  if (maker->layout.joined[plane]) {
    const size_t piece = (rows - 1) * stride + width;
    pp_add_upload (maker, from, groups > 1 ? step : piece, to,
        groups > 1 ? to_step : piece, piece, groups);
  } else if (groups == 1) {
    pp_add_upload (maker, from, stride, to, to_stride, width, rows);
  } else {
    for (size_t row = 0; row < rows; row++)
      pp_add_upload (maker, pp_place_beyond (from, row * stride), step,
          pp_place_beyond (to, row * to_stride), to_step, width, groups);
  }
}

static void
gather_plane (struct pp_recipe_maker *maker, const pp_band *band, int plane)
{
  const pp_plan *plan = maker->plan;
  const int first = band->first_row[plane];
  const int count = band->last_row[plane] - first;
  const size_t width = (size_t) plan->extent[plane].width;
  const size_t to_row = maker->layout.stride[plane];
  const size_t listed = (size_t) plan->rows[plane].first + (size_t) first;

  if (count == 0)
    return;
  maker->recipe->gather[maker->recipe->n_gathers++] =
      (pp_gather_step){ .from = frame_place (maker, plane),
        .to = pp_place_at (PP_BASE_IMAGE,
            maker->layout.offset[plane] + (size_t) first * to_row),
        .rows =
            pp_place_at (PP_BASE_INDEX, listed * sizeof *plan->device_index),
        .shape = { .from_row = maker->recipe->facts.stride[plane],
            .to_row = to_row,
            .width = width,
            .n_rows = count } };
  maker->recipe->bytes_up += width * (size_t) count;
}

static void
upload_plane (struct pp_recipe_maker *maker, const pp_band *band, int plane)
{
  const pp_plane_rows *rows = &maker->plan->rows[plane];

  if (!can_copy (rows, maker->recipe->facts.stride[plane],
          maker->layout.joined[plane])) {
    gather_plane (maker, band, plane);
    return;
  }
  for (int g = 0; g < rows->n_groups; g++) {
    const pp_row_groups groups = clip_groups (
        &rows->group[g], band->first_row[plane], band->last_row[plane]);
    if (groups.rows > 0 && groups.groups > 0)
      copy_group (maker, plane, &groups);
  }
}

/* Staged planes are uploaded as one piece. */
static void
upload (struct pp_recipe_maker *maker, const pp_band *band)
{
  const unsigned staged = maker->recipe->facts.staged;
  const size_t size = pp_image_staged_size (maker->plan, staged);
  const int first_gather = maker->recipe->n_gathers;

  if (size > 0)
    pp_add_upload (maker, pp_place_at (PP_BASE_STAGING, 0), size,
        pp_place_at (PP_BASE_IMAGE, 0), size, size, 1);
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (maker->plan->rows[p].count > 0 && (staged & (1u << p)) == 0)
      upload_plane (maker, band, p);
  if (maker->recipe->n_gathers > first_gather) {
    pp_step *step = pp_add_step (maker, PP_OP_GATHER, false);
    step->first = first_gather;
    step->last = maker->recipe->n_gathers;
  }
}

/* ---- the whole ------------------------------------------------------------ */

static void
place_launches (struct pp_recipe_maker *maker)
{
  pp_picture_step *picture = &maker->recipe->picture[0];
  const pp_facts *facts = &maker->recipe->facts;

  *picture = (pp_picture_step){
    .tensor = pp_place_at (
        facts->tensor_in_place ? PP_BASE_OUTPUT : PP_BASE_TENSOR, 0),
    .index = pp_place_at (PP_BASE_INDEX, 0),
    .weight = pp_place_at (PP_BASE_WEIGHT, 0),
  };
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (maker->plan->rows[p].count == 0)
      continue;
    if (facts->source_in_place) {
      picture->source[p] = frame_place (maker, p);
      picture->stride[p] = facts->stride[p];
    } else {
      picture->source[p] = pp_place_at (PP_BASE_IMAGE, maker->layout.offset[p]);
      picture->stride[p] = maker->layout.stride[p];
    }
    /* Medians are those of all rows, so they lie as these rows do. */
    picture->medians[p] =
        pp_place_at (PP_BASE_MEDIANS, maker->layout.offset[p]);
    picture->medians_stride[p] = maker->layout.stride[p];
  }
}

/* The steps between START and DONE, for a job in one band. */
static void
add_whole (struct pp_recipe_maker *maker)
{
  const pp_facts *facts = &maker->recipe->facts;
  const pp_band *whole = &maker->plan->whole;

  if (!facts->source_in_place)
    upload (maker, whole);
  pp_add_uploaded (maker);
  pp_add_pad (maker);
  add_launch (maker, whole, false);
  pp_add_computed (maker);
  if (!facts->tensor_in_place)
    add_download (maker, whole, false);
}

static void
add_padding_only (struct pp_recipe_maker *maker)
{
  const pp_pictures *pictures = maker->pictures;

  for (int i = 0; i < pictures->n; i++)
    maker->recipe->picture[i] = (pp_picture_step){
      .tensor = pp_place_at (PP_BASE_OUTPUT, pictures->slice[i])
    };
  pp_add_pad (maker);
}

/* The same in two bands: the upper one is computed and downloaded on the second
 * stream while the lower one is uploaded. All steps of the upper one are queued
 * first; meanwhile its upload keeps the bus busy for about as long. The lower
 * one's download waits for the upper one's, so that DONE means both are
 * done. */
static void
add_two_bands (struct pp_recipe_maker *maker)
{
  const bool timed = maker->recipe->facts.timed;
  const pp_band *upper = &maker->plan->upper, *lower = &maker->plan->lower;

  upload (maker, upper);
  pp_add_record (maker, PP_MARK_UPPER_UPLOADED);
  pp_add_mark (maker, PP_OP_WAIT, PP_MARK_UPPER_UPLOADED, true);
  add_launch (maker, upper, true);
  add_download (maker, upper, true);
  upload (maker, lower);
  pp_add_record (maker, timed ? PP_MARK_UPLOADED : PP_MARK_INPUT_READ);
  add_launch (maker, lower, false);
  if (timed)
    pp_add_record (maker, PP_MARK_COMPUTED);
  pp_add_mark (maker, PP_OP_RECORD, PP_MARK_UPPER_DONE, true);
  pp_add_mark (maker, PP_OP_WAIT, PP_MARK_UPPER_DONE, false);
  add_download (maker, lower, false);
}

/* The marks of a job's stages. */
static void
set_marks (pp_recipe *recipe)
{
  const pp_facts *facts = &recipe->facts;
  const bool timed = facts->timed;
  const pp_mark done = timed ? PP_MARK_DONE : PP_MARK_END;

  recipe->done_mark = done;
  recipe->uploaded_mark =
      facts->source_in_place ? PP_MARK_START : PP_MARK_UPLOADED;
  recipe->computed_mark = facts->tensor_in_place ? done : PP_MARK_COMPUTED;
  if (!timed)
    recipe->input_mark = PP_MARK_INPUT_READ;
  else
    recipe->input_mark =
        facts->source_in_place ? recipe->computed_mark : PP_MARK_UPLOADED;
  if (facts->source_in_place && facts->tensor_in_place)
    recipe->input_mark = done;
}

/* What the bases must have room for; of several pictures, pp_add_pictures knows
 * more. */
static void
set_sizes (pp_recipe *recipe, const pp_pictures *pictures)
{
  const pp_facts *facts = &recipe->facts;
  const pp_plan *plan = pictures->plan[0];
  const bool medians = plan->median.size > 0 && !facts->unified;
  const bool tables = !facts->unified && !facts->padding_only;

  recipe->image_size = facts->source_in_place ? 0 : pp_image_size (plan);
  recipe->medians_size =
      medians && !facts->padding_only ? pp_image_size (plan) : 0;
  recipe->tensor_size =
      facts->tensor_in_place ? 0 : (size_t) pictures->n * plan->tensor_size;
  recipe->tables_size = tables ? pp_tables_size_of_all (pictures) : 0;
}

void
pp_recipe_init (
    pp_recipe *recipe, const pp_pictures *pictures, const pp_facts *facts)
{
  const bool one = pictures->n == 1;
  struct pp_recipe_maker maker = {
    .recipe = recipe, .plan = pictures->plan[0], .pictures = pictures
  };

  recipe->facts = *facts;
  recipe->n_pictures = pictures->n;
  recipe->n_steps = recipe->n_gathers = 0;
  recipe->bytes_up = recipe->bytes_down = 0;
  recipe->all_rows = facts->source_in_place;
  set_marks (recipe);
  set_sizes (recipe, pictures);
  if (one && !facts->padding_only) {
    pp_image_layout_init (
        &maker.layout, maker.plan, facts->staged, facts->stride);
    place_launches (&maker);
  }
  if (facts->after)
    pp_add_mark (&maker, PP_OP_WAIT, PP_MARK_AFTER, false);
  if (!facts->unified && !facts->padding_only)
    add_tables (&maker);
  if (facts->timed)
    pp_add_record (&maker, PP_MARK_START);
  if (facts->padding_only)
    add_padding_only (&maker);
  else if (!one)
    pp_add_pictures (&maker);
  else if (facts->two_bands)
    add_two_bands (&maker);
  else
    add_whole (&maker);
  pp_add_record (&maker, recipe->done_mark);
}
