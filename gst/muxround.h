/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A round of cudapreprocmux: the frames of one batch, at most one of each sink pad.
 */
#ifndef GST_PP_MUX_ROUND_H
#define GST_PP_MUX_ROUND_H

#include "converter.h"
#include "muxslices.h"

G_BEGIN_DECLS

typedef struct {
  GstPpMuxSlices slices;
  GstBuffer *frame[GST_PP_MAX_BATCH]; /* owned; by slice; NULL: there is none */
  guint frames;
  gboolean ended;        /* no pad has a frame or will have one */
  GstClockTime earliest; /* running time of the earliest frame */
  GstClockTime duration; /* its own */
  guint discont;         /* GST_BUFFER_FLAG_DISCONT if a frame has it */
} GstPpMuxRound;

/* Takes a frame from each pad that has one and whose slice is among the first
 * n_slices; other pads' frames are dropped with a warning. Errors are posted by
 * converter, and make it FALSE. The round is cleared in any case. On the source
 * pad's thread. */
gboolean gst_pp_mux_round_take (
    GstPpMuxRound *round, GstPpConverter *converter, guint n_slices);
void gst_pp_mux_round_clear (GstPpMuxRound *round);

G_END_DECLS

#endif
