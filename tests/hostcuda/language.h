/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What CUDA C++ has and C++ has not: included before a .cu file, it makes a C++
 * compiler build the kernels for the host. blocks.cc runs them. Threads of a block
 * take turns on one thread of the host, from one __syncthreads or shuffle to the
 * next, so a block's result never depends on chance.
 */
#ifndef HOSTCUDA_LANGUAGE_H
#define HOSTCUDA_LANGUAGE_H

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
/* Not thread_local, which may have a constructor. */
#define __shared__ __thread
#define __launch_bounds__(...)
#define __grid_constant__

constexpr int warpSize = 32;
extern thread_local uint3 threadIdx, blockIdx;
extern thread_local dim3 blockDim, gridDim;

/* Returns when all threads of the block that have not ended have called it. */
void __syncthreads ();
/* The same for the threads of a warp; returns what lane's thread gave. */
unsigned hostcuda_shuffle (unsigned value, int lane);

/* The only mask is that of all lanes. */
template <typename T>
static inline T
__shfl_sync (unsigned, T value, int lane)
{
  static_assert (sizeof (T) == sizeof (unsigned), "a word");
  return (T) hostcuda_shuffle ((unsigned) value, lane % warpSize);
}

template <typename T>
static inline T
__shfl_xor_sync (unsigned mask, T value, int lane_mask)
{
  return __shfl_sync (mask, value, (int) (threadIdx.x % warpSize) ^ lane_mask);
}

template <typename T>
static inline T
__ldg (const T *from)
{
  return *from;
}

template <typename T>
static inline T
__ldcs (const T *from)
{
  return *from;
}

template <typename T>
static inline void
__stcs (T *to, T value)
{
  *to = value;
}

template <typename A, typename B>
static inline typename std::common_type<A, B>::type
min (A a, B b)
{
  return a < b ? a : b;
}

template <typename A, typename B>
static inline typename std::common_type<A, B>::type
max (A a, B b)
{
  return a > b ? a : b;
}

static inline float
__fmul_rn (float a, float b)
{
  return a * b;
}

static inline float
__fadd_rn (float a, float b)
{
  return a + b;
}

/* Half to even, which is how the host rounds. */
static inline int
__float2int_rn (float value)
{
  return (int) std::nearbyint (value);
}

static inline float
__uint_as_float (unsigned bits)
{
  float value;

  std::memcpy (&value, &bits, sizeof value);
  return value;
}

static inline unsigned
__byte_perm (unsigned low, unsigned high, unsigned selector)
{
  const unsigned long long bytes = (unsigned long long) high << 32 | low;
  unsigned result = 0;

  for (int i = 0; i < 4; i++) {
    const unsigned s = selector >> 4 * i;
    unsigned byte = (unsigned) (bytes >> (s & 7) * 8) & 0xff;
    if (s & 8) /* its sign */
      byte = byte & 0x80 ? 0xff : 0;
    result |= byte << 8 * i;
  }
  return result;
}

/* The upper word's low bits above the lower word's others. */
static inline unsigned
__funnelshift_r (unsigned low, unsigned high, unsigned shift)
{
  const unsigned long long both = (unsigned long long) high << 32 | low;

  return (unsigned) (both >> (shift & 31));
}

static inline unsigned
__vminu2 (unsigned a, unsigned b)
{
  return min (a & 0xffff, b & 0xffff) | min (a >> 16, b >> 16) << 16;
}

static inline unsigned
__vmaxu2 (unsigned a, unsigned b)
{
  return max (a & 0xffff, b & 0xffff) | max (a >> 16, b >> 16) << 16;
}

#endif
