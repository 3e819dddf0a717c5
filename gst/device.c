/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "device.h"

#include "settings.h"

/* Overlap needs three streams, for upload, kernel and download; a fourth hides
 * the host's part. */
#define AUTOMATIC_STREAMS 4

static pp_device *
open_on (pp_backend_id backend, gint index, gint streams, pp_error *error)
{
  const gint automatic = backend == PP_BACKEND_CUDA
      ? AUTOMATIC_STREAMS
      : MIN (AUTOMATIC_STREAMS, (gint) g_get_num_processors ());

  return pp_device_open (
      backend, index, streams > 0 ? streams : automatic, error);
}

pp_device *
gst_pp_device_open (GstElement *element, gint backend, gint index, gint streams,
    pp_error *error)
{
  if (backend != GST_PP_AUTO)
    return open_on ((pp_backend_id) backend,
        backend == PP_BACKEND_CUDA ? index : -1, streams, error);

  pp_device *device = open_on (PP_BACKEND_CUDA, index, streams, error);
  /* A device asked for by number must not silently be another, nor one that is
   * there but cannot be used be passed over. */
  if (device != NULL || index >= 0 || error->status != PP_NO_DEVICE)
    return device;

  /* gst-launch-1.0 shows the second text only. */
  GST_ELEMENT_INFO (element, RESOURCE, NOT_FOUND,
      ("Running on the CPU: %s", error->text),
      ("Running on the CPU: %s", error->text));
  return open_on (PP_BACKEND_CPU, -1, streams, error);
}
