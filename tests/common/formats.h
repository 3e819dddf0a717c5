/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Specs and formats to make plans of, without GStreamer.
 */
#ifndef FORMATS_H
#define FORMATS_H

#include "kernels/preproc.h"

#include "expect.h"

#define LENGTH(array) ((int) (sizeof (array) / sizeof *(array)))

static inline pp_format
rgb_format (int width, int height)
{
  pp_format format = { .model = PP_MODEL_RGB,
    .width = width,
    .height = height,
    .par_n = 1,
    .par_d = 1,
    .n_components = 3,
    .sample_bytes = 1 };

  for (int c = 0; c < 3; c++) {
    format.component[c] =
        (pp_component){ .offset = c, .pixel_stride = 3, .depth = 8 };
    format.scale[c] = 255;
  }
  return format;
}

static inline pp_format
gray_format (int width, int height)
{
  pp_format format = rgb_format (width, height);

  format.model = PP_MODEL_GRAY;
  format.n_components = 1;
  format.component[0].pixel_stride = 1;
  return format;
}

/* BT.709, limited range, 8 bits; without components. */
static inline pp_format
yuv_format (int width, int height)
{
  pp_format format = { .model = PP_MODEL_YUV,
    .width = width,
    .height = height,
    .par_n = 1,
    .par_d = 1,
    .n_components = 3,
    .sample_bytes = 1,
    .offset = { 16, 128, 128 },
    .scale = { 219, 224, 224 },
    .kr = 0.2126,
    .kb = 0.0722,
    .cosited_x = true };

  return format;
}

static inline pp_format
nv12_format (int width, int height)
{
  pp_format format = yuv_format (width, height);

  format.component[0] = (pp_component){ 0, 0, 1, 0, 0, 8, 0 };
  format.component[1] = (pp_component){ 1, 0, 2, 1, 1, 8, 0 };
  format.component[2] = (pp_component){ 1, 1, 2, 1, 1, 8, 0 };
  return format;
}

static inline pp_format
yuy2_format (int width, int height)
{
  pp_format format = yuv_format (width, height);

  format.component[0] = (pp_component){ 0, 0, 2, 0, 0, 8, 0 };
  format.component[1] = (pp_component){ 0, 1, 4, 1, 0, 8, 0 };
  format.component[2] = (pp_component){ 0, 3, 4, 1, 0, 8, 0 };
  return format;
}

static inline pp_format
p010_format (int width, int height)
{
  pp_format format = nv12_format (width, height);

  format.sample_bytes = 2;
  for (int c = 0; c < 3; c++) {
    format.component[c].offset *= 2;
    format.component[c].pixel_stride *= 2;
    format.component[c].depth = 10;
    format.component[c].shift = 6;
    format.offset[c] *= 4;
    format.scale[c] *= 4;
  }
  return format;
}

static inline pp_spec
sized_spec (int width, int height)
{
  pp_spec spec;

  pp_spec_init (&spec);
  spec.width = width;
  spec.height = height;
  return spec;
}

/* A plan that must be there; NULL, with a line, where it is not. */
static inline pp_plan *
make_plan (const pp_spec *spec, const pp_format *format, const pp_rect *source)
{
  pp_error error;
  pp_plan *plan = pp_plan_new (spec, format, source, &error);

  EXPECT (plan != NULL, "%dx%d from %dx%d: %s", spec->width, spec->height,
      format->width, format->height, error.text);
  return plan;
}

#endif
