/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernel for more than two taps an axis. A block makes a tile of
 * pixels, in two steps with one barrier between them. First, sum_columns writes
 * the vertical sums of all samples under the tile to shared memory. Then, in
 * make_pixels, each thread adds up the horizontal taps of some pixels. A block
 * spends its time waiting for memory, so it starts its loads as early as
 * possible. choose_tile, at the end, decides the tile's size on the host.
 */
#ifndef PP_TILE_CUDA_CUH
#define PP_TILE_CUDA_CUH

#include <cuda_pipeline.h>

#include "pixel_cuda.cuh"

/* Threads of a block. Many small blocks are best, since one that waits at its
 * barrier does not hold up the others. If there are few blocks, they are
 * larger. */
#define MIN_THREADS 128
#define MAX_THREADS 256
/* Blocks of the largest size that a multiprocessor should have at once, since
 * most of them wait for memory. This limits a thread to 64 registers. If there
 * are fewer blocks, a smaller tile is better. */
#define TILE_BLOCKS 4
#define TILE_KERNEL __global__ __launch_bounds__ (MAX_THREADS, TILE_BLOCKS)
/* Rows of pixels that a thread makes together: they share weights and offsets
 * in shared memory. */
#define THREAD_ROWS 2
/* Bytes of a load. */
#define WORD 8
/* Loads that a thread has in flight. */
#define LOADS 8
/* Shared memory that a block can have without an opt-in, bytes. */
#define SHARED_LIMIT (48 * 1024)

/* Where the sum of a sample is in a row of shared memory. Threads of a warp
 * read samples that are a power of two apart; with the skew, they are in
 * different banks. */
#define SKEW(lane) ((lane) + ((lane) >> 5))

/* The value of sample k of a word. */
template <int BYTES>
static __device__ __forceinline__ float
unpack (const pp_numbers &n, const pp_source &source, uint2 word, int k)
{
  const unsigned half = k < WORD / BYTES / 2 ? word.x : word.y;

  if (BYTES == 1) {
    /* The bits of 2^23 + the byte, minus 2^23: cheaper than a conversion. */
    const unsigned bits = __byte_perm (half, 0x4b000000, 0x7440 | (k & 3));
    return __fadd_rn (__uint_as_float (bits), -8388608.f);
  }
  const unsigned ordered = __byte_perm (half, 0, byte_order (n));
  return decode (source, (k & 1) ? ordered >> 16 : ordered & 0xffff);
}

/* Adds the weighted samples of one word in n_taps rows to sum. weight_step:
 * elements from one tap's weight to the next. LOADS loads are in flight before
 * the first one is used, since that is what a thread waits for. */
template <int BYTES>
static __device__ __forceinline__ void
sum_words (float (&sum)[WORD / BYTES], const kernel_view &args,
    const pp_source &source, const uint8_t *from, unsigned stride,
    const float *weight, int weight_step, int n_taps)
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
      const float w = __ldg (weight);
      weight += weight_step;
#pragma unroll
      for (int k = 0; k < WORD / BYTES; k++)
        sum[k] = add_product (
            sum[k], w, unpack<BYTES> (args.common.numbers, source, word[j], k));
    }
  }
}

/* The pixels that a block makes. */
struct tile_place {
  int x0, y0;        /* the first pixel */
  int columns, rows; /* fewer at the edges of the content */
};

/* The samples of a row that are under the tile, for one group. */
struct tile_span {
  const uint8_t *words; /* of row 0, at a multiple of WORD */
  int n_words;
  int origin; /* samples from words to the group's sample 0; mostly negative */
};

/* The smallest and the largest first tap of columns adjacent outputs, at
 * most 64. First taps need not ascend: an output whose outermost taps have
 * weight 0 may start later than its neighbours. Each warp computes them for
 * itself. */
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

/* Template parameters below: G is a group, and C its first component. */

template <int BYTES, int G, int C>
static __device__ __forceinline__ tile_span
find_span (const kernel_view &args, const tile_place &place)
{
  const pp_source &source = args.common.numbers.source[C];
  const tile_group &group = args.common.tile.group[G];
  const tap_table &table = args.picture.x[C > 0];
  /* the group's first sample */
  const uint8_t *group_first =
      args.picture.first[C] - args.common.tile.offset[C] * BYTES;
  const int2 taps = find_first_taps (table.first + place.x0, place.columns);
  const int first = taps.x, count = taps.y - taps.x + table.n_taps;
  const uint8_t *begin = group_first + first * source.pixel_stride;
  const int phase = (int) ((uintptr_t) begin & (WORD - 1));
  tile_span span;

  span.words = begin - phase;
  span.n_words =
      (phase + (count - 1) * source.pixel_stride + group.reach + WORD - 1) /
      WORD;
  span.origin = (phase - first * source.pixel_stride) / BYTES;
  return span;
}

