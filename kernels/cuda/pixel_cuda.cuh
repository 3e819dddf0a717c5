/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the GPU's kernels that resample share: their argument, loading samples,
 * and finish_pixel and finish_four, which turn resampled components into elements of
 * the tensor.
 *
 * __fmul_rn and __fadd_rn are never fused to one operation, with any option of
 * the compiler.
 */
#ifndef PP_PIXEL_CUDA_CUH
#define PP_PIXEL_CUDA_CUH

#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "div_up_cuda.cuh"
#include "kernel_cuda.h"

/* For the kernel tile: consecutive components that are interleaved, and so
 * share rows and taps. */
struct tile_group {
  int reach; /* bytes of a pixel, from the group's first sample on */
};

/* How the kernel tile divides the work. */
struct tile_layout {
  int log2_columns, rows; /* outputs of a tile */
  tile_group group[PP_MAX_COMPONENTS];
  int offset[PP_MAX_COMPONENTS]; /* of a component in its group, samples */
};

/* What a group has in shared memory, as offsets in floats. sums: for each row of
 * the tile, the vertical sums of the samples under it. weights: for each
 * horizontal tap, its weights in the tile's columns. */
struct tile_memory {
  int sums, sums_stride;
  int weights;
};

/* A tap table of one axis: see pp_axis. */
struct tap_table {
  const int32_t *first;
  const float *weight;
  int n_taps, n_out;
};

/* What the pictures of one launch have in common. */
struct common_args {
  pp_numbers numbers;               /* 0 where the pictures may differ */
  int64_t channel[PP_MAX_CHANNELS]; /* from content to the channel's, bytes */
  int row_stride, pixel_stride;     /* of the tensor, elements */
  int diagonal; /* whether the colour matrix is 0 beside its diagonal */
  tile_layout tile;
};

/* A picture of a launch. Component 0 has the tables [0], the others, which are
 * alike, have [1]. */
struct picture_args {
  tap_table x[2], y[2];
  const uint8_t *first[PP_MAX_COMPONENTS]; /* each component's first sample */
  size_t stride[PP_MAX_COMPONENTS];        /* bytes from one row to the next */
  uint8_t *content;  /* the tensor's pixel (0, 0) of the content */
  int width, height; /* of the content, pixels */
  int lead; /* elements from the last multiple of FOUR of them to content */
  tile_memory tile[PP_MAX_COMPONENTS];
};

/* Pictures of a launch: as many as kernel parameters have room for, which is
 * 4 KiB. */
#define MANY 16

/* Adjacent elements that a thread may store at once. */
#define FOUR 4

/* The argument of all kernels that resample. PICTURES is 1 or MANY; of the
 * latter gridDim.z are there. */
template <int PICTURES> struct kernel_args {
  common_args common;
  picture_args picture[PICTURES];
};
static_assert (sizeof (kernel_args<MANY>) <= 4096, "the limit of parameters");

/* The picture that a block makes. */
struct kernel_view {
  const common_args &common;
  const picture_args &picture;
};

template <int PICTURES>
static __device__ __forceinline__ kernel_view
find_picture (const kernel_args<PICTURES> &args)
{
  return { args.common, args.picture[PICTURES > 1 ? blockIdx.z : 0] };
}

/* A kernel for one picture, and the same for many. */
struct kernel_pair {
  const void *one, *many;
};

/* A launch, as the host decides it. */
struct kernel_launch {
  kernel_pair kernel;
  dim3 grid, block;
  int rows;      /* of the content that a block makes; gives grid.y */
  size_t shared; /* bytes */
};

