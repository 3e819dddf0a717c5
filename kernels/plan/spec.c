/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The spec's defaults, and the checks of all arguments of pp_plan_new. They run
 * before anything else of a plan.
 */
#include "parts.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/engine/backend.h"
#include "kernels/table.h"

/* Limits of a component, bytes. No GStreamer format needs more than 8; with
 * these, no offset in a row overflows. */
#define MAX_PIXEL_STRIDE 64
#define MAX_OFFSET 4096
/* Of a surface, bytes: the largest width with pixels of 4 bytes, twice. */
#define MAX_ROW_STRIDE (8 * PP_MAX_SIZE)

typedef struct int_field {
  const char *name;
  int value, lowest, highest;
} int_field;

typedef struct real_field {
  const char *name;
  double value, lowest, highest; /* -DBL_MAX, DBL_MAX: any finite number */
} real_field;

void
pp_spec_init (pp_spec *spec)
{
  *spec = (pp_spec){
    .layout = PP_LAYOUT_NCHW,
    .type = PP_TYPE_FLOAT32,
    .channels = PP_CHANNELS_RGB,
    .direction = PP_DIRECTION_IDENTITY,
    .fit = PP_FIT_STRETCH,
    .pad_align = PP_ALIGN_CENTER,
    .method = PP_METHOD_BILINEAR,
    .denoise = PP_DENOISE_NONE,
    .denoise_size = 3,
    .scale = 1. / 255,
    .std = { 1, 1, 1 },
    .pad_value = { 114, 114, 114 },
  };
}

/* Texts name a field by prefix and its name. */
static pp_status
check_ints (const char *prefix, const int_field *fields, size_t n_fields,
    pp_error *error)
{
  for (const int_field *f = fields; f < fields + n_fields; f++)
    if (f->value < f->lowest || f->value > f->highest)
      return pp_fail (error, PP_BAD_ARGUMENT, "%s%s is %d, must be %d to %d",
          prefix, f->name, f->value, f->lowest, f->highest);
  return PP_OK;
}

/* NaN fails every comparison. */
static pp_status
check_reals (const real_field *fields, size_t n_fields, pp_error *error)
{
  for (const real_field *f = fields; f < fields + n_fields; f++) {
    if (f->value >= f->lowest && f->value <= f->highest)
      continue;
    if (f->highest < DBL_MAX)
      return pp_fail (error, PP_BAD_ARGUMENT, "%s is %g, must be %g to %g",
          f->name, f->value, f->lowest, f->highest);
    if (f->lowest > -DBL_MAX)
      return pp_fail (error, PP_BAD_ARGUMENT,
          "%s is %g, must be at least %g and finite", f->name, f->value,
          f->lowest);
    return pp_fail (
        error, PP_BAD_ARGUMENT, "%s is %g, must be finite", f->name, f->value);
  }
  return PP_OK;
}

static pp_status
check_channel_values (const pp_spec *spec, pp_error *error)
{
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    char mean[16], std[16], pad_value[16];

    snprintf (mean, sizeof mean, "mean[%d]", c);
    snprintf (std, sizeof std, "std[%d]", c);
    snprintf (pad_value, sizeof pad_value, "pad-value[%d]", c);

    const real_field fields[] = {
      { mean, spec->mean[c], -DBL_MAX, DBL_MAX },
      { std, spec->std[c], -DBL_MAX, DBL_MAX },
      { pad_value, spec->pad_value[c], 0, 255 },
    };
    const pp_status status = check_reals (fields, PP_LENGTH (fields), error);

    if (status != PP_OK)
      return status;
    if (spec->std[c] == 0)
      return pp_fail (error, PP_BAD_ARGUMENT, "%s is 0, must not be 0", std);
  }
  return PP_OK;
}

/* How large the picture is before it is cropped. */
static pp_status
check_crop (const pp_spec *spec, pp_error *error)
{
  const int shorter = spec->width < spec->height ? spec->width : spec->height;
  const double fraction = spec->crop_fraction;
  const char *uncropped = pp_fit_uncropped (spec->fit);

  if (uncropped != NULL && spec->resize != 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "resize is %d, must not be set with fit=%s", spec->resize, uncropped);
  if (uncropped != NULL && fraction != 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "crop-fraction is %g, must not be set with fit=%s", fraction,
        uncropped);
  if (spec->resize != 0 && spec->resize < shorter)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "resize is %d, must be at least the smaller of width and height, %d",
        spec->resize, shorter);
  if (spec->resize > PP_MAX_SIZE)
    return pp_fail (error, PP_BAD_ARGUMENT, "resize is %d, must be at most %d",
        spec->resize, PP_MAX_SIZE);
  if (fraction != 0 && !(fraction > 0 && fraction <= 1))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "crop-fraction is %g, must be over 0 and at most 1", fraction);
  if (spec->resize != 0 && fraction != 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "resize is %d and crop-fraction is %g, only one can be set",
        spec->resize, fraction);
  return PP_OK;
}

