/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU's kernels: the same bits as those of reference/reference.h, several
 * times as fast. backend_cpu.c calls them in its workers.
 */
#ifndef PP_KERNEL_CPU_H
#define PP_KERNEL_CPU_H

#include "kernels/plan/plan.h"

/* Makes rows [first_row, last_row) of the content, with the median, and writes
 * nothing else. source: a view from pp_plan_crop_view. scratch: as many bytes
 * as pp_apply_cpu_scratch returns, aligned to 64; no other call may use them
 * meanwhile. Any thread. */
size_t pp_apply_cpu_scratch (const pp_plan *plan);
void pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch);

/* Makes only the plan's medians, as pp_median_c, and of these only the rows
 * that rows [first_row, last_row) of the content depend on. to: planes and
 * strides are multiples of 2 bytes. scratch: as above, of
 * pp_median_cpu_scratch. Any thread. */
size_t pp_median_cpu_scratch (const pp_plan *plan);
void pp_median_cpu (const pp_plan *plan, const pp_view *source,
    const pp_planes *to, int first_row, int last_row, void *scratch);

#endif