/* Starts to copy the weights of the tile's columns to shared memory. */
template <int G, int C>
static __device__ __forceinline__ void
copy_weights (const kernel_view &args, const tile_place &place, float *shared)
{
  const tap_table &table = args.picture.x[C > 0];
  const int log2_columns = args.common.tile.log2_columns;
  const float *from = table.weight + place.x0;
  float *to = shared + args.picture.tile[G].weights;

  for (int i = threadIdx.x; i < table.n_taps << log2_columns; i += blockDim.x) {
    const int tap = i >> log2_columns, column = i - (tap << log2_columns);
    if (column < place.columns)
      __pipeline_memcpy_async (
          to + i, from + tap * table.n_out + column, sizeof (float));
  }
}

/* Writes the vertical sums of all samples of the span to shared memory. A task
 * is a word in a row of the tile, and task the thread's next one. Tasks of all
 * groups are counted in one sequence, so that no thread waits between two
 * groups: task is returned as counted from the next group's first. */
template <int BYTES, int G, int C>
static __device__ __forceinline__ void
sum_columns (const kernel_view &args, const tile_place &place,
    const tile_span &span, int &task, float *shared)
{
  const tile_memory &memory = args.picture.tile[G];
  const tap_table &table = args.picture.y[C > 0];
  const unsigned stride = (unsigned) args.picture.stride[C];
  const int n_tasks = place.rows * span.n_words;

#pragma unroll 1
  for (; task < n_tasks; task += blockDim.x) {
    int row = 0, word = task;
    for (; word >= span.n_words; row++)
      word -= span.n_words;

    const int y = place.y0 + row;
    const unsigned first = __ldg (table.first + y);
    float sum[WORD / BYTES] = {};
    sum_words<BYTES> (sum, args, args.common.numbers.source[C],
        span.words + (size_t) first * stride + word * WORD, stride,
        table.weight + y, table.n_out, table.n_taps);
    float *to = shared + memory.sums + row * memory.sums_stride +
        SKEW (word * (WORD / BYTES));
#pragma unroll
    for (int k = 0; k < WORD / BYTES; k++)
      to[k] = sum[k]; /* adjacent: SKEW steps at multiples of 32 only */
  }
  task -= n_tasks;
}

/* Adds the horizontal taps: resamples the group's N components in THREAD_ROWS
 * pixels, from (column, row) of the tile down. value: by row and component. */
template <int G, int C, int N, int N_ALL>
static __device__ __forceinline__ void
sum_rows (const kernel_view &args, const tile_place &place,
    const tile_span &span, int column, int row, float (*value)[N_ALL],
    const float *shared)
{
  const tile_memory &memory = args.picture.tile[G];
  const tap_table &table = args.picture.x[C > 0];
  const int step = args.common.numbers.source[C].pixel_stride /
      args.common.numbers.sample_bytes;
  const float *sums = shared + memory.sums + row * memory.sums_stride;
  const float *weight = shared + memory.weights + column;
  unsigned lane = span.origin + __ldg (table.first + place.x0 + column) * step;
  int below[THREAD_ROWS]; /* rows below the tile are its last one */

#pragma unroll
  for (int r = 0; r < THREAD_ROWS; r++) {
    below[r] = min (r, place.rows - 1 - row) * memory.sums_stride;
#pragma unroll
    for (int c = 0; c < N; c++)
      value[r][C + c] = 0.f;
  }
#pragma unroll 4
  for (int tap = 0; tap < table.n_taps; tap++) {
    const float w = *weight;
#pragma unroll
    for (int c = 0; c < N; c++) {
      const float *at = sums + SKEW (lane + args.common.tile.offset[C + c]);
#pragma unroll
      for (int r = 0; r < THREAD_ROWS; r++)
        value[r][C + c] = add_product (value[r][C + c], w, at[below[r]]);
    }
    lane += step;
    weight += 1 << args.common.tile.log2_columns;
  }
}

