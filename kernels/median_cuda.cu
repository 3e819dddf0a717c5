/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's median: the values of pp_median_c.
 *
 *   words       a thread makes some words of a row, or of two. It sorts the
 *               columns of these words and of those beside them, then finds the
 *               middle values by networks of minimum and maximum
 *   any_median  everything else: a thread makes one unit
 *
 * Two units are compared at a time, as halves of a word. Of bytes, the upper
 * one of a half counts: the lower one may be anything, since what is sorted by
 * both is sorted by the upper one. So every second byte takes part where it is,
 * and the others moved up by one.
 */
#include "median_cuda.h"
#include "sort_cuda.cuh"

/* Threads of a block. Its warps are rows of 32. */
#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 8
#define THREADS (BLOCK_COLUMNS * BLOCK_ROWS)
/* Planes and rows start at multiples of this for words, bytes. */
#define ALIGNMENT 16
/* Bytes of a word. */
#define WORD 4
/* The largest step that words is made for. */
#define MAX_STEP 4

/* Arrays are by group. */
struct median_args {
  pp_median_group group[PP_MAX_COMPONENTS];
  /* the group's first row, from the plane's first byte on */
  const uint8_t *from[PP_MAX_COMPONENTS];
  uint8_t *to[PP_MAX_COMPONENTS];
  size_t from_stride[PP_MAX_COMPONENTS], to_stride[PP_MAX_COMPONENTS];
  /* Where fewer rows are read than there are: taps of the outputs' rows, from
   * first[output] on. Else n_taps is 0, and every row is made. */
  const int32_t *first[PP_MAX_COMPONENTS];
  int n_taps[PP_MAX_COMPONENTS];
  /* that are made, some maybe twice */
  int n_rows[PP_MAX_COMPONENTS];
  int swap; /* bytes of a sample change places */
};

/* How words divides the work. */
template <int BYTES, int SIZE, int STEP> struct word_layout {
  static constexpr int radius = SIZE / 2;
  static constexpr int units = WORD / BYTES; /* of a word */
  /* that a thread makes; two rows share most of what they load and sort */
  static constexpr int words = SIZE == 3 ? 4 : 2;
  static constexpr int rows = SIZE == 3 ? 2 : 1;
  /* words on either side that its medians reach, and all of them together */
  static constexpr int beside = (radius * STEP * BYTES + WORD - 1) / WORD;
  static constexpr int all = words + 2 * beside;
  /* sets of halves that a word gives */
  static constexpr int parts = BYTES == 1 ? 2 : 1;
};

static __host__ __device__ constexpr int
div_up (int a, int b)
{
  return (a + b - 1) / b;
}

static __device__ __forceinline__ int
clamp (int value, int high)
{
  return min (max (value, 0), high);
}

/* Bytes from the plane's first one to the end of the group's row. */
static __host__ __device__ __forceinline__ int
end_of_row (const pp_median_group &group, int sample_bytes)
{
  return group.first_byte + group.units * sample_bytes;
}

static __device__ __forceinline__ unsigned
swap_bytes (unsigned word, bool swap)
{
  return swap ? __byte_perm (word, 0, 0x2301) : word;
}

/* The unit at that distance from the group's first one; beyond the edges, the
 * one of the same component in the nearest pixel. */
template <int BYTES>
static __device__ __forceinline__ unsigned
load_unit (const pp_median_group &group, const uint8_t *row, int unit, int step)
{
  const int pixel = unit < 0 ? -div_up (-unit, step) : unit / step;
  const int inside = unit + (clamp (pixel, group.columns - 1) - pixel) * step;
  const uint8_t *at = row + group.first_byte + inside * BYTES;

  if (inside >= group.units)
    return 0; /* of no component */
  return BYTES == 1 ? __ldg (at) : __ldg (at) | (unsigned) __ldg (at + 1) << 8;
}

template <int BYTES, int STEP>
static __device__ __noinline__ unsigned
load_word (const pp_median_group &group, const uint8_t *row, int word)
{
  const int byte = word * WORD;
  const int unit = (byte - group.first_byte) / BYTES; /* without a rest */
  unsigned value = 0;

  if (byte >= group.first_byte && byte + WORD <= end_of_row (group, BYTES))
    return __ldg ((const unsigned *) (row + byte));
#pragma unroll 1
  for (int k = 0; k < WORD / BYTES; k++)
    value |= load_unit<BYTES> (group, row, unit + k, STEP) << 8 * BYTES * k;
  return value;
}

