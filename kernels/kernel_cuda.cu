/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernels: the bits of pp_apply_c, content only. Every value goes
 * through the reference's float operations in the reference's order; what
 * differs is who computes what:
 *
 *   few_taps  at most two taps an axis: a thread makes one pixel and has all
 *             its loads in flight at once
 *   tile      more taps: a block makes a tile of outputs; vertical sums of
 *             every sample under the tile go to shared memory, then each thread
 *             adds the horizontal taps of one pixel
 *   any_taps  everything else: a thread makes one pixel, tap by tap
 *
 * __fmul_rn and __fadd_rn are never contracted, whatever the build passes.
 */
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include "kernel_cuda.h"

/* few_taps and any_taps: pixels a block makes. Its warps are rows of 32. */
#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 4
/* tile: threads a block has, at least one for each output. */
#define TILE_THREADS 256
/* tile: bytes that a thread loads at once. */
#define WORD 8
/* tile: loads that a thread has in flight. */
#define LOADS 8
/* Shared memory that every block may have without asking, bytes. */
#define SHARED_LIMIT (48 * 1024)
/* Blocks a multiprocessor below which smaller tiles are better: a block spends
 * most of its time waiting for memory. */
#define TILE_BLOCKS 4

/* A sum of a row is stored at SKEW (sample): columns that are a power of two
 * apart, read by the threads of a warp, then lie in different banks. */
#define SKEW(lane) ((lane) + ((lane) >> 5))

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

/* ---- samples and sums ---------------------------------------------------- */

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

/* ---- from a pixel's components to the tensor ----------------------------- */

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

/* ---- few_taps ------------------------------------------------------------ */

/* The TAPS taps of one output. Where the table has fewer, the rest weighs
 * nothing: adding it changes no bit. */
template <int TAPS> struct tap_set {
  int at[TAPS];
  float weight[TAPS];
};

template <int TAPS>
static __device__ __forceinline__ tap_set<TAPS>
load_taps (const kernel_args &args, const pp_axis &axis, int output)
{
  const int first = __ldg (args.index + axis.first + output);
  const float *weight = args.weight + axis.first_weight + output;
  tap_set<TAPS> taps;

#pragma unroll
  for (int j = 0; j < TAPS; j++) {
    const bool there = j < axis.n_taps;
    taps.at[j] = there ? first + j : first;
    taps.weight[j] = there ? __ldg (weight + j * axis.n_out) : 0.f;
  }
  return taps;
}

template <int BYTES, int TAPS>
static __device__ __forceinline__ float
sum_taps (const kernel_args &args, int component, const tap_set<TAPS> &x,
    const tap_set<TAPS> &y)
{
  const pp_source &source = args.numbers.source[component];
  float sum = 0.f;

#pragma unroll
  for (int i = 0; i < TAPS; i++) {
    const uint8_t *column =
        args.first[component] + x.at[i] * source.pixel_stride;
    float column_sum = 0.f;
#pragma unroll
    for (int j = 0; j < TAPS; j++)
      column_sum = add_product (column_sum, y.weight[j],
          load_sample<BYTES> (
              args.numbers, source, column + y.at[j] * args.stride[component]));
    sum = add_product (sum, x.weight[i], column_sum);
  }
  return sum;
}

/* TAPS: of component 0. CHROMA_TAPS: of components 1 and 2, which have a table
 * of their own, or 0 where all components share one. */
template <int BYTES, int COMPONENTS, int TAPS, int CHROMA_TAPS>
static __global__ void
few_taps (const __grid_constant__ kernel_args args)
{
  const pp_numbers &n = args.numbers;
  const int x = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const int y = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  float value[COMPONENTS];

  if (x >= n.content_width || y >= n.content_height)
    return;
  const int axes = n.source[0].axes;
  const tap_set<TAPS> at_x = load_taps<TAPS> (args, n.x[axes], x);
  const tap_set<TAPS> at_y = load_taps<TAPS> (args, n.y[axes], y);
  value[0] = sum_taps<BYTES, TAPS> (args, 0, at_x, at_y);
  if constexpr (CHROMA_TAPS > 0) {
    const int chroma = n.source[1].axes;
    const auto chroma_x = load_taps<CHROMA_TAPS> (args, n.x[chroma], x);
    const auto chroma_y = load_taps<CHROMA_TAPS> (args, n.y[chroma], y);
    value[1] = sum_taps<BYTES, CHROMA_TAPS> (args, 1, chroma_x, chroma_y);
    value[2] = sum_taps<BYTES, CHROMA_TAPS> (args, 2, chroma_x, chroma_y);
  } else if constexpr (COMPONENTS == 3) {
    value[1] = sum_taps<BYTES, TAPS> (args, 1, at_x, at_y);
    value[2] = sum_taps<BYTES, TAPS> (args, 2, at_x, at_y);
  }
  finish_pixel<COMPONENTS> (args, value, x, y);
}