/* Each byte of a pixel's channels once. */
static bool
are_places (const size_t *offset)
{
  int seen = 0;

  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    seen |= offset[c] < PP_MAX_CHANNELS ? 1 << offset[c] : 0;
  return seen == (1 << PP_MAX_CHANNELS) - 1;
}

/* One behind the other, in any order: where they are, in planes. */
static bool
are_planes (const pp_surface *surface, size_t plane, int channels)
{
  size_t offset[PP_MAX_CHANNELS];

  for (int c = 0; c < channels; c++) {
    if (surface->offset[c] % plane != 0)
      return false;
    offset[c] = surface->offset[c] / plane;
  }
  return channels == 1 ? offset[0] == 0 : are_places (offset);
}

/* Sizes are known to be good. */
static pp_status
check_surface (const pp_spec *spec, pp_error *error)
{
  const pp_surface *surface = &spec->surface;
  const int channels = pp_channels_count (spec->channels);
  const size_t row = (size_t) spec->width * (size_t) surface->pixel_stride;

  if (surface->size == 0)
    return PP_OK;
  if (spec->type != PP_TYPE_UINT8)
    return pp_fail (
        error, PP_BAD_ARGUMENT, "surface is set, must only be with type=uint8");
  if (surface->pixel_stride != 1 &&
      (channels == 1 ||
          (surface->pixel_stride != 3 && surface->pixel_stride != 4)))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "surface.pixel_stride is %d, must be 1%s", surface->pixel_stride,
        channels == 1 ? "" : ", 3 or 4");
  if (surface->row_stride < row || surface->row_stride > MAX_ROW_STRIDE)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "surface.row_stride is %zu, must be %zu to %d", surface->row_stride,
        row, MAX_ROW_STRIDE);
  const size_t plane = surface->row_stride * (size_t) spec->height;
  const size_t size =
      surface->pixel_stride == 1 ? plane * (size_t) channels : plane;
  if (surface->size < size || surface->size > 2 * size)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "surface.size is %zu, must be %zu to %zu", surface->size, size,
        2 * size);
  if (surface->pixel_stride == 1 ? !are_planes (surface, plane, channels)
                                 : !are_places (surface->offset))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "surface.offset is %zu, %zu, %zu, must be %s", surface->offset[0],
        surface->offset[1], surface->offset[2],
        surface->pixel_stride == 1 ? "that of one plane behind the other"
                                   : "0, 1 and 2 in some order");
  return PP_OK;
}

pp_status
pp_spec_check (const pp_spec *spec, pp_error *error)
{
  const int_field ints[] = {
    { "width", spec->width, 1, PP_MAX_SIZE },
    { "height", spec->height, 1, PP_MAX_SIZE },
    { "layout", (int) spec->layout, 0, PP_N_LAYOUTS - 1 },
    { "type", (int) spec->type, 0, PP_N_TYPES - 1 },
    { "channels", (int) spec->channels, 0, PP_N_CHANNEL_ORDERS - 1 },
    { "video-direction", (int) spec->direction, 0, PP_N_DIRECTIONS - 1 },
    { "fit", (int) spec->fit, 0, PP_N_FITS - 1 },
    { "pad-align", (int) spec->pad_align, 0, PP_N_ALIGNS - 1 },
    { "method", (int) spec->method, 0, PP_N_METHODS - 1 },
    { "denoise", (int) spec->denoise, 0, PP_N_DENOISES - 1 },
  };
  const real_field reals[] = {
    { "denoise-sigma", spec->denoise_sigma, 0, DBL_MAX },
    { "scale", spec->scale, -DBL_MAX, DBL_MAX },
    { "quant-scale", spec->quant_scale, 0, DBL_MAX },
  };
  pp_status status = check_ints ("", ints, PP_LENGTH (ints), error);

  if (status == PP_OK)
    status = check_reals (reals, PP_LENGTH (reals), error);
  if (status == PP_OK)
    status = check_channel_values (spec, error);
  if (status == PP_OK)
    status = check_crop (spec, error);
  if (status == PP_OK)
    status = pp_denoise_check (spec, error);
  if (status == PP_OK)
    status = check_surface (spec, error);
  return status;
}

/* There are tap tables for two sizes only: full size, and that of the chroma.
 */
static pp_status
check_subsampling (const pp_format *format, int c, pp_error *error)
{
  const pp_component *here = &format->component[c];
  const bool chroma = pp_model_has_chroma (format->model) && c > 0;
  const int sub_x = chroma ? format->component[1].sub_x : 0;
  const int sub_y = chroma ? format->component[1].sub_y : 0;

  if (here->sub_x == sub_x && here->sub_y == sub_y)
    return PP_OK;
  return pp_fail (error, PP_BAD_ARGUMENT,
      "format.component[%d].sub_x is %d and sub_y is %d, must be %d and %d", c,
      here->sub_x, here->sub_y, sub_x, sub_y);
}

