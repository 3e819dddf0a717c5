/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes recipes.
 *
 * Copies or a gather? Measured on an H200, 1080p RGB, us a frame: a tensor 576
 * wide takes three strided copies, 82, or a gather, 88; one 512 wide four copies,
 * 81, or a gather, 78. So a plane is copied with up to three copies, else
 * gathered.
 */
#include "recipe.h"

#include <string.h>

#include "image.h"

/* The largest distance between groups for which copies are used, bytes.
 * cudaMemcpy2DAsync's limit is INT_MAX. */
#define MAX_STEP ((size_t) 1 << 30)
/* Tables start at multiples of this on the device, bytes. */
#define TABLE_ALIGNMENT 256

/* A recipe that is being made. */
struct maker {
  pp_recipe *recipe;
  const pp_plan *plan;
  pp_image_layout layout;
};

static pp_place
place (int base, size_t offset)
{
  return (pp_place){ .base = base, .offset = offset };
}

static pp_place
beyond (pp_place place, size_t offset)
{
  place.offset += offset;
  return place;
}

bool
pp_facts_equal (const pp_facts *a, const pp_facts *b)
{
  return a->plan == b->plan && a->in_place == b->in_place &&
      a->staged == b->staged && a->two_bands == b->two_bands &&
      a->after == b->after && a->timed == b->timed &&
      memcmp (a->stride, b->stride, sizeof a->stride) == 0;
}

size_t
pp_tables_weight_offset (const pp_plan *plan)
{
  const size_t size = plan->n_device_index * sizeof *plan->device_index;

  return (size + TABLE_ALIGNMENT - 1) / TABLE_ALIGNMENT * TABLE_ALIGNMENT;
}

size_t
pp_tables_size (const pp_plan *plan)
{
  return pp_tables_weight_offset (plan) + plan->n_weight * sizeof *plan->weight;
}

/* ---- steps ---------------------------------------------------------------- */

static pp_step *
add_step (struct maker *maker, pp_op op, bool second)
{
  pp_step *step = &maker->recipe->step[maker->recipe->n_steps++];

  *step = (pp_step){ .op = op, .second = second };
  return step;
}

static void
add_mark (struct maker *maker, pp_op op, pp_mark mark, bool second)
{
  add_step (maker, op, second)->mark = mark;
}

static void
record (struct maker *maker, pp_mark mark)
{
  add_mark (maker, PP_OP_RECORD, mark, false);
}

static void
add_launch (struct maker *maker, const pp_band *band, bool second)
{
  pp_step *step = add_step (maker, PP_OP_LAUNCH, second);

  step->first = band->first;
  step->last = band->last;
}

/* Rows of width bytes, from_row and to_row bytes apart. */
static void
add_upload (struct maker *maker, pp_place from, size_t from_row, pp_place to,
    size_t to_row, size_t width, size_t rows)
{
  pp_step *step = add_step (maker, PP_OP_COPY, false);

  step->from = from;
  step->to = to;
  step->shape = (pp_copy){ .from_row = from_row,
    .to_row = to_row,
    .from_box = from_row * rows,
    .to_box = to_row * rows,
    .width = width,
    .rows = rows,
    .boxes = 1,
    .up = true };
  maker->recipe->bytes_up += width * rows;
}

static void
add_tables (struct maker *maker)
{
  const size_t size = pp_tables_size (maker->plan);
  pp_step *step = add_step (maker, PP_OP_COPY, false);

  step->tables = true;
  step->from = place (PP_BASE_PINNED_TABLES, 0);
  step->to = place (PP_BASE_INDEX, 0);
  step->shape = pp_copy_bytes (NULL, NULL, size, true);
}

/* A rectangle of the tensor, in its own rows and columns. */
static pp_rect
find_band (const pp_numbers *n, const pp_band *band)
{
  const int first = n->content_y + band->first;
  const int rows = band->last - band->first;

  if (n->swapped)
    return (pp_rect){ first, n->content_x, rows, n->content_width };
  return (pp_rect){ n->content_x, first, n->content_width, rows };
}

