/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tap tables: what must hold of every filter, at every size.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/plan/taps.h"

#include "tests/common/expect.h"

#define LENGTH(array) ((int) (sizeof (array) / sizeof *(array)))

static const char *const method_names[] = { "nearest", "bilinear", "bicubic",
  "lanczos", "area" };
_Static_assert(LENGTH (method_names) == PP_N_METHODS, "a name is missing");

/* A table and what it was made from. */
struct table {
  pp_spec spec;
  pp_axis_geometry axis;
  pp_taps taps;
  int samples;
  char name[120];
};

static void
table_init (struct table *t, const pp_spec *spec, const pp_axis_geometry *axis)
{
  t->spec = *spec;
  t->axis = *axis;
  t->samples = pp_axis_samples (axis);
  snprintf (t->name, sizeof t->name,
      "%s antialias %d gaussian %d, %d+%d to %d, outputs %d+%d, sub %d "
      "cosited %d",
      method_names[spec->method], spec->antialias,
      spec->denoise ? spec->denoise_size : 0, axis->start, axis->length,
      axis->resized, axis->first_out, axis->n_out, axis->sub, axis->cosited);
  if (!pp_taps_init (&t->taps, spec, axis)) {
    printf ("%s: no memory\n", t->name);
    exit (1);
  }
}

static double
weight (const struct table *t, int tap, int out)
{
  return t->taps.weight[(size_t) tap * t->taps.n_out + out];
}

/* The weight of a sample of the rectangle. */
static double
sample_weight (const struct table *t, int sample, int out)
{
  const int tap = sample - t->taps.first[out];

  return tap >= 0 && tap < t->taps.n_taps ? weight (t, tap, out) : 0;
}

/* Where output i's centre is, in samples from the rectangle's first. */
static double
centre (const struct table *t, int i)
{
  const pp_axis_geometry *a = &t->axis;
  const double pixels = 1 << a->sub;
  const double frame =
      a->start + (a->first_out + i + 0.5) * a->length / a->resized;

  return frame / pixels + (a->cosited ? (1 - 1 / pixels) / 2 : 0) -
      (a->start >> a->sub);
}

static void
expect_sound (const struct table *t)
{
  const pp_taps *taps = &t->taps;
  int worst_place = 0;
  double worst_sum = 0;

  for (int i = 0; i < taps->n_out; i++) {
    double sum = 0;

    for (int j = 0; j < taps->n_taps; j++)
      sum += weight (t, j, i);
    worst_sum = worse_of (worst_sum, fabs (sum - 1));
    if (taps->first[i] < 0 || taps->first[i] + taps->n_taps > t->samples)
      worst_place = i + 1;
  }
  EXPECT (taps->n_taps >= 1 && taps->n_taps <= t->samples, "%s: %d taps of %d",
      t->name, taps->n_taps, t->samples);
  EXPECT (worst_place == 0, "%s: output %d reads outside", t->name,
      worst_place - 1);
  /* Each weight is off by at most half a step of a float below 2. */
  EXPECT (worst_sum <= taps->n_taps * 0x1p-24, "%s: sum is off by %g", t->name,
      worst_sum);
}

/* A picture mirrored gives the result mirrored. */
static void
expect_mirrored (const struct table *t)
{
  const int n = t->taps.n_out;
  double worst = 0;

  for (int i = 0; i < n; i++)
    for (int j = 0; j < t->taps.n_taps; j++) {
      const int sample = t->taps.first[i] + j;
      const double there =
          sample_weight (t, t->samples - 1 - sample, n - 1 - i);

      worst = worse_of (worst, fabs (weight (t, j, i) - there));
    }
  EXPECT (
      worst <= 0x1p-24, "%s: mirrored weights differ by %g", t->name, worst);
}

/* A ramp stays a ramp, where the filter does not touch the border. */
static void
expect_ramp (const struct table *t, int margin)
{
  double worst = 0;

  for (int i = 0; i < t->taps.n_out; i++) {
    const double c = centre (t, i);
    double moment = 0;

    if (c < margin || c > t->samples - margin)
      continue;
    for (int j = 0; j < t->taps.n_taps; j++)
      moment += weight (t, j, i) * (t->taps.first[i] + j + 0.5);
    worst = worse_of (worst, fabs (moment - c));
  }
  EXPECT (worst <= t->samples * 0x1p-22, "%s: the ramp is off by %g", t->name,
      worst);
}

