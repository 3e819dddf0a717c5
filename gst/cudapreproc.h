/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_CUDA_PREPROC_H
#define GST_CUDA_PREPROC_H

#include <gst/base/gstbasetransform.h>

#include "gst/cudapreproc/cudapreproc.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PREPROC (gst_cuda_preproc_get_type ())
G_DECLARE_FINAL_TYPE (
    GstCudaPreproc, gst_cuda_preproc, GST, CUDA_PREPROC, GstBaseTransform)

G_END_DECLS

#endif
