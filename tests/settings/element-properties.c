/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Properties of running elements: whole or not at all, each element its own;
 * and the statistics.
 */

#include "twosettings.h"

/* set while PLAYING */

static gpointer
set_often (gpointer user)
{
  Setter *setter = user;

  for (guint i = 0; i < 20000; i++) {
    use_settings (setter->h, i % 2);
    if (i % 31 == 0)
      g_usleep (100);
  }
  g_atomic_int_set (&setter->done, TRUE);
  return NULL;
}

GST_START_TEST (test_settings_change_whole) {
  static const guint8 gray[3] = { 128, 128, 128 };
  Setter setter = { test_harness (__i__,
                        "name=cudapreproc width=16 height=16 "
                        "fit=letterbox streams=3 "
                        "async-depth=3"),
    FALSE };
  GstVideoInfo info;
  guint seen[2] = { 0 };

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint (frame, &info, gray);
  use_settings (setter.h, 0);
  test_send_caps (setter.h, &info);

  GThread *thread = g_thread_new ("set", set_often, &setter);
  while (!g_atomic_int_get (&setter.done)) {
    GstBuffer *tensor;
    fail_unless_equals_int (
        gst_harness_push (setter.h, gst_buffer_ref (frame)), GST_FLOW_OK);
    while ((tensor = gst_harness_try_pull (setter.h)) != NULL) {
      seen[expect_settings (tensor)]++;
      gst_buffer_unref (tensor);
    }
  }
  g_thread_join (thread);
  fail_unless (
      seen[0] > 10 && seen[1] > 10, "only %u and %u frames", seen[0], seen[1]);
  gst_buffer_unref (frame);
  test_harness_end (&setter.h);
}
GST_END_TEST

static void
expect_outcome (GstHarness *h, GstBuffer *frame, gfloat value)
{
  fail_unless_equals_int (
      gst_harness_push (h, gst_buffer_ref (frame)), GST_FLOW_OK);
  GstBuffer *tensor = gst_harness_pull (h);
  test_expect_float (tensor, value);
  gst_buffer_unref (tensor);
}

/* A g_object_set of another thread's ends while one is not over: GObject then has
 * done with the queue of what changed, and names what the other has set. */
GST_START_TEST (test_settings_of_another_thread) {
  static const guint8 gray[3] = { 128, 128, 128 };
  GstHarness *h = test_harness (
      __i__, "name=cudapreproc width=16 height=16 fit=letterbox async-depth=0");
  GstElement *element = gst_harness_find_element (h, "cudapreproc");
  GObjectClass *klass = G_OBJECT_GET_CLASS (element);
  GParamSpec *other = g_object_class_find_property (klass, "antialias");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint (frame, &info, gray);
  use_settings (h, 0);
  test_send_caps (h, &info);
  expect_outcome (h, frame, settings[0].outcome);

  g_object_freeze_notify (G_OBJECT (element)); /* as g_object_set does */
  g_object_set (element, "scale", settings[1].scale, NULL);
  klass->dispatch_properties_changed (G_OBJECT (element), 1, &other);
  expect_outcome (h, frame, settings[0].outcome);
  use_settings (h, 1);
  expect_outcome (h, frame, settings[0].outcome);
  g_object_thaw_notify (G_OBJECT (element));
  expect_outcome (h, frame, settings[1].outcome);
  gst_buffer_unref (frame);
  gst_object_unref (element);
  test_harness_end (&h);
}
GST_END_TEST

/* What reads back is what starts, also while someone holds the notifications that
 * end a g_object_set; what is wrong is told then, too. */
