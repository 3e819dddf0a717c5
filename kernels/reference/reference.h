/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference kernels: the specification. Tests compare the CPU's and the
 * GPU's kernels with them, bit for bit.
 */
#ifndef PP_REFERENCE_H
#define PP_REFERENCE_H

#include "kernels/plan/plan.h"

/* Makes a whole tensor, with median and padding. source: a view from
 * pp_plan_crop_view. Any thread. False, with nothing written, if there is no
 * memory for the medians; without a median it allocates nothing. */
bool pp_apply_c (const pp_plan *plan, const pp_view *source, void *tensor);

/* Makes only the plan's medians. to: planes of the plan's extents, which the
 * taps then read instead of source. A sample is its value, shifted to its
 * place; the other bits are 0. Bytes between the components' samples may be
 * written or not. Any thread. */
void pp_median_c (
    const pp_plan *plan, const pp_view *source, const pp_planes *to);

#endif