/* N adjacent words, which have no borders among them. */
template <int N>
static __device__ __forceinline__ void
load_vector (unsigned *to, const uint8_t *at)
{
  if constexpr (N == 4) {
    const uint4 words = __ldg ((const uint4 *) at);
    to[0] = words.x;
    to[1] = words.y;
    to[2] = words.z;
    to[3] = words.w;
  } else {
    const uint2 words = __ldg ((const uint2 *) at);
    to[0] = words.x;
    to[1] = words.y;
  }
}

template <int N>
static __device__ __forceinline__ void
store_vector (uint8_t *to, const unsigned *word)
{
  if constexpr (N == 4)
    *(uint4 *) to = make_uint4 (word[0], word[1], word[2], word[3]);
  else
    *(uint2 *) to = make_uint2 (word[0], word[1]);
}

/* The i-th row that is made. */
static __device__ __forceinline__ int
find_row (const median_args &args, int g, int i)
{
  const int n_taps = args.n_taps[g];

  return n_taps == 0 ? i : __ldg (args.first[g] + i / n_taps) + i % n_taps;
}

/* The words from word on, which is beside those that the thread makes. */
template <int BYTES, int SIZE, int STEP>
static __device__ __forceinline__ void
load_row (
    unsigned *to, const pp_median_group &group, const uint8_t *row, int word)
{
  using layout = word_layout<BYTES, SIZE, STEP>;
  const int middle = layout::beside;

  if (word * WORD < group.first_byte ||
      (word + layout::all) * WORD > end_of_row (group, BYTES)) {
#pragma unroll
    for (int i = 0; i < layout::all; i++)
      to[i] = load_word<BYTES, STEP> (group, row, word + i);
    return;
  }
  load_vector<layout::words> (to + middle, row + (word + middle) * WORD);
#pragma unroll
  for (int i = 0; i < middle; i++) {
    const int right = middle + layout::words + i;
    to[i] = __ldg ((const unsigned *) (row + (word + i) * WORD));
    to[right] = __ldg ((const unsigned *) (row + (word + right) * WORD));
  }
}

/* The halves of a word that are compared together. */
template <int BYTES>
static __device__ __forceinline__ unsigned
split (const median_args &args, const pp_median_group &group, unsigned word,
    int part)
{
  if (BYTES == 1)
    return part == 1 ? word : word << 8;
  return swap_bytes (word, args.swap) & (unsigned) group.bits * 0x10001;
}

/* The halves distance units further than those of a word, part by part. All but
 * rank are known when it is compiled. */
template <int PARTS, int N>
static __device__ __forceinline__ unsigned
shifted (const unsigned (&rank)[PARTS][N], int part, int word, int distance)
{
  const int unit = part + distance;
  const int from = PARTS == 2 ? unit & 1 : 0;
  const int half = PARTS == 2 ? unit >> 1 : unit;
  const int at = word + (half >> 1);

  if (half & 1)
    return __funnelshift_r (rank[from][at], rank[from][at + 1], 16);
  return rank[from][at];
}

/* Sorts the columns of SIZE rows. Of two rows that a thread makes, the rows
 * between are the same: both compare them first. */
template <int BYTES, int SIZE, int PARTS, int ALL>
static __device__ __forceinline__ void
sort_columns (unsigned (&rank)[SIZE][PARTS][ALL], const median_args &args,
    const pp_median_group &group, const unsigned (*raw)[ALL], bool is_second)
{
#pragma unroll
  for (int i = 0; i < ALL; i++)
#pragma unroll
    for (int part = 0; part < PARTS; part++) {
      unsigned v[SIZE];
#pragma unroll
      for (int k = 0; k < SIZE; k++) {
        const int row = is_second ? (k + SIZE - 1) % SIZE : k;
        v[k] = split<BYTES> (args, group, raw[row][i], part);
      }
      sort (v);
#pragma unroll
      for (int k = 0; k < SIZE; k++)
        rank[k][part][i] = v[k];
    }
}

/* The medians of a word; word counts from the first one in rank. */
template <int BYTES, int STEP, int SIZE, int PARTS, int ALL>
static __device__ __forceinline__ unsigned
make_word (
    const unsigned (&rank)[SIZE][PARTS][ALL], const median_args &args, int word)
{
  unsigned median[PARTS];

#pragma unroll
  for (int part = 0; part < PARTS; part++) {
    unsigned around[SIZE][SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++)
#pragma unroll
      for (int i = 0; i < SIZE; i++)
        around[k][i] = shifted (rank[k], part, word, (i - SIZE / 2) * STEP);
    median[part] = middle_of (around);
  }
  if constexpr (BYTES == 1)
    return __byte_perm (median[0], median[1], 0x7351); /* upper bytes */
  else
    return swap_bytes (median[0], args.swap);
}

