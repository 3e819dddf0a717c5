/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One picture in different memory gives one tensor: cropped, in another format,
 * in another byte order. Argument: a seed; the time by default.
 */
#include <string.h>

#include "expect.h"
#include "picture.h"

/* A rectangle whose chroma starts with a sample. */
static pp_rect
random_crop (const pp_format *format, check_random *random)
{
  const pp_component *chroma = &format->component[format->n_components - 1];
  const int x = check_between (random, 0, format->width - 1) >> chroma->sub_x
          << chroma->sub_x;
  const int y = check_between (random, 0, format->height - 1) >> chroma->sub_y
          << chroma->sub_y;

  return (pp_rect){ x, y, check_between (random, 1, format->width - x),
    check_between (random, 1, format->height - y) };
}

/* To the last bit. */
static void
test_crop (uint64_t seed)
{
  for (int i = 0; i < CASES; i++) {
    check_case check;
    check_random random = make_case (&check, NULL, seed, i);
    struct frame frame = make_frame (&check.format, &random);
    const pp_rect crop = random_crop (&check.format, &random);
    pp_format format = check.format;

    format.width = crop.width;
    format.height = crop.height;

    struct frame cropped = make_frame (&format, &random);

    copy_samples (&cropped, &frame, crop.x, crop.y);

    struct result is = convert (&check.spec, &frame, &crop);
    struct result should = convert (&check.spec, &cropped, NULL);

    HOLDS (memcmp (is.tensor, should.tensor, is.size) == 0, &check,
        "%dx%d at %d,%d is not a frame", crop.width, crop.height, crop.x,
        crop.y);
    clear_result (&is);
    clear_result (&should);
    clear_frame (&frame);
    clear_frame (&cropped);
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
  test_same_picture (seed);
  test_sample_bytes (seed);
  test_constant_chroma (seed);
  return expect_end ();
}
