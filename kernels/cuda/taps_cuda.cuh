/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the GPU's kernels without a tile share: which pixels a thread makes, and
 * how it stores them. And any_taps, in which a thread makes one pixel, tap by tap,
 * with any number of taps, at any address.
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

/* From one row of pixels to the next in shared memory, floats. Threads of a warp
 * that read 8 rows of 4 columns, or 32 rows of one, are in different banks. */
static __host__ __device__ constexpr int
exchange_stride (int rows)
{
  return BLOCK_COLUMNS + (rows % 32 == 0 ? 1 : 4);
}

/* The pixels that a thread loads: rows of one column, from (x, y) down. */
struct pixel_place {
  unsigned x, y;
  bool inside; /* of the content */
};

/* rows: that a thread makes. Threads outside of the content load its last column
 * or row, since they take part in exchange_pixels. */
static __device__ __forceinline__ pixel_place
find_pixels (const picture_args &picture, int rows)
{
  const unsigned x = blockIdx.x * BLOCK_COLUMNS + threadIdx.x;
  const unsigned y = (blockIdx.y * blockDim.y + threadIdx.y) * rows;
  const unsigned last_x = picture.width - 1, last_y = picture.height - 1;

  return { min (x, last_x), y, x <= last_x && y <= last_y };
}

/* Where the tensor's axes are swapped: gives each thread the values of other
 * pixels of the block and stores them, so that a warp stores pixels that are
 * adjacent in the tensor, up to 32 of them, though it has loaded 32 adjacent
 * pixels of the frame. All threads of the block must call it. */
template <int COMPONENTS, int ROWS>
static __device__ __forceinline__ void
store_swapped (const kernel_view &args, const float (&value)[ROWS][COMPONENTS])
{
  extern __shared__ float shared[];
  constexpr int block_rows = SWAPPED_ROWS * ROWS;
  constexpr int stride = exchange_stride (block_rows);
  const unsigned width = args.picture.width, height = args.picture.height;
  const unsigned thread = threadIdx.y * BLOCK_COLUMNS + threadIdx.x;

#pragma unroll
  for (int r = 0; r < ROWS; r++)
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      shared[(c * block_rows + threadIdx.y * ROWS + r) * stride + threadIdx.x] =
          value[r][c];
  __syncthreads ();
#pragma unroll
  for (int r = 0; r < ROWS; r++) {
    const unsigned pixel = thread + r * BLOCK_THREADS;
    const unsigned row = pixel % block_rows, column = pixel / block_rows;
    const unsigned x = blockIdx.x * BLOCK_COLUMNS + column;
    const unsigned y = blockIdx.y * block_rows + row;
    float other[COMPONENTS];
    if (x >= width || y >= height)
      continue;
#pragma unroll
    for (int c = 0; c < COMPONENTS; c++)
      other[c] = shared[(c * block_rows + row) * stride + column];
    finish_pixel<COMPONENTS> (args, other, x, y);
  }
}

/* value: the resampled components of the pixels at place. */
template <int COMPONENTS, int ROWS>
static __device__ __forceinline__ void
store_pixels (const kernel_view &args, const float (&value)[ROWS][COMPONENTS],
    const pixel_place &place)
{
  if (args.common.numbers.swapped) {
    store_swapped<COMPONENTS, ROWS> (args, value);
    return;
  }
#pragma unroll
  for (int r = 0; r < ROWS; r++)
    if (place.y + r < (unsigned) args.picture.height)
      finish_pixel<COMPONENTS> (args, value[r], place.x, place.y + r);
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
  const pixel_place place = find_pixels (args.picture, 1);
  const int y = min ((int) place.y, args.picture.height - 1);
  float value[1][COMPONENTS];

  if (!place.inside && !args.common.numbers.swapped)
    return;
#pragma unroll
  for (int c = 0; c < COMPONENTS; c++)
    value[0][c] = sum_any_taps<BYTES> (args, c, (int) place.x, y);
  store_pixels<COMPONENTS, 1> (args, value, place);
}

/* thread_rows: pixels that a thread makes. */
static void
launch_by_pixel (kernel_launch &launch, const pp_numbers &n, kernel_pair kernel,
    int thread_rows)
{
  const int rows = n.swapped ? SWAPPED_ROWS : BLOCK_ROWS;

  launch.kernel = kernel;
  launch.grid.x = div_up (n.content_width, BLOCK_COLUMNS);
  launch.block = dim3 (BLOCK_COLUMNS, rows);
  launch.shared = n.swapped ? n.n_components * rows * thread_rows *
          exchange_stride (rows * thread_rows) * sizeof (float)
                            : 0;
  launch.rows = rows * thread_rows;
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
      launch, n, kernels[n.n_components / 3 * 2 + n.sample_bytes - 1], 1);
}

#endif
