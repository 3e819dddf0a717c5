/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gst/inputformat.c: GStreamer's formats and colours as the engine has them.
 */

#include "gst/caps/inputformat.h"

#include "tests/common/elementutil.h"

static void
format_from (const gchar *text, pp_format *format)
{
  GstCaps *caps = gst_caps_from_string (text);
  GstVideoInfo info;
  gchar *reason = NULL;

  fail_unless (gst_pp_video_info_from_caps (&info, caps), "%s", text);
  fail_unless (gst_pp_format_from_video_info (&info, format, &reason), "%s: %s",
      text, reason);
  gst_caps_unref (caps);
}

/* The engine takes every format of the template. */
GST_START_TEST (test_formats_are_usable) {
  GValue list = G_VALUE_INIT;
  pp_spec spec;

  g_value_init (&list, GST_TYPE_LIST);
  fail_unless (gst_value_deserialize (&list, GST_PP_INPUT_FORMATS));
  pp_spec_init (&spec);
  spec.width = spec.height = 16;
  for (guint i = 0; i < gst_value_list_get_size (&list); i++) {
    const gchar *name =
        g_value_get_string (gst_value_list_get_value (&list, i));
    GstVideoInfo info;
    pp_format format;
    pp_error error;
    gchar *reason = NULL;

    fail_unless (gst_video_info_set_format (
                     &info, gst_video_format_from_string (name), 33, 17),
        "%s is not a format here", name);
    fail_unless (gst_pp_format_from_video_info (&info, &format, &reason),
        "%s: %s", name, reason);
    pp_plan *plan = pp_plan_new (&spec, &format, NULL, &error);
    fail_unless (plan != NULL, "%s: %s", name, error.text);
    pp_plan_unref (&plan);
  }
  g_value_unset (&list);
}
GST_END_TEST

/* Components that are no whole samples: an error, not a guess. */
GST_START_TEST (test_formats_are_refused) {
  static const GstVideoFormat refused[] = {
    GST_VIDEO_FORMAT_v210,
    GST_VIDEO_FORMAT_RGB8P,
    GST_VIDEO_FORMAT_IYU1,
    GST_VIDEO_FORMAT_UYVP,
    GST_VIDEO_FORMAT_NV12_64Z32,
    GST_VIDEO_FORMAT_GRAY10_LE32,
    GST_VIDEO_FORMAT_NV12_10LE32,
    GST_VIDEO_FORMAT_NV12_10LE40,
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    const gchar *name = gst_video_format_to_string (refused[i]);
    GstVideoInfo info;
    pp_format format;
    gchar *reason = NULL;

    gst_video_info_set_format (&info, refused[i], 64, 64);
    fail_unless (!gst_pp_format_from_video_info (&info, &format, &reason),
        "%s was taken", name);
    test_expect_words (reason, name);
    g_free (reason);
  }
}
GST_END_TEST

