/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the picture goes: the libraries' own tables, and what no table has.
 * Argument: the folder of letterbox.tsv and centercrop.tsv.
 */
#include <math.h>
#include <string.h>

#include "tests/common/formats.h"

/* Rows of a table, without the header; NULL where it cannot be read. */
static FILE *
open_table (const char *folder, const char *name)
{
  char path[1024], line[256];
  FILE *file;

  snprintf (path, sizeof path, "%s/%s", folder, name);
  file = fopen (path, "r");
  EXPECT (file != NULL, "cannot open %s", path);
  if (file && !fgets (line, sizeof line, file))
    EXPECT (false, "%s is empty", path);
  return file;
}

static void
expect_target (const pp_spec *spec, const pp_format *format, pp_rect expected)
{
  pp_plan *plan = make_plan (spec, format, NULL);
  pp_geometry geometry;

  if (!plan)
    return;
  pp_plan_get_geometry (plan, &geometry);

  const pp_rect *t = &geometry.target;

  EXPECT (t->x == expected.x && t->y == expected.y &&
          t->width == expected.width && t->height == expected.height,
      "%dx%d to %dx%d, resize %d, crop-fraction %g: %dx%d at %d,%d, not %dx%d "
      "at %d,%d",
      format->width, format->height, spec->width, spec->height, spec->resize,
      spec->crop_fraction, t->width, t->height, t->x, t->y, expected.width,
      expected.height, expected.x, expected.y);
  pp_plan_unref (&plan);
}

static void
test_letterbox (const char *folder)
{
  FILE *file = open_table (folder, "letterbox.tsv");
  int n[8], rows = 0;
  char align[16];

  while (file &&
      fscanf (file, "%d %d %d %d %15s %d %d %d %d", &n[0], &n[1], &n[2], &n[3],
          align, &n[4], &n[5], &n[6], &n[7]) == 9) {
    const pp_format format = gray_format (n[0], n[1]);
    pp_spec spec = sized_spec (n[2], n[3]);

    spec.fit = PP_FIT_LETTERBOX;
    spec.pad_align =
        strcmp (align, "top-left") == 0 ? PP_ALIGN_TOP_LEFT : PP_ALIGN_CENTER;
    expect_target (&spec, &format, (pp_rect){ n[6], n[7], n[4], n[5] });
    rows++;
  }
  EXPECT (rows == 315, "letterbox.tsv: %d rows", rows);
  if (file)
    fclose (file);
}

static void
test_centercrop (const char *folder)
{
  FILE *file = open_table (folder, "centercrop.tsv");
  int n[8], rows = 0;
  double fraction;

  while (file &&
      fscanf (file, "%d %d %d %d %lf %d %d %d %d", &n[0], &n[1], &n[2], &n[3],
          &fraction, &n[4], &n[5], &n[6], &n[7]) == 9) {
    const pp_format format = gray_format (n[0], n[1]);
    const pp_rect expected = { -n[6], -n[7], n[4], n[5] };
    pp_spec spec = sized_spec (n[3], n[3]);

    spec.fit = PP_FIT_CROP;
    spec.resize = n[2];
    expect_target (&spec, &format, expected);
    spec.resize = 0;
    spec.crop_fraction = fraction;
    expect_target (&spec, &format, expected);
    rows++;
  }
  EXPECT (rows == 204, "centercrop.tsv: %d rows", rows);
  if (file)
    fclose (file);
}

