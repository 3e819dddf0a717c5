/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernel for more than two taps an axis. A block makes a tile of
 * outputs. Group by group, it leaves the vertical sums of every sample under
 * the tile in shared memory; then each thread adds the horizontal taps of one
 * pixel.
 */
#ifndef PP_TILE_CUDA_CUH
#define PP_TILE_CUDA_CUH

#include "pixel_cuda.cuh"

/* Threads a block has, at least one for each output. */
#define TILE_THREADS 256
/* Bytes that a thread loads at once. */
#define WORD 8
/* Loads that a thread has in flight. */
#define LOADS 8
/* Shared memory that every block may have without asking, bytes. */
#define SHARED_LIMIT (48 * 1024)
/* Blocks that a multiprocessor is to have, since a block spends most of
 * its time waiting for memory. It limits registers to 64; with fewer blocks to
 * go round, smaller tiles are better. */
#define TILE_BLOCKS 4
#define TILE_KERNEL __global__ __launch_bounds__ (TILE_THREADS, TILE_BLOCKS)

/* A sum of a row is stored at SKEW (sample): columns that are a power of two
 * apart, read by the threads of a warp, then lie in different banks. */
#define SKEW(lane) ((lane) + ((lane) >> 5))

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
 * 64. They need not ascend: where the outermost taps of an output weigh
 * nothing, it starts later than its neighbours. Each warp finds them itself. */
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
static TILE_KERNEL void
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

#endif
