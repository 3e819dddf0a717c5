/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "convertcontext.h"

#include "buffers/cuda_memory.h"
#include "debug.h"

void
gst_pp_converter_set_context (GstPpConverter *self, GstContext *context)
{
  const GstPpDeviceConstraints constraints =
      gst_pp_live_settings_device_constraints (&self->settings);

  gst_pp_open_device_set_context (&self->opened, context, constraints.index);
}

GstObject *
gst_pp_converter_other_context (
    GstPpConverter *self, const GstPpNegotiated *negotiated, GstBuffer *input)
{
  GstObject *context = negotiated->cuda && gst_buffer_n_memory (input) > 0
      ? gst_pp_cuda_memory_context (gst_buffer_peek_memory (input, 0))
      : NULL;

  if (context == NULL ||
      gst_pp_cuda_context_handle (context) ==
          pp_device_context (self->opened.device))
    return NULL;
  return context;
}

gboolean
gst_pp_converter_move (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstObject *context)
{
  const gint gpu = gst_pp_cuda_context_device (context);
  pp_error error;

  if (gpu != self->opened.gpu) {
    gst_pp_converter_post_of_pad (self, negotiated, GST_PP_FAULT_CONTEXT,
        g_strdup_printf ("Frames are on GPU %d, but %s runs on GPU %d", gpu,
            GST_OBJECT_NAME (self->element), self->opened.gpu));
    return FALSE;
  }
  GST_INFO_OBJECT (
      self->element, "frames are in another CUDA context: going there");
  if (!gst_pp_open_device_move (&self->opened, context, &error)) {
    gst_pp_converter_post_error (self, &error);
    return FALSE;
  }
  gst_pp_converter_begin_device (self);
  pp_device_time_all (
      self->opened.device, gst_pp_monitor_change_device (self->monitor));
  return TRUE;
}
