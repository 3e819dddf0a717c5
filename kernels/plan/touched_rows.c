/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Decides which rows of a plane are uploaded: those that taps touch, that is,
 * read with a weight other than 0. They are the plane's image on the device,
 * one behind the other. plan->device_index is plan->index for that image: its y
 * tables count rows of the image.
 *
 * An output's taps must read adjacent rows of the image. They do, since all
 * rows from its first to its last tap with a weight are touched. Taps of weight
 * 0 before and behind these may read any row, since 0 times a sample is 0, but
 * it must be inside the image.
 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

/* The rows of the plane that is being decided. */
struct rows {
  int height;    /* of the plane's extent */
  bool *touched; /* height */
  int *above;    /* height + 1: how many touched rows are above */
};

/* The first and the last tap of an output that have a weight. */
struct range {
  int first, last;
};

static struct range
weighted_taps (const pp_plan *plan, const pp_axis *axis, int output)
{
  const float *weight = plan->weight + axis->first_weight + output;
  const ptrdiff_t step = axis->n_out;
  struct range taps = { 0, axis->n_taps - 1 };

  while (taps.first < taps.last && weight[taps.first * step] == 0)
    taps.first++;
  while (taps.last > taps.first && weight[taps.last * step] == 0)
    taps.last--;
  return taps;
}

static void
touch (struct rows *rows, int first, int count)
{
  if (count > 0)
    memset (
        rows->touched + first, true, (size_t) count * sizeof *rows->touched);
}

static int
count_touched (struct rows *rows)
{
  int count = 0;

  for (int row = 0; row < rows->height; row++) {
    rows->above[row] = count;
    count += rows->touched[row];
  }
  rows->above[rows->height] = count;
  return count;
}

/* The image's row that an output's first tap reads. */
static int
device_first (const pp_plan *plan, const pp_axis *axis, int output,
    const struct rows *rows)
{
  const struct range taps = weighted_taps (plan, axis, output);

  return rows->above[plan->index[axis->first + output] + taps.first] -
      taps.first;
}

/* Where an output's taps would read outside of the image, touches all of its
 * rows. Returns whether there was such an output. */
static bool
touch_missing (const pp_plan *plan, const pp_axis *axis, struct rows *rows)
{
  const int count = rows->above[rows->height];
  bool missing = false;

  for (int i = 0; i < axis->n_out; i++) {
    const int first = device_first (plan, axis, i, rows);

    if (first >= 0 && first + axis->n_taps <= count)
      continue;
    touch (rows, plan->index[axis->first + i], axis->n_taps);
    missing = true;
  }
  return missing;
}

static void
touch_rows (const pp_plan *plan, const pp_axis *axis, struct rows *rows)
{
  memset (rows->touched, false, (size_t) rows->height * sizeof *rows->touched);
  for (int i = 0; i < axis->n_out; i++) {
    const struct range taps = weighted_taps (plan, axis, i);

    touch (rows, plan->index[axis->first + i] + taps.first,
        taps.last - taps.first + 1);
  }
  do
    count_touched (rows);
  while (touch_missing (plan, axis, rows));
}

/* Whether row[i + period] - row[i] is the same for every i. */
static bool
repeats (const int32_t *row, int count, int period)
{
  for (int i = 1; i + period < count; i++)
    if (row[i + period] - row[i] != row[period] - row[0])
      return false;
  return true;
}

/* Adds groups; beyond the limit it only counts them. */
static void
add_group (pp_plane_rows *rows, pp_row_groups group)
{
  if (rows->n_groups < PP_MAX_ROW_GROUPS)
    rows->group[rows->n_groups] = group;
  rows->n_groups++;
}

/* Rows repeat after period rows. Each run of adjacent rows in the first period
 * makes groups, with its repetitions. The last period may end inside a run;
 * what there is of that run is a group of its own. */
