/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * stats-interval in pipelines; and the monitor and the error gate in processes
 * that are forked while other threads use them.
 */
#include <gst/gst.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/common/expect.h"
#include "gst/cudapreproc.h"
#include "gst/report/monitor.h"

#define PATIENCE (30 * GST_SECOND)
#define FORKS 200
/* A child that needs so long hangs. */
#define CHILD_SECONDS 20

typedef struct {
  GstPpMonitor *monitor;
  GstPpErrorGate gate;
  gint stop; /* atomic */
} Shared;

/* Holds the locks most of the time, and none of GLib's, which a child could not
 * take either. */
static gpointer
use_locks (gpointer data)
{
  Shared *shared = data;
  const GstPpSpent spent = { .waited = 0 };

  for (gdouble time = 100; !g_atomic_int_get (&shared->stop); time += 10) {
    const pp_job_info info = { .times = {
                                   time, time + 4, time + 6, time + 10 } };
    gst_pp_monitor_add (shared->monitor, &info, gst_util_get_timestamp (),
        &spent, (GstPpPart){ TRUE, TRUE });
    gst_pp_error_gate_open (&shared->gate);
  }
  return NULL;
}

/* Reads in a child; never returns. */
static void
use_in_child (Shared *shared)
{
  guint64 frames = 0;

  alarm (CHILD_SECONDS);
  GstStructure *stats = gst_pp_monitor_get_stats (shared->monitor);
  const gboolean read = gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_free (stats);
  gst_pp_monitor_restart (shared->monitor);
  const gboolean posted = gst_pp_error_gate_has_posted (&shared->gate);
  _exit (read && frames > 0 && !posted ? 0 : 1);
}

static void
test_fork (void)
{
  Shared shared = { .stop = 0 };
  guint64 before = 0, after = 0;

  /* An element only for its name in the log. */
  GstElement *element = g_object_new (GST_TYPE_CUDA_PREPROC, NULL);
  gst_object_ref_sink (element);
  shared.monitor = gst_pp_monitor_new (element);
  gst_pp_error_gate_init (&shared.gate);
  GThread *thread = g_thread_new ("use", use_locks, &shared);
  while (before == 0) {
    GstStructure *stats = gst_pp_monitor_get_stats (shared.monitor);
    gst_structure_get_uint64 (stats, "frames", &before);
    gst_structure_free (stats);
  }
  for (guint i = 0; i < FORKS && expect_failed == 0; i++) {
    gint status = 0;
    const pid_t process = fork ();
    if (process == 0)
      use_in_child (&shared);
    EXPECT (waitpid (process, &status, 0) == process && status == 0,
        "child %u ended as %d", i, status);
  }
  /* The parent has noticed nothing. */
  GstStructure *stats = gst_pp_monitor_get_stats (shared.monitor);
  gst_structure_get_uint64 (stats, "frames", &after);
  gst_structure_free (stats);
  EXPECT (after > before, "%" G_GUINT64_FORMAT " frames", after);

  g_atomic_int_set (&shared.stop, 1);
  g_thread_join (thread);
  gst_pp_error_gate_clear (&shared.gate);
  gst_pp_monitor_free (shared.monitor);
  gst_object_unref (element);
}

/* The lock is recursive, and can be tried. */
static gpointer
try_lock (gpointer data)
{
  GRecMutex *mutex = gst_pp_fork_lock_try (data);

  if (mutex != NULL)
    g_rec_mutex_unlock (mutex);
  return mutex;
}

static void
test_lock (void)
{
  GstPpForkLock lock;

  gst_pp_fork_lock_init (&lock);
  GRecMutex *mutex = gst_pp_fork_lock_take (&lock);
  EXPECT (gst_pp_fork_lock_try (&lock) == mutex, "not recursive");
  g_rec_mutex_unlock (mutex);
  EXPECT (g_thread_join (g_thread_new ("try", try_lock, &lock)) == NULL,
      "taken twice");

  /* Who holds it in a child is not who held it in the parent. */
  gint status = 0;
  const pid_t process = fork ();
  if (process == 0) {
    alarm (CHILD_SECONDS);
    GRecMutex *own = gst_pp_fork_lock_take (&lock);
    const gboolean fresh = own != mutex;
    g_rec_mutex_unlock (own);
    /* What the parent's thread does when it is back here. */
    g_rec_mutex_unlock (mutex);
    gst_pp_fork_lock_clear (&lock);
    _exit (fresh ? 0 : 1);
  }
  EXPECT (waitpid (process, &status, 0) == process && status == 0,
      "the child ended as %d", status);
  g_rec_mutex_unlock (mutex);
  EXPECT (g_thread_join (g_thread_new ("try", try_lock, &lock)) == mutex,
      "not given back");
  gst_pp_fork_lock_clear (&lock);
}

static guint64
number (const GstStructure *structure, const gchar *name)
{
  guint64 value = 0;

  EXPECT (gst_structure_get_uint64 (structure, name, &value), "no %s", name);
  return value;
}

static GstElement *
launch (const gchar *line)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  return pipeline;
}

/* What the messages until EOS said, and how many there were. */
typedef struct {
  guint messages;
  guint64 frames, duration, total;
} Heard;

