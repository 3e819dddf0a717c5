/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which sink pad of cudapreprocmux fills which slice of a batch. Pads come and go
 * on any thread; a list of them keeps those that were there.
 */
#ifndef GST_PP_MUX_SLICES_H
#define GST_PP_MUX_SLICES_H

#include "caps/tensorcaps.h"
#include "muxpad.h"

G_BEGIN_DECLS

typedef struct {
  GstCudaPreprocMuxPad *pad[GST_PP_MAX_BATCH]; /* owned; NULL: there is none */
} GstPpMuxSlices;

/* Lists the sink pads of element. Each list is cleared when it has been used. Any
 * thread, without the element's object lock. */
void gst_pp_mux_slices_list (GstPpMuxSlices *slices, GstElement *element);
void gst_pp_mux_slices_clear (GstPpMuxSlices *slices);

/* Whether element has a pad for the slice. Any thread, likewise. */
gboolean gst_pp_mux_slices_is_taken (GstElement *element, guint index);
/* How many slices all pads of element need: up to the last pad's. At least 1. */
guint gst_pp_mux_slices_count (GstElement *element);
/* Posts that batches have too few slices for a pad of this index. */
void gst_pp_mux_slices_warn (GstElement *element, guint index, guint slices);

G_END_DECLS

#endif
