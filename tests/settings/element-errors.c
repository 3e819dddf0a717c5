/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values that a property can never have, and values that go bad while frames
 * flow: one error, which names the property and its value; no tensor; and the
 * element works again afterwards. What is said of what else goes wrong is in
 * element-messages.c.
 */

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define VIDEO                                                                  \
  "video/x-raw, format = RGB, width = 32, height = 24, framerate = 30/1"

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

  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) ==
          GST_STATE_CHANGE_FAILURE,
      "%s", properties);
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

/* What no caps can make possible is refused before there are caps: gst-launch-1.0
 * may not end if an error comes from a streaming thread while it starts. */
GST_START_TEST (test_impossible_without_caps) {
  static const struct {
    const gchar *properties, *words;
  } rows[] = {
    { "std=0", "std[0] is 0" },
    { "std=1,0,1 channels=rgb", "std[1] is 0" },
    { "mean=1,2", "mean=1,2 has 2 values for 3 channels" },
    { "pad-value=300", "pad-value[0] is 300" },
    { "denoise=median denoise-size=7", "denoise-size is 7|3 or 5" },
    { "fit=letterbox resize=64", "resize is 64|fit=letterbox" },
    { "preset=clip fit=letterbox crop-fraction=0.5",
        "crop-fraction is 0.5|fit=letterbox" },
    { "fit=crop width=64 height=64 resize=10", "resize is 10|64" },
    { "scale=0 type=uint8", "scale is 0" },
    { "scale=1e30 std=1e-20 type=float16", "scale is 1e+30|a factor of inf" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    expect_refusal (__i__, rows[i].properties, rows[i].words);
}
GST_END_TEST

/* What caps may make possible is not. */
GST_START_TEST (test_possible_with_some_caps) {
  static const gchar *const rows[] = {
    "std=1,0,1",                             /* gray */
    "pad-value=1,2,300",                     /* gray */
    "fit=crop resize=64",                    /* a small tensor */
    "fit=crop resize=64 width=640",          /* that is not high */
    "scale=1e30 std=1e-20 quant-scale=1e50", /* integers */
    "scale=0",                               /* floats */
    "crop=5000,5000,10,10",                  /* a large frame */
    "width=32768 height=32768",
    "preset=imagenet fit=letterbox",
    "video-direction=90r width=640 height=1",
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    GstElement *pipeline =
        test_launch (__i__, "fakesrc ! cudapreproc %s ! fakesink", rows[i]);
    fail_unless (gst_element_set_state (pipeline, GST_STATE_READY) !=
            GST_STATE_CHANGE_FAILURE,
        "%s", rows[i]);
    test_stop (&pipeline);
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

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_impossible_values);
  test_add (tcase, test_impossible_value_in_ready);
  test_add (tcase, test_impossible_without_caps);
  test_add (tcase, test_possible_with_some_caps);
  tcase_add_test (tcase, test_device_of_the_cpu);
  tcase_add_test (tcase, test_ranges_are_shown);
  test_add (tcase, test_caps_that_are_no_error);
  test_add (tcase, test_second_memory_is_short);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-errors", add_tests);
}
