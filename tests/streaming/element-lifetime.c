/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long things live, and with how many others: tensors without their
 * pipeline, processes that end or fork while frames are under way, many elements
 * at once, consumers and sources that are slow.
 */

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"
#include "tests/common/resources.h"
#include "tests/common/startprogram.h"

#define SOURCE                                                                 \
  "videotestsrc name=src ! video/x-raw,format=NV12,width=320,height=240 ! "
#define ELEMENT                                                                \
  "cudapreproc name=pp width=64 height=64 fit=letterbox streams=4 "

/* tensors without their pipeline */

static gpointer
unref_tensor (gpointer tensor)
{
  test_number_of (tensor);
  gst_buffer_unref (tensor);
  return NULL;
}

/* The element goes while its frames are under way, and each tensor's last
 * reference on a thread of its own. */
GST_START_TEST (test_last_unref_on_any_thread) {
  for (guint round = 0; round < 30; round++) {
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=0", &info);
    GThread *thread[8];

    for (guint n = 0; n < G_N_ELEMENTS (thread); n++)
      test_push_number (h, &info, n);
    for (guint n = 0; n < G_N_ELEMENTS (thread); n++)
      thread[n] = g_thread_new ("unref", unref_tensor, gst_harness_pull (h));
    test_harness_end (&h);
    for (guint n = 0; n < G_N_ELEMENTS (thread); n++)
      g_thread_join (thread[n]);
  }
}
GST_END_TEST

/* processes */

typedef enum {
  EXIT_IN_PLAYING,
  EXIT_IN_PAUSED,
  EXIT_WITH_TENSORS,
  EXIT_ON_ANOTHER_THREAD,
  EXIT_WAYS
} ExitWay;

static gpointer
exit_soon (gpointer unused)
{
  (void) unused;
  g_usleep (20000);
  exit (0);
}

/* The other side of test_exit_without_teardown: a program that ends, with 0, and
 * stops nothing. There is no test to fail here. */
static int
exit_in_the_middle (const gchar *backend, ExitWay way)
{
  g_autofree gchar *plugin = test_plugin_path ();
  g_autofree gchar *line = g_strdup_printf (SOURCE ELEMENT
      "backend=%s ! appsink name=out sync=false max-buffers=8",
      backend);

  if (gst_plugin_load_file (plugin, NULL) == NULL)
    return 2;
  GstElement *pipeline = gst_parse_launch (line, NULL);
  GstAppSink *out =
      GST_APP_SINK (gst_bin_get_by_name (GST_BIN (pipeline), "out"));
  gst_element_set_state (
      pipeline, way == EXIT_IN_PAUSED ? GST_STATE_PAUSED : GST_STATE_PLAYING);
  if (way == EXIT_IN_PAUSED)
    return gst_element_get_state (pipeline, NULL, NULL, TEST_PATIENCE) ==
            GST_STATE_CHANGE_SUCCESS
        ? 0
        : 3;
  for (guint n = 0; n < 30; n++) {
    GstSample *sample = gst_app_sink_try_pull_sample (out, TEST_PATIENCE);
    if (sample == NULL)
      return 4;
    if (way != EXIT_WITH_TENSORS || n < 20)
      gst_sample_unref (sample);
  }
  if (way == EXIT_ON_ANOTHER_THREAD) {
    g_thread_new ("exit", exit_soon, NULL);
    for (;;)
      gst_sample_unref (gst_app_sink_pull_sample (out));
  }
  return 0;
}

/* How this program was called. */
static const gchar *program;

/* A driver's first start on a machine took 3 s, and others may be busy. */
#define EXIT_PATIENCE (30 * GST_SECOND)

/* A fresh process, so that it exits as a program does; what it leaves is meant
 * to be left. */
GST_START_TEST (test_exit_without_teardown) {
  gchar **environment = g_environ_setenv (
      g_get_environ (), "ASAN_OPTIONS", "detect_leaks=0", TRUE);

  for (gint way = 0; way < EXIT_WAYS; way++) {
    for (guint round = 0; round < 5; round++) {
      g_autofree gchar *way_text = g_strdup_printf ("%d", way);
      const gchar *arguments[] = { "/bin/sh", "-c", START_PROGRAM, "sh",
        program, "--exit", test_backend (__i__), way_text, NULL };
      GError *error = NULL;
      GPid process;

      fail_unless (g_spawn_async (NULL, (gchar **) arguments, environment,
                       G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &process, &error),
          "%s", error != NULL ? error->message : "");
      const gint status = test_wait_for_exit (process, EXIT_PATIENCE);
      fail_unless (status == 0, "way %d ended as %d", way, status);
    }
  }
  g_strfreev (environment);
}
GST_END_TEST

/* In a fork's child, which has none of the element's threads: nothing hangs, new
 * frames are refused with a reason, and a new element works. */
