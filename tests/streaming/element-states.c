/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's life: seeks, state changes with frames in flight, consumers
 * that keep what they get, and what is left afterwards.
 */

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define SOURCE                                                                 \
  "videotestsrc name=src ! video/x-raw,format=NV12,width=320,height=240 ! "
#define ELEMENT                                                                \
  "cudapreproc name=pp width=64 height=64 fit=letterbox streams=4 "

/* seeks */

typedef struct {
  GstElement *pipeline;
  gint done; /* atomic */
} Seeker;

static gpointer
seek_often (gpointer user)
{
  Seeker *seeker = user;
  GRand *random = g_rand_new_with_seed (1);

  for (gint i = 0; i < 200; i++) {
    if (!gst_element_seek_simple (seeker->pipeline, GST_FORMAT_TIME,
            GST_SEEK_FLAG_FLUSH,
            g_rand_int_range (random, 0, 1000) * GST_MSECOND))
      break;
    g_usleep ((gulong) g_rand_int_range (random, 0, 4000));
    g_atomic_int_inc (&seeker->done);
  }
  g_rand_free (random);
  return NULL;
}

/* Nobody pulls, so that the element's thread is blocked downstream most of the
 * time. A seek that hangs fails the wait. */
static void
seek_with_sink (gint backend, const gchar *properties, const gchar *sink)
{
  Seeker seeker = {
    test_launch (backend, SOURCE ELEMENT "%s ! %s", properties, sink), 0
  };

  test_set_state (seeker.pipeline, GST_STATE_PAUSED);
  gst_element_set_state (seeker.pipeline, GST_STATE_PLAYING);
  GThread *thread = g_thread_new ("seek", seek_often, &seeker);
  for (gint done = 0; done < 200;) {
    const gint64 deadline = g_get_monotonic_time () + 2 * G_USEC_PER_SEC;
    while (g_atomic_int_get (&seeker.done) == done)
      if (g_get_monotonic_time () < deadline)
        g_usleep (500);
      else
        fail ("seek %d hangs, or failed", done);
    done = g_atomic_int_get (&seeker.done);
  }
  g_thread_join (thread);
  gst_message_unref (test_pop (seeker.pipeline, GST_MESSAGE_ASYNC_DONE));
  test_stop (&seeker.pipeline);
}

GST_START_TEST (test_seeks) {
  seek_with_sink (__i__, "async-depth=4", "appsink max-buffers=1 sync=false");
  seek_with_sink (__i__, "async-depth=0", "queue ! appsink max-buffers=2");
}
GST_END_TEST

/* NULL with frames in flight */

static const struct {
  const gchar *line;
  GstMessageType end; /* what comes after some frames; 0: they do not end */
} ways_to_end[] = {
  { SOURCE ELEMENT "! fakesink", 0 },
  { SOURCE ELEMENT "! appsink max-buffers=2", 0 },
  { SOURCE "tee name=t ! queue ! " ELEMENT "! fakesink  t. ! queue ! "
           "cudapreproc width=32 height=32 ! queue ! fakesink",
      0 },
  { SOURCE ELEMENT "! queue ! fakesink sync=true", 0 },
  { "videotestsrc is-live=true ! " ELEMENT "async-depth=3 ! fakesink", 0 },
  { "videotestsrc num-buffers=3 ! " ELEMENT "async-depth=4 ! fakesink",
      GST_MESSAGE_EOS },
  { "videotestsrc num-buffers=5 ! tee name=t ! queue ! " ELEMENT
    "! fakesink  t. ! queue ! cudapreproc width=32 height=32 ! fakesink",
      GST_MESSAGE_EOS },
  { SOURCE ELEMENT "async-depth=4 ! identity error-after=3 ! fakesink",
      GST_MESSAGE_ERROR },
  { SOURCE "tee name=t ! queue ! " ELEMENT "! identity error-after=3 ! "
           "fakesink  t. ! queue ! cudapreproc width=32 height=32 ! fakesink",
      GST_MESSAGE_ERROR },
};

