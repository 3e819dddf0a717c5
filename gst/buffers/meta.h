/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GstCudaPreprocMeta: where the picture went, for whoever maps results back to
 * the frame. It is a GstCustomMeta, so readers need no header of ours.
 */
#ifndef GST_PP_META_H
#define GST_PP_META_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* One picture of a tensor; gst/cudapreproc/cudapreproc.h says what the fields mean. */
typedef struct {
  gint width, height; /* of the tensor, pixels */
  pp_geometry geometry;
  GstClockTime pts, duration; /* of its frame */
  guint64 offset;
} GstPpPicture;

/* Registers the meta, or finds it registered. The plugin and every element's
 * class_init call it. Any thread, any number of times. NULL: as below. */
const GstMetaInfo *gst_pp_meta_register (void);
/* FALSE: another plugin has taken the name for a meta that is no GstCustomMeta.
 * Tensors go without it then. */
gboolean gst_pp_meta_is_registered (void);

/* Gives buffer the meta of this picture, and takes any other of the kind from it:
 * what came with the frame, what the pool kept. buffer must be writable. */
void gst_pp_meta_set (GstBuffer *buffer, const GstPpPicture *picture);
/* For a pool that gets buffer back: lets it keep the meta. Making a new one takes
 * as long as all else that the streaming thread does for a frame. Downstream
 * never sees the meta as the pool's, since base classes would not copy it then. */
void gst_pp_meta_keep (GstBuffer *buffer);

G_END_DECLS

#endif
