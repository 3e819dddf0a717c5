/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "arena_memory.h"

#include <string.h>

#include "device_memory.h"
#include "gst/cudapreproc/cudapreproc.h"
#include "gst/debug.h"

/* Arena blocks are aligned to this, bytes. */
#define ARENA_ALIGNMENT 256
/* The largest element of a tensor: float32. */
#define ELEMENT_ALIGNMENT 4

typedef struct {
  pp_job *job;     /* the last that wrote here, or NULL */
  guint64 padding; /* see pp_task */
} Slice;

/* A root has a block. A share has only a parent, which is the root. */
typedef struct {
  GstMemory memory;
  pp_arena *arena;
  pp_backend_id backend;
  void *block;
  gsize block_size;
  guint8 *data;             /* in the block, aligned as asked */
  GstPpDeviceBlock *device; /* owned; NULL: the block is in host memory */
  guint last; /* the slice whose job was taken last: the last job to end */
  guint n_slices;
  Slice slice[];
} GstPpMemory;

struct _GstPpAllocator {
  GstAllocator parent;
  pp_arena *arena;
  pp_backend_id backend;
  /* Of memory on the device; host is NULL where there is none. */
  pp_arena *host;
  gpointer context;
  gint gpu;
  guint64 waited; /* atomic; nanoseconds that maps waited for jobs */
  GWeakRef owner;
  GstPpAllocatorFailed failed;
};

G_DEFINE_TYPE (GstPpAllocator, gst_pp_allocator, GST_TYPE_ALLOCATOR)

static GstPpMemory *
root_of (GstMemory *memory)
{
  return (GstPpMemory *) (memory->parent != NULL ? memory->parent : memory);
}

gboolean
gst_pp_is_memory (GstMemory *memory)
{
  return memory != NULL && GST_IS_PP_ALLOCATOR (memory->allocator);
}

gboolean
gst_pp_memory_is_on_device (GstMemory *memory)
{
  return root_of (memory)->device != NULL;
}

gboolean
gst_pp_memory_is_pinned (
    GstMemory *memory, pp_backend_id backend, const guint8 *data, gsize size)
{
  if (!gst_pp_is_memory (memory) || root_of (memory)->backend != backend ||
      gst_pp_memory_is_on_device (memory))
    return FALSE;

  const guintptr begin = (guintptr) root_of (memory)->data;
  const guintptr at = (guintptr) data;
  return at >= begin && at - begin <= memory->maxsize &&
      size <= memory->maxsize - (at - begin);
}

gboolean
gst_pp_memory_is_writable (GstMemory *memory, gsize size)
{
  return gst_pp_is_memory (memory) && memory->parent == NULL &&
      GST_MINI_OBJECT_REFCOUNT_VALUE (memory) == 1 && memory->size >= size;
}

guint8 *
gst_pp_memory_get_data (GstMemory *memory)
{
  return root_of (memory)->data + memory->offset;
}

guint
gst_pp_memory_n_slices (GstMemory *memory)
{
  return root_of (memory)->n_slices;
}

guint64 *
gst_pp_memory_get_padding (GstMemory *memory, guint slice)
{
  return &root_of (memory)->slice[slice].padding;
}

void
gst_pp_memory_forget_jobs (GstMemory *memory)
{
  GstPpMemory *root = root_of (memory);

  for (guint i = 0; i < root->n_slices; i++)
    pp_job_unref (&root->slice[i].job);
  if (root->device != NULL)
    gst_pp_device_block_forget_copy (root->device);
}

void
gst_pp_memory_take_job (GstMemory *memory, guint slice, pp_job *job)
{
  GstPpMemory *root = root_of (memory);

  pp_job_unref (&root->slice[slice].job);
  root->slice[slice].job = job;
  root->last = slice;
}

/* Waits for all jobs. The first failure, in the order of slices. */
static pp_status
wait_for_jobs (const GstPpMemory *root, pp_error *error)
{
  pp_status first = PP_OK;

  for (guint i = 0; i < root->n_slices; i++)
    if (root->slice[i].job != NULL) {
      const pp_status status =
          pp_job_wait (root->slice[i].job, first == PP_OK ? error : NULL);
      if (first == PP_OK)
        first = status;
    }
  return first;
}

void
gst_pp_memory_wait (GstMemory *memory)
{
  wait_for_jobs (root_of (memory), NULL);
}

