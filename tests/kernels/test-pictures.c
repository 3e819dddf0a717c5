/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One picture in different memory gives one tensor: cropped, in another format,
 * in another byte order. Argument: a seed; the time by default.
 */
#include <string.h>

#include "tests/common/expect.h"
#include "picture.h"

/* Anywhere: chroma's first sample may begin before it. */
static pp_rect
random_crop (const pp_format *format, check_random *random)
{
  const int x = check_between (random, 0, format->width - 1);
  const int y = check_between (random, 0, format->height - 1);

  return (pp_rect){ x, y, check_between (random, 1, format->width - x),
    check_between (random, 1, format->height - y) };
}

/* A place at most this far, where a sample of chroma begins. */
static int
random_corner (int most, int sub, check_random *random)
{
  return check_between (random, 0, most >> sub) << sub;
}

/* A crop of a frame is the same crop of a smaller one, which ends with it and
 * may begin with it; to the last bit. */
static void
test_crop (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);
    pp_format format = check.format;
    const pp_component *chroma = &format.component[format.n_components - 1];
    const pp_rect crop = random_crop (&format, &random);
    const int x = random_corner (crop.x, chroma->sub_x, &random);
    const int y = random_corner (crop.y, chroma->sub_y, &random);
    const pp_rect rest = { crop.x - x, crop.y - y, crop.width, crop.height };

    format.width = rest.x + crop.width;
    format.height = rest.y + crop.height;

    struct frame cropped = make_frame (&format, &random);

    copy_samples (&cropped, &frame, x, y);

    const bool is_all = rest.x == 0 && rest.y == 0;
    struct result is = convert (&check.spec, &frame, &crop);
    struct result should =
        convert (&check.spec, &cropped, is_all ? NULL : &rest);

    HOLDS (memcmp (is.tensor, should.tensor, is.size) == 0, &check,
        "%dx%d at %d,%d is not that of a frame from %d,%d on", crop.width,
        crop.height, crop.x, crop.y, x, y);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&cropped);
  }
}

/* A sample of chroma is that of all pixels that it covers: where it lies in
 * their middle, methods that take pixels for areas see no difference from a
 * frame that has it once for each, wherever the crop begins. */
static void
test_chroma_for_each_pixel (uint64_t seed)
{
  static const char *const names[] = { "Y41B", "YUV9", "Y42B", "I420", "NV12",
    "UYVY" };
  static const pp_method methods[] = { PP_METHOD_NEAREST, PP_METHOD_AREA };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random =
        make_case (&check, names[i % LENGTH (names)], seed, i);
    pp_format *format = &check.format, full;

    format->cosited_x = format->cosited_y = false;
    check.spec.method =
        methods[check_between (&random, 0, LENGTH (methods) - 1)];
    check.spec.denoise = PP_DENOISE_NONE;
    check_format_init (&full, "Y444", format->width, format->height);
    full.par_n = format->par_n;
    full.par_d = format->par_d;

    struct frame frame = make_frame (format, &random);
    struct frame other = make_frame (&full, &random);

    for (int c = 0; c < 3; c++)
      for (int y = 0; y < format->height; y++)
        for (int x = 0; x < format->width; x++)
          put (&other, c, x, y,
              get (&frame, c, x >> format->component[c].sub_x,
                  y >> format->component[c].sub_y));

    const pp_rect crop = random_crop (format, &random);
    struct result is = convert (&check.spec, &frame, &crop);
    struct result should = convert (&check.spec, &other, &crop);
    const double off = difference (&is, &should, false, false);

    HOLDS (off <= TOLERANCE, &check, "%dx%d at %d,%d is off by %g", crop.width,
        crop.height, crop.x, crop.y, off);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&other);
  }
}

