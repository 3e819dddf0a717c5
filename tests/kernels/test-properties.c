/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What must hold of any picture: properties of the operation on random specs,
 * formats and frames. Argument: a seed; the time by default.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/common/expect.h"
#include "picture.h"

/* Every pixel is what nearest makes of it. */
static void
test_constant (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);
    pp_spec nearest = check.spec;

    for (int c = 0; c < check.format.n_components; c++) {
      const int value = get (&frame, c, 0, 0);

      for (int y = 0; y < rows_of (&check.format, c); y++)
        for (int x = 0; x < columns_of (&check.format, c); x++)
          put (&frame, c, x, y, value);
    }
    nearest.method = PP_METHOD_NEAREST;
    nearest.denoise = PP_DENOISE_NONE;

    struct result is = convert (&check.spec, &frame, NULL);
    struct result should = convert (&nearest, &frame, NULL);
    const double off = difference (&is, &should, false, false);

    HOLDS (off <= TOLERANCE, &check, "a constant is off by %g", off);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
  }
}

/* Whether flipping can make no difference: chroma as far from either edge, and
 * neither a half pixel to crop nor a tie of nearest. */
static bool
is_symmetric (check_case *check)
{
  pp_format *format = &check->format;
  const pp_component *chroma = &format->component[format->n_components - 1];
  const bool subsampled = chroma->sub_x > 0 || chroma->sub_y > 0;

  format->cosited_x = format->cosited_y = false;
  format->width = (format->width + 3) & ~3;
  format->height = (format->height + 3) & ~3;
  if (check->spec.fit == PP_FIT_CROP)
    check->spec.fit = PP_FIT_STRETCH;
  check->spec.resize = 0;
  check->spec.crop_fraction = 0;
  if (check->spec.method != PP_METHOD_NEAREST)
    return true;
  /* odd sizes have no sample border in the middle of an output */
  format->width--;
  format->height--;
  return !subsampled;
}

static void
test_flipped (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);

    if (!is_symmetric (&check))
      continue;

    const pp_format *format = &check.format;
    struct frame frame = make_frame (format, &random);
    struct frame flipped = make_frame (format, &random);
    const bool flip_x = check_one_in (&random, 2);
    const bool flip_y = !flip_x || check_one_in (&random, 2);

    for (int c = 0; c < format->n_components; c++) {
      const int columns = columns_of (format, c), rows = rows_of (format, c);

      for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++)
          put (&flipped, c, flip_x ? columns - 1 - x : x,
              flip_y ? rows - 1 - y : y, get (&frame, c, x, y));
    }

    struct result is = convert (&check.spec, &flipped, NULL);
    struct result should = convert (&check.spec, &frame, NULL);
    const double off = difference (&is, &should, flip_x, flip_y);

    HOLDS (off <= TOLERANCE, &check, "flipped %d %d is off by %g", flip_x,
        flip_y, off);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&flipped);
  }
}

static void
test_mean_and_std (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);
    struct result plain = convert (&check.spec, &frame, NULL);
    pp_spec *spec = &check.spec;

    for (int t = 0; t < PP_MAX_CHANNELS; t++) {
      spec->mean[t] = check_real (&random, -200, 200);
      spec->std[t] = check_real (&random, 0.5, 100);
    }

    struct result is = convert (spec, &frame, NULL);
    const pp_numbers *n = &is.numbers;
    double most = 0;

    for (int c = 0; c < n->n_channels; c++) {
      const int t = spec->channels == PP_CHANNELS_BGR ? 2 - c : c;

      for (int y = 0; y < n->content_height; y++)
        for (int x = 0; x < n->content_width; x++)
          most = worse_of (most,
              fabs (value_at (&is, c, x, y) * spec->std[t] + spec->mean[t] -
                  value_at (&plain, c, x, y)));
    }
    HOLDS (most <= TOLERANCE, &check, "mean and std are off by %g", most);
    clear_result (&is);
    clear_result (&plain);
    clear_frame (&frame);
  }
}

