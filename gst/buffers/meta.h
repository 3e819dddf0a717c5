/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GstCudaPreprocMeta: where the picture went, for whoever maps results back to
 * the frame. It is a GstCustomMeta, so readers need no header of ours.
 */
#ifndef GST_PP_META_H
#define GST_PP_META_H

#include <gst/gst.h>

#include "kernels/preproc.h"
#include "regions.h"

G_BEGIN_DECLS

/* One picture of a tensor; gst/cudapreproc/cudapreproc.h says what the fields mean. */
typedef struct {
  gint width, height; /* of the tensor, pixels */
  pp_geometry geometry;
  gint index;                 /* the slice of the tensor that it fills */
  GstClockTime pts, duration; /* of its frame */
  guint64 offset;
  const gchar *pad; /* that its frame came from; NULL: there is only one */
  /* of a frame with regions, else NULL: the one that the picture shows; which of
   * how many it is */
  const GstPpRegion *region;
  gint nth_region, n_regions;
} GstPpPicture;

/* Registers the meta, or finds it registered. The plugin and every element's
 * class_init call it. Any thread, any number of times. NULL: as below. */
const GstMetaInfo *gst_pp_meta_register (void);
/* FALSE: another plugin has taken the name for a meta that is no GstCustomMeta.
 * Tensors go without it then. */
gboolean gst_pp_meta_is_registered (void);

/* Makes the metas of n pictures those of the kind on buffer from the first-th on,
 * counted from 0; the ones before are there. last: takes all behind them from
 * buffer, which came with a frame or which the pool kept. buffer must be
 * writable. */
void gst_pp_meta_set (GstBuffer *buffer, guint first, guint n, gboolean last,
    const GstPpPicture *pictures);
/* Takes all of the kind from buffer but the first n. */
void gst_pp_meta_truncate (GstBuffer *buffer, guint n);
/* For a pool that gets buffer back: lets it keep the metas. Making a new one takes
 * as long as all else that the streaming thread does for a frame. Downstream
 * never sees one as the pool's, since base classes would not copy it then. */
void gst_pp_meta_keep (GstBuffer *buffer);

G_END_DECLS

#endif
