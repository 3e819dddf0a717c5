/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Division that rounds up, on both sides.
 */
#ifndef PP_DIV_UP_CUDA_CUH
#define PP_DIV_UP_CUDA_CUH

static __host__ __device__ constexpr int
div_up (int a, int b)
{
  return (a + b - 1) / b;
}

#endif
