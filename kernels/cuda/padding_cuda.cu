/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Padding on the device: a thread writes a pixel of a channel, unless it belongs
 * to the content.
 */
#include "padding_cuda.h"

#define THREADS 256

struct padded_tensor {
  void *tensor;
  int32_t x, y, width, height; /* of the content */
  uint32_t pad[PP_MAX_CHANNELS];
};

struct padding_args {
  int32_t element_size; /* bytes */
  int32_t width, height;
  int64_t channel[PP_MAX_CHANNELS]; /* elements, see pp_numbers */
  int64_t row_stride, pixel_stride;
  padded_tensor tensor[PP_MAX_PICTURES];
};
static_assert (sizeof (padding_args) <= 4096, "the limit of parameters");

/* blockIdx.y is the channel, blockIdx.z the tensor. */
static __global__ void
__launch_bounds__ (THREADS)
    fill_padding (const __grid_constant__ padding_args args)
{
  const padded_tensor &t = args.tensor[blockIdx.z];
  const unsigned pixel = blockIdx.x * THREADS + threadIdx.x;
  const int y = (int) (pixel / args.width), x = (int) (pixel % args.width);
  const bool in_content =
      x >= t.x && x < t.x + t.width && y >= t.y && y < t.y + t.height;

  if (y >= args.height || in_content)
    return;
  const int64_t element =
      args.channel[blockIdx.y] + y * args.row_stride + x * args.pixel_stride;
  const uint32_t pad = t.pad[blockIdx.y];
  if (args.element_size == 4)
    ((uint32_t *) t.tensor)[element] = pad;
  else if (args.element_size == 2)
    ((uint16_t *) t.tensor)[element] = (uint16_t) pad;
  else
    ((uint8_t *) t.tensor)[element] = (uint8_t) pad;
}

extern "C" cudaError_t
pp_cuda_prepare_padding (void)
{
  cudaFuncAttributes attributes;

  return cudaFuncGetAttributes (&attributes, (const void *) fill_padding);
}

extern "C" cudaError_t
pp_cuda_fill_padding (
    const pp_launch *launches, int n, bool content, cudaStream_t stream)
{
  const pp_numbers &first = launches[0].plan->numbers;
  const size_t pixels = (size_t) first.width * (size_t) first.height;
  padding_args args;

  args.element_size = (int32_t) pp_type_size ((pp_type) first.type);
  args.width = first.width;
  args.height = first.height;
  args.row_stride = first.row_stride;
  args.pixel_stride = first.pixel_stride;
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    args.channel[c] = first.channel[c];
  for (int i = 0; i < n; i++) {
    const pp_numbers &numbers = launches[i].plan->numbers;
    padded_tensor &t = args.tensor[i];

    t.tensor = launches[i].tensor;
    t.x = numbers.content_x;
    t.y = numbers.content_y;
    t.width = content ? 0 : numbers.content_width;
    t.height = content ? 0 : numbers.content_height;
    for (int c = 0; c < PP_MAX_CHANNELS; c++)
      t.pad[c] = numbers.pad[c];
  }

  const dim3 grid (
      (unsigned) ((pixels + THREADS - 1) / THREADS), first.n_channels, n);
  void *parameters[] = { &args };
  return cudaLaunchKernel (
      (const void *) fill_padding, grid, dim3 (THREADS), parameters, 0, stream);
}
