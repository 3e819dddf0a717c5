/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checkbytes.h"

#include <stdlib.h>

/* Marks a row of a component, or those that its medians are taken of. */
static void
mark_row (const pp_plan *plan, const pp_source *source, int row, bool *read)
{
  const int radius = plan->median.size / 2;
  for (int y = row - radius; y <= row + radius; y++)
    if (y >= 0 && y < source->rows)
      read[source->first_row + y] = true;
}

/* Rows of the plane's extent that a component's taps read. */
static void
mark_rows (const pp_plan *plan, int c, bool *read)
{
  const pp_source *source = &plan->numbers.source[c];
  const pp_axis *y = &plan->numbers.y[source->axes];
  for (int o = 0; o < y->n_out; o++)
    for (int j = 0; j < y->n_taps; j++)
      if (plan->weight[y->first_weight + (ptrdiff_t) j * y->n_out + o] != 0)
        mark_row (plan, source, plan->index[y->first + o] + j, read);
}

int
check_rows_read (const pp_plan *plan, int plane)
{
  const pp_numbers *n = &plan->numbers;
  const pp_rect extent = pp_plan_plane_extent (plan, plane);
  bool *read = calloc ((size_t) extent.height + 1, sizeof *read);
  int rows = 0;
  if (!read)
    abort ();
  for (int c = 0; c < n->n_components; c++)
    if (n->source[c].plane == plane)
      mark_rows (plan, c, read);
  for (int y = 0; y < extent.height; y++)
    rows += read[y];
  free (read);
  return rows;
}

size_t
check_bytes_written (const pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;
  return pp_type_size ((pp_type) n->type) * (size_t) n->n_channels *
      (size_t) n->content_width * (size_t) n->content_height;
}

double
check_bytes_moved (const pp_plan *plan)
{
  double bytes = (double) check_bytes_written (plan);
  for (int p = 0; p < PP_MAX_PLANES; p++)
    bytes += (double) check_rows_read (plan, p) *
        pp_plan_plane_extent (plan, p).width;
  return bytes;
}
