/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tap tables of any axis that a plan can have: every tap is inside, weights are
 * numbers and sum to one, a part of the outputs has the same taps, and so has the
 * table that is made the fast way.
 */
#include "kernels/plan/taps.h"

#include "input.h"

/* Most samples and outputs here; larger ones take long and are test-taps'. */
#define MOST 1024

static int
take_size (input *in)
{
  const int size = 1 + (int) (take_word (in) & 0xffff);

  return size <= MOST ? size : 1 + size % 64;
}

static pp_axis_geometry
take_axis (input *in)
{
  const int start = take_size (in) - 1;
  const int length = take_size (in);
  /* what plan.c lets through */
  const int largest = take_bool (in) ? 1 << 30 : MOST;
  const int resized = 1 + (int) (take_word (in) % (unsigned) largest);
  const int first_out = (int) (take_word (in) % (unsigned) resized);
  const int left = resized - first_out, wanted = take_size (in);
  const int sub = take_index (in, 3);
  const bool cosited = take_bool (in), mirrored = take_bool (in);

  return (pp_axis_geometry){ start, length, resized, first_out,
    wanted < left ? wanted : left, sub, cosited, mirrored };
}

static pp_spec
take_spec (input *in)
{
  pp_spec spec;

  pp_spec_init (&spec);
  spec.method = (pp_method) take_index (in, PP_N_METHODS);
  spec.antialias = take_bool (in);
  spec.denoise = take_bool (in) ? PP_DENOISE_GAUSSIAN : PP_DENOISE_NONE;
  spec.denoise_size = 3 + 2 * take_index (in, 3);
  const double sigma = take_real (in);
  spec.denoise_sigma = sigma >= 0 && sigma <= DBL_MAX ? sigma : 0;
  return spec;
}

static void
check_taps (const pp_taps *taps, int samples)
{
  MUST (taps->n_taps >= 1 && taps->n_taps <= samples, "%d taps of %d samples",
      taps->n_taps, samples);
  for (int i = 0; i < taps->n_out; i++) {
    double sum = 0, magnitude = 0;

    MUST (taps->first[i] >= 0 && taps->first[i] + taps->n_taps <= samples,
        "output %d: taps from %d, %d of %d samples", i, taps->first[i],
        taps->n_taps, samples);
    for (int j = 0; j < taps->n_taps; j++) {
      const double weight = taps->weight[(size_t) j * taps->n_out + i];

      sum += weight;
      magnitude += fabs (weight);
    }
    MUST (fabs (sum - 1) < 1e-5 && magnitude < 8,
        "output %d: weights sum to %g, their magnitudes to %g", i, sum,
        magnitude);
  }
}

/* The weight of a sample, which may be none of the taps. */
static float
weight_of (const pp_taps *taps, int i, int sample)
{
  const int j = sample - taps->first[i];

  return j < 0 || j >= taps->n_taps
      ? 0
      : taps->weight[(size_t) j * taps->n_out + i];
}

static void
check_part (const pp_taps *taps, const pp_spec *spec, pp_axis_geometry axis,
    int from, int samples)
{
  pp_taps part;

  axis.first_out += from;
  axis.n_out -= from;
  MUST (pp_taps_init (&part, spec, &axis), "no memory");
  check_taps (&part, samples);
  for (int i = 0; i < axis.n_out; i++)
    for (int j = 0; j < part.n_taps; j++) {
      const int sample = part.first[i] + j;

      MUST (weight_of (&part, i, sample) == weight_of (taps, from + i, sample),
          "output %d of %d on: sample %d weighs otherwise", i, from, sample);
    }
  pp_taps_clear (&part);
}

static void
check_linear (
    const pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis)
{
  const size_t n = (size_t) taps->n_out;
  const size_t bound = (size_t) pp_taps_linear_bound (spec, axis);
  pp_taps fast;

  if (bound == 0)
    return;
  fast.first = malloc (n * sizeof *fast.first);
  fast.weight = malloc (n * bound * sizeof *fast.weight);
  MUST (fast.first != NULL && fast.weight != NULL, "no memory");
  pp_taps_fill_linear (&fast, spec, axis);
  MUST (fast.n_taps == taps->n_taps &&
          memcmp (fast.first, taps->first, n * sizeof *fast.first) == 0 &&
          memcmp (fast.weight, taps->weight,
              n * (size_t) taps->n_taps * sizeof *fast.weight) == 0,
      "other taps");
  pp_taps_clear (&fast);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  const pp_spec spec = take_spec (&in);
  const pp_axis_geometry axis = take_axis (&in);
  const int samples = pp_axis_samples (&axis);
  const int from = (int) (take_word (&in) % (unsigned) axis.n_out);
  pp_taps taps;

  MUST (samples >= 1 && samples <= axis.length + 1, "%d samples of %d pixels",
      samples, axis.length);
  MUST (pp_taps_init (&taps, &spec, &axis), "no memory");
  check_taps (&taps, samples);
  check_linear (&taps, &spec, &axis);
  if (from > 0)
    check_part (&taps, &spec, axis, from, samples);
  pp_taps_clear (&taps);
  return 0;
}
