/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bad input: one error, which names the property or the field and its value; no
 * crash, no leak, no tensor; and the element works again afterwards.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define VIDEO                                                                  \
  "video/x-raw, format = RGB, width = 32, height = 24, framerate = 30/1"
#define T "other/tensors, format = static, num_tensors = 1, "

static void
send_caps (GstHarness *h, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);
  GstSegment segment;

  fail_unless (caps != NULL, "%s", text);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_stream_start ("test"));
  gst_harness_push_event (h, gst_event_new_caps (caps));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  gst_caps_unref (caps);
}

/* The one error that came has all the words, and nothing else came. */
static void
expect_error (GstHarness *h, const gchar *words)
{
  gchar *text = test_harness_error (h);

  test_expect_words (text, words);
  fail_unless_equals_int (gst_harness_buffers_received (h), 0);
  g_free (text);
}

/* properties and caps */

static const struct {
  const gchar *properties, *downstream, *words;
} refused[] = {
  /* lists */
  { "mean=1,2", NULL, "mean=1,2|2 values|3 channels" },
  { "mean=1,2,3 channels=gray", NULL, "mean=1,2,3|1 channels" },
  { "mean=a", NULL, "mean=a" },
  { "pad-value=1,2", NULL, "pad-value=1,2" },
  { "std=\"\"", NULL, "std=" },
  /* numbers */
  { "std=0", NULL, "std|0" },
  { "std=1,0,1", NULL, "std[1]|0" },
  { "std=nan", NULL, "std|nan" },
  { "mean=inf", NULL, "mean|inf" },
  { "mean=0,0,-nan", NULL, "mean[2]|nan" },
  { "std=1e-320", NULL, "std" },
  { "pad-value=256", NULL, "pad-value|256" },
  { "pad-value=-1", NULL, "pad-value|-1" },
  { "quant-zero-point=200 type=int8", NULL, "quant-zero-point|200" },
  /* what goes together */
  { "width=224 height=224 fit=crop resize=100", NULL, "resize|100|224" },
  { "resize=300 fit=letterbox", NULL, "resize|300|letterbox" },
  { "crop-fraction=0.5 fit=letterbox", NULL, "crop-fraction|0.5|letterbox" },
  { "crop-fraction=0.5 resize=32 fit=crop", NULL, "crop-fraction|resize" },
  { "denoise=median denoise-size=7", NULL, "denoise-size|7|median" },
  { "crop=0,0,33,24", NULL, "crop=0,0,33,24|32x24" },
  { "crop=0,0,0,0", NULL, "crop=0,0,0,0" },
  /* larger than a buffer can be */
  { "width=32768 height=32768", NULL, "width=32768|height=32768" },
  { "width=21000 height=21000 type=float32", NULL, "width=21000|height=21000" },
  /* properties against downstream's caps */
  { "width=64", T "dimensions = (string) 3:20:20:1",
      "width=64|dimensions=3:20:20:1" },
  { "height=64", T "dimensions = (string) 3:20:20:1",
      "height=64|dimensions=3:20:20:1" },
  { "layout=nchw", T "dimensions = (string) 3:20:20:1",
      "layout=nchw|dimensions=3:20:20:1" },
  { "channels=gray", T "dimensions = (string) 3:20:20:1",
      "channels=gray|dimensions=3:20:20:1" },
  { "type=float16", T "types = (string) uint8", "type=float16|types=uint8" },
  { "channels=bgr", T "dimensions = (string) 64:48:1:1",
      "channels=bgr|dimensions=64:48:1:1" },
  { "preset=caffe", T "dimensions = (string) 64:48:1:1",
      "channels=bgr|preset=caffe sets|dimensions=64:48:1:1" },
  /* what no properties can give */
  { "", T "dimensions = (string) 2:20:20:1", "dimensions=2:20:20:1" },
  { "", T "dimensions = (string) 3:20:20:2", "dimensions=3:20:20:2" },
  { "", T "dimensions = (string) 3:0:20:1", "dimensions=3:0:20:1" },
  { "", T "dimensions = (string) 3:-20:20:1", "dimensions=3:-20:20:1" },
  { "", T "dimensions = (string) 40000:20:3:1", "dimensions=40000:20:3:1" },
  { "", T "types = (string) int64", "int64" },
  { "", "other/tensors, format = flexible", "flexible" },
  { "", "other/tensors, format = static, num_tensors = 2", "num_tensors" },
  { "", T "framerate = (fraction) 25/1", "30/1|25/1" },
  { "", "audio/x-raw", "audio/x-raw" },
};

