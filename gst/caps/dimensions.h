/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The text of a tensor's dimensions, innermost first: W:H:C:N for nchw, C:W:H:N
 * for nhwc.
 */
#ifndef GST_PP_DIMENSIONS_H
#define GST_PP_DIMENSIONS_H

#include "tensorcaps.h"

G_BEGIN_DECLS

/* Reads size, channels, layout and batch into *tensor. A shape that can be read as
 * nchw and as nhwc is read as constraints->layout, else as nchw. FALSE and *reason
 * (free it) if the element cannot make such a tensor, or if it contradicts
 * constraints. */
gboolean gst_pp_dimensions_read (const gchar *text,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason);
/* What constraints say of channels, for an error; free it. */
gchar *gst_pp_dimensions_say_channels (
    const GstPpTensorConstraints *constraints);
/* Free it. */
gchar *gst_pp_dimensions_spell (const GstPpTensor *tensor);
/* Pictures that text says a tensor has; 0 if it is no list of sizes. */
gint gst_pp_dimensions_batch (const gchar *text);

G_END_DECLS

#endif
