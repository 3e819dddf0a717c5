/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernels: the bits of pp_apply_c, content only. Every value goes
 * through the reference's float operations in the reference's order; what
 * differs is who computes what:
 *
 *   few_taps  at most two taps an axis: a thread makes one pixel and has all
 *             its loads in flight at once
 *   tile      more taps (tile_cuda.cuh)
 *   any_taps  everything else: a thread makes one pixel, tap by tap
 */
#include "tile_cuda.cuh"

/* few_taps and any_taps: pixels a block makes. Its warps are rows of 32. */
#define BLOCK_COLUMNS 32
#define BLOCK_ROWS 4

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