/* Whether two components are interleaved in one plane and share their taps. */
static bool
interleaved (const pp_source &a, const pp_source &b)
{
  return a.plane == b.plane && a.first_row == b.first_row &&
      a.pixel_stride == b.pixel_stride && a.axes == b.axes &&
      a.shift == b.shift && a.mask == b.mask &&
      abs (a.first_byte - b.first_byte) < a.pixel_stride;
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

/* The selector of __byte_perm that puts the bytes of two samples in order. */
static __device__ __forceinline__ unsigned
byte_order (const pp_numbers &n)
{
  return n.big_endian ? 0x2301 : 0x3210;
}

template <int BYTES>
static __device__ __forceinline__ float
decode_sample (const pp_numbers &n, const pp_source &source, unsigned sample)
{
  if (BYTES == 1)
    return (float) (int) sample;
  return decode (
      source, n.big_endian ? __byte_perm (sample, 0, 0x4401) : sample);
}

/* Two adjacent samples that were loaded at once. */
template <int BYTES>
static __device__ __forceinline__ float2
decode_pair (const pp_numbers &n, const pp_source &source, unsigned samples)
{
  if (BYTES == 1)
    return make_float2 (
        (float) (int) (samples & 0xff), (float) (int) (samples >> 8));
  samples = __byte_perm (samples, 0, byte_order (n));
  return make_float2 (
      decode (source, samples & 0xffff), decode (source, samples >> 16));
}

/* One sample at any address. */
template <int BYTES>
static __device__ __forceinline__ float
load_unaligned (const pp_numbers &n, const pp_source &source, const uint8_t *at)
{
  if (BYTES == 1)
    return (float) __ldg (at);
  const unsigned a = __ldg (at), b = __ldg (at + 1);
  return decode (source, n.big_endian ? a << 8 | b : b << 8 | a);
}

/* As in the reference, low if value is not a number; of a zero as low, the sign
 * may be that of value. */
static __device__ __forceinline__ float
clamp (float value, float low, float high)
{
  return fminf (fmaxf (value, low), high);
}

static __device__ __forceinline__ void
store (const pp_numbers &n, float *to, float value)
{
  *to = value;
}

static __device__ __forceinline__ void
store (const pp_numbers &n, __half *to, float value)
{
  *to = __float2half_rn (value);
}

/* For uint8 and int8: the low byte is the same. */
static __device__ __forceinline__ unsigned
quantize (const pp_numbers &n, float value)
{
  return (unsigned) (__float2int_rn (clamp (value, n.lo, n.hi)) +
             n.zero_point) &
      0xff;
}

static __device__ __forceinline__ void
store (const pp_numbers &n, uint8_t *to, float value)
{
  *to = (uint8_t) quantize (n, value);
}

/* Four elements at a multiple of their size, past the caches: nobody on the GPU
 * reads them soon. */
static __device__ __forceinline__ void
store_four (const pp_numbers &n, float *to, const float (&v)[FOUR])
{
  __stcs ((float4 *) to, make_float4 (v[0], v[1], v[2], v[3]));
}

static __device__ __forceinline__ unsigned
two_halves (float low, float high)
{
  return __half_as_ushort (__float2half_rn (low)) |
      (unsigned) __half_as_ushort (__float2half_rn (high)) << 16;
}

static __device__ __forceinline__ void
store_four (const pp_numbers &n, __half *to, const float (&v)[FOUR])
{
  __stcs ((uint2 *) to,
      make_uint2 (two_halves (v[0], v[1]), two_halves (v[2], v[3])));
}

static __device__ __forceinline__ void
store_four (const pp_numbers &n, uint8_t *to, const float (&v)[FOUR])
{
  __stcs ((unsigned *) to,
      quantize (n, v[0]) | quantize (n, v[1]) << 8 | quantize (n, v[2]) << 16 |
          quantize (n, v[3]) << 24);
}

static __device__ __forceinline__ float
normalize (const pp_numbers &n, int channel, const float *colour)
{
  return __fadd_rn (
      __fmul_rn (colour[channel], n.mul[channel]), n.add[channel]);
}

template <typename ELEMENT>
static __device__ __forceinline__ void
store_channels (const kernel_view &args, const float *colour, int64_t element)
{
  const pp_numbers &n = args.common.numbers;

#pragma unroll
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    if (c < n.n_channels)
      store (n,
          (ELEMENT *) (args.picture.content + args.common.channel[c]) + element,
          normalize (n, c, colour));
  if (sizeof (ELEMENT) == 1 && n.fourth)
    args.picture.content[element + 3] = PP_GAP_BYTE;
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

/* R'G'B' or gray in 0...255, from a pixel's resampled components. DIAGONAL: the
 * matrix may be diagonal.
 *
 * The reference also adds the products of the matrix's zeros, and its sums of taps
 * start at 0. All weights and components are finite, so these addends are zeros,
 * and at most a zero's sign differs without them. Before the clamp, the matrix'
 * last column is added. It is never -0 (see fill_common), so the sum is not
 * either, whatever the sign of a zero was. */
template <int COMPONENTS, bool DIAGONAL>
static __device__ __forceinline__ void
convert_colour (float (&colour)[PP_MAX_CHANNELS], const common_args &common,
    const float *value)
{
  const pp_numbers &n = common.numbers;

  if (DIAGONAL && common.diagonal) {
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      colour[c] = clamp (
          __fadd_rn (__fmul_rn (n.matrix[c][c], value[c]), n.matrix[c][3]), 0.f,
          255.f);
  } else {
#pragma unroll
    for (int c = 0; c < PP_MAX_CHANNELS; c++)
      colour[c] = mix<COMPONENTS> (n.matrix[COMPONENTS == 1 ? 0 : c], value);
  }
  if (n.to_gray)
    colour[0] = add_product (
        add_product (__fmul_rn (n.gray[0], colour[0]), n.gray[1], colour[1]),
        n.gray[2], colour[2]);
}

/* Colour, normalisation and type. value: the resampled components of the pixel
 * (x, y) of the content. */
template <int COMPONENTS>
static __device__ __forceinline__ void
finish_pixel (const kernel_view &args, const float *value, int x, int y)
{
  const pp_numbers &n = args.common.numbers;
  const int64_t element = (int64_t) y * args.common.row_stride +
      (int64_t) x * args.common.pixel_stride;
  float colour[PP_MAX_CHANNELS];

  convert_colour<COMPONENTS, false> (colour, args.common, value);
  static_assert (PP_N_TYPES == 4, "a type more needs a branch here");
  if (n.type == PP_TYPE_FLOAT32)
    store_channels<float> (args, colour, element);
  else if (n.type == PP_TYPE_FLOAT16)
    store_channels<__half> (args, colour, element);
  else
    store_channels<uint8_t> (args, colour, element);
}

template <typename ELEMENT>
static __device__ __forceinline__ void
store_channels_of_four (const kernel_view &args,
    const float (&colour)[FOUR][PP_MAX_CHANNELS], int x, int y)
{
  const pp_numbers &n = args.common.numbers;
  const int width = args.picture.width;

#pragma unroll
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    if (c >= n.n_channels)
      break;
    ELEMENT *to = (ELEMENT *) (args.picture.content + args.common.channel[c]) +
        (int64_t) y * args.common.row_stride + x;
    float element[FOUR];
#pragma unroll
    for (int k = 0; k < FOUR; k++)
      element[k] = normalize (n, c, colour[k]);
    if (x >= 0 && x + FOUR <= width) {
      store_four (n, to, element);
      continue;
    }
#pragma unroll
    for (int k = 0; k < FOUR; k++)
      if (x + k >= 0 && x + k < width)
        store (n, to + k, element[k]);
  }
}

/* The same for the four pixels from (x, y) on, where the tensor's are adjacent
 * elements (see in_fours), from a multiple of FOUR on. Some may be beside the
 * content. */
template <int COMPONENTS, bool DIAGONAL>
static __device__ __forceinline__ void
finish_four (const kernel_view &args, const float (&value)[FOUR][COMPONENTS],
    int x, int y)
{
  const pp_numbers &n = args.common.numbers;
  float colour[FOUR][PP_MAX_CHANNELS];

#pragma unroll
  for (int k = 0; k < FOUR; k++)
    convert_colour<COMPONENTS, DIAGONAL> (colour[k], args.common, value[k]);
  static_assert (PP_N_TYPES == 4, "a type more needs a branch here");
  if (n.type == PP_TYPE_FLOAT32)
    store_channels_of_four<float> (args, colour, x, y);
  else if (n.type == PP_TYPE_FLOAT16)
    store_channels_of_four<__half> (args, colour, x, y);
  else
    store_channels_of_four<uint8_t> (args, colour, x, y);
}

#endif
