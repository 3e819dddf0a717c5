/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Negotiation with real pads: downstream chooses, properties fill in, and the
 * tensor is of the shape and type that the caps say. And what pads answer who asks
 * about caps.
 */

#include "gst/buffers/cuda_memory.h"

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define T "other/tensors, format = (string) static, num_tensors = (int) 1, "
#define RATE ", framerate = (fraction) 30/1"
#define ANY_RATE ", framerate = (fraction) [ 0/1, 2147483647/1 ]"

/* What NNStreamer's tensor_filter offers with a model of 3:224:224:1 uint8. */
#define TENSOR_FILTER                                                          \
  "other/tensor, dimension = (string) 3:224:224:1, type = (string) uint8"      \
  ", framerate = (fraction) [ 0/1, 2147483647/1 ]; " T                         \
  "dimensions = (string) 3:224:224:1, types = (string) uint8" ANY_RATE         \
  "; other/tensors, format = (string) flexible" ANY_RATE

/* The same with a model of batch 4. */
#define TENSOR_FILTER_OF_4                                                     \
  "other/tensor, dimension = (string) 3:224:224:4, type = (string) uint8"      \
  ", framerate = (fraction) [ 0/1, 2147483647/1 ]; " T                         \
  "dimensions = (string) 3:224:224:4, types = (string) uint8" ANY_RATE         \
  "; other/tensors, format = (string) flexible" ANY_RATE
#define RATE_OF_4 ", framerate = (fraction) 15/2"

static const struct {
  const gchar *properties, *downstream; /* NULL: takes anything */
  const gchar *caps;                    /* what is negotiated for 32x24 */
} cases[] = {
  { "", NULL,
      T "types = (string) float32, dimensions = (string) 32:24:3:1" RATE },
  { "width=16 layout=nhwc channels=bgr type=float16", NULL,
      T "types = (string) float16, dimensions = (string) 3:16:24:1" RATE },
  { "", "other/tensors",
      T "types = (string) float32, dimensions = (string) 32:24:3:1" RATE },
  { "", TENSOR_FILTER,
      T "types = (string) uint8, dimensions = (string) 3:224:224:1" RATE },
  { "width=224 channels=bgr type=uint8", TENSOR_FILTER,
      T "types = (string) uint8, dimensions = (string) 3:224:224:1" RATE },
  { "", T "dimensions = (string) 224:224:3, types = (string) float16" ANY_RATE,
      T "types = (string) float16, dimensions = (string) 224:224:3" RATE },
  { "", T "dimensions = (string) 1:64:48:1:1, types = (string) int8" ANY_RATE,
      T "types = (string) int8, dimensions = (string) 1:64:48:1:1" RATE },
  { "layout=nhwc",
      T "dimensions = (string) 3:64:3:1, types = (string) uint8" ANY_RATE,
      T "types = (string) uint8, dimensions = (string) 3:64:3:1" RATE },
  { "width=64",
      T "dimensions = (string) 3:20:20:1, types = (string) uint8" ANY_RATE
        "; " T
        "dimensions = (string) 64:64:1:1, types = (string) uint8" ANY_RATE,
      T "types = (string) uint8, dimensions = (string) 64:64:1:1" RATE },
  { "", TENSOR_FILTER_OF_4,
      T "types = (string) uint8, dimensions = (string) 3:224:224:4" RATE_OF_4 },
  { "batch-size=4", TENSOR_FILTER_OF_4,
      T "types = (string) uint8, dimensions = (string) 3:224:224:4" RATE_OF_4 },
  { "batch-size=4", NULL,
      T "types = (string) float32, dimensions = (string) 32:24:3:4" RATE_OF_4 },
  { "batch-size=4 layout=nhwc", NULL,
      T "types = (string) float32, dimensions = (string) 3:32:24:4" RATE_OF_4 },
  { "batch-size=1", TENSOR_FILTER,
      T "types = (string) uint8, dimensions = (string) 3:224:224:1" RATE },
  { "type=float16", T "types = (string) { float32, float16 }" ANY_RATE,
      T "types = (string) float16, dimensions = (string) 32:24:3:1" RATE },
};