GST_START_TEST (test_settings_are_refused) {
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    GstHarness *h = test_harness (__i__, refused[i].properties);
    GstVideoInfo info;

    test_video_info (&info, "RGB", 32, 24);
    if (refused[i].downstream != NULL)
      gst_harness_set_sink_caps_str (h, refused[i].downstream);
    send_caps (h, VIDEO);
    for (guint n = 0; n < 3; n++)
      fail_unless (
          gst_harness_push (h, test_frame (&info, NULL)) != GST_FLOW_OK,
          "%s was taken", refused[i].properties);
    expect_error (h, refused[i].words);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Values that a property never has, whatever the others are. */
static const struct {
  const gchar *name, *value, *rule;
} impossible[] = {
  { "cuda-device-id", "-7", "-1 to 2147483647" },
  { "streams", "-1", "0 to 16" },
  { "streams", "17", "0 to 16" },
  { "staging-threads", "-1", "0 to 16" },
  { "staging-threads", "17", "0 to 16" },
  { "async-depth", "-2", "-1 to 64" },
  { "async-depth", "65", "-1 to 64" },
  { "width", "-5", "0 to 32768" },
  { "width", "40000", "0 to 32768" },
  { "width", "-2147483648", "0 to 32768" },
  { "height", "-1", "0 to 32768" },
  { "height", "32769", "0 to 32768" },
  { "resize", "-1", "0 to 32768" },
  { "resize", "40000", "0 to 32768" },
  { "crop-fraction", "-0.5", "0 to 1" },
  { "crop-fraction", "2", "0 to 1" },
  { "crop-fraction", "nan", "0 to 1" },
  { "crop-fraction", "inf", "0 to 1" },
  { "denoise-size", "0", "3 to 7" },
  { "denoise-size", "-3", "3 to 7" },
  { "denoise-size", "4", "3, 5" },
  { "denoise-size", "9", "3 to 7" },
  { "denoise-sigma", "-1", "0 and finite" },
  { "denoise-sigma", "nan", "0 and finite" },
  { "denoise-sigma", "inf", "0 and finite" },
  { "scale", "nan", "finite" },
  { "scale", "inf", "finite" },
  { "scale", "-inf", "finite" },
  { "quant-scale", "-1", "0 and finite" },
  { "quant-scale", "nan", "0 and finite" },
  { "quant-scale", "inf", "0 and finite" },
  { "quant-zero-point", "-129", "-128 to 255" },
  { "quant-zero-point", "256", "-128 to 255" },
};

static void
set_text (GstHarness *h, const gchar *name, const gchar *text)
{
  GParamSpec *pspec =
      g_object_class_find_property (G_OBJECT_GET_CLASS (h->element), name);

  if (pspec->value_type == G_TYPE_INT)
    g_object_set (
        h->element, name, (gint) g_ascii_strtoll (text, NULL, 10), NULL);
  else
    g_object_set (h->element, name, g_ascii_strtod (text, NULL), NULL);
}

static gchar *
say_impossible (guint i)
{
  return g_strdup_printf ("%s is %s, must be|%s", impossible[i].name,
      impossible[i].value, impossible[i].rule);
}

static void
expect_tensor (GstHarness *h)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  send_caps (h, VIDEO);
  fail_unless_equals_int (
      gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_received (h), 1);
}

/* The element does not go to READY, and its error comes first. */
static void
expect_refusal (gint backend, const gchar *properties, const gchar *words)
{
  GstElement *pipeline =
      test_launch (backend, "fakesrc ! cudapreproc %s ! fakesink", properties);
  GError *error = NULL;

  fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PLAYING),
      GST_STATE_CHANGE_FAILURE);
  GstMessage *message = test_pop (pipeline, GST_MESSAGE_ERROR);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS),
      "%s: %s", properties, error->message);
  test_expect_words (error->message, words);
  g_error_free (error);
  gst_message_unref (message);
  GstBus *bus = gst_element_get_bus (pipeline);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message == NULL, "%s: a second error", properties);
  gst_object_unref (bus);
  test_stop (&pipeline);
}

