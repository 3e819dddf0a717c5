/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chooses and launches the GPU's kernels that resample. They give the same bits
 * as pp_apply_c, for the content only: each value goes through the same float
 * operations as in the reference, in the same order.
 *
 * - few_taps (few_taps_cuda.cuh), for at most two taps an axis.
 * - tile (tile_cuda.cuh), for more taps.
 * - any_taps (taps_cuda.cuh), for what the others cannot do.
 */
#include <string.h>

#include "few_taps_cuda.cuh"
#include "tile_cuda.cuh"

/* Whether few_taps and tile can read the source: every sample is at a multiple
 * of its size, pairs at a multiple of theirs, strides are multiples of WORD and
 * have 32 bits. */
static bool
regular (const pp_numbers &n, const pp_view &view)
{
  const bool pairs = n.n_components == 3 &&
      n.source[0].axes != n.source[1].axes && find_adjacent (n, false) == PAIR;

  for (int c = 0; c < n.n_components; c++) {
    const pp_source &source = n.source[c];
    const int p = source.plane;
    const int unit = pairs && c > 0 ? 2 * n.sample_bytes : n.sample_bytes;
    if (view.stride[p] > UINT32_MAX || view.stride[p] % WORD != 0 ||
        (uintptr_t) view.plane[p] % unit != 0 ||
        (source.first_byte | source.pixel_stride) % n.sample_bytes != 0)
      return false;
  }
  return true;
}

/* picture: filled already. many: the launch's kernel is the one for many
 * pictures. */
static void
choose_kernel (kernel_launch &launch, tile_layout &tile, picture_args &picture,
    const pp_plan *plan, const pp_view &view, int multiprocessors, bool many)
{
  if (!regular (plan->numbers, view) ||
      (!choose_few_taps (launch, plan->numbers, picture, many) &&
          !choose_tile (launch, tile, picture.tile, plan, multiprocessors)))
    choose_any_taps (launch, plan->numbers);
}

/* CUDA loads a kernel when it is first used. Asking for its attributes is a
 * use. */
static cudaError_t
load (const kernel_launch &launch)
{
  cudaFuncAttributes attributes;
  const cudaError_t error =
      cudaFuncGetAttributes (&attributes, launch.kernel.one);

  if (error != cudaSuccess)
    return error;
  return cudaFuncGetAttributes (&attributes, launch.kernel.many);
}

extern "C" cudaError_t
pp_cuda_probe (void)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes (&attributes, (const void *) any_taps<1, 1, 1>);
}

extern "C" cudaError_t
pp_cuda_prepare (const pp_plan *plan)
{
  const pp_view any_aligned = {};
  kernel_launch launch;
  kernel_args<1> args = {};

  choose_kernel (
      launch, args.common.tile, args.picture[0], plan, any_aligned, 1, false);
  const cudaError_t error = load (launch);
  if (error != cudaSuccess)
    return error;
  choose_any_taps (launch, plan->numbers);
  return load (launch);
}

/* An axis' table, from output first on. */
static tap_table
find_table (const pp_launch *job, const pp_axis &axis, int first)
{
  return { job->index + axis.first + first,
    job->weight + axis.first_weight + first, axis.n_taps, axis.n_out };
}

/* What is the picture's alone is 0. */
static void
fill_common (common_args &common, const pp_numbers &numbers)
{
  const size_t size = pp_type_size ((pp_type) numbers.type);
  pp_numbers &n = common.numbers;

  n = numbers;
  for (int c = 0; c < PP_MAX_COMPONENTS; c++) {
    pp_source &source = n.source[c];
    source.first_row = source.first_byte = source.columns = source.rows = 0;
  }
  for (int a = 0; a < 2; a++)
    n.x[a] = n.y[a] = {};
  n.content_x = n.content_y = n.content_width = n.content_height = 0;
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    n.pad[c] = 0;
    common.channel[c] = n.channel[c] * (int64_t) size;
  }
  /* -0 becomes 0, which changes no result: see convert_colour. */
  for (int c = 0; c < 3; c++)
    n.matrix[c][3] += 0.f;
  common.diagonal = n.n_components == 3;
  for (int c = 0; c < 9; c++)
    if (c / 3 != c % 3 && n.matrix[c / 3][c % 3] != 0)
      common.diagonal = false;
  common.row_stride = (int) n.row_stride;
  common.pixel_stride = (int) n.pixel_stride;
}