/* ---- any_taps ------------------------------------------------------------ */

template <int BYTES>
static __device__ float
sum_any_taps (const kernel_args &args, int component, int x, int y)
{
  const pp_numbers &n = args.numbers;
  const pp_source &source = n.source[component];
  const pp_axis &x_axis = n.x[source.axes], &y_axis = n.y[source.axes];
  const float *x_weight = args.weight + x_axis.first_weight + x;
  const uint8_t *column = args.first[component] +
      __ldg (args.index + y_axis.first + y) * args.stride[component] +
      __ldg (args.index + x_axis.first + x) * source.pixel_stride;
  float sum = 0.f;

  for (int i = 0; i < x_axis.n_taps; i++) {
    const float *y_weight = args.weight + y_axis.first_weight + y;
    const uint8_t *at = column;
    float column_sum = 0.f;
#pragma unroll 4
    for (int j = 0; j < y_axis.n_taps; j++) {
      column_sum = add_product (
          column_sum, __ldg (y_weight), load_unaligned<BYTES> (n, source, at));
      y_weight += y_axis.n_out;
      at += args.stride[component];
    }
    sum = add_product (sum, __ldg (x_weight), column_sum);
    x_weight += x_axis.n_out;
    column += source.pixel_stride;
  }
  return sum;
}

template <int BYTES, int COMPONENTS>
static __global__ void
any_taps (const __grid_constant__ kernel_args args)
{
  const int x = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const int y = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  float value[COMPONENTS];

  if (x >= args.numbers.content_width || y >= args.numbers.content_height)
    return;
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    value[c] = sum_any_taps<BYTES> (args, c, x, y);
  finish_pixel<COMPONENTS> (args, value, x, y);
}

/* ---- tile ---------------------------------------------------------------- */

/* The value of sample k of a word. */
template <int BYTES>
static __device__ __forceinline__ float
unpack (const pp_numbers &n, const pp_source &source, uint2 word, int k)
{
  const unsigned half = k < WORD / BYTES / 2 ? word.x : word.y;

  if (BYTES == 1) {
    /* the bits of 2^23 + the byte: cheaper than a conversion */
    const unsigned bits = __byte_perm (half, 0x4b000000, 0x7440 | (k & 3));
    return __fadd_rn (__uint_as_float (bits), -8388608.f);
  }
  const unsigned ordered =
      __byte_perm (half, 0, n.big_endian ? 0x2301 : 0x3210);
  return decode (source, (k & 1) ? ordered >> 16 : ordered & 0xffff);
}

/* Adds n_taps weighted rows of a word's samples to sum. Many loads are in
 * flight before the first is used: the taps are what a thread waits for. */
template <int BYTES>
static __device__ __forceinline__ void
sum_words (float (&sum)[WORD / BYTES], const kernel_args &args,
    const pp_source &source, const uint8_t *from, size_t stride,
    const float *weight, int n_taps)
{
  for (int start = 0; start < n_taps; start += LOADS) {
    uint2 word[LOADS];
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (start + j < n_taps)
        word[j] = __ldg ((const uint2 *) from);
      from += stride;
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (start + j >= n_taps)
        break;
      const float w = weight[start + j];
#pragma unroll
      for (int k = 0; k < WORD / BYTES; k++)
        sum[k] = add_product (
            sum[k], w, unpack<BYTES> (args.numbers, source, word[j], k));
    }
  }
}

/* What a block has to do, and where in it. */
struct tile_place {
  int x0, y0;        /* its first output */
  int columns, rows; /* its outputs, cut to the content */
  int column, row;   /* this thread's output; maybe outside */
};

