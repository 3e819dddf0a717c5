/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The median: what it reads, what it goes over together, and its values in
 * pictures of which they are known.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

#include "tests/common/formats.h"

/* Resized to 4x2 and cropped, the picture is columns 12 to 19 of the frame, and
 * of its chroma, which is cosited, 6 to 10. The median reads more on both
 * sides; of rows it cannot, since the source ends there. */
static void
test_extents (void)
{
  static const struct {
    pp_format (*format) (int width, int height);
    pp_rect source;
    int size;
    pp_rect extent[2]; /* of the planes, bytes and rows */
  } rows[] = {
    { rgb_format, { 8, 4, 16, 8 }, 3, { { 33, 4, 30, 8 } } },
    { rgb_format, { 8, 4, 16, 8 }, 5, { { 30, 4, 36, 8 } } },
    { nv12_format, { 8, 4, 16, 8 }, 3, { { 11, 4, 10, 8 }, { 10, 2, 14, 4 } } },
    { nv12_format, { 8, 4, 16, 8 }, 5, { { 10, 4, 12, 8 }, { 8, 2, 16, 4 } } },
    { p010_format, { 8, 4, 16, 8 }, 3, { { 22, 4, 20, 8 }, { 20, 2, 28, 4 } } },
    /* from Cb of column 5 to Cr of column 11 */
    { yuy2_format, { 8, 4, 16, 8 }, 3, { { 21, 4, 27, 8 } } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_format format = rows[i].format (64, 48);
    pp_spec spec = sized_spec (2, 2);

    spec.method = PP_METHOD_AREA;
    spec.fit = PP_FIT_CROP;
    spec.denoise = PP_DENOISE_MEDIAN;
    spec.denoise_size = rows[i].size;

    pp_plan *plan = make_plan (&spec, &format, &rows[i].source);

    if (!plan)
      continue;
    for (int p = 0; p < 2; p++) {
      const pp_rect is = pp_plan_plane_extent (plan, p);
      const pp_rect should = rows[i].extent[p];

      EXPECT (memcmp (&is, &should, sizeof is) == 0,
          "row %d, plane %d: %dx%d at %d,%d, not %dx%d at %d,%d", i, p,
          is.width, is.height, is.x, is.y, should.width, should.height,
          should.x, should.y);
    }
    pp_plan_unref (&plan);
  }
}

struct expected_group {
  int plane, first_byte, columns, units, step;
  uint64_t samples;
  int bits;
  bool alone;
};

static void
check_group (
    int row, const pp_median_group *is, const struct expected_group *should)
{
  EXPECT (is->plane == should->plane && is->first_byte == should->first_byte &&
          is->columns == should->columns && is->units == should->units &&
          is->step == should->step && is->samples == should->samples &&
          is->bits == should->bits && is->alone == should->alone,
      "row %d, plane %d: first %d, %d columns, %d units, step %d, %#llx %#x %d",
      row, is->plane, is->first_byte, is->columns, is->units, is->step,
      (unsigned long long) is->samples, is->bits, is->alone);
}

/* Which components are interleaved, in units of a sample. */
static void
test_groups (void)
{
  static const struct {
    pp_format (*format) (int width, int height);
    int n_groups;
    struct expected_group group[2];
  } rows[] = {
    { gray_format, 1, { { 0, 0, 8, 8, 1, 1, 0xff, true } } },
    { rgb_format, 1, { { 0, 0, 8, 24, 3, 7, 0xff, true } } },
    { nv12_format, 2,
        { { 0, 0, 8, 8, 1, 1, 0xff, true },
            { 1, 0, 4, 8, 2, 3, 0xff, true } } },
    { yuy2_format, 2,
        { { 0, 0, 8, 15, 2, 1, 0xff, false },
            { 0, 1, 4, 15, 4, 5, 0xff, false } } },
    { p010_format, 2,
        { { 0, 0, 8, 8, 1, 1, 0xffc0, true },
            { 1, 0, 4, 8, 2, 3, 0xffc0, true } } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_format format = rows[i].format (8, 8);
    pp_spec spec = sized_spec (8, 8);

    spec.denoise = PP_DENOISE_MEDIAN;

    pp_plan *plan = make_plan (&spec, &format, NULL);

    if (!plan)
      continue;

    const pp_median *median = &plan->median;

    EXPECT (median->size == 3 && median->n_groups == rows[i].n_groups,
        "row %d: size %d, %d groups", i, median->size, median->n_groups);
    for (int g = 0; g < rows[i].n_groups; g++)
      check_group (i, &median->group[g], &rows[i].group[g]);
    pp_plan_unref (&plan);
  }
}

enum {
  WIDTH = 61,
  HEIGHT = 47
};

/* A plan that keeps the picture's size, so that it needs every row. */
static pp_plan *
plan_of_size (const pp_format *format, int size)
{
  pp_spec spec = sized_spec (format->width, format->height);

  spec.denoise = PP_DENOISE_MEDIAN;
  spec.denoise_size = size;
  return make_plan (&spec, format, NULL);
}

static void
median_c (const pp_plan *plan, const uint8_t *picture, uint8_t *to)
{
  const size_t stride = (size_t) plan->extent[0].width;
  const pp_view view = { { picture }, { stride } };
  const pp_planes planes = { { to }, { stride } };

  pp_median_c (plan, &view, &planes);
}

static void
median_cpu (const pp_plan *plan, const uint8_t *picture, uint8_t *to)
{
  const size_t stride = (size_t) plan->extent[0].width;
  const pp_view view = { { picture }, { stride } };
  const pp_planes planes = { { to }, { stride } };
  const size_t size = pp_median_cpu_scratch (plan);
  void *scratch = aligned_alloc (64, size);

  if (!scratch)
    abort ();
  pp_median_cpu (
      plan, &view, &planes, 0, plan->numbers.content_height, scratch);
  free (scratch);
}

static void (*const kernels[]) (const pp_plan *plan, const uint8_t *picture,
    uint8_t *to) = { median_c, median_cpu };

static int
clamp (int value, int last)
{
  return value < 0 ? 0 : value > last ? last : value;
}

/* The median of two values is the one that more of its neighbours have. A
 * network that is right for all these is right for all values. */
static void
test_majority (void)
{
  const pp_format format = gray_format (WIDTH, HEIGHT);
  uint8_t picture[HEIGHT * WIDTH], median[HEIGHT * WIDTH];

  srand (1);
  for (int round = 0; round < 200; round++) {
    const int size = 3 + 2 * (round % 2), radius = size / 2;
    pp_plan *plan = plan_of_size (&format, size);

    if (!plan)
      return;
    for (size_t i = 0; i < sizeof picture; i++)
      picture[i] = rand () & 64 ? 255 : 0;
    for (int k = 0; k < LENGTH (kernels); k++) {
      int wrong = 0;

      kernels[k](plan, picture, median);
      for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
          int high = 0;

          for (int i = 0; i < size * size; i++)
            high += picture[clamp (y + i / size - radius, HEIGHT - 1) * WIDTH +
                        clamp (x + i % size - radius, WIDTH - 1)] > 0;
          wrong += median[y * WIDTH + x] != (high > size * size / 2 ? 255 : 0);
        }
      EXPECT (wrong == 0, "kernel %d, size %d: %d", k, size, wrong);
    }
    pp_plan_unref (&plan);
  }
}

/* Pictures narrower than the median: their edges are most of what it sees. */
static void
test_small_pictures (void)
{
  static const struct {
    int width, height, size;
    uint8_t picture[6], median[6];
  } rows[] = {
    { 1, 1, 3, { 7 }, { 7 } },
    { 1, 1, 5, { 7 }, { 7 } },
    { 2, 1, 3, { 9, 1 }, { 9, 1 } },
    { 2, 1, 5, { 9, 1 }, { 9, 1 } },
    { 3, 1, 3, { 9, 1, 8 }, { 9, 8, 8 } },
    { 1, 3, 3, { 0, 255, 4 }, { 0, 4, 4 } },
    { 5, 1, 5, { 1, 2, 3, 4, 5 }, { 1, 2, 3, 4, 5 } },
    { 3, 2, 3, { 0, 0, 0, 0, 0, 255 }, { 0 } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_format format = gray_format (rows[i].width, rows[i].height);
    pp_plan *plan = plan_of_size (&format, rows[i].size);

    for (int k = 0; plan && k < LENGTH (kernels); k++) {
      uint8_t median[6] = { 0 };

      kernels[k](plan, rows[i].picture, median);
      EXPECT (memcmp (median, rows[i].median, sizeof median) == 0,
          "row %d, kernel %d: %d %d %d %d %d %d", i, k, median[0], median[1],
          median[2], median[3], median[4], median[5]);
    }
    pp_plan_unref (&plan);
  }
}

/* The CPU makes the rows that some outputs depend on and no others. */
static void
test_needed_rows (void)
{
  const pp_format format = gray_format (WIDTH, 3 * 8);
  const size_t stride = WIDTH;
  pp_spec spec = sized_spec (WIDTH, 8);
  uint8_t picture[3 * 8 * WIDTH] = { 0 }, median[3 * 8 * WIDTH];
  const pp_view view = { { picture }, { stride } };
  const pp_planes planes = { { median }, { stride } };

  spec.denoise = PP_DENOISE_MEDIAN;

  pp_plan *plan = make_plan (&spec, &format, NULL);

  if (!plan)
    return;

  void *scratch = aligned_alloc (64, pp_median_cpu_scratch (plan));

  memset (median, 0xa5, sizeof median);
  pp_median_cpu (plan, &view, &planes, 2, 5, scratch);
  for (int y = 0; y < 3 * 8; y++) {
    /* bilinear at a third: row 3 i + 1 is output i */
    const bool needed = y == 7 || y == 10 || y == 13;

    EXPECT (median[y * WIDTH] == (needed ? 0 : 0xa5), "row %d is %#x", y,
        median[y * WIDTH]);
  }
  free (scratch);
  pp_plan_unref (&plan);
}

int
main (void)
{
  test_extents ();
  test_groups ();
  test_majority ();
  test_small_pictures ();
  test_needed_rows ();
  return expect_end ();
}