static Heard
listen (GstElement *pipeline, GstElement *preproc)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  Heard heard = { 0 };
  GstMessage *message;

  while ((message = gst_bus_timed_pop_filtered (bus, PATIENCE,
              GST_MESSAGE_ELEMENT | GST_MESSAGE_EOS | GST_MESSAGE_ERROR)) !=
          NULL &&
      GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT) {
    const GstStructure *structure = gst_message_get_structure (message);

    if (gst_structure_has_name (structure, GST_PP_STATS_MESSAGE)) {
      GstStructure *total = NULL;

      EXPECT (GST_MESSAGE_SRC (message) == GST_OBJECT (preproc), "from %s",
          GST_MESSAGE_SRC_NAME (message));
      EXPECT (gst_structure_get (
                  structure, "total", GST_TYPE_STRUCTURE, &total, NULL),
          "no total");
      heard.messages++;
      heard.frames += number (structure, "frames");
      heard.duration += number (structure, "duration");
      heard.total = number (total, "frames");
      EXPECT (heard.total == heard.frames,
          "%" G_GUINT64_FORMAT " frames, %" G_GUINT64_FORMAT
          " in the intervals",
          heard.total, heard.frames);
      EXPECT (gst_structure_n_fields (structure) ==
              gst_structure_n_fields (total) + 2,
          "not the same fields");
      gst_structure_free (total);
    }
    gst_message_unref (message);
  }
  EXPECT (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS,
      "no EOS");
  gst_clear_message (&message);
  gst_object_unref (bus);
  return heard;
}

/* 60 frames in 2 seconds. */
static void
test_interval (void)
{
  static const struct {
    guint interval, least, most; /* messages */
  } cases[] = { { 0, 0, 0 }, { 200, 2, 10 }, { 1, 40, 60 }, { 100000, 0, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *line = g_strdup_printf (
        "videotestsrc num-buffers=60 is-live=true ! "
        "video/x-raw,format=RGB,width=32,height=32,framerate=30/1 ! "
        "cudapreproc name=preproc backend=cpu stats-interval=%u ! fakesink",
        cases[i].interval);
    GstElement *pipeline = launch (line);
    GstElement *preproc = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");

    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    const Heard heard = listen (pipeline, preproc);
    EXPECT (heard.messages >= cases[i].least && heard.messages <= cases[i].most,
        "%u messages every %u ms", heard.messages, cases[i].interval);
    EXPECT (heard.duration >= heard.messages * cases[i].interval * GST_MSECOND,
        "%u messages in %" GST_TIME_FORMAT, heard.messages,
        GST_TIME_ARGS (heard.duration));
    gst_element_set_state (pipeline, GST_STATE_NULL);
    gst_object_unref (preproc);
    gst_object_unref (pipeline);
  }
}

/* While it plays: the first interval begins then, and the last one is not told. */
static void
test_interval_changes (void)
{
  GstElement *pipeline =
      launch ("videotestsrc is-live=true ! "
              "video/x-raw,format=RGB,width=32,height=32,framerate=100/1 ! "
              "cudapreproc name=preproc backend=cpu ! fakesink");
  GstElement *preproc = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_usleep (300000);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  EXPECT (message == NULL, "a message that nobody wants");
  gst_clear_message (&message);

  g_object_set (preproc, "stats-interval", 50, NULL);
  message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_ELEMENT);
  EXPECT (message != NULL, "no message");
  if (message != NULL) {
    const GstStructure *structure = gst_message_get_structure (message);
    GstStructure *total = NULL;
    gst_structure_get (structure, "total", GST_TYPE_STRUCTURE, &total, NULL);
    EXPECT (number (structure, "frames") < number (total, "frames"),
        "the first interval has all frames");
    gst_structure_free (total);
  }
  gst_clear_message (&message);

  g_object_set (preproc, "stats-interval", 0, NULL);
  g_usleep (300000);
  while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT)) != NULL)
    gst_message_unref (message);
  g_usleep (300000);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
  EXPECT (message == NULL, "still a message");
  gst_clear_message (&message);

  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (preproc);
  gst_object_unref (pipeline);
}

/* Each frame is a tensor or was dropped. */
static void
test_dropped (void)
{
  GstElement *pipeline =
      launch ("videotestsrc num-buffers=100 is-live=true ! "
              "video/x-raw,format=RGB,width=32,height=32,framerate=100/1 ! "
              "cudapreproc name=preproc backend=cpu qos=true ! "
              "identity sleep-time=30000 ! fakesink sync=true qos=true");
  GstElement *preproc = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  GstStructure *stats = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  listen (pipeline, preproc);
  g_object_get (preproc, "stats", &stats, NULL);
  EXPECT (number (stats, "dropped") > 0, "none was dropped");
  EXPECT (number (stats, "dropped") + number (stats, "frames") == 100,
      "%" G_GUINT64_FORMAT " dropped, %" G_GUINT64_FORMAT " not",
      number (stats, "dropped"), number (stats, "frames"));
  gst_structure_free (stats);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (preproc);
  gst_object_unref (pipeline);
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  test_lock ();
  test_fork ();
  test_interval ();
  test_interval_changes ();
  test_dropped ();
  return expect_end ();
}