static void
test_layouts (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);

    check.spec.type = (pp_type) check_between (&random, 0, PP_N_TYPES - 1);
    check.spec.quant_zero_point = 1;
    check.spec.layout = PP_LAYOUT_NCHW;
    struct result planar = convert (&check.spec, &frame, NULL);
    check.spec.layout = PP_LAYOUT_NHWC;
    struct result packed = convert (&check.spec, &frame, NULL);

    const int channels = planar.numbers.n_channels;
    const size_t size = pp_type_size (check.spec.type);
    const size_t pixels = planar.size / size / (size_t) channels;
    int wrong = 0;

    for (size_t p = 0; p < pixels; p++)
      for (int c = 0; c < channels; c++)
        wrong +=
            memcmp (planar.tensor + ((size_t) c * pixels + p) * size,
                packed.tensor + (p * (size_t) channels + c) * size, size) != 0;
    HOLDS (wrong == 0, &check, "%d elements differ in the layouts", wrong);
    clear_result (&planar);
    clear_result (&packed);
    clear_frame (&frame);
  }
}

/* What a component's value is in 0...255 where colours are not converted. */
static double
shade_of (const pp_format *format, int c, double value)
{
  return 255 * value / format->scale[c];
}

static void
test_block_means (uint64_t seed)
{
  static const char *const names[] = { "RGB", "GBR", "RGB48BE" };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random =
        make_case (&check, names[i % LENGTH (names)], seed, i);
    const int x_ratio = check_between (&random, 1, 9);
    const int y_ratio = check_between (&random, 1, 9);
    pp_spec spec;

    pp_spec_init (&spec);
    spec.width = check_between (&random, 1, 12);
    spec.height = check_between (&random, 1, 12);
    spec.scale = 1;
    spec.method = PP_METHOD_AREA;
    spec.antialias = check.spec.antialias;
    check.spec = spec;
    check.format.width = spec.width * x_ratio;
    check.format.height = spec.height * y_ratio;

    struct frame frame = make_frame (&check.format, &random);
    struct result is = convert (&spec, &frame, NULL);
    double most = 0;

    for (int c = 0; c < 3; c++)
      for (int y = 0; y < spec.height; y++)
        for (int x = 0; x < spec.width; x++) {
          double sum = 0;

          for (int j = 0; j < x_ratio * y_ratio; j++)
            sum += get (&frame, c, x * x_ratio + j % x_ratio,
                y * y_ratio + j / x_ratio);
          most = worse_of (most,
              fabs (value_at (&is, c, x, y) -
                  shade_of (&check.format, c, sum / (x_ratio * y_ratio))));
        }
    HOLDS (most <= TOLERANCE, &check, "a block's mean is off by %g", most);
    clear_result (&is);
    clear_frame (&frame);
  }
}

static void
test_extremes (uint64_t seed)
{
  static const char *const names[] = { "RGB", "BGRx", "GBR12LE", "ARGB64LE" };
  static const pp_method methods[] = { PP_METHOD_NEAREST, PP_METHOD_BILINEAR,
    PP_METHOD_AREA };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random =
        make_case (&check, names[i % LENGTH (names)], seed, i);
    struct frame frame = make_frame (&check.format, &random);
    double outside = 0;

    check.spec.method =
        methods[check_between (&random, 0, LENGTH (methods) - 1)];
    check.spec.channels = PP_CHANNELS_RGB;

    struct result is = convert (&check.spec, &frame, NULL);
    const pp_numbers *n = &is.numbers;

    for (int c = 0; c < 3; c++) {
      double low = INFINITY, high = -INFINITY;

      for (int y = 0; y < check.format.height; y++)
        for (int x = 0; x < check.format.width; x++) {
          const double here =
              shade_of (&check.format, c, get (&frame, c, x, y));

          low = fmin (low, here);
          high = fmax (high, here);
        }
      for (int y = 0; y < n->content_height; y++)
        for (int x = 0; x < n->content_width; x++) {
          const double here = value_at (&is, c, x, y);

          outside = worse_of (outside, worse_of (low - here, here - high));
        }
    }
    HOLDS (outside <= TOLERANCE, &check, "outside the extremes by %g", outside);
    clear_result (&is);
    clear_frame (&frame);
  }
}