/* Caps alone decide about range, matrix and chroma, never the size. */
GST_START_TEST (test_colour) {
  static const struct {
    const gchar *caps;
    gint offset, scale; /* of Y */
    gdouble kr;
    gboolean cosited_x, cosited_y;
  } cases[] = {
#define SMALL "video/x-raw, format = I420, width = 640, height = 360"
#define LARGE "video/x-raw, format = I420, width = 1280, height = 720"
    { SMALL, 16, 219, 0.299, FALSE, FALSE },
    { LARGE, 16, 219, 0.2126, TRUE, FALSE },
    { SMALL ", colorimetry = bt709", 16, 219, 0.2126, TRUE, FALSE },
    { LARGE ", colorimetry = bt601", 16, 219, 0.299, TRUE, FALSE },
    { SMALL ", colorimetry = bt2020", 16, 219, 0.2627, TRUE, FALSE },
    { SMALL ", colorimetry = (string) 1:3:5:1", 0, 255, 0.2126, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:4:0:0", 0, 255, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:4:0:0, chroma-site = mpeg2", 0, 255,
        0.299, TRUE, FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = jpeg", 16, 219, 0.2126, FALSE,
        FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = cosited", 16, 219, 0.2126,
        TRUE, TRUE },
    { LARGE ", colorimetry = (string) 1:3:5:1", 0, 255, 0.2126, FALSE, FALSE },
    { SMALL ", colorimetry = bt601", 16, 219, 0.299, TRUE, FALSE },
    /* A site that is named holds, one that is none does not. */
    { SMALL ", chroma-site = mpeg2", 16, 219, 0.299, TRUE, FALSE },
    { LARGE ", chroma-site = jpeg", 16, 219, 0.2126, FALSE, FALSE },
    { LARGE ", colorimetry = (string) 2:0:0:0, chroma-site = jpeg", 16, 219,
        0.2126, FALSE, FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = unknown", 16, 219, 0.2126,
        TRUE, FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = x", 16, 219, 0.2126, TRUE,
        FALSE },
    /* Colorimetry that is none, or not that of Y'CbCr, says nothing. */
    { SMALL ", colorimetry = x", 16, 219, 0.299, FALSE, FALSE },
    { LARGE ", colorimetry = x", 16, 219, 0.2126, TRUE, FALSE },
    /* One of range and matrix is unknown, or none for such frames. */
    { LARGE ", colorimetry = sRGB", 0, 255, 0.2126, TRUE, FALSE },
    { SMALL ", colorimetry = sRGB", 0, 255, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:1:7:1", 0, 255, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 2:1:7:1", 16, 219, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 9:3:5:1", 16, 219, 0.2126, TRUE, FALSE },
    { SMALL ", colorimetry = (string) 0:1:0:0", 16, 219, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 2:0:0:0", 16, 219, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:0:0:0", 0, 255, 0.299, FALSE, FALSE },
    { LARGE ", colorimetry = (string) 1:0:0:0", 0, 255, 0.2126, TRUE, FALSE },
    { SMALL ", colorimetry = (string) 0:3:5:1", 16, 219, 0.2126, TRUE, FALSE },
    { "video/x-raw, format = I420_10LE, width = 640, height = 360, "
      "colorimetry = bt2100-pq",
        64, 876, 0.2627, TRUE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    pp_format format;

    format_from (cases[i].caps, &format);
    fail_unless (format.offset[0] == cases[i].offset &&
            format.scale[0] == cases[i].scale,
        "%s: Y is (value - %d) / %d", cases[i].caps, format.offset[0],
        format.scale[0]);
    fail_unless (
        format.kr == cases[i].kr, "%s: Kr is %g", cases[i].caps, format.kr);
    fail_unless (format.cosited_x == cases[i].cosited_x &&
            format.cosited_y == cases[i].cosited_y,
        "%s: cosited %d %d", cases[i].caps, format.cosited_x, format.cosited_y);
  }
}
GST_END_TEST

/* Of gray and R'G'B' the range counts, whatever matrix stands beside it. */
GST_START_TEST (test_range_without_matrix) {
  static const struct {
    const gchar *format, *colorimetry;
    gint offset, scale;
  } cases[] = {
    { "GRAY8", "2:1:7:1", 16, 219 },
    { "GRAY8", "2:0:0:0", 16, 219 },
    { "GRAY8", "1:3:5:1", 0, 255 },
    { "GRAY8", "bt709", 16, 219 },
    { "GRAY8", "0:3:5:1", 0, 255 },
    { "GRAY8", "x", 0, 255 },
    { "RGB", "2:1:7:1", 16, 219 },
    { "RGB", "2:0:0:0", 16, 219 },
    { "RGB", "2:3:5:1", 16, 219 },
    { "RGB", "0:1:7:1", 0, 255 },
    { "RGB", "0:3:5:1", 0, 255 },
    { "RGB", "sRGB", 0, 255 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *caps = g_strdup_printf (
        "video/x-raw, format = %s, width = 64, height = 64, colorimetry = "
        "(string) %s",
        cases[i].format, cases[i].colorimetry);
    pp_format format;

    format_from (caps, &format);
    fail_unless (format.offset[0] == cases[i].offset &&
            format.scale[0] == cases[i].scale,
        "%s: (value - %d) / %d", caps, format.offset[0], format.scale[0]);
  }
}
GST_END_TEST

/* What the user names stands for what caps say, field by field. */
GST_START_TEST (test_override) {
  static const struct {
    const gchar *caps, *colorimetry, *same; /* as these caps */
  } cases[] = {
    { SMALL, "bt709", SMALL ", colorimetry = bt709" },
    { SMALL, "1:4:0:0", SMALL ", colorimetry = (string) 1:4:0:0" },
    { SMALL ", colorimetry = bt709", "1:0:0:0",
        SMALL ", colorimetry = (string) 1:3:5:1" },
    { SMALL ", colorimetry = (string) 1:3:5:1", "0:4:0:0",
        SMALL ", colorimetry = (string) 1:4:5:1" },
    { SMALL ", colorimetry = bt709", "sRGB",
        SMALL ", colorimetry = (string) 1:3:7:1" },
    { SMALL ", chroma-site = cosited", "bt709",
        SMALL ", chroma-site = cosited, colorimetry = bt709" },
    { LARGE ", colorimetry = bt709", "", LARGE ", colorimetry = bt709" },
    { LARGE, "", LARGE },
    { "video/x-raw, format = RGB, width = 8, height = 8", "2:0:0:0",
        "video/x-raw, format = RGB, width = 8, height = 8, "
        "colorimetry = (string) 2:1:7:1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCaps *caps = gst_caps_from_string (cases[i].caps);
    GstCaps *same = gst_caps_from_string (cases[i].same);
    GstVideoInfo info, expected;

    fail_unless (gst_pp_video_info_from_caps (&info, caps) &&
        gst_pp_video_info_from_caps (&expected, same));
    gst_pp_video_info_override_colorimetry (&info, caps, cases[i].colorimetry);
    fail_unless (gst_video_colorimetry_is_equal (
                     &info.colorimetry, &expected.colorimetry) &&
            info.chroma_site == expected.chroma_site,
        "%s with %s: %d:%d:%d:%d, site %d", cases[i].caps, cases[i].colorimetry,
        info.colorimetry.range, info.colorimetry.matrix,
        info.colorimetry.transfer, info.colorimetry.primaries,
        info.chroma_site);
    gst_caps_unref (caps);
    gst_caps_unref (same);
  }
}
GST_END_TEST

/* A ratio or a rate that is no positive number is none. */
GST_START_TEST (test_fractions) {
  static const struct {
    const gchar *field;
    gint par_n, par_d, fps_n, fps_d;
  } cases[] = {
    { "pixel-aspect-ratio = 16/11, framerate = 25/1", 16, 11, 25, 1 },
    { "pixel-aspect-ratio = 0/1, framerate = 25/1", 1, 1, 25, 1 },
    { "pixel-aspect-ratio = -1/1, framerate = 0/1", 1, 1, 0, 1 },
    { "pixel-aspect-ratio = (string) x", 1, 1, 0, 1 },
    { "framerate = -25/1", 1, 1, 0, 1 },
    { "framerate = (int) 25", 1, 1, 0, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strdup_printf (
        "video/x-raw, format = RGB, width = 64, height = 64, %s",
        cases[i].field);
    GstCaps *caps = gst_caps_from_string (text);
    GstVideoInfo info;

    fail_unless (gst_pp_video_info_from_caps (&info, caps), "%s", text);
    fail_unless (info.par_n == cases[i].par_n && info.par_d == cases[i].par_d &&
            info.fps_n == cases[i].fps_n && info.fps_d == cases[i].fps_d,
        "%s: %d/%d, %d/%d", text, info.par_n, info.par_d, info.fps_n,
        info.fps_d);
    gst_caps_unref (caps);
  }
}
GST_END_TEST

/* P010's second chroma sample is two bytes on, whatever GstVideoFormatInfo. */
GST_START_TEST (test_components) {
  pp_format format;

  format_from (
      "video/x-raw, format = P010_10LE, width = 64, height = 64", &format);
  fail_unless (format.sample_bytes == 2 && !format.big_endian);
  fail_unless_equals_int (format.component[2].offset, 2);
  fail_unless_equals_int (format.component[2].pixel_stride, 4);
  fail_unless_equals_int (format.component[2].shift, 6);

  format_from (
      "video/x-raw, format = I420_10BE, width = 64, height = 64", &format);
  fail_unless (format.sample_bytes == 2 && format.big_endian);
  fail_unless_equals_int (format.component[0].shift, 0);
  fail_unless_equals_int (format.component[0].depth, 10);

  format_from ("video/x-raw, format = GRAY8, width = 64, height = 64, "
               "pixel-aspect-ratio = 16/11",
      &format);
  fail_unless (format.model == PP_MODEL_GRAY && format.n_components == 1);
  fail_unless (format.par_n == 16 && format.par_d == 11);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_formats_are_usable);
  tcase_add_test (tcase, test_formats_are_refused);
  tcase_add_test (tcase, test_colour);
  tcase_add_test (tcase, test_range_without_matrix);
  tcase_add_test (tcase, test_override);
  tcase_add_test (tcase, test_fractions);
  tcase_add_test (tcase, test_components);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-formats", add_tests);
}
