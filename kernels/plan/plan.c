/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Makes a plan of a spec, a format and a source rectangle. fill_plan calls the
 * parts in parts.h one after the other; this file joins their tables and places
 * the components in their planes.
 */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/engine/backend.h"
#include "image.h"
#include "parts.h"
#include "plan_pool.h"

/* The spans of x[] and y[] in pp_numbers. */
struct reach {
  pp_span x[2], y[2];
};

/* Appends a table to the plan's arrays. Its indexes count from the first sample
 * that is read, since samples before it are not uploaded. */
static bool
append_axis (pp_plan *plan, const pp_spec *spec,
    const pp_axis_geometry *geometry, pp_axis *axis, pp_span *span)
{
  pp_taps taps;

  if (!pp_taps_init (&taps, spec, geometry))
    return false;
  *span = pp_span_of_taps (&taps, spec, geometry);

  const size_t n_index = taps.n_out;
  const size_t n_weight = n_index * taps.n_taps;
  const int base = span->first - (geometry->start >> geometry->sub);
  int32_t *index =
      realloc (plan->index, (plan->n_index + n_index) * sizeof *index);
  float *weight = NULL;

  if (index) {
    plan->index = index;
    weight =
        realloc (plan->weight, (plan->n_weight + n_weight) * sizeof *weight);
  }
  if (weight) {
    plan->weight = weight;
    *axis = (pp_axis){ taps.n_out, taps.n_taps, (int32_t) plan->n_index,
      (int32_t) plan->n_weight };
    for (size_t i = 0; i < n_index; i++)
      index[plan->n_index + i] = taps.first[i] - base;
    memcpy (weight + plan->n_weight, taps.weight, n_weight * sizeof *weight);
    plan->n_index += n_index;
    plan->n_weight += n_weight;
  }
  pp_taps_clear (&taps);
  return weight != NULL;
}

static bool
add_axis (pp_plan *plan, const pp_spec *spec, const pp_axis_geometry *geometry,
    bool vertical, pp_axis *axis, pp_span *span)
{
  if (plan->pool == NULL)
    return append_axis (plan, spec, geometry, axis, span);

  const pp_axis_entry *entry =
      pp_plan_pool_get_table (plan, geometry, vertical);

  if (!entry)
    return false;
  *axis = entry->axis;
  *span = entry->span;
  span->first += geometry->start >> geometry->sub;
  return true;
}

/* The content: the part of the tensor that the resized picture covers. target:
 * as kernels count it. */
static void
set_content (pp_numbers *numbers, const pp_rect *target)
{
  const int x = target->x > 0 ? target->x : 0;
  const int y = target->y > 0 ? target->y : 0;
  const int right = target->x + target->width;
  const int bottom = target->y + target->height;

  numbers->content_x = x;
  numbers->content_y = y;
  numbers->content_width =
      (right < numbers->width ? right : numbers->width) - x;
  numbers->content_height =
      (bottom < numbers->height ? bottom : numbers->height) - y;
}

/* The tables of both axes: for full size and, where chroma is subsampled, for
 * chroma. target: as kernels count it. */
static bool
make_tables (pp_plan *plan, const pp_spec *spec, const pp_format *format,
    const pp_rect *target, struct reach *reach)
{
  const pp_turn turn = pp_turn_of (spec->direction);
  const pp_component *chroma = &format->component[format->n_components - 1];
  const pp_rect *s = &plan->geometry.source, *t = target;
  pp_numbers *n = &plan->numbers;

  for (int k = 0; k < 2; k++) {
    const int sub_x = k == 0 ? 0 : chroma->sub_x;
    const int sub_y = k == 0 ? 0 : chroma->sub_y;
    const pp_axis_geometry x = { s->x, s->width, t->width, n->content_x - t->x,
      n->content_width, sub_x, format->cosited_x, turn.mirrored_x };
    const pp_axis_geometry y = { s->y, s->height, t->height,
      n->content_y - t->y, n->content_height, sub_y, format->cosited_y,
      turn.mirrored_y };

    if (k > 0 && sub_x == 0) {
      n->x[k] = n->x[0];
      reach->x[k] = reach->x[0];
    } else if (!add_axis (plan, spec, &x, false, &n->x[k], &reach->x[k])) {
      return false;
    }
    if (k > 0 && sub_y == 0) {
      n->y[k] = n->y[0];
      reach->y[k] = reach->y[0];
    } else if (!add_axis (plan, spec, &y, true, &n->y[k], &reach->y[k])) {
      return false;
    }
  }
  return true;
}