GST_START_TEST (test_frozen_settings_start) {
  GstHarness *h = test_harness (__i__, "name=cudapreproc async-depth=0");
  GstVideoInfo info;
  gint width = 0;

  test_video_info (&info, "RGB", 32, 24);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_object_freeze_notify (G_OBJECT (h->element));
  gst_harness_set (h, "cudapreproc", "width", 8, "scale", 1.0, "mean", "-5",
      "streams", 99, NULL);
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_FAILURE);
  g_autofree gchar *text = test_harness_error (h);
  test_expect_words (text, "streams is 99");

  gst_harness_set (h, "cudapreproc", "streams", 1, NULL);
  gst_harness_get (h, "cudapreproc", "width", &width, NULL);
  fail_unless_equals_int (width, 8);
  fail_unless (gst_element_set_state (h->element, GST_STATE_PLAYING) !=
      GST_STATE_CHANGE_FAILURE);
  GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
  fail_unless_equals_uint64 (
      gst_buffer_get_size (tensor), 8 * 24 * 3 * sizeof (gfloat));
  test_expect_float (tensor, 5);
  gst_buffer_unref (tensor);
  g_object_thaw_notify (G_OBJECT (h->element));
  tensor = test_convert (h, &info, test_frame (&info, NULL));
  test_expect_float (tensor, 5);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* From the next frame on, not for frames under way. */
GST_START_TEST (test_settings_count_from_the_next_frame) {
  GstVideoInfo info;
  GstHarness *h = test_harness (__i__,
      "name=cudapreproc width=4 height=4 scale=1 streams=3 async-depth=3");
  GstBuffer *tensor;

  test_video_info (&info, "RGB", 32, 24);
  test_send_caps (h, &info);
  for (guint n = 0; n < 30; n++) {
    gchar *mean = g_strdup_printf ("%u", n);
    gst_harness_set (h, "cudapreproc", "mean", mean, NULL);
    fail_unless_equals_int (
        gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    g_free (mean);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 30; n++) {
    tensor = gst_harness_pull (h);
    test_expect_float (tensor, -(gfloat) n);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* several elements */

/* Nothing is shared: each has its own mean, in the same process and at the same
 * time. */
GST_START_TEST (test_two_elements) {
  GstVideoInfo info;
  GstHarness *h[2] = { test_harness (__i__,
                           "width=16 height=16 scale=1 mean=1 streams=2 "
                           "async-depth=2"),
    test_harness (__i__,
        "width=8 height=8 scale=1 mean=2 streams=2 "
        "async-depth=2") };

  test_video_info (&info, "RGB", 32, 24);
  for (guint e = 0; e < 2; e++)
    test_send_caps (h[e], &info);
  for (guint n = 0; n < 200; n++)
    for (guint e = 0; e < 2; e++) {
      fail_unless_equals_int (
          gst_harness_push (h[e], test_frame (&info, NULL)), GST_FLOW_OK);
      GstBuffer *tensor = gst_harness_try_pull (h[e]);
      if (tensor == NULL)
        continue;
      test_expect_float (tensor, -1 - (gfloat) e);
      gst_buffer_unref (tensor);
    }
  for (guint e = 0; e < 2; e++) {
    fail_unless_equals_int (gst_harness_buffers_received (h[e]), 198);
    test_harness_end (&h[e]);
  }
}
GST_END_TEST

/* statistics */

static gdouble
stat_double (const GstStructure *stats, const gchar *name)
{
  gdouble value = -1;

  fail_unless (gst_structure_get_double (stats, name, &value), "no %s", name);
  return value;
}

GST_START_TEST (test_statistics) {
  GstVideoInfo info;
  GstHarness *h =
      test_rgb_harness (__i__, "name=cudapreproc async-depth=0", &info);

  fail_unless_equals_int (test_stats_count (h, "frames"), 0);
  for (guint n = 0; n < 10; n++)
    test_push_number (h, &info, n);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (test_stats_count (h, "frames"), 10);

  GstStructure *stats = test_stats (h);
  fail_unless (stat_double (stats, "kernel-mean") > 0);
  fail_unless (
      stat_double (stats, "kernel-p50") <= stat_double (stats, "kernel-p95"));
  fail_unless (
      stat_double (stats, "kernel-p95") <= stat_double (stats, "kernel-p99"));
  fail_unless (stat_double (stats, "overlap") > 0);
  gst_structure_free (stats);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_settings_change_whole);
  test_add (tcase, test_settings_of_another_thread);
  test_add (tcase, test_frozen_settings_start);
  test_add (tcase, test_settings_count_from_the_next_frame);
  test_add (tcase, test_two_elements);
  test_add (tcase, test_statistics);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-properties", add_tests);
}
