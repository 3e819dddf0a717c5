/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference median: the specification of denoising by the median. It sorts
 * all values of each window. kernel_c.c calls it before it resamples.
 */
#include "reference.h"

/* Values of the largest window. */
#define MAX_VALUES (5 * 5)

static int
clamp (int value, int high)
{
  return value < 0 ? 0 : value > high ? high : value;
}

/* The offset of the sample in column x and row y of the component, bytes. */
static ptrdiff_t
place_of (const pp_source *source, size_t stride, int x, int y)
{
  return (ptrdiff_t) ((size_t) (source->first_row + y) * stride) +
      source->first_byte + (ptrdiff_t) x * source->pixel_stride;
}

static int
load (const pp_numbers *n, const pp_source *source, const uint8_t *at)
{
  if (n->sample_bytes == 1)
    return at[0];

  const int sample = n->big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0];

  return (sample >> source->shift) & source->mask;
}

static void
store (const pp_numbers *n, const pp_source *source, uint8_t *at, int value)
{
  const int sample = value << source->shift;

  if (n->sample_bytes == 1) {
    at[0] = (uint8_t) value;
    return;
  }
  at[!n->big_endian] = (uint8_t) (sample >> 8);
  at[n->big_endian] = (uint8_t) sample;
}

/* Insertion sort. */
static void
sort (int *values, int n)
{
  for (int i = 1; i < n; i++) {
    const int value = values[i];
    int place = i;

    for (; place > 0 && values[place - 1] > value; place--)
      values[place] = values[place - 1];
    values[place] = value;
  }
}

/* The median of the values around column x and row y. */
static int
median_at (
    const pp_plan *plan, const pp_view *view, int component, int x, int y)
{
  const pp_numbers *n = &plan->numbers;
  const pp_source *source = &n->source[component];
  const uint8_t *plane = view->plane[source->plane];
  const size_t stride = view->stride[source->plane];
  const int radius = plan->median.size / 2;
  int values[MAX_VALUES], count = 0;

  for (int j = y - radius; j <= y + radius; j++)
    for (int i = x - radius; i <= x + radius; i++)
      values[count++] = load (n, source,
          plane +
              place_of (source, stride, clamp (i, source->columns - 1),
                  clamp (j, source->rows - 1)));
  sort (values, count);
  return values[count / 2];
}

void
pp_median_c (const pp_plan *plan, const pp_view *source, const pp_planes *to)
{
  const pp_numbers *n = &plan->numbers;

  for (int c = 0; c < n->n_components; c++) {
    const pp_source *component = &n->source[c];
    const int plane = component->plane;

    for (int y = 0; y < component->rows; y++)
      for (int x = 0; x < component->columns; x++)
        store (n, component,
            to->plane[plane] + place_of (component, to->stride[plane], x, y),
            median_at (plan, source, c, x, y));
  }
}