/* The samples of a group's row that lie under the tile. */
struct tile_span {
  const uint8_t *words; /* of row 0, at a multiple of WORD */
  int n_words;
  int origin; /* samples from words to the group's sample 0, mostly negative */
};

/* The least and the greatest first tap of columns adjacent outputs, at most
 * 64. They need not ascend: where the outermost taps of an output weigh nothing,
 * it starts later than its neighbours. Each warp finds them for itself. */
static __device__ __forceinline__ int2
find_first_taps (const int32_t *index, int columns)
{
  const int thread = threadIdx.x & 31;
  const int a = __ldg (index + min (thread, columns - 1));
  const int b = __ldg (index + min (thread + 32, columns - 1));
  int2 taps = { min (a, b), max (a, b) };

#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    taps.x = min (taps.x, __shfl_xor_sync (~0u, taps.x, distance));
    taps.y = max (taps.y, __shfl_xor_sync (~0u, taps.y, distance));
  }
  return taps;
}

template <int BYTES>
static __device__ __forceinline__ tile_span
find_span (const kernel_args &args, int group, const tile_place &place)
{
  const pp_source &source = args.numbers.source[group];
  const pp_axis &axis = args.numbers.x[source.axes];
  const int2 taps =
      find_first_taps (args.index + axis.first + place.x0, place.columns);
  const int first = taps.x, count = taps.y - taps.x + axis.n_taps;
  const uint8_t *begin = args.tile.group[group] + first * source.pixel_stride;
  const int phase = (int) ((uintptr_t) begin & (WORD - 1));
  tile_span span;

  span.words = begin - phase;
  span.n_words = (phase + (count - 1) * source.pixel_stride +
                     args.tile.reach[group] + WORD - 1) /
      WORD;
  span.origin = (phase - first * source.pixel_stride) / BYTES;
  return span;
}

/* Leaves the vertical sums of all samples of the span in sums. */
template <int BYTES>
static __device__ __forceinline__ void
sum_columns (const kernel_args &args, int group, const tile_place &place,
    const tile_span &span, float *sums, float *weights)
{
  const pp_source &source = args.numbers.source[group];
  const pp_axis &axis = args.numbers.y[source.axes];
  const size_t stride = args.stride[group];
  const int n_taps = axis.n_taps;
  const float *weight = args.weight + axis.first_weight + place.y0;

#pragma unroll 1
  for (int row = 0; row < place.rows; row++)
#pragma unroll 1
    for (int tap = threadIdx.x; tap < n_taps; tap += TILE_THREADS)
      weights[row * n_taps + tap] = __ldg (weight + tap * axis.n_out + row);
  /* also: everyone is done with the sums of the group before */
  __syncthreads ();
  int row = 0;
  for (int word = threadIdx.x;; word += TILE_THREADS) {
    for (; row < place.rows && word >= span.n_words; row++)
      word -= span.n_words;
    if (row == place.rows)
      break;
    const int first = __ldg (args.index + axis.first + place.y0 + row);
    float sum[WORD / BYTES] = {};
    sum_words<BYTES> (sum, args, source,
        span.words + first * stride + word * WORD, stride,
        weights + row * n_taps, n_taps);
    float *to =
        sums + row * args.tile.sums_stride + SKEW (word * (WORD / BYTES));
#pragma unroll
    for (int k = 0; k < WORD / BYTES; k++)
      to[k] = sum[k]; /* a word never crosses a step of SKEW */
  }
  __syncthreads ();
}