/* On a launch line, with no more than the one property set. */
GST_START_TEST (test_impossible_values) {
  for (guint i = 0; i < G_N_ELEMENTS (impossible); i++) {
    g_autofree gchar *line =
        g_strdup_printf ("%s=%s", impossible[i].name, impossible[i].value);
    g_autofree gchar *words = say_impossible (i);

    expect_refusal (__i__, line, words);
  }
}
GST_END_TEST

/* A device that is asked for by number is not replaced by the CPU. */
GST_START_TEST (test_device_of_the_cpu) {
  expect_refusal (0, "cuda-device-id=3", "cuda-device-id is 3|backend=cpu");
}
GST_END_TEST

/* In a program, in READY; and the property's own default helps. */
GST_START_TEST (test_impossible_value_in_ready) {
  for (guint i = 0; i < G_N_ELEMENTS (impossible); i++) {
    GstHarness *h = test_harness (__i__, "");
    GValue standard = G_VALUE_INIT;
    const gchar *name = impossible[i].name;

    gst_element_set_state (h->element, GST_STATE_READY);
    g_object_get_property (G_OBJECT (h->element), name, &standard);
    set_text (h, name, impossible[i].value);
    fail_unless_equals_int (
        gst_element_set_state (h->element, GST_STATE_PLAYING),
        GST_STATE_CHANGE_FAILURE);
    g_autofree gchar *words = say_impossible (i);
    expect_error (h, words);
    g_object_set_property (G_OBJECT (h->element), name, &standard);
    fail_unless (gst_element_set_state (h->element, GST_STATE_PLAYING) !=
        GST_STATE_CHANGE_FAILURE);
    expect_tensor (h);
    g_value_unset (&standard);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* What they can be is shown, by gst-inspect-1.0. */
GST_START_TEST (test_ranges_are_shown) {
  GstElement *element = gst_element_factory_make ("cudapreproc", NULL);
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  const GParamSpecInt *width =
      G_PARAM_SPEC_INT (g_object_class_find_property (klass, "width"));
  const GParamSpecDouble *fraction = G_PARAM_SPEC_DOUBLE (
      g_object_class_find_property (klass, "crop-fraction"));

  fail_unless (width->minimum == 0 && width->maximum == 32768);
  fail_unless (fraction->minimum == 0 && fraction->maximum == 1);
  gst_object_ref_sink (element);
  gst_object_unref (element);
}
GST_END_TEST

/* Caps that are no video of ours never reach the element, but it says so. */
GST_START_TEST (test_caps_are_refused) {
  static const struct {
    const gchar *caps, *words;
  } cases[] = {
    { "video/x-raw, format = v210, width = 32, height = 24", "format=v210" },
    { "video/x-raw, format = Y210, width = 32, height = 24", "format=Y210" },
    { "video/x-raw, format = RGB16, width = 32, height = 24", "format=RGB16" },
    { "video/x-raw, format = FOO, width = 32, height = 24", "format=FOO" },
    { "video/x-raw, format = (int) 3, width = 32, height = 24", "format=3" },
    { "video/x-raw, format = RGB, width = 0, height = 24",
        "width=0|1 to 32768" },
    { "video/x-raw, format = RGB, width = -4, height = 24", "width=-4" },
    { "video/x-raw, format = RGB, width = 32, height = -1", "height=-1" },
    { "video/x-raw, format = RGB, width = 40000, height = 24",
        "width=40000|1 to 32768" },
    { "video/x-raw(memory:DMABuf), format = NV12, width = 32, height = 24",
        "video/x-raw(memory:DMABuf)" },
    { "video/x-raw(format:Interlaced), format = NV12, width = 32, height = 24, "
      "interlace-mode = alternate",
        "video/x-raw(format:Interlaced)" },
    { "audio/x-raw", "audio/x-raw|video/x-raw" },
    /* These do reach it. */
    { "video/x-raw", "video/x-raw" },
    { "video/x-raw, format = RGB, width = 32", "width=(int)32" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = test_harness (__i__, "");
    send_caps (h, cases[i].caps);
    for (guint n = 0; n < 3; n++)
      fail_unless (
          gst_harness_push (h, gst_buffer_new_allocate (NULL, 1 << 16, NULL)) ==
              GST_FLOW_NOT_NEGOTIATED,
          "%s was taken", cases[i].caps);
    expect_error (h, cases[i].words);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Who only asks is answered, and who is shut down takes nothing. */
GST_START_TEST (test_caps_that_are_no_error) {
  GstHarness *h = test_harness (__i__, "");
  GstPad *pad = gst_element_get_static_pad (h->element, "sink");
  GstCaps *caps = gst_caps_from_string (
      "video/x-raw, format = v210, width = 32, height = 24");

  fail_unless (!gst_pad_query_accept_caps (pad, caps));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_start ()));
  fail_unless (!gst_harness_push_event (h, gst_event_new_caps (caps)));
  fail_unless (gst_harness_push_event (h, gst_event_new_flush_stop (TRUE)));
  send_caps (h, VIDEO);
  gst_caps_unref (caps);
  gst_object_unref (pad);
  test_harness_end (&h);
}
GST_END_TEST

/* buffers */

static void
truncate_frame (GstBuffer *frame)
{
  gst_buffer_resize (frame, 0, (gssize) gst_buffer_get_size (frame) - 1);
}

static void
empty_frame (GstBuffer *frame)
{
  gst_buffer_remove_all_memory (frame);
}

static void
add_meta (GstBuffer *frame, GstVideoFormat format, guint width, guint height,
    gsize offset, gint stride)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = { offset };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE, format,
      width, height, 1, offsets, strides);
}

static void
long_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 0, 128);
}

