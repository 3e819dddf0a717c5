/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of R, G, B or gray -> elements of the tensor's type.
 */
#ifndef PP_ELEMENTS_CPU_H
#define PP_ELEMENTS_CPU_H

#include "kernels/preproc.h"

/* How a channel is normalised and rounded. */
typedef struct pp_scaling {
  float mul, add;
  float lo, hi; /* integer types; within +-2^22 */
  int32_t zero_point;
} pp_scaling;

/* Stores n elements, side by side: colour * mul + add. For integer types this
 * is clamped to [lo, hi] and rounded half to even; then zero_point is added.
 * elements overlaps nothing else. Any thread. */
typedef void (*pp_store_cpu) (
    void *elements, const float *colour, const pp_scaling *scaling, int n);

pp_store_cpu pp_find_store_cpu (pp_type type);

#endif
