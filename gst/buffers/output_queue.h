/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensors that were submitted but not pushed, and how they leave.
 */
#ifndef GST_PP_OUTPUT_QUEUE_H
#define GST_PP_OUTPUT_QUEUE_H

#include <gst/gst.h>

#include "gst/report/thread_time.h"

G_BEGIN_DECLS

/* Gaps between frames that are looked at: one of so many is not a stall. */
#define GST_PP_MAX_GAPS 3

/* The streaming thread's. */
typedef struct {
  GstPad *pad;        /* where they leave; transfer none */
  GQueue buffers;     /* GstBuffer, oldest first */
  gboolean started;   /* one was pushed since the start or the last flush */
  gboolean discont;   /* some were lost, or dropped before they came here; for
                       * whoever makes the next one */
  gboolean refused;   /* the last one pushed was outdated */
  GstFlowReturn flow; /* what downstream last answered to a drain */
  GstPpPace pace;     /* how long pushing takes, and the rest */
  /* between the last frames' timestamps, newest first; 0: unknown */
  GstClockTime gap[GST_PP_MAX_GAPS];
  GstClockTime last; /* timestamp */
} GstPpOutputQueue;

void gst_pp_output_queue_init (GstPpOutputQueue *queue, GstPad *pad);
/* Takes buffer. */
void gst_pp_output_queue_add (GstPpOutputQueue *queue, GstBuffer *buffer);
/* Pushes the oldest until no more than keep are held. When downstream does not
 * take one, the later ones are discarded: they would leave a gap. Where it was
 * linked or negotiated anew and only the caps are outdated, that is a warning,
 * but not twice in a row. */
GstFlowReturn gst_pp_output_queue_push (GstPpOutputQueue *queue, guint keep);
/* Before anything that must come after the frames: pushes all. What downstream
 * answers is for the next frame to return. */
void gst_pp_output_queue_drain (GstPpOutputQueue *queue);
/* The same before caps that are negotiated anew: what is refused is outdated. */
void gst_pp_output_queue_drain_outdated (GstPpOutputQueue *queue);
/* The time from one frame to the next, by the last ones' timestamps, whatever
 * gap there is among them; 0 if unknown. */
GstClockTime gst_pp_output_queue_interval (const GstPpOutputQueue *queue);
/* Nothing is held, was pushed or was answered. */
void gst_pp_output_queue_flush (GstPpOutputQueue *queue);
/* What downstream answered to a drain, told once; whether it still holds, the
 * next frame finds out. */
GstFlowReturn gst_pp_output_queue_take_flow (GstPpOutputQueue *queue);

G_END_DECLS

#endif
