/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernels in which a thread makes one pixel, and what chooses them on
 * the host: few_taps, for at most two taps an axis, has all loads of a pixel in
 * flight at once; any_taps goes tap by tap, with any number, at any address.
 */
#ifndef PP_TAPS_CUDA_CUH
#define PP_TAPS_CUDA_CUH

#include "pixel_cuda.cuh"

/* The pixels of a block of few_taps and any_taps. Its warps are rows of 32. If
 * the tensor's axes are swapped, a block has more rows: they are adjacent
 * elements of the tensor, and 8 floats fill a sector of memory. */
#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 4
#define SWAPPED_ROWS 8
#define BLOCK_THREADS (BLOCK_COLUMNS * SWAPPED_ROWS)
/* As many blocks of the larger kind as a multiprocessor can have at once, since
 * most of their threads wait for memory: it has 2048, 1536 or 1024 threads.
 * With 2048 this limits a thread to 32 registers. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 || \
    (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100)
#define BLOCKS 8
#elif __CUDA_ARCH__ == 750
#define BLOCKS 4
#else
#define BLOCKS 6
#endif
/* From one row of a block to the next in shared memory, floats. Threads of a
 * warp that read 8 rows of 4 columns are in different banks. */
#define EXCHANGE_STRIDE (BLOCK_COLUMNS + 4)

/* The taps of one output on one axis. If the table has fewer than TAPS, the
 * others have weight 0 and change no bit. */
template <int TAPS> struct tap_set {
  unsigned at[TAPS];
  float weight[TAPS];
};

template <int TAPS>
static __device__ __forceinline__ tap_set<TAPS>
load_taps (const tap_table &table, unsigned output)
{
  const unsigned first = __ldg (table.first + output);
  tap_set<TAPS> taps;

#pragma unroll
  for (int j = 0; j < TAPS; j++) {
    const bool there = j == 0 || j < table.n_taps;
    taps.at[j] = there ? first + j : first;
    taps.weight[j] =
        there ? __ldg (table.weight + (output + j * table.n_out)) : 0.f;
  }
  return taps;
}

template <int BYTES, int X, int Y>
static __device__ __forceinline__ float
sum_taps (const kernel_view &args, int component, const tap_set<X> &x,
    const tap_set<Y> &y)
{
  const pp_source &source = args.common.numbers.source[component];
  const unsigned stride = (unsigned) args.picture.stride[component];
  const uint8_t *row[Y];
  float sum = 0.f;

#pragma unroll
  for (int j = 0; j < Y; j++)
    row[j] = args.picture.first[component] + (size_t) y.at[j] * stride;
#pragma unroll
  for (int i = 0; i < X; i++) {
    const unsigned offset = x.at[i] * (unsigned) source.pixel_stride;
    float column_sum = 0.f;
#pragma unroll
    for (int j = 0; j < Y; j++)
      column_sum = add_product (column_sum, y.weight[j],
          load_sample<BYTES> (args.common.numbers, source, row[j] + offset));
    sum = add_product (sum, x.weight[i], column_sum);
  }
  return sum;
}

/* Components 1 and 2, where they are adjacent: one load gets both. */
template <int BYTES, int TAPS>
static __device__ __forceinline__ void
sum_pair (const kernel_view &args, const tap_set<TAPS> &x,
    const tap_set<TAPS> &y, float *value)
{
  const pp_source &source = args.common.numbers.source[1];
  const bool swapped = args.picture.first[2] < args.picture.first[1];
  const uint8_t *first =
      swapped ? args.picture.first[2] : args.picture.first[1];
  const unsigned stride = (unsigned) args.picture.stride[1];
  float low = 0.f, high = 0.f;

#pragma unroll
  for (int i = 0; i < TAPS; i++) {
    const unsigned offset = x.at[i] * (unsigned) source.pixel_stride;
    float low_sum = 0.f, high_sum = 0.f;
#pragma unroll
    for (int j = 0; j < TAPS; j++) {
      const float2 pair = load_pair<BYTES> (args.common.numbers, source,
          first + (size_t) y.at[j] * stride + offset);
      low_sum = add_product (low_sum, y.weight[j], pair.x);
      high_sum = add_product (high_sum, y.weight[j], pair.y);
    }
    low = add_product (low, x.weight[i], low_sum);
    high = add_product (high, x.weight[i], high_sum);
  }
  value[0] = swapped ? high : low;
  value[1] = swapped ? low : high;
}

/* Where the tensor's axes are swapped: gives each thread the values of another
 * pixel of the block, so that a warp stores 8 adjacent pixels of the tensor in
 * each of 4 rows, though it has loaded 32 adjacent pixels of the frame. All
 * threads of the block must call it. */
