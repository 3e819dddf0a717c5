/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The picture as video: the same values as in a tensor that is not normalised, laid
 * out as GstVideoInfo says, with caps that tell people and elements what it is.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static const struct {
  const gchar *name;
  const gchar *channels, *layout; /* of the tensor with the same values */
} formats[] = {
  { "RGB", "rgb", "nhwc" },
  { "BGR", "bgr", "nhwc" },
  { "RGBA", "rgb", "nhwc" },
  { "BGRA", "bgr", "nhwc" },
  { "RGBx", "rgb", "nhwc" },
  { "BGRx", "bgr", "nhwc" },
  { "RGBP", "rgb", "nchw" },
  { "BGRP", "bgr", "nchw" },
  { "GRAY8", "gray", "nchw" },
};

static const gchar *const settings[] = {
  "width=16 height=16",
  "width=37 height=3 fit=letterbox",
  "width=5 height=21 fit=letterbox pad-align=top-left",
  "width=33 height=17 fit=crop method=bicubic antialias=true",
  "width=20 height=20 fit=letterbox denoise=median method=area pad-value=9.5",
  "width=37 height=29 fit=letterbox video-direction=90r",
  "width=8 height=70 fit=crop video-direction=ul-lr",
  "width=40 height=20 video-direction=180",
};

static void
take_video (GstHarness *h, const gchar *format)
{
  g_autofree gchar *caps =
      g_strdup_printf ("video/x-raw, format = (string) %s", format);

  gst_harness_set_sink_caps_str (h, caps);
}

/* What picture has in every byte: the tensor's values in order, and 255 where no
 * pixel is. */
static void
expect_values (GstBuffer *picture, GstBuffer *tensor, const GstVideoInfo *info,
    const gchar *what)
{
  const gint width = GST_VIDEO_INFO_WIDTH (info);
  const gint height = GST_VIDEO_INFO_HEIGHT (info);
  const gboolean planar = GST_VIDEO_INFO_N_PLANES (info) > 1;
  const gint channels = MIN (GST_VIDEO_INFO_N_COMPONENTS (info), 3);
  const gint pixel = GST_VIDEO_INFO_COMP_PSTRIDE (info, 0);
  g_autofree guint8 *expected = g_malloc (info->size);
  GstMapInfo map;
  gsize i = 0;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  memset (expected, 255, info->size);
  for (gint c = 0; c < channels; c++)
    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++) {
        const gsize from = planar || channels == 1
            ? (gsize) ((c * height + y) * width + x)
            : (gsize) ((y * width + x) * channels + c);
        const gsize to = (planar ? info->offset[c] : (gsize) c) +
            (gsize) y * (gsize) info->stride[0] + (gsize) (x * pixel);
        expected[to] = map.data[from];
      }
  gst_buffer_unmap (tensor, &map);
  fail_unless_equals_uint64 (gst_buffer_get_size (picture), info->size);
  fail_unless (gst_buffer_map (picture, &map, GST_MAP_READ));
  while (i < map.size && map.data[i] == expected[i])
    i++;
  fail_unless (i == map.size, "%s: byte %" G_GSIZE_FORMAT " is %u, not %u",
      what, i, map.data[i], expected[i]);
  gst_buffer_unmap (picture, &map);
}

static void
check (gint backend, guint f, const gchar *properties)
{
  g_autofree gchar *of_tensor = g_strdup_printf ("%s type=uint8 channels=%s "
                                                 "layout=%s",
      properties, formats[f].channels, formats[f].layout);
  g_autofree gchar *what =
      g_strdup_printf ("%s, %s", formats[f].name, properties);
  GstHarness *h = test_harness (backend, properties);
  GstHarness *alone = test_harness (backend, of_tensor);
  GstVideoInfo info, out;

  test_video_info (&info, "NV12", 61, 43);
  take_video (h, formats[f].name);
  for (guint n = 0; n < 5; n++) { /* in the same memory, too */
    GstBuffer *frame = test_frame (&info, NULL);
    test_paint_noise (frame, &info, n);
    GstBuffer *tensor = test_convert (alone, &info, gst_buffer_ref (frame));
    GstBuffer *picture = test_convert (h, &info, frame);
    GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
    fail_unless (gst_video_info_from_caps (&out, caps));
    fail_unless_equals_string (GST_VIDEO_INFO_NAME (&out), formats[f].name);
    expect_values (picture, tensor, &out, what);
    gst_caps_unref (caps);
    gst_buffer_unref (tensor);
    gst_buffer_unref (picture);
  }
  test_harness_end (&alone);
  test_harness_end (&h);
}

