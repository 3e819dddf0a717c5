/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_CUDA_PREPROC_H
#define GST_CUDA_PREPROC_H

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PREPROC (gst_cuda_preproc_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaPreproc, gst_cuda_preproc, GST, CUDA_PREPROC, GstBaseTransform)

/* The GstCustomMeta on every tensor: ints width, height (of the tensor), src-x,
 * src-y, src-width, src-height (the picture in the frame), dst-x, dst-y,
 * dst-width, dst-height (the same picture in the tensor, larger than it where it
 * was cropped), and doubles m0...m5: the tensor's (x, y) is the frame's
 * (m0 x + m1 y + m2, m3 x + m4 y + m5). */
#define GST_CUDA_PREPROC_META_NAME "GstCudaPreprocMeta"

G_END_DECLS

#endif