/* Resamples the N components from group on, of this thread's pixel. */
template <int BYTES, int N>
static __device__ __forceinline__ void
sum_group (
    const kernel_args &args, int group, const tile_place &place, float *value)
{
  extern __shared__ float shared[];
  const pp_source &source = args.numbers.source[group];
  const pp_axis &axis = args.numbers.x[source.axes];
  const tile_span span = find_span<BYTES> (args, group, place);
  const int step = source.pixel_stride / BYTES;

  sum_columns<BYTES> (args, group, place, span, shared,
      shared + args.tile.rows * args.tile.sums_stride);
#pragma unroll
  for (int c = 0; c < N; c++)
    value[c] = 0.f;
  if (place.column >= place.columns || place.row >= place.rows)
    return;

  const int output = place.x0 + place.column;
  const float *weight = args.weight + axis.first_weight + output;
  const float *sums = shared + place.row * args.tile.sums_stride;
  unsigned lane = span.origin + __ldg (args.index + axis.first + output) * step;
  for (int start = 0; start < axis.n_taps; start += LOADS) {
    float w[LOADS];
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (start + j < axis.n_taps)
        w[j] = __ldg (weight);
      weight += axis.n_out;
    }
#pragma unroll
    for (int j = 0; j < LOADS; j++) {
      if (start + j >= axis.n_taps)
        break;
#pragma unroll
      for (int c = 0; c < N; c++) {
        const unsigned at = lane + args.tile.offset[group + c];
        value[c] = add_product (value[c], w[j], sums[SKEW (at)]);
      }
      lane += step;
    }
  }
}

/* N0, N1, N2: components of each group, one after the other; 0: no group. */
template <int BYTES, int N0, int N1, int N2>
static __global__ void
tile (const __grid_constant__ kernel_args args)
{
  const pp_numbers &n = args.numbers;
  const int max_columns = 1 << args.tile.log2_columns;
  float value[N0 + N1 + N2];
  tile_place place;

  place.x0 = blockIdx.x << args.tile.log2_columns;
  place.y0 = blockIdx.y * args.tile.rows;
  place.columns = min (max_columns, n.content_width - place.x0);
  place.rows = min (args.tile.rows, n.content_height - place.y0);
  place.column = threadIdx.x & (max_columns - 1);
  place.row = threadIdx.x >> args.tile.log2_columns;
  sum_group<BYTES, N0> (args, 0, place, value);
  if constexpr (N1 > 0)
    sum_group<BYTES, N1> (args, N0, place, value + N0);
  if constexpr (N2 > 0)
    sum_group<BYTES, N2> (args, N0 + N1, place, value + N0 + N1);
  if (place.column < place.columns && place.row < place.rows)
    finish_pixel<N0 + N1 + N2> (
        args, value, place.x0 + place.column, place.y0 + place.row);
}

/* ---- which kernel, and how large ----------------------------------------- */

struct kernel_launch {
  const void *kernel;
  dim3 grid, block;
  size_t shared;
};

static int
div_up (int a, int b)
{
  return (a + b - 1) / b;
}

static void
launch_by_pixel (kernel_launch &launch, const pp_numbers &n, const void *kernel)
{
  launch.kernel = kernel;
  launch.grid = dim3 (div_up (n.content_width, BLOCK_COLUMNS),
      div_up (n.content_height, BLOCK_ROWS));
  launch.block = dim3 (BLOCK_COLUMNS, BLOCK_ROWS);
  launch.shared = 0;
}

static void
choose_any_taps (kernel_launch &launch, const pp_numbers &n)
{
  static const void *const kernels[] = { (const void *) any_taps<1, 1>,
    (const void *) any_taps<2, 1>, (const void *) any_taps<1, 3>,
    (const void *) any_taps<2, 3> };

  launch_by_pixel (
      launch, n, kernels[n.n_components / 3 * 2 + n.sample_bytes - 1]);
}

/* False where an axis has more than two taps. */
static bool
choose_few_taps (kernel_launch &launch, const pp_numbers &n)
{
#define ROW(bytes, components, taps, chroma_taps)                              \
  {                                                                            \
    bytes, components, taps, chroma_taps,                                      \
        (const void *) few_taps<bytes, components, taps, chroma_taps>          \
  }
#define ROWS(bytes)                                                            \
  ROW (bytes, 1, 1, 0), ROW (bytes, 1, 2, 0), ROW (bytes, 3, 1, 0),            \
      ROW (bytes, 3, 2, 0), ROW (bytes, 3, 1, 1), ROW (bytes, 3, 1, 2),        \
      ROW (bytes, 3, 2, 1), ROW (bytes, 3, 2, 2)
  static const struct {
    int bytes, components, taps, chroma_taps;
    const void *kernel;
  } rows[] = { ROWS (1), ROWS (2) };
#undef ROWS
#undef ROW
  const int axes = n.source[0].axes;
  const int taps = max (n.x[axes].n_taps, n.y[axes].n_taps);
  int chroma_taps = 0;

  if (n.n_components == 3) {
    const int chroma = n.source[1].axes;
    if (n.source[2].axes != chroma)
      return false;
    if (chroma != axes)
      chroma_taps = max (n.x[chroma].n_taps, n.y[chroma].n_taps);
  }
  for (const auto &row : rows) {
    if (row.bytes == n.sample_bytes && row.components == n.n_components &&
        row.taps == taps && row.chroma_taps == chroma_taps) {
      launch_by_pixel (launch, n, row.kernel);
      return true;
    }
  }
  return false;
}

