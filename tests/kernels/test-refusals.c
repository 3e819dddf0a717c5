/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What pp_plan_new refuses: the error names the field and its value.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/common/formats.h"

/* One thing wrong with an otherwise good call. */
struct fault {
  const char *name, *value; /* both in the text */
  size_t offset;            /* of the field, see below */
  int kind;                 /* of the field: 'i'nt or 'd'ouble */
  double number;
};

/* Breaks each field alone; holder is the struct that has it. */
static void
check_faults (const struct fault *faults, int n, const pp_spec *spec,
    const pp_format *format, void *holder)
{
  for (const struct fault *f = faults; f < faults + n; f++) {
    char *field = (char *) holder + f->offset;
    const size_t size = f->kind == 'd' ? sizeof (double) : sizeof (int);
    const int whole = f->kind == 'd' ? 0 : (int) f->number;
    char before[sizeof (double)];
    pp_error error = { PP_OK, "" };

    memcpy (before, field, size);
    memcpy (field, f->kind == 'd' ? (const void *) &f->number : &whole, size);

    pp_plan *plan = pp_plan_new (spec, format, NULL, &error);

    memcpy (field, before, size);
    EXPECT (!plan && error.status == PP_BAD_ARGUMENT &&
            strstr (error.text, f->name) && strstr (error.text, f->value),
        "%s %s: %s \"%s\"", f->name, f->value, plan ? "a plan" : "",
        error.text);
    pp_plan_unref (&plan);
  }
}

#define INT(name, value, field)                                                \
  {                                                                            \
    name, #value, offsetof (HOLDER, field), 'i', value                         \
  }
#define REAL(name, value, field)                                               \
  {                                                                            \
    name, #value, offsetof (HOLDER, field), 'd', value                         \
  }
/* NAN and INFINITY do not print as they are spelled. */
#define REAL_AS(name, text, value, field)                                      \
  {                                                                            \
    name, text, offsetof (HOLDER, field), 'd', value                           \
  }

/* Of tensors of 8x4. */
static void
test_bad_surfaces (void)
{
  static const struct {
    pp_channels channels;
    pp_type type;
    pp_surface surface; /* size, pixels, rows, offsets */
    const char *words;  /* NULL: it is good */
  } rows[] = {
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 96, 3, 24, { 0, 1, 2 } }, NULL },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 192, 3, 24, { 2, 1, 0 } }, NULL },
    { PP_CHANNELS_BGR, PP_TYPE_UINT8, { 128, 4, 32, { 1, 2, 0 } }, NULL },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 108, 1, 9, { 72, 0, 36 } }, NULL },
    { PP_CHANNELS_GRAY, PP_TYPE_UINT8, { 32, 1, 8, { 0 } }, NULL },
    { PP_CHANNELS_RGB, PP_TYPE_INT8, { 96, 3, 24, { 0, 1, 2 } }, "type=uint8" },
    { PP_CHANNELS_RGB, PP_TYPE_FLOAT32, { 96, 3, 24, { 0, 1, 2 } },
        "type=uint8" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 96, 2, 24, { 0, 1, 2 } },
        "surface.pixel_stride is 2, must be 1, 3 or 4" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 96, -1, 24, { 0, 1, 2 } },
        "surface.pixel_stride is -1" },
    { PP_CHANNELS_GRAY, PP_TYPE_UINT8, { 96, 3, 24, { 0, 1, 2 } },
        "surface.pixel_stride is 3, must be 1" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 96, 3, 23, { 0, 1, 2 } },
        "surface.row_stride is 23, must be 24" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { SIZE_MAX, 3, SIZE_MAX, { 0, 1, 2 } },
        "surface.row_stride is" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 95, 3, 24, { 0, 1, 2 } },
        "surface.size is 95, must be 96 to 192" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 193, 3, 24, { 0, 1, 2 } },
        "surface.size is 193" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 107, 1, 9, { 0, 36, 72 } },
        "surface.size is 107, must be 108" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 128, 4, 32, { 1, 2, 3 } },
        "surface.offset is 1, 2, 3" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 96, 3, 24, { 0, 1, 1 } },
        "surface.offset is 0, 1, 1" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 108, 1, 9, { 0, 36, 71 } },
        "surface.offset is 0, 36, 71" },
    { PP_CHANNELS_RGB, PP_TYPE_UINT8, { 216, 1, 9, { 0, 36, 108 } },
        "surface.offset is 0, 36, 108" },
    { PP_CHANNELS_GRAY, PP_TYPE_UINT8, { 32, 1, 8, { 1 } },
        "surface.offset is 1" },
  };
  const pp_format format = rgb_format (8, 4);

  for (int i = 0; i < LENGTH (rows); i++) {
    pp_spec spec = sized_spec (8, 4);
    pp_error error = { PP_OK, "" };

    spec.channels = rows[i].channels;
    spec.type = rows[i].type;
    spec.surface = rows[i].surface;
    pp_plan *plan = pp_plan_new (&spec, &format, NULL, &error);
    if (rows[i].words == NULL)
      EXPECT (plan && pp_plan_tensor_size (plan) == spec.surface.size,
          "row %d: %s", i, error.text);
    else
      EXPECT (!plan && error.status == PP_BAD_ARGUMENT &&
              strstr (error.text, rows[i].words),
          "row %d: %s \"%s\"", i, plan ? "a plan" : "", error.text);
    pp_plan_unref (&plan);
  }
}

