/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The steps that recipes are made of, and plans' tables in a block.
 */
#include "recipe_steps.h"

#include <string.h>

#include "plan_pool.h"

/* Tables start at multiples of this on the device, bytes. */
#define TABLE_ALIGNMENT 256

static size_t
align_up (size_t size, size_t alignment)
{
  return (size + alignment - 1) / alignment * alignment;
}

size_t
pp_tables_weight_offset (const pp_plan *plan)
{
  return align_up (
      plan->n_device_index * sizeof *plan->device_index, TABLE_ALIGNMENT);
}

size_t
pp_tables_size (const pp_plan *plan)
{
  return pp_tables_weight_offset (plan) + plan->n_weight * sizeof *plan->weight;
}

size_t
pp_tables_next (const pp_plan *plan, size_t offset)
{
  return align_up (offset + pp_tables_size (plan), TABLE_ALIGNMENT);
}

size_t
pp_tables_size_of_all (const pp_pictures *pictures)
{
  size_t size = 0;

  if (pictures->n == 1)
    return pp_tables_size (pictures->plan[0]);
  for (int i = 0; i < pictures->n; i++)
    size = pp_tables_next (pictures->plan[i], size);
  return size;
}

void
pp_tables_write (const pp_plan *plan, bool all_rows, void *block)
{
  uint8_t *weight = (uint8_t *) block + pp_tables_weight_offset (plan);

  if (plan->pool != NULL) {
    pp_plan_pool_write (plan, all_rows, block, (float *) (void *) weight);
    return;
  }
  if (all_rows)
    memcpy (block, plan->index, plan->n_index * sizeof *plan->index);
  else
    memcpy (block, plan->device_index,
        plan->n_device_index * sizeof *plan->device_index);
  memcpy (weight, plan->weight, plan->n_weight * sizeof *plan->weight);
}

pp_step *
pp_add_step (struct pp_recipe_maker *maker, pp_op op, bool second)
{
  pp_step *step = &maker->recipe->step[maker->recipe->n_steps++];

  *step = (pp_step){ .op = op, .second = second };
  return step;
}

void
pp_add_mark (struct pp_recipe_maker *maker, pp_op op, pp_mark mark, bool second)
{
  pp_add_step (maker, op, second)->mark = mark;
}

void
pp_add_record (struct pp_recipe_maker *maker, pp_mark mark)
{
  pp_add_mark (maker, PP_OP_RECORD, mark, false);
}

void
pp_add_uploaded (struct pp_recipe_maker *maker)
{
  const pp_facts *facts = &maker->recipe->facts;

  if (!facts->source_in_place)
    pp_add_record (maker, facts->timed ? PP_MARK_UPLOADED : PP_MARK_INPUT_READ);
}

/* A source in place has been read when the kernel has passed. */
void
pp_add_computed (struct pp_recipe_maker *maker)
{
  const pp_facts *facts = &maker->recipe->facts;

  if (facts->tensor_in_place)
    return;
  if (facts->timed)
    pp_add_record (maker, PP_MARK_COMPUTED);
  else if (facts->source_in_place)
    pp_add_record (maker, PP_MARK_INPUT_READ);
}

void
pp_add_pad (struct pp_recipe_maker *maker)
{
  if (maker->recipe->facts.pad != 0)
    pp_add_step (maker, PP_OP_PAD, false);
}

void
pp_add_upload (struct pp_recipe_maker *maker, pp_place from, size_t from_row,
    pp_place to, size_t to_row, size_t width, size_t rows)
{
  pp_step *step = pp_add_step (maker, PP_OP_COPY, false);

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

void
pp_add_download (struct pp_recipe_maker *maker, const pp_plan *plan,
    const pp_band *band, size_t from, size_t to, bool second)
{
  const pp_numbers *n = &plan->numbers;
  const size_t element = pp_type_size ((pp_type) n->type);
  const pp_rect part = find_band (n, band);
  const int64_t pixel_stride = n->swapped ? n->row_stride : n->pixel_stride;
  const int64_t row_stride = n->swapped ? n->pixel_stride : n->row_stride;
  const bool planar = pixel_stride == 1;
  const size_t pixel = element * (size_t) pixel_stride;
  const size_t row = element * (size_t) row_stride;
  const size_t box = row * (size_t) (n->swapped ? n->width : n->height);
  const size_t offset = (size_t) part.y * row + (size_t) part.x * pixel;
  pp_step *step = pp_add_step (maker, PP_OP_COPY, second);

  step->from = pp_place_at (PP_BASE_TENSOR, from + offset);
  step->to = pp_place_at (PP_BASE_OUTPUT, to + offset);
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