/* Whether component b can be in one group with a. */
static bool
interleaved (const pp_source &a, const pp_source &b)
{
  return a.plane == b.plane && a.first_row == b.first_row &&
      a.pixel_stride == b.pixel_stride && a.axes == b.axes &&
      a.shift == b.shift && a.mask == b.mask &&
      abs (a.first_byte - b.first_byte) < a.pixel_stride;
}

/* Divides the components into groups; the kernel for them. */
static const void *
group_components (tile_layout &layout, const pp_numbers &n)
{
#define ROWS(groups)                                                           \
  {                                                                            \
    (const void *) tile<1, groups>, (const void *) tile<2, groups>             \
  }
#define GROUPS(a, b, c) a, b, c
  static const void *const kernels[4][2] = { ROWS (GROUPS (1, 0, 0)),
    ROWS (GROUPS (3, 0, 0)), ROWS (GROUPS (1, 2, 0)), ROWS (GROUPS (1, 1, 1)) };
#undef GROUPS
#undef ROWS
  const pp_source *s = n.source;
  const int bytes = n.sample_bytes;
  int row = 0, group[PP_MAX_COMPONENTS] = { 0, 1, 2 };

  if (n.n_components == 3) {
    const bool last_two = interleaved (s[1], s[2]);
    row = !last_two ? 3 : !interleaved (s[0], s[1]) ? 2 : 1;
    if (last_two)
      group[2] = 1;
    if (row == 1)
      group[1] = group[2] = 0;
  }
  for (int c = 0; c < n.n_components; c++) {
    int low = s[c].first_byte, high = low;
    for (int other = 0; other < n.n_components; other++) {
      if (group[other] == group[c]) {
        low = min (low, s[other].first_byte);
        high = max (high, s[other].first_byte);
      }
    }
    layout.reach[c] = high - low + bytes;
    layout.offset[c] = (s[c].first_byte - low) / bytes;
  }
  return kernels[row][bytes - 1];
}

/* The most samples under columns adjacent outputs that start at a multiple of
 * columns. */
static int
widest_span (const pp_plan *plan, const pp_axis &axis, int columns)
{
  const int32_t *first = plan->index + axis.first;
  int widest = 0;

  for (int start = 0; start < axis.n_out; start += columns) {
    const int end = min (start + columns, axis.n_out);
    int low = first[start], high = low;
    for (int x = start + 1; x < end; x++) {
      low = min (low, first[x]);
      high = max (high, first[x]);
    }
    widest = max (widest, high - low);
  }
  return widest + axis.n_taps;
}

/* Whether component c takes as much room as the one before it. */
static bool
same_span (const tile_layout &layout, const pp_numbers &n, int c)
{
  const pp_source &source = n.source[c], &before = n.source[c - 1];

  return source.axes == before.axes &&
      source.pixel_stride == before.pixel_stride &&
      layout.reach[c] == layout.reach[c - 1];
}

/* Bytes of shared memory that tiles of layout take; sets its sums_stride. 0
 * where the columns under a tile are so many more than the taps that summing
 * all of them would be a waste. */
static size_t
shared_size (tile_layout &layout, const pp_plan *plan)
{
  const pp_numbers &n = plan->numbers;
  const int columns = 1 << layout.log2_columns;
  int n_taps = 0;

  layout.sums_stride = 0;
  for (int c = 0; c < n.n_components; c++) {
    const pp_source &source = n.source[c];
    const pp_axis &x = n.x[source.axes];
    if (c > 0 && same_span (layout, n, c))
      continue;
    const int span = widest_span (plan, x, columns);
    if (span > 2 * columns * x.n_taps)
      return 0;
    const int words = div_up (
        WORD - 1 + (span - 1) * source.pixel_stride + layout.reach[c], WORD);
    const int lanes = words * (WORD / n.sample_bytes);
    layout.sums_stride = max (layout.sums_stride, SKEW (lanes) + 1);
    n_taps = max (n_taps, n.y[source.axes].n_taps);
  }
  return sizeof (float) * layout.rows * ((size_t) layout.sums_stride + n_taps);
}