static void
check_axis (const pp_spec *spec, const pp_axis_geometry *axis)
{
  const bool enlarges = axis->resized >= axis->length;
  const bool whole = axis->first_out == 0 && axis->n_out == axis->resized &&
      axis->start == 0 && axis->length % (1 << axis->sub) == 0;
  struct table t;

  table_init (&t, spec, axis);
  expect_sound (&t);
  /* Ties of nearest go one way; cosited chroma is not in the middle. */
  if (whole && spec->method != PP_METHOD_NEAREST && !axis->cosited)
    expect_mirrored (&t);
  if (spec->method == PP_METHOD_BILINEAR && (!spec->antialias || enlarges))
    expect_ramp (&t, 1 + spec->denoise_size);
  /* Keys' cubic keeps a ramp for a = -1/2 only. */
  if (spec->method == PP_METHOD_BICUBIC && spec->antialias && enlarges)
    expect_ramp (&t, 2 + spec->denoise_size);
  pp_taps_clear (&t.taps);
}

static void
check_methods (const pp_axis_geometry *axis)
{
  pp_spec spec = { .denoise_size = 3 };

  for (int m = 0; m < PP_N_METHODS; m++)
    for (int antialias = 0; antialias < 2; antialias++)
      for (int size = 1; size <= 7; size += 2) {
        spec.method = (pp_method) m;
        spec.antialias = antialias;
        spec.denoise = size > 1 ? PP_DENOISE_GAUSSIAN : PP_DENOISE_NONE;
        spec.denoise_size = size;
        spec.denoise_sigma = antialias && size > 3 ? 1.3 : 0;
        check_axis (&spec, axis);
      }
}

static void
test_properties (void)
{
  static const int sizes[][2] = { { 1, 1 }, { 1, 7 }, { 7, 1 }, { 2, 3 },
    { 3, 2 }, { 4, 8 }, { 8, 4 }, { 61, 24 }, { 64, 64 }, { 10, 941 },
    { 941, 10 }, { 480, 160 }, { 639, 640 }, { 1080, 360 }, { 3840, 32 } };

  for (int i = 0; i < LENGTH (sizes); i++)
    for (int start = 0; start < 4; start++)
      for (int sub = 0; sub <= 2; sub++)
        for (int cosited = 0; cosited <= (sub > 0); cosited++) {
          const int resized = sizes[i][1];
          const pp_axis_geometry axis = { start, sizes[i][0], resized, 0,
            resized, sub, cosited };

          check_methods (&axis);
        }
}

static void
test_largest (void)
{
  static const pp_axis_geometry axes[] = {
    { 0, 32768, 32768, 0, 32768, 0, false },
    { 0, 32768, 1, 0, 1, 0, false },
    { 0, 1, 32768, 0, 32768, 0, false },
    { 1, 32767, 32767, 0, 32767, 2, true },
    { 0, 32768, 1 << 30, 0, 500, 2, true },
    { 0, 32768, 1 << 30, (1 << 30) - 500, 500, 2, true },
    { 32767, 1, 1 << 30, (1 << 30) - 9, 9, 1, true },
  };

  for (int i = 0; i < LENGTH (axes); i++)
    check_methods (&axes[i]);
}

static void
expect_row (const struct table *t, int out, int n, const double *weights)
{
  for (int i = 0; i < n; i++)
    EXPECT (fabs (sample_weight (t, i, out) - weights[i]) < 1e-7,
        "%s: output %d weighs sample %d %g, not %g", t->name, out, i,
        sample_weight (t, i, out), weights[i]);
}