static void
test_bad_specs (void)
{
#define HOLDER pp_spec
  static const struct fault faults[] = {
    INT ("width", -3, width),
    INT ("width", 0, width),
    INT ("width", 32769, width),
    INT ("height", -2147483647, height),
    INT ("height", 32769, height),
    INT ("layout", 2, layout),
    INT ("type", 4, type),
    INT ("type", -1, type),
    INT ("channels", 3, channels),
    INT ("fit", 3, fit),
    INT ("pad-align", 2, pad_align),
    INT ("method", 5, method),
    INT ("denoise", 3, denoise),
    INT ("denoise-size", 4, denoise_size),
    INT ("denoise-size", 9, denoise_size),
    INT ("denoise-size", -3, denoise_size),
    REAL ("denoise-sigma", -1, denoise_sigma),
    REAL_AS ("denoise-sigma", "nan", NAN, denoise_sigma),
    INT ("resize", 100, resize),
    INT ("resize", -1, resize),
    INT ("resize", 32769, resize),
    REAL ("crop-fraction", 1.5, crop_fraction),
    REAL ("crop-fraction", -0.5, crop_fraction),
    REAL_AS ("crop-fraction", "nan", NAN, crop_fraction),
    REAL_AS ("crop-fraction", "inf", INFINITY, crop_fraction),
    REAL_AS ("crop-fraction", "1e-300", 1e-300, crop_fraction),
    REAL_AS ("scale", "nan", NAN, scale),
    REAL_AS ("scale", "-inf", -INFINITY, scale),
    REAL_AS ("scale", "1e+300", 1e300, scale),
    REAL ("std[0]", 0, std[0]),
    REAL ("std[2]", 0, std[2]),
    REAL_AS ("std[1]", "nan", NAN, std[1]),
    REAL_AS ("std[1]", "1e-45", 1e-45, std[1]),
    REAL_AS ("mean[2]", "inf", INFINITY, mean[2]),
    REAL_AS ("mean[0]", "1e+39", 1e39, mean[0]),
    REAL ("pad-value[1]", -1, pad_value[1]),
    REAL ("pad-value[0]", 255.5, pad_value[0]),
    REAL_AS ("pad-value[0]", "nan", NAN, pad_value[0]),
    REAL ("quant-scale", -1, quant_scale),
    REAL_AS ("quant-scale", "nan", NAN, quant_scale),
  };
  static const struct fault integer_faults[] = {
    INT ("quant-zero-point", -1, quant_zero_point),
    INT ("quant-zero-point", 256, quant_zero_point),
    REAL ("scale", 0, scale),
    REAL_AS ("quant-scale", "1e-300", 1e-300, quant_scale),
  };
  static const struct fault letterbox_faults[] = {
    INT ("resize", 256, resize),
    REAL ("crop-fraction", 0.875, crop_fraction),
  };
#undef HOLDER
  pp_spec spec = sized_spec (300, 224);
  pp_format format = rgb_format (64, 48);

  spec.denoise = PP_DENOISE_GAUSSIAN;
  check_faults (faults, LENGTH (faults), &spec, &format, &spec);
  spec.type = PP_TYPE_UINT8;
  check_faults (integer_faults, LENGTH (integer_faults), &spec, &format, &spec);
  spec.fit = PP_FIT_LETTERBOX;
  check_faults (
      letterbox_faults, LENGTH (letterbox_faults), &spec, &format, &spec);
  spec.fit = PP_FIT_CROP;
  spec.crop_fraction = 0.875;
  check_faults (letterbox_faults, 1, &spec, &format, &spec);
}

