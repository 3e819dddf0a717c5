/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensor's elements: normalisation folded to one multiply and one add,
 * limits of the type, strides of the layout, and the padding.
 */
#include "parts.h"

#include <math.h>
#include <string.h>

#include "kernels/engine/backend.h"

uint16_t
pp_float16 (float value)
{
  uint32_t bits, small_bits;
  float small;

  memcpy (&bits, &value, sizeof bits);

  const uint32_t sign = bits >> 16 & 0x8000;
  const uint32_t magnitude = bits & 0x7fffffff;
  /* From 2^-14 on: the exponent's bias is 15 instead of 127, and 13 bits of the
   * fraction are rounded off. The carry may run into the exponent, to infinity
   * from 65520 on. */
  const uint32_t normal =
      (magnitude - (112u << 23) + 0xfff + (magnitude >> 13 & 1)) >> 13;

  /* Below: a float of 0.5 counts in 2^-24, which is float16's smallest step. */
  memcpy (&small, &magnitude, sizeof small);
  small += 0.5f;
  memcpy (&small_bits, &small, sizeof small_bits);

  const uint32_t finite =
      magnitude < 113u << 23 ? small_bits - 0x3f000000 : normal;
  const uint32_t special = magnitude > 0x7f800000 ? 0x7e00 : 0x7c00;

  return (uint16_t) (sign | (magnitude < 143u << 23 ? finite : special));
}

/* These make the padding's element. A pixel's are kernel_c.c's, rows_cpu.c's and
 * pixel_cuda.cuh's. */
static uint32_t
float32_bits (const pp_numbers *numbers, float value)
{
  uint32_t bits;

  (void) numbers;
  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static uint32_t
float16_bits (const pp_numbers *numbers, float value)
{
  (void) numbers;
  return pp_float16 (value);
}

/* Of the padding only: a pixel is clamped and rounded in kernel_c.c's. */
static uint32_t
integer_bits (const pp_numbers *numbers, float value)
{
  const float clamped = fminf (fmaxf (value, numbers->lo), numbers->hi);

  return (uint8_t) (lrintf (clamped) + numbers->zero_point);
}

typedef struct type_row {
  size_t size; /* bytes */
  uint32_t (*bits) (const pp_numbers *numbers, float value);
  bool integer;
  int low, high; /* of an integer type */
} type_row;

static const type_row types[] = {
  [PP_TYPE_FLOAT32] = { 4, float32_bits, false, 0, 0 },
  [PP_TYPE_FLOAT16] = { 2, float16_bits, false, 0, 0 },
  [PP_TYPE_UINT8] = { 1, integer_bits, true, 0, UINT8_MAX },
  [PP_TYPE_INT8] = { 1, integer_bits, true, INT8_MIN, INT8_MAX },
};

typedef struct channels_row {
  int count;
  int place[PP_MAX_CHANNELS]; /* of R, G, B among the tensor's channels */
} channels_row;

static const channels_row channel_orders[] = {
  [PP_CHANNELS_RGB] = { 3, { 0, 1, 2 } },
  [PP_CHANNELS_BGR] = { 3, { 2, 1, 0 } },
  [PP_CHANNELS_GRAY] = { 1, { 0 } },
};

size_t
pp_type_size (pp_type type)
{
  return types[type].size;
}

int
pp_channels_count (pp_channels channels)
{
  return channel_orders[channels].count;
}

/* The padding passes through what a pixel passes through after the colour. */
static uint32_t
pad_element (const pp_numbers *numbers, int colour, double pad_value)
{
  const float value =
      (float) pad_value * numbers->mul[colour] + numbers->add[colour];

  return types[numbers->type].bits (numbers, value);
}

/* out = (v scale - mean) / std, over the quantisation's scale for integers. */
static pp_status
fold (pp_numbers *numbers, const pp_spec *spec, pp_error *error)
{
  const int *place = channel_orders[spec->channels].place;
  double quantum = 1;

  if (types[spec->type].integer)
    quantum = spec->quant_scale != 0 ? spec->quant_scale : spec->scale;
  if (quantum == 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "scale is 0 and so is quant-scale, which stands for scale then: what "
        "integers are divided by must not be 0");
  for (int c = 0; c < numbers->n_channels; c++) {
    const int t = place[c];
    const double divisor = spec->std[t] * quantum;
    const float mul = (float) (spec->scale / divisor);
    const float add = (float) (-spec->mean[t] / divisor);

    if (!isfinite (mul) || !isfinite (add))
      return pp_fail (error, PP_BAD_ARGUMENT,
          "scale is %g, mean[%d] %g, std[%d] %g, quant-scale %g: together a "
          "factor of %g and an addend of %g, must be finite",
          spec->scale, t, spec->mean[t], t, spec->std[t], spec->quant_scale,
          (double) mul, (double) add);
    numbers->mul[c] = mul;
    numbers->add[c] = add;
  }
  return PP_OK;
}

static pp_status
set_limits (pp_numbers *numbers, const pp_spec *spec, pp_error *error)
{
  const type_row *type = &types[spec->type];
  const int zero = spec->quant_zero_point;

  numbers->type = (int32_t) spec->type;
  if (!type->integer)
    return PP_OK;
  if (zero < type->low || zero > type->high)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "quant-zero-point is %d, must be %d to %d for the type", zero,
        type->low, type->high);
  numbers->zero_point = zero;
  numbers->lo = (float) (type->low - zero);
  numbers->hi = (float) (type->high - zero);
  return PP_OK;
}

