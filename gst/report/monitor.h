/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is known about a run's frames: statistics, diagnosis, timeline.
 */
#ifndef GST_PP_MONITOR_H
#define GST_PP_MONITOR_H

#include <gst/gst.h>

#include "gst/buffers/frame.h"
#include "stats.h"
#include "timeline.h"

G_BEGIN_DECLS

/* Any thread. */
typedef struct _GstPpMonitor GstPpMonitor;

/* element: that of the debug log, longer there than the monitor. */
GstPpMonitor *gst_pp_monitor_new (gpointer element);
void gst_pp_monitor_free (GstPpMonitor *monitor);

/* Counts from zero the frames that will go through device, without a timeline.
 */
void gst_pp_monitor_reset (GstPpMonitor *monitor, pp_device *device);
/* See gst_pp_timeline_new. */
gboolean gst_pp_monitor_set_timeline (GstPpMonitor *monitor, const gchar *path,
    GstPpFault *fault, gchar **reason);
/* A frame whose job ended well, in order. */
void gst_pp_monitor_add (
    GstPpMonitor *monitor, const GstPpFrame *frame, const pp_job_info *info);
/* See gst_pp_stats_restart. */
void gst_pp_monitor_restart (GstPpMonitor *monitor);
/* See gst_pp_timeline_write. Nothing to do without a timeline. */
gboolean gst_pp_monitor_write_timeline (GstPpMonitor *monitor,
    const gchar *element, const gchar *device, gchar **reason);
/* See gst_pp_stats_to_structure. */
GstStructure *gst_pp_monitor_get_stats (GstPpMonitor *monitor);

G_END_DECLS

#endif
