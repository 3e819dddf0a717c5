/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_CUDA_PREPROC_H
#define GST_CUDA_PREPROC_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PREPROC (gst_cuda_preproc_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaPreproc, gst_cuda_preproc, GST, CUDA_PREPROC, GstBaseTransform)

/* The GstCustomMeta on every tensor, one for each picture in it. No field is ever
 * missing, and no string is NULL. The fields and their meaning are stable; later
 * versions may add some.
 *
 *   width, height          gint     of the tensor, pixels
 *   src-x, src-y,          gint     the picture's rectangle in the frame
 *   src-width, src-height
 *   dst-x, dst-y,          gint     the same rectangle in the tensor; larger than
 *   dst-width, dst-height           the tensor where the picture was cropped
 *   m0 ... m5              gdouble  the tensor's point (x, y) is the frame's
 *                                   (m0 x + m1 y + m2, m3 x + m4 y + m5). Both
 *                                   count pixel edges: pixel i covers [i, i + 1)
 *   index                  gint     which picture of the tensor it is, from 0
 *   pts, duration          guint64  of its frame, nanoseconds; G_MAXUINT64: none
 *   offset                 guint64  of its frame; G_MAXUINT64: none
 *   region, regions        gint     which of the frame's regions it is, from 0, and
 *                                   how many there are; -1 and 0 for a whole frame
 *   region-id,             gint     of the GstVideoRegionOfInterestMeta; -1 for a
 *   region-parent                   whole frame
 *   region-type            string   the same; "" for a whole frame
 */
#define GST_CUDA_PREPROC_META_NAME "GstCudaPreprocMeta"

G_END_DECLS

#endif