/* Formats of a row hold the same pictures; to the last bit. */
static void
test_same_picture (uint64_t seed)
{
  static const char *const rows[][5] = {
    { "RGB", "BGRx", "GBR", "BGR", "ARGB" },
    { "NV12", "I420", "YV12", "NV21" },
    { "YUY2", "UYVY", "Y42B" },
    { "Y444", "AYUV" },
    { "P012_LE", "I420_12LE" },
    { "P010_10LE", "I420_10LE" },
    { "I422_12BE", "Y212_LE" },
    { "RGB48BE", "ARGB64LE" },
    { "GRAY16_LE", "GRAY16_BE" },
  };

  for (int i = 0; i < CASES; i++) {
    const char *const *names = rows[i % LENGTH (rows)];
    check_case check;
    check_random random = make_case (&check, names[0], seed, i);
    struct frame frame = make_frame (&check.format, &random);
    struct result first = convert (&check.spec, &frame, NULL);

    for (int f = 1; f < LENGTH (rows[0]) && names[f]; f++) {
      pp_format format;

      check_format_init (
          &format, names[f], check.format.width, check.format.height);
      format.par_n = check.format.par_n;
      format.par_d = check.format.par_d;

      /* random bytes: also where no value is */
      struct frame other = make_frame (&format, &random);

      copy_samples (&other, &frame, 0, 0);

      struct result is = convert (&check.spec, &other, NULL);

      HOLDS (memcmp (is.tensor, first.tensor, is.size) == 0, &check,
          "%s is not %s", names[f], names[0]);
      clear_result (&is);
      clear_frame (&other);
    }
    clear_result (&first);
    clear_frame (&frame);
  }
}

/* Bytes in the other order; other garbage around the values. */
static void
test_sample_bytes (uint64_t seed)
{
  static const char *const names[] = { "RGB48BE", "ARGB64LE", "GBR12LE",
    "P010_10LE", "I420_10LE", "P012_LE", "I422_12BE", "Y212_LE", "P016_BE",
    "GRAY16_LE" };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random =
        make_case (&check, names[i % LENGTH (names)], seed, i);
    struct frame frame = make_frame (&check.format, &random);
    pp_format format = check.format;

    format.big_endian = check_one_in (&random, 2);

    struct frame other = make_frame (&format, &random);

    copy_samples (&other, &frame, 0, 0);

    struct result should = convert (&check.spec, &frame, NULL);
    struct result is = convert (&check.spec, &other, NULL);

    HOLDS (memcmp (is.tensor, should.tensor, is.size) == 0, &check,
        "depends on byte order or unused bits");
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&other);
  }
}

/* Chroma that is the same everywhere is so at every resolution. */
static void
test_constant_chroma (uint64_t seed)
{
  static const char *const names[] = { "Y41B", "YUV9", "Y42B", "I420" };

  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, "Y444", seed, i);
    struct frame full = make_frame (&check.format, &random);
    pp_format format;

    check_format_init (&format, names[i % LENGTH (names)], check.format.width,
        check.format.height);
    format.par_n = check.format.par_n;
    format.par_d = check.format.par_d;

    struct frame coarse = make_frame (&format, &random);

    for (int c = 1; c < 3; c++) {
      const int value = check_between (&random, 0, 255);

      for (int y = 0; y < check.format.height; y++)
        for (int x = 0; x < check.format.width; x++)
          put (&full, c, x, y, value);
    }
    copy_samples (&coarse, &full, 0, 0);

    struct result is = convert (&check.spec, &coarse, NULL);
    struct result should = convert (&check.spec, &full, NULL);
    const double off = difference (&is, &should, false, false);

    HOLDS (off <= TOLERANCE, &check, "%s is off by %g",
        names[i % LENGTH (names)], off);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&full);
    clear_frame (&coarse);
  }
}

int
main (int argc, char **argv)
{
  const uint64_t seed = choose_seed (argc, argv);

  test_crop (seed);
  test_chroma_for_each_pixel (seed);
  test_same_picture (seed);
  test_sample_bytes (seed);
  test_constant_chroma (seed);
  return expect_end ();
}
