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
/* Makes buffer have the meta of a tensor of width x height, once, whatever metas
 * of the kind it has. See cudapreproc.h for its fields. */
void gst_pp_meta_set (
    GstBuffer *buffer, gint width, gint height, const pp_geometry *geometry);
/* For a pool that gets buffer back: lets it keep the meta. Making one anew takes
 * as long as all else that happens to a frame on the streaming thread. Downstream
 * never sees the meta as the pool's: base classes would not copy it. */
void gst_pp_meta_keep (GstBuffer *buffer);

G_END_DECLS

#endif
