/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GstCudaPreprocMeta: where the picture went, for whoever maps results back to
 * the frame. A GstCustomMeta, so that readers need no header of ours.
 */
#ifndef GST_PP_META_H
#define GST_PP_META_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

void gst_pp_meta_register (void);
/* Adds the meta to a tensor of width x height. See cudapreproc.h for its fields.
 */
void gst_pp_meta_add (
    GstBuffer *buffer, gint width, gint height, const pp_geometry *geometry);

G_END_DECLS

#endif
