/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rowimage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

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

/* Whether a write of size bytes stays in the memory. */
static bool
inside (const row_image *image, const void *to, size_t size)
{
  const uint8_t *at = to;

  return at >= image->memory && at + size <= image->memory + image->size;
}

static bool
run_copy (const row_image *image, const pp_copy *copy)
{
  const bool good = copy->boxes == 1 && copy->up &&
      copy->width <= copy->from_row && copy->width <= copy->to_row &&
      inside (image, copy->to, (copy->rows - 1) * copy->to_row + copy->width);

  for (size_t row = 0; good && row < copy->rows; row++)
    memcpy ((uint8_t *) copy->to + row * copy->to_row,
        (const uint8_t *) copy->from + row * copy->from_row, copy->width);
  return RIGHT (good, "a copy of %zu rows of %zu bytes, strides %zu and %zu",
      copy->rows, copy->width, copy->from_row, copy->to_row);
}

/* In whole words, as the kernel does it. */
static bool
run_gather (const row_image *image, const pp_gather_plane *plane)
{
  const size_t words = (plane->width + PP_GATHER_ALIGNMENT - 1) /
      PP_GATHER_ALIGNMENT * PP_GATHER_ALIGNMENT;
  bool good = (uintptr_t) plane->to % PP_GATHER_ALIGNMENT == 0 &&
      plane->to_row % PP_GATHER_ALIGNMENT == 0 && words <= plane->to_row;

  for (int i = 0; i < plane->n_rows; i++) {
    uint8_t *to = plane->to + (size_t) i * plane->to_row;

    good = good && inside (image, to, words);
    if (!good)
      break;
    memcpy (to, plane->from + (size_t) plane->rows[i] * plane->from_row,
        plane->width);
    memset (to + plane->width, 0xdb, words - plane->width);
  }
  return RIGHT (good, "a gather of %d rows of %zu bytes to %p, stride %zu",
      plane->n_rows, plane->width, (void *) plane->to, plane->to_row);
}

/* Runs all that the image consists of; it moves the bytes that it says. */
static bool
run_image (row_image *to)
{
  const pp_image *image = &to->image;
  size_t bytes = 0;
  bool good = true;

  for (int i = 0; i < image->n_copies; i++) {
    good = run_copy (to, &image->copy[i]) && good;
    bytes += image->copy[i].width * image->copy[i].rows;
  }
  for (int i = 0; i < image->gather.n_planes; i++) {
    const pp_gather_plane *plane = &image->gather.plane[i];
    good = run_gather (to, plane) && good;
    bytes += plane->width * (size_t) plane->n_rows;
  }
  return RIGHT (bytes == image->bytes, "%zu bytes, not %zu", image->bytes,
             bytes) &&
      good;
}

/* Kernels may read a row to the end of its last word of 8 bytes. */
static bool
plane_is_readable (const row_image *to, const pp_plan *plan, int plane)
{
  const size_t rows = (size_t) plan->rows[plane].count;
  const size_t width = ((size_t) plan->extent[plane].width + 7) / 8 * 8;
  const size_t stride = to->image.view.stride[plane];
  const uint8_t *memory = to->image.view.plane[plane];

  return RIGHT (rows == 0 ||
          (((uintptr_t) memory | stride) % 16 == 0 &&
              inside (to, memory, (rows - 1) * stride + width)),
      "plane %d: stride %zu", plane, stride);
}

static void
allocate (row_image *to, const pp_plan *plan)
{
  to->size = pp_image_size (plan);
  to->memory = must (aligned_alloc (256, to->size));
  memset (to->memory, 0xcd, to->size);
}

bool
row_image_init (
    row_image *to, const pp_plan *plan, unsigned staged, const pp_view *source)
{
  uint8_t *staging = must (malloc (pp_image_staged_size (plan, staged) + 1));
  pp_view view = *source;
  const size_t bytes = pp_image_stage (plan, staged, staging, &view);
  size_t wanted = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    if ((staged & (1u << p)) != 0)
      wanted += (size_t) plan->rows[p].count * (size_t) plan->extent[p].width;
  allocate (to, plan);
  pp_image_init (&to->image, plan, &plan->whole, staged, &view, to->memory,
      plan->device_index);

  bool good =
      RIGHT (bytes == wanted, "%zu bytes staged, not %zu", bytes, wanted);
  good = run_image (to) && good;
  for (int p = 0; p < PP_MAX_PLANES; p++)
    good = plane_is_readable (to, plan, p) && good;
  free (staging);
  return good;
}

void
row_image_clear (row_image *image)
{
  free (image->memory);
  image->memory = NULL;
}

/* Rows [first, last) of the content; plan's indexes are the device's. */
static void
apply_rows (const row_image *image, const pp_plan *plan, int first, int last,
    void *tensor)
{
  const size_t size = (pp_apply_cpu_scratch (plan) + 63) / 64 * 64;
  void *scratch = must (aligned_alloc (64, size + 64));

  pp_apply_cpu (plan, &image->image.view, tensor, first, last, scratch);
  free (scratch);
}

void
row_image_apply (
    const row_image *image, const pp_plan *plan, bool cpu, void *tensor)
{
  pp_plan there = *plan;

  there.index = plan->device_index;
  if (!cpu) {
    pp_apply_c (&there, &image->image.view, tensor);
    return;
  }
  pp_plan_fill_padding (&there, tensor);
  apply_rows (image, &there, 0, there.numbers.content_height, tensor);
}

bool
row_image_apply_bands (const pp_plan *plan, const pp_view *source, void *tensor)
{
  const pp_band *const bands[] = { &plan->upper, &plan->lower };
  pp_plan there = *plan;
  row_image image;
  bool good = true;

  there.index = plan->device_index;
  allocate (&image, plan);
  pp_plan_fill_padding (plan, tensor);
  for (int b = 0; b < 2; b++) {
    pp_image_init (&image.image, plan, bands[b], 0, source, image.memory,
        plan->device_index);
    good = run_image (&image) && good;
    apply_rows (&image, &there, bands[b]->first, bands[b]->last, tensor);
  }
  row_image_clear (&image);
  return good;
}
