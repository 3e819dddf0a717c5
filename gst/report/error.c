/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "error.h"

static const struct {
  GQuark (*domain) (void);
  gint code;
  const gchar *remedy;
} faults[GST_PP_N_FAULTS] = {
  [GST_PP_FAULT_SETTINGS] = { gst_library_error_quark,
      GST_LIBRARY_ERROR_SETTINGS,
      "Change the property, or what it does not go with." },
  [GST_PP_FAULT_NEGOTIATION] = { gst_core_error_quark,
      GST_CORE_ERROR_NEGOTIATION,
      "Make the caps and the element's properties agree, or leave one open." },
  [GST_PP_FAULT_VIDEO] = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
      "Convert the frames to what gst-inspect-1.0 cudapreproc shows for its sink "
      "pad, with videoconvert, videoscale or deinterlace before it." },
  [GST_PP_FAULT_INPUT] = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT,
      "Make the element before cudapreproc send what its caps say; if it does, "
      "use another one, whose frames cudapreproc can read." },
  [GST_PP_FAULT_NO_DEVICE] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NOT_FOUND,
      "Install what is missing (the NVIDIA driver, or the CUDA toolkit before "
      "building), choose another cuda-device-id, or use backend=cpu." },
  [GST_PP_FAULT_NO_MEMORY] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Use smaller frames, fewer streams or fewer elements." },
  [GST_PP_FAULT_DEVICE] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED,
      "The device is unusable for this element until it goes to READY." },
  [GST_PP_FAULT_FORK] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED,
      "Start pipelines after the fork, in the process that runs them, or call "
      "exec in the child." },
  [GST_PP_FAULT_FILE] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_WRITE,
      "Name a file in a folder that exists and can be written to." },
};

void
gst_pp_error_post (
    GstElement *element, GstPpFault fault, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  gchar *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gst_element_message_full (element, GST_MESSAGE_ERROR, faults[fault].domain (),
      faults[fault].code, text, g_strdup (faults[fault].remedy), __FILE__,
      GST_FUNCTION, __LINE__);
}

void
gst_pp_error_gate_init (GstPpErrorGate *gate)
{
  g_rec_mutex_init (&gate->lock);
  gate->posted = FALSE;
}

void
gst_pp_error_gate_clear (GstPpErrorGate *gate)
{
  g_rec_mutex_clear (&gate->lock);
}

/* With the lock held, which is given up. */
static void
post_first (GstPpErrorGate *gate, GstElement *element, GstPpFault fault,
    const gchar *text)
{
  const gboolean first = !gate->posted;

  gate->posted = TRUE;
  if (first)
    gst_pp_error_post (element, fault, "%s", text);
  g_rec_mutex_unlock (&gate->lock);
}

void
gst_pp_error_gate_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text)
{
  g_rec_mutex_lock (&gate->lock);
  post_first (gate, element, fault, text);
}

void
gst_pp_error_gate_try_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text)
{
  if (g_rec_mutex_trylock (&gate->lock))
    post_first (gate, element, fault, text);
}

gboolean
gst_pp_error_gate_has_posted (GstPpErrorGate *gate)
{
  g_rec_mutex_lock (&gate->lock);
  const gboolean posted = gate->posted;
  g_rec_mutex_unlock (&gate->lock);
  return posted;
}

void
gst_pp_error_gate_open (GstPpErrorGate *gate)
{
  g_rec_mutex_lock (&gate->lock);
  gate->posted = FALSE;
  g_rec_mutex_unlock (&gate->lock);
}

GstPpFault
gst_pp_fault_from_status (pp_status status)
{
  static const GstPpFault fault[] = {
    [PP_BAD_ARGUMENT] = GST_PP_FAULT_SETTINGS,
    [PP_NO_DEVICE] = GST_PP_FAULT_NO_DEVICE,
    [PP_NO_MEMORY] = GST_PP_FAULT_NO_MEMORY,
    [PP_DEVICE_FAILED] = GST_PP_FAULT_DEVICE,
  };

  return fault[status];
}
