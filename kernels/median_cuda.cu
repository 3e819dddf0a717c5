/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's median: the values of pp_median_c.
 *
 *   words       a thread makes some words of a row, or of two. It sorts the
 *               columns of these words, takes those beside them from the other
 *               threads of its warp, then finds the middle values by networks of
 *               minimum and maximum. A warp's outermost threads only sort
 *   any_median  everything else, and columns that are picked: a thread makes two
 *               samples
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

/* Which rows or columns are made: all, or those that taps read. */
struct median_picks {
  /* the taps of the outputs, from first[output] on; n_taps 0: all are made */
  const int32_t *first;
  int n_taps;
  int n; /* that are made, some maybe twice */
};

struct median_part {
  pp_median_group group;
  /* the group's first row, from the plane's first byte on */
  const uint8_t *from;
  uint8_t *to;
  size_t from_stride, to_stride;
  median_picks rows, columns;
};

struct median_args {
  median_part part[PP_MAX_COMPONENTS]; /* a layer of blocks each */
  int swap;                            /* bytes of a sample change places */
};

static __host__ __device__ constexpr int
div_up (int a, int b)
{
  return (a + b - 1) / b;
}

/* How words divides the work. */
struct word_layout {
  /* that a thread makes; two rows share most of what they load and sort */
  int words, rows;
  /* words on either side that its medians reach, and all of them together */
  int beside, all;
  int halo;  /* threads on either side of a warp that only sort */
  int parts; /* sets of halves that a word gives */
};

