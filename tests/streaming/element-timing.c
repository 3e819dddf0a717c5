/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When frames leave: what is held back and what the latency answer says of it;
 * live sources, applications that wait, pipelines of one picture.
 */

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/check/gsttestclock.h>

#include "gst/buffers/latency.h"

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* latency */

static const struct {
  gint depth;
  gint fps_n, fps_d;
  GstClockTime upstream, min; /* of upstream's answer, and of ours */
} latency_cases[] = {
  { 0, 30, 1, 0, 0 },
  { 4, 25, 1, 0, 160 * GST_MSECOND },
  { 4, 25, 1, 7 * GST_MSECOND, 167 * GST_MSECOND },
  { 1, 30000, 1001, 0, 33366666 },
  { 64, 1, 1, 0, 64 * GST_SECOND },
  /* More than there are nanoseconds; others can still add theirs. */
  { 64, 1, G_MAXINT32, 0, GST_PP_MAX_LATENCY },
  { 3, 1, G_MAXINT32, GST_PP_MAX_LATENCY - 1, GST_PP_MAX_LATENCY },
  { 3, 1, G_MAXINT32, 0, 3 * (guint64) G_MAXINT32 *GST_SECOND },
  /* Unknown before there are frames. */
  { 4, 0, 1, 5 * GST_MSECOND, 5 * GST_MSECOND },
  /* Automatic, live. */
  { -1, 25, 1, 5 * GST_MSECOND, 5 * GST_MSECOND },
};

static gboolean
ask_latency (GstHarness *h, GstClockTime *min, GstClockTime *max)
{
  GstQuery *query = gst_query_new_latency ();
  gboolean live;

  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, &live, min, max);
  gst_query_unref (query);
  return live;
}

GST_START_TEST (test_latency) {
  for (guint i = 0; i < G_N_ELEMENTS (latency_cases); i++) {
    gchar *properties =
        g_strdup_printf ("async-depth=%d", latency_cases[i].depth);
    GstHarness *h = test_harness (__i__, properties);
    GstVideoInfo info;
    GstClockTime min, max;

    test_video_info (&info, "RGB", 16, 16);
    GST_VIDEO_INFO_FPS_N (&info) = latency_cases[i].fps_n;
    GST_VIDEO_INFO_FPS_D (&info) = latency_cases[i].fps_d;
    gst_harness_set_upstream_latency (h, latency_cases[i].upstream);
    test_send_caps (h, &info);

    fail_unless (ask_latency (h, &min, &max), "case %u is not live", i);
    fail_unless (min == latency_cases[i].min,
        "case %u: %" GST_TIME_FORMAT ", not %" GST_TIME_FORMAT, i,
        GST_TIME_ARGS (min), GST_TIME_ARGS (latency_cases[i].min));
    fail_unless (max >= min, "case %u: at most %" GST_TIME_FORMAT, i,
        GST_TIME_ARGS (max));

    /* Before the next start's caps nothing is held back. */
    gst_element_set_state (h->element, GST_STATE_READY);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    ask_latency (h, &min, &max);
    fail_unless (min == latency_cases[i].upstream,
        "case %u, new start: %" GST_TIME_FORMAT, i, GST_TIME_ARGS (min));
    test_harness_end (&h);
    g_free (properties);
  }
}
GST_END_TEST

/* Where caps do not say how long a frame lasts, frames do. */
GST_START_TEST (test_latency_without_framerate) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "async-depth=3", &info);
  GstBus *bus = gst_element_get_bus (h->element);
  GstClockTime min, max, time = 0;

  GST_VIDEO_INFO_FPS_N (&info) = 0;
  test_send_caps (h, &info);
  gst_bus_set_flushing (bus, TRUE);
  gst_bus_set_flushing (bus, FALSE);
  for (guint n = 0; n < 40; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    /* 95 ms, and a little more each time; and it stalls for an hour */
    time += 95 * GST_MSECOND + n * 100 * GST_USECOND;
    if (n == 20)
      time += 3600 * GST_SECOND;
    GST_BUFFER_PTS (frame) = time;
    GST_BUFFER_DURATION (frame) = GST_CLOCK_TIME_NONE;
    gst_harness_push (h, frame);
  }
  fail_unless (ask_latency (h, &min, &max));
  fail_unless (min == 300 * GST_MSECOND, "latency %" GST_TIME_FORMAT,
      GST_TIME_ARGS (min));
  /* The application is told, once. */
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
  fail_unless (message != NULL, "nobody was told");
  gst_message_unref (message);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  gst_object_unref (bus);
  test_harness_end (&h);
}
GST_END_TEST

