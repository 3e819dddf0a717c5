/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tap tables of bilinear interpolation without denoising, several times as
 * fast as taps.c makes them, and with the same bits: plans for regions need them
 * within a frame.
 *
 * A weight is a fraction of two whole numbers, n / s. Here it is one division of
 * floats, so the float that is nearest to the fraction. taps.c computes it in
 * double and rounds that to float. The results can differ only if the fraction is
 * nearer to the middle between two floats than the double is to the fraction.
 *
 * Narrow windows, of two taps: n and s are below 2^13, and the double's error is
 * less than 2^-52. Such a fraction is either in the middle between two floats, and
 * then exact in double, or at least 2^-51 away from it.
 *
 * Wide windows, of an antialiased filter that shrinks: n is how far the sample is
 * inside the window, at most reach, and s is the sum of the output's n. In double
 * it is n / reach, with an error of at most 2^-53, over the sum of t of these,
 * which is at least 1/8 and has a relative error of at most 9 t 2^-53. So the
 * relative error of n / s is at most 2^-53 (reach / n + 9 t + 1). A fraction with
 * an n below 2^24 is in no middle, and its distance to one is at least 2^-26 / s
 * of it. is_exact wants twice as much room.
 */
#include "taps.h"

#include "kernels/cpu/clones_cpu.h"
#include "parts.h"

/* The largest denominator of a narrow window. */
#define MAX_UNIT ((int64_t) 1 << 13)
/* Whole numbers below this are exact as floats. */
#define MAX_EXACT ((int64_t) 1 << 24)
/* See above. */
#define MAX_WIDE ((int64_t) 1 << 26)

/* What the loops need, in positions, of which unit are a sample. */
struct line {
  int start; /* of the first output's window */
  int step;  /* from output to output */
  int unit;
  int last;  /* sample of the rectangle */
  int reach; /* of a wide window to both sides; 0 where it is narrow */
  int taps;  /* most of an output */
};

static bool
is_exact (int64_t reach, int64_t unit, int64_t taps)
{
  const int64_t sum = reach * reach / unit + reach;

  return unit <= MAX_EXACT && sum * (reach + 9 * taps + 1) < MAX_WIDE;
}

/* False for what is mirrored or denoised, and where a number would be too large:
 * what line then has is of no use. */
static bool
make_line (struct line *line, const pp_spec *spec, const pp_axis_geometry *axis)
{
  const int64_t pixel = 2 * (int64_t) axis->resized;
  const int pixels = 1 << axis->sub;
  const int64_t sample = pixel * pixels, length = axis->length;
  /* As in taps.c: make_grid. */
  const int64_t phase = (axis->start & (pixels - 1)) * pixel;
  const int64_t shift = axis->cosited ? (pixels - 1) * (pixel / 2) : 0;
  const int64_t centre =
      (2 * (int64_t) axis->first_out + 1) * length + phase + shift;
  const bool wide = spec->antialias && 2 * length > sample;
  /* Narrow windows need positions twice as fine. */
  const int fine = wide ? 1 : 2;
  const int64_t unit = fine * sample, step = fine * 2 * length;
  const int64_t reach = wide ? step : 0;
  const int64_t taps = wide ? (2 * reach - 1) / unit + 1 : 2;
  const int64_t start = fine * centre + unit / 2 - reach;

  *line = (struct line){ (int) start, (int) step, (int) unit,
    pp_axis_samples (axis) - 1, (int) reach, (int) taps };
  if (spec->method != PP_METHOD_BILINEAR ||
      pp_denoise_kernel_size (spec) != 1 || axis->mirrored ||
      start + reach < 0 || start + step * axis->n_out + 2 * reach >= MAX_EXACT)
    return false;
  return wide ? is_exact (reach, unit, taps) : unit <= MAX_UNIT;
}

/* at / unit, rounded down; at is not negative. */
PP_INLINE int
divide (int at, float unit, float inverse)
{
  const int quotient = (int) ((float) at * inverse);
  const float rest = (float) at - (float) quotient * unit; /* exact */

  /* The quotient may be one off. */
  return quotient + (rest >= unit) - (rest < 0);
}

/* Output i is between samples f and f + 1 where f + 1 = (start + i * step) / unit,
 * rounded down, and the remainder says how far from f. Whether an output has two
 * taps. weight: of the first taps, then of the second ones. */
