/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensors that were submitted but not pushed, and how they leave.
 */
#ifndef GST_PP_HELD_H
#define GST_PP_HELD_H

#include <gst/gst.h>

#include "pace.h"

G_BEGIN_DECLS

/* The streaming thread's. */
typedef struct {
  GstPad *pad;        /* where they leave; transfer none */
  GQueue buffers;     /* GstBuffer, oldest first */
  gboolean started;   /* one was pushed since the start or the last flush */
  GstFlowReturn flow; /* what downstream last answered to a drain */
  GstPpPace pace;     /* how long pushing takes, and the rest */
} GstPpHeld;

void gst_pp_held_init (GstPpHeld *held, GstPad *pad);
/* Takes buffer. */
void gst_pp_held_add (GstPpHeld *held, GstBuffer *buffer);
/* Pushes the oldest until no more than keep are held. When downstream does not
 * take one, the later ones are discarded: they would leave a gap. Where it was
 * linked anew and only the caps are too old, that is a warning. */
GstFlowReturn gst_pp_held_push (GstPpHeld *held, guint keep);
/* Before anything that must come after the frames: pushes all. What downstream
 * answers is for the next frame to return. */
void gst_pp_held_drain (GstPpHeld *held);
/* From the first frame held to the last, by their timestamps; 0 if unknown. */
GstClockTime gst_pp_held_span (const GstPpHeld *held);
/* Nothing is held, was pushed or was answered. */
void gst_pp_held_flush (GstPpHeld *held);
/* What downstream answered to a drain, told once; whether it still holds, the
 * next frame finds out. */
GstFlowReturn gst_pp_held_take_flow (GstPpHeld *held);

G_END_DECLS

#endif