/* Downloads a band of the content; in a planar layout, of each channel. */
static void
add_download (struct maker *maker, const pp_band *band, bool second)
{
  const pp_numbers *n = &maker->plan->numbers;
  const size_t element = pp_type_size ((pp_type) n->type);
  const pp_rect part = find_band (n, band);
  const int64_t pixel_stride = n->swapped ? n->row_stride : n->pixel_stride;
  const int64_t row_stride = n->swapped ? n->pixel_stride : n->row_stride;
  const bool planar = pixel_stride == 1;
  const size_t pixel = element * (size_t) pixel_stride;
  const size_t row = element * (size_t) row_stride;
  const size_t box = row * (size_t) (n->swapped ? n->width : n->height);
  const size_t offset = (size_t) part.y * row + (size_t) part.x * pixel;
  pp_step *step = add_step (maker, PP_OP_COPY, second);

  step->from = place (PP_BASE_TENSOR, offset);
  step->to = place (PP_BASE_OUTPUT, offset);
  step->shape = (pp_copy){ .from_row = row,
    .to_row = row,
    .from_box = box,
    .to_box = box,
    .width = (size_t) part.width * pixel,
    .rows = (size_t) part.height,
    .boxes = planar ? (size_t) n->n_channels : 1,
    .up = false };
  maker->recipe->bytes_down +=
      step->shape.width * step->shape.rows * step->shape.boxes;
}

/* ---- rows of planes ------------------------------------------------------- */

/* Where the plan's rectangle of the plane starts in the frame. */
static pp_place
frame_place (const struct maker *maker, int plane)
{
  const pp_rect *extent = &maker->plan->extent[plane];

  return place (PP_BASE_PLANE + plane,
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
copy_group (struct maker *maker, int plane, const pp_row_groups *group)
{
  const size_t stride = maker->recipe->facts.stride[plane];
  const size_t to_stride = maker->layout.stride[plane];
  const size_t width = (size_t) maker->plan->extent[plane].width;
  const size_t rows = (size_t) group->rows, groups = (size_t) group->groups;
  const size_t step = (size_t) group->from_step * stride;
  const size_t to_step = (size_t) group->to_step * to_stride;
  const pp_place from =
      beyond (frame_place (maker, plane), (size_t) group->from * stride);
  const pp_place to = place (PP_BASE_IMAGE,
      maker->layout.offset[plane] + (size_t) group->to * to_stride);

  if (maker->layout.joined[plane]) {
    const size_t piece = (rows - 1) * stride + width;
    add_upload (maker, from, groups > 1 ? step : piece, to,
        groups > 1 ? to_step : piece, piece, groups);
  } else if (groups == 1) {
    add_upload (maker, from, stride, to, to_stride, width, rows);
  } else {
    for (size_t row = 0; row < rows; row++)
      add_upload (maker, beyond (from, row * stride), step,
          beyond (to, row * to_stride), to_step, width, groups);
  }
}

static void
gather_plane (struct maker *maker, const pp_band *band, int plane)
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
        .to = place (PP_BASE_IMAGE,
            maker->layout.offset[plane] + (size_t) first * to_row),
        .rows = place (PP_BASE_INDEX, listed * sizeof *plan->device_index),
        .shape = { .from_row = maker->recipe->facts.stride[plane],
            .to_row = to_row,
            .width = width,
            .n_rows = count } };
  maker->recipe->bytes_up += width * (size_t) count;
}

static void
upload_plane (struct maker *maker, const pp_band *band, int plane)
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
upload (struct maker *maker, const pp_band *band)
{
  const unsigned staged = maker->recipe->facts.staged;
  const size_t size = pp_image_staged_size (maker->plan, staged);
  const int first_gather = maker->recipe->n_gathers;

  if (size > 0)
    add_upload (maker, place (PP_BASE_STAGING, 0), size,
        place (PP_BASE_IMAGE, 0), size, size, 1);
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (maker->plan->rows[p].count > 0 && (staged & (1u << p)) == 0)
      upload_plane (maker, band, p);
  if (maker->recipe->n_gathers > first_gather) {
    pp_step *step = add_step (maker, PP_OP_GATHER, false);
    step->first = first_gather;
    step->last = maker->recipe->n_gathers;
  }
}