/* A picture whose pixels are n by d squares is that of n by d pixels for each.
 */
static struct frame
make_square (const struct frame *frame, check_random *random)
{
  pp_format format = frame->check.format;
  const int n = format.par_n, d = format.par_d;

  format.width *= n;
  format.height *= d;
  format.par_n = format.par_d = 1;

  struct frame square = make_frame (&format, random);

  for (int c = 0; c < format.n_components; c++)
    for (int y = 0; y < format.height; y++)
      for (int x = 0; x < format.width; x++)
        put (&square, c, x, y, get (frame, c, x / n, y / d));
  return square;
}

/* Whether the content is at the same place, or, where a half may have been
 * rounded either way, a pixel off. */
static bool
is_placed_alike (const pp_numbers *a, const pp_numbers *b, int slack)
{
  return abs (a->content_x - b->content_x) <= slack &&
      abs (a->content_y - b->content_y) <= slack &&
      abs (a->content_width - b->content_width) <= slack &&
      abs (a->content_height - b->content_height) <= slack;
}

static void
test_pixel_aspect_ratio (uint64_t seed)
{
  static const char *const names[] = { "RGB", "GBR12LE", "Y444", "GRAY8" };
  static const pp_method methods[] = { PP_METHOD_NEAREST, PP_METHOD_AREA };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random =
        make_case (&check, names[i % LENGTH (names)], seed, i);
    pp_format *format = &check.format;

    check.spec.method =
        methods[check_between (&random, 0, LENGTH (methods) - 1)];
    check.spec.denoise = PP_DENOISE_NONE;
    check.spec.ignore_pixel_aspect_ratio = false;
    format->par_n = check_between (&random, 1, 5);
    format->par_d = check_between (&random, 1, 5);

    struct frame frame = make_frame (format, &random);
    struct frame square = make_square (&frame, &random);
    struct result is = convert (&check.spec, &frame, NULL);
    struct result should = convert (&check.spec, &square, NULL);
    /* letterbox divides by d, in double */
    const int slack =
        check.spec.fit == PP_FIT_LETTERBOX && format->par_d > 1 ? 1 : 0;

    HOLDS (is_placed_alike (&is.numbers, &should.numbers, slack), &check,
        "content is %dx%d, of square pixels %dx%d", is.numbers.content_width,
        is.numbers.content_height, should.numbers.content_width,
        should.numbers.content_height);
    if (is_placed_alike (&is.numbers, &should.numbers, 0)) {
      const double off = difference (&is, &should, false, false);

      HOLDS (off <= TOLERANCE, &check, "square pixels are off by %g", off);
    }
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&square);
  }
}

/* Ignored, it makes no difference. */
static void
test_ignored_aspect_ratio (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);
    pp_format *format = &frame.check.format;

    check.spec.ignore_pixel_aspect_ratio = true;
    format->par_n = check_between (&random, 1, 5);
    format->par_d = check_between (&random, 1, 5);
    struct result is = convert (&check.spec, &frame, NULL);
    format->par_n = format->par_d = 1;
    struct result should = convert (&check.spec, &frame, NULL);

    HOLDS (memcmp (is.tensor, should.tensor, is.size) == 0, &check,
        "an ignored aspect ratio is not ignored");
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
  }
}

int
main (int argc, char **argv)
{
  const uint64_t seed = choose_seed (argc, argv);

  test_constant (seed);
  test_flipped (seed);
  test_mean_and_std (seed);
  test_layouts (seed);
  test_block_means (seed);
  test_extremes (seed);
  test_pixel_aspect_ratio (seed);
  test_ignored_aspect_ratio (seed);
  return expect_end ();
}
