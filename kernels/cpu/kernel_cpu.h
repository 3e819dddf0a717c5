/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU backend's kernels: the bits of reference/reference.h, faster.
 */
#ifndef PP_KERNEL_CPU_H
#define PP_KERNEL_CPU_H

#include "kernels/plan/plan.h"

/* The whole job, median included. Writes rows [first_row, last_row) of the
 * content and nothing else. source: a view from pp_plan_crop_view. scratch:
 * pp_apply_cpu_scratch (plan) bytes, aligned to 64, for this call alone. Any
 * thread. */
size_t pp_apply_cpu_scratch (const pp_plan *plan);
void pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch);

/* The plan's median by itself, as pp_median_c: the rows that rows [first_row,
 * last_row) of the content depend on. to: planes and strides aligned to 2 bytes.
 * scratch: pp_median_cpu_scratch (plan) bytes, aligned to 64, for this call
 * alone. Any thread. */
size_t pp_median_cpu_scratch (const pp_plan *plan);
void pp_median_cpu (const pp_plan *plan, const pp_view *source,
    const pp_planes *to, int first_row, int last_row, void *scratch);

#endif