static void
test_known_weights (void)
{
  static const pp_axis_geometry up = { 0, 4, 8, 0, 8, 0, false };
  static const pp_axis_geometry down = { 0, 5, 2, 0, 2, 0, false };
  static const pp_axis_geometry same = { 0, 5, 5, 0, 5, 0, false };
  static const pp_axis_geometry pair = { 0, 2, 2, 0, 2, 0, false };
  const struct {
    pp_method method;
    pp_axis_geometry axis;
    int gaussian, out;
    double weights[5];
  } rows[] = {
    { PP_METHOD_BILINEAR, up, 0, 0, { 1, 0, 0, 0 } },
    { PP_METHOD_BILINEAR, up, 0, 1, { .75, .25, 0, 0 } },
    { PP_METHOD_BILINEAR, up, 0, 7, { 0, 0, 0, 1 } },
    { PP_METHOD_AREA, down, 0, 0, { .4, .4, .2, 0, 0 } },
    { PP_METHOD_AREA, down, 0, 1, { 0, 0, .2, .4, .4 } },
    { PP_METHOD_NEAREST, same, 3, 0, { .5, .5, 0, 0, 0 } },
    { PP_METHOD_NEAREST, same, 3, 2, { 0, .25, .5, .25, 0 } },
    { PP_METHOD_NEAREST, same, 5, 1, { .25, .4375, .25, .0625, 0 } },
    /* shorter than the kernel: 1 0 1 | 0 1 | 0 1 0 */
    { PP_METHOD_NEAREST, pair, 7, 0, { 32 / 64., 32 / 64. } },
    { PP_METHOD_NEAREST, pair, 5, 0, { 8 / 16., 8 / 16. } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_spec spec = { .method = rows[i].method,
      .denoise = rows[i].gaussian ? PP_DENOISE_GAUSSIAN : PP_DENOISE_NONE,
      .denoise_size = rows[i].gaussian };
    struct table t;

    table_init (&t, &spec, &rows[i].axis);
    expect_row (&t, rows[i].out, rows[i].axis.length, rows[i].weights);
    pp_taps_clear (&t.taps);
  }
}

/* Whole ratios need one tap where a centre meets a sample. */
static void
test_counts (void)
{
  static const struct {
    pp_method method;
    bool antialias;
    int length, resized, taps;
  } rows[] = {
    { PP_METHOD_NEAREST, false, 941, 10, 1 },
    { PP_METHOD_BILINEAR, false, 1080, 360, 1 },
    { PP_METHOD_BILINEAR, false, 1080, 540, 2 },
    { PP_METHOD_BILINEAR, false, 64, 64, 1 },
    { PP_METHOD_BICUBIC, false, 1080, 360, 1 },
    { PP_METHOD_LANCZOS, false, 1080, 360, 1 },
    { PP_METHOD_LANCZOS, true, 64, 64, 1 },
    { PP_METHOD_LANCZOS, false, 64, 128, 6 },
    { PP_METHOD_AREA, false, 1080, 360, 3 },
    { PP_METHOD_AREA, false, 5, 2, 3 },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_spec spec = { .method = rows[i].method,
      .antialias = rows[i].antialias };
    const pp_axis_geometry axis = { 0, rows[i].length, rows[i].resized, 0,
      rows[i].resized, 0, false };
    struct table t;

    table_init (&t, &spec, &axis);
    EXPECT (t.taps.n_taps == rows[i].taps, "%s: %d taps, not %d", t.name,
        t.taps.n_taps, rows[i].taps);
    pp_taps_clear (&t.taps);
  }
}

/* A centre between two samples takes the right one. */
static void
test_nearest (void)
{
  const pp_spec spec = { .method = PP_METHOD_NEAREST };

  for (int length = 1; length < 40; length++)
    for (int resized = 1; resized < 40; resized++) {
      const pp_axis_geometry axis = { 0, length, resized, 0, resized, 0,
        false };
      struct table t;
      int wrong = 0;

      table_init (&t, &spec, &axis);
      for (int i = 0; i < resized; i++)
        wrong += t.taps.first[i] != (2 * i + 1) * length / (2 * resized);
      EXPECT (wrong == 0, "%s: %d samples", t.name, wrong);
      pp_taps_clear (&t.taps);
    }
}

/* Outputs that are cropped away do not change the others. */
static void
test_slice (void)
{
  for (int m = 0; m < PP_N_METHODS; m++) {
    const pp_spec spec = { .method = (pp_method) m, .antialias = true };
    const pp_axis_geometry all = { 3, 97, 40, 0, 40, 1, true };
    const pp_axis_geometry some = { 3, 97, 40, 11, 20, 1, true };
    struct table a, b;
    double worst = 0;

    table_init (&a, &spec, &all);
    table_init (&b, &spec, &some);
    for (int i = 0; i < some.n_out; i++)
      for (int s = 0; s < a.samples; s++)
        worst = worse_of (worst,
            fabs (sample_weight (&a, s, i + some.first_out) -
                sample_weight (&b, s, i)));
    EXPECT (worst == 0, "%s: differs by %g", b.name, worst);
    pp_taps_clear (&a.taps);
    pp_taps_clear (&b.taps);
  }
}

/* Whether the fast way gives the same bits; false where it cannot be used. */
static bool
check_linear (const pp_spec *spec, const pp_axis_geometry *axis)
{
  const int bound = pp_taps_linear_bound (spec, axis);
  const size_t n = (size_t) axis->n_out;
  struct table t;
  pp_taps fast;

  if (bound == 0)
    return false;
  fast.first = malloc (n * sizeof *fast.first);
  fast.weight = malloc (n * (size_t) bound * sizeof *fast.weight);
  pp_taps_fill_linear (&fast, spec, axis);
  table_init (&t, spec, axis);
  EXPECT (fast.n_out == t.taps.n_out && fast.n_taps == t.taps.n_taps &&
          memcmp (fast.first, t.taps.first, n * sizeof *fast.first) == 0 &&
          memcmp (fast.weight, t.taps.weight,
              n * (size_t) fast.n_taps * sizeof *fast.weight) == 0,
      "%s: other taps", t.name);
  pp_taps_clear (&t.taps);
  free (fast.first);
  free (fast.weight);
  return true;
}

static void
test_linear (void)
{
  int made = 0;

  for (int length = 1; length < 4000; length += 1 + length / 24)
    for (int resized = 1; resized < 1300; resized += 1 + resized / 24)
      for (int antialias = 0; antialias < 2; antialias++)
        for (int chroma = 0; chroma < 4; chroma++) {
          const pp_spec spec = { .method = PP_METHOD_BILINEAR,
            .antialias = antialias };
          const int part = (length + chroma) % 3 == 0 ? resized / 3 : 0;
          const pp_axis_geometry axis = { length % 8, length, resized, part,
            resized - part, chroma > 1 ? 2 : chroma, chroma % 2 == 1 };

          made += check_linear (&spec, &axis);
        }
  EXPECT (made > 50000, "%d tables", made);
}

/* What it cannot be used for. */
static void
test_not_linear (void)
{
  const pp_spec bicubic = { .method = PP_METHOD_BICUBIC };
  const pp_spec blurred = { .method = PP_METHOD_BILINEAR,
    .denoise = PP_DENOISE_GAUSSIAN,
    .denoise_size = 3 };
  const pp_spec plain = { .method = PP_METHOD_BILINEAR };
  const pp_axis_geometry axis = { 0, 100, 40, 0, 40, 0, false, false };
  const pp_axis_geometry mirrored = { 0, 100, 40, 0, 40, 0, false, true };
  const pp_axis_geometry large = { 0, 30000, 30000, 0, 30000, 0, false, false };

  EXPECT (pp_taps_linear_bound (&plain, &axis) >= 2, "bilinear");
  EXPECT (pp_taps_linear_bound (&bicubic, &axis) == 0, "bicubic");
  EXPECT (pp_taps_linear_bound (&blurred, &axis) == 0, "blurred");
  EXPECT (pp_taps_linear_bound (&plain, &mirrored) == 0, "mirrored");
  EXPECT (pp_taps_linear_bound (&plain, &large) == 0, "large numbers");
}

int
main (void)
{
  test_properties ();
  test_largest ();
  test_known_weights ();
  test_counts ();
  test_nearest ();
  test_slice ();
  test_linear ();
  test_not_linear ();
  return expect_end ();
}