/* 540 times, nine at once. Every second time those that end have ended. */
GST_START_TEST (test_null_at_any_time) {
  GRand *random = g_rand_new_with_seed (2);
  GstElement *pipeline[G_N_ELEMENTS (ways_to_end)];

  for (guint i = 0; i < 60; i++) {
    for (guint w = 0; w < G_N_ELEMENTS (ways_to_end); w++) {
      pipeline[w] = test_launch (__i__, "%s", ways_to_end[w].line);
      gst_element_set_state (pipeline[w], GST_STATE_PLAYING);
    }
    g_usleep ((gulong) g_rand_int_range (random, 0, 80000));
    for (guint w = 0; w < G_N_ELEMENTS (ways_to_end); w++) {
      if (i % 2 != 0 && ways_to_end[w].end != 0)
        gst_message_unref (test_pop (pipeline[w], ways_to_end[w].end));
      test_stop (&pipeline[w]);
    }
  }
  g_rand_free (random);
}
GST_END_TEST

GST_START_TEST (test_null_after_the_end) {
  GstElement *pipeline = test_launch (
      __i__, "videotestsrc num-buffers=20 ! " ELEMENT "! fakesink");

  test_play_to_eos (pipeline);
  test_stop (&pipeline);

  pipeline = test_launch (__i__,
      "videotestsrc ! " ELEMENT "async-depth=4 ! "
      "identity error-after=5 ! fakesink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_ERROR));
  test_stop (&pipeline);
}
GST_END_TEST

/* Upstream still runs where a pad shuts down. Its queries come here while it
 * does: before it has stopped, and after, when its caps are still there. */
static GstPadActivateModeFunction shut_down;

static gboolean
query_and_shut_down (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);
  g_autoptr (GstPad) src =
      gst_element_get_static_pad (GST_ELEMENT (parent), "src");

  for (guint after = 0; after < 2; after++) {
    g_autoptr (GstQuery) allocation = gst_query_new_allocation (caps, TRUE);
    g_autoptr (GstQuery) drain = gst_query_new_drain ();
    gst_pad_mark_reconfigure (src);
    fail_if (gst_pad_query (pad, allocation));
    fail_if (gst_pad_query (pad, drain));
    if (after == 0)
      fail_unless (shut_down (pad, parent, mode, active));
  }
  return TRUE;
}

GST_START_TEST (test_queries_while_shutting_down) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "async-depth=4", &info);
  g_autoptr (GstPad) sink = gst_element_get_static_pad (h->element, "sink");

  test_push_number (h, &info, 1);
  shut_down = GST_PAD_ACTIVATEMODEFUNC (sink);
  gst_pad_set_activatemode_function (sink, query_and_shut_down);
  fail_unless (gst_pad_set_active (sink, FALSE));
  gst_pad_set_activatemode_function (sink, shut_down);
  test_harness_end (&h);
}
GST_END_TEST

/* Data can come as soon as a pad is active, which is before the element starts:
 * the device is there already, and as it was set in READY. */
static GstPadActivateModeFunction start_up;

static gboolean
look_and_start_up (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstStructure *stats = NULL;
  gint streams = 0;

  if (active) {
    g_object_get (parent, "stats", &stats, NULL);
    fail_unless (gst_structure_get_int (stats, "streams", &streams));
    fail_unless_equals_int (streams, 3);
    gst_structure_free (stats);
  }
  return start_up (pad, parent, mode, active);
}

GST_START_TEST (test_device_before_pads) {
  GstElement *pipeline = test_launch (__i__, SOURCE ELEMENT "! fakesink");
  GstElement *element = test_element (pipeline, "pp");
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");

  test_set_state (pipeline, GST_STATE_READY);
  g_object_set (element, "streams", 3, NULL);
  start_up = GST_PAD_ACTIVATEMODEFUNC (sink);
  gst_pad_set_activatemode_function (sink, look_and_start_up);
  test_set_state (pipeline, GST_STATE_PAUSED);
  test_stop (&pipeline);
}
GST_END_TEST

/* The same element again, also with what may be set in between. */
GST_START_TEST (test_states_again) {
  static const GstState lowest[] = { GST_STATE_PAUSED, GST_STATE_READY,
    GST_STATE_NULL };
  GstElement *pipeline =
      test_launch (__i__, SOURCE ELEMENT "! fakesink sync=false");
  gint out = 0;

  test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
  for (guint i = 0; i < 30; i++) {
    const gint before = g_atomic_int_get (&out);
    test_set_state (pipeline, GST_STATE_PLAYING);
    test_wait_for (g_atomic_int_get (&out) > before + 5);
    const GstState state = lowest[i % G_N_ELEMENTS (lowest)];
    test_set_state (pipeline, state);
    if (state <= GST_STATE_READY)
      g_object_set (test_element (pipeline, "pp"), "streams", 1 + (gint) i % 8,
          "width", 16 + (gint) i, NULL);
  }
  test_stop (&pipeline);
}
GST_END_TEST