/* Makes the tile's pixels from its vertical sums. */
template <int N0, int N1, int N2>
static __device__ __forceinline__ void
make_pixels (const kernel_view &args, const tile_place &place,
    const tile_span *span, const float *shared)
{
  constexpr int n = N0 + N1 + N2;
  const int log2_columns = args.common.tile.log2_columns;
  const int groups = div_up (args.common.tile.rows, THREAD_ROWS);
  const int n_tasks = groups << log2_columns;
  /* Threads of a warp store adjacent elements of the tensor. */
  const bool down = args.common.numbers.swapped && groups > 1;

  for (int task = threadIdx.x; task < n_tasks; task += blockDim.x) {
    const int row = (down ? task % groups : task >> log2_columns) * THREAD_ROWS;
    const int column = down ? task / groups : task & ((1 << log2_columns) - 1);
    float value[THREAD_ROWS][n];
    if (column >= place.columns || row >= place.rows)
      continue;
    sum_rows<0, 0, N0> (args, place, span[0], column, row, value, shared);
    if constexpr (N1 > 0)
      sum_rows<1, N0, N1> (args, place, span[1], column, row, value, shared);
    if constexpr (N2 > 0)
      sum_rows<2, N0 + N1, N2> (
          args, place, span[2], column, row, value, shared);
#pragma unroll
    for (int r = 0; r < THREAD_ROWS; r++)
      if (row + r < place.rows)
        finish_pixel<n> (args, value[r], place.x0 + column, place.y0 + row + r);
  }
}

/* The kernel. N0, N1, N2: how many components each group has; 0: there is no
 * such group. */
template <int BYTES, int N0, int N1, int N2, int PICTURES>
static TILE_KERNEL void
tile (const __grid_constant__ kernel_args<PICTURES> all)
{
  extern __shared__ float shared[];
  constexpr int c1 = N0, c2 = N0 + N1;
  const kernel_view args = find_picture (all);
  const int max_columns = 1 << args.common.tile.log2_columns;
  tile_place place;
  tile_span span[3];
  int task = threadIdx.x;

  place.x0 = blockIdx.x << args.common.tile.log2_columns;
  place.y0 = blockIdx.y * args.common.tile.rows;
  place.columns = min (max_columns, args.picture.width - place.x0);
  place.rows = min (args.common.tile.rows, args.picture.height - place.y0);
  /* The grid is that of the largest picture. */
  if (PICTURES > 1 && (place.columns <= 0 || place.rows <= 0))
    return;
  copy_weights<0, 0> (args, place, shared);
  span[0] = find_span<BYTES, 0, 0> (args, place);
  if constexpr (N1 > 0) {
    copy_weights<1, c1> (args, place, shared);
    span[1] = find_span<BYTES, 1, c1> (args, place);
  }
  if constexpr (N2 > 0) {
    copy_weights<2, c2> (args, place, shared);
    span[2] = find_span<BYTES, 2, c2> (args, place);
  }
  __pipeline_commit ();
  sum_columns<BYTES, 0, 0> (args, place, span[0], task, shared);
  if constexpr (N1 > 0)
    sum_columns<BYTES, 1, c1> (args, place, span[1], task, shared);
  if constexpr (N2 > 0)
    sum_columns<BYTES, 2, c2> (args, place, span[2], task, shared);
  __pipeline_wait_prior (0);
  __syncthreads ();
  make_pixels<N0, N1, N2> (args, place, span, shared);
}

/* How the components are divided in groups. */
struct tile_groups {
  int count;
  int first[PP_MAX_COMPONENTS + 1]; /* component of each group; the end */
  kernel_pair kernel[2];            /* for samples of 1 and 2 bytes */
};

static const tile_groups &
group_components (const pp_numbers &n)
{
#define KERNELS(n0, n1, n2)                                                    \
  {                                                                            \
    { (const void *) tile<1, n0, n1, n2, 1>,                                   \
      (const void *) tile<1, n0, n1, n2, MANY> },                              \
    {                                                                          \
      (const void *) tile<2, n0, n1, n2, 1>,                                   \
          (const void *) tile<2, n0, n1, n2, MANY>                             \
    }                                                                          \
  }
  static const tile_groups one = { 1, { 0, 1 }, KERNELS (1, 0, 0) };
  static const tile_groups rows[] = {
    { 1, { 0, 3 }, KERNELS (3, 0, 0) },
    { 2, { 0, 1, 3 }, KERNELS (1, 2, 0) },
    { 3, { 0, 1, 2, 3 }, KERNELS (1, 1, 1) },
  };
#undef KERNELS
  const pp_source *s = n.source;

  if (n.n_components == 1)
    return one;
  return rows[!interleaved (s[1], s[2]) ? 2 : !interleaved (s[0], s[1])];
}

/* Sets what does not depend on the tile's size, for group g: the components
 * [begin, end). */
