/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The median's kernel for whole words, and what both of its kernels share:
 * arguments, and loads that continue a row beyond its ends. median_cuda.cu says
 * how the kernel works.
 */
#ifndef PP_MEDIAN_WORDS_CUDA_CUH
#define PP_MEDIAN_WORDS_CUDA_CUH

#include "div_up_cuda.cuh"
#include "median_cuda.h"
#include "median_sort_cuda.cuh"

/* Threads of a block. Its warps are rows of 32. */
#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 8
#define THREADS (BLOCK_COLUMNS * BLOCK_ROWS)
/* words needs planes and rows at multiples of this, bytes. */
#define ALIGNMENT 16
/* Bytes of a word. */
#define WORD 4
/* The largest pp_median_group.step that words is compiled for. */
#define MAX_STEP 4

/* The rows or columns that are made: all, if n_taps is 0; else those that taps
 * read, n_taps for each output from first[output] on. */
struct median_picks {
  const int32_t *first;
  int n_taps;
  int n; /* how many are made; some perhaps twice */
};

/* One group of components. */

struct median_part {
  pp_median_group group;
  /* the plane's first byte in the group's first row */
  const uint8_t *from;
  uint8_t *to;
  size_t from_stride, to_stride;
  median_picks rows, columns;
};

struct median_args {
  median_part part[PP_MAX_COMPONENTS]; /* blockIdx.z is the part */
  int swap;                            /* the bytes of a sample */
};

/* How the kernel words divides the work. */
struct word_layout {
  int words, rows; /* that a thread makes; two rows share most loads */
  int beside, all; /* words on each side that are read, too; all of them */
  int halo;        /* threads on each side of a warp that only sort */
  int parts;       /* pairs of values in a word: 2 for bytes, else 1 */
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

/* Loads a unit, counted from the group's first. Beyond the ends of the row, it
 * is the unit of the same component in the nearest pixel. */
template <int BYTES>
static __device__ __forceinline__ unsigned
load_unit (const pp_median_group &group, const uint8_t *row, int unit, int step)
{
  const int pixel = unit < 0 ? -div_up (-unit, step) : unit / step;
  const int inside = unit + (clamp (pixel, group.columns - 1) - pixel) * step;
  const uint8_t *at = row + group.first_byte + inside * BYTES;

  if (inside >= group.units)
    return 0; /* it is of no component */
  return BYTES == 1 ? __ldg (at) : __ldg (at) | (unsigned) __ldg (at + 1) << 8;
}

/* Loads a word, counted from the plane's first byte, where it may cross an end
 * of the row. */
template <int BYTES, int STEP>
static __device__ __noinline__ unsigned
load_word (const pp_median_group &group, const uint8_t *row, int word)
{
  const int byte = word * WORD;
  const int unit = (byte - group.first_byte) / BYTES; /* no remainder */
  unsigned value = 0;

  if (byte >= group.first_byte && byte + WORD <= end_of_row (group, BYTES))
    return __ldg ((const unsigned *) (row + byte));
#pragma unroll
  for (int k = 0; k < WORD / BYTES; k++)
    value |= load_unit<BYTES> (group, row, unit + k, STEP) << 8 * BYTES * k;
  return value;
}

/* Loads N adjacent words that are all inside the row. */
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

/* The row or column that is made as the i-th one. */
static __device__ __forceinline__ int
pick (const median_picks &picks, int i)
{
  const unsigned n_taps = picks.n_taps;

  return n_taps == 0 ? i : __ldg (picks.first + i / n_taps) + i % n_taps;
}

/* Loads WORDS words from word on, which may be beyond the ends of the row. */
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

/* The values of a word as the halves of a word: one part of the bytes, or all.
 */
template <int BYTES>
static __device__ __forceinline__ unsigned
split (const median_args &args, const pp_median_group &group, unsigned word,
    int part)
{
  if (BYTES == 1)
    return part == 1 ? word : word << 8;
  return swap_bytes (word, args.swap) & (unsigned) group.bits * 0x10001;
}

/* The values distance units to the right of those of a word's part, or to the
 * left. All but rank are constants. */
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

/* Sorts the columns of SIZE rows of words. rank has BESIDE words before them.
 * The two rows that a thread makes have all rows but one in common: sort
 * compares these first, so that the compiler needs to do it only once. */
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

/* Gets the sorted columns beside a thread's words from the threads of the warp
 * that have them. Threads at the ends of the warp get some that they cannot
 * use. */
template <int WORDS, int SIZE, int PARTS, int ALL>
static __device__ __forceinline__ void
take_columns_beside (unsigned (&rank)[SIZE][PARTS][ALL])
{
  constexpr int beside = (ALL - WORDS) / 2, halo = div_up (beside, WORDS);

#pragma unroll
  for (int i = 0; i < ALL; i++) {
    const int word = i - beside; /* from the thread's first one */
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

/* The medians of a word, counted from the first one in rank. */
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
    return __byte_perm (median[0], median[1], 0x7351); /* the upper bytes */
  else
    return swap_bytes (median[0], args.swap);
}

/* Stores the units of a word that are samples of the group. */
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

/* Stores words. If another group is in the plane, only this group's samples. */
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

/* The kernel words, for a group of a constant step. */
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
  /* Rows that are picked need not be adjacent. */
  const int rows = part.rows.n_taps == 0 ? layout.rows : 1;
  const int first = (blockIdx.y * BLOCK_ROWS + threadIdx.y) * rows;
  const int end = end_of_row (group, BYTES);
  unsigned raw[n_raw][layout.words];

  /* All threads of a warp return, or none. */
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

#endif
