/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame that is alone would use one direction of the bus at a time. In two
 * bands, one above the other, the upper one comes down while the lower one goes
 * up. The lower band goes up without the rows that the upper one took along.
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

/* The rows of the component's plane, from the first one on, that the upper band
 * reads. */
static int
rows_read (const pp_plan *plan, const pp_source *source)
{
  const pp_axis *axis = &plan->numbers.y[source->axes];
  int end = 0;

  for (int i = 0; i < plan->upper.last; i++) {
    const int last = plan->device_index[axis->first + i] + axis->n_taps;
    end = last > end ? last : end;
  }
  return source->first_row + end;
}

void
pp_bands_init (pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;

  plan->whole = (pp_band){ .last = n->content_height };
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->whole.last_row[p] = plan->rows[p].count;

  plan->upper = plan->lower = plan->whole;
  plan->upper.last = plan->lower.first = n->content_height / 2;
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->upper.last_row[p] = 0;
  for (int c = 0; c < n->n_components; c++) {
    const pp_source *source = &n->source[c];
    const int rows = rows_read (plan, source);
    int32_t *end = &plan->upper.last_row[source->plane];

    if (*end < rows)
      *end = rows;
  }
  for (int p = 0; p < PP_MAX_PLANES; p++)
    plan->lower.first_row[p] = plan->upper.last_row[p];

  /* A median reads rows around those that taps read, and takes longer than the
   * copies that it would be hidden behind. */
  plan->can_be_two = plan->median.size == 0 && n->content_height >= 2;
  plan->in_two = plan->can_be_two && bytes_up (plan) >= MIN_BYTES &&
      bytes_down (n) >= MIN_BYTES;
}