static __host__ __device__ constexpr word_layout
make_layout (int bytes, int size, int step)
{
  const int words = size == 3 ? 4 : 2;
  const int beside = div_up (size / 2 * step * bytes, WORD);

  return { words, size == 3 ? 2 : 1, beside, words + 2 * beside,
    div_up (beside, words), bytes == 1 ? 2 : 1 };
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
#pragma unroll
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

/* The i-th row or column that is made. */
static __device__ __forceinline__ int
pick (const median_picks &picks, int i)
{
  const unsigned n_taps = picks.n_taps;

  return n_taps == 0 ? i : __ldg (picks.first + i / n_taps) + i % n_taps;
}

/* WORDS words from word on, where bytes beyond the edges are as load_unit says. */
template <int BYTES, int STEP, int WORDS>
static __device__ __forceinline__ void
load_row (
    unsigned *to, const pp_median_group &group, const uint8_t *row, int word)
{
  if (word * WORD >= group.first_byte &&
      (word + WORDS) * WORD <= end_of_row (group, BYTES)) {
    load_vector<WORDS> (to, row + word * WORD);
    return;
  }
#pragma unroll
  for (int i = 0; i < WORDS; i++)
    to[i] = load_word<BYTES, STEP> (group, row, word + i);
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

/* Sorts the columns of SIZE rows of words, of which rank has BESIDE before them.
 * Of two rows that a thread makes, the rows between are the same: both compare
 * them first. */
template <int BYTES, int BESIDE, int SIZE, int PARTS, int ALL, int WORDS>
static __device__ __forceinline__ void
sort_columns (unsigned (&rank)[SIZE][PARTS][ALL], const median_args &args,
    const pp_median_group &group, const unsigned (*raw)[WORDS], bool is_second)
{
#pragma unroll
  for (int i = 0; i < WORDS; i++)
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
        rank[k][part][BESIDE + i] = v[k];
    }
}

/* Takes the sorted columns beside a thread's words from the warp's threads that
 * have them. What a warp's ends take is of no use to them. */
template <int WORDS, int SIZE, int PARTS, int ALL>
static __device__ __forceinline__ void
take_columns_beside (unsigned (&rank)[SIZE][PARTS][ALL])
{
  constexpr int beside = (ALL - WORDS) / 2, halo = div_up (beside, WORDS);

#pragma unroll
  for (int i = 0; i < ALL; i++) {
    const int word = i - beside; /* from the thread's first */
    const int threads = (word + halo * WORDS) / WORDS - halo;
    if (threads == 0)
      continue;
#pragma unroll
    for (int k = 0; k < SIZE; k++)
#pragma unroll
      for (int part = 0; part < PARTS; part++)
        rank[k][part][i] = __shfl_sync (~0u, rank[k][part][i - threads * WORDS],
            (threadIdx.x + threads) % BLOCK_COLUMNS);
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
make_words (const median_args &args, const median_part &part)
{
  constexpr word_layout layout = make_layout (BYTES, SIZE, STEP);
  constexpr int n_raw = SIZE + layout.rows - 1;
  const pp_median_group &group = part.group;
  const int makers = BLOCK_COLUMNS - 2 * layout.halo; /* of a warp */
  const int maker = (int) threadIdx.x - layout.halo;
  const int warp_word = blockIdx.x * makers * layout.words;
  const int word = warp_word + maker * layout.words;
  /* rows that are picked need not be adjacent */
  const int rows = part.rows.n_taps == 0 ? layout.rows : 1;
  const int first = (blockIdx.y * BLOCK_ROWS + threadIdx.y) * rows;
  const int end = end_of_row (group, BYTES);
  unsigned raw[n_raw][layout.words];

  /* a warp stays together */
  if (warp_word * WORD >= end || first >= part.rows.n)
    return;
  const int y = pick (part.rows, first);
#pragma unroll
  for (int j = 0; j < n_raw; j++) {
    if (j >= SIZE && rows == 1)
      break;
    const int row = clamp (y + j - SIZE / 2, group.rows - 1);
    load_row<BYTES, STEP, layout.words> (
        raw[j], group, part.from + row * part.from_stride, word);
  }
#pragma unroll
  for (int r = 0; r < layout.rows; r++) {
    unsigned rank[SIZE][layout.parts][layout.all], value[layout.words];
    if (r >= rows || y + r >= group.rows)
      return;
    sort_columns<BYTES, layout.beside> (rank, args, group, raw + r, r == 1);
    take_columns_beside<layout.words> (rank);
#pragma unroll
    for (int i = 0; i < layout.words; i++)
      value[i] = make_word<BYTES, STEP> (rank, args, layout.beside + i);
    if (maker >= 0 && maker < makers && word * WORD < end)
      store_words<BYTES, STEP> (
          group, part.to + (y + r) * part.to_stride, word, value);
  }
}

template <int BYTES, int SIZE>
static __global__ void
__launch_bounds__ (THREADS, SIZE == 3 ? 3 : 2)
    words (const __grid_constant__ median_args args)
{
  const median_part &part = args.part[blockIdx.z];

  switch (part.group.step) {
    case 1:
      make_words<BYTES, SIZE, 1> (args, part);
      break;
    case 2:
      make_words<BYTES, SIZE, 2> (args, part);
      break;
    case 3:
      make_words<BYTES, SIZE, 3> (args, part);
      break;
    case 4:
      make_words<BYTES, SIZE, 4> (args, part);
      break;
  }
}

template <int BYTES>
static __device__ __forceinline__ unsigned
load_sample (const uint8_t *at)
{
  return BYTES == 1 ? __ldg (at) : __ldg (at) | (unsigned) __ldg (at + 1) << 8;
}

template <int BYTES>
static __device__ __forceinline__ void
store_sample (uint8_t *at, unsigned sample)
{
  at[0] = (uint8_t) sample;
  if (BYTES == 2)
    at[1] = (uint8_t) (sample >> 8);
}

/* Units of a pixel, from its first sample to its last. */
static __host__ __device__ __forceinline__ int
units_of_pixel (const pp_median_group &group)
{
  return group.units - (group.columns - 1) * group.step;
}

/* The two samples that a thread makes are the halves that are compared: one of a
 * row's left part and one of its right, so that the threads of a warp read side
 * by side. */
template <int BYTES, int SIZE>
static __global__ void
__launch_bounds__ (THREADS)
    any_median (const __grid_constant__ median_args args)
{
  const median_part &part = args.part[blockIdx.z];
  const pp_median_group &group = part.group;
  const unsigned thread = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const unsigned units = units_of_pixel (group);
  const int unit = thread % units, i_column = thread / units;
  const int i_row = blockIdx.y * BLOCK_ROWS + threadIdx.y;
  const int left = div_up (part.columns.n, 2);
  int byte[2][SIZE]; /* of a row: where the columns' samples are */
  unsigned rank[SIZE][SIZE];

  if (i_column >= left || i_row >= part.rows.n || !(group.samples >> unit & 1))
    return;
  const int y = pick (part.rows, i_row);
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const int x =
        pick (part.columns, min (i_column + half * left, part.columns.n - 1));
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
      const int column = clamp (x + i - SIZE / 2, group.columns - 1);
      byte[half][i] = group.first_byte + (column * group.step + unit) * BYTES;
    }
  }

#pragma unroll
  for (int i = 0; i < SIZE; i++) {
    unsigned v[SIZE];
#pragma unroll
    for (int k = 0; k < SIZE; k++) {
      const uint8_t *row = part.from +
          clamp (y + k - SIZE / 2, group.rows - 1) * part.from_stride;
      v[k] = load_sample<BYTES> (row + byte[0][i]) |
          load_sample<BYTES> (row + byte[1][i]) << 16;
      v[k] = swap_bytes (v[k], args.swap) & (unsigned) group.bits * 0x10001;
    }
    sort (v);
#pragma unroll
    for (int k = 0; k < SIZE; k++)
      rank[k][i] = v[k];
  }
  const unsigned median = swap_bytes (middle_of (rank), args.swap);
  uint8_t *to = part.to + y * part.to_stride;
  store_sample<BYTES> (to + byte[0][SIZE / 2], median & 0xffff);
  store_sample<BYTES> (to + byte[1][SIZE / 2], median >> 16);
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

static bool
words_can (const pp_launch *job, const pp_median_group &group)
{
  const int p = group.plane;
  const uintptr_t together = (uintptr_t) job->source.plane[p] |
      job->source.stride[p] | (uintptr_t) job->medians.plane[p] |
      job->medians.stride[p];

  return together % ALIGNMENT == 0 && group.step <= MAX_STEP;
}

/* What no tap reads is not made, where the axis' table shows that it is all but
 * at most one in least. */
static median_picks
make_picks (const pp_launch *job, const pp_axis &axis, int count, int least)
{
  const int n = axis.n_out * axis.n_taps;

  if (n >= count || n * least > count)
    return { NULL, 0, count };
  return { job->index + axis.first, axis.n_taps, n };
}

/* To pick columns is worth it where there are so many times more of them: a
 * sample takes any_median as many instructions as words takes for so many. */
static int
least_columns (const pp_launch *job, const pp_median_group &group)
{
  if (!words_can (job, group))
    return 1;
  return job->plan->median.size == 3 ? 6 : 3;
}

static median_part
make_part (const pp_launch *job, const pp_median_group &group)
{
  const pp_numbers &n = job->plan->numbers;
  const int p = group.plane;
  const size_t from_stride = job->source.stride[p];
  const size_t to_stride = job->medians.stride[p];

  return { group, job->source.plane[p] + group.first_row * from_stride,
    job->medians.plane[p] + group.first_row * to_stride, from_stride, to_stride,
    make_picks (job, n.y[group.axes], group.rows, 1),
    make_picks (
        job, n.x[group.axes], group.columns, least_columns (job, group)) };
}

static dim3
count_words_blocks (const median_part &part, int bytes, int size)
{
  const word_layout layout = make_layout (bytes, size, part.group.step);
  const int makers = BLOCK_COLUMNS - 2 * layout.halo; /* of a warp */
  const int rows = part.rows.n_taps == 0 ? layout.rows : 1;

  return dim3 (
      div_up (end_of_row (part.group, bytes), makers * layout.words * WORD),
      div_up (part.rows.n, BLOCK_ROWS * rows));
}

static dim3
count_any_blocks (const median_part &part)
{
  const int pairs = div_up (part.columns.n, 2);

  return dim3 (div_up (pairs * units_of_pixel (part.group), BLOCK_COLUMNS),
      div_up (part.rows.n, BLOCK_ROWS));
}

/* Launches words or any_median, for the groups that are its. */
static cudaError_t
launch_median (const pp_launch *job, bool fast, cudaStream_t stream)
{
  const pp_numbers &n = job->plan->numbers;
  const pp_median &median = job->plan->median;
  const kernel_pair kernels = find_kernels (job->plan);
  dim3 grid (0, 0, 0);
  median_args args = {};

  args.swap = n.sample_bytes == 2 && n.big_endian;
  for (int g = 0; g < median.n_groups; g++) {
    const median_part part = make_part (job, median.group[g]);
    if ((part.columns.n_taps == 0 && words_can (job, part.group)) != fast)
      continue;
    const dim3 blocks = fast
        ? count_words_blocks (part, n.sample_bytes, median.size)
        : count_any_blocks (part);
    args.part[grid.z++] = part;
    grid.x = max (grid.x, blocks.x);
    grid.y = max (grid.y, blocks.y);
  }
  if (grid.z == 0)
    return cudaSuccess;
  void *parameters[] = { &args };
  return cudaLaunchKernel (fast ? kernels.words : kernels.any, grid,
      dim3 (BLOCK_COLUMNS, BLOCK_ROWS), parameters, 0, stream);
}

extern "C" cudaError_t
pp_cuda_median (const pp_launch *job, cudaStream_t stream)
{
  const cudaError_t code = launch_median (job, true, stream);

  return code == cudaSuccess ? launch_median (job, false, stream) : code;
}