/* Targets that no table has. */
static void
test_fits (void)
{
  static const struct {
    pp_fit fit;
    int width, height; /* of the tensor */
    int frame[2], par[2];
    int resize;
    double crop_fraction;
    bool ignore_par;
    pp_rect target;
  } rows[] = {
    { PP_FIT_STRETCH, 30, 20, { 7, 9 }, { 1, 1 }, 0, 0, false,
        { 0, 0, 30, 20 } },
    { PP_FIT_STRETCH, 224, 224, { 64, 48 }, { 1, 1 }, 256, 0, false,
        { -16, -16, 256, 256 } },
    { PP_FIT_STRETCH, 224, 112, { 64, 48 }, { 1, 1 }, 0, 0.875, false,
        { -16, -8, 256, 128 } },
    /* excess 1: half to even is 0; 3: 2 */
    { PP_FIT_STRETCH, 10, 10, { 4, 4 }, { 1, 1 }, 11, 0, false,
        { 0, 0, 11, 11 } },
    { PP_FIT_STRETCH, 10, 10, { 4, 4 }, { 1, 1 }, 13, 0, false,
        { -2, -2, 13, 13 } },
    /* PAL 4:3: 768x576 square pixels */
    { PP_FIT_LETTERBOX, 640, 640, { 720, 576 }, { 16, 15 }, 0, 0, false,
        { 0, 80, 640, 480 } },
    { PP_FIT_LETTERBOX, 640, 640, { 720, 576 }, { 16, 15 }, 0, 0, true,
        { 0, 64, 640, 512 } },
    { PP_FIT_CROP, 480, 480, { 720, 576 }, { 16, 15 }, 0, 0, false,
        { -80, 0, 640, 480 } },
    { PP_FIT_CROP, 480, 480, { 720, 576 }, { 16, 15 }, 0, 0, true,
        { -60, 0, 600, 480 } },
    { PP_FIT_LETTERBOX, 32, 32, { 32768, 1 }, { 1, 1 }, 0, 0, false,
        { 0, 15, 32, 1 } },
    { PP_FIT_CROP, 32768, 32768, { 32768, 1 }, { 1, 1 }, 0, 0, false,
        { -536854528, 0, 1 << 30, 32768 } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    pp_format format = gray_format (rows[i].frame[0], rows[i].frame[1]);
    pp_spec spec = sized_spec (rows[i].width, rows[i].height);

    format.par_n = rows[i].par[0];
    format.par_d = rows[i].par[1];
    spec.fit = rows[i].fit;
    spec.resize = rows[i].resize;
    spec.crop_fraction = rows[i].crop_fraction;
    spec.ignore_pixel_aspect_ratio = rows[i].ignore_par;
    expect_target (&spec, &format, rows[i].target);
  }
}

/* The matrix takes the target's corners to the source's. */
static void
test_matrix (void)
{
  const pp_format format = gray_format (100, 80);
  const pp_rect source = { 11, 5, 61, 43 };
  pp_spec spec = sized_spec (24, 24);

  for (int fit = 0; fit < PP_N_FITS; fit++) {
    spec.fit = (pp_fit) fit;

    pp_plan *plan = make_plan (&spec, &format, &source);
    pp_geometry g;

    if (!plan)
      continue;
    pp_plan_get_geometry (plan, &g);

    const double *m = g.matrix;
    const pp_rect *s = &g.source, *t = &g.target;
    const double right = t->x + t->width, bottom = t->y + t->height;

    EXPECT (fabs (m[0] * t->x + m[1] * t->y + m[2] - s->x) < 1e-9 &&
            fabs (m[3] * t->x + m[4] * t->y + m[5] - s->y) < 1e-9 &&
            fabs (m[0] * right + m[2] - s->x - s->width) < 1e-9 &&
            fabs (m[4] * bottom + m[5] - s->y - s->height) < 1e-9,
        "fit %d: %g %g %g, %g %g %g", fit, m[0], m[1], m[2], m[3], m[4], m[5]);
    pp_plan_unref (&plan);
  }
}

int
main (int argc, char **argv)
{
  if (argc != 2) {
    fprintf (stderr, "usage: %s folder\n", argv[0]);
    return 2;
  }
  test_letterbox (argv[1]);
  test_centercrop (argv[1]);
  test_fits ();
  test_matrix ();
  return expect_end ();
}
