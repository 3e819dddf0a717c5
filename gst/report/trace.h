/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The frames that a timeline shows, as plain data, and one writer for each kind
 * of file. The writers are pure functions.
 */
#ifndef GST_PP_TRACE_H
#define GST_PP_TRACE_H

#include "diagnosis.h"

G_BEGIN_DECLS

/* One frame. */
typedef struct {
  guint64 number; /* in the run, from 0 */
  gint stream;
  /* Stage s lasts from edge[s] to edge[s + 1], in microseconds from the start of
   * the run's first frame. Spans of one stream do not overlap. */
  gdouble edge[GST_PP_N_STAGES + 1];
  gsize bytes[GST_PP_N_STAGES]; /* over the bus; 0 for the kernel */
} GstPpSpan;

/* Whether there was such a stage. On the CPU nothing is copied, nor are frames and
 * tensors on the device. */
static inline gboolean
gst_pp_span_has_stage (const GstPpSpan *span, gint stage)
{
  return stage == GST_PP_STAGE_KERNEL || span->bytes[stage] > 0;
}

/* What the file says besides its times: valid UTF-8 without control characters
 * and noncharacters, since XML can hold neither. */
typedef struct {
  const gchar *element, *device; /* their names */
  const gchar *bottleneck;       /* the word */
} GstPpTraceLabels;

typedef struct {
  GstPpTraceLabels labels;
  const GstPpSpan *span; /* in order of their numbers */
  guint length;
  guint64 frames; /* in the run; the spans are the last of them */
  gint streams;   /* the highest stream's number + 1 */
} GstPpTrace;

/* Appends a Chrome trace, for https://ui.perfetto.dev and chrome://tracing. */
void gst_pp_trace_append_json (GString *text, const GstPpTrace *trace);
/* Appends an SVG picture of a few frames. */
void gst_pp_trace_append_svg (GString *text, const GstPpTrace *trace);

G_END_DECLS

#endif