PP_CLONES static bool
fill_narrow (const struct line line, int n, int32_t *restrict first,
    float *restrict weight_0, float *restrict weight_1)
{
  const float unit = (float) line.unit, inverse = 1 / unit;
  const int last = line.last;
  int two = 0;

  for (int i = 0; i < n; i++) {
    const int at = line.start + line.step * i;
    const int behind = divide (at, unit, inverse);
    const float rest = (float) (at - behind * line.unit);
    const int sample = behind - 1;

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

/* The first sample behind the window's beginning, and the sums of the taps. */
PP_CLONES static void
find_first (
    const struct line line, int n, int32_t *restrict first, float *restrict sum)
{
  const float unit = (float) line.unit, inverse = 1 / unit;

  for (int i = 0; i < n; i++) {
    const int at = line.start + line.step * i;

    first[i] = at < 0 ? 0 : divide (at, unit, inverse);
    sum[i] = 0;
  }
}

/* The numerators of one tap of each output; whether any is not 0. */
PP_CLONES static bool
fill_tap (const struct line line, int tap, int n, const int32_t *restrict first,
    float *restrict weight, float *restrict sum)
{
  /* The window's middle is that far behind its beginning, which is half a sample
   * before the sample's middle. */
  const int middle = line.start + line.reach - line.unit;
  int any = 0;

  for (int i = 0; i < n; i++) {
    const int sample = first[i] + tap;
    const int distance = sample * line.unit - (middle + line.step * i);
    const int inside = line.reach - (distance < 0 ? -distance : distance);
    const int n_i = inside > 0 && sample <= line.last ? inside : 0;

    weight[i] = (float) n_i;
    sum[i] += (float) n_i;
    any |= n_i;
  }
  return any != 0;
}

PP_CLONES static void
divide_all (int n, float *restrict weight, const float *restrict sum)
{
  for (int i = 0; i < n; i++)
    weight[i] /= sum[i];
}

static void
fill_wide (pp_taps *taps, const struct line *line)
{
  const int n = taps->n_out;
  float *sum = taps->weight + (size_t) line->taps * (size_t) n;

  find_first (*line, n, taps->first, sum);
  taps->n_taps = 0;
  for (int j = 0; j < line->taps; j++)
    if (fill_tap (*line, j, n, taps->first, taps->weight + (size_t) j * n, sum))
      taps->n_taps = j + 1;
  for (int j = 0; j < taps->n_taps; j++)
    divide_all (n, taps->weight + (size_t) j * n, sum);
}

static int
count_weighted (const pp_taps *taps, int output)
{
  int count = taps->n_taps;

  while (taps->weight[(size_t) (count - 1) * taps->n_out + output] == 0)
    count--;
  return count;
}

/* As in taps.c: where an output would have taps behind all samples that have a
 * weight, it begins with taps of weight 0 instead. Outputs ascend. */
static void
move_inside (pp_taps *taps)
{
  const int n = taps->n_out, n_taps = taps->n_taps;
  const int end = taps->first[n - 1] + count_weighted (taps, n - 1);

  for (int i = n - 1; i >= 0 && taps->first[i] + n_taps > end; i--) {
    const int excess = taps->first[i] + n_taps - end;

    taps->first[i] -= excess;
    for (int j = n_taps - 1; j >= 0; j--)
      taps->weight[(size_t) j * n + i] =
          j < excess ? 0 : taps->weight[(size_t) (j - excess) * n + i];
  }
}

int
pp_taps_linear_bound (const pp_spec *spec, const pp_axis_geometry *axis)
{
  struct line line;

  /* With the sums of wide windows. */
  return make_line (&line, spec, axis) ? line.taps + 1 : 0;
}

void
pp_taps_fill_linear (
    pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis)
{
  const int n = axis->n_out;
  struct line line;

  make_line (&line, spec, axis);
  taps->n_out = n;
  if (line.reach > 0)
    fill_wide (taps, &line);
  else
    taps->n_taps =
        fill_narrow (line, n, taps->first, taps->weight, taps->weight + n) ? 2
                                                                           : 1;
  if (taps->n_taps > 1)
    move_inside (taps);
}
