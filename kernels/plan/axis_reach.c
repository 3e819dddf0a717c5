/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axis_reach.h"

#include <string.h>

#include "kernels/cpu/clones_cpu.h"
#include "parts.h"

/* What a median of each sample of span reads: more on both sides, but nothing
 * outside of the source rectangle. */
static pp_span
span_of_medians (
    const pp_spec *spec, const pp_axis_geometry *geometry, const pp_span span)
{
  const int radius = pp_denoise_median_size (spec) / 2;
  const int start = geometry->start >> geometry->sub;
  const int end = start + pp_axis_samples (geometry);
  const int first = span.first - radius;
  const int behind = span.first + span.count + radius;
  const int first_inside = first > start ? first : start;

  return (
      pp_span){ first_inside, (behind < end ? behind : end) - first_inside };
}

pp_span
pp_span_of_taps (
    const pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *geometry)
{
  int first = taps->first[0], last = first;

  for (int i = 1; i < taps->n_out; i++) {
    first = taps->first[i] < first ? taps->first[i] : first;
    last = taps->first[i] > last ? taps->first[i] : last;
  }

  const pp_span span = { (geometry->start >> geometry->sub) + first,
    last - first + taps->n_taps };

  return span_of_medians (spec, geometry, span);
}

int32_t
pp_widest_span (const int32_t *first, int n_out, int n_taps, int columns)
{
  int32_t widest = 0;

  for (int start = 0; start < n_out; start += columns) {
    int32_t low = first[start], high = low;

    for (int x = start + 1; x < start + columns && x < n_out; x++) {
      low = first[x] < low ? first[x] : low;
      high = first[x] > high ? first[x] : high;
    }
    widest = high - low > widest ? high - low : widest;
  }
  return widest + n_taps;
}

pp_span
pp_span_of_linear (const pp_taps *taps)
{
  const int32_t *first = taps->first;

  return (
      pp_span){ first[0], first[taps->n_out - 1] - first[0] + taps->n_taps };
}

int32_t
pp_widest_linear (const int32_t *first, int n_out, int n_taps, int columns)
{
  int32_t widest = 0;

  for (int start = 0; start < n_out; start += columns) {
    const int last = (start + columns < n_out ? start + columns : n_out) - 1;
    const int32_t span = first[last] - first[start];

    widest = span > widest ? span : widest;
  }
  return widest + n_taps;
}

size_t
pp_list_all_rows (const pp_listing *listing)
{
  const int height = listing->height, n_out = listing->taps->n_out;
  int32_t *list = listing->index + n_out;

  memcpy (listing->index, listing->taps->first, (size_t) n_out * sizeof *list);
  for (int row = 0; row < height; row++)
    list[row] = row;
  *listing->rows = (pp_plane_rows){ .count = height,
    .n_groups = 1,
    .group = { { .rows = height, .groups = 1, .to_step = height } } };
  return (size_t) (n_out + height);
}

size_t
pp_list_rows (const pp_listing *listing)
{
  const pp_axis axis = { .n_out = listing->taps->n_out,
    .n_taps = listing->taps->n_taps };
  pp_plan plane = { .numbers = { .n_components = 1, .y = { axis, axis } },
    .index = listing->taps->first,
    .weight = listing->taps->weight,
    .device_index = listing->index,
    .n_index = (size_t) axis.n_out,
    .extent = { { .width = 1, .height = listing->height } } };

  pp_rows_fill (&plane, listing->touched, listing->above);
  *listing->rows = plane.rows[0];
  return plane.n_device_index;
}

/* Twice the row behind the last one that an output touches, plus 1 if it does
 * not touch its first. */
PP_CLONES static void
find_ends (int32_t *restrict ends, const int32_t *restrict first,
    const float *restrict weight_0, const float *restrict weight_1, int n)
{
  for (int i = 0; i < n; i++)
    ends[i] = 2 * (first[i] + 1 + (weight_1[i] != 0)) + (weight_0[i] == 0);
}

/* How many rows that makes: of each output those behind the end of the one
 * before, since ends ascend, too. */
PP_CLONES static int
count_rows (const int32_t *restrict ends, const int32_t *restrict first, int n)
{
  int count = (ends[0] >> 1) - first[0] - (ends[0] & 1);

  for (int i = 1; i < n; i++) {
    const int from = first[i] + (ends[i] & 1), end = ends[i - 1] >> 1;

    count += (ends[i] >> 1) - (from > end ? from : end);
  }
  return count;
}

/* The index and the list, from ends in their place; without branches, which would
 * be mispredicted. */
static void
list_touched (int32_t *index, int32_t *list, const int32_t *first, int n)
{
  int count = 0, end = 0; /* of the list, of the rows in it */

  for (int i = 0; i < n; i++) {
    const int skipped = index[i] & 1, to = index[i] >> 1;
    const int from = first[i] + skipped;
    const int start = from > end ? from : end; /* of at most two new rows */

    /* Rows from the first of an output to the end are all in the list. */
    index[i] = count - (start - from) - skipped;
    list[count] = start;
    list[count + 1] = start + 1;
    count += to - start;
    end = to;
  }
}

size_t
pp_list_linear_rows (const pp_listing *listing)
{
  const pp_taps *taps = listing->taps;
  const int n_out = taps->n_out, n_taps = taps->n_taps;
  int32_t *index = listing->index, *list = index + n_out;

  if (n_taps < 2)
    return pp_list_rows (listing);
  /* Windows overlap, so that each row has a weight. */
  if (n_taps > 2)
    return pp_list_all_rows (listing);
  find_ends (index, taps->first, taps->weight, taps->weight + n_out, n_out);

  const int count = count_rows (index, taps->first, n_out);

  if (10 * count > PP_MAX_LISTED_TENTHS * listing->height)
    return pp_list_all_rows (listing);
  list_touched (index, list, taps->first, n_out);
  /* Taps of weight 0 at the ends may be outside of the list. */
  if (index[0] < 0 || index[n_out - 1] + n_taps > count)
    return pp_list_rows (listing);
  *listing->rows = (pp_plane_rows){ .count = count, .first = n_out };
  pp_rows_group (list, listing->rows);
  return (size_t) (n_out + count);
}