guint64
gst_pp_memory_get_waited (GstMemory *memory)
{
  GstPpAllocator *allocator = GST_PP_ALLOCATOR (memory->allocator);

  return __atomic_load_n (&allocator->waited, __ATOMIC_RELAXED);
}

static gboolean
have_jobs_ended (const GstPpMemory *root)
{
  for (guint i = 0; i < root->n_slices; i++)
    if (root->slice[i].job != NULL && !pp_job_query (root->slice[i].job))
      return FALSE;
  return TRUE;
}

/* wait_for_jobs; the time that it takes is counted. */
static pp_status
wait_for_tensor (GstMemory *memory, pp_error *error)
{
  GstPpAllocator *allocator = GST_PP_ALLOCATOR (memory->allocator);
  const GstPpMemory *root = root_of (memory);

  if (have_jobs_ended (root))
    return wait_for_jobs (root, error);
  const GstClockTime begin = gst_util_get_timestamp ();
  const pp_status status = wait_for_jobs (root, error);
  __atomic_fetch_add (
      &allocator->waited, gst_util_get_timestamp () - begin, __ATOMIC_RELAXED);
  return status;
}

static gpointer
memory_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstPpMemory *root = root_of (memory);
  pp_error error;

  if (wait_for_tensor (memory, &error) != PP_OK) {
    GST_WARNING ("tensor was not computed: %s", error.text);
    return NULL;
  }
  if (flags & GST_MAP_WRITE)
    for (guint i = 0; i < root->n_slices; i++)
      root->slice[i].padding = 0;
  return root->device != NULL ? gst_pp_device_block_map (root->device, flags)
                              : root->data;
}

static void
memory_unmap (GstMemory *memory, GstMapInfo *info)
{
  GstPpMemory *root = root_of (memory);

  if (root->device != NULL)
    gst_pp_device_block_unmap (root->device, info->flags);
}

/* on the device */

/* A job whose event is not there any more has ended. */
static gboolean
add_event (GstCudaPreprocDeviceTensor *tensor, pp_job *job)
{
  gpointer event = pp_job_event (job);

  if (event == NULL)
    return pp_job_wait (job, NULL) == PP_OK;
  tensor->events[tensor->n_events++] = event;
  return TRUE;
}

/* For programs, which may have been built with an older header: they say how large
 * their struct is. */
static gboolean
describe_on_device (GstMemory *memory, GstCudaPreprocDeviceTensor *tensor)
{
  const GstPpAllocator *allocator = GST_PP_ALLOCATOR (memory->allocator);
  const GstPpMemory *root = root_of (memory);
  GstCudaPreprocDeviceTensor full = {
    .struct_size = MIN (tensor->struct_size, sizeof full),
    .data = (guint64) (guintptr) gst_pp_memory_get_data (memory),
    .size = memory->size,
    .context = allocator->context,
    .device = allocator->gpu,
  };
  const pp_job *last = NULL;
  gboolean good = TRUE;

  for (guint i = 0; i < root->n_slices; i++) {
    pp_job *job = root->slice[i].job;
    if (job != NULL && job != last)
      good = add_event (&full, job) && good;
    last = job;
  }
  memcpy (tensor, &full, full.struct_size);
  return good;
}

static const GstCudaPreprocDeviceAccess access_on_device = {
  .describe = describe_on_device,
};
G_STATIC_ASSERT (G_N_ELEMENTS (((GstCudaPreprocDeviceTensor *) NULL)->events) ==
    PP_MAX_PICTURES);

static GstMemory *
memory_share (GstMemory *memory, gssize offset, gssize size)
{
  GstPpMemory *root = root_of (memory);
  GstPpMemory *share = g_new0 (GstPpMemory, 1);

  if (size == -1)
    size = (gssize) memory->size - offset;
  gst_memory_init (GST_MEMORY_CAST (share),
      GST_MINI_OBJECT_FLAGS (root) | GST_MINI_OBJECT_FLAG_LOCK_READONLY,
      memory->allocator, GST_MEMORY_CAST (root), memory->maxsize, memory->align,
      memory->offset + offset, size);
  return GST_MEMORY_CAST (share);
}

static gboolean
memory_is_span (GstMemory *first, GstMemory *second, gsize *offset)
{
  if (offset != NULL)
    *offset = first->offset - first->parent->offset;
  return gst_pp_memory_get_data (first) + first->size ==
      gst_pp_memory_get_data (second);
}

