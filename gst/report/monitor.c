/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "monitor.h"

#include "gst/debug.h"

struct _GstPpMonitor {
  gpointer element; /* whose frames these are; not a reference */
  GMutex lock;      /* guards the rest */
  gboolean streams_decided;
  GstPpStats stats;
  GstPpTimeline *timeline; /* NULL: none is wanted */
};

GstPpMonitor *
gst_pp_monitor_new (gpointer element)
{
  GstPpMonitor *monitor = g_new0 (GstPpMonitor, 1);

  monitor->element = element;
  g_mutex_init (&monitor->lock);
  return monitor;
}

void
gst_pp_monitor_free (GstPpMonitor *monitor)
{
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  g_mutex_clear (&monitor->lock);
  g_free (monitor);
}

void
gst_pp_monitor_reset (GstPpMonitor *monitor, pp_device *device)
{
  g_mutex_lock (&monitor->lock);
  gst_pp_stats_init (&monitor->stats, device);
  monitor->streams_decided = FALSE;
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  g_mutex_unlock (&monitor->lock);
}

gboolean
gst_pp_monitor_set_timeline (
    GstPpMonitor *monitor, const gchar *path, GstPpFault *fault, gchar **reason)
{
  GstPpTimeline *timeline = gst_pp_timeline_new (path, fault, reason);

  g_mutex_lock (&monitor->lock);
  g_clear_pointer (&monitor->timeline, gst_pp_timeline_free);
  monitor->timeline = timeline;
  g_mutex_unlock (&monitor->lock);
  return timeline != NULL;
}

void
gst_pp_monitor_add (
    GstPpMonitor *monitor, const GstPpFrame *frame, const pp_job_info *info)
{
  const gdouble latency =
      (gdouble) (gst_util_get_timestamp () - frame->submitted) /
      (gdouble) GST_USECOND;

  g_mutex_lock (&monitor->lock);
  gst_pp_stats_add (&monitor->stats, info, &frame->spent, latency);
  if (info->streams_decided && !monitor->streams_decided)
    GST_DEBUG_OBJECT (monitor->element,
        "stage times: %d streams from frame %" G_GUINT64_FORMAT " on",
        info->streams_in_use, info->sequence);
  monitor->streams_decided = info->streams_decided;
  if (monitor->timeline != NULL)
    gst_pp_timeline_add (monitor->timeline, info);
  g_mutex_unlock (&monitor->lock);
}

void
gst_pp_monitor_restart (GstPpMonitor *monitor)
{
  g_mutex_lock (&monitor->lock);
  gst_pp_stats_restart (&monitor->stats);
  g_mutex_unlock (&monitor->lock);
}

gboolean
gst_pp_monitor_write_timeline (GstPpMonitor *monitor, const gchar *element,
    const gchar *device, gchar **reason)
{
  gboolean written = TRUE;

  g_mutex_lock (&monitor->lock);
  if (monitor->timeline != NULL) {
    const GstPpTimelineLabels labels = { element, device,
      gst_pp_bottleneck_name (gst_pp_stats_diagnose (&monitor->stats)) };
    written = gst_pp_timeline_write (monitor->timeline, &labels, reason);
  }
  g_mutex_unlock (&monitor->lock);
  return written;
}

GstStructure *
gst_pp_monitor_get_stats (GstPpMonitor *monitor)
{
  /* Sorting takes longer than a job may wait to be added. */
  g_mutex_lock (&monitor->lock);
  g_autofree GstPpStats *stats =
      g_memdup2 (&monitor->stats, sizeof monitor->stats);
  g_mutex_unlock (&monitor->lock);
  return gst_pp_stats_to_structure (stats);
}
