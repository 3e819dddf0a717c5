/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the jobs took: the element's stats property.
 */
#ifndef GST_PP_STATS_H
#define GST_PP_STATS_H

#include <gst/gst.h>

#include "diagnosis.h"
#include "kernels/preproc.h"
#include "thread_time.h"

G_BEGIN_DECLS

/* The last jobs that percentiles are taken of. */
#define GST_PP_STATS_WINDOW 4096
/* The diagnosis is of the last jobs, at least these, at most twice as many. */
#define GST_PP_STATS_RECENT 256

/* What is timed: the stages, and the whole job. */
#define GST_PP_STATS_LATENCY GST_PP_N_STAGES
#define GST_PP_STATS_TIMES (GST_PP_N_STAGES + 1)

/* Times in microseconds. The caller serialises. */
typedef struct {
  guint64 frames, bytes_up, bytes_down, bytes_staged;
  gint streams; /* in use for the last job */
  gdouble last_done;
  gdouble wall; /* from the first job to the last, without standing still */
  gdouble total[GST_PP_STATS_TIMES];
  gfloat window[GST_PP_STATS_TIMES][GST_PP_STATS_WINDOW]; /* frames % size */
  gdouble stage_until[GST_PP_N_STAGES]; /* when the last job left a stage */
  GstPpLoad recent, before;
} GstPpStats;

/* Of frames that will go through device, which is not kept. */
void gst_pp_stats_init (GstPpStats *stats, pp_device *device);
/* One job that ended well, in order. spent: before it was submitted; latency:
 * from then until it ended. */
void gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info,
    const GstPpSpent *spent, gdouble latency);
/* The pipeline stood still: that time counts nowhere, and the diagnosis starts
 * anew. */
void gst_pp_stats_restart (GstPpStats *stats);
GstPpBottleneck gst_pp_stats_diagnose (const GstPpStats *stats);
/* A new structure: frames, bytes-up, bytes-down, bytes-staged (uint64); streams
 * (int); the string bottleneck, a word of diagnosis.h; and doubles: overlap (sum
 * of stage times over wall time, without standing still), and for each of upload,
 * kernel, download and latency its mean, p50, p95 and p99 in microseconds. */
GstStructure *gst_pp_stats_to_structure (const GstPpStats *stats);

G_END_DECLS

#endif
