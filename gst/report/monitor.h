/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What an element knows of its frames: statistics and timeline, under one lock.
 */
#ifndef GST_PP_MONITOR_H
#define GST_PP_MONITOR_H

#include <gst/gst.h>

#include "stats.h"
#include "timeline.h"

G_BEGIN_DECLS

/* Any thread, also in a forked child. */
typedef struct _GstPpMonitor GstPpMonitor;

/* element: named in the debug log; outlives the monitor. */
GstPpMonitor *gst_pp_monitor_new (GstElement *element);
void gst_pp_monitor_free (GstPpMonitor *monitor);

/* Begins a run: everything is zero, and there is no timeline. The frames will go
 * through device, which is not kept. */
void gst_pp_monitor_reset (GstPpMonitor *monitor, pp_device *device);
/* See gst_pp_timeline_new. FALSE with *fault and *reason. */
gboolean gst_pp_monitor_set_timeline (GstPpMonitor *monitor, const gchar *path,
    GstPpFault *fault, gchar **reason);
/* Posts an element message each interval, with the first frame that ends after
 * it: see gst_pp_stats_interval_to_structure. 0: none. */
void gst_pp_monitor_set_interval (GstPpMonitor *monitor, GstClockTime interval);
/* Adds a job that ended well; jobs come in order. submitted: by
 * gst_util_get_timestamp; spent: before that. */
void gst_pp_monitor_add (GstPpMonitor *monitor, const pp_job_info *info,
    GstClockTime submitted, const GstPpSpent *spent, GstPpPart part);
/* Adds a frame that was dropped because it was late. */
void gst_pp_monitor_add_dropped (GstPpMonitor *monitor);
/* See gst_pp_stats_restart. */
void gst_pp_monitor_restart (GstPpMonitor *monitor);
/* See gst_pp_timeline_write; TRUE if there is no timeline. */
gboolean gst_pp_monitor_write_timeline (
    GstPpMonitor *monitor, const gchar *device, gchar **reason);
/* See gst_pp_stats_to_structure. */
GstStructure *gst_pp_monitor_get_stats (GstPpMonitor *monitor);

G_END_DECLS

#endif
