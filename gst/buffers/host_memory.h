/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GstMemory in the engine's pinned arena, for frames that come in (an ordinary
 * allocator that upstream may use) and for tensors that go out (a pool whose
 * memory carries the job that fills it: mapping waits for the job).
 */
#ifndef GST_PP_HOST_MEMORY_H
#define GST_PP_HOST_MEMORY_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

#define GST_PP_MEMORY_TYPE "CudaPreprocHostMemory"

gboolean gst_pp_is_memory (GstMemory *memory);
/* Whether the device copies to and from memory directly. Shares count like what
 * they share. */
gboolean gst_pp_memory_is_pinned (GstMemory *memory, pp_backend_id backend);

/* The address of the first byte and the padding record for pp_task, for the one
 * who owns memory alone: unlike a map this neither waits nor counts as a write.
 */
guint8 *gst_pp_memory_get_data (GstMemory *memory);
guint64 *gst_pp_memory_get_padding (GstMemory *memory);

/* From now on mapping memory waits for job (transfer full), and fails if the job
 * failed. */
void gst_pp_memory_take_job (GstMemory *memory, pp_job *job);
/* Waits until nobody writes to memory any more. */
void gst_pp_memory_wait (GstMemory *memory);

/* How long maps of this memory and all others of its pool have waited for their
 * jobs so far, nanoseconds. Any thread. */
guint64 gst_pp_memory_get_waited (GstMemory *memory);

#define GST_TYPE_PP_ALLOCATOR (gst_pp_allocator_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPpAllocator, gst_pp_allocator, GST, PP_ALLOCATOR, GstAllocator)

/* Any thread. */
typedef void (*GstPpAllocatorFailed) (gpointer owner, const pp_error *error);

/* Memory of the arena, which the allocator refers to. Any thread. On the CPU,
 * where there is no other memory to take instead, failed is called before an
 * allocation returns NULL, as long as owner lives, whom the allocator does not
 * refer to. */
GstAllocator *gst_pp_allocator_new (pp_arena *arena, pp_backend_id backend,
    gpointer owner, GstPpAllocatorFailed failed);

#define GST_TYPE_PP_TENSOR_POOL (gst_pp_tensor_pool_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPpTensorPool, gst_pp_tensor_pool, GST, PP_TENSOR_POOL, GstBufferPool)

/* Buffers with one memory of exactly the configured size. A buffer leaves the
 * pool only after the job of its last use has ended. */
GstBufferPool *gst_pp_tensor_pool_new (pp_arena *arena, pp_backend_id backend);
/* Why the pool last failed to make a buffer. */
void gst_pp_tensor_pool_get_error (GstBufferPool *pool, pp_error *error);

G_END_DECLS

#endif