static gboolean
has_device_name (GstElement *pipeline)
{
  g_autofree gchar *name = NULL;

  g_object_get (test_element (pipeline, "pp"), "device-name", &name, NULL);
  return name != NULL;
}

/* The device is there from READY on, and gone after. */
GST_START_TEST (test_device_name) {
  GstElement *pipeline =
      test_launch (__i__, "videotestsrc num-buffers=3 ! " ELEMENT "! fakesink");

  fail_if (has_device_name (pipeline));
  for (guint i = 0; i < 2; i++) {
    test_set_state (pipeline, GST_STATE_READY);
    fail_unless (has_device_name (pipeline));
    test_set_state (pipeline, GST_STATE_NULL);
    fail_if (has_device_name (pipeline));
  }
  test_stop (&pipeline);
}
GST_END_TEST

/* A device that does not open once is asked again, and another is taken. */
GST_START_TEST (test_device_that_does_not_open) {
  GstElement *pipeline =
      test_launch (__i__, "videotestsrc num-buffers=3 ! " ELEMENT "! fakesink");
  GObject *element = G_OBJECT (test_element (pipeline, "pp"));
  GstBus *bus = gst_element_get_bus (pipeline);

  test_set_state (pipeline, GST_STATE_READY);
  gst_util_set_object_arg (element, "backend", "cuda");
  g_object_set (element, "cuda-device-id", 99, NULL);
  for (guint i = 0; i < 3; i++) {
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_PAUSED),
        GST_STATE_CHANGE_FAILURE);
    gst_message_unref (test_pop (pipeline, GST_MESSAGE_ERROR));
    gst_element_set_state (pipeline, i == 1 ? GST_STATE_NULL : GST_STATE_READY);
    gst_bus_set_flushing (bus, TRUE);
    gst_bus_set_flushing (bus, FALSE);
  }
  gst_util_set_object_arg (element, "backend", test_backend (__i__));
  g_object_set (element, "cuda-device-id", -1, NULL);
  test_play_to_eos (pipeline);
  gst_object_unref (bus);
  test_stop (&pipeline);
}
GST_END_TEST

/* consumers that keep tensors */

/* One branch of a tee keeps the last 40 tensors, the other has up to 30 in its
 * queue: neither stalls, and what is kept is not written over, nor lost with the
 * pipeline. */
GST_START_TEST (test_consumers_keep_tensors) {
  const guint n_frames = 200;
  GstSample *kept[40] = { NULL };
  gint other = 0;
  GstVideoInfo info;
  GstElement *pipeline = test_launch (__i__,
      "appsrc name=in format=time max-buffers=0 max-bytes=0 "
      "caps=video/x-raw,format=RGB,width=32,height=24,framerate=30/1 ! "
      "cudapreproc width=16 height=12 type=uint8 streams=4 async-depth=4 ! "
      "tee name=t ! queue max-size-buffers=30 max-size-bytes=0 "
      "max-size-time=0 ! fakesink name=other sync=false "
      "t. ! queue max-size-buffers=30 ! appsink name=out sync=false");
  GstAppSrc *in = GST_APP_SRC (test_element (pipeline, "in"));
  GstAppSink *out = GST_APP_SINK (test_element (pipeline, "out"));

  test_video_info (&info, "RGB", 32, 24);
  test_count_buffers (test_pad (pipeline, "other", "sink"), &other);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < n_frames; n++)
    gst_app_src_push_buffer (in, test_numbered_frame (&info, n));
  gst_app_src_end_of_stream (in);
  for (guint n = 0; n < n_frames; n++) {
    GstSample **sample = &kept[n % G_N_ELEMENTS (kept)];
    g_clear_pointer (sample, gst_sample_unref);
    *sample = gst_app_sink_try_pull_sample (out, TEST_PATIENCE);
    fail_unless (*sample != NULL, "tensor %u did not come", n);
  }
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
  fail_unless_equals_int (other, (gint) n_frames);
  test_stop (&pipeline);
  for (guint k = 0; k < G_N_ELEMENTS (kept); k++) {
    fail_unless_equals_int (test_number_of (gst_sample_get_buffer (kept[k])),
        (gint) (n_frames - G_N_ELEMENTS (kept) + k));
    gst_sample_unref (kept[k]);
  }
}
GST_END_TEST