/* ---- the whole ------------------------------------------------------------ */

static void
place_launches (struct maker *maker)
{
  pp_recipe *recipe = maker->recipe;
  const pp_facts *facts = &recipe->facts;

  recipe->tensor = place (facts->in_place ? PP_BASE_OUTPUT : PP_BASE_TENSOR, 0);
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (maker->plan->rows[p].count == 0)
      continue;
    if (facts->in_place) {
      recipe->source[p] = frame_place (maker, p);
      recipe->stride[p] = facts->stride[p];
    } else {
      recipe->source[p] = place (PP_BASE_IMAGE, maker->layout.offset[p]);
      recipe->medians[p] = place (PP_BASE_MEDIANS, maker->layout.offset[p]);
      recipe->stride[p] = maker->layout.stride[p];
    }
  }
}

/* The steps between START and DONE, for a job in one band. */
static void
add_whole (struct maker *maker)
{
  const pp_facts *facts = &maker->recipe->facts;
  const pp_band *whole = &maker->plan->whole;

  if (!facts->in_place)
    upload (maker, whole);
  if (facts->timed)
    record (maker, PP_MARK_UPLOADED);
  else if (!facts->in_place)
    record (maker, PP_MARK_INPUT_READ);
  add_launch (maker, whole, false);
  if (facts->timed)
    record (maker, PP_MARK_COMPUTED);
  if (!facts->in_place)
    add_download (maker, whole, false);
}

/* The same in two bands: the upper one is computed and downloaded on the second
 * stream while the lower one is uploaded. All steps of the upper one are queued
 * first; meanwhile its upload keeps the bus busy for about as long. The lower
 * one's download waits for the upper one's, so that DONE means both are
 * done. */
static void
add_two_bands (struct maker *maker)
{
  const bool timed = maker->recipe->facts.timed;
  const pp_band *upper = &maker->plan->upper, *lower = &maker->plan->lower;

  upload (maker, upper);
  record (maker, PP_MARK_UPPER_UPLOADED);
  add_mark (maker, PP_OP_WAIT, PP_MARK_UPPER_UPLOADED, true);
  add_launch (maker, upper, true);
  add_download (maker, upper, true);
  upload (maker, lower);
  record (maker, timed ? PP_MARK_UPLOADED : PP_MARK_INPUT_READ);
  add_launch (maker, lower, false);
  if (timed)
    record (maker, PP_MARK_COMPUTED);
  add_mark (maker, PP_OP_RECORD, PP_MARK_UPPER_DONE, true);
  add_mark (maker, PP_OP_WAIT, PP_MARK_UPPER_DONE, false);
  add_download (maker, lower, false);
}

void
pp_recipe_init (pp_recipe *recipe, const pp_plan *plan, const pp_facts *facts)
{
  struct maker maker = { .recipe = recipe, .plan = plan };

  recipe->facts = *facts;
  recipe->n_steps = recipe->n_gathers = 0;
  recipe->bytes_up = recipe->bytes_down = 0;
  recipe->done_mark = facts->timed ? PP_MARK_DONE : PP_MARK_END;
  recipe->input_mark = facts->in_place ? recipe->done_mark
      : facts->timed                   ? PP_MARK_UPLOADED
                                       : PP_MARK_INPUT_READ;
  pp_image_layout_init (&maker.layout, plan, facts->staged, facts->stride);
  place_launches (&maker);
  if (facts->after)
    add_mark (&maker, PP_OP_WAIT, PP_MARK_AFTER, false);
  if (!facts->in_place)
    add_tables (&maker);
  if (facts->timed)
    record (&maker, PP_MARK_START);
  if (facts->two_bands)
    add_two_bands (&maker);
  else
    add_whole (&maker);
  record (&maker, recipe->done_mark);
}
