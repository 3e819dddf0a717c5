/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the GPU's kernels share: their argument, how bytes become values, and
 * the way from a pixel's components to the tensor.
 *
 * __fmul_rn and __fadd_rn are never contracted, whatever the build passes.
 */
#ifndef PP_PIXEL_CUDA_CUH
#define PP_PIXEL_CUDA_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernel_cuda.h"

/* How tile divides the work. A group is a run of components whose samples are
 * interleaved: they share rows, taps and code. Arrays are by component. */
struct tile_layout {
  int log2_columns, rows; /* outputs of a tile */
  int sums_stride;        /* floats from one row of sums to the next */
  const uint8_t *group[PP_MAX_COMPONENTS]; /* the group's first sample */
  int reach[PP_MAX_COMPONENTS];  /* bytes from there to its pixel's end */
  int offset[PP_MAX_COMPONENTS]; /* samples from there to the component */
};

struct kernel_args {
  pp_numbers numbers;
  const uint8_t *first[PP_MAX_COMPONENTS]; /* each component's first sample */
  size_t stride[PP_MAX_COMPONENTS];        /* bytes from row to row */
  const int32_t *index;
  const float *weight;
  void *tensor;
  tile_layout tile;
};

/* One launch, as the host has decided it. */
struct kernel_launch {
  const void *kernel;
  dim3 grid, block;
  size_t shared; /* bytes */
};

static inline int
div_up (int a, int b)
{
  return (a + b - 1) / b;
}

static __device__ __forceinline__ float
add_product (float sum, float weight, float value)
{
  return __fadd_rn (sum, __fmul_rn (weight, value));
}

static __device__ __forceinline__ float
decode (const pp_source &source, unsigned sample)
{
  return (float) (int) (sample >> source.shift & (unsigned) source.mask);
}

template <int BYTES>
static __device__ __forceinline__ float
load_sample (const pp_numbers &n, const pp_source &source, const uint8_t *at)
{
  if (BYTES == 1)
    return (float) __ldg (at);
  const unsigned sample = __ldg ((const unsigned short *) at);
  return decode (
      source, n.big_endian ? __byte_perm (sample, 0, 0x4401) : sample);
}

/* The same at any address. */
template <int BYTES>
static __device__ __forceinline__ float
load_unaligned (const pp_numbers &n, const pp_source &source, const uint8_t *at)
{
  if (BYTES == 1)
    return (float) __ldg (at);
  const unsigned a = __ldg (at), b = __ldg (at + 1);
  return decode (source, n.big_endian ? a << 8 | b : b << 8 | a);
}

static __device__ __forceinline__ float
clamp (float value, float low, float high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

static __device__ __forceinline__ void
store (const kernel_args &args, int64_t element, float value)
{
  const pp_numbers &n = args.numbers;

  if (n.type == PP_TYPE_FLOAT32) {
    ((float *) args.tensor)[element] = value;
  } else if (n.type == PP_TYPE_FLOAT16) {
    ((__half *) args.tensor)[element] = __float2half_rn (value);
  } else {
    /* the low byte is right for both integer types */
    const int rounded = __float2int_rn (clamp (value, n.lo, n.hi));
    ((uint8_t *) args.tensor)[element] = (uint8_t) (rounded + n.zero_point);
  }
}

template <int COMPONENTS>
static __device__ __forceinline__ float
mix (const float (&m)[4], const float *value)
{
  float sum = __fmul_rn (m[0], value[0]);
  if (COMPONENTS == 3) {
    sum = add_product (sum, m[1], value[1]);
    sum = add_product (sum, m[2], value[2]);
  }
  return clamp (__fadd_rn (sum, m[3]), 0.f, 255.f);
}

/* value: the resampled components of the pixel (x, y) of the content. */
template <int COMPONENTS>
static __device__ __forceinline__ void
finish_pixel (const kernel_args &args, const float *value, int x, int y)
{
  const pp_numbers &n = args.numbers;
  const int64_t pixel =
      (n.content_y + y) * n.row_stride + (n.content_x + x) * n.pixel_stride;
  float shade[PP_MAX_CHANNELS];

#pragma unroll
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    shade[c] = mix<COMPONENTS> (n.matrix[COMPONENTS == 1 ? 0 : c], value);
  if (n.to_gray) {
    shade[0] = add_product (
        add_product (__fmul_rn (n.gray[0], shade[0]), n.gray[1], shade[1]),
        n.gray[2], shade[2]);
  }
#pragma unroll
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    if (c < n.n_channels)
      store (args, n.channel[c] + pixel,
          __fadd_rn (__fmul_rn (shade[c], n.mul[c]), n.add[c]));
}

#endif
