/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rowimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "kernels/engine/copy_rows.h"
#include "kernels/engine/engine.h"
#include "kernels/plan/image.h"
#include "kernels/reference/reference.h"
#include "tests/fake/uploadedplan.h"

/* Says what is wrong where condition does not hold; the condition. */
#define RIGHT(condition, ...)                                                  \
  ((condition) ? true : (printf (__VA_ARGS__), printf ("\n"), false))

static void *
must (void *memory)
{
  if (memory == NULL)
    abort ();
  return memory;
}

int
listed_row (const pp_plan *plan, int plane, int i)
{
  return plan->device_index[plan->rows[plane].first + i];
}

static bool
plane_is_listed (const pp_plan *plan, int plane)
{
  const pp_plane_rows *rows = &plan->rows[plane];
  const int height = plan->extent[plane].height;
  int wrong = rows->count < (height > 0) || rows->count > height, seen = 0;

  for (int i = 0; i < rows->count; i++) {
    const int above = i > 0 ? listed_row (plan, plane, i - 1) : -1;
    const int row = listed_row (plan, plane, i);
    wrong += row <= above || row >= height;
  }
  for (int k = 0; k < rows->n_groups; k++) {
    const pp_row_groups *g = &rows->group[k];
    for (int i = 0; i < g->groups; i++)
      for (int j = 0; j < g->rows; j++, seen++)
        wrong += listed_row (plan, plane, g->to + i * g->to_step + j) !=
            g->from + i * g->from_step + j;
  }
  wrong += rows->n_groups > 0 && seen != rows->count;
  return RIGHT (wrong == 0, "plane %d: %d wrong of %d rows, %d groups", plane,
      wrong, rows->count, rows->n_groups);
}

bool
rows_are_listed (const pp_plan *plan)
{
  bool good = true;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    good = plane_is_listed (plan, p) && good;
  return good;
}

static bool
component_is_indexed (const pp_plan *plan, int component)
{
  const pp_numbers *n = &plan->numbers;
  const pp_source *source = &n->source[component];
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
          (weight != 0 && listed_row (plan, source->plane, at) != row);
    }
  return RIGHT (
      wrong == 0, "component %d: %d taps are wrong", component, wrong);
}

bool
rows_are_indexed (const pp_plan *plan)
{
  bool good = true;

  for (int c = 0; c < plan->numbers.n_components; c++)
    good = component_is_indexed (plan, c) && good;
  return good;
}

/* The device: its buffers, and what was done. */
struct pp_stream {
  const pp_plan *plan;
  uint8_t *buffer[PP_N_BASES]; /* of the device; NULL for the others */
  size_t size[PP_N_BASES];
  uint8_t *output;
  bool source_in_place, cpu, good;
  size_t bytes_up, bytes_down;
};

/* Whether size bytes at address are in one of the buffers, or in the output. */
static bool
inside (const struct pp_stream *device, const void *address, size_t size)
{
  const uint8_t *at = address;

  for (int b = 0; b < PP_N_BASES; b++)
    if (device->buffer[b] != NULL && at >= device->buffer[b] &&
        at + size <= device->buffer[b] + device->size[b])
      return true;
  return at >= device->output &&
      at + size <= device->output + device->plan->tensor_size;
}

static size_t
copy_extent (const pp_copy *c, size_t row, size_t box)
{
  return (c->boxes - 1) * box + (c->rows - 1) * row + c->width;
}

static pp_status
do_copy (pp_stream *device, const pp_copy *c, pp_error *error)
{
  const bool good = c->width <= c->from_row && c->width <= c->to_row &&
      inside (device, c->to, copy_extent (c, c->to_row, c->to_box)) &&
      (c->up ||
          inside (device, c->from, copy_extent (c, c->from_row, c->from_box)));

  (void) error;
  for (size_t box = 0; good && box < c->boxes; box++)
    for (size_t row = 0; row < c->rows; row++)
      memcpy ((uint8_t *) c->to + box * c->to_box + row * c->to_row,
          (const uint8_t *) c->from + box * c->from_box + row * c->from_row,
          c->width);
  device->good =
      RIGHT (good, "a copy of %zu x %zu rows of %zu bytes, strides %zu, %zu",
          c->boxes, c->rows, c->width, c->from_row, c->to_row) &&
      device->good;
  *(c->up ? &device->bytes_up : &device->bytes_down) +=
      c->width * c->rows * c->boxes;
  return PP_OK;
}