static void
short_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 0, 95);
}

static void
zero_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 0, 0);
}

static void
negative_stride (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 23 * 96, -96);
}

static void
far_offset (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 1 << 20, 96);
}

static void
near_offset (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 32, 24, 1, 96);
}

static void
other_format (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_GRAY8, 32, 24, 0, 96);
}

static void
smaller_meta (GstBuffer *frame)
{
  add_meta (frame, GST_VIDEO_FORMAT_RGB, 16, 24, 0, 96);
}

static void
add_crop (GstBuffer *frame, guint x, guint y, guint width, guint height)
{
  GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);

  crop->x = x;
  crop->y = y;
  crop->width = width;
  crop->height = height;
}

static void
crop_outside (GstBuffer *frame)
{
  add_crop (frame, 30, 0, 10, 10);
}

static void
crop_empty (GstBuffer *frame)
{
  add_crop (frame, 0, 0, 0, 10);
}

static void
crop_overflows (GstBuffer *frame)
{
  add_crop (frame, G_MAXUINT, G_MAXUINT, 2, 2);
}

static const struct {
  const gchar *what;
  void (*spoil) (GstBuffer *frame);
  const gchar *words;
} spoilt[] = {
  { "one byte short", truncate_frame, "2303 bytes|2304|RGB 32x24" },
  { "no memory", empty_frame, "0 bytes|2304" },
  { "short for its meta", long_stride, "plane 0|stride 128|2304" },
  { "rows that overlap", short_stride, "plane 0|is 95|96 bytes" },
  { "stride 0", zero_stride, "plane 0|is 0|96 bytes" },
  { "negative stride", negative_stride, "stride|-96" },
  { "plane outside", far_offset, "2304 bytes" },
  { "last byte outside", near_offset, "plane 0|2304|2303" },
  { "meta of another format", other_format, "GRAY8|RGB" },
  { "meta of a smaller frame", smaller_meta, "16x24|32x24" },
  { "crop outside", crop_outside, "GstVideoCropMeta|10x10|30,0|32x24" },
  { "crop without pixels", crop_empty, "GstVideoCropMeta|0x10|32x24" },
  { "crop that overflows", crop_overflows, "GstVideoCropMeta|32x24" },
};

/* Three of a kind are one error. */
static void
push_spoilt (GstHarness *h, guint i)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (&info, NULL);
    spoilt[i].spoil (frame);
    fail_unless (gst_harness_push (h, frame) == GST_FLOW_ERROR, "%s was taken",
        spoilt[i].what);
  }
  expect_error (h, spoilt[i].words);
}