static void
split_period (const int32_t *row, int period, pp_plane_rows *rows)
{
  const int count = rows->count;
  const int step = period < count ? row[period] - row[0] : 0;

  rows->n_groups = 0;
  for (int start = 0, end; start < period; start = end) {
    for (end = start + 1; end < period && row[end] == row[end - 1] + 1; end++)
      ;

    const int groups = (count - end) / period + 1;
    const int rest = start + groups * period;

    add_group (rows,
        (pp_row_groups){
            end - start, groups, row[start], step, start, period });
    if (rest < count)
      add_group (
          rows, (pp_row_groups){ count - rest, 1, row[rest], 0, rest, 0 });
  }
}

/* Looks for the shortest period after which the rows' distances repeat. */
void
pp_rows_group (const int32_t *row, pp_plane_rows *rows)
{
  const int count = rows->count;
  const bool adjacent = row[count - 1] - row[0] == count - 1;
  int runs = 0;

  for (int period = adjacent ? count : 1; period <= count; period++) {
    runs += period == 1 || row[period - 1] != row[period - 2] + 1;
    if (runs > PP_MAX_ROW_GROUPS)
      break;
    if (!repeats (row, count, period))
      continue;
    split_period (row, period, rows);
    if (rows->n_groups <= PP_MAX_ROW_GROUPS)
      return;
  }
  rows->n_groups = 0;
}

/* Appends the touched rows to device_index, which has room. */
static void
list_rows (pp_plan *plan, const struct rows *rows, pp_plane_rows *listed)
{
  int32_t *list = plan->device_index + plan->n_device_index;

  *listed = (pp_plane_rows){ .first = (int32_t) plan->n_device_index };
  for (int row = 0; row < rows->height; row++)
    if (rows->touched[row])
      list[listed->count++] = row;
  plan->n_device_index += (size_t) listed->count;
  pp_rows_group (list, listed);
}

/* The y table that the component uses: 1 for one that differs from table 0. */
static int
table_of (const pp_numbers *n, const pp_source *source)
{
  return n->y[source->axes].first != n->y[0].first;
}

/* All formats of GStreamer are; for another, all rows are uploaded. */
bool
pp_rows_one_table_a_plane (const pp_numbers *n)
{
  for (int a = 0; a < n->n_components; a++)
    for (int b = 0; b < a; b++)
      if (n->source[a].plane == n->source[b].plane &&
          table_of (n, &n->source[a]) != table_of (n, &n->source[b]))
        return false;
  return true;
}

/* Planes that are read with the same table get the same rows, so that all of
 * them write the same to device_index. */
static void
decide_plane (
    pp_plan *plan, int plane, const pp_axis *axis, bool all, struct rows *rows)
{
  rows->height = plan->extent[plane].height;
  if (!all)
    touch_rows (plan, axis, rows);
  if (all || 10 * count_touched (rows) > PP_MAX_LISTED_TENTHS * rows->height)
    touch (rows, 0, rows->height);
  count_touched (rows);
  list_rows (plan, rows, &plan->rows[plane]);
  if (all)
    return;
  for (int i = 0; i < axis->n_out; i++)
    plan->device_index[axis->first + i] = device_first (plan, axis, i, rows);
}

void
pp_rows_fill (pp_plan *plan, bool *touched, int *above)
{
  const pp_numbers *n = &plan->numbers;
  const bool all = plan->all_rows || !pp_rows_one_table_a_plane (n);
  struct rows rows = { .touched = touched, .above = above };

  memcpy (plan->device_index, plan->index,
      plan->n_index * sizeof *plan->device_index);
  plan->n_device_index = plan->n_index;
  for (int c = 0; c < n->n_components; c++) {
    const int p = n->source[c].plane;

    if (plan->rows[p].count == 0)
      decide_plane (plan, p, &n->y[n->source[c].axes], all, &rows);
  }
}

bool
pp_rows_init (pp_plan *plan)
{
  size_t highest = 0, total = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const size_t height = (size_t) plan->extent[p].height;

    highest = height > highest ? height : highest;
    total += height;
  }

  bool *touched = malloc (highest * sizeof *touched);
  int *above = malloc ((highest + 1) * sizeof *above);

  plan->device_index =
      malloc ((plan->n_index + total) * sizeof *plan->device_index);

  const bool good =
      plan->device_index != NULL && touched != NULL && above != NULL;

  if (good)
    pp_rows_fill (plan, touched, above);
  free (touched);
  free (above);
  return good;
}