static const struct {
  const gchar *name;
  gsize size;
} types[] = { { "float32", 4 }, { "float16", 2 }, { "uint8", 1 },
  { "int8", 1 } };

/* Bytes of a tensor of these caps. */
static gsize
tensor_size (const GstCaps *caps)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *type = gst_structure_get_string (structure, "types");
  gchar **dimension =
      g_strsplit (gst_structure_get_string (structure, "dimensions"), ":", -1);
  gsize size = 0;

  for (guint t = 0; t < G_N_ELEMENTS (types); t++)
    if (g_strcmp0 (type, types[t].name) == 0)
      size = types[t].size;
  for (guint d = 0; dimension[d] != NULL; d++)
    size *= (gsize) g_ascii_strtoull (dimension[d], NULL, 10);
  g_strfreev (dimension);
  fail_unless (size > 0, "type %s", type);
  return size;
}

GST_START_TEST (test_negotiation) {
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = test_harness (__i__, cases[i].properties);
    GstCaps *expected = gst_caps_from_string (cases[i].caps);
    GstVideoInfo info;

    if (cases[i].downstream != NULL)
      gst_harness_set_sink_caps_str (h, cases[i].downstream);
    test_video_info (&info, "RGB", 32, 24);
    test_send_caps (h, &info);
    while (gst_harness_buffers_in_queue (h) == 0)
      fail_unless_equals_int (
          gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    GstBuffer *tensor = gst_harness_pull (h);
    GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
    gchar *text = gst_caps_to_string (caps);
    fail_unless (gst_caps_is_strictly_equal (caps, expected),
        "case %u is %s, not %s", i, text, cases[i].caps);
    fail_unless_equals_uint64 (
        gst_buffer_get_size (tensor), tensor_size (caps));
    g_free (text);
    gst_buffer_unref (tensor);
    gst_caps_unref (caps);
    gst_caps_unref (expected);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* The framerate is the video's; where it has none, 0/1. */
GST_START_TEST (test_framerate) {
  static const struct {
    const gchar *video, *tensor;
  } rates[] = { { ", framerate = (fraction) 30000/1001", "30000/1001" },
    { ", framerate = (fraction) 0/1", "0/1" }, { "", "0/1" } };

  for (guint i = 0; i < G_N_ELEMENTS (rates); i++) {
    GstHarness *h = test_harness (__i__, "");
    gchar *video =
        g_strconcat ("video/x-raw, format = RGB, width = 32, height = 24",
            rates[i].video, NULL);

    gst_harness_set_src_caps_str (h, video);
    GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);
    gchar *rate = gst_value_serialize (gst_structure_get_value (
        gst_caps_get_structure (caps, 0), "framerate"));
    fail_unless_equals_string (rate, rates[i].tensor);
    g_free (rate);
    g_free (video);
    gst_caps_unref (caps);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* What caps say wrongly or not at all is as if it were not there: the tensor's
 * first R, G and B for frames of one colour. */
GST_START_TEST (test_doubtful_caps) {
  static const struct {
    const gchar *properties, *format, *field;
    guint8 colour[3];
    gfloat element[3];
  } doubtful[] = {
    { "", "I420", "colorimetry = (string) 1:0:7:1", { 100, 90, 160 },
        { 144.864f, 90.2226f, 32.664f } },
    { "", "I420", "colorimetry = (string) 1:1:7:1", { 100, 90, 160 },
        { 144.864f, 90.2226f, 32.664f } },
    { "", "I420", "colorimetry = (string) sRGB", { 100, 90, 160 },
        { 144.864f, 90.2226f, 32.664f } },
    { "colorimetry=1:4:0:0", "I420", "colorimetry = bt709", { 100, 90, 160 },
        { 144.864f, 90.2226f, 32.664f } },
    { "colorimetry=1:0:0:0", "I420", "framerate = 30/1", { 100, 90, 160 },
        { 144.864f, 90.2226f, 32.664f } },
    { "colorimetry=2:0:0:0", "GRAY8", "colorimetry = (string) 1:0:0:0",
        { 100, 128, 128 }, { 97.8082f, 97.8082f, 97.8082f } },
    { "", "GRAY8", "colorimetry = (string) 2:1:7:1", { 100, 128, 128 },
        { 97.8082f, 97.8082f, 97.8082f } },
    { "", "RGB", "pixel-aspect-ratio = 0/1", { 10, 20, 30 }, { 10, 20, 30 } },
    { "fit=letterbox", "RGB", "pixel-aspect-ratio = -1/1", { 10, 20, 30 },
        { 10, 20, 30 } },
    { "fit=crop", "RGB", "pixel-aspect-ratio = 0/1", { 10, 20, 30 },
        { 10, 20, 30 } },
    { "ignore-pixel-aspect-ratio=true", "RGB", "pixel-aspect-ratio = -1/1",
        { 10, 20, 30 }, { 10, 20, 30 } },
    { "", "RGB", "framerate = -30/1", { 10, 20, 30 }, { 10, 20, 30 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (doubtful); i++) {
    g_autofree gchar *properties =
        g_strdup_printf ("scale=1 layout=nhwc %s", doubtful[i].properties);
    g_autofree gchar *video = g_strdup_printf (
        "video/x-raw, format = %s, width = 16, height = 16, %s",
        doubtful[i].format, doubtful[i].field);
    GstHarness *h = test_harness (__i__, properties);
    GstVideoInfo info;
    gfloat element[3];

    test_video_info (&info, doubtful[i].format, 16, 16);
    GstBuffer *frame = test_frame (&info, NULL);
    test_paint (frame, &info, doubtful[i].colour);
    gst_harness_set_src_caps_str (h, video);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    GstBuffer *tensor = gst_harness_pull (h);
    gst_buffer_extract (tensor, 0, element, sizeof element);
    for (guint c = 0; c < 3; c++)
      fail_unless (ABS (element[c] - doubtful[i].element[c]) < 0.01,
          "%s: channel %u is %g", video, c, element[c]);
    gst_buffer_unref (tensor);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Models were trained on frames whose pixels were taken for square: presets that
 * stand for training code take them so, too. */
GST_START_TEST (test_presets_and_pixels) {
  static const struct {
    const gchar *properties;
    gint height; /* of the picture in a tensor of 16x16 */
  } presets[] = {
    { "preset=none", 6 },
    { "preset=unit", 6 },
    { "preset=signed", 6 },
    { "preset=imagenet", 12 },
    { "preset=clip", 12 },
    { "preset=yolo", 12 },
    { "preset=caffe", 12 },
    { "preset=yolo ignore-pixel-aspect-ratio=false", 6 },
    { "preset=unit ignore-pixel-aspect-ratio=true", 12 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (presets); i++) {
    g_autofree gchar *properties = g_strdup_printf (
        "%s fit=letterbox width=16 height=16", presets[i].properties);
    GstHarness *h = test_harness (__i__, properties);
    GstVideoInfo info;

    test_video_info (&info, "RGB", 32, 24);
    gst_harness_set_src_caps_str (h,
        "video/x-raw, format = RGB, width = 32, height = 24, "
        "pixel-aspect-ratio = 2/1");
    fail_unless_equals_int (
        gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    GstBuffer *tensor = gst_harness_pull (h);
    fail_unless (test_meta_int (tensor, "dst-height") == presets[i].height,
        "%s: %d", properties, test_meta_int (tensor, "dst-height"));
    gst_buffer_unref (tensor);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* What a source that can do anything is told. */
GST_START_TEST (test_upstream_is_free) {
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=1 ! cudapreproc name=pp width=16 height=16 ! "
      "other/tensors,framerate=12/1 ! fakesink");
  GstStructure *structure;
  gint fps_n = 0, fps_d = 1;

  test_play_to_eos (pipeline);
  GstCaps *caps = gst_pad_get_current_caps (test_pad (pipeline, "pp", "sink"));
  structure = gst_caps_get_structure (caps, 0);
  fail_unless_equals_string (
      gst_structure_get_string (structure, "format"), "NV12");
  fail_unless (
      gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d));
  fail_unless (fps_n == 12 && fps_d == 1, "%d/%d", fps_n, fps_d);
  gst_caps_unref (caps);
  test_stop (&pipeline);
}
GST_END_TEST

/* The same shape in other words is another layout: 3:4:3:1 both ways. */
GST_START_TEST (test_layout_of_ambiguous_shape) {
  static const guint8 colour[3] = { 10, 20, 30 };
  GstVideoInfo info;
  guint8 element[36];

  test_video_info (&info, "RGB", 32, 24);
  for (guint nhwc = 0; nhwc < 2; nhwc++) {
    GstHarness *h = test_harness (__i__, nhwc ? "layout=nhwc" : "");
    GstBuffer *frame = test_frame (&info, NULL);

    test_paint (frame, &info, colour);
    gst_harness_set_sink_caps_str (
        h, T "dimensions = (string) 3:4:3:1, types = (string) uint8" ANY_RATE);
    GstBuffer *tensor = test_convert (h, &info, frame);
    fail_unless_equals_int (
        gst_buffer_extract (tensor, 0, element, sizeof element), 36);
    for (guint i = 0; i < 36; i++)
      fail_unless_equals_int (element[i], colour[nhwc ? i % 3 : i / 12]);
    gst_buffer_unref (tensor);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Where downstream wants batches, a source that is free gives as many frames. */
GST_START_TEST (test_upstream_of_batches_is_free) {
  static const struct {
    const gchar *properties, *caps;
  } free_cases[] = {
    { "batch-size=4", "other/tensors,framerate=3/1" },
    { "", "other/tensors,dimensions=(string)16:16:3:4,framerate=3/1" },
    { "batch-size=4",
        "other/tensors,dimensions=(string)16:16:3:4,framerate=3/1" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (free_cases); i++) {
    GstElement *pipeline = test_launch (__i__,
        "videotestsrc num-buffers=4 ! cudapreproc name=pp width=16 height=16 "
        "%s ! %s ! fakesink",
        free_cases[i].properties, free_cases[i].caps);
    gint fps_n = 0, fps_d = 1;

    test_play_to_eos (pipeline);
    GstCaps *caps =
        gst_pad_get_current_caps (test_pad (pipeline, "pp", "sink"));
    fail_unless (gst_structure_get_fraction (
        gst_caps_get_structure (caps, 0), "framerate", &fps_n, &fps_d));
    fail_unless (fps_n == 12 && fps_d == 1, "%d/%d", fps_n, fps_d);
    gst_caps_unref (caps);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* What pads answer where downstream wants 25 frames a second. That is no matter
 * of accepting caps, which only asks whether they can be frames or tensors. */
#define SIZE ", width = (int) 32, height = (int) 24"
#define SHAPE T "dimensions = (string) 3:64:48:1, "
#define NOT_ASKED (-1) /* caps that are not fixed */

static const struct {
  const gchar *pad;
  const gchar *caps;   /* the filter, and what is to be accepted */
  const gchar *answer; /* NULL: no caps */
  gint accepted;
} queries[] = {
  { "sink", "video/x-raw, format = (string) { NV12, v210 }" SIZE,
      "video/x-raw, format = (string) NV12" SIZE
      ", framerate = (fraction) 25/1",
      NOT_ASKED },
  { "sink", "video/x-raw, format = (string) RGB, width = (int) [ 0, 100000 ]",
      "video/x-raw, format = (string) RGB, width = (int) [ 1, 32768 ]"
      ", height = (int) [ 1, 32768 ], framerate = (fraction) 25/1",
      NOT_ASKED },
  { "sink", "video/x-raw, format = (string) RGB" SIZE,
      "video/x-raw, format = (string) RGB" SIZE ", framerate = (fraction) 25/1",
      TRUE },
  { "sink", "video/x-raw, format = (string) RGB" SIZE RATE, NULL, TRUE },
  { "sink", "video/x-raw, format = (string) v210" SIZE, NULL, FALSE },
  { "sink",
      "video/x-raw, format = (string) RGB, width = (int) 40000"
      ", height = (int) 24",
      NULL, FALSE },
  { "sink", "video/x-raw(memory:DMABuf), format = (string) NV12" SIZE, NULL,
      FALSE },
  { "sink", "audio/x-raw", NULL, FALSE },
  { "src", T "types = (string) { uint8, int64 }",
      T "types = (string) uint8" ANY_RATE, NOT_ASKED },
  { "src", SHAPE "types = (string) int8" RATE,
      SHAPE "types = (string) int8" RATE, TRUE },
  { "src", SHAPE "types = (string) int64" RATE, NULL, FALSE },
  { "src", "other/tensors, format = (string) flexible", NULL, FALSE },
  { "src", "audio/x-raw", NULL, FALSE },
};

static void
expect_answer (GstPad *pad, GstCaps *filter, const GstCaps *expected)
{
  GstCaps *answer = gst_pad_query_caps (pad, filter);
  g_autofree gchar *text = gst_caps_to_string (answer);
  g_autofree gchar *asked =
      filter != NULL ? gst_caps_to_string (filter) : g_strdup ("anything");

  fail_unless (gst_caps_is_equal (answer, expected), "%s of %s: %s",
      GST_PAD_NAME (pad), asked, text);
  gst_caps_unref (answer);
}

static void
check_query (GstElement *element, guint i)
{
  GstPad *pad = gst_element_get_static_pad (element, queries[i].pad);
  GstCaps *caps = gst_caps_from_string (queries[i].caps);
  GstCaps *expected = queries[i].answer != NULL
      ? gst_caps_from_string (queries[i].answer)
      : gst_caps_new_empty ();

  expect_answer (pad, caps, expected);
  if (queries[i].accepted != NOT_ASKED)
    fail_unless (gst_pad_query_accept_caps (pad, caps) == queries[i].accepted,
        "%s of %s", queries[i].pad, queries[i].caps);
  gst_caps_unref (expected);
  gst_caps_unref (caps);
  gst_object_unref (pad);
}

/* Without a filter: what the template has, at downstream's rate; once the device is
 * the CPU, without what lies on a GPU. */
static void
check_open_query (GstElement *element, const gchar *name, gboolean may_be_cuda)
{
  GstPad *pad = gst_element_get_static_pad (element, name);
  GstCaps *expected =
      gst_caps_make_writable (gst_pad_get_pad_template_caps (pad));

  if (!may_be_cuda || (GST_PAD_IS_SINK (pad) && !gst_pp_cuda_takes_frames ()))
    for (guint i = gst_caps_get_size (expected); i > 0; i--)
      if (gst_pp_caps_are_cuda (expected, i - 1))
        gst_caps_remove_structure (expected, i - 1);
  if (GST_PAD_IS_SINK (pad))
    gst_caps_set_simple (expected, "framerate", GST_TYPE_FRACTION, 25, 1, NULL);
  expect_answer (pad, NULL, expected);
  gst_caps_unref (expected);
  gst_object_unref (pad);
}

/* The same in every state, as long as upstream has no caps. */
GST_START_TEST (test_caps_queries) {
  static const GstState states[] = { GST_STATE_NULL, GST_STATE_PLAYING };
  GstHarness *h = test_harness (__i__, "");

  gst_harness_set_sink_caps_str (
      h, SHAPE "types = (string) uint8, framerate = (fraction) 25/1");
  for (guint s = 0; s < G_N_ELEMENTS (states); s++) {
    gst_element_set_state (h->element, states[s]);
    for (guint i = 0; i < G_N_ELEMENTS (queries); i++)
      check_query (h->element, i);
    const gboolean may_be_cuda = states[s] == GST_STATE_NULL || __i__ > 0;
    check_open_query (h->element, "sink", may_be_cuda);
    check_open_query (h->element, "src", may_be_cuda);
  }
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_negotiation);
  test_add (tcase, test_framerate);
  test_add (tcase, test_doubtful_caps);
  test_add (tcase, test_presets_and_pixels);
  test_add (tcase, test_caps_queries);
  test_add (tcase, test_upstream_is_free);
  test_add (tcase, test_upstream_of_batches_is_free);
  test_add (tcase, test_layout_of_ambiguous_shape);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-negotiation", add_tests);
}