static pp_status
check_component (const pp_format *format, int c, pp_error *error)
{
  const pp_component *here = &format->component[c];
  const int bits = 8 * format->sample_bytes;
  const int_field fields[] = {
    { "plane", here->plane, 0, PP_MAX_PLANES - 1 },
    { "offset", here->offset, 0, MAX_OFFSET },
    { "pixel_stride", here->pixel_stride, format->sample_bytes,
        MAX_PIXEL_STRIDE },
    { "sub_x", here->sub_x, 0, 2 },
    { "sub_y", here->sub_y, 0, 2 },
    /* Kernels neither shift nor mask 1-byte samples. */
    { "depth", here->depth, format->sample_bytes == 1 ? 8 : 1, bits },
  };
  char prefix[32];

  snprintf (prefix, sizeof prefix, "format.component[%d].", c);

  pp_status status = check_ints (prefix, fields, PP_LENGTH (fields), error);

  /* Only with a depth that is right is there a limit for shift. */
  if (status == PP_OK)
    status = check_ints (prefix,
        &(int_field){ "shift", here->shift, 0, bits - here->depth }, 1, error);
  if (status != PP_OK)
    return status;
  if (here->offset % format->sample_bytes != 0 ||
      here->pixel_stride % format->sample_bytes != 0)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "%soffset is %d and pixel_stride is %d, must be multiples of "
        "sample_bytes, %d",
        prefix, here->offset, here->pixel_stride, format->sample_bytes);
  if (format->scale[c] < 1)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "format.scale[%d] is %d, must be at least 1", c, format->scale[c]);
  return check_subsampling (format, c, error);
}

static int
greatest_common_divisor (int a, int b)
{
  return b == 0 ? a : greatest_common_divisor (b, a % b);
}

/* Where the component's last sample of a row ends, bytes. */
static int
end_of_row (const pp_format *format, const pp_component *c)
{
  return c->offset + ((format->width - 1) >> c->sub_x) * c->pixel_stride +
      format->sample_bytes;
}

/* Whether two components have bytes of a row in common. Distances between their
 * samples are the distance of their offsets plus multiples of the greatest
 * common divisor of their strides: one of them is too short if the smallest is,
 * in either direction. */
static bool
overlap (const pp_format *format, const pp_component *a, const pp_component *b)
{
  const int period = greatest_common_divisor (a->pixel_stride, b->pixel_stride);
  const int apart = abs (a->offset - b->offset) % period;

  return a->plane == b->plane && a->offset < end_of_row (format, b) &&
      b->offset < end_of_row (format, a) &&
      (apart < format->sample_bytes || period - apart < format->sample_bytes);
}

/* A median is written to the place of its sample, so that two components cannot
 * have a sample in common, unless they are the same component. */
static pp_status
check_overlap (const pp_format *format, pp_error *error)
{
  for (int a = 0; a < format->n_components; a++)
    for (int b = a + 1; b < format->n_components; b++) {
      const pp_component *one = &format->component[a];
      const pp_component *other = &format->component[b];

      if (memcmp (one, other, sizeof *one) != 0 && overlap (format, one, other))
        return pp_fail (error, PP_BAD_ARGUMENT,
            "format.component[%d].offset is %d and component[%d].offset is "
            "%d, must not have bytes of plane %d in common",
            a, one->offset, b, other->offset, one->plane);
    }
  return PP_OK;
}

pp_status
pp_format_check (const pp_format *format, pp_error *error)
{
  const int_field model = { "model", (int) format->model, 0, PP_N_MODELS - 1 };
  pp_status status = check_ints ("format.", &model, 1, error);

  if (status != PP_OK)
    return status;

  const int components = pp_model_components (format->model);
  const int_field fields[] = {
    { "width", format->width, 1, PP_MAX_SIZE },
    { "height", format->height, 1, PP_MAX_SIZE },
    { "par_n", format->par_n, 1, INT32_MAX },
    { "par_d", format->par_d, 1, INT32_MAX },
    { "n_components", format->n_components, components, components },
    { "sample_bytes", format->sample_bytes, 1, 2 },
  };

  status = check_ints ("format.", fields, PP_LENGTH (fields), error);
  for (int c = 0; status == PP_OK && c < format->n_components; c++)
    status = check_component (format, c, error);
  if (status == PP_OK)
    status = check_overlap (format, error);
  if (status != PP_OK || !pp_model_has_chroma (format->model))
    return status;
  if (!(format->kr > 0 && format->kb > 0 && format->kr + format->kb < 1))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "format.kr is %g and kb is %g, must be over 0 and their sum below 1",
        format->kr, format->kb);
  return PP_OK;
}

pp_status
pp_source_check (
    const pp_rect *source, const pp_format *format, pp_error *error)
{
  const pp_rect *s = source;

  /* With sizes that are right, no difference overflows. */
  if (s->width >= 1 && s->width <= format->width && s->height >= 1 &&
      s->height <= format->height && s->x >= 0 && s->y >= 0 &&
      s->x <= format->width - s->width && s->y <= format->height - s->height)
    return PP_OK;
  return pp_fail (error, PP_BAD_ARGUMENT,
      "source is %dx%d at %d,%d, must have pixels and lie in the frame, %dx%d",
      s->width, s->height, s->x, s->y, format->width, format->height);
}
