/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "allocation.h"

#include <gst/video/video.h>

#include "gst/debug.h"
#include "cuda_memory.h"
#include "tensor_pool.h"

/* The most buffers that upstream is asked to have in its pool. */
#define MAX_INPUTS 8
/* The most tensors that are made for downstream beforehand. The pool makes more
 * when they are needed. */
#define MAX_OUTPUTS 64

/* NULL where there cannot be one. */
static GstBufferPool *
new_input_pool (GstAllocator *allocator, const GstAllocationParams *params,
    GstCaps *caps, const GstVideoInfo *info, guint min_buffers)
{
  GstBufferPool *pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (
      config, caps, (guint) info->size, min_buffers, 0);
  gst_buffer_pool_config_set_allocator (config, allocator, params);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config))
    gst_clear_object (&pool);
  return pool;
}

/* Each job under way keeps its frame: a decoder needs as many surfaces more. */
static void
propose_cuda (GstQuery *query, GstCaps *caps, gboolean need_pool,
    const GstVideoInfo *info, GstObject *context, guint min_buffers)
{
  guint size = (guint) MIN (info->size, G_MAXUINT);
  GstBufferPool *pool = need_pool && context != NULL
      ? gst_pp_cuda_pool_new (context, caps, min_buffers, &size)
      : NULL;

  gst_query_add_allocation_pool (query, pool, size, min_buffers, 0);
  gst_clear_object (&pool);
}

/* Memory of our allocator, for pools of any kind. */
static void
propose_pinned (GstQuery *query, GstCaps *caps, gboolean need_pool,
    const GstVideoInfo *info, GstAllocator *allocator, guint min_buffers)
{
  GstAllocationParams params;
  GstBufferPool *pool = NULL;

  gst_allocation_params_init (&params);
  /* A pool counts sizes in 32 bits. */
  if (info->size <= G_MAXUINT) {
    if (need_pool)
      pool = new_input_pool (allocator, &params, caps, info, min_buffers);
    /* No maximum: with one, decoders copy every frame. */
    gst_query_add_allocation_pool (
        query, pool, (guint) info->size, min_buffers, 0);
    gst_clear_object (&pool);
  }
  /* Without it decoders put their own allocator into our pool. */
  gst_query_add_allocation_param (query, allocator, &params);
}

gboolean
gst_pp_propose_allocation (
    GstQuery *query, GstAllocator *allocator, GstObject *context, guint streams)
{
  GstVideoInfo info;
  GstCaps *caps;
  gboolean need_pool;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (gst_pp_caps_are_cuda (caps, 0))
    propose_cuda (query, caps, need_pool, &info, context, 2 * streams);
  else
    propose_pinned (query, caps, need_pool, &info, allocator,
        MIN (2 * streams, MAX_INPUTS));
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return TRUE;
}

/* Configures and activates pool: upstream's frames can be converted into its tensors
 * at once. FALSE with *fault and *reason. */
static gboolean
activate (GstBufferPool *pool, GstCaps *caps, guint size, guint min,
    const GstAllocationParams *params, GstPpFault *fault, gchar **reason)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  pp_error error;

  gst_buffer_pool_config_set_params (config, caps, size, min, 0);
  gst_buffer_pool_config_set_allocator (config, NULL, params);
  /* Active now, so that the first frame pays nothing. */
  if (gst_buffer_pool_set_config (pool, config) &&
      gst_buffer_pool_set_active (pool, TRUE))
    return TRUE;
  gst_pp_tensor_pool_get_error (pool, &error);
  if (error.status == PP_BAD_ARGUMENT) {
    *fault = GST_PP_FAULT_OUTPUT;
    *reason =
        g_strdup_printf ("Downstream's allocation parameters: %s", error.text);
  } else {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
  }
  return FALSE;
}

gboolean
gst_pp_decide_allocation (GstQuery *query, pp_device *device, gint gpu,
    const GstPpTensor *tensor, guint min_buffers, GstPpFault *fault,
    gchar **reason)
{
  const gsize size = gst_pp_tensor_size (tensor);
  GstAllocationParams params;
  GstCaps *caps;
  guint min = 0;

  if (size > G_MAXUINT) {
    *fault = GST_PP_FAULT_SETTINGS;
    *reason = g_strdup_printf (
        "width=%d, height=%d and batch-size=%d make a tensor of "
        "%" G_GSIZE_FORMAT " bytes, more than a buffer pool can give",
        tensor->width, tensor->height, tensor->batch, size);
    return FALSE;
  }
  gst_query_parse_allocation (query, &caps, NULL);
  /* Alignment, prefix and padding are downstream's, its allocator is not. */
  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, NULL, NULL, &min, NULL);
  min = MIN (min, MAX_OUTPUTS) + min_buffers;

  GstBufferPool *pool = gst_pp_tensor_pool_new (
      device, tensor->on_device, gpu, (guint) tensor->batch);
  if (!activate (pool, caps, (guint) size, min, &params, fault, reason)) {
    gst_object_unref (pool);
    return FALSE;
  }
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  gst_query_add_allocation_pool (query, pool, (guint) size, min, 0);
  gst_object_unref (pool);
  return TRUE;
}

void
gst_pp_log_allocation (GstElement *element, const pp_device *device,
    const gchar *what, GstQuery *query)
{
  GstBufferPool *pool = NULL;
  guint size = 0, min = 0;

  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, NULL);
  GST_DEBUG_OBJECT (element,
      "%s %s of %s memory: at least %u buffers of %u bytes", what,
      pool != NULL ? "a pool" : "an allocator",
      gst_pp_caps_are_cuda (caps, 0)                      ? "the device's"
          : pp_device_backend (device) == PP_BACKEND_CUDA ? "pinned"
                                                          : "host",
      min, size);
  gst_clear_object (&pool);
}