static pp_rect
unite (pp_rect a, pp_rect b)
{
  if (a.height == 0)
    return b;

  const int x = a.x < b.x ? a.x : b.x, y = a.y < b.y ? a.y : b.y;
  const int a_right = a.x + a.width, b_right = b.x + b.width;
  const int a_bottom = a.y + a.height, b_bottom = b.y + b.height;

  return (pp_rect){ x, y, (a_right > b_right ? a_right : b_right) - x,
    (a_bottom > b_bottom ? a_bottom : b_bottom) - y };
}

/* Computes what the components need of each plane together, and where each
 * component is in that. */
static void
place_components (
    pp_plan *plan, const pp_format *format, const struct reach *reach)
{
  pp_numbers *n = &plan->numbers;
  pp_rect needed[PP_MAX_COMPONENTS]; /* bytes and rows of the plane */

  n->n_components = format->n_components;
  n->sample_bytes = format->sample_bytes;
  n->big_endian = format->big_endian;
  for (int i = 0; i < n->n_components; i++) {
    const pp_component *c = &format->component[i];
    const int axes = c->sub_x > 0 || c->sub_y > 0;
    const pp_span x = reach->x[axes], y = reach->y[axes];

    needed[i] = (pp_rect){
      .x = c->offset + x.first * c->pixel_stride,
      .y = y.first,
      .width = (x.count - 1) * c->pixel_stride + format->sample_bytes,
      .height = y.count,
    };
    plan->extent[c->plane] = unite (plan->extent[c->plane], needed[i]);
    n->source[i] = (pp_source){
      .plane = c->plane,
      .pixel_stride = c->pixel_stride,
      .axes = axes,
      .columns = x.count,
      .rows = y.count,
      .shift = c->shift,
      .mask = (1 << c->depth) - 1,
    };
  }
  for (int i = 0; i < n->n_components; i++) {
    const pp_rect *extent = &plan->extent[n->source[i].plane];

    n->source[i].first_byte = needed[i].x - extent->x;
    n->source[i].first_row = needed[i].y - extent->y;
  }
}

static void
measure_spans (pp_plan *plan)
{
  for (int a = 0; a < 2; a++) {
    const pp_axis *x = &plan->numbers.x[a];

    for (int i = 0; i < PP_N_SPANS; i++)
      plan->span[a][i] = pp_widest_span (plan->index + x->first, x->n_out,
          x->n_taps, 1 << (PP_LOG2_MIN_SPAN + i));
  }
}

static uint64_t
next_id (void)
{
  static uint64_t last_id;

  return __atomic_add_fetch (&last_id, 1, __ATOMIC_RELAXED);
}

/* All that depends on the source rectangle and has no memory of its own. */
static pp_status
fill_rectangle (pp_plan *plan, const pp_spec *spec, const pp_format *format,
    const pp_rect *source, pp_error *error)
{
  const int median = pp_denoise_median_size (spec);
  struct reach reach;
  const pp_status status =
      pp_geometry_init (&plan->geometry, spec, format, source, error);

  if (status != PP_OK)
    return status;

  const pp_rect target =
      pp_turned_rect (plan->geometry.target, pp_turn_of (spec->direction));

  set_content (&plan->numbers, &target);
  if (!make_tables (plan, spec, format, &target, &reach))
    return pp_fail (error, PP_NO_MEMORY,
        "allocating the tap tables of %dx%d from %dx%d failed", spec->width,
        spec->height, source->width, source->height);
  place_components (plan, format, &reach);
  if (median > 0)
    pp_median_groups_init (&plan->median, &plan->numbers, median);
  plan->id = next_id ();
  return PP_OK;
}