template <int COMPONENTS>
static __device__ __forceinline__ void
exchange_pixels (float (&value)[COMPONENTS], unsigned &x, unsigned &y)
{
  extern __shared__ float shared[];
  constexpr int plane = EXCHANGE_STRIDE * SWAPPED_ROWS;
  const unsigned thread = threadIdx.y * BLOCK_COLUMNS + threadIdx.x;
  const unsigned row = thread % SWAPPED_ROWS, column = thread / SWAPPED_ROWS;

#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    shared[c * plane + threadIdx.y * EXCHANGE_STRIDE + threadIdx.x] = value[c];
  __syncthreads ();
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    value[c] = shared[c * plane + row * EXCHANGE_STRIDE + column];
  x = blockIdx.x * BLOCK_COLUMNS + column;
  y = blockIdx.y * SWAPPED_ROWS + row;
}

/* The pixel that a thread of few_taps or any_taps loads. */
struct pixel_place {
  unsigned x, y;
  bool inside; /* of the content */
};

/* Threads outside of the content load its last column or row, since they take
 * part in exchange_pixels. */
static __device__ __forceinline__ pixel_place
find_pixel (const picture_args &picture)
{
  const unsigned x = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
  const unsigned last_x = picture.width - 1, last_y = picture.height - 1;

  return { min (x, last_x), min (y, last_y), x <= last_x && y <= last_y };
}

/* value: the resampled components of the pixel at place. */
template <int COMPONENTS>
static __device__ __forceinline__ void
store_pixel (const kernel_view &args, float (&value)[COMPONENTS],
    const pixel_place &place)
{
  const picture_args &picture = args.picture;
  unsigned x = place.x, y = place.y;

  if (args.common.numbers.swapped) {
    exchange_pixels<COMPONENTS> (value, x, y);
    if (x >= (unsigned) picture.width || y >= (unsigned) picture.height)
      return;
  }
  finish_pixel<COMPONENTS> (args, value, x, y);
}

/* X, Y: taps of component 0. CHROMA: taps of components 1 and 2 on both axes,
 * or 0 if all components have the same tables. PAIR: components 1 and 2 are
 * adjacent. */
template <int BYTES, int COMPONENTS, int X, int Y, int CHROMA, bool PAIR,
    int PICTURES>
static __global__ void
__launch_bounds__ (BLOCK_THREADS, BLOCKS)
    few_taps (const __grid_constant__ kernel_args<PICTURES> all)
{
  const kernel_view args = find_picture (all);
  const picture_args &picture = args.picture;
  const pixel_place place = find_pixel (picture);
  const unsigned x = place.x, y = place.y;
  float value[COMPONENTS];

  if (!place.inside && !args.common.numbers.swapped)
    return;
  const tap_set<X> at_x = load_taps<X> (picture.x[0], x);
  const tap_set<Y> at_y = load_taps<Y> (picture.y[0], y);
  value[0] = sum_taps<BYTES> (args, 0, at_x, at_y);
  if constexpr (CHROMA > 0) {
    const tap_set<CHROMA> chroma_x = load_taps<CHROMA> (picture.x[1], x);
    const tap_set<CHROMA> chroma_y = load_taps<CHROMA> (picture.y[1], y);
    if constexpr (PAIR) {
      sum_pair<BYTES> (args, chroma_x, chroma_y, value + 1);
    } else {
      value[1] = sum_taps<BYTES> (args, 1, chroma_x, chroma_y);
      value[2] = sum_taps<BYTES> (args, 2, chroma_x, chroma_y);
    }
  } else if constexpr (COMPONENTS == 3) {
    value[1] = sum_taps<BYTES> (args, 1, at_x, at_y);
    value[2] = sum_taps<BYTES> (args, 2, at_x, at_y);
  }
  store_pixel<COMPONENTS> (args, value, place);
}

template <int BYTES>
static __device__ float
sum_any_taps (const kernel_view &args, int component, int x, int y)
{
  const pp_numbers &n = args.common.numbers;
  const pp_source &source = n.source[component];
  const tap_table &x_table = args.picture.x[component > 0];
  const tap_table &y_table = args.picture.y[component > 0];
  const float *x_weight = x_table.weight + x;
  const uint8_t *column = args.picture.first[component] +
      __ldg (y_table.first + y) * args.picture.stride[component] +
      __ldg (x_table.first + x) * source.pixel_stride;
  float sum = 0.f;

  for (int i = 0; i < x_table.n_taps; i++) {
    const float *y_weight = y_table.weight + y;
    const uint8_t *at = column;
    float column_sum = 0.f;
#pragma unroll 4
    for (int j = 0; j < y_table.n_taps; j++) {
      column_sum = add_product (
          column_sum, __ldg (y_weight), load_unaligned<BYTES> (n, source, at));
      y_weight += y_table.n_out;
      at += args.picture.stride[component];
    }
    sum = add_product (sum, __ldg (x_weight), column_sum);
    x_weight += x_table.n_out;
    column += source.pixel_stride;
  }
  return sum;
}

