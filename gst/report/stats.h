/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the frames of a run took: on the device, in stages; on the host, where
 * the streaming thread was; and the structure of the element's stats property.
 */
#ifndef GST_PP_STATS_H
#define GST_PP_STATS_H

#include <gst/gst.h>

#include "diagnosis.h"
#include "kernels/preproc.h"

G_BEGIN_DECLS

/* the streaming thread's own time */

/* Between two submissions, in microseconds. */
typedef struct {
  gdouble place[GST_PP_N_PLACES];
  gdouble waited; /* in maps of tensors, by any thread */
} GstPpSpent;

/* A stopwatch of the streaming thread: how long it was in each place. Used by
 * that thread only. */
typedef struct {
  GstClockTime since;  /* end of the time counted last; NONE: not running */
  GstClockTime waited; /* the last gst_pp_thread_time_take's */
  GstPpSpent spent;    /* since then */
} GstPpThreadTime;

/* Stops it and sets it to zero. */
void gst_pp_thread_time_init (GstPpThreadTime *time);
/* Counts the time since the last call for place. */
void gst_pp_thread_time_count (GstPpThreadTime *time, GstPpPlace place);
/* Stops it until the next count: the pipeline stood still, or does so now. */
void gst_pp_thread_time_skip (GstPpThreadTime *time);
/* Moves what was counted to *spent. waited: nanoseconds that readers have waited
 * for tensors of this pool so far; less than before means that the pool is new. */
void gst_pp_thread_time_take (
    GstPpThreadTime *time, GstClockTime waited, GstPpSpent *spent);

/* statistics of a run */

/* Percentiles are those of this many last jobs, for stages of timed ones. */
#define GST_PP_STATS_WINDOW 4096
/* The diagnosis is that of the last jobs: at least this many, less than twice as
 * many. */
#define GST_PP_STATS_RECENT 256

/* What has a mean and percentiles: the stages and the latency. */
typedef enum {
  GST_PP_TIME_UPLOAD = GST_PP_STAGE_UPLOAD,
  GST_PP_TIME_KERNEL = GST_PP_STAGE_KERNEL,
  GST_PP_TIME_DOWNLOAD = GST_PP_STAGE_DOWNLOAD,
  GST_PP_TIME_LATENCY,
  GST_PP_N_TIMES
} GstPpTime;

/* What a job is of its frame and its tensor: a frame with more regions than a tensor
 * holds has several jobs, and so has a tensor of several frames. */
typedef struct {
  gboolean ends_frame, begins_tensor;
} GstPpPart;

/* Sums over jobs. Times in microseconds. Not every job's stages need be timed.
 * One that is stands for the untimed ones before it, too: its stages count once
 * for each. */
typedef struct {
  guint64 jobs, frames, tensors, dropped, bytes_up, bytes_down, bytes_staged;
  guint64 samples;     /* timed jobs */
  guint64 represented; /* jobs until the last timed one */
  gdouble wall;        /* of these, except while paused */
  gdouble total[GST_PP_N_TIMES];
} GstPpSums;

/* Times in microseconds. The caller serialises. */
typedef struct {
  GstPpSums run;
  gfloat window[GST_PP_N_TIMES][GST_PP_STATS_WINDOW]; /* rings */
  gint streams;                         /* in use for the last job */
  gdouble last_done;                    /* of timed jobs */
  gdouble stage_until[GST_PP_N_STAGES]; /* when the last one left the stage */
  GstPpLoad untimed;                    /* since the last timed job */
  GstPpLoad recent, before;
  /* the interval: what came since gst_pp_stats_begin_interval */
  GstPpSums at_begin; /* run, when it began */
  GstPpLoad load;
  GstClockTime duration; /* except while paused */
  GstClockTime last_end; /* of a job; NONE: it does not count */
} GstPpStats;

/* Sets all to zero, for frames that will go through device. */
void gst_pp_stats_init (GstPpStats *stats, pp_device *device);
/* Adds a job that ended well; jobs come in order. timed: info->times are known.
 * spent: before it was submitted. Both clock times are gst_util_get_timestamp's.
 */
void gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info,
    gboolean timed, const GstPpSpent *spent, GstPpPart part,
    GstClockTime submitted, GstClockTime ended);
/* Adds a frame that was dropped. */
void gst_pp_stats_add_dropped (GstPpStats *stats);
/* The pipeline was paused: that time does not count, and the diagnosis starts
 * again. */
void gst_pp_stats_restart (GstPpStats *stats);
void gst_pp_stats_begin_interval (GstPpStats *stats);
GstPpBottleneck gst_pp_stats_diagnose (const GstPpStats *stats);

/* A new structure with the fields of the stats property. They are stable: later
 * versions may add fields, but keep these with their types, units and meaning.
 *
 *   frames        guint64  that were converted; one without a region is not
 *   tensors       guint64  that were computed, or begun: one of several frames
 *                          counts as soon as its first picture is there
 *   dropped       guint64  frames that qos=true dropped because they were late
 *   bytes-up      guint64  over the bus to the device; 0 on the CPU
 *   bytes-down    guint64  over the bus to the host; 0 on the CPU
 *   bytes-staged  guint64  copied to pinned memory first; part of bytes-up
 *   samples       guint64  jobs whose upload, kernel and download were timed;
 *                          their means, percentiles and overlap are estimated
 *                          from these. A job is a frame, or its regions in one
 *                          tensor
 *   streams       gint     in use
 *   overlap       gdouble  sum of all stage times over the elapsed time, which
 *                          leaves out PAUSED; 1: nothing overlapped, nothing
 *                          was idle
 *   bottleneck    string   of the last few hundred frames: a word of diagnosis.c.
 *                          Later versions may add words.
 *   upload-mean, -p50, -p95, -p99      gdouble  microseconds in the upload,
 *   kernel-mean, -p50, -p95, -p99               in the kernel,
 *   download-mean, -p50, -p95, -p99             in the download, queueing for
 *                                               it included, and
 *   latency-mean, -p50, -p95, -p99              from submission to the tensor
 *
 * Means are those of the run's jobs, percentiles (nearest rank) those of its last
 * 4096 jobs, or samples; all are 0 before the first frame. A run starts when the
 * element goes from READY to PAUSED. */
GstStructure *gst_pp_stats_to_structure (const GstPpStats *stats);

/* A new structure for the element message of stats-interval, named
 * GST_PP_STATS_MESSAGE. It has the fields above, each for the interval alone,
 * the bottleneck included; percentiles are those of its last 4096 frames at
 * most. And it has, as stable as those:
 *
 *   duration  guint64       nanoseconds that the interval lasted, PAUSED left out
 *   total     GstStructure  the stats property, at the interval's end */
GstStructure *gst_pp_stats_interval_to_structure (const GstPpStats *stats);
#define GST_PP_STATS_MESSAGE "cudapreproc-stats"

G_END_DECLS

#endif
