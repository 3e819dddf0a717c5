/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tap tables of bilinear interpolation without antialias and without
 * denoising, several times as fast as taps.c makes them, and with the same bits:
 * plans for regions need them within a frame.
 *
 * A weight is a fraction of two whole numbers below 2^13. taps.c computes it in
 * double, with an error of less than 2^-52 in all, and rounds it to float. Such a
 * fraction is either half way between two floats, and then exact in double, or
 * at least 2^-51 away from there. So what taps.c gives is the fraction rounded to
 * the nearest float, which is what one division of floats gives.
 */
#include "taps.h"

#include "kernels/cpu/clones_cpu.h"

/* The largest denominator. */
#define MAX_UNIT ((int64_t) 1 << 13)
/* Whole numbers below this are exact as floats. */
#define MAX_EXACT ((int64_t) 1 << 24)

/* What the loop needs. A distance of unit is one sample; output i is between
 * samples f and f + 1 where f + 1 = (start + i * step) / unit, rounded down, and
 * the remainder says how far from f. */
struct line {
  int start, step, unit;
  int last; /* sample of the rectangle */
};

/* False where a number would be too large, and for what is mirrored. */
static bool
make_line (struct line *line, const pp_axis_geometry *axis)
{
  const int64_t pixel = 2 * (int64_t) axis->resized;
  const int pixels = 1 << axis->sub;
  const int64_t unit = 2 * pixel * pixels;
  /* As in taps.c: make_grid. */
  const int64_t phase = (axis->start & (pixels - 1)) * pixel;
  const int64_t shift = axis->cosited ? (pixels - 1) * (pixel / 2) : 0;
  const int64_t centre =
      (2 * (int64_t) axis->first_out + 1) * axis->length + phase + shift;
  const int64_t step = 4 * (int64_t) axis->length;
  const int64_t start = 2 * centre + unit / 2;

  *line = (struct line){ (int) start, (int) step, (int) unit,
    pp_axis_samples (axis) - 1 };
  return !axis->mirrored && unit <= MAX_UNIT && start >= 0 &&
      start + step * axis->n_out < MAX_EXACT;
}

/* Whether an output has two taps. weight: of the first taps, then of the second
 * ones. */
PP_CLONES static bool
fill (const struct line line, int n, int32_t *restrict first,
    float *restrict weight_0, float *restrict weight_1)
{
  const float unit = (float) line.unit, inverse = 1 / unit;
  const int last = line.last;
  int two = 0;

  for (int i = 0; i < n; i++) {
    const float at = (float) (line.start + line.step * i);
    int sample = (int) (at * inverse);
    float rest = at - (float) sample * unit; /* exact */

    /* The quotient may be one off. */
    const int below = rest < 0, above = rest >= unit;
    sample += above - below;
    rest += below ? unit : above ? -unit : 0;
    sample--;

    /* Both taps are the edge sample. */
    const bool edge = sample < 0 || sample >= last;
    const float w = edge ? 0 : rest / unit;
    first[i] = sample < 0 ? 0 : sample > last ? last : sample;
    weight_0[i] = edge ? 1 : (unit - rest) / unit;
    weight_1[i] = w;
    two |= w != 0;
  }
  return two;
}

/* As in taps.c: where the second tap would be behind all samples that have a
 * weight, the first one has none. Outputs ascend. */
static void
move_inside (pp_taps *taps, float *weight_0, float *weight_1)
{
  const int n = taps->n_out;
  const int end = taps->first[n - 1] + (weight_1[n - 1] != 0 ? 2 : 1);

  for (int i = n - 1; i >= 0 && taps->first[i] + 2 > end; i--) {
    taps->first[i]--;
    weight_1[i] = weight_0[i];
    weight_0[i] = 0;
  }
}

bool
pp_taps_are_linear (const pp_axis_geometry *axis)
{
  struct line line;

  return make_line (&line, axis);
}

void
pp_taps_fill_linear (pp_taps *taps, const pp_axis_geometry *axis)
{
  float *weight_0 = taps->weight, *weight_1 = weight_0 + axis->n_out;
  struct line line;

  make_line (&line, axis);
  taps->n_out = axis->n_out;
  taps->n_taps = 1;
  if (fill (line, axis->n_out, taps->first, weight_0, weight_1)) {
    taps->n_taps = 2;
    move_inside (taps, weight_0, weight_1);
  }
}
