/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tensor_pool.h"

#include "arena_memory.h"
#include "meta.h"

struct _GstPpTensorPool {
  GstBufferPool parent;
  GstAllocator *allocator;
  guint n_slices;
  /* as configured */
  gsize size;
  GstAllocationParams params;
  pp_error error; /* the last one */
};

G_DEFINE_TYPE (GstPpTensorPool, gst_pp_tensor_pool, GST_TYPE_BUFFER_POOL)

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
  GstMemory *memory = gst_pp_allocator_alloc_tensor (
      self->allocator, self->size, self->n_slices, &self->params, &self->error);

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

/* Whether the buffer still has the memory that it was made with, alone, and that
 * memory has room for what the pool is configured for now. */
static gboolean
is_reusable (const GstPpTensorPool *self, GstBuffer *buffer)
{
  const gsize offset = gst_pp_tensor_offset (&self->params);

  if (gst_buffer_n_memory (buffer) != 1)
    return FALSE;
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  return gst_pp_memory_is_writable (memory, 0) &&
      memory->allocator == self->allocator && memory->maxsize >= offset &&
      memory->maxsize - offset >= self->size;
}

/* The base class discards a buffer with this flag. Any other is as new: the base
 * class itself would forget the prefix. */
static void
gst_pp_tensor_pool_reset_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  GstPpTensorPool *self = GST_PP_TENSOR_POOL (pool);

  gst_pp_meta_keep (buffer);
  GST_BUFFER_POOL_CLASS (gst_pp_tensor_pool_parent_class)
      ->reset_buffer (pool, buffer);
  if (!is_reusable (self, buffer)) {
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_TAG_MEMORY);
    return;
  }
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);
  gst_memory_resize (memory,
      (gssize) gst_pp_tensor_offset (&self->params) - (gssize) memory->offset,
      self->size);
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
gst_pp_tensor_pool_new (
    pp_device *device, gboolean on_device, gint gpu, guint n_slices)
{
  pp_arena *host = pp_device_arena (device);
  GstPpTensorPool *self = g_object_new (GST_TYPE_PP_TENSOR_POOL, NULL);

  gst_object_ref_sink (self);
  self->n_slices = n_slices;
  self->allocator = on_device
      ? gst_pp_allocator_new_on_device (
            pp_device_memory (device), host, pp_device_context (device), gpu)
      : gst_pp_allocator_new (host, pp_device_backend (device), NULL, NULL);
  /* Copies of tensors are ordinary memory. */
  GST_OBJECT_FLAG_SET (self->allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
  return GST_BUFFER_POOL_CAST (self);
}

void
gst_pp_tensor_pool_get_error (GstBufferPool *pool, pp_error *error)
{
  *error = GST_PP_TENSOR_POOL (pool)->error;
}

gboolean
gst_pp_tensor_pool_check_buffer (
    GstBuffer *buffer, guint n_slices, gsize size, gchar **reason)
{
  if (gst_buffer_n_memory (buffer) == 1 &&
      gst_buffer_get_size (buffer) == size &&
      gst_pp_memory_is_writable (gst_buffer_peek_memory (buffer, 0), size) &&
      gst_pp_memory_n_slices (gst_buffer_peek_memory (buffer, 0)) == n_slices)
    return TRUE;
  *reason = g_strdup_printf ("The pool of tensors gives a buffer of "
                             "%" G_GSIZE_FORMAT " bytes for a tensor of "
                             "%" G_GSIZE_FORMAT
                             ": something downstream reconfigured it",
      gst_buffer_get_size (buffer), size);
  return FALSE;
}
