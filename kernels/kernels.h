/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one operation, three times: the same bits from each.
 */
#ifndef PP_KERNELS_H
#define PP_KERNELS_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The reference, median included. source: a view from pp_plan_crop_view. Writes
 * the whole tensor, padding included. Any thread. False, with nothing written,
 * where there is no memory for the median's image; without a median it needs
 * none. */
bool pp_apply_c (const pp_plan *plan, const pp_view *source, void *tensor);

/* The CPU backend's, median included. Writes rows [first_row, last_row) of the
 * content and nothing else. scratch: pp_apply_cpu_scratch (plan) bytes, aligned
 * to 64, for this call alone. Any thread. */
size_t pp_apply_cpu_scratch (const pp_plan *plan);
void pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch);

/* A plan's median by itself: from source to an image of the same rectangles,
 * which is then the source of the taps. Values are written with all other bits
 * zero. Only samples of components are written, and maybe what is between them
 * in their rows. */

/* The reference: all rows. Any thread. */
void pp_median_c (
    const pp_plan *plan, const pp_view *source, const pp_planes *to);

/* The CPU backend's: the rows that rows [first_row, last_row) of the content
 * depend on. to: planes and strides aligned to 2 bytes. scratch:
 * pp_median_cpu_scratch (plan) bytes, aligned to 64. Any thread. */
size_t pp_median_cpu_scratch (const pp_plan *plan);
void pp_median_cpu (const pp_plan *plan, const pp_view *source,
    const pp_planes *to, int first_row, int last_row, void *scratch);

#ifdef __cplusplus
}
#endif

#endif
