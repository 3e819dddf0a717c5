/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Networks of minimum and maximum that sort, or find the middle value. Two
 * values are compared at a time, as the halves of a word.
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

/* The last two are compared first. */
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

/* rank[k][i]: the k-th smallest value of column i. */
static __device__ __forceinline__ unsigned
middle_of (const unsigned (&rank)[3][3])
{
  const unsigned low = __vmaxu2 (__vmaxu2 (rank[0][0], rank[0][1]), rank[0][2]);
  const unsigned high =
      __vminu2 (__vminu2 (rank[2][0], rank[2][1]), rank[2][2]);

  return middle_of (low, middle_of (rank[1][0], rank[1][1], rank[1][2]), high);
}

/* With ranks sorted as well, only a few values can be the middle one: those
 * that do not have 13 other values above, or 13 below, for certain. They lie on
 * three diagonals; of the lower one only the highest, of the upper one only the
 * lowest is not ruled out by the others. */
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
