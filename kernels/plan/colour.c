/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The colour matrix: one 3x4 matrix from a format's samples to R'G'B'. It joins
 * the range (offset and scale of each component) and the colour model.
 */
#include "parts.h"

#include <math.h>

#include "kernels/engine/backend.h"
#include "kernels/table.h"

/* What 1 of R, G and B becomes. */
#define WHITE 255.

typedef double rows[3][3]; /* from components of 0...1 to R, G, B of 0...1 */

static void
rgb_rows (const pp_format *format, rows m)
{
  (void) format;
  for (int c = 0; c < 3; c++)
    m[c][c] = 1;
}

/* Y = kr R + kg G + kb B, Cb = (B - Y) / (2 - 2 kb), Cr = (R - Y) / (2 - 2 kr),
 * solved for R, G and B. */
static void
yuv_rows (const pp_format *format, rows m)
{
  const double kr = format->kr, kb = format->kb, kg = 1 - kr - kb;

  for (int c = 0; c < 3; c++)
    m[c][0] = 1;
  m[0][2] = 2 * (1 - kr);
  m[1][1] = -2 * kb * (1 - kb) / kg;
  m[1][2] = -2 * kr * (1 - kr) / kg;
  m[2][1] = 2 * (1 - kb);
}

static void
gray_rows (const pp_format *format, rows m)
{
  (void) format;
  for (int c = 0; c < 3; c++)
    m[c][0] = 1;
}

/* gray: the factors of R, G and B for gray tensors. For colour they are the
 * luma of ITU-R BT.601, as in OpenCV and Pillow. For gray, R is the value
 * itself. */
static const struct {
  void (*fill) (const pp_format *format, rows m);
  int n_components;
  bool has_chroma; /* kr and kb are used, components 1 and 2 subsampled */
  float gray[3];
} models[] = {
  [PP_MODEL_RGB] = { rgb_rows, 3, false, { 0.299f, 0.587f, 0.114f } },
  [PP_MODEL_YUV] = { yuv_rows, 3, true, { 0.299f, 0.587f, 0.114f } },
  [PP_MODEL_GRAY] = { gray_rows, 1, false, { 1, 0, 0 } },
};
PP_CHECK_TABLE (models, PP_N_MODELS);

int
pp_model_components (pp_model model)
{
  return models[model].n_components;
}

bool
pp_model_has_chroma (pp_model model)
{
  return models[model].has_chroma;
}

pp_status
pp_colour_init (pp_numbers *numbers, const pp_format *format,
    pp_channels channels, pp_error *error)
{
  rows m = { { 0 } };

  models[format->model].fill (format, m);
  for (int c = 0; c < 3; c++) {
    double constant = 0;
    float *to = numbers->matrix[c];

    for (int i = 0; i < format->n_components; i++) {
      const double factor = m[c][i] * WHITE / format->scale[i];

      to[i] = (float) factor;
      constant -= factor * format->offset[i];
    }
    to[3] = (float) constant;
    numbers->gray[c] = models[format->model].gray[c];
    if (!isfinite (to[0]) || !isfinite (to[1]) || !isfinite (to[2]) ||
        !isfinite (to[3]))
      return pp_fail (error, PP_BAD_ARGUMENT,
          "format.kr is %g and kb is %g: they give a colour matrix that is not "
          "finite",
          format->kr, format->kb);
  }
  numbers->to_gray = pp_channels_count (channels) == 1;
  return PP_OK;
}