/* The bytes that a block needs: what is before the data, the data, the padding
 * and room to align them. FALSE: they cannot be counted. */
static gboolean
add_up (gsize offset, gsize size, const GstAllocationParams *params,
    gsize *maxsize, gsize *block_size)
{
  const gsize spare = params->align >= ARENA_ALIGNMENT ? params->align : 0;

  return (params->align & (params->align + 1)) == 0 &&
      offset >= params->prefix && g_size_checked_add (maxsize, offset, size) &&
      g_size_checked_add (maxsize, *maxsize, params->padding) &&
      g_size_checked_add (block_size, MAX (*maxsize, 1), spare) &&
      *block_size <= G_MAXSSIZE;
}

/* Makes size bytes from offset on zero. */
static gboolean
zero (GstPpMemory *memory, gsize offset, gsize size, pp_error *error)
{
  if (size == 0)
    return TRUE;
  if (memory->device == NULL) {
    memset (memory->data + offset, 0, size);
    return TRUE;
  }
  g_autofree guint8 *zeros = g_malloc0 (size);
  return pp_arena_upload (
             memory->arena, memory->data + offset, zeros, size, error) == PP_OK;
}

/* What is before and behind the data, if its flags say that it is zero. */
static gboolean
fill_edges (GstPpMemory *memory, gsize offset, gsize size, gsize padding,
    pp_error *error)
{
  const guint flags = GST_MINI_OBJECT_FLAGS (memory);

  return ((flags & GST_MEMORY_FLAG_ZERO_PREFIXED) == 0 ||
             zero (memory, 0, offset, error)) &&
      ((flags & GST_MEMORY_FLAG_ZERO_PADDED) == 0 ||
          zero (memory, offset + size, padding, error));
}

/* offset: where the data begins, from params->prefix on. n_slices: 0 for memory of
 * frames, which no job writes to. */
static GstMemory *
allocate (GstPpAllocator *allocator, gsize offset, gsize size, guint n_slices,
    const GstAllocationParams *params, GstMemoryFlags flags, pp_error *error)
{
  gsize maxsize, block_size;

  if (!add_up (offset, size, params, &maxsize, &block_size)) {
    error->status = PP_BAD_ARGUMENT;
    g_snprintf (error->text, sizeof error->text,
        "no memory can have %" G_GSIZE_FORMAT
        " bytes with prefix=%" G_GSIZE_FORMAT ", padding=%" G_GSIZE_FORMAT
        " and align=%" G_GSIZE_FORMAT,
        size, params->prefix, params->padding, params->align);
    return NULL;
  }
  void *block = pp_arena_alloc (allocator->arena, block_size, error);
  if (block == NULL)
    return NULL;

  GstPpMemory *memory =
      g_malloc0 (sizeof *memory + n_slices * sizeof memory->slice[0]);
  memory->n_slices = n_slices;
  memory->arena = pp_arena_ref (allocator->arena);
  memory->backend = allocator->backend;
  memory->block = block;
  memory->block_size = block_size;
  memory->data =
      (guint8 *) (((guintptr) block + params->align) & ~params->align);
  if (allocator->host != NULL) {
    memory->device = g_new (GstPpDeviceBlock, 1);
    gst_pp_device_block_init (
        memory->device, memory->arena, allocator->host, memory->data, maxsize);
  }
  gst_memory_init (GST_MEMORY_CAST (memory), flags,
      GST_ALLOCATOR_CAST (allocator), NULL, maxsize, params->align, offset,
      size);
  if (memory->device != NULL)
    gst_mini_object_set_qdata (GST_MINI_OBJECT_CAST (memory),
        g_quark_from_static_string (GST_CUDA_PREPROC_DEVICE_TENSOR_NAME),
        (gpointer) &access_on_device, NULL);
  if (fill_edges (memory, offset, size, params->padding, error))
    return GST_MEMORY_CAST (memory);
  gst_memory_unref (GST_MEMORY_CAST (memory));
  return NULL;
}

gsize
gst_pp_tensor_offset (const GstAllocationParams *params)
{
  return (params->prefix + ELEMENT_ALIGNMENT - 1) &
      ~(gsize) (ELEMENT_ALIGNMENT - 1);
}

