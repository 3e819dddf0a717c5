/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The monitor and the error gate in processes that are forked while other
 * threads use them.
 */
#include <gst/gst.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/common/expect.h"
#include "gst/cudapreproc.h"
#include "gst/report/monitor.h"

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
    gst_pp_monitor_add (
        shared->monitor, &info, gst_util_get_timestamp (), &spent);
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

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  test_lock ();
  test_fork ();
  return expect_end ();
}
