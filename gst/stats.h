/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the jobs took: the element's stats property.
 */
#ifndef GST_PP_STATS_H
#define GST_PP_STATS_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* The last jobs that percentiles are taken of. */
#define GST_PP_STATS_WINDOW 4096

typedef enum {
  GST_PP_STAGE_UPLOAD,
  GST_PP_STAGE_KERNEL,
  GST_PP_STAGE_DOWNLOAD,
  GST_PP_N_STAGES
} GstPpStage;

/* Times in microseconds. The caller serialises. */
typedef struct {
  guint64 frames, bytes_up, bytes_down, bytes_staged;
  gdouble first_start, last_done;
  gdouble total[GST_PP_N_STAGES];
  gfloat window[GST_PP_N_STAGES][GST_PP_STATS_WINDOW]; /* by frames % size */
} GstPpStats;

void gst_pp_stats_init (GstPpStats *stats);
void gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info);
/* A new structure: frames, bytes-up, bytes-down, bytes-staged (uint64), and
 * doubles: overlap (sum of stage times over wall time), and for each of upload,
 * kernel and download its mean, p50, p95 and p99 in microseconds. */
GstStructure *gst_pp_stats_to_structure (const GstPpStats *stats);

G_END_DECLS

#endif
