/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's median: the same values as pp_median_c. pp_cuda_median chooses
 * between two kernels for each group of components:
 *
 * - words (median_words_cuda.cuh): a thread makes some adjacent words of one row
 *   or two. It sorts the columns of these words, gets the sorted columns beside
 *   them from other threads of its warp, and finds the medians by networks. The
 *   outermost threads of a warp only sort.
 * - any_median: a thread makes two samples. It is for all that words cannot do,
 *   and where only some columns are needed.
 *
 * Two values are compared at once, in the halves of a 32-bit word. A sample of
 * one byte is in the upper byte of its half. The lower byte may have any value:
 * what is sorted by 16 bits is also sorted by the upper 8. So of the four bytes
 * of a word, two are compared where they are, and the two others after a shift
 * by one byte.
 */
#include "median_cuda.h"
#include "median_words_cuda.cuh"

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

/* Units of a pixel, from its first sample to its last one. */
static __host__ __device__ __forceinline__ int
units_of_pixel (const pp_median_group &group)
{
  return group.units - (group.columns - 1) * group.step;
}

/* A thread makes a sample in the left half of a row and one in its right half,
 * as the two halves of a word. So neighbouring threads read neighbouring
 * samples. */
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
  int byte[2][SIZE]; /* where the samples of each column are in a row */
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

/* Picks the rows or columns that taps read, if they are at most one in
 * min_ratio of all; else all. */
static median_picks
make_picks (const pp_launch *job, const pp_axis &axis, int count, int min_ratio)
{
  const int n = axis.n_out * axis.n_taps;

  if (n >= count || n * min_ratio > count)
    return { NULL, 0, count };
  return { job->index + axis.first, axis.n_taps, n };
}

/* Columns are picked only if they are at most one in so many: any_median needs
 * as many instructions for one sample as words for so many. */
static int
min_column_ratio (const pp_launch *job, const pp_median_group &group)
{
  if (!words_can (job, group))
    return 1;
  return job->plan->median.size == 3 ? 6 : 3;
}

static median_part
make_part (const pp_launch *job, const pp_median_group &group)
{
  const pp_plan *plan = job->plan;
  const int p = group.plane;
  const size_t from_stride = job->source.stride[p];
  const size_t to_stride = job->medians.stride[p];

  return { group, job->source.plane[p] + group.first_row * from_stride,
    job->medians.plane[p] + group.first_row * to_stride, from_stride, to_stride,
    make_picks (job, plan->block_y[group.axes], group.rows, 1),
    make_picks (job, plan->block_x[group.axes], group.columns,
        min_column_ratio (job, group)) };
}

static dim3
count_words_blocks (const median_part &part, int bytes, int size)
{
  const word_layout layout = make_layout (bytes, size, part.group.step);
  const int makers = BLOCK_COLUMNS - 2 * layout.halo; /* threads of a warp */
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

/* Launches words (fast) or any_median, for the groups that it is chosen for. */
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
