/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tap tables: the resampling filters, and the denoising kernels that are
 * convolved into them. For each output, a filter adds its weights to a row of
 * all samples; the row is normalised, convolved with the kernel, and written to
 * the table.
 *
 * Positions are integers with a common denominator, so finding the nearest
 * sample or the samples inside a window involves no rounding. A weight is
 * computed in double, from one division.
 */
#include "taps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/table.h"
#include "parts.h"

/* Smaller weights become 0. Lanczos needs it: sin (pi) is not quite 0 in
 * double, so that at whole ratios an output would have five taps instead of
 * one. */
#define MIN_WEIGHT 0x1p-40
#define MAX_KERNEL 7 /* samples of the widest denoising kernel */
#define PI 3.14159265358979323846

/* One axis, measured in positions: a position is 1/unit of a sample, and 0 is
 * where the rectangle's first sample begins. A mirrored axis is measured from
 * its other end, where its last sample ends, and counts samples from there:
 * what is written to its table is what a frame that was mirrored before would
 * have, until mirror_taps. spec.c and geometry.c limit an
 * axis to 2^15 samples and 2^30 outputs, so unit is at most 2^33 and a position
 * at most 2^49. */
struct grid {
  int samples; /* of the rectangle */
  int64_t unit;
  int64_t centre; /* of the first output */
  int64_t half;   /* half of an output's width; outputs have no gaps */
};

/* One output's weights, one for each sample of the rectangle. They are 0
 * outside of [first, end). */
struct row {
  double *weight;
  int samples;
  int first, end;
};

struct filter {
  /* Adds an output's weights to an empty row. Their sum need not be 1. */
  void (*fill) (const struct filter *filter, bool antialias,
      const struct grid *grid, int64_t centre, struct row *row);
  int radius;                         /* of the window, samples */
  double (*weight) (double x);        /* at x samples from the centre */
  double (*smooth_weight) (double x); /* the same with antialias */
};

static void
row_clear (struct row *row)
{
  for (int i = row->first; i < row->end; i++)
    row->weight[i] = 0;
  row->first = row->samples;
  row->end = 0;
}

/* Adds to a sample's weight. For a sample beyond the border, the edge sample
 * gets the weight. Two callers never pass such samples: fill_window with
 * antialias leaves them out, and convolve reflects them. */
static void
row_add (struct row *row, int64_t sample, double weight)
{
  const int last = row->samples - 1;
  const int i = sample < 0 ? 0 : sample > last ? last : (int) sample;

  row->weight[i] += weight;
  if (i < row->first)
    row->first = i;
  if (i >= row->end)
    row->end = i + 1;
}

/* Makes tiny weights 0, drops those at both ends, and makes the sum 1. */
static void
row_normalize (struct row *row)
{
  double sum = 0;

  for (int i = row->first; i < row->end; i++) {
    if (fabs (row->weight[i]) < MIN_WEIGHT)
      row->weight[i] = 0;
    sum += row->weight[i];
  }
  while (row->weight[row->first] == 0)
    row->first++;
  while (row->weight[row->end - 1] == 0)
    row->end--;
  for (int i = row->first; i < row->end; i++)
    row->weight[i] /= sum;
}

static double
triangle (double x)
{
  return fmax (1 - fabs (x), 0);
}

/* Keys, Cubic convolution interpolation for digital image processing, 1981. */
static double
keys (double x, double a)
{
  x = fabs (x);
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2)
    return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/* As OpenCV, and torch without antialias. */
static double
keys_sharp (double x)
{
  return keys (x, -0.75);
}

/* As Pillow, and torch with antialias. */
static double
keys_smooth (double x)
{
  return keys (x, -0.5);
}

static double
sinc (double x)
{
  return x == 0 ? 1 : sin (PI * x) / (PI * x);
}

static double
lanczos (double x)
{
  return fabs (x) < 3 ? sinc (x) * sinc (x / 3) : 0;
}

static int64_t
floor_divide (int64_t a, int64_t b)
{
  return a / b - (a % b < 0);
}

static void
fill_nearest (const struct filter *filter, bool antialias,
    const struct grid *grid, int64_t centre, struct row *row)
{
  (void) filter;
  (void) antialias;
  row_add (row, floor_divide (centre, grid->unit), 1);
}

/* A sample's weight is the part of the output that it covers. Only outputs of
 * cosited chroma can extend beyond the border, mirrored ones at either end. */
static void
fill_area (const struct filter *filter, bool antialias, const struct grid *grid,
    int64_t centre, struct row *row)
{
  const int64_t from = centre - grid->half, to = centre + grid->half;

  (void) filter;
  (void) antialias;
  for (int64_t i = floor_divide (from, grid->unit); i * grid->unit < to; i++) {
    const int64_t left = i * grid->unit, right = left + grid->unit;
    const int64_t covered =
        (right < to ? right : to) - (left > from ? left : from);

    row_add (row, i, (double) covered / (2. * grid->half));
  }
}

