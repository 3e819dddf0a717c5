/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "allocation.h"

#include <gst/video/video.h>

#include "host_memory.h"

/* Most inputs that a pool of upstream's is asked to have. */
#define MAX_INPUTS 8

gboolean
gst_pp_propose_allocation (
    GstQuery *query, GstAllocator *allocator, guint streams)
{
  const guint min_buffers = MIN (2 * streams, MAX_INPUTS);
  GstAllocationParams params;
  GstBufferPool *pool = NULL;
  GstVideoInfo info;
  GstCaps *caps;
  gboolean need_pool;

  gst_query_parse_allocation (query, &caps, &need_pool);
  if (caps == NULL || !gst_video_info_from_caps (&info, caps))
    return FALSE;

  gst_allocation_params_init (&params);
  if (need_pool) {
    pool = gst_video_buffer_pool_new ();
    GstStructure *config = gst_buffer_pool_get_config (pool);
    gst_buffer_pool_config_set_params (
        config, caps, (guint) info.size, min_buffers, 0);
    gst_buffer_pool_config_set_allocator (config, allocator, &params);
    gst_buffer_pool_config_add_option (
        config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (!gst_buffer_pool_set_config (pool, config))
      gst_clear_object (&pool);
  }
  /* No maximum: with one, decoders copy every frame. */
  gst_query_add_allocation_pool (
      query, pool, (guint) info.size, min_buffers, 0);
  gst_clear_object (&pool);
  /* Without it decoders put their own allocator into our pool. */
  gst_query_add_allocation_param (query, allocator, &params);
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
  return TRUE;
}

gboolean
gst_pp_decide_allocation (GstQuery *query, pp_device *device,
    const GstPpTensor *tensor, guint min_buffers, pp_error *error)
{
  const gsize tensor_size = (gsize) tensor->width * tensor->height *
      tensor->channels * pp_type_size (tensor->type);
  GstAllocationParams params;
  GstCaps *caps;
  guint min = 0;

  if (tensor_size > G_MAXUINT) {
    error->status = PP_BAD_ARGUMENT;
    g_snprintf (error->text, sizeof error->text,
        "width=%d and height=%d make a tensor of %" G_GSIZE_FORMAT
        " bytes, more than a buffer pool can give",
        tensor->width, tensor->height, tensor_size);
    return FALSE;
  }
  gst_query_parse_allocation (query, &caps, NULL);
  /* Alignment, prefix and padding are downstream's, its allocator is not. */
  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, NULL, &params);
  if (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_parse_nth_allocation_pool (query, 0, NULL, NULL, &min, NULL);
  min += min_buffers;

  GstBufferPool *pool = gst_pp_tensor_pool_new (
      pp_device_arena (device), pp_device_backend (device));
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, (guint) tensor_size, min, 0);
  gst_buffer_pool_config_set_allocator (config, NULL, &params);
  /* Active now, so that the first frame pays nothing. */
  const gboolean active = gst_buffer_pool_set_config (pool, config) &&
      gst_buffer_pool_set_active (pool, TRUE);
  if (active) {
    while (gst_query_get_n_allocation_pools (query) > 0)
      gst_query_remove_nth_allocation_pool (query, 0);
    gst_query_add_allocation_pool (query, pool, (guint) tensor_size, min, 0);
  } else {
    gst_pp_tensor_pool_get_error (pool, error);
  }
  gst_object_unref (pool);
  return active;
}