/* What is held back adds to the least and to the most, if there is one. */
GST_START_TEST (test_latency_adds) {
  static const struct {
    GstClockTime min, max, added, new_min, new_max;
  } sums[] = {
    { 5, 10, 7, 12, 17 },
    { 5, GST_CLOCK_TIME_NONE, 7, 12, GST_CLOCK_TIME_NONE },
    { 5, 10, GST_PP_MAX_LATENCY, GST_PP_MAX_LATENCY, GST_PP_MAX_LATENCY },
    { 5, GST_PP_MAX_LATENCY - 1, 7, 12, GST_PP_MAX_LATENCY },
    /* Others may know no limit. */
    { GST_CLOCK_TIME_NONE - 1, GST_CLOCK_TIME_NONE, 7, GST_CLOCK_TIME_NONE - 1,
        GST_CLOCK_TIME_NONE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (sums); i++) {
    GstQuery *query = gst_query_new_latency ();
    gboolean live;
    GstClockTime min, max;

    gst_query_set_latency (query, TRUE, sums[i].min, sums[i].max);
    gst_pp_latency_add (query, sums[i].added);
    gst_query_parse_latency (query, &live, &min, &max);
    gst_query_unref (query);
    fail_unless (live);
    fail_unless_equals_uint64 (min, sums[i].new_min);
    fail_unless_equals_uint64 (max, sums[i].new_max);
  }
}
GST_END_TEST

/* Timestamps can be as far from each other as they like. */
GST_START_TEST (test_latency_of_interval) {
  static const struct {
    guint depth;
    GstClockTime interval, expected;
  } cases[] = {
    { 2, 1, 20 * GST_MSECOND },
    { 2, 10 * GST_MSECOND, 20 * GST_MSECOND },
    { 0, G_MAXUINT64 - 1, 0 },
    { 1, G_MAXUINT64 - 1, GST_PP_MAX_LATENCY },
    { 64, G_MAXUINT64 / 64, GST_PP_MAX_LATENCY },
    { 64, G_MAXUINT64 / 3, GST_PP_MAX_LATENCY },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fail_unless_equals_uint64 (
        gst_pp_latency_of_interval (cases[i].depth, cases[i].interval),
        cases[i].expected);
}
GST_END_TEST

/* The application must know to ask again. */
GST_START_TEST (test_latency_message) {
  GstHarness *h = test_harness (__i__, "async-depth=2");
  GstBus *bus = gst_element_get_bus (h->element);
  GstVideoInfo info;

  for (gint fps = 25; fps <= 50; fps += 25) {
    test_video_info (&info, "RGB", 16, 16);
    GST_VIDEO_INFO_FPS_N (&info) = fps;
    test_send_caps (h, &info);
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY);
    fail_unless (message != NULL, "no message at %d frames a second", fps);
    gst_message_unref (message);
    fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_LATENCY) == NULL);
  }
  gst_object_unref (bus);
  test_harness_end (&h);
}
GST_END_TEST

/* what is held back */

typedef struct {
  gint in, out;
  gint most; /* that were in the element when a frame came */
} Held;

