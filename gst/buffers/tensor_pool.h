/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The pool that tensors come from.
 */
#ifndef GST_PP_TENSOR_POOL_H
#define GST_PP_TENSOR_POOL_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

#define GST_TYPE_PP_TENSOR_POOL (gst_pp_tensor_pool_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPpTensorPool, gst_pp_tensor_pool, GST, PP_TENSOR_POOL, GstBufferPool)

/* Buffers with one memory of exactly the configured size, of n_slices slices, in
 * the pinned memory of device or, on_device, in the GPU's, which has that number. A buffer leaves the pool only after the jobs of its last use have ended,
 * and comes back only if nobody else holds its memory. */
GstBufferPool *gst_pp_tensor_pool_new (
    pp_device *device, gboolean on_device, gint gpu, guint n_slices);
/* Why the pool last refused a configuration or failed to make a buffer. */
void gst_pp_tensor_pool_get_error (GstBufferPool *pool, pp_error *error);

/* Whether buffer, of such a pool, has one memory of n_slices slices and exactly size
 * bytes that jobs may write. It may not after somebody reconfigured the pool, which all who hold a
 * tensor can do. On FALSE, *reason says so; free it. */
gboolean gst_pp_tensor_pool_check_buffer (
    GstBuffer *buffer, guint n_slices, gsize size, gchar **reason);

G_END_DECLS

#endif