static gboolean
use_in_child (GstHarness *h, const GstVideoInfo *info, GstBuffer *tensor)
{
  GstBus *bus = gst_bus_new ();
  GstMapInfo map;
  GstVideoInfo other;

  /* The parent's bus is a descriptor that both would read. */
  gst_element_set_bus (h->element, bus);
  gst_object_unref (bus);
  if (gst_buffer_map (tensor, &map, GST_MAP_READ))
    gst_buffer_unmap (tensor, &map);
  gst_buffer_unref (tensor);
  for (guint n = 0; n < 10; n++)
    if (gst_harness_push (h, test_numbered_frame (info, n)) != GST_FLOW_ERROR)
      return FALSE;
  gchar *text = test_harness_error (h);
  const gboolean named = strstr (text, "fork") != NULL;
  g_free (text);
  gst_harness_push_event (h, gst_event_new_eos ());
  gst_element_set_state (h->element, GST_STATE_NULL);
  test_harness_end (&h);

  /* Another device of this process; CUDA itself does not survive a fork. */
  h = test_rgb_harness (0, "streams=2", &other);
  test_push_number (h, &other, 7);
  test_pull_number (h, 7);
  test_harness_end (&h);
  return named;
}

/* Forks while the element's threads sleep: in the middle of their work a fork
 * would inherit locks of GLib's and GStreamer's that nobody gives back. */
GST_START_TEST (test_fork) {
  if (is_emulated ()) {
    g_print ("SKIP fork: qemu-user ends where a child starts threads\n");
    return;
  }
  for (guint round = 0; round < 10; round++) {
    GstVideoInfo info;
    GstHarness *h = test_harness (
        __i__, "width=512 height=512 type=uint8 method=lanczos antialias=true");

    test_video_info (&info, "RGB", 1920, 1080);
    test_send_caps (h, &info);
    test_push_number (h, &info, 1);
    GstBuffer *tensor = gst_harness_pull (h);
    test_number_of (tensor);
    g_usleep (G_USEC_PER_SEC / 20);
    const pid_t process = fork ();
    if (process == 0)
      test_end_child (use_in_child (h, &info, tensor));
    const gint status = test_wait_for_exit (process, TEST_PATIENCE);
    fail_unless (status == 0, "the child ended as %d", status);

    /* The parent has noticed nothing. */
    fail_unless_equals_int (test_number_of (tensor), 1);
    gst_buffer_unref (tensor);
    test_push_number (h, &info, 2);
    test_pull_number (h, 2);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* many */

GST_START_TEST (test_64_pipelines) {
  GstElement *pipeline[64];

  for (guint i = 0; i < G_N_ELEMENTS (pipeline); i++) {
    pipeline[i] = test_launch (__i__,
        "videotestsrc num-buffers=20 ! video/x-raw,format=NV12,width=160,"
        "height=120 ! cudapreproc streams=2 width=%u height=48 ! fakesink",
        32 + i);
    gst_element_set_state (pipeline[i], GST_STATE_PLAYING);
  }
  for (guint i = 0; i < G_N_ELEMENTS (pipeline); i++)
    gst_message_unref (test_pop (pipeline[i], GST_MESSAGE_EOS));
  for (guint i = 0; i < G_N_ELEMENTS (pipeline); i++)
    test_stop (&pipeline[i]);
}
GST_END_TEST

typedef struct {
  gint backend;
  const gchar *properties;
  GstBuffer *expected;
} Element;

static GstBuffer *
convert_noise (GstHarness *h)
{
  GstVideoInfo info;

  test_video_info (&info, "NV12", 320, 240);
  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 1);
  return test_convert (h, &info, frame);
}

static gpointer
run_beside_others (gpointer user)
{
  Element *element = user;
  GstHarness *h = test_harness (element->backend, element->properties);

  for (guint n = 0; n < 50; n++) {
    GstBuffer *tensor = convert_noise (h);
    test_expect_equal (tensor, element->expected, element->properties);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
  return NULL;
}

/* Each converts as it does alone. */
GST_START_TEST (test_different_elements_at_once) {
  Element elements[] = {
    { .properties = "width=64 height=64 mean=0.5 std=0.5" },
    { .properties = "width=64 height=64 mean=0.1,0.2,0.3 std=1,2,3" },
    { .properties = "width=100 height=30 fit=letterbox method=lanczos" },
    { .properties = "width=64 height=64 type=float16 layout=nhwc" },
    { .properties = "width=33 height=77 denoise=median channels=gray" },
    { .properties = "width=64 height=64 type=uint8 method=area streams=1" },
  };
  GThread *thread[G_N_ELEMENTS (elements)];

  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    elements[i].backend = __i__;
    GstHarness *h = test_harness (__i__, elements[i].properties);
    elements[i].expected = convert_noise (h);
    test_harness_end (&h);
  }
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++)
    thread[i] = g_thread_new ("element", run_beside_others, &elements[i]);
  for (guint i = 0; i < G_N_ELEMENTS (elements); i++) {
    g_thread_join (thread[i]);
    gst_buffer_unref (elements[i].expected);
  }
}
GST_END_TEST