/* Those units of a word that are the group's samples. */
template <int BYTES, int STEP>
static __device__ __forceinline__ void
store_units (
    const pp_median_group &group, uint8_t *row, int word, unsigned value)
{
#pragma unroll
  for (int k = 0; k < WORD / BYTES; k++) {
    const int byte = word * WORD + k * BYTES;
    const int unit = (byte - group.first_byte) / BYTES;
    if (byte < group.first_byte || unit >= group.units ||
        !(group.samples >> unit % STEP & 1))
      continue;
    if (BYTES == 1)
      row[byte] = (uint8_t) (value >> 8 * k);
    else
      *(uint16_t *) (row + byte) = (uint16_t) (value >> 16 * k);
  }
}

template <int BYTES, int STEP, int WORDS>
static __device__ __forceinline__ void
store_words (const pp_median_group &group, uint8_t *row, int word,
    const unsigned (&value)[WORDS])
{
  const int end = end_of_row (group, BYTES);

  if (group.alone && (word + WORDS) * WORD <= end) {
    store_vector<WORDS> (row + word * WORD, value);
    return;
  }
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    if (!group.alone)
      store_units<BYTES, STEP> (group, row, word + i, value[i]);
    else if ((word + i) * WORD < end)
      *(unsigned *) (row + (word + i) * WORD) = value[i];
  }
}

template <int BYTES, int SIZE, int STEP>
static __device__ __forceinline__ void
make_words (const median_args &args, int g)
{
  using layout = word_layout<BYTES, SIZE, STEP>;
  constexpr int n_raw = SIZE + layout::rows - 1;
  const pp_median_group &group = args.group[g];
  const int word = (blockIdx.x * BLOCK_COLUMNS + threadIdx.x) * layout::words;
  /* rows that are picked need not be adjacent */
  const int rows = args.n_taps[g] == 0 ? layout::rows : 1;
  const int first = (blockIdx.y * BLOCK_ROWS + threadIdx.y) * rows;
  unsigned raw[n_raw][layout::all];

  if (word * WORD >= end_of_row (group, BYTES) || first >= args.n_rows[g])
    return;
  const int y = find_row (args, g, first);
#pragma unroll
  for (int j = 0; j < n_raw; j++) {
    if (j >= SIZE && rows == 1)
      break;
    const int row = clamp (y + j - layout::radius, group.rows - 1);
    load_row<BYTES, SIZE, STEP> (raw[j], group,
        args.from[g] + row * args.from_stride[g], word - layout::beside);
  }
#pragma unroll
  for (int r = 0; r < layout::rows; r++) {
    unsigned rank[SIZE][layout::parts][layout::all], value[layout::words];
    if (r >= rows || y + r >= group.rows)
      return;
    sort_columns<BYTES> (rank, args, group, raw + r, r == 1);
#pragma unroll
    for (int i = 0; i < layout::words; i++)
      value[i] = make_word<BYTES, STEP> (rank, args, layout::beside + i);
    store_words<BYTES, STEP> (
        group, args.to[g] + (y + r) * args.to_stride[g], word, value);
  }
}

/* A layer of blocks for each group. */
template <int BYTES, int SIZE>
static __global__ void
__launch_bounds__ (THREADS) words (const __grid_constant__ median_args args)
{
  const int g = blockIdx.z;

  switch (args.group[g].step) {
    case 1:
      make_words<BYTES, SIZE, 1> (args, g);
      break;
    case 2:
      make_words<BYTES, SIZE, 2> (args, g);
      break;
    case 3:
      make_words<BYTES, SIZE, 3> (args, g);
      break;
    case 4:
      make_words<BYTES, SIZE, 4> (args, g);
      break;
  }
}

/* The value with at most half of the others on either side. */
template <int N>
static __device__ unsigned
find_middle (const unsigned (&v)[N])
{
  for (int i = 0; i < N; i++) {
    int below = 0, equal = 0;
#pragma unroll
    for (int j = 0; j < N; j++) {
      below += v[j] < v[i];
      equal += v[j] == v[i];
    }
    if (below <= N / 2 && N / 2 < below + equal)
      return v[i];
  }
  return 0;
}

