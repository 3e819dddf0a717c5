/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "error.h"

static const struct {
  GQuark (*domain) (void);
  gint code;
  const gchar *remedy;
} faults[] = {
  [GST_PP_FAULT_SETTINGS] = { gst_library_error_quark,
      GST_LIBRARY_ERROR_SETTINGS,
      "Give the property a value that it can have, or change what it "
      "contradicts." },
  [GST_PP_FAULT_NEGOTIATION] = { gst_core_error_quark,
      GST_CORE_ERROR_NEGOTIATION,
      "Make the caps and the element's properties agree, or leave the properties "
      "at their defaults, which agree with any caps." },
  [GST_PP_FAULT_VIDEO] = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
      "Convert the frames to what gst-inspect-1.0 cudapreproc shows for its sink "
      "pad, with videoconvert, videoscale or deinterlace before it." },
  [GST_PP_FAULT_INPUT] = { gst_stream_error_quark, GST_STREAM_ERROR_FORMAT,
      "Look for settings of the element before cudapreproc that make its buffers "
      "match its caps. If there are none, use another element in its place." },
  [GST_PP_FAULT_OUTPUT] = { gst_stream_error_quark, GST_STREAM_ERROR_FAILED,
      "Make the element after cudapreproc ask for buffers of a possible size, and "
      "neither change nor deactivate the pool of tensors. If you cannot, use "
      "another element in its place." },
  [GST_PP_FAULT_NO_DEVICE] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NOT_FOUND,
      "Install what is missing (the NVIDIA driver, or the CUDA toolkit before "
      "building), choose another cuda-device-id, or use backend=cpu." },
  [GST_PP_FAULT_NO_MEMORY] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_NO_SPACE_LEFT,
      "Use smaller frames, fewer streams or fewer elements." },
  [GST_PP_FAULT_DEVICE] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED,
      "Set the pipeline to READY and start it again, which opens the device "
      "anew." },
  [GST_PP_FAULT_CONTEXT] = { gst_core_error_quark, GST_CORE_ERROR_NEGOTIATION,
      "Give all CUDA elements the same cuda-device-id, and one CUDA context, or put "
      "cudadownload before cudapreproc." },
  [GST_PP_FAULT_FORK] = { gst_resource_error_quark, GST_RESOURCE_ERROR_FAILED,
      "Start pipelines after the fork, in the process that runs them, or call "
      "exec in the child." },
  [GST_PP_FAULT_FILE] = { gst_resource_error_quark,
      GST_RESOURCE_ERROR_OPEN_WRITE,
      "Name a file that you may write, in a folder that exists and that you may "
      "write to." },
};
G_STATIC_ASSERT (G_N_ELEMENTS (faults) == GST_PP_N_FAULTS);

void
gst_pp_error_post (
    GstElement *element, GstPpFault fault, const gchar *format, ...)
{
  va_list arguments;

  va_start (arguments, format);
  g_autofree gchar *text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  gst_element_message_full (element, GST_MESSAGE_ERROR, faults[fault].domain (),
      faults[fault].code, g_utf8_make_valid (text, -1),
      g_strdup (faults[fault].remedy), __FILE__, GST_FUNCTION, __LINE__);
}

void
gst_pp_error_gate_init (GstPpErrorGate *gate)
{
  gst_pp_fork_lock_init (&gate->lock);
  gate->posted = FALSE;
}

void
gst_pp_error_gate_clear (GstPpErrorGate *gate)
{
  gst_pp_fork_lock_clear (&gate->lock);
}

/* With the gate's mutex locked; unlocks it. */
static void
post_first (GstPpErrorGate *gate, GRecMutex *mutex, GstElement *element,
    GstPpFault fault, const gchar *text)
{
  const gboolean first = !gate->posted;

  gate->posted = TRUE;
  if (first)
    gst_pp_error_post (element, fault, "%s", text);
  g_rec_mutex_unlock (mutex);
}

void
gst_pp_error_gate_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&gate->lock);

  post_first (gate, mutex, element, fault, text);
}

void
gst_pp_error_gate_try_post (GstPpErrorGate *gate, GstElement *element,
    GstPpFault fault, const gchar *text)
{
  GRecMutex *mutex = gst_pp_fork_lock_try (&gate->lock);

  if (mutex != NULL)
    post_first (gate, mutex, element, fault, text);
}

gboolean
gst_pp_error_gate_has_posted (GstPpErrorGate *gate)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&gate->lock);
  const gboolean posted = gate->posted;
  g_rec_mutex_unlock (mutex);
  return posted;
}

void
gst_pp_error_gate_open (GstPpErrorGate *gate)
{
  GRecMutex *mutex = gst_pp_fork_lock_take (&gate->lock);
  gate->posted = FALSE;
  g_rec_mutex_unlock (mutex);
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
  G_STATIC_ASSERT (G_N_ELEMENTS (fault) == PP_DEVICE_FAILED + 1);

  return fault[status];
}
