/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The way of one frame from its buffer into a tensor's: mapped, added to a batch,
 * done. For any element that has a converter. negotiated belongs to the pad that
 * the frame came on.
 */
#ifndef GST_PP_CONVERT_H
#define GST_PP_CONVERT_H

#include "buffers/batch.h"
#include "converter.h"

G_BEGIN_DECLS

/* Maps input (transfer full) and finds its plan, whose reference is negotiated's.
 * Changed settings count from here on. NULL after posting why. */
GstPpFrame *gst_pp_converter_map (GstPpConverter *self,
    GstPpNegotiated *negotiated, GstBuffer *input, pp_plan **plan);
/* The same without changed settings: for what else belongs to a frame that was
 * mapped before. */
GstPpFrame *gst_pp_converter_map_again (GstPpConverter *self,
    GstPpNegotiated *negotiated, GstBuffer *input, pp_plan **plan);
/* Opens batch, for as many pictures of plan's size as were negotiated, with output
 * (transfer full). FALSE after posting why they cannot be converted into it. */
gboolean gst_pp_converter_open_batch (GstPpConverter *self,
    const GstPpNegotiated *negotiated, GstPpBatch *batch, GstBuffer *output,
    const pp_plan *plan);
/* Posts why pool, which is taken and may be NULL, gave no buffer, but flow. */
void gst_pp_converter_post_no_output (
    GstPpConverter *self, GstBufferPool *pool, GstFlowReturn flow);
/* Adds frame's picture to batch as slice index, and queues its job. Takes frame.
 * FALSE after posting why not. */
gboolean gst_pp_converter_add (GstPpConverter *self,
    const GstPpNegotiated *negotiated, GstPpBatch *batch, guint index,
    GstPpFrame *frame, pp_plan *plan);
/* Adds n of frame's regions, from number first on, to batch, which is empty, and
 * queues their job. Takes frame. FALSE after posting why not. */
gboolean gst_pp_converter_add_regions (GstPpConverter *self,
    GstPpNegotiated *negotiated, GstPpBatch *batch, const GArray *regions,
    guint first, guint n, GstPpFrame *frame);
/* Ends batch, whose slices without a picture become padding. The buffer, which may
 * leave at once. NULL: batch had no picture, or after posting why not. */
GstBuffer *gst_pp_converter_close_batch (
    GstPpConverter *self, GstPpBatch *batch);

G_END_DECLS

#endif