template <int BYTES, int COMPONENTS, int PICTURES>
static __global__ void
__launch_bounds__ (BLOCK_THREADS, BLOCKS)
    any_taps (const __grid_constant__ kernel_args<PICTURES> all)
{
  const kernel_view args = find_picture (all);
  const pixel_place place = find_pixel (args.picture);
  float value[COMPONENTS];

  if (!place.inside && !args.common.numbers.swapped)
    return;
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    value[c] = sum_any_taps<BYTES> (args, c, (int) place.x, (int) place.y);
  store_pixel<COMPONENTS> (args, value, place);
}

static void
launch_by_pixel (kernel_launch &launch, const pp_numbers &n, kernel_pair kernel)
{
  const int rows = n.swapped ? SWAPPED_ROWS : BLOCK_ROWS;

  launch.kernel = kernel;
  launch.grid.x = div_up (n.content_width, BLOCK_COLUMNS);
  launch.block = dim3 (BLOCK_COLUMNS, rows);
  launch.shared = n.swapped
      ? n.n_components * EXCHANGE_STRIDE * SWAPPED_ROWS * sizeof (float)
      : 0;
  launch.rows = rows;
}

static void
choose_any_taps (kernel_launch &launch, const pp_numbers &n)
{
#define PAIR(bytes, components)                                                \
  {                                                                            \
    (const void *) any_taps<bytes, components, 1>,                             \
        (const void *) any_taps<bytes, components, MANY>                       \
  }
  static const kernel_pair kernels[] = { PAIR (1, 1), PAIR (2, 1), PAIR (1, 3),
    PAIR (2, 3) };
#undef PAIR

  launch_by_pixel (
      launch, n, kernels[n.n_components / 3 * 2 + n.sample_bytes - 1]);
}

/* Whether components 1 and 2 are adjacent, at a multiple of their common size.
 */
static bool
has_pairs (const pp_numbers &n)
{
  const pp_source &a = n.source[1], &b = n.source[2];
  const int size = 2 * n.sample_bytes;

  return interleaved (a, b) &&
      abs (a.first_byte - b.first_byte) == n.sample_bytes &&
      min (a.first_byte, b.first_byte) % size == 0 &&
      a.pixel_stride % size == 0;
}

/* Chooses the first kernel of the table with enough taps. False if an axis has
 * more than two. */
static bool
choose_few_taps (kernel_launch &launch, const pp_numbers &n)
{
#define KERNELS(bytes, components, x, y, chroma, pair)                         \
  {                                                                            \
    (const void *) few_taps<bytes, components, x, y, chroma, pair, 1>,         \
        (const void *) few_taps<bytes, components, x, y, chroma, pair, MANY>   \
  }
#define ROW(components, x, y, chroma, pair)                                    \
  {                                                                            \
    components, x, y, chroma, pair,                                            \
    {                                                                          \
      KERNELS (1, components, x, y, chroma, pair),                             \
          KERNELS (2, components, x, y, chroma, pair)                          \
    }                                                                          \
  }
#define ROWS(components, chroma, pair)                                         \
  ROW (components, 1, 1, chroma, pair), ROW (components, 1, 2, chroma, pair),  \
      ROW (components, 2, 1, chroma, pair),                                    \
      ROW (components, 2, 2, chroma, pair)
  static const struct {
    int components, x, y, chroma;
    bool pair;
    kernel_pair kernel[2]; /* for samples of 1 and 2 bytes */
  } rows[] = { ROWS (1, 0, false), ROWS (3, 0, false), ROW (3, 1, 1, 1, false),
    ROW (3, 2, 2, 1, false), ROWS (3, 2, false), ROW (3, 1, 1, 1, true),
    ROW (3, 2, 2, 1, true), ROWS (3, 2, true) };
#undef ROWS
#undef ROW
#undef KERNELS
  const int axes = n.source[0].axes;
  int chroma_taps = 0;

  if (n.n_components == 3) {
    const int chroma = n.source[1].axes;
    if (n.source[2].axes != chroma)
      return false;
    if (chroma != axes)
      chroma_taps = max (n.x[chroma].n_taps, n.y[chroma].n_taps);
  }

  const bool pair = chroma_taps > 0 && has_pairs (n);
  for (const auto &row : rows) {
    if (row.components == n.n_components && row.x >= n.x[axes].n_taps &&
        row.y >= n.y[axes].n_taps && row.chroma >= chroma_taps &&
        (row.chroma > 0) == (chroma_taps > 0) && row.pair == pair) {
      launch_by_pixel (launch, n, row.kernel[n.sample_bytes - 1]);
      return true;
    }
  }
  return false;
}

#endif
