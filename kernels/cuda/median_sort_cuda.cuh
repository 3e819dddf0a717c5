/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Sorting and median networks for the GPU's median: minima and maxima in a
 * fixed order. Each 32-bit word has two 16-bit values, and both are compared at
 * once.
 */
#ifndef PP_MEDIAN_SORT_CUDA_CUH
#define PP_MEDIAN_SORT_CUDA_CUH

#include <cuda_runtime.h>

static __device__ __forceinline__ void
order (unsigned &a, unsigned &b)
{
  const unsigned low = __vminu2 (a, b);

  b = __vmaxu2 (a, b);
  a = low;
}

/* Compares the last two first: median_words_cuda.cuh makes use of that. */
static __device__ __forceinline__ void
sort (unsigned (&v)[3])
{
  order (v[1], v[2]);
  order (v[0], v[1]);
  order (v[1], v[2]);
}

static __device__ __forceinline__ void
sort (unsigned (&v)[5])
{
  order (v[0], v[1]);
  order (v[3], v[4]);
  order (v[2], v[4]);
  order (v[2], v[3]);
  order (v[1], v[4]);
  order (v[0], v[3]);
  order (v[0], v[2]);
  order (v[1], v[3]);
  order (v[1], v[2]);
}

static __device__ __forceinline__ unsigned
middle_of (unsigned a, unsigned b, unsigned c)
{
  return __vmaxu2 (__vminu2 (a, b), __vminu2 (__vmaxu2 (a, b), c));
}

/* The median of 3 x 3 values. rank[k][i]: the k-th smallest value of column i.
 */
static __device__ __forceinline__ unsigned
middle_of (const unsigned (&rank)[3][3])
{
  const unsigned low = __vmaxu2 (__vmaxu2 (rank[0][0], rank[0][1]), rank[0][2]);
  const unsigned high =
      __vminu2 (__vminu2 (rank[2][0], rank[2][1]), rank[2][2]);

  return middle_of (low, middle_of (rank[1][0], rank[1][1], rank[1][2]), high);
}

/* The median of 5 x 5 values, after sorted columns' ranks are sorted, too.
 * Values that are known to have 13 others above, or below, cannot be the
 * median. Those that remain are on three diagonals. Of the lower one only the
 * highest value can be the median, of the upper one only the lowest.
 * (cpu/median_rows_cpu.h has the proof.) */
static __device__ __forceinline__ unsigned
middle_of (unsigned (&rank)[5][5])
{
#pragma unroll
  for (int k = 0; k < 5; k++)
    sort (rank[k]);

  unsigned diagonal[5] = { rank[0][4], rank[1][3], rank[2][2], rank[3][1],
    rank[4][0] };
  unsigned low = __vmaxu2 (
      __vmaxu2 (rank[0][3], rank[1][2]), __vmaxu2 (rank[2][1], rank[3][0]));
  unsigned high = __vminu2 (
      __vminu2 (rank[1][4], rank[2][3]), __vminu2 (rank[3][2], rank[4][1]));

  sort (diagonal);
  order (low, high);
  return __vminu2 (diagonal[3],
      __vminu2 (__vmaxu2 (diagonal[2], low), __vmaxu2 (diagonal[1], high)));
}

#endif
