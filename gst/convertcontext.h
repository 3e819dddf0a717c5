/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA context that others give. Frames in CUDA memory can be read in their own
 * context only: the device follows them there. For any element that has a converter.
 */
#ifndef GST_PP_CONVERT_CONTEXT_H
#define GST_PP_CONVERT_CONTEXT_H

#include "converter.h"

G_BEGIN_DECLS

/* GstElement's set_context, which chains up afterwards. Any thread. */
void gst_pp_converter_set_context (GstPpConverter *self, GstContext *context);

/* The context of input, whose caps say that it is in CUDA memory, if the device
 * does not work in it; else NULL. Belongs to input's memory. */
GstObject *gst_pp_converter_other_context (
    GstPpConverter *self, const GstPpNegotiated *negotiated, GstBuffer *input);
/* Opens the device anew in context, to read frames of it. No tensor may be waited
 * for; all pads, and pools of tensors, must be negotiated anew afterwards. FALSE
 * after posting why not: it is on another GPU, for one. */
gboolean gst_pp_converter_move (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstObject *context);

G_END_DECLS

#endif