/* slow */

static GstPadProbeReturn
note_memory (GstPad *pad, GstPadProbeInfo *info, gpointer memories)
{
  (void) pad;
  g_hash_table_add (
      memories, gst_buffer_peek_memory (GST_PAD_PROBE_INFO_BUFFER (info), 0));
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
be_slow (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  (void) pad;
  (void) info;
  (void) unused;
  g_usleep (2000);
  return GST_PAD_PROBE_OK;
}

/* There are as many tensors as are held back, under way or in the queue, however
 * many frames pass. */
GST_START_TEST (test_slow_consumer) {
  GHashTable *memories = g_hash_table_new (g_direct_hash, g_direct_equal);
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=300 ! " ELEMENT "async-depth=4 ! "
      "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! "
      "fakesink name=out sync=false");

  gst_pad_add_probe (test_pad (pipeline, "pp", "src"),
      GST_PAD_PROBE_TYPE_BUFFER, note_memory, memories, NULL);
  gst_pad_add_probe (test_pad (pipeline, "out", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, be_slow, NULL, NULL);
  test_play_to_eos (pipeline);
  const guint n = g_hash_table_size (memories);
  fail_unless (n <= 4 + 4 + 3 + 3, "%u tensors", n);
  test_stop (&pipeline);
  g_hash_table_unref (memories);
}
GST_END_TEST

static gint64
processor_time (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * G_USEC_PER_SEC +
      usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

/* What has come is out, although nothing follows; and nobody spins meanwhile. */
GST_START_TEST (test_source_that_stalls) {
  GstVideoInfo info;
  GstElement *pipeline = test_launch (__i__,
      "appsrc name=in is-live=true format=time "
      "caps=video/x-raw,format=RGB,width=32,height=24,framerate=30/1 ! "
      "cudapreproc name=pp width=16 height=12 type=uint8 streams=4 ! "
      "queue ! fakesink name=out sync=false async=false");
  GstAppSrc *in = GST_APP_SRC (test_element (pipeline, "in"));
  gint out = 0, pushed = 0;

  test_video_info (&info, "RGB", 32, 24);
  test_count_buffers (test_pad (pipeline, "out", "sink"), &out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint round = 0; round < 3; round++) {
    for (guint n = 0; n < 5; n++)
      gst_app_src_push_buffer (
          in, test_numbered_frame (&info, (guint) pushed++));
    test_wait_for (g_atomic_int_get (&out) == pushed);
    const gint64 before = processor_time ();
    g_usleep (300000);
    const gint64 used = processor_time () - before;
    fail_unless (used < 60000,
        "%" G_GINT64_FORMAT " us of processor time in 300 ms without a frame",
        used);
  }
  test_stop (&pipeline);
}
GST_END_TEST

/* states */

/* Stopped at any moment from the first step to well after the first frame. */
GST_START_TEST (test_ready_and_playing_200_times) {
  GRand *random = g_rand_new_with_seed (3);
  GstElement *pipeline = test_launch (
      __i__, SOURCE ELEMENT "async-depth=4 ! queue ! fakesink sync=false");
  gint64 first_frame = 0;
  gint out = 0;

  test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
  for (guint i = 0; i < 200; i++) {
    const gint before = g_atomic_int_get (&out);
    const gint64 start = g_get_monotonic_time ();
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i < 3) {
      test_wait_for (g_atomic_int_get (&out) > before);
      first_frame = g_get_monotonic_time () - start;
    } else {
      g_usleep ((gulong) (g_rand_double (random) * 2 * (gdouble) first_frame));
    }
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
  }
  const gint before = g_atomic_int_get (&out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  test_wait_for (g_atomic_int_get (&out) > before);
  test_stop (&pipeline);
  g_rand_free (random);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_last_unref_on_any_thread);
  test_add (tcase, test_exit_without_teardown);
  test_add (tcase, test_fork);
  test_add (tcase, test_64_pipelines);
  test_add (tcase, test_different_elements_at_once);
  test_add (tcase, test_slow_consumer);
  test_add (tcase, test_source_that_stalls);
  test_add (tcase, test_ready_and_playing_200_times);
}

int
main (int argc, char **argv)
{
  if (argc == 4 && strcmp (argv[1], "--exit") == 0) {
    gst_init (NULL, NULL);
    return exit_in_the_middle (argv[2], (ExitWay) atoi (argv[3]));
  }
  program = argv[0];
  return test_main (argc, argv, "element-lifetime", add_tests);
}
