/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GstMemory in the engine's arenas, and the allocators that make it. Frames lie in
 * pinned memory where upstream takes our allocator, tensors in pinned memory or on
 * the device. The memory of a tensor has a slice for each picture; it carries the
 * jobs that fill the slices, and mapping waits for all of them.
 */
#ifndef GST_PP_ARENA_MEMORY_H
#define GST_PP_ARENA_MEMORY_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

#define GST_PP_HOST_MEMORY_TYPE "CudaPreprocHostMemory"
#define GST_PP_DEVICE_MEMORY_TYPE "CudaPreprocDeviceMemory"

/* memory may be NULL. */
gboolean gst_pp_is_memory (GstMemory *memory);
/* Whether memory, which is of an allocator of this file, is on the device. */
gboolean gst_pp_memory_is_on_device (GstMemory *memory);
/* Whether the device can copy directly to or from these size bytes at data: they
 * lie in memory, which is of an arena of this backend. A share counts like the
 * memory it shares. memory may be NULL. data may be any address: both come from a
 * GstMapInfo that others may have filled in wrongly. */
gboolean gst_pp_memory_is_pinned (
    GstMemory *memory, pp_backend_id backend, const guint8 *data, gsize size);
/* Whether a job may write size bytes to memory: it is of an allocator of this file,
 * the caller's reference is the only one, it is not a share of another memory, and
 * it is large enough. */
gboolean gst_pp_memory_is_writable (GstMemory *memory, gsize size);

/* How many slices memory has. Slices are of equal size, without gaps. */
guint gst_pp_memory_n_slices (GstMemory *memory);
/* The address of the first byte, which may be on the device, and a slice's padding
 * record for pp_task. Only the one who owns memory alone may call these: unlike a map they neither wait nor
 * count as a write. */
guint8 *gst_pp_memory_get_data (GstMemory *memory);
guint64 *gst_pp_memory_get_padding (GstMemory *memory, guint slice);

/* Forgets the jobs that filled memory before. None of them may be under way. */
void gst_pp_memory_forget_jobs (GstMemory *memory);
/* From now on mapping memory waits for job (transfer full), too, and fails if the
 * job failed. All jobs that are under way for one memory are of one device. */
void gst_pp_memory_take_job (GstMemory *memory, guint slice, pp_job *job);
/* Waits until no job writes to memory any more. */
void gst_pp_memory_wait (GstMemory *memory);

/* How long maps of this memory, and of all others of its allocator, have waited
 * for their jobs so far; nanoseconds. Any thread. */
guint64 gst_pp_memory_get_waited (GstMemory *memory);

#define GST_TYPE_PP_ALLOCATOR (gst_pp_allocator_get_type ())
G_DECLARE_FINAL_TYPE (
    GstPpAllocator, gst_pp_allocator, GST, PP_ALLOCATOR, GstAllocator)

/* Any thread. */
typedef void (*GstPpAllocatorFailed) (gpointer owner, const pp_error *error);

/* An allocator of memory in arena, to which it holds a reference. Any thread.
 * Where pinned memory is exhausted, gst_allocator_alloc gives ordinary memory
 * instead. On the CPU there is nothing else to give: it calls failed and returns
 * NULL. owner is a GObject that the allocator holds no reference to; failed is
 * not called once it is gone. Both may be NULL. */
GstAllocator *gst_pp_allocator_new (pp_arena *arena, pp_backend_id backend,
    gpointer owner, GstPpAllocatorFailed failed);

/* An allocator of memory for tensors in memory, which is on the GPU of that number,
 * in that CUcontext. host: an arena of host memory, for maps that do not ask for a
 * device pointer. Any thread. */
GstAllocator *gst_pp_allocator_new_on_device (
    pp_arena *memory, pp_arena *host, gpointer context, gint gpu);

/* Memory for a tensor of size bytes in n_slices slices. params->prefix is rounded
 * up, so that the tensor is aligned for its elements. Of params->flags only those that zero prefix
 * and padding count. NULL and PP_NO_MEMORY if there is no memory; NULL and
 * PP_BAD_ARGUMENT, with the numbers, if there cannot be such a memory. */
GstMemory *gst_pp_allocator_alloc_tensor (GstAllocator *allocator, gsize size,
    guint n_slices, const GstAllocationParams *params, pp_error *error);
/* Where the tensor begins in such a memory, bytes. */
gsize gst_pp_tensor_offset (const GstAllocationParams *params);

G_END_DECLS

#endif