/* In whole words, as the kernel does it. */
static bool
gather_plane (const struct pp_stream *device, const pp_gather_plane *plane)
{
  const size_t words = (plane->width + PP_GATHER_ALIGNMENT - 1) /
      PP_GATHER_ALIGNMENT * PP_GATHER_ALIGNMENT;
  bool good = (uintptr_t) plane->to % PP_GATHER_ALIGNMENT == 0 &&
      plane->to_row % PP_GATHER_ALIGNMENT == 0 && words <= plane->to_row &&
      inside (
          device, plane->rows, (size_t) plane->n_rows * sizeof *plane->rows);

  for (int i = 0; good && i < plane->n_rows; i++) {
    uint8_t *to = plane->to + (size_t) i * plane->to_row;

    good = inside (device, to, words);
    if (!good)
      break;
    memcpy (to, plane->from + (size_t) plane->rows[i] * plane->from_row,
        plane->width);
    memset (to + plane->width, 0xdb, words - plane->width);
  }
  return RIGHT (good, "a gather of %d rows of %zu bytes to %p, stride %zu",
      plane->n_rows, plane->width, (void *) plane->to, plane->to_row);
}

static pp_status
do_gather (pp_stream *device, const pp_gather *gather, pp_error *error)
{
  (void) error;
  for (int i = 0; i < gather->n_planes; i++) {
    const pp_gather_plane *plane = &gather->plane[i];
    device->good = gather_plane (device, plane) && device->good;
    device->bytes_up += plane->width * (size_t) plane->n_rows;
  }
  return PP_OK;
}

/* Kernels may read a row to the end of its last word of 8 bytes. */
static bool
planes_are_readable (
    const struct pp_stream *device, const pp_plan *plan, const pp_view *view)
{
  bool good = true;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const size_t rows = (size_t) plan->rows[p].count;
    const size_t width = ((size_t) plan->extent[p].width + 7) / 8 * 8;
    const size_t stride = view->stride[p];

    if (rows > 0)
      good =
          RIGHT (((uintptr_t) view->plane[p] | stride) % 16 == 0 &&
                  inside (device, view->plane[p], (rows - 1) * stride + width),
              "plane %d: stride %zu", p, stride) &&
          good;
  }
  return good;
}

static pp_status
do_pad (pp_stream *device, const pp_launch *launches, int n, bool content,
    pp_error *error)
{
  uint64_t padding = 0;

  (void) error;
  device->good = RIGHT (n == 1 && launches[0].tensor == device->output,
                     "padding of %d tensors", n) &&
      device->good;
  if (content)
    pp_plan_fill_tensor (launches[0].plan, launches[0].tensor, &padding);
  else
    pp_plan_fill_padding (launches[0].plan, launches[0].tensor);
  return PP_OK;
}

static pp_status
do_launch (pp_stream *device, const pp_launch *launch, pp_error *error)
{
  const pp_plan there = uploaded_plan (launch);
  const size_t size = (pp_apply_cpu_scratch (&there) + 63) / 64 * 64;
  void *scratch = must (aligned_alloc (64, size + 64));

  (void) error;
  device->good = (device->source_in_place ||
                     planes_are_readable (device, &there, &launch->source)) &&
      inside (device, launch->tensor, there.tensor_size) && device->good;
  if (device->cpu)
    pp_apply_cpu (&there, &launch->source, launch->tensor, launch->first,
        launch->last, scratch);
  else
    pp_apply_c (&there, &launch->source, launch->tensor);
  free (scratch);
  return PP_OK;
}

static pp_status
do_nothing (pp_stream *device, pp_event *event, pp_error *error)
{
  (void) device;
  (void) event;
  (void) error;
  return PP_OK;
}

static const pp_backend memory_backend = {
  .name = "memory",
  .copy = do_copy,
  .gather = do_gather,
  .launch = do_launch,
  .pad = do_pad,
  .record = do_nothing,
  .stream_wait = do_nothing,
};

static void
allocate (
    struct pp_stream *device, int base, size_t size, pp_bindings *bindings)
{
  device->size[base] = size;
  device->buffer[base] = must (aligned_alloc (256, (size + 255) / 256 * 256));
  memset (device->buffer[base], 0xcd, size);
  bindings->base[base] = device->buffer[base];
}

