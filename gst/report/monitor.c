/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "monitor.h"

#include "fork_lock.h"
#include "gst/debug.h"

struct _GstPpMonitor {
  GstElement *element; /* not a reference */
  GstPpForkLock lock;  /* guards the rest */
  gboolean streams_decided;
  GstClockTime interval; /* from message to message; 0: none are wanted */
  GstPpStats stats;
  GstPpTimeline *timeline; /* NULL: none is wanted */
};

GstPpMonitor *
gst_pp_monitor_new (GstElement *element)
{
  GstPpMonitor *monitor = g_new0 (GstPpMonitor, 1);

  monitor->element = element;
  gst_pp_fork_lock_init (&monitor->lock);
  return monitor;
}

void
gst_pp_monitor_free (GstPpMonitor *monitor)
{
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  gst_pp_fork_lock_clear (&monitor->lock);
  g_free (monitor);
}

void
gst_pp_monitor_reset (GstPpMonitor *monitor, pp_device *device)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  gst_pp_stats_init (&monitor->stats, device);
  monitor->streams_decided = FALSE;
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  g_rec_mutex_unlock (mutex);
}

gboolean
gst_pp_monitor_set_timeline (
    GstPpMonitor *monitor, const gchar *path, GstPpFault *fault, gchar **reason)
{
  GstPpTimeline *timeline = gst_pp_timeline_new (path, fault, reason);

  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  monitor->timeline = timeline;
  g_rec_mutex_unlock (mutex);
  return timeline != NULL;
}

void
gst_pp_monitor_set_interval (GstPpMonitor *monitor, GstClockTime interval)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  /* No messages were wanted so far: the first interval begins now. */
  if (monitor->interval == 0)
    gst_pp_stats_begin_interval (&monitor->stats);
  monitor->interval = interval;
  g_rec_mutex_unlock (mutex);
}

void
gst_pp_monitor_add_dropped (GstPpMonitor *monitor)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  gst_pp_stats_add_dropped (&monitor->stats);
  g_rec_mutex_unlock (mutex);
}

/* If an interval is over, begins the next one and returns a copy of the
 * statistics at that moment; else returns NULL. Called with the lock held. */
static GstPpStats *
end_interval (GstPpMonitor *monitor)
{
  if (monitor->interval == 0 || monitor->stats.duration < monitor->interval)
    return NULL;
  GstPpStats *stats = g_memdup2 (&monitor->stats, sizeof monitor->stats);
  gst_pp_stats_begin_interval (&monitor->stats);
  return stats;
}

static void
post_interval (GstElement *element, const GstPpStats *stats)
{
  gst_element_post_message (element,
      gst_message_new_element (
          GST_OBJECT (element), gst_pp_stats_interval_to_structure (stats)));
}

/* The same words before and after the stages' times. */
#define LOG_DONE                                                               \
  "job %" G_GUINT64_FORMAT " is done, %.1f us after it was submitted: "
#define LOG_MOVED                                                              \
  ", on stream %d; bytes up %" G_GSIZE_FORMAT ", down %" G_GSIZE_FORMAT        \
  ", staged %" G_GSIZE_FORMAT

static void
log_job (GstElement *element, const pp_job_info *info, GstClockTime latency)
{
  const pp_times *times = &info->times;
  const gdouble us = (gdouble) latency / (gdouble) GST_USECOND;

  if (info->timed)
    GST_DEBUG_OBJECT (element,
        LOG_DONE "upload %.1f us, kernel %.1f us, download %.1f us" LOG_MOVED,
        info->sequence, us, times->uploaded - times->start,
        times->computed - times->uploaded, times->done - times->computed,
        info->stream, info->bytes_up, info->bytes_down, info->bytes_staged);
  else
    GST_DEBUG_OBJECT (element, LOG_DONE "stages not timed" LOG_MOVED,
        info->sequence, us, info->stream, info->bytes_up, info->bytes_down,
        info->bytes_staged);
}

void
gst_pp_monitor_add (GstPpMonitor *monitor, const pp_job_info *info,
    GstClockTime submitted, const GstPpSpent *spent, GstPpPart part)
{
  const GstClockTime ended = gst_util_get_timestamp ();
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  gst_pp_stats_add (
      &monitor->stats, info, info->timed, spent, part, submitted, ended);
  const gboolean decided_now =
      info->streams_decided && !monitor->streams_decided;
  monitor->streams_decided = info->streams_decided;
  if (monitor->timeline != NULL && info->timed)
    gst_pp_timeline_add (monitor->timeline, info);
  g_autofree GstPpStats *interval = end_interval (monitor);
  g_rec_mutex_unlock (mutex);

  if (decided_now)
    GST_DEBUG_OBJECT (monitor->element,
        "%d streams are used from job %" G_GUINT64_FORMAT
        " on, chosen by the stage times of the jobs before",
        info->streams_in_use, info->sequence);
  log_job (monitor->element, info, ended - submitted);
  if (interval != NULL)
    post_interval (monitor->element, interval);
}

void
gst_pp_monitor_restart (GstPpMonitor *monitor)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  gst_pp_stats_restart (&monitor->stats);
  g_rec_mutex_unlock (mutex);
}

gboolean
gst_pp_monitor_write_timeline (
    GstPpMonitor *monitor, const gchar *device, gchar **reason)
{
  /* A copy: any thread may rename the element meanwhile. */
  g_autofree gchar *name = gst_object_get_name (GST_OBJECT (monitor->element));
  gboolean written = TRUE;

  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  if (monitor->timeline != NULL)
    written = gst_pp_timeline_write (monitor->timeline, name, device,
        gst_pp_bottleneck_name (gst_pp_stats_diagnose (&monitor->stats)),
        reason);
  g_rec_mutex_unlock (mutex);
  return written;
}

GstStructure *
gst_pp_monitor_get_stats (GstPpMonitor *monitor)
{
  /* A copy: times are sorted without the lock, which threads of the device need to
   * add jobs. */
  GRecMutex *mutex = gst_pp_fork_lock_take (&monitor->lock);
  g_autofree GstPpStats *stats =
      g_memdup2 (&monitor->stats, sizeof monitor->stats);
  g_rec_mutex_unlock (mutex);
  return gst_pp_stats_to_structure (stats);
}
