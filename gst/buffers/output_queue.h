/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensors that were submitted but have not left, and how they leave: a frame's
 * chain call takes the oldest for the base class to push, and drains push by
 * themselves.
 */
#ifndef GST_PP_OUTPUT_QUEUE_H
#define GST_PP_OUTPUT_QUEUE_H

#include <gst/gst.h>

#include "gst/report/stats.h"

G_BEGIN_DECLS

/* Gaps between timestamps that are remembered, so that one stall is ignored. */
#define GST_PP_MAX_GAPS 3

/* The streaming thread's, but for position. */
typedef struct {
  GstPad *pad;               /* where they leave; transfer none */
  const GstSegment *segment; /* that their timestamps are in; not owned */
  GQueue buffers;            /* GstBuffer, oldest first */
  gboolean started;          /* one left since the start or the last flush */
  gboolean discont;     /* some were lost: the next one made follows a gap */
  gboolean refused;     /* the last one that left was outdated */
  gboolean leaving;     /* one was taken, and is being pushed */
  gboolean was_playing; /* when that one was taken */
  GstFlowReturn flow;   /* what downstream last answered to a drain */
  GstPpThreadTime thread_time; /* how long pushing takes, and the rest */
  /* between the last frames' timestamps, newest first; 0: unknown */
  GstClockTime gap[GST_PP_MAX_GAPS];
  GstClockTime last; /* timestamp */
  /* Stream time of the end of the last tensor that left, or NONE. Under the object
   * lock of the pad's element. */
  GstClockTime position;
} GstPpOutputQueue;

/* segment: what the streaming thread keeps the current one in. */
void gst_pp_output_queue_init (
    GstPpOutputQueue *queue, GstPad *pad, const GstSegment *segment);

/* Takes buffer. */
void gst_pp_output_queue_add (GstPpOutputQueue *queue, GstBuffer *buffer);
/* The oldest (transfer full), if there are more than keep; else NULL. Its caller
 * pushes it at once, and then calls this again or settle. */
GstBuffer *gst_pp_output_queue_take (GstPpOutputQueue *queue, guint keep);
/* flow: what pushing the last one taken returned, or OK if that was told by taking
 * again; returns what upstream is to get. Where downstream does not take a
 * tensor, the later ones are discarded: they would leave a gap. Where downstream
 * was linked or negotiated anew and only the caps are outdated, that is a warning,
 * but not twice in a row. */
GstFlowReturn gst_pp_output_queue_settle (
    GstPpOutputQueue *queue, GstFlowReturn flow);

/* Pushes all, before anything that must come after them. What downstream answers
 * is for the next frame to return; see settle. */
void gst_pp_output_queue_drain (GstPpOutputQueue *queue);
/* The same before caps that are negotiated anew: what is refused is outdated. */
void gst_pp_output_queue_drain_outdated (GstPpOutputQueue *queue);
/* What downstream answered to a drain, told once; the next frame finds out whether
 * it still holds. */
GstFlowReturn gst_pp_output_queue_take_flow (GstPpOutputQueue *queue);
/* Nothing is held, has left or was answered. */
void gst_pp_output_queue_flush (GstPpOutputQueue *queue);

/* The time from one frame to the next by the last timestamps, the shortest of
 * them; 0 if unknown. */
GstClockTime gst_pp_output_queue_interval (const GstPpOutputQueue *queue);

/* A new segment begins: nothing of it has left yet. */
void gst_pp_output_queue_start_segment (GstPpOutputQueue *queue);
/* Answers a POSITION query of the pad with the stream time of what has left, drains
 * included; the base class would count only what it pushed itself. FALSE where
 * nothing has begun, or for another format. Any thread. */
gboolean gst_pp_output_queue_answer_position (
    GstPpOutputQueue *queue, GstQuery *query);

G_END_DECLS

#endif
