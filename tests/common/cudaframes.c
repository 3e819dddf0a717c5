/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cudaframes.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

int
test_cuda_main (
    int argc, char **argv, const gchar *name, void (*add) (TCase *tcase))
{
  g_setenv ("GST_TRACERS", "leaks", FALSE);
  gst_init (&argc, &argv);
  return test_cuda_ready () ? test_main (argc, argv, name, add) : 77;
}

GstCudaContext *
test_cuda_context (guint gpu)
{
  int gpus = 0;

  fail_unless (gst_cuda_load_library ());
  gst_cuda_memory_init_once ();
  fail_unless (gst_cuda_result (CuInit (0)));
  fail_unless (gst_cuda_result (CuDeviceGetCount (&gpus)));
  if (gpu >= (guint) gpus)
    return NULL;
  GstCudaContext *context = gst_cuda_context_new (gpu);
  fail_unless (context != NULL);
  return context;
}

GstCudaContext *
test_cuda_context_of (GstHarness *h)
{
  GstQuery *query = gst_query_new_context (GST_CUDA_CONTEXT_TYPE);
  GstCudaContext *context = NULL;
  GstContext *answer = NULL;

  gst_cuda_memory_init_once ();
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_parse_context (query, &answer);
  fail_unless (gst_structure_get (gst_context_get_structure (answer),
      GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &context, NULL));
  gst_query_unref (query);
  return context;
}

GstBufferPool *
test_cuda_pool (GstCudaContext *context, const GstVideoInfo *info, guint max)
{
  GstBufferPool *pool = gst_cuda_buffer_pool_new (context);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstCaps *caps = test_cuda_caps (info, TRUE);

  gst_buffer_pool_config_set_params (config, caps, (guint) info->size, 0, max);
  gst_caps_unref (caps);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  return pool;
}

GstBuffer *
test_cuda_acquire (GstBufferPool *pool)
{
  GstBuffer *frame = NULL;

  fail_unless_equals_int (
      gst_buffer_pool_acquire_buffer (pool, &frame, NULL), GST_FLOW_OK);
  return frame;
}

/* One that is freed when nobody has it. */
static GstBuffer *
make_frame (GstCudaContext *context, const GstVideoInfo *info)
{
  GstBufferPool *pool = test_cuda_pool (context, info, 0);
  GstBuffer *frame = test_cuda_acquire (pool);

  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  return frame;
}

GstBuffer *
test_cuda_noise (
    GstCudaContext *context, const GstVideoInfo *info, guint32 seed)
{
  GstBuffer *frame = make_frame (context, info);

  test_paint_noise (frame, info, seed);
  return frame;
}

GstBuffer *
test_cuda_number (
    GstCudaContext *context, const GstVideoInfo *info, guint number)
{
  GstBuffer *frame = make_frame (context, info);

  test_paint_number (frame, info, number);
  return frame;
}

GstCaps *
test_cuda_caps (const GstVideoInfo *info, gboolean cuda)
{
  GstCaps *caps = gst_video_info_to_caps ((GstVideoInfo *) info);

  if (cuda)
    gst_caps_set_features (caps, 0,
        gst_caps_features_new (GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, NULL));
  return caps;
}

void
test_cuda_send_caps (GstHarness *h, const GstVideoInfo *info, gboolean cuda)
{
  test_take_caps (h, test_cuda_caps (info, cuda));
}

GstHarness *
test_cuda_harness (const gchar *properties, gboolean tensors)
{
  GstHarness *h = test_harness (CUDA_BACKEND, properties);

  gst_harness_set_sink_caps_str (
      h, tensors ? "other/tensors(memory:CUDAMemory)" : "other/tensors");
  return h;
}