GST_START_TEST (test_buffers_are_refused) {
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  for (guint i = 0; i < G_N_ELEMENTS (spoilt); i++) {
    GstHarness *h = test_harness (__i__, "streams=2 async-depth=2");

    test_send_caps (h, &info);
    push_spoilt (h, i);
    /* A new start forgives: good frames pass, and a bad one is told again. */
    gst_element_set_state (h->element, GST_STATE_READY);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    send_caps (h, VIDEO);
    push_spoilt (h, i);
    fail_unless_equals_int (
        gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_received (h), 1);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* A plane that is one byte short in a memory of its own, with the other plane
 * behind it. */
GST_START_TEST (test_second_memory_is_short) {
  static guint8 bytes[383 + 768];
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0, 768 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 32, 32 };
  GstHarness *h = test_harness (__i__, "");
  GstBuffer *frame = gst_buffer_new ();
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  test_send_caps (h, &info);
  gst_buffer_append_memory (
      frame, gst_memory_new_wrapped (0, bytes + 383, 768, 0, 768, NULL, NULL));
  gst_buffer_append_memory (
      frame, gst_memory_new_wrapped (0, bytes, 383, 0, 383, NULL, NULL));
  gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE,
      GST_VIDEO_FORMAT_NV12, 32, 24, 2, offset, stride);
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_ERROR);
  expect_error (h, "plane 1|384|383");
  test_harness_end (&h);
}
GST_END_TEST

/* while PLAYING */

/* A wrong value fails the next frame; what came before is sent. */
GST_START_TEST (test_property_goes_bad) {
  static const struct {
    const gchar *name, *value, *words;
  } bad[] = { { "mean", "1,2", "mean=1,2" }, { "std", "0", "std|0" },
    { "crop", "1,1,32,1", "crop=1,1,32,1" },
    { "pad-value", "1e9", "pad-value" }, { "scale", "nan", "scale is nan" },
    { "scale", "inf", "scale is inf" },
    { "denoise-size", "4", "denoise-size is 4" },
    { "denoise-sigma", "nan", "denoise-sigma is nan" } };
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  for (guint i = 0; i < G_N_ELEMENTS (bad); i++) {
    GstHarness *h = test_harness (__i__, "streams=2 async-depth=2");

    test_send_caps (h, &info);
    /* the first of a stream is not held back */
    for (guint n = 0; n < 2; n++)
      fail_unless_equals_int (
          gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    gst_util_set_object_arg (G_OBJECT (h->element), bad[i].name, bad[i].value);
    fail_unless_equals_int (
        gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_ERROR);
    g_autofree gchar *text = test_harness_error (h);
    test_expect_words (text, bad[i].words);
    gst_harness_push_event (h, gst_event_new_eos ());
    fail_unless_equals_int (gst_harness_buffers_received (h), 2);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* devices */

/* The first error on the bus is the element's own, with the driver's words. */
GST_START_TEST (test_no_device) {
  static const gchar *const settings[] = { "backend=cuda cuda-device-id=99",
    "backend=auto cuda-device-id=99",
    "backend=cuda cuda-device-id=99 streams=3" };

  for (guint i = 0; i < G_N_ELEMENTS (settings); i++) {
    gchar *line = g_strdup_printf (
        "videotestsrc ! cudapreproc %s ! fakesink", settings[i]);
    GstElement *pipeline = gst_parse_launch (line, NULL);
    GError *error = NULL;

    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PLAYING),
        GST_STATE_CHANGE_FAILURE);
    GstMessage *message = test_pop (pipeline, GST_MESSAGE_ERROR);
    gst_message_parse_error (message, &error, NULL);
    fail_unless (g_error_matches (
                     error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND),
        "%s", error->message);
    fail_unless (strstr (error->message, "device") != NULL ||
            strstr (error->message, "CUDA") != NULL,
        "%s", error->message);
    g_error_free (error);
    gst_message_unref (message);
    test_stop (&pipeline);
    g_free (line);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_settings_are_refused);
  test_add (tcase, test_impossible_values);
  test_add (tcase, test_impossible_value_in_ready);
  tcase_add_test (tcase, test_device_of_the_cpu);
  tcase_add_test (tcase, test_ranges_are_shown);
  test_add (tcase, test_caps_are_refused);
  test_add (tcase, test_caps_that_are_no_error);
  test_add (tcase, test_buffers_are_refused);
  test_add (tcase, test_second_memory_is_short);
  test_add (tcase, test_property_goes_bad);
  tcase_add_test (tcase, test_no_device);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-errors", add_tests);
}
