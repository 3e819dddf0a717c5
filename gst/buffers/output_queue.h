/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensors that were submitted but not pushed yet. There are two ways to push
 * them: in chain, the base class pushes the oldest, which it takes from here; a
 * drain pushes all of them from here.
 */
#ifndef GST_PP_OUTPUT_QUEUE_H
#define GST_PP_OUTPUT_QUEUE_H

#include <gst/gst.h>

#include "gst/report/stats.h"

G_BEGIN_DECLS

/* Gaps between timestamps that are remembered, so that one stall is ignored. */
#define GST_PP_MAX_GAPS 3

/* Used by the streaming thread only, but for position. */
typedef struct {
  GstPad *pad;               /* where they are pushed; not a reference */
  const GstSegment *segment; /* of their timestamps; not owned */
  GQueue items;              /* GstBuffer or GstEvent, oldest first */
  gboolean started; /* a tensor has left since the start or the last flush */
  gboolean discont; /* some were discarded: the next one gets DISCONT */
  gboolean refused; /* the last push was refused as outdated */
  gboolean leaving; /* a tensor was taken, and is being pushed */
  gboolean was_playing;     /* the element, when that one was taken */
  GstClockTime leaving_pts; /* of that one */
  GstFlowReturn flow;       /* what downstream last answered to a drain */
  guint64 drained; /* tensors that drains pushed since the start or a flush */
  GstPpThreadTime thread_time; /* how long pushing takes, and what is between */
  /* differences of the last frames' timestamps, newest first; 0: unknown */
  GstClockTime gap[GST_PP_MAX_GAPS];
  GstClockTime last; /* the last frame's timestamp */
  /* Stream time of the end of the last tensor that left, or NONE. Under the
   * object lock of the pad's element. */
  GstClockTime position;
} GstPpOutputQueue;

/* segment: where the streaming thread keeps the current one; outlives queue. */
void gst_pp_output_queue_init (
    GstPpOutputQueue *queue, GstPad *pad, const GstSegment *segment);

/* Notes the timestamp of a frame that came. */
void gst_pp_output_queue_note_frame (
    GstPpOutputQueue *queue, GstClockTime time);
/* Takes buffer. */
void gst_pp_output_queue_add (GstPpOutputQueue *queue, GstBuffer *buffer);
/* Adds a GAP event with the times of frame, which has no tensor; it leaves in its
 * place among the tensors. Without a PTS, none is added. */
void gst_pp_output_queue_add_gap (
    GstPpOutputQueue *queue, const GstBuffer *frame);
/* The oldest (transfer full), if there are more than keep; else NULL. Its caller
 * pushes it at once, and then calls this again or settle. */
GstBuffer *gst_pp_output_queue_take (GstPpOutputQueue *queue, guint keep);
/* Called at the end of chain, with what pushing the last taken tensor returned.
 * The result is what upstream is to get. If downstream refused the tensor, all
 * held ones are discarded, since they would come after a gap. If it did so
 * because it was linked or negotiated anew and the tensor's caps are outdated,
 * there is a warning instead of an error, but not twice in a row. */
GstFlowReturn gst_pp_output_queue_settle (
    GstPpOutputQueue *queue, GstFlowReturn flow);

/* Pushes all held tensors. A failure is kept for the next frame to return, see
 * take_flow; it has the same effects as in settle. cause, for the debug log, says
 * what they have to leave before; it is not freed. */
void gst_pp_output_queue_drain (GstPpOutputQueue *queue, const gchar *cause);
/* The same while new caps are negotiated: a tensor is refused as outdated. */
void gst_pp_output_queue_drain_outdated (GstPpOutputQueue *queue);
/* Returns what downstream answered to the last drain, and forgets it. So a failed
 * drain makes one frame fail, and the next one asks downstream again. */
GstFlowReturn gst_pp_output_queue_take_flow (GstPpOutputQueue *queue);
/* Discards all, and forgets what has left and what downstream answered. */
void gst_pp_output_queue_flush (GstPpOutputQueue *queue);

/* The shortest time between frames, by their last GST_PP_MAX_GAPS + 1 timestamps;
 * 0 if one is unknown. */
GstClockTime gst_pp_output_queue_interval (const GstPpOutputQueue *queue);

/* After a SEGMENT event: the position is that of the new segment's start. */
void gst_pp_output_queue_start_segment (GstPpOutputQueue *queue);
/* Answers a POSITION query of the pad with the stream time of what has left,
 * drains included; the base class would count only what it pushed itself. FALSE
 * where nothing has begun, or for another format. Any thread. */
gboolean gst_pp_output_queue_answer_position (
    GstPpOutputQueue *queue, GstQuery *query);

G_END_DECLS

#endif
