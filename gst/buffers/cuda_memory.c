/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Uses what GStreamer 1.22 has. gst_cuda_memory_sync came with 1.24: it is called
 * where the library of the running program has it, whichever this was built with.
 */

#include "cuda_memory.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "gst/debug.h"

G_STATIC_ASSERT ((gint) GST_PP_MAP_CUDA == (gint) GST_MAP_CUDA);
G_STATIC_ASSERT (
    sizeof GST_PP_CUDA_FEATURE == sizeof GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY);

extern void gst_cuda_memory_sync (GstCudaMemory *memory) __attribute__ ((weak));

gboolean
gst_pp_cuda_takes_frames (void)
{
  return TRUE;
}

/* contexts */

/* element ignores what is answered after the context that it took. */
static gboolean
ask_peer (GstElement *element, GstPad *pad, gpointer unused)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstContext *context = NULL;

  if (gst_pad_peer_query (pad, query))
    gst_query_parse_context (query, &context);
  if (context != NULL)
    gst_element_set_context (element, context);
  gst_query_unref (query);
  return TRUE;
}

/* gst_cuda_ensure_element_context asks the same way, but where nobody has a context
 * it makes one that shares no memory with users of CUDA's runtime. */
void
gst_pp_cuda_context_look_for (GstElement *element, GstObject *const *context)
{
  if (!gst_cuda_load_library ())
    return;
  gst_element_foreach_src_pad (element, ask_peer, NULL);
  if (*context == NULL)
    gst_element_foreach_sink_pad (element, ask_peer, NULL);
  if (*context == NULL)
    gst_element_post_message (element,
        gst_message_new_need_context (
            GST_OBJECT_CAST (element), GST_CUDA_CONTEXT_TYPE));
}

GstObject *
gst_pp_cuda_context_take (GstElement *element, GstContext *given, gint device)
{
  GstCudaContext *context = NULL;

  gst_cuda_handle_set_context (element, given, device, &context);
  return (GstObject *) context;
}

gboolean
gst_pp_cuda_context_answer (
    GstElement *element, GstQuery *query, GstObject *context)
{
  return gst_cuda_handle_context_query (
      element, query, (GstCudaContext *) context);
}

GstObject *
gst_pp_cuda_context_offer (GstElement *element, gpointer handle, gint device,
    gpointer keep, GDestroyNotify release)
{
  GstCudaContext *context = gst_cuda_load_library ()
      ? gst_cuda_context_new_wrapped ((CUcontext) handle, device)
      : NULL;

  if (context == NULL) {
    release (keep);
    return NULL;
  }
  g_object_set_data_full (G_OBJECT (context), "cudapreproc", keep, release);
  GstContext *offer = gst_context_new_cuda_context (context);
  gst_element_post_message (
      element, gst_message_new_have_context (GST_OBJECT_CAST (element), offer));
  return GST_OBJECT_CAST (context);
}

gpointer
gst_pp_cuda_context_handle (GstObject *context)
{
  return gst_cuda_context_get_handle (GST_CUDA_CONTEXT (context));
}

gint
gst_pp_cuda_context_device (GstObject *context)
{
  guint device = 0;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return (gint) device;
}

/* memory */

GstObject *
gst_pp_cuda_memory_context (GstMemory *memory)
{
  if (!gst_is_cuda_memory (memory))
    return NULL;
  return GST_OBJECT_CAST (GST_CUDA_MEMORY_CAST (memory)->context);
}

/* Elements of GStreamer 1.22 wait for their own streams before they push. Only
 * copies of memory are still under way then, on the default stream, which ours do
 * not wait for. */
static gboolean
wait_for_copies (GstCudaContext *context)
{
  if (!gst_cuda_context_push (context))
    return FALSE;
  const gboolean waited = gst_cuda_result (CuStreamSynchronize (NULL));
  gst_cuda_context_pop (NULL);
  return waited;
}

gboolean
gst_pp_cuda_memory_wait (GstMemory *memory)
{
  GstCudaMemory *cuda = GST_CUDA_MEMORY_CAST (memory);

  if (gst_cuda_memory_sync == NULL)
    return wait_for_copies (cuda->context);
  gst_cuda_memory_sync (cuda);
  return TRUE;
}

/* What GStreamer 1.22 can allocate; any other format would end the process. */
static gboolean
can_allocate (GstVideoFormat format)
{
  static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_I420,
    GST_VIDEO_FORMAT_YV12, GST_VIDEO_FORMAT_I420_10LE, GST_VIDEO_FORMAT_Y42B,
    GST_VIDEO_FORMAT_I422_10LE, GST_VIDEO_FORMAT_I422_12LE,
    GST_VIDEO_FORMAT_NV12, GST_VIDEO_FORMAT_NV21, GST_VIDEO_FORMAT_P010_10LE,
    GST_VIDEO_FORMAT_P016_LE, GST_VIDEO_FORMAT_Y444, GST_VIDEO_FORMAT_Y444_16LE,
    GST_VIDEO_FORMAT_RGBP, GST_VIDEO_FORMAT_BGRP, GST_VIDEO_FORMAT_GBR,
    GST_VIDEO_FORMAT_GBRA, GST_VIDEO_FORMAT_BGRA, GST_VIDEO_FORMAT_RGBA,
    GST_VIDEO_FORMAT_RGBx, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_ARGB,
    GST_VIDEO_FORMAT_ABGR, GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGR,
    GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_UYVY };

  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i] == format)
      return TRUE;
  return FALSE;
}

GstBufferPool *
gst_pp_cuda_pool_new (
    GstObject *context, GstCaps *caps, guint min_buffers, guint *size)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps) ||
      !can_allocate (GST_VIDEO_INFO_FORMAT (&info)))
    return NULL;
  gst_cuda_memory_init_once ();
  GstBufferPool *pool = gst_cuda_buffer_pool_new (GST_CUDA_CONTEXT (context));
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (
      config, caps, (guint) info.size, min_buffers, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (!gst_buffer_pool_set_config (pool, config)) {
    gst_object_unref (pool);
    return NULL;
  }
  /* It depends on the GPU's pitch, which the pool finds out. */
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_get_params (config, NULL, size, NULL, NULL);
  gst_structure_free (config);
  return pool;
}