/* The largest tile that leaves enough blocks for every multiprocessor, else
 * the smallest that fits. False where none fits. */
static bool
choose_tile (kernel_launch &launch, tile_layout &layout, const pp_plan *plan,
    int multiprocessors)
{
  static const struct {
    int log2_columns, rows;
  } sizes[] = { { 6, 4 }, { 6, 2 }, { 5, 2 }, { 5, 1 }, { 4, 1 }, { 3, 1 } };
  const pp_numbers &n = plan->numbers;
  tile_layout chosen = layout;

  launch.kernel = nullptr;
  const void *const kernel = group_components (chosen, n);
  for (const auto &size : sizes) {
    chosen.log2_columns = size.log2_columns;
    chosen.rows = size.rows;
    const size_t shared = shared_size (chosen, plan);
    if (shared == 0 || shared > SHARED_LIMIT)
      continue;
    layout = chosen;
    launch.kernel = kernel;
    launch.grid = dim3 (div_up (n.content_width, 1 << size.log2_columns),
        div_up (n.content_height, size.rows));
    launch.block = dim3 (TILE_THREADS);
    launch.shared = shared;
    if (launch.grid.x * launch.grid.y >=
        (unsigned) (TILE_BLOCKS * multiprocessors))
      break;
  }
  return launch.kernel != nullptr;
}

/* Whether every sample is at a multiple of its size and every row at a
 * multiple of WORD. */
static bool
aligned (const pp_numbers &n, const pp_view &view)
{
  for (int c = 0; c < n.n_components; c++) {
    const pp_source &source = n.source[c];
    const int p = source.plane;
    if (((uintptr_t) view.plane[p] | view.stride[p]) % WORD != 0 ||
        (source.first_byte | source.pixel_stride) % n.sample_bytes != 0)
      return false;
  }
  return true;
}

static void
choose_kernel (kernel_launch &launch, tile_layout &layout, const pp_plan *plan,
    const pp_view &view, int multiprocessors)
{
  if (!aligned (plan->numbers, view) ||
      (!choose_few_taps (launch, plan->numbers) &&
          !choose_tile (launch, layout, plan, multiprocessors)))
    choose_any_taps (launch, plan->numbers);
}

/* Loading is lazy: asking for a kernel's attributes makes it happen. */
static cudaError_t
load (const kernel_launch &launch)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes (&attributes, launch.kernel);
}

extern "C" cudaError_t
pp_cuda_probe (void)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes (&attributes, (const void *) any_taps<1, 1>);
}

extern "C" cudaError_t
pp_cuda_prepare (const pp_plan *plan)
{
  const pp_view any_aligned = {};
  kernel_launch launch;
  tile_layout layout = {};

  choose_kernel (launch, layout, plan, any_aligned, 1);
  const cudaError_t error = load (launch);
  if (error != cudaSuccess)
    return error;
  choose_any_taps (launch, plan->numbers);
  return load (launch);
}

extern "C" cudaError_t
pp_cuda_launch (const pp_launch *job, int multiprocessors, cudaStream_t stream)
{
  const pp_numbers &n = job->plan->numbers;
  kernel_launch launch;
  kernel_args args = {};

  args.numbers = n;
  args.index = job->index;
  args.weight = job->weight;
  args.tensor = job->tensor;
  choose_kernel (launch, args.tile, job->plan, job->source, multiprocessors);
  for (int c = 0; c < n.n_components; c++) {
    const pp_source &source = n.source[c];
    args.stride[c] = job->source.stride[source.plane];
    args.first[c] = job->source.plane[source.plane] +
        source.first_row * args.stride[c] + source.first_byte;
    args.tile.group[c] = args.first[c] - args.tile.offset[c] * n.sample_bytes;
  }

  void *parameters[] = { &args };
  return cudaLaunchKernel (launch.kernel, launch.grid, launch.block, parameters,
      launch.shared, stream);
}
