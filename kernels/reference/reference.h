/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The specification, applied plainly. The CPU's and the GPU's kernels give the
 * same bits.
 */
#ifndef PP_REFERENCE_H
#define PP_REFERENCE_H

#include "kernels/plan/plan.h"

/* The whole job, median included. source: a view from pp_plan_crop_view. Writes
 * the whole tensor, padding included. Any thread. False, with nothing written,
 * where there is no memory for the median's image; without a median it needs
 * none. */
bool pp_apply_c (const pp_plan *plan, const pp_view *source, void *tensor);

/* The plan's median by itself: from source to an image of the same rectangles,
 * which is then the source of the taps. Values are written with all other bits
 * zero. Only samples of components are written, and maybe what is between them
 * in their rows. Any thread. */
void pp_median_c (
    const pp_plan *plan, const pp_view *source, const pp_planes *to);

#endif