/* A gaussian of 7 is fine, a median is not. */
static void
test_bad_medians (void)
{
#define HOLDER pp_spec
  static const struct fault faults[] = {
    INT ("denoise-size", 1, denoise_size),
    INT ("denoise-size", 4, denoise_size),
    INT ("denoise-size", 7, denoise_size),
    INT ("denoise-size", -5, denoise_size),
  };
#undef HOLDER
  pp_spec spec = sized_spec (300, 224);
  pp_format format = rgb_format (64, 48);

  spec.denoise = PP_DENOISE_MEDIAN;
  check_faults (faults, LENGTH (faults), &spec, &format, &spec);
}

static void
test_bad_formats (void)
{
#define HOLDER pp_format
  static const struct fault faults[] = {
    INT ("model", 3, model),
    INT ("width", 0, width),
    INT ("width", 32769, width),
    INT ("height", -48, height),
    INT ("par_n", 0, par_n),
    INT ("par_d", -1, par_d),
    INT ("n_components", 1, n_components),
    INT ("n_components", 4, n_components),
    INT ("sample_bytes", 3, sample_bytes),
    INT ("component[0].plane", 4, component[0].plane),
    INT ("component[1].plane", -1, component[1].plane),
    INT ("component[1].offset", -2, component[1].offset),
    INT ("offset", 3, component[1].offset),
    INT ("component[2].pixel_stride", 0, component[2].pixel_stride),
    INT ("pixel_stride", 5, component[2].pixel_stride),
    INT ("component[2].pixel_stride", 66, component[2].pixel_stride),
    INT ("component[2].offset", 2, component[2].pixel_stride),
    INT ("bytes of plane 0 in common", 0, component[1].plane),
    INT ("component[1].sub_x", 3, component[1].sub_x),
    INT ("component[0].sub_x", 1, component[0].sub_x),
    INT ("component[2].sub_x", 0, component[2].sub_x),
    INT ("component[0].depth", 17, component[0].depth),
    INT ("component[0].depth", 0, component[0].depth),
    INT ("component[0].depth", -2147483648, component[0].depth),
    INT ("component[0].shift", 7, component[0].shift),
    INT ("scale[1]", 0, scale[1]),
    REAL ("kr", 0, kr),
    REAL_AS ("kb", "nan", NAN, kb),
    REAL ("kr", 0.95, kr),
  };
#undef HOLDER
  pp_spec spec = sized_spec (300, 224);
  pp_format format = p010_format (64, 48);

  check_faults (faults, LENGTH (faults), &spec, &format, &format);
}

static void
test_bad_sources (void)
{
  static const struct {
    pp_rect source;
    const char *text;
  } rows[] = {
    { { 0, 0, 0, 10 }, "0x10 at 0,0" },
    { { 0, 0, 10, -1 }, "10x-1 at 0,0" },
    { { -1, 0, 10, 10 }, "10x10 at -1,0" },
    { { 55, 0, 10, 10 }, "10x10 at 55,0" },
    { { 0, 39, 10, 10 }, "10x10 at 0,39" },
    { { 2147483647, 2, 64, 10 }, "64x10 at 2147483647,2" },
    { { 2, 2, 2147483647, 10 }, "2147483647x10 at 2,2" },
  };
  const pp_format format = rgb_format (64, 48);
  const pp_spec spec = sized_spec (8, 8);

  for (int i = 0; i < LENGTH (rows); i++) {
    pp_error error = { PP_OK, "" };
    pp_plan *plan = pp_plan_new (&spec, &format, &rows[i].source, &error);

    EXPECT (!plan && error.status == PP_BAD_ARGUMENT &&
            strstr (error.text, rows[i].text) && strstr (error.text, "64x48"),
        "%s: \"%s\"", rows[i].text, error.text);
    pp_plan_unref (&plan);
  }
  /* No error wanted. */
  pp_plan *plan = pp_plan_new (&spec, &format, &rows[0].source, NULL);

  EXPECT (!plan, "a plan");
  pp_plan_unref (&plan);
}

int
main (void)
{
  test_bad_specs ();
  test_bad_surfaces ();
  test_bad_medians ();
  test_bad_formats ();
  test_bad_sources ();
  return expect_end ();
}