static void
set_strides (pp_numbers *numbers, const pp_spec *spec)
{
  const int *place = channel_orders[spec->channels].place;
  const int64_t n = numbers->n_channels;
  const int64_t width = spec->width, plane = width * spec->height;
  const struct {
    int64_t pixel, row, channel;
  } layouts[] = {
    [PP_LAYOUT_NCHW] = { 1, width, plane },
    [PP_LAYOUT_NHWC] = { n, n * width, 1 },
  };

  numbers->width = spec->width;
  numbers->height = spec->height;
  numbers->pixel_stride = layouts[spec->layout].pixel;
  numbers->row_stride = layouts[spec->layout].row;
  for (int c = 0; c < n; c++)
    numbers->channel[c] = place[c] * layouts[spec->layout].channel;
}

pp_status
pp_output_init (pp_numbers *numbers, const pp_spec *spec, pp_error *error)
{
  const int *place = channel_orders[spec->channels].place;
  pp_status status;

  numbers->n_channels = pp_channels_count (spec->channels);
  status = set_limits (numbers, spec, error);
  if (status == PP_OK)
    status = fold (numbers, spec, error);
  if (status != PP_OK)
    return status;
  set_strides (numbers, spec);
  for (int c = 0; c < numbers->n_channels; c++)
    numbers->pad[c] = pad_element (numbers, c, spec->pad_value[place[c]]);
  return PP_OK;
}

/* Elements [first, last) of a row of one channel, in pixels. */
static void
fill_span (
    const pp_numbers *numbers, void *tensor, int c, int y, int first, int last)
{
  const int64_t row = numbers->channel[c] + y * numbers->row_stride;
  const uint32_t pad = numbers->pad[c];
  const size_t size = types[numbers->type].size;

  for (int x = first; x < last; x++) {
    const int64_t at = row + x * numbers->pixel_stride;

    if (size == 4)
      ((uint32_t *) tensor)[at] = pad;
    else if (size == 2)
      ((uint16_t *) tensor)[at] = (uint16_t) pad;
    else
      ((uint8_t *) tensor)[at] = (uint8_t) pad;
  }
}

void
pp_plan_fill_padding (const pp_plan *plan, void *tensor)
{
  const pp_numbers *n = &plan->numbers;
  const int left = n->content_x, right = left + n->content_width;
  const int top = n->content_y, bottom = top + n->content_height;

  for (int c = 0; c < n->n_channels; c++)
    for (int y = 0; y < n->height; y++) {
      const bool beside = y >= top && y < bottom;

      fill_span (n, tensor, c, y, 0, beside ? left : n->width);
      if (beside)
        fill_span (n, tensor, c, y, right, n->width);
    }
}