/* Nothing of the pipeline is left but the memory. */
GST_START_TEST (test_samples_outlive_the_pipeline) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);
  GstBuffer *tensor[20];

  for (guint n = 0; n < G_N_ELEMENTS (tensor); n++)
    test_push_number (h, &info, n);
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < G_N_ELEMENTS (tensor); n++)
    tensor[n] = gst_harness_pull (h);
  test_harness_end (&h);
  for (guint n = 0; n < G_N_ELEMENTS (tensor); n++) {
    fail_unless_equals_int (test_number_of (tensor[n]), n);
    gst_buffer_unref (tensor[n]);
  }
}
GST_END_TEST

/* what is left */

static void
run_once (gint backend)
{
  GstElement *pipeline = test_launch (backend,
      "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! " ELEMENT
      "! fakesink");

  test_play_to_eos (pipeline);
  test_stop (&pipeline);
}

GST_START_TEST (test_nothing_grows) {
  /* GStreamer keeps a few threads of its own. */
  for (guint i = 0; i < 20; i++)
    run_once (__i__);
  gst_task_cleanup_all ();
  const guint threads = test_n_threads (), files = test_n_files ();
  const gsize memory = test_resident_memory ();

  for (guint i = 0; i < 100; i++)
    run_once (__i__);
  gst_task_cleanup_all ();
  test_wait_for (test_n_threads () <= threads);
  fail_unless_equals_int (test_n_files (), files);
  test_expect_flat (memory);
}
GST_END_TEST

/* A sink that would rather pull, behind a source that could be pulled from: frames
 * are pushed. Where the source or the sink does nothing else, they do not start. */
GST_START_TEST (test_frames_are_not_pulled) {
  static const struct {
    const gchar *source, *sink;
    gboolean works;
  } cases[] = { { "", "", TRUE }, { "can-activate-pull=true", "", TRUE },
    { "can-activate-pull=true", "can-activate-pull=true", TRUE },
    { "can-activate-pull=true can-activate-push=false",
        "can-activate-pull=true", FALSE },
    { "can-activate-pull=true",
        "can-activate-pull=true can-activate-push=false", FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint out = 0;
    GstElement *pipeline = test_launch (__i__,
        "fakesrc %s format=time num-buffers=3 sizetype=fixed sizemax=768 ! "
        "video/x-raw,format=RGB,width=16,height=16,framerate=30/1 ! "
        "cudapreproc name=pp width=8 height=8 ! fakesink %s",
        cases[i].source, cases[i].sink);
    GstPad *src = test_pad (pipeline, "pp", "src");

    test_count_buffers (src, &out);
    if (cases[i].works) {
      test_play_to_eos (pipeline);
      fail_unless_equals_int (out, 3);
      /* not in between either */
      fail_unless_equals_int (GST_PAD_MODE (src), GST_PAD_MODE_PUSH);
    } else {
      fail_unless_equals_int (
          gst_element_set_state (pipeline, GST_STATE_PLAYING),
          GST_STATE_CHANGE_FAILURE);
    }
    test_stop (&pipeline);
  }
}
GST_END_TEST

GST_START_TEST (test_pads_refuse_to_pull) {
  GstHarness *h = test_harness (__i__, "");
  GstPad *sink = gst_element_get_static_pad (h->element, "sink");
  GstPad *src = gst_element_get_static_pad (h->element, "src");
  GstQuery *query = gst_query_new_scheduling ();

  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  fail_unless (gst_query_has_scheduling_mode (query, GST_PAD_MODE_PUSH));
  fail_unless (!gst_query_has_scheduling_mode (query, GST_PAD_MODE_PULL));
  gst_query_unref (query);
  gst_element_set_state (h->element, GST_STATE_READY);
  fail_unless (!gst_pad_activate_mode (src, GST_PAD_MODE_PULL, TRUE));
  fail_unless (!gst_pad_activate_mode (sink, GST_PAD_MODE_PULL, TRUE));
  gst_object_unref (sink);
  gst_object_unref (src);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_seeks);
  test_add (tcase, test_null_at_any_time);
  test_add (tcase, test_null_after_the_end);
  test_add (tcase, test_queries_while_shutting_down);
  test_add (tcase, test_device_before_pads);
  test_add (tcase, test_states_again);
  test_add (tcase, test_device_name);
  test_add (tcase, test_device_that_does_not_open);
  test_add (tcase, test_frames_are_not_pulled);
  test_add (tcase, test_pads_refuse_to_pull);
  test_add (tcase, test_consumers_keep_tensors);
  test_add (tcase, test_samples_outlive_the_pipeline);
  test_add (tcase, test_nothing_grows);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-states", add_tests);
}