static GstPadProbeReturn
count_in (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  Held *held = user;

  (void) pad;
  (void) info;
  held->most = MAX (held->most, held->in - held->out);
  held->in++;
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
count_out (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  (void) pad;
  (void) info;
  ((Held *) user)->out++;
  return GST_PAD_PROBE_OK;
}

static const struct {
  const gchar *source;
  const gchar *properties;
  gint held;
} depth_cases[] = {
  { "videotestsrc num-buffers=20", "streams=3", 3 },
  { "videotestsrc num-buffers=20", "streams=1", 1 },
  { "videotestsrc num-buffers=20", "streams=3 async-depth=0", 0 },
  { "videotestsrc num-buffers=20", "streams=3 async-depth=7", 7 },
  { "videotestsrc num-buffers=20 ! video/x-raw,framerate=0/1", "streams=3", 0 },
  { "videotestsrc num-buffers=5 is-live=true ! "
    "video/x-raw,framerate=100/1",
      "streams=3", 0 },
  { "videotestsrc num-buffers=20 ! queue", "streams=3", 3 },
};

GST_START_TEST (test_automatic_depth) {
  for (guint i = 0; i < G_N_ELEMENTS (depth_cases); i++) {
    Held held = { 0 };
    GstElement *pipeline = test_launch (__i__,
        "%s ! cudapreproc name=pp width=16 height=16 %s ! fakesink",
        depth_cases[i].source, depth_cases[i].properties);

    gst_pad_add_probe (test_pad (pipeline, "pp", "sink"),
        GST_PAD_PROBE_TYPE_BUFFER, count_in, &held, NULL);
    gst_pad_add_probe (test_pad (pipeline, "pp", "src"),
        GST_PAD_PROBE_TYPE_BUFFER, count_out, &held, NULL);
    test_play_to_eos (pipeline);
    fail_unless (held.most == depth_cases[i].held,
        "%s, %s: %d are held back, not %d", depth_cases[i].source,
        depth_cases[i].properties, held.most, depth_cases[i].held);
    fail_unless_equals_int (held.out, held.in);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* An application pushes a frame and waits for its tensor before the next. */
GST_START_TEST (test_application_waits) {
  GstVideoInfo info;
  GstElement *pipeline = test_launch (__i__,
      "appsrc name=in format=time caps=video/x-raw,format=RGB,width=32,"
      "height=24,framerate=30/1 ! cudapreproc width=16 height=12 type=uint8 "
      "streams=4 ! appsink name=out sync=false");
  GstAppSrc *in = GST_APP_SRC (test_element (pipeline, "in"));
  GstAppSink *out = GST_APP_SINK (test_element (pipeline, "out"));

  test_video_info (&info, "RGB", 32, 24);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 50; n++) {
    gst_app_src_push_buffer (in, test_numbered_frame (&info, n));
    GstSample *sample = gst_app_sink_try_pull_sample (out, TEST_PATIENCE);
    fail_unless (sample != NULL, "tensor %u did not come", n);
    fail_unless_equals_int (test_number_of (gst_sample_get_buffer (sample)), n);
    gst_sample_unref (sample);
  }
  gst_app_src_end_of_stream (in);
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
  test_stop (&pipeline);
}
GST_END_TEST

/* A camera at one frame a second. The clock stands still until a tensor has
 * left, so one that waits for the next frame never comes. */
GST_START_TEST (test_live_frame_leaves_at_once) {
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc is-live=true ! video/x-raw,framerate=1/1,width=64,"
      "height=48 ! cudapreproc name=pp width=32 height=32 streams=4 ! "
      "fakesink sync=false");
  GstClock *clock = gst_test_clock_new ();
  gint in = 0, out = 0;

  test_count_buffers (test_pad (pipeline, "pp", "sink"), &in);
  test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
  gst_pipeline_use_clock (GST_PIPELINE (pipeline), clock);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint n = 0; n < 5; n++) {
    const gint before = g_atomic_int_get (&in);
    fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (clock)));
    test_wait_for (g_atomic_int_get (&in) > before);
    test_wait_for (g_atomic_int_get (&out) == g_atomic_int_get (&in));
  }
  test_stop (&pipeline);
  gst_object_unref (clock);
}
GST_END_TEST

/* preroll */

