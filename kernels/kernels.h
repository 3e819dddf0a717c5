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

/* The reference. source: a view from pp_plan_crop_view. Writes the whole
 * tensor, padding included. Any thread. */
void pp_apply_c (const pp_plan *plan, const pp_view *source, void *tensor);

/* The CPU backend's. Writes rows [first_row, last_row) of the content and
 * nothing else. scratch: pp_apply_cpu_scratch (plan) bytes, aligned to 64, for
 * this call alone. Any thread. */
size_t pp_apply_cpu_scratch (const pp_plan *plan);
void pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch);

#ifdef __cplusplus
}
#endif

#endif
