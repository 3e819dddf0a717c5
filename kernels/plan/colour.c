/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The colour matrix: range and model of a format in one 3x4 matrix.
 */
#include "parts.h"

#include <math.h>

#include "kernels/engine/backend.h"

/* White; what a component's 1 becomes. */
#define WHITE 255.

typedef double rows[3][3]; /* R, G, B of the components' 0...1 */

static void
rgb_rows (const pp_format *format, rows m)
{
  (void) format;
  for (int c = 0; c < 3; c++)
    m[c][c] = 1;
}

/* Y = kr R + kg G + kb B, Cb = (B - Y) / (2 - 2 kb), Cr = (R - Y) / (2 - 2 kr),
 * solved for R, G, B. */
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

static void (*const models[]) (const pp_format *format, rows m) = {
  [PP_MODEL_RGB] = rgb_rows,
  [PP_MODEL_YUV] = yuv_rows,
  [PP_MODEL_GRAY] = gray_rows,
};

pp_status
pp_colour_init (pp_numbers *numbers, const pp_format *format,
    pp_channels channels, pp_error *error)
{
  /* ITU-R BT.601's luma, which is what OpenCV and Pillow call gray. Gray from
   * gray is the value itself. */
  static const float luma[3] = { 0.299f, 0.587f, 0.114f };
  static const float first[3] = { 1, 0, 0 };
  const float *gray = format->model == PP_MODEL_GRAY ? first : luma;
  rows m = { { 0 } };

  models[format->model](format, m);
  for (int c = 0; c < 3; c++) {
    double constant = 0;
    float *to = numbers->matrix[c];

    for (int i = 0; i < format->n_components; i++) {
      const double factor = m[c][i] * WHITE / format->scale[i];

      to[i] = (float) factor;
      constant -= factor * format->offset[i];
    }
    to[3] = (float) constant;
    numbers->gray[c] = gray[c];
    if (!isfinite (to[0]) || !isfinite (to[1]) || !isfinite (to[2]) ||
        !isfinite (to[3]))
      return pp_fail (error, PP_BAD_ARGUMENT,
          "format.kr is %g and kb is %g, factors of colour that are not finite",
          format->kr, format->kb);
  }
  numbers->to_gray = channels == PP_CHANNELS_GRAY;
  return PP_OK;
}
