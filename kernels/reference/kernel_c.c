/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The reference kernel: the specification of what a tensor holds. It is written
 * to be read, not to be fast. The CPU's and the GPU's kernels give the same
 * bits, because they compute each sum below in the same order. make_pixel has
 * the steps: resample, convert_colour, gray, normalise, element.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "reference.h"

/* The value of sample x in a row of its plane. */
static float
load (const pp_numbers *n, const pp_source *source, const uint8_t *row, int x)
{
  const uint8_t *at =
      row + source->first_byte + (ptrdiff_t) x * source->pixel_stride;

  if (n->sample_bytes == 1)
    return at[0];

  const int sample = n->big_endian ? at[0] << 8 | at[1] : at[1] << 8 | at[0];

  return (float) ((sample >> source->shift) & source->mask);
}

/* One component at column x and row y of the content. First the vertical taps,
 * then the horizontal ones, in ascending order. Sums start at +0; a product is
 * rounded before it is added. */
static float
resample (const pp_plan *plan, const pp_view *view, int component, int x, int y)
{
  const pp_numbers *n = &plan->numbers;
  const pp_source *source = &n->source[component];
  const pp_axis *ax = &n->x[source->axes], *ay = &n->y[source->axes];
  const float *wx = plan->weight + ax->first_weight + x;
  const float *wy = plan->weight + ay->first_weight + y;
  const int first_column = plan->index[ax->first + x];
  const int first_row = plan->index[ay->first + y] + source->first_row;
  const size_t stride = view->stride[source->plane];
  const uint8_t *top = view->plane[source->plane] + first_row * stride;
  float sum = 0;

  for (int i = 0; i < ax->n_taps; i++) {
    float column = 0;

    for (int j = 0; j < ay->n_taps; j++)
      column += wy[(ptrdiff_t) j * ay->n_out] *
          load (n, source, top + j * stride, first_column + i);
    sum += wx[(ptrdiff_t) i * ax->n_out] * column;
  }
  return sum;
}

static float
clamp (float value, float low, float high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

/* R'G'B', clamped to 0...255, not rounded. */
static void
convert_colour (const pp_numbers *n, const float in[3], float rgb[3])
{
  for (int c = 0; c < 3; c++) {
    const float *m = n->matrix[c];
    const float value = n->n_components == 1
        ? n->matrix[0][0] * in[0] + n->matrix[0][3]
        : ((m[0] * in[0] + m[1] * in[1]) + m[2] * in[2]) + m[3];

    rgb[c] = clamp (value, 0, 255);
  }
}

static void
store (const pp_numbers *n, void *tensor, int64_t at, uint32_t bits)
{
  const size_t size = pp_type_size ((pp_type) n->type);

  if (size == 4)
    ((uint32_t *) tensor)[at] = bits;
  else if (size == 2)
    ((uint16_t *) tensor)[at] = (uint16_t) bits;
  else
    ((uint8_t *) tensor)[at] = (uint8_t) bits;
}

/* The elements of one pixel of the content. */
static void
make_pixel (const pp_plan *plan, const pp_view *source, int x, int y,
    uint32_t element[PP_MAX_CHANNELS])
{
  const pp_numbers *n = &plan->numbers;
  float in[3] = { 0 }, out[3];

  for (int c = 0; c < n->n_components; c++)
    in[c] = resample (plan, source, c, x, y);
  convert_colour (n, in, out);
  if (n->to_gray)
    out[0] = (n->gray[0] * out[0] + n->gray[1] * out[1]) + n->gray[2] * out[2];
  for (int c = 0; c < n->n_channels; c++)
    element[c] = pp_element_bits (n, out[c] * n->mul[c] + n->add[c]);
}

static void
apply (const pp_plan *plan, const pp_view *source, void *tensor)
{
  const pp_numbers *n = &plan->numbers;

  if (plan->gaps)
    memset (tensor, PP_GAP_BYTE, plan->tensor_size);
  for (int y = 0; y < n->height; y++)
    for (int x = 0; x < n->width; x++) {
      const int column = x - n->content_x, row = y - n->content_y;
      uint32_t element[PP_MAX_CHANNELS];

      if (column >= 0 && column < n->content_width && row >= 0 &&
          row < n->content_height)
        make_pixel (plan, source, column, row, element);
      else
        memcpy (element, n->pad, sizeof element);
      for (int c = 0; c < n->n_channels; c++)
        store (n, tensor,
            n->channel[c] + y * n->row_stride + x * n->pixel_stride,
            element[c]);
    }
}

/* The medians make an image of their own, and the taps read that one. */
static bool
apply_to_medians (const pp_plan *plan, const pp_view *source, void *tensor)
{
  pp_planes image = { 0 };
  pp_view medians = { 0 };
  bool made = true;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &plan->extent[p];

    if (extent->height == 0)
      continue;
    medians.stride[p] = image.stride[p] = (size_t) extent->width;
    image.plane[p] = calloc ((size_t) extent->height, (size_t) extent->width);
    medians.plane[p] = image.plane[p];
    made &= image.plane[p] != NULL;
  }
  if (made) {
    pp_median_c (plan, source, &image);
    apply (plan, &medians, tensor);
  }
  for (int p = 0; p < PP_MAX_PLANES; p++)
    free (image.plane[p]);
  return made;
}

bool
pp_apply_c (const pp_plan *plan, const pp_view *source, void *tensor)
{
  if (plan->median.size > 0)
    return apply_to_medians (plan, source, tensor);
  apply (plan, source, tensor);
  return true;
}