static void
measure_group (
    tile_layout &layout, const pp_numbers &n, int g, int begin, int end)
{
  const pp_source *s = n.source;
  int low = s[begin].first_byte, high = low;

  for (int c = begin; c < end; c++) {
    low = min (low, s[c].first_byte);
    high = max (high, s[c].first_byte);
  }
  layout.group[g].reach = high - low + n.sample_bytes;
  for (int c = begin; c < end; c++)
    layout.offset[c] = (s[c].first_byte - low) / n.sample_bytes;
}

/* The largest number of words under a row of a tile. 0 if these are so many
 * more samples than the taps read that it would be a waste to sum all of them.
 */
static int
max_words (const tile_layout &layout, const pp_plan *plan,
    const tile_group &group, const pp_source &source)
{
  const int n_taps = plan->numbers.x[source.axes].n_taps;
  const int span =
      plan->span[source.axes][layout.log2_columns - PP_LOG2_MIN_SPAN];

  if (span > n_taps << (layout.log2_columns + 1))
    return 0;
  return div_up (
      WORD - 1 + (span - 1) * source.pixel_stride + group.reach, WORD);
}

/* Places all groups in shared memory. Returns the bytes that are needed, or 0
 * if a tile would be a waste. */
static size_t
place_groups (const tile_layout &layout,
    tile_memory (&memory)[PP_MAX_COMPONENTS], const pp_plan *plan,
    const tile_groups &groups)
{
  const pp_numbers &n = plan->numbers;
  size_t floats = 0;

  for (int g = 0; g < groups.count; g++) {
    const tile_group &group = layout.group[g];
    const pp_source &source = n.source[groups.first[g]];
    const int words = max_words (layout, plan, group, source);
    if (words == 0)
      return 0;
    memory[g].sums = (int) floats;
    memory[g].sums_stride = SKEW (words * (WORD / n.sample_bytes)) + 1;
    floats += (size_t) memory[g].sums_stride * layout.rows;
    memory[g].weights = (int) floats;
    floats += (size_t) n.x[source.axes].n_taps << layout.log2_columns;
  }
  return floats * sizeof (float);
}

/* As many threads a block as the device can run at once, if it runs all blocks
 * at the same time. */
static int
count_threads (int blocks, int multiprocessors)
{
  const int room =
      TILE_BLOCKS * MAX_THREADS * multiprocessors / blocks / 32 * 32;

  return max (MIN_THREADS, min (room, MAX_THREADS));
}

/* Chooses the largest tile with enough blocks for all multiprocessors, else the
 * smallest one that fits. False if none fits. */
static bool
choose_tile (kernel_launch &launch, tile_layout &layout,
    tile_memory (&memory)[PP_MAX_COMPONENTS], const pp_plan *plan,
    int multiprocessors)
{
  /* Rows of a tile are adjacent elements of the tensor where its axes are
   * swapped: 8 floats fill a sector of memory. */
  static const struct tile_size {
    int log2_columns, rows;
  } upright[] = { { 6, 4 }, { 6, 2 }, { 5, 2 }, { 5, 1 }, { 4, 1 }, { 3, 1 } },
    swapped[] = { { 5, 8 }, { 4, 8 }, { 4, 4 }, { 3, 4 }, { 3, 2 }, { 3, 1 } };
  const pp_numbers &n = plan->numbers;
  const tile_groups &groups = group_components (n);
  tile_layout tried = layout;
  tile_memory tried_memory[PP_MAX_COMPONENTS] = {};

  launch.kernel = {};
  for (int g = 0; g < groups.count; g++)
    measure_group (tried, n, g, groups.first[g], groups.first[g + 1]);
  for (int i = 0; i < 6; i++) {
    const tile_size &size = n.swapped ? swapped[i] : upright[i];
    tried.log2_columns = size.log2_columns;
    tried.rows = size.rows;
    const size_t shared = place_groups (tried, tried_memory, plan, groups);
    if (shared == 0 || shared > SHARED_LIMIT)
      continue;
    layout = tried;
    for (int g = 0; g < PP_MAX_COMPONENTS; g++)
      memory[g] = tried_memory[g];
    launch.kernel = groups.kernel[n.sample_bytes - 1];
    launch.grid.x = div_up (n.content_width, 1 << size.log2_columns);
    launch.shared = shared;
    launch.rows = size.rows;
    const int blocks = launch.grid.x * div_up (n.content_height, size.rows);
    launch.block = dim3 (count_threads (blocks, multiprocessors));
    if (blocks >= TILE_BLOCKS * multiprocessors)
      break;
  }
  return launch.kernel.one != nullptr;
}

#endif
