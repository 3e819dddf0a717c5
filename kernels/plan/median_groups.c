/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Groups the components whose medians are computed together: those that are
 * interleaved, such as R, G and B of a packed format.
 */
#include "parts.h"

#include <stdlib.h>

/* Whether components a and b can be in one group. */
static bool
go_together (const pp_source *a, const pp_source *b)
{
  return a->plane == b->plane && a->axes == b->axes &&
      a->pixel_stride == b->pixel_stride && a->shift == b->shift &&
      a->mask == b->mask &&
      abs (a->first_byte - b->first_byte) < a->pixel_stride;
}

/* The mask of the value's bits in a sample. */
static int32_t
value_bits (const pp_numbers *numbers, const pp_source *source)
{
  return numbers->sample_bytes == 1 ? 0xff : source->mask << source->shift;
}

/* The group of source and of all components that can be in one with it. */
static pp_median_group
make_group (const pp_numbers *numbers, const pp_source *source)
{
  const int unit = numbers->sample_bytes;
  int first = source->first_byte, last = first;
  pp_median_group group = {
    .plane = source->plane,
    .axes = source->axes,
    .first_row = source->first_row,
    .rows = source->rows,
    .columns = source->columns,
    .step = source->pixel_stride / unit,
    .bits = value_bits (numbers, source),
    .alone = true,
  };

  for (int c = 0; c < numbers->n_components; c++) {
    const pp_source *other = &numbers->source[c];

    if (!go_together (source, other)) {
      group.alone &= other->plane != source->plane;
      continue;
    }
    first = other->first_byte < first ? other->first_byte : first;
    last = other->first_byte > last ? other->first_byte : last;
  }
  for (int c = 0; c < numbers->n_components; c++)
    if (go_together (source, &numbers->source[c]))
      group.samples |= UINT64_C (1)
          << (numbers->source[c].first_byte - first) / unit;
  group.first_byte = first;
  group.units = (last - first) / unit + (group.columns - 1) * group.step + 1;
  return group;
}

void
pp_median_groups_init (pp_median *median, const pp_numbers *numbers, int size)
{
  *median = (pp_median){ .size = size };
  for (int c = 0; c < numbers->n_components; c++) {
    bool grouped = false;

    for (int before = 0; before < c; before++)
      grouped |= go_together (&numbers->source[before], &numbers->source[c]);
    if (!grouped)
      median->group[median->n_groups++] =
          make_group (numbers, &numbers->source[c]);
  }
}