GST_START_TEST (test_values) {
  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (settings); s++)
      check (__i__, f, settings[s]);
}
GST_END_TEST

/* Normalisation is for the model: the picture is before it. */
GST_START_TEST (test_not_normalised) {
  static const gchar *const normalised[] = { "", "mean=0.5 std=0.1,0.2,0.3",
    "scale=7 quant-scale=3 quant-zero-point=9", "preset=caffe fit=stretch" };
  static const guint8 colour[3] = { 10, 200, 30 };
  GstVideoInfo info;

  test_video_info (&info, "RGB", 16, 16);
  for (guint i = 0; i < G_N_ELEMENTS (normalised); i++) {
    GstHarness *h = test_harness (__i__, normalised[i]);
    GstBuffer *frame = test_frame (&info, NULL);
    guint8 pixel[4] = { 0 };

    test_paint (frame, &info, colour);
    take_video (h, "BGRA");
    GstBuffer *picture = test_convert (h, &info, frame);
    gst_buffer_extract (picture, 4 * 100, pixel, 4);
    fail_unless (
        pixel[0] == 30 && pixel[1] == 200 && pixel[2] == 10 && pixel[3] == 255,
        "%s: %u %u %u %u", normalised[i], pixel[0], pixel[1], pixel[2],
        pixel[3]);
    gst_buffer_unref (picture);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* caps */

static const struct {
  const gchar *properties, *video, *downstream;
  const gchar *caps; /* that must be part of what is negotiated */
} caps_cases[] = {
  /* downstream's format and size; pixels of another shape */
  { "", "width=64,height=48", "video/x-raw,format=RGB",
      "width=64,height=48,framerate=30/1,pixel-aspect-ratio=1/1" },
  { "width=32", "width=64,height=48", "video/x-raw,format=RGB",
      "width=32,height=48,pixel-aspect-ratio=2/1" },
  { "", "width=64,height=48", "video/x-raw,format=RGB,width=16,height=48",
      "width=16,height=48,pixel-aspect-ratio=4/1" },
  { "", "width=64,height=48",
      "video/x-raw,format=RGB,width=[100,200],height=[1,20]",
      "width=100,height=20,pixel-aspect-ratio=4/15" },
  { "width=16 height=16", "width=64,height=48,pixel-aspect-ratio=3/4",
      "video/x-raw,format=RGB", "pixel-aspect-ratio=1/1" },
  { "width=10 height=10 crop=4,4,20,1000", "width=64,height=44",
      "video/x-raw,format=RGB", "pixel-aspect-ratio=1/2" },
  { "width=16 height=16 fit=letterbox", "width=64,height=48",
      "video/x-raw,format=RGB", "pixel-aspect-ratio=1/1" },
  { "width=16 height=16 fit=letterbox",
      "width=64,height=48,pixel-aspect-ratio=2/1", "video/x-raw,format=RGB",
      "pixel-aspect-ratio=1/1" },
  { "width=16 height=16 fit=crop ignore-pixel-aspect-ratio=true",
      "width=64,height=48,pixel-aspect-ratio=2/1", "video/x-raw,format=RGB",
      "pixel-aspect-ratio=2/1" },
  { "video-direction=90l width=20 height=20",
      "width=64,height=32,pixel-aspect-ratio=1/2", "video/x-raw,format=RGB",
      "pixel-aspect-ratio=1/1" },
  { "video-direction=90l width=20 height=20", "width=64,height=32",
      "video/x-raw,format=RGB", "pixel-aspect-ratio=1/2" },
  { "video-direction=90l", "width=64,height=32", "video/x-raw,format=RGB",
      "width=32,height=64,pixel-aspect-ratio=1/1" },
  /* what downstream says */
  { "width=32", "width=64,height=48",
      "video/x-raw,format=RGB,pixel-aspect-ratio=1/1",
      "width=32,height=48,pixel-aspect-ratio=1/1" },
  { "", "width=64,height=48", "video/x-raw,format={v210,GRAY8}",
      "format=GRAY8" },
  { "channels=bgr", "width=64,height=48", "video/x-raw,format={GRAY8,RGB}",
      "format=RGB" },
  { "channels=gray", "width=64,height=48", "video/x-raw,format={RGB,GRAY8}",
      "format=GRAY8" },
  { "batch-size=1 type=uint8", "width=64,height=48", "video/x-raw,format=RGBP",
      "format=RGBP" },
  /* colours are the frames', but full range */
  { "", "width=64,height=48,colorimetry=(string)2:3:5:1",
      "video/x-raw,format=RGB", "colorimetry=(string)1:1:5:1" },
  { "", "width=64,height=48,colorimetry=(string)2:6:13:7",
      "video/x-raw,format=BGRx", "colorimetry=(string)1:1:13:7" },
  { "", "width=64,height=48,colorimetry=(string)2:3:5:1",
      "video/x-raw,format=GRAY8", "colorimetry=(string)1:4:5:1" },
  { "colorimetry=2:3:7:1", "width=64,height=48,colorimetry=(string)2:3:5:1",
      "video/x-raw,format=RGB", "colorimetry=(string)sRGB" },
  { "", "width=64,height=48,colorimetry=(string)2:3:5:1",
      "video/x-raw,format=RGB,colorimetry=(string)sRGB",
      "colorimetry=(string)sRGB" },
  /* tensors are first where downstream takes both */
  { "type=float32", "width=64,height=48", "ANY",
      "dimensions=(string)64:48:3:1" },
  { "", "width=64,height=48", "video/x-raw;other/tensors",
      "dimensions=(string)64:48:3:1" },
  { "", "width=64,height=48", "other/tensors;video/x-raw",
      "dimensions=(string)64:48:3:1" },
  { "type=float16", "width=64,height=48", "video/x-raw;other/tensors",
      "types=float16" },
  { "batch-size=4", "width=64,height=48", "video/x-raw;other/tensors",
      "dimensions=(string)64:48:3:4" },
};

/* Whether caps are of a kind with these fields among others. */
static gboolean
has_fields (const GstCaps *caps, const gchar *fields)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  g_autofree gchar *text =
      g_strdup_printf ("%s, %s", gst_structure_get_name (structure), fields);
  GstStructure *expected = gst_structure_from_string (text, NULL);
  gboolean has = expected != NULL;

  for (gint i = 0; has && i < gst_structure_n_fields (expected); i++) {
    const gchar *name = gst_structure_nth_field_name (expected, (guint) i);
    const GValue *value = gst_structure_get_value (structure, name);
    has = value != NULL &&
        gst_value_compare (value, gst_structure_get_value (expected, name)) ==
            GST_VALUE_EQUAL;
  }
  gst_clear_structure (&expected);
  return has;
}

GST_START_TEST (test_caps) {
  for (guint i = 0; i < G_N_ELEMENTS (caps_cases); i++) {
    GstHarness *h = test_harness (__i__, caps_cases[i].properties);
    g_autofree gchar *video = g_strdup_printf (
        "video/x-raw,format=NV12,framerate=30/1,%s", caps_cases[i].video);

    gst_harness_set_sink_caps_str (h, caps_cases[i].downstream);
    gst_harness_set_src_caps_str (h, video);
    GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
    fail_unless (caps != NULL, "case %u: nothing was negotiated", i);
    g_autofree gchar *text = gst_caps_to_string (caps);
    fail_unless (has_fields (caps, caps_cases[i].caps), "case %u: %s is not %s",
        i, text, caps_cases[i].caps);
    fail_unless (gst_caps_is_fixed (caps));
    gst_caps_unref (caps);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Contradictions name both. */
GST_START_TEST (test_contradictions) {
  static const struct {
    const gchar *properties, *downstream, *words;
  } cases[] = {
    { "batch-size=4", "video/x-raw", "video/x-raw|batch-size=4" },
    { "type=float32", "video/x-raw", "video/x-raw|type=float32" },
    { "width=32", "video/x-raw,width=64", "width=64|width=32" },
    { "height=32", "video/x-raw,height=[64,100]", "height=64|height=32" },
    { "channels=gray", "video/x-raw,format={RGB,BGRP}",
        "format=RGB|channels=gray" },
    { "preset=yolo", "video/x-raw,format=GRAY8",
        "format=GRAY8|channels=rgb|preset=yolo" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = test_harness (__i__, cases[i].properties);
    GstVideoInfo info;

    test_video_info (&info, "RGB", 32, 24);
    gst_harness_set_sink_caps_str (h, cases[i].downstream);
    gst_harness_push_event (h, gst_event_new_stream_start ("test"));
    gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
    g_autofree gchar *text = test_harness_error (h);
    test_expect_words (text, cases[i].words);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* pipelines */

/* The same caps on both sides are converted all the same: nothing passes
 * through. */
GST_START_TEST (test_nothing_passes_through) {
  GstHarness *h = test_harness (__i__, "pad-value=7 crop=0,0,8,8");
  GstVideoInfo info;
  guint8 corner[3];

  test_video_info (&info, "RGB", 16, 16);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 1);
  take_video (h, "RGB");
  GstBuffer *picture = test_convert (h, &info, gst_buffer_ref (frame));
  fail_unless (
      gst_buffer_get_custom_meta (picture, "GstCudaPreprocMeta") != NULL);
  gst_buffer_extract (frame, 0, corner, 3);
  fail_unless (gst_buffer_memcmp (picture, 0, corner, 3) == 0);
  gst_buffer_extract (frame, 3, corner, 3); /* it is enlarged */
  fail_unless (gst_buffer_memcmp (picture, 3, corner, 3) != 0);
  gst_buffer_unref (picture);
  gst_buffer_unref (frame);
  test_harness_end (&h);
}
GST_END_TEST

/* Each region of a frame is a picture of its own, as the crop of it alone is. */
GST_START_TEST (test_regions) {
  static const guint regions[][4] = { { 0, 0, 32, 24 }, { 3, 5, 17, 11 },
    { 30, 2, 2, 20 } };
  static const gchar *const all = "width=18 height=16 fit=letterbox";
  g_autofree gchar *properties = g_strdup_printf ("%s regions=meta", all);
  GstHarness *h = test_harness (__i__, properties);
  GstHarness *alone = test_harness (__i__, all);
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  take_video (h, "BGRA");
  take_video (alone, "BGRA");
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (&info, NULL);
    test_paint_noise (frame, &info, n);
    GstBuffer *plain = gst_buffer_copy (frame);
    for (guint r = 0; r < G_N_ELEMENTS (regions); r++)
      gst_buffer_add_video_region_of_interest_meta (frame, "face",
          regions[r][0], regions[r][1], regions[r][2], regions[r][3]);
    test_send_caps (h, &info);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    for (guint r = 0; r < G_N_ELEMENTS (regions); r++) {
      g_autofree gchar *crop = g_strdup_printf ("%u,%u,%u,%u", regions[r][0],
          regions[r][1], regions[r][2], regions[r][3]);
      g_object_set (alone->element, "crop", crop, NULL);
      GstBuffer *expected = test_convert (alone, &info, gst_buffer_ref (plain));
      GstBuffer *picture = gst_harness_pull (h);
      test_expect_equal (picture, expected, crop);
      gst_buffer_unref (picture);
      gst_buffer_unref (expected);
    }
    gst_buffer_unref (plain);
  }
  test_harness_end (&alone);
  test_harness_end (&h);
}
GST_END_TEST

/* What the README shows, but for the file. */
GST_START_TEST (test_readme_example) {
  g_autofree gchar *readme = NULL;
  gint pictures = 0;

  fail_unless (
      g_file_get_contents (SOURCE_ROOT "/README.md", &readme, NULL, NULL));
  gchar *line = strstr (readme, "\n## To look at the picture\n");
  line = line != NULL ? strstr (line, "\ngst-launch-1.0 ") : NULL;
  gchar *end = line != NULL ? strstr (line, " ! pngenc") : NULL;
  fail_unless (end != NULL, "no example of a picture");
  *end = '\0';

  GstElement *pipeline = test_launch (
      __i__, "%s ! fakesink name=sink", line + strlen ("\ngst-launch-1.0 "));
  test_count_buffers (test_pad (pipeline, "sink", "sink"), &pictures);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (pictures, 100);
  test_stop (&pipeline);
}
GST_END_TEST

/* A picture beside its tensor. */
GST_START_TEST (test_beside_tensors) {
  gint tensors = 0, pictures = 0;
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=64,height=48 "
      "! tee name=t ! queue ! cudapreproc preset=yolo width=32 height=32 "
      "batch-size=4 ! fakesink name=one t. ! queue ! cudapreproc preset=yolo "
      "width=32 height=32 ! video/x-raw,format=BGRx ! videoconvert ! "
      "video/x-raw,format=I420 ! fakesink name=two");

  test_count_buffers (test_pad (pipeline, "one", "sink"), &tensors);
  test_count_buffers (test_pad (pipeline, "two", "sink"), &pictures);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (tensors, 5);
  fail_unless_equals_int (pictures, 20);
  test_stop (&pipeline);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_values);
  test_add (tcase, test_not_normalised);
  test_add (tcase, test_caps);
  test_add (tcase, test_contradictions);
  test_add (tcase, test_nothing_passes_through);
  test_add (tcase, test_regions);
  test_add (tcase, test_readme_example);
  test_add (tcase, test_beside_tensors);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-video", add_tests);
}