/* Fills a zeroed plan. */
static pp_status
fill_plan (pp_plan *plan, const pp_spec *spec, const pp_format *format,
    const pp_rect *source, pp_error *error)
{
  pp_numbers *n = &plan->numbers;
  pp_status status = pp_colour_init (n, format, spec->channels, error);

  if (status == PP_OK)
    status = pp_output_init (n, spec, error);
  if (status == PP_OK)
    status = fill_rectangle (plan, spec, format, source, error);
  if (status != PP_OK)
    return status;
  measure_spans (plan);
  plan->all_rows = pp_denoise_median_size (spec) > 0;
  if (!pp_rows_init (plan))
    return pp_fail (error, PP_NO_MEMORY, "allocating the rows of %dx%d failed",
        source->width, source->height);
  pp_bands_init (plan, pp_turn_of (spec->direction).mirrored_y);
  memcpy (plan->block_x, n->x, sizeof n->x);
  memcpy (plan->block_y, n->y, sizeof n->y);
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->listed[p] = plan->device_index + plan->rows[p].first;
  plan->frame_size = pp_image_frame_size (format);
  plan->tensor_size = pp_type_size (spec->type) * n->n_channels *
      (size_t) n->width * (size_t) n->height;
  plan->gaps = spec->surface.size > plan->tensor_size;
  if (spec->surface.size > 0)
    plan->tensor_size = spec->surface.size;
  return PP_OK;
}

pp_status
pp_plan_fill_region (pp_plan *plan, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error)
{
  const pp_status status = fill_rectangle (plan, spec, format, source, error);

  if (status != PP_OK)
    return status;
  pp_plan_pool_finish (plan);
  plan->whole = (pp_band){ .last = plan->numbers.content_height };
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->whole.last_row[p] = plan->rows[p].count;
  plan->can_be_two = plan->in_two = false;
  return PP_OK;
}

pp_plan *
pp_plan_new (const pp_spec *spec, const pp_format *format,
    const pp_rect *source, pp_error *error)
{
  const pp_rect whole = { 0, 0, format->width, format->height };

  if (!source)
    source = &whole;
  if (pp_spec_check (spec, error) != PP_OK ||
      pp_format_check (format, error) != PP_OK ||
      pp_source_check (source, format, error) != PP_OK)
    return NULL;

  pp_plan *plan = calloc (1, sizeof *plan);

  if (!plan) {
    pp_fail_memory (error, "calloc", sizeof *plan);
    return NULL;
  }
  plan->references = 1;
  if (fill_plan (plan, spec, format, source, error) != PP_OK)
    pp_plan_unref (&plan);
  return plan;
}

pp_plan *
pp_plan_ref (pp_plan *plan)
{
  __atomic_fetch_add (&plan->references, 1, __ATOMIC_RELAXED);
  return plan;
}

void
pp_plan_unref (pp_plan **plan)
{
  pp_plan *mine = *plan;

  *plan = NULL;
  if (!mine)
    return;
  if (mine->pool) {
    pp_plan_pool_unref_plan (mine);
    return;
  }
  if (__atomic_sub_fetch (&mine->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  free (mine->index);
  free (mine->weight);
  free (mine->device_index);
  free (mine);
}

void
pp_plan_get_geometry (const pp_plan *plan, pp_geometry *geometry)
{
  *geometry = plan->geometry;
}

size_t
pp_plan_tensor_size (const pp_plan *plan)
{
  return plan->tensor_size;
}

pp_rect
pp_plan_plane_extent (const pp_plan *plan, int plane)
{
  if (plane < 0 || plane >= PP_MAX_PLANES)
    return (pp_rect){ 0 };
  return plan->extent[plane];
}

pp_view
pp_plan_crop_view (const pp_plan *plan, const pp_view *frame)
{
  pp_view view = { 0 };

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &plan->extent[p];

    if (extent->height == 0)
      continue;
    view.stride[p] = frame->stride[p];
    view.plane[p] = frame->plane[p] + extent->y * frame->stride[p] + extent->x;
  }
  return view;
}
