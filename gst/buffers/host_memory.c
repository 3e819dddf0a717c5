/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "host_memory.h"

#include "gst/debug.h"
#include "meta.h"

/* Arena blocks are aligned to this, bytes. */
#define ARENA_ALIGNMENT 256

/* A root has a block; a share has only a parent and resolves to it. */
typedef struct {
  GstMemory memory;
  pp_arena *arena;
  pp_backend_id backend;
  void *block;
  gsize block_size;
  guint8 *data;    /* in the block, aligned as asked */
  pp_job *job;     /* the last that wrote here, or NULL */
  guint64 padding; /* see pp_task */
} GstPpMemory;

struct _GstPpAllocator {
  GstAllocator parent;
  pp_arena *arena;
  pp_backend_id backend;
  guint64 waited; /* atomic; nanoseconds that maps waited for jobs */
  GWeakRef owner;
  GstPpAllocatorFailed failed;
};

struct _GstPpTensorPool {
  GstBufferPool parent;
  GstAllocator *allocator;
  gsize size;
  GstAllocationParams params;
  pp_error error;
};

G_DEFINE_TYPE (GstPpAllocator, gst_pp_allocator, GST_TYPE_ALLOCATOR)
G_DEFINE_TYPE (GstPpTensorPool, gst_pp_tensor_pool, GST_TYPE_BUFFER_POOL)

static GstPpMemory *
root_of (GstMemory *memory)
{
  return (GstPpMemory *) (memory->parent != NULL ? memory->parent : memory);
}

gboolean
gst_pp_is_memory (GstMemory *memory)
{
  return gst_memory_is_type (memory, GST_PP_MEMORY_TYPE);
}

gboolean
gst_pp_memory_is_pinned (GstMemory *memory, pp_backend_id backend)
{
  return gst_pp_is_memory (memory) && root_of (memory)->backend == backend;
}

guint8 *
gst_pp_memory_get_data (GstMemory *memory)
{
  return root_of (memory)->data + memory->offset;
}

guint64 *
gst_pp_memory_get_padding (GstMemory *memory)
{
  return &root_of (memory)->padding;
}

void
gst_pp_memory_take_job (GstMemory *memory, pp_job *job)
{
  GstPpMemory *root = root_of (memory);

  pp_job_unref (&root->job);
  root->job = job;
}

void
gst_pp_memory_wait (GstMemory *memory)
{
  GstPpMemory *root = root_of (memory);

  if (root->job != NULL)
    pp_job_wait (root->job, NULL);
}

guint64
gst_pp_memory_get_waited (GstMemory *memory)
{
  GstPpAllocator *allocator = GST_PP_ALLOCATOR (memory->allocator);

  return __atomic_load_n (&allocator->waited, __ATOMIC_RELAXED);
}

/* As pp_job_wait, counted. */
static pp_status
wait_for_tensor (GstMemory *memory, pp_job *job, pp_error *error)
{
  GstPpAllocator *allocator = GST_PP_ALLOCATOR (memory->allocator);

  if (pp_job_query (job))
    return pp_job_wait (job, error);
  const GstClockTime begin = gst_util_get_timestamp ();
  const pp_status status = pp_job_wait (job, error);
  __atomic_fetch_add (
      &allocator->waited, gst_util_get_timestamp () - begin, __ATOMIC_RELAXED);
  return status;
}

static gpointer
memory_map (GstMemory *memory, gsize maxsize, GstMapFlags flags)
{
  GstPpMemory *root = root_of (memory);
  pp_error error;

  if (root->job != NULL &&
      wait_for_tensor (memory, root->job, &error) != PP_OK) {
    GST_WARNING ("tensor was not computed: %s", error.text);
    return NULL;
  }
  if (flags & GST_MAP_WRITE)
    root->padding = 0;
  return root->data;
}

static void
memory_unmap (GstMemory *memory)
{
}

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

/* Takes prefix, padding and alignment as gst_allocator_alloc does. */
static GstMemory *
allocate (GstPpAllocator *allocator, gsize size, GstAllocationParams *params,
    pp_error *error)
{
  const gsize maxsize = size + params->prefix + params->padding;
  const gsize spare = params->align >= ARENA_ALIGNMENT ? params->align : 0;
  const gsize block_size = MAX (maxsize + spare, 1);
  void *block = pp_arena_alloc (allocator->arena, block_size, error);

  if (block == NULL) {
    GST_WARNING_OBJECT (allocator, "%s", error->text);
    return NULL;
  }

  GstPpMemory *memory = g_new0 (GstPpMemory, 1);
  memory->arena = pp_arena_ref (allocator->arena);
  memory->backend = allocator->backend;
  memory->block = block;
  memory->block_size = block_size;
  memory->data =
      (guint8 *) (((guintptr) block + params->align) & ~params->align);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED)
    memset (memory->data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED)
    memset (memory->data + params->prefix + size, 0, params->padding);
  gst_memory_init (GST_MEMORY_CAST (memory), params->flags,
      GST_ALLOCATOR_CAST (allocator), NULL, maxsize, params->align,
      params->prefix, size);
  return GST_MEMORY_CAST (memory);
}

