/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensor: normalisation as one multiplication and one addition, the type's
 * limits, the layout's strides, and the padding.
 */
#include "parts.h"

#include <math.h>
#include <string.h>

#include "kernels/engine/backend.h"
#include "kernels/table.h"

typedef struct channels_row {
  int count;
  int place[PP_MAX_CHANNELS]; /* of R, G, B among the tensor's channels */
} channels_row;

static const channels_row channel_orders[] = {
  [PP_CHANNELS_RGB] = { 3, { 0, 1, 2 } },
  [PP_CHANNELS_BGR] = { 3, { 2, 1, 0 } },
  [PP_CHANNELS_GRAY] = { 1, { 0 } },
};
PP_CHECK_TABLE (channel_orders, PP_N_CHANNEL_ORDERS);

int
pp_channels_count (pp_channels channels)
{
  return channel_orders[channels].count;
}

/* The padding's colour is normalised and stored as any other colour. */
static uint32_t
pad_element (const pp_numbers *numbers, int colour, double pad_value)
{
  const float value =
      (float) pad_value * numbers->mul[colour] + numbers->add[colour];

  return pp_element_bits (numbers, value);
}

/* v * mul + add = (v * scale - mean) / std, for integers divided by the
 * quantisation's scale. */
static pp_status
fold (pp_numbers *numbers, const pp_spec *spec, pp_error *error)
{
  const int *place = channel_orders[spec->channels].place;
  double quantum = 1;
  int low, high;

  if (pp_type_limits (spec->type, &low, &high))
    quantum = spec->quant_scale != 0 ? spec->quant_scale : spec->scale;
  if (quantum == 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "scale is 0 and quant-scale is 0, which means the same as scale: for "
        "integers one of them must not be 0");
  for (int c = 0; c < numbers->n_channels; c++) {
    const int t = place[c];
    const double divisor = spec->std[t] * quantum;
    const float mul = (float) (spec->scale / divisor);
    const float add = (float) (-spec->mean[t] / divisor);

    if (!isfinite (mul) || !isfinite (add))
      return pp_fail (error, PP_BAD_ARGUMENT,
          "scale is %g, mean[%d] %g, std[%d] %g, quant-scale %g: together a "
          "factor of %g and an offset of %g, both must be finite",
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
  const int zero = spec->quant_zero_point;
  int low, high;

  numbers->type = (int32_t) spec->type;
  if (!pp_type_limits (spec->type, &low, &high))
    return PP_OK;
  if (zero < low || zero > high)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "quant-zero-point is %d, must be %d to %d for this type", zero, low,
        high);
  numbers->zero_point = zero;
  numbers->lo = (float) (low - zero);
  numbers->hi = (float) (high - zero);
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
  PP_CHECK_TABLE (layouts, PP_N_LAYOUTS);

  const bool swapped = pp_turn_of (spec->direction).swapped;
  const pp_surface *surface = &spec->surface;
  const bool on_surface = surface->size > 0;
  const int64_t pixel =
      on_surface ? surface->pixel_stride : layouts[spec->layout].pixel;
  const int64_t row =
      on_surface ? (int64_t) surface->row_stride : layouts[spec->layout].row;

  numbers->swapped = swapped;
  numbers->width = swapped ? spec->height : spec->width;
  numbers->height = swapped ? spec->width : spec->height;
  numbers->pixel_stride = swapped ? row : pixel;
  numbers->row_stride = swapped ? pixel : row;
  numbers->fourth = on_surface && pixel == 4;
  for (int c = 0; c < n; c++)
    numbers->channel[c] = on_surface
        ? (int64_t) surface->offset[c] /* an element is a byte */
        : place[c] * layouts[spec->layout].channel;
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

/* Fills the elements of one channel in pixels [first, last) of row y. */
static void
fill_span (
    const pp_numbers *numbers, void *tensor, int c, int y, int first, int last)
{
  const int64_t row = numbers->channel[c] + y * numbers->row_stride;
  const uint32_t pad = numbers->pad[c];
  const size_t size = pp_type_size ((pp_type) numbers->type);

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

bool
pp_plan_has_padding (const pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;

  return n->content_width < n->width || n->content_height < n->height;
}

void
pp_plan_fill_padding (const pp_plan *plan, void *tensor)
{
  const pp_numbers *n = &plan->numbers;
  const int left = n->content_x, right = left + n->content_width;
  const int top = n->content_y, bottom = top + n->content_height;

  if (plan->gaps)
    memset (tensor, PP_GAP_BYTE, plan->tensor_size);
  if (!pp_plan_has_padding (plan))
    return;
  for (int c = 0; c < n->n_channels; c++)
    for (int y = 0; y < n->height; y++) {
      const bool beside = y >= top && y < bottom;

      fill_span (n, tensor, c, y, 0, beside ? left : n->width);
      if (beside)
        fill_span (n, tensor, c, y, right, n->width);
    }
}

void
pp_plan_fill_tensor (const pp_plan *plan, void *tensor, uint64_t *padding)
{
  const pp_numbers *n = &plan->numbers;
  const uint64_t record = plan->id | PP_PADDING_ONLY;

  if (*padding == record)
    return;
  if (plan->gaps)
    memset (tensor, PP_GAP_BYTE, plan->tensor_size);
  for (int c = 0; c < n->n_channels; c++)
    for (int y = 0; y < n->height; y++)
      fill_span (n, tensor, c, y, 0, n->width);
  *padding = record;
}