/* PAUSED is reached with the one frame there is, and EOS after it. */
GST_START_TEST (test_one_picture) {
  static const gchar *const properties[] = { "", "async-depth=0",
    "async-depth=1", "async-depth=8", "streams=1" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    gint out = 0;
    GstElement *pipeline = test_launch (__i__,
        "videotestsrc num-buffers=1 ! cudapreproc name=pp width=16 height=16 "
        "%s ! fakesink",
        properties[i]);

    test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
    test_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (out, 1);
    test_play_to_eos (pipeline);
    fail_unless_equals_int (out, 1);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* A tee whose other branch takes one frame and no more until everybody plays. */
GST_START_TEST (test_tee_prerolls) {
  static const gchar *const orders[] = {
    "other. t. ! queue max-size-buffers=1 ! ours.",
    "ours. t. ! queue max-size-buffers=1 ! other.",
  };
  static const gchar *const depths[] = { "streams=4", "async-depth=3",
    "streams=8 async-depth=8" };

  for (guint i = 0; i < G_N_ELEMENTS (orders); i++) {
    for (guint d = 0; d < G_N_ELEMENTS (depths); d++) {
      GstElement *pipeline = test_launch (__i__,
          "videotestsrc num-buffers=20 ! tee name=t "
          "cudapreproc name=ours width=16 height=16 %s ! fakesink "
          "fakesink name=other t. ! queue max-size-buffers=1 ! %s",
          depths[d], orders[i]);

      /* again after a stop, and after a seek */
      for (guint round = 0; round < 2; round++) {
        test_set_state (pipeline, GST_STATE_PAUSED);
        gst_element_seek_simple (
            pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0);
        test_set_state (pipeline, GST_STATE_PAUSED);
        test_play_to_eos (pipeline);
        test_set_state (pipeline, GST_STATE_READY);
      }
      test_stop (&pipeline);
    }
  }
}
GST_END_TEST

/* position */

/* Of what is behind the element, in seconds; -1: none. */
static gdouble
ask_position (GstHarness *h)
{
  gint64 position = -1;

  if (!gst_pad_peer_query_position (h->sinkpad, GST_FORMAT_TIME, &position))
    return -1;
  return position < 0 ? -1 : (gdouble) position / GST_SECOND;
}

static void
expect_position (GstHarness *h, gdouble expected)
{
  const gdouble position = ask_position (h);

  fail_unless (
      position == expected, "position is %g s, not %g s", position, expected);
}

static void
push_at (GstHarness *h, const GstVideoInfo *info, guint second)
{
  GstBuffer *frame = test_numbered_frame (info, second);

  GST_BUFFER_PTS (frame) = second * GST_SECOND;
  GST_BUFFER_DURATION (frame) = GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
}

static void
push_segment (GstHarness *h, guint start, guint stop, guint time)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.position = start * GST_SECOND;
  segment.stop = stop * GST_SECOND;
  segment.time = time * GST_SECOND;
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

/* The end of the last tensor that left, pushed or drained, in stream time. */
GST_START_TEST (test_position) {
  for (guint depth = 0; depth <= 3; depth += 3) {
    g_autofree gchar *properties =
        g_strdup_printf ("streams=3 async-depth=%u", depth);
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, properties, &info);

    push_segment (h, 10, 20, 100);
    expect_position (h, 100);
    push_at (h, &info, 10); /* leaves at once */
    expect_position (h, 101);
    push_at (h, &info, 11);
    push_at (h, &info, 12);
    expect_position (h, depth == 0 ? 103 : 101);
    push_at (h, &info, 13);
    push_at (h, &info, 14);
    expect_position (h, depth == 0 ? 105 : 102);
    gst_harness_push_event (h, gst_event_new_gap (15 * GST_SECOND, 1));
    expect_position (h, 105);

    /* what ends behind the segment, or has no time */
    push_at (h, &info, 20);
    gst_harness_push_event (h, gst_event_new_gap (20 * GST_SECOND, 1));
    expect_position (h, 110);
    GstBuffer *frame = test_numbered_frame (&info, 1);
    GST_BUFFER_PTS (frame) = GST_CLOCK_TIME_NONE;
    gst_harness_push (h, frame);
    gst_harness_push_event (h, gst_event_new_gap (20 * GST_SECOND, 1));
    expect_position (h, 110);

    /* a seek */
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    fail_unless (ask_position (h) != 110);
    push_segment (h, 5, 20, 5);
    expect_position (h, 5);
    push_at (h, &info, 5);
    expect_position (h, 6);
    test_harness_end (&h);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_latency);
  test_add (tcase, test_latency_without_framerate);
  tcase_add_test (tcase, test_latency_adds);
  tcase_add_test (tcase, test_latency_of_interval);
  test_add (tcase, test_latency_message);
  test_add (tcase, test_automatic_depth);
  test_add (tcase, test_application_waits);
  test_add (tcase, test_live_frame_leaves_at_once);
  test_add (tcase, test_one_picture);
  test_add (tcase, test_tee_prerolls);
  test_add (tcase, test_position);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-timing", add_tests);
}