pp_facts
facts_of (
    const pp_plan *plan, unsigned staged, const size_t stride[PP_MAX_PLANES])
{
  pp_facts facts = { .plan = plan->id, .timed = true };

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (plan->rows[p].count == 0)
      continue;
    facts.staged |= staged & (1u << p);
    facts.stride[p] = (staged & (1u << p)) != 0 ? 0 : stride[p];
  }
  return facts;
}

void
set_place (pp_facts *facts, enum place place)
{
  facts->unified = place == UNIFIED;
  facts->source_in_place = (place & SOURCE_IN_PLACE) != 0;
  facts->tensor_in_place = (place & TENSOR_IN_PLACE) != 0;
}

/* The tables and the staged planes in pinned memory, and where the others are.
 * Returns the bytes staged. */
static size_t
bind_host (const pp_plan *plan, const pp_facts *facts, const pp_view *source,
    uint8_t *tables, uint8_t *staging, pp_bindings *bindings)
{
  pp_view frame = { { NULL }, { 0 } };

  pp_tables_write (plan, facts->source_in_place, tables);
  bindings->base[PP_BASE_PINNED_TABLES] = tables;
  bindings->base[PP_BASE_STAGING] = staging;
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (plan->extent[p].height == 0)
      continue;
    frame.stride[p] = source->stride[p];
    frame.plane[p] = (const uint8_t *) ((uintptr_t) source->plane[p] -
        (size_t) plan->extent[p].y * source->stride[p] -
        (size_t) plan->extent[p].x);
    bindings->base[PP_BASE_PLANE + p] = (uint8_t *) frame.plane[p];
  }
  return pp_stage_planes (plan, facts->staged, &frame, staging);
}

static bool
staged_bytes_are_right (
    const pp_plan *plan, const pp_facts *facts, size_t bytes)
{
  size_t wanted = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if ((facts->staged & (1u << p)) != 0)
      wanted += (size_t) plan->rows[p].count * (size_t) plan->extent[p].width;
  return RIGHT (bytes == wanted, "%zu bytes staged, not %zu", bytes, wanted);
}

bool
run_recipe (const pp_plan *plan, const pp_facts *facts, const pp_view *source,
    bool cpu, void *tensor)
{
  struct pp_stream device = { .plan = plan,
    .output = tensor,
    .cpu = cpu,
    .good = true,
    .source_in_place = facts->source_in_place };
  const pp_pictures pictures = { .n = 1, .plan = { plan } };
  pp_bindings bindings = { .plan = pictures.plan,
    .stream = { &device, &device } };
  const size_t tables_size = pp_tables_size (plan);
  uint8_t *tables = must (malloc (tables_size));
  uint8_t *staging = must (
      aligned_alloc (256, pp_image_staged_size (plan, facts->staged) + 256));
  pp_recipe *recipe = must (pp_recipe_new (1));

  pp_recipe_init (recipe, &pictures, facts);
  allocate (&device, PP_BASE_IMAGE, pp_image_size (plan), &bindings);
  if (!facts->tensor_in_place)
    allocate (&device, PP_BASE_TENSOR, plan->tensor_size, &bindings);
  allocate (&device, PP_BASE_INDEX, tables_size, &bindings);
  bindings.base[PP_BASE_WEIGHT] =
      bindings.base[PP_BASE_INDEX] + pp_tables_weight_offset (plan);
  bindings.base[PP_BASE_MEDIANS] = bindings.base[PP_BASE_IMAGE];
  bindings.base[PP_BASE_OUTPUT] = tensor;
  const size_t staged =
      bind_host (plan, facts, source, tables, staging, &bindings);
  if (facts->pad == 0)
    pp_plan_fill_padding (plan, tensor);

  pp_recipe_run (recipe, &memory_backend, &bindings, NULL);
  bool good = staged_bytes_are_right (plan, facts, staged) && device.good;
  good = RIGHT ((recipe->bytes_up == 0) == facts->source_in_place &&
                 (recipe->bytes_down == 0) == facts->tensor_in_place,
             "%zu bytes up, %zu down", recipe->bytes_up, recipe->bytes_down) &&
      good;
  good = RIGHT (device.bytes_up == recipe->bytes_up + tables_size &&
                 device.bytes_down == recipe->bytes_down,
             "%zu bytes up and %zu down, not %zu and %zu",
             device.bytes_up - tables_size, device.bytes_down, recipe->bytes_up,
             recipe->bytes_down) &&
      good;
  for (int b = 0; b < PP_N_BASES; b++)
    free (device.buffer[b]);
  free (recipe);
  free (staging);
  free (tables);
  return good;
}
