/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GStreamer's CUDA library: memory of frames that lie on a GPU, and the contexts
 * that elements share. cuda_memory.c alone includes its headers. In a build
 * without it cuda_memory_stub.c has the same functions: there is no such memory
 * then, and no context.
 *
 * A context is a GstCudaContext, which other files know as a GstObject. Its handle
 * is a CUcontext.
 */
#ifndef GST_PP_CUDA_MEMORY_H
#define GST_PP_CUDA_MEMORY_H

#include <gst/video/video.h>

#include "gst/caps/inputformat.h"

G_BEGIN_DECLS

/* As in GStreamer's header, which is not always there: the flag of maps that give
 * device pointers. */
#define GST_PP_MAP_CUDA ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))

/* Whether this build takes frames in such memory. */
gboolean gst_pp_cuda_takes_frames (void);

/* contexts; any thread */

/* Asks downstream, upstream, then bins and the application for a context. Each
 * answer is a call of element's set_context, which keeps the first one that
 * gst_pp_cuda_context_take accepts, in *context. Nothing is asked where there is no
 * driver. */
void gst_pp_cuda_context_look_for (
    GstElement *element, GstObject *const *context);
/* What element is given by set_context; NULL: it is no context of that kind, or on
 * another GPU than device. Transfer full. */
GstObject *gst_pp_cuda_context_take (
    GstElement *element, GstContext *given, gint device);
/* Answers a CONTEXT query. FALSE where it asks for something else; context may be
 * NULL. */
gboolean gst_pp_cuda_context_answer (
    GstElement *element, GstQuery *query, GstObject *context);
/* A context around handle, on that GPU. keep belongs to it until its last unref,
 * and is then given to release: it must keep handle valid. Tells bins and the
 * application that element has it. NULL, after release, where it cannot be. */
GstObject *gst_pp_cuda_context_offer (GstElement *element, gpointer handle,
    gint device, gpointer keep, GDestroyNotify release);
gpointer gst_pp_cuda_context_handle (GstObject *context);
/* The number of its GPU. */
gint gst_pp_cuda_context_device (GstObject *context);

/* memory */

/* The context of memory, which owns it; NULL: memory is of another kind. */
GstObject *gst_pp_cuda_memory_context (GstMemory *memory);
/* Waits on the host until what its producer queued for memory is done. FALSE: a
 * call failed. */
gboolean gst_pp_cuda_memory_wait (GstMemory *memory);
/* A pool of frames with these caps, which has at least min_buffers, and the size of
 * its buffers. NULL where GStreamer has none for the format. */
GstBufferPool *gst_pp_cuda_pool_new (
    GstObject *context, GstCaps *caps, guint min_buffers, guint *size);

G_END_DECLS

#endif