template <int BYTES, int SIZE>
static __global__ void
any_median (const __grid_constant__ median_args args)
{
  const int g = blockIdx.z;
  const pp_median_group &group = args.group[g];
  const int unit = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const int i_row = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  unsigned v[SIZE * SIZE];

  if (unit >= group.units || i_row >= args.n_rows[g] ||
      !(group.samples >> unit % group.step & 1))
    return;
  const int y = find_row (args, g, i_row);
#pragma unroll
  for (int i = 0; i < SIZE * SIZE; i++) {
    const int row = clamp (y + i / SIZE - SIZE / 2, group.rows - 1);
    const unsigned sample =
        load_unit<BYTES> (group, args.from[g] + row * args.from_stride[g],
            unit + (i % SIZE - SIZE / 2) * group.step, group.step);
    v[i] = swap_bytes (sample, args.swap) & (unsigned) group.bits;
  }

  const unsigned median = swap_bytes (find_middle (v), args.swap);
  uint8_t *to =
      args.to[g] + y * args.to_stride[g] + group.first_byte + unit * BYTES;
  to[0] = (uint8_t) median;
  if (BYTES == 2)
    to[1] = (uint8_t) (median >> 8);
}

struct kernel_pair {
  const void *words, *any;
};

static kernel_pair
find_kernels (const pp_plan *plan)
{
#define PAIR(bytes, size)                                                      \
  {                                                                            \
    (const void *) words<bytes, size>, (const void *) any_median<bytes, size>  \
  }
  static const kernel_pair pairs[2][2] = { { PAIR (1, 3), PAIR (1, 5) },
    { PAIR (2, 3), PAIR (2, 5) } };
#undef PAIR

  return pairs[plan->numbers.sample_bytes - 1][plan->median.size / 2 - 1];
}

static bool
words_can (const pp_launch *job)
{
  const pp_median &median = job->plan->median;

  for (int g = 0; g < median.n_groups; g++) {
    const int p = median.group[g].plane;
    const uintptr_t together = (uintptr_t) job->source.plane[p] |
        job->source.stride[p] | (uintptr_t) job->medians.plane[p] |
        job->medians.stride[p];
    if (together % ALIGNMENT != 0 || median.group[g].step > MAX_STEP)
      return false;
  }
  return true;
}

extern "C" cudaError_t
pp_cuda_prepare_median (const pp_plan *plan)
{
  const kernel_pair kernels = find_kernels (plan);
  cudaFuncAttributes attributes;
  const cudaError_t error = cudaFuncGetAttributes (&attributes, kernels.words);

  if (error != cudaSuccess)
    return error;
  return cudaFuncGetAttributes (&attributes, kernels.any);
}

/* Rows that no tap reads are not made, where the table shows that there are
 * many of them. */
static void
pick_rows (median_args &args, const pp_launch *job, int g)
{
  const pp_median_group &group = job->plan->median.group[g];
  const pp_axis &y = job->plan->numbers.y[group.axes];
  const bool fewer = y.n_out * y.n_taps < group.rows;

  args.first[g] = job->index + y.first;
  args.n_taps[g] = fewer ? y.n_taps : 0;
  args.n_rows[g] = fewer ? y.n_out * y.n_taps : group.rows;
}

extern "C" cudaError_t
pp_cuda_median (const pp_launch *job, cudaStream_t stream)
{
  const pp_numbers &n = job->plan->numbers;
  const pp_median &median = job->plan->median;
  const bool fast = words_can (job);
  const kernel_pair kernels = find_kernels (job->plan);
  /* bytes and rows that a thread of words makes, whatever the step */
  const int thread_bytes = (median.size == 3 ? word_layout<1, 3, 1>::words
                                             : word_layout<1, 5, 1>::words) *
      WORD;
  const int thread_rows = median.size == 3 ? word_layout<1, 3, 1>::rows
                                           : word_layout<1, 5, 1>::rows;
  int columns = 0, rows = 0; /* of threads */
  median_args args = {};

  args.swap = n.sample_bytes == 2 && n.big_endian;
  for (int g = 0; g < median.n_groups; g++) {
    const pp_median_group &group = median.group[g];
    const int p = group.plane;
    args.group[g] = group;
    args.from_stride[g] = job->source.stride[p];
    args.from[g] = job->source.plane[p] + group.first_row * args.from_stride[g];
    args.to_stride[g] = job->medians.stride[p];
    args.to[g] = job->medians.plane[p] + group.first_row * args.to_stride[g];
    pick_rows (args, job, g);
    columns = max (columns,
        fast ? div_up (end_of_row (group, n.sample_bytes), thread_bytes)
             : group.units);
    rows = max (rows,
        fast && args.n_taps[g] == 0 ? div_up (args.n_rows[g], thread_rows)
                                    : args.n_rows[g]);
  }

  const dim3 grid (div_up (columns, BLOCK_COLUMNS), div_up (rows, BLOCK_ROWS),
      median.n_groups);
  const dim3 block (BLOCK_COLUMNS, BLOCK_ROWS);
  void *parameters[] = { &args };
  return cudaLaunchKernel (
      fast ? kernels.words : kernels.any, grid, block, parameters, 0, stream);
}
