/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When which frame was uploaded, computed and downloaded on which stream: a
 * file for trace viewers, or a picture.
 */
#ifndef GST_PP_TIMELINE_H
#define GST_PP_TIMELINE_H

#include <gst/gst.h>

#include "diagnosis.h"
#include "error.h"
#include "kernels/preproc.h"

G_BEGIN_DECLS

/* The last frames, which are remembered. */
#define GST_PP_TIMELINE_FRAMES 4096

/* The last frames of a run. The caller serialises. */
typedef struct _GstPpTimeline GstPpTimeline;

/* What the file says about the run beside its times. */
typedef struct {
  const gchar *element, *device; /* their names */
  const gchar *bottleneck;       /* the word */
} GstPpTimelineLabels;

/* For a file at path, whose ending says of which kind: .json, a Chrome trace,
 * or .svg. NULL with *fault and *reason (free it), which names path, when the
 * ending is another or no file can be made there. */
GstPpTimeline *gst_pp_timeline_new (
    const gchar *path, GstPpFault *fault, gchar **reason);
void gst_pp_timeline_free (GstPpTimeline *timeline);
/* One job that ended well, in order. */
void gst_pp_timeline_add (GstPpTimeline *timeline, const pp_job_info *info);
/* Writes the file, as a whole or not at all, unless it says all that there is.
 * FALSE with *reason, which names the path. */
gboolean gst_pp_timeline_write (
    GstPpTimeline *timeline, const GstPpTimelineLabels *labels, gchar **reason);

/* what the kinds of files are written from */

typedef struct {
  guint64 number; /* in the run, from 0 */
  gint stream;
  /* Where the stages begin and end, in microseconds from the start of the run's
   * first frame: stage s is [edge[s], edge[s + 1]]. Never before the last edge
   * of the stream's frame before. */
  gdouble edge[GST_PP_N_STAGES + 1];
  gsize bytes[GST_PP_N_STAGES]; /* over the bus; 0 for the kernel */
} GstPpSpan;

typedef struct {
  const GstPpTimelineLabels *labels;
  const GstPpSpan *span; /* in order */
  guint length;
  guint64 frames; /* of the run; the spans are the last of them */
  gint streams;   /* those of spans are less than this */
} GstPpTrace;

void gst_pp_timeline_append_json (GString *text, const GstPpTrace *trace);
void gst_pp_timeline_append_svg (GString *text, const GstPpTrace *trace);
/* Appends a number with this many decimals, at most 6, whatever the locale. */
void gst_pp_timeline_append_number (
    GString *text, gdouble value, gint decimals);

G_END_DECLS

#endif