/* Pinned memory is scarcer than memory: frames that get none are staged. */
static GstMemory *
gst_pp_allocator_alloc (
    GstAllocator *allocator, gsize size, GstAllocationParams *params)
{
  GstPpAllocator *self = GST_PP_ALLOCATOR (allocator);
  pp_error error;
  GstMemory *memory = allocate (self, size, params, &error);

  if (memory != NULL)
    return memory;
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
    if (self->job != NULL)
      pp_job_free_block_after (
          self->job, self->arena, self->block, self->block_size);
    else
      pp_arena_free (self->arena, self->block, self->block_size);
    pp_job_unref (&self->job);
    pp_arena_unref (&self->arena);
  }
  g_free (self);
}

static void
gst_pp_allocator_finalize (GObject *object)
{
  g_weak_ref_clear (&GST_PP_ALLOCATOR (object)->owner);
  pp_arena_unref (&GST_PP_ALLOCATOR (object)->arena);
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

  allocator->mem_type = GST_PP_MEMORY_TYPE;
  allocator->mem_map = memory_map;
  allocator->mem_unmap = memory_unmap;
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

static gboolean
gst_pp_tensor_pool_set_config (GstBufferPool *pool, GstStructure *config)
{
  GstPpTensorPool *self = GST_PP_TENSOR_POOL (pool);
  guint size, min, max;

  if (!gst_buffer_pool_config_get_params (config, NULL, &size, &min, &max))
    return FALSE;
  self->size = size;
  if (!gst_buffer_pool_config_get_allocator (config, NULL, &self->params))
    gst_allocation_params_init (&self->params);
  return GST_BUFFER_POOL_CLASS (gst_pp_tensor_pool_parent_class)
      ->set_config (pool, config);
}

static GstFlowReturn
gst_pp_tensor_pool_alloc_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  GstPpTensorPool *self = GST_PP_TENSOR_POOL (pool);
  GstMemory *memory = allocate (GST_PP_ALLOCATOR (self->allocator), self->size,
      &self->params, &self->error);

  if (memory == NULL)
    return GST_FLOW_ERROR;
  *buffer = gst_buffer_new ();
  gst_buffer_append_memory (*buffer, memory);
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_pp_tensor_pool_acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  const GstFlowReturn flow =
      GST_BUFFER_POOL_CLASS (gst_pp_tensor_pool_parent_class)
          ->acquire_buffer (pool, buffer, params);

  if (flow == GST_FLOW_OK)
    gst_pp_memory_wait (gst_buffer_peek_memory (*buffer, 0));
  return flow;
}

/* Whoever still holds the memory keeps it: the buffer is discarded then. Else it
 * is as new; the base class would forget the prefix. */
static void
gst_pp_tensor_pool_reset_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstPpTensorPool *self = GST_PP_TENSOR_POOL (pool);

  gst_pp_meta_keep (buffer);
  GST_BUFFER_POOL_CLASS (gst_pp_tensor_pool_parent_class)
      ->reset_buffer (pool, buffer);
  if (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY))
    return;
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  if (GST_MINI_OBJECT_REFCOUNT_VALUE (memory) > 1)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
  else
    gst_memory_resize (memory,
        (gssize) self->params.prefix - (gssize) memory->offset, self->size);
}

static gboolean
gst_pp_tensor_pool_start (GstBufferPool *pool)
{
  GstBufferPoolClass *parent =
      GST_BUFFER_POOL_CLASS (gst_pp_tensor_pool_parent_class);

  if (parent->start (pool))
    return TRUE;
  /* GStreamer would leak the buffers made before the one that failed. */
  parent->stop (pool);
  return FALSE;
}

static void
gst_pp_tensor_pool_finalize (GObject *object)
{
  gst_clear_object (&GST_PP_TENSOR_POOL (object)->allocator);
  G_OBJECT_CLASS (gst_pp_tensor_pool_parent_class)->finalize (object);
}

static void
gst_pp_tensor_pool_class_init (GstPpTensorPoolClass *klass)
{
  GstBufferPoolClass *pool_class = GST_BUFFER_POOL_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = gst_pp_tensor_pool_finalize;
  pool_class->set_config = gst_pp_tensor_pool_set_config;
  pool_class->start = gst_pp_tensor_pool_start;
  pool_class->alloc_buffer = gst_pp_tensor_pool_alloc_buffer;
  pool_class->acquire_buffer = gst_pp_tensor_pool_acquire_buffer;
  pool_class->reset_buffer = gst_pp_tensor_pool_reset_buffer;
}

static void
gst_pp_tensor_pool_init (GstPpTensorPool *self)
{
  gst_allocation_params_init (&self->params);
}

GstBufferPool *
gst_pp_tensor_pool_new (pp_arena *arena, pp_backend_id backend)
{
  GstPpTensorPool *self = g_object_new (GST_TYPE_PP_TENSOR_POOL, NULL);

  gst_object_ref_sink (self);
  self->allocator = gst_pp_allocator_new (arena, backend, NULL, NULL);
  /* Copies of tensors are ordinary memory. */
  GST_OBJECT_FLAG_SET (self->allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
  return GST_BUFFER_POOL_CAST (self);
}

void
gst_pp_tensor_pool_get_error (GstBufferPool *pool, pp_error *error)
{
  *error = GST_PP_TENSOR_POOL (pool)->error;
}
