/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef GST_CUDA_PREPROC_MUX_H
#define GST_CUDA_PREPROC_MUX_H

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PREPROC_MUX (gst_cuda_preproc_mux_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaPreprocMux, gst_cuda_preproc_mux, GST,
    CUDA_PREPROC_MUX, GstAggregator)

G_END_DECLS

#endif