/* With antialias the window widens when shrinking, and samples beyond the
 * border are left out, as in Pillow. Without, the window is always the filter's
 * own, and samples beyond the border are the edge sample, as in OpenCV. */
static void
fill_window (const struct filter *filter, bool antialias,
    const struct grid *grid, int64_t centre, struct row *row)
{
  const int64_t unit = grid->unit;
  const int64_t step =
      antialias && 2 * grid->half > unit ? 2 * grid->half : unit;
  const int64_t reach = 2 * filter->radius * step;
  int64_t from = floor_divide (2 * centre - reach + unit, 2 * unit);
  int64_t to = floor_divide (2 * centre + reach + unit, 2 * unit);

  if (antialias) {
    from = from < 0 ? 0 : from;
    to = to > grid->samples ? grid->samples : to;
  }
  for (int64_t i = from; i < to; i++) {
    const double x = (double) ((2 * i + 1) * unit - 2 * centre) / (2. * step);

    row_add (
        row, i, antialias ? filter->smooth_weight (x) : filter->weight (x));
  }
}

static const struct filter filters[] = {
  [PP_METHOD_NEAREST] = { fill_nearest, 0, NULL, NULL },
  [PP_METHOD_BILINEAR] = { fill_window, 1, triangle, triangle },
  [PP_METHOD_BICUBIC] = { fill_window, 2, keys_sharp, keys_smooth },
  [PP_METHOD_LANCZOS] = { fill_window, 3, lanczos, lanczos },
  [PP_METHOD_AREA] = { fill_area, 1, NULL, NULL },
};
PP_CHECK_TABLE (filters, PP_N_METHODS);

/* The kernels of OpenCV's GaussianBlur for sigma 0, by size. */
static const double fixed_kernels[][MAX_KERNEL] = {
  [1] = { 1 },
  [3] = { 1, 2, 1 },
  [5] = { 1, 4, 6, 4, 1 },
  [7] = { 2, 7, 14, 18, 14, 7, 2 },
};

static double
gaussian (double x)
{
  return exp (-x * x / 2);
}

/* Fills the denoising kernel and returns its size: 1 where there is none. */
static int
make_kernel (const pp_spec *spec, double kernel[MAX_KERNEL])
{
  const int size = pp_denoise_kernel_size (spec);
  const double sigma = spec->denoise_sigma;
  const bool fixed = size == 1 || sigma == 0;
  double sum = 0;

  for (int i = 0; i < size; i++) {
    kernel[i] =
        fixed ? fixed_kernels[size][i] : gaussian ((i - size / 2) / sigma);
    sum += kernel[i];
  }
  for (int i = 0; i < size; i++)
    kernel[i] /= sum;
  return size;
}

/* Reflects at the borders of the source rectangle, as often as it takes:
 * ... 2 1 | 0 1 2 ... n-1 | n-2 ... (OpenCV's BORDER_REFLECT_101). */
static int
reflect (int sample, int samples)
{
  if (samples == 1)
    return 0;

  const int period = 2 * (samples - 1);
  const int i = abs (sample) % period;

  return i < samples ? i : period - i;
}

/* The weights of the samples before denoising, from those of the denoised
 * samples. to is empty. */
static void
convolve (
    const struct row *from, const double *kernel, int size, struct row *to)
{
  for (int i = from->first; i < from->end; i++)
    for (int k = 0; k < size; k++)
      row_add (to, reflect (i + k - size / 2, from->samples),
          from->weight[i] * kernel[k]);
}

int
pp_axis_samples (const pp_axis_geometry *axis)
{
  const int last = axis->start + axis->length - 1;

  return (last >> axis->sub) - (axis->start >> axis->sub) + 1;
}

static struct grid
make_grid (const pp_axis_geometry *axis)
{
  const int64_t pixel = 2 * (int64_t) axis->resized; /* in positions */
  const int pixels = 1 << axis->sub;                 /* of a sample */
  const int end = axis->start + axis->length;
  /* phase: pixels of the first sample that lie before the rectangle; mirrored,
   * of the last one that lie behind it.
   * left: cosited samples are (2^sub - 1) / 2 pixels farther to the left than
   * centred ones; mirrored, to the right. Filters take all samples for centred,
   * so the outputs are moved the other way by as much. */
  const int phase = (axis->mirrored ? -end : axis->start) & (pixels - 1);
  const int64_t left = axis->cosited ? (pixels - 1) * (pixel / 2) : 0;

  return (struct grid){
    .samples = pp_axis_samples (axis),
    .unit = pixel * pixels,
    .centre = (2 * (int64_t) axis->first_out + 1) * axis->length +
        phase * pixel + (axis->mirrored ? -left : left),
    .half = axis->length,
  };
}

