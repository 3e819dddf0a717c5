/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Built where GStreamer's CUDA library, or the CUDA toolkit's header that it
 * needs, is missing.
 */

#include "cuda_memory.h"

gboolean
gst_pp_cuda_takes_frames (void)
{
  return FALSE;
}

void
gst_pp_cuda_context_look_for (GstElement *element, GstObject *const *context)
{
}

GstObject *
gst_pp_cuda_context_take (GstElement *element, GstContext *given, gint device)
{
  return NULL;
}

gboolean
gst_pp_cuda_context_answer (
    GstElement *element, GstQuery *query, GstObject *context)
{
  return FALSE;
}

GstObject *
gst_pp_cuda_context_offer (GstElement *element, gpointer handle, gint device,
    gpointer keep, GDestroyNotify release)
{
  release (keep);
  return NULL;
}

gpointer
gst_pp_cuda_context_handle (GstObject *context)
{
  return NULL;
}

gint
gst_pp_cuda_context_device (GstObject *context)
{
  return -1;
}

GstObject *
gst_pp_cuda_memory_context (GstMemory *memory)
{
  return NULL;
}

gboolean
gst_pp_cuda_memory_wait (GstMemory *memory)
{
  return TRUE;
}

GstBufferPool *
gst_pp_cuda_pool_new (
    GstObject *context, GstCaps *caps, guint min_buffers, guint *size)
{
  return NULL;
}
