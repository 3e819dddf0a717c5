/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which components a median is taken of together.
 */
#ifndef PP_MEDIANGROUPS_H
#define PP_MEDIANGROUPS_H

#include "plan.h"

/* Fills median from numbers' source. size: 3 or 5. */
void pp_median_groups_init (
    pp_median *median, const pp_numbers *numbers, int size);

#endif
