/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame that is alone would use one direction of the bus at a time. In two
 * bands, one above the other, the upper one comes down while the lower one goes
 * up. The lower band goes up without the rows that the upper one took along.
 * Where the picture is turned, the upper band is the half of the content that
 * kernels make first: the top of the tensor, or its left half where the axes are
 * swapped. In a mirrored frame, its rows are the last ones.
 */
#include "parts.h"

/* Bytes each way: below, the calls that another band takes cost the host more
 * than the bus gains. An H200's bus moves them in 20 us. */
#define MIN_BYTES ((size_t) 1 << 20)

static size_t
bytes_up (const pp_plan *plan)
{
  size_t bytes = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    bytes += (size_t) plan->rows[p].count * (size_t) plan->extent[p].width;
  return bytes;
}

static size_t
bytes_down (const pp_numbers *n)
{
  return (size_t) n->content_width * (size_t) n->content_height *
      (size_t) n->n_channels * pp_type_size ((pp_type) n->type);
}

/* The rows [first, last) of a plane's image. */
struct rows {
  int first, last;
};

/* The rows of the component's plane that the upper band reads. */
static struct rows
rows_read (const pp_plan *plan, const pp_source *source)
{
  const pp_axis *axis = &plan->numbers.y[source->axes];
  const int32_t *index = plan->device_index + axis->first;
  struct rows rows = { index[0], 0 };

  for (int i = 0; i < plan->upper.last; i++) {
    const int last = index[i] + axis->n_taps;

    rows.first = index[i] < rows.first ? index[i] : rows.first;
    rows.last = last > rows.last ? last : rows.last;
  }
  rows.first += source->first_row;
  rows.last += source->first_row;
  return rows;
}

/* The first row of the group that has the row in it, and others: groups are
 * uploaded whole, with the band that they begin in. */
static int
start_of_group (const pp_plane_rows *rows, int row)
{
  for (int g = 0; g < rows->n_groups; g++) {
    const pp_row_groups *group = &rows->group[g];
    const int after = row - group->to;

    if (group->groups > 1 && after >= 0 &&
        after / group->to_step < group->groups &&
        after % group->to_step < group->rows)
      return row - after % group->to_step;
  }
  return row;
}

/* Makes the upper band upload the rows as well, and all rows that are nearer to
 * the end of the image that it starts from: the last row, where the frame is
 * mirrored. */
static void
add_rows (pp_plan *plan, int plane, struct rows rows, bool mirrored)
{
  pp_band *upper = &plan->upper, *lower = &plan->lower;

  if (mirrored) {
    const int first = start_of_group (&plan->rows[plane], rows.first);

    if (upper->first_row[plane] > first)
      upper->first_row[plane] = first;
    lower->last_row[plane] = upper->first_row[plane];
  } else {
    if (upper->last_row[plane] < rows.last)
      upper->last_row[plane] = rows.last;
    lower->first_row[plane] = upper->last_row[plane];
  }
}

void
pp_bands_init (pp_plan *plan, bool mirrored)
{
  const pp_numbers *n = &plan->numbers;

  plan->whole = (pp_band){ .last = n->content_height };
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->whole.last_row[p] = plan->rows[p].count;

  plan->upper = plan->lower = plan->whole;
  plan->upper.last = plan->lower.first = n->content_height / 2;
  for (int p = 0; p < PP_MAX_PLANES; p++)
    if (mirrored)
      plan->upper.first_row[p] = plan->rows[p].count;
    else
      plan->upper.last_row[p] = 0;
  for (int c = 0; c < n->n_components; c++)
    add_rows (
        plan, n->source[c].plane, rows_read (plan, &n->source[c]), mirrored);

  /* A median reads rows around those that taps read, and takes longer than the
   * copies that it would be hidden behind. */
  plan->can_be_two = plan->median.size == 0 && n->content_height >= 2;
  plan->in_two = plan->can_be_two && bytes_up (plan) >= MIN_BYTES &&
      bytes_down (n) >= MIN_BYTES;
}