static void
fill_picture (picture_args &picture, const pp_launch *job)
{
  const pp_plan *plan = job->plan;
  const pp_numbers &n = plan->numbers;
  const size_t size = pp_type_size ((pp_type) n.type);
  const int64_t content = (n.content_y + (int64_t) job->first) * n.row_stride +
      n.content_x * n.pixel_stride;

  for (int c = 0; c < n.n_components; c++) {
    const pp_source &source = n.source[c];
    picture.stride[c] = job->source.stride[source.plane];
    picture.first[c] = job->source.plane[source.plane] +
        source.first_row * picture.stride[c] + source.first_byte;
    picture.x[c > 0] = find_table (job, plan->block_x[source.axes], 0);
    picture.y[c > 0] = find_table (job, plan->block_y[source.axes], job->first);
  }
  picture.content = (uint8_t *) job->tensor + content * (int64_t) size;
  picture.lead = (int) ((uintptr_t) picture.content / size % FOUR);
  picture.width = n.content_width;
  picture.height = job->last - job->first;
}

extern "C" cudaError_t
pp_cuda_launch (const pp_launch *job, int multiprocessors, cudaStream_t stream)
{
  kernel_launch launch;
  kernel_args<1> args = {};

  fill_common (args.common, job->plan->numbers);
  fill_picture (args.picture[0], job);
  choose_kernel (launch, args.common.tile, args.picture[0], job->plan,
      job->source, multiprocessors, false);
  launch.grid.y = div_up (job->last - job->first, launch.rows);

  void *parameters[] = { &args };
  return cudaLaunchKernel (launch.kernel.one, launch.grid, launch.block,
      parameters, launch.shared, stream);
}

/* Pictures that one launch can make. */
struct together {
  kernel_launch launch; /* of the largest */
  kernel_args<MANY> args;
  const pp_plan_pool *pool; /* of the plans, if all are of one; else NULL */
  int n;
};

/* Whether the picture has the numbers that are there. Plans of one pool do, but for
 * the tile: looking at all takes longer than the rest of a launch. */
static bool
has_numbers_of (
    const together &group, const pp_plan *plan, const tile_layout &tile)
{
  common_args common;

  if (plan->pool != NULL && plan->pool == group.pool)
    return memcmp (&group.args.common.tile, &tile, sizeof tile) == 0;
  memset (&common, 0, sizeof common); /* it is compared as bytes */
  fill_common (common, plan->numbers);
  common.tile = tile;
  return memcmp (&group.args.common, &common, sizeof common) == 0;
}

/* Adds the picture, unless it needs another kernel or other numbers than those
 * that are there. */
static bool
add_picture (together &group, const pp_launch *job, int multiprocessors)
{
  kernel_launch launch;
  tile_layout tile;
  picture_args picture = {};

  memset (&tile, 0, sizeof tile);
  fill_picture (picture, job);
  choose_kernel (
      launch, tile, picture, job->plan, job->source, multiprocessors, true);
  launch.grid.y = div_up (job->last - job->first, launch.rows);
  if (group.n == 0) {
    group.launch = launch;
    memset (&group.args.common, 0, sizeof group.args.common);
    fill_common (group.args.common, job->plan->numbers);
    group.args.common.tile = tile;
    group.pool = job->plan->pool;
  } else if (group.n == MANY || group.launch.kernel.one != launch.kernel.one ||
      !has_numbers_of (group, job->plan, tile)) {
    return false;
  } else if (job->plan->pool != group.pool) {
    group.pool = NULL;
  }

  kernel_launch &all = group.launch;
  all.grid.x = max (all.grid.x, launch.grid.x);
  all.grid.y = max (all.grid.y, launch.grid.y);
  all.block.x = max (all.block.x, launch.block.x);
  all.shared = max (all.shared, launch.shared);
  group.args.picture[group.n++] = picture;
  return true;
}

extern "C" cudaError_t
pp_cuda_launch_pictures (
    const pp_launch *jobs, int n, int multiprocessors, cudaStream_t stream)
{
  /* What a picture should fill if all run at the same time. */
  const int share = max (1, multiprocessors / n);
  cudaError_t error = cudaSuccess;

  for (int i = 0; i < n && error == cudaSuccess;) {
    together group;

    group.launch = {};
    group.n = 0;
    while (i < n && add_picture (group, &jobs[i], share))
      i++;
    group.launch.grid.z = group.n;
    void *parameters[] = { &group.args };
    error = cudaLaunchKernel (group.launch.kernel.many, group.launch.grid,
        group.launch.block, parameters, group.launch.shared, stream);
  }
  return error;
}