GstMemory *
gst_pp_allocator_alloc_tensor (GstAllocator *allocator, gsize size,
    guint n_slices, const GstAllocationParams *params, pp_error *error)
{
  const GstMemoryFlags flags = params->flags &
      (GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
  GstMemory *memory = allocate (GST_PP_ALLOCATOR (allocator),
      gst_pp_tensor_offset (params), size, n_slices, params, flags, error);

  if (memory == NULL)
    GST_WARNING_OBJECT (allocator, "%s", error->text);
  return memory;
}

/* Pinned memory is scarcer than memory: frames that get none are staged. */
static GstMemory *
gst_pp_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstPpAllocator *self = GST_PP_ALLOCATOR (allocator);
  pp_error error;
  GstMemory *memory =
      allocate (self, params->prefix, size, 0, params, params->flags, &error);

  if (memory != NULL)
    return memory;
  GST_WARNING_OBJECT (allocator, "%s", error.text);
  if (error.status == PP_BAD_ARGUMENT)
    return NULL;
  if (self->backend != PP_BACKEND_CPU)
    return gst_allocator_alloc (NULL, size, params);
  g_autoptr (GObject) owner = g_weak_ref_get (&self->owner);
  if (owner != NULL)
    self->failed (owner, &error);
  return NULL;
}

static void
gst_pp_allocator_free (GstAllocator *allocator, GstMemory *memory)
{
  GstPpMemory *self = (GstPpMemory *) memory;

  if (memory->parent == NULL) {
    if (self->device != NULL)
      gst_pp_device_block_clear (self->device);
    pp_job *last = self->n_slices > 0 ? self->slice[self->last].job : NULL;
    if (last != NULL)
      pp_job_free_block_after (
          last, self->arena, self->block, self->block_size);
    else
      pp_arena_free (self->arena, self->block, self->block_size);
    for (guint i = 0; i < self->n_slices; i++)
      pp_job_unref (&self->slice[i].job);
    pp_arena_unref (&self->arena);
    g_free (self->device);
  }
  g_free (self);
}

static void
gst_pp_allocator_finalize (GObject *object)
{
  g_weak_ref_clear (&GST_PP_ALLOCATOR (object)->owner);
  pp_arena_unref (&GST_PP_ALLOCATOR (object)->arena);
  pp_arena_unref (&GST_PP_ALLOCATOR (object)->host);
  G_OBJECT_CLASS (gst_pp_allocator_parent_class)->finalize (object);
}

static void
gst_pp_allocator_class_init (GstPpAllocatorClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_pp_allocator_finalize;
  GST_ALLOCATOR_CLASS (klass)->alloc = gst_pp_allocator_alloc;
  GST_ALLOCATOR_CLASS (klass)->free = gst_pp_allocator_free;
}

static void
gst_pp_allocator_init (GstPpAllocator *self)
{
  GstAllocator *allocator = GST_ALLOCATOR_CAST (self);

  allocator->mem_type = GST_PP_HOST_MEMORY_TYPE;
  allocator->mem_map = memory_map;
  allocator->mem_unmap_full = memory_unmap;
  allocator->mem_share = memory_share;
  allocator->mem_is_span = memory_is_span;
  g_weak_ref_init (&self->owner, NULL);
}

GstAllocator *
gst_pp_allocator_new (pp_arena *arena, pp_backend_id backend, gpointer owner,
    GstPpAllocatorFailed failed)
{
  GstPpAllocator *self = g_object_new (GST_TYPE_PP_ALLOCATOR, NULL);

  gst_object_ref_sink (self);
  self->arena = pp_arena_ref (arena);
  self->backend = backend;
  g_weak_ref_set (&self->owner, owner);
  self->failed = failed;
  return GST_ALLOCATOR_CAST (self);
}

GstAllocator *
gst_pp_allocator_new_on_device (
    pp_arena *memory, pp_arena *host, gpointer context, gint gpu)
{
  GstAllocator *allocator =
      gst_pp_allocator_new (memory, PP_BACKEND_CUDA, NULL, NULL);
  GstPpAllocator *self = GST_PP_ALLOCATOR (allocator);

  allocator->mem_type = GST_PP_DEVICE_MEMORY_TYPE;
  self->host = pp_arena_ref (host);
  self->context = context;
  self->gpu = gpu;
  return allocator;
}