/* No output has more taps than this, with the denoising kernel included. */
static int
count_bound (
    const struct filter *filter, const struct grid *grid, int kernel_size)
{
  const int64_t step =
      2 * grid->half > grid->unit ? 2 * grid->half : grid->unit;
  const int64_t bound =
      2 * filter->radius * step / grid->unit + 2 + kernel_size - 1;

  return bound < grid->samples ? (int) bound : grid->samples;
}

/* Writes the taps of output i. Raises n_taps to their number if it is less. */
static void
put_row (pp_taps *taps, int i, const struct row *row)
{
  const int count = row->end - row->first;

  taps->first[i] = row->first;
  for (int j = 0; j < count; j++)
    taps->weight[(size_t) j * taps->n_out + i] =
        (float) row->weight[row->first + j];
  if (count > taps->n_taps)
    taps->n_taps = count;
}

/* Every output has n_taps taps; those after its own have weight 0. None may
 * read a sample at or after end, which would be uploaded for nothing, or not
 * exist. Where one would, the output begins with taps of weight 0 instead. */
static void
move_inside (pp_taps *taps, int end)
{
  for (int i = 0; i < taps->n_out; i++) {
    const int excess = taps->first[i] + taps->n_taps - end;

    if (excess <= 0)
      continue;
    taps->first[i] -= excess;
    for (int j = taps->n_taps - 1; j >= 0; j--)
      taps->weight[(size_t) j * taps->n_out + i] = j < excess
          ? 0
          : taps->weight[(size_t) (j - excess) * taps->n_out + i];
  }
}

/* Counts samples from the rectangle's first one again. */
static void
mirror_taps (pp_taps *taps, int samples)
{
  for (int i = 0; i < taps->n_out; i++) {
    float *weight = taps->weight + i;

    taps->first[i] = samples - taps->first[i] - taps->n_taps;
    for (int a = 0, b = taps->n_taps - 1; a < b; a++, b--) {
      const float swapped = weight[(size_t) a * taps->n_out];

      weight[(size_t) a * taps->n_out] = weight[(size_t) b * taps->n_out];
      weight[(size_t) b * taps->n_out] = swapped;
    }
  }
}

int
pp_taps_bound (const pp_spec *spec, const pp_axis_geometry *axis)
{
  const struct grid grid = make_grid (axis);

  return count_bound (
      &filters[spec->method], &grid, pp_denoise_kernel_size (spec));
}

size_t
pp_taps_scratch (const pp_axis_geometry *axis)
{
  return 2 * (size_t) pp_axis_samples (axis);
}

void
pp_taps_fill (pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis,
    double *scratch)
{
  const struct filter *filter = &filters[spec->method];
  const struct grid grid = make_grid (axis);
  double kernel[MAX_KERNEL];
  const int kernel_size = make_kernel (spec, kernel);
  const size_t bound = (size_t) count_bound (filter, &grid, kernel_size);
  struct row plain = { scratch, grid.samples, 0, 0 };
  struct row denoised = { scratch + grid.samples, grid.samples, 0, 0 };
  int end = 0; /* of the samples that have a weight in any output */

  taps->n_out = axis->n_out;
  taps->n_taps = 0;
  memset (taps->weight, 0, bound * (size_t) axis->n_out * sizeof (float));
  for (int i = 0; i < axis->n_out; i++) {
    row_clear (&plain);
    filter->fill (filter, spec->antialias, &grid,
        grid.centre + 2 * grid.half * i, &plain);
    row_normalize (&plain);
    if (kernel_size > 1) {
      row_clear (&denoised);
      convolve (&plain, kernel, kernel_size, &denoised);
      row_normalize (&denoised);
    }

    const struct row *row = kernel_size > 1 ? &denoised : &plain;

    put_row (taps, i, row);
    end = row->end > end ? row->end : end;
  }
  move_inside (taps, end);
  if (axis->mirrored)
    mirror_taps (taps, grid.samples);
  row_clear (&plain);
  row_clear (&denoised);
}

bool
pp_taps_init (pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis)
{
  const size_t bound = (size_t) pp_taps_bound (spec, axis);
  double *scratch = calloc (pp_taps_scratch (axis), sizeof *scratch);

  *taps = (pp_taps){ .n_out = axis->n_out };
  taps->first = malloc ((size_t) axis->n_out * sizeof *taps->first);
  taps->weight = malloc (bound * (size_t) axis->n_out * sizeof *taps->weight);
  const bool good =
      scratch != NULL && taps->first != NULL && taps->weight != NULL;
  if (good)
    pp_taps_fill (taps, spec, axis, scratch);
  else
    pp_taps_clear (taps);
  free (scratch);
  return good;
}

void
pp_taps_clear (pp_taps *taps)
{
  free (taps->first);
  free (taps->weight);
  *taps = (pp_taps){ 0 };
}
