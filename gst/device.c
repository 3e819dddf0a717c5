/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gst/device.h"

pp_device *
gst_pp_device_open (GstElement *element,
    const GstPpDeviceConstraints *constraints, pp_error *error)
{
  if (constraints->backend == PP_BACKEND_CPU)
    return pp_device_open (PP_BACKEND_CPU, -1, &constraints->options, error);

  pp_device *device = pp_device_open (
      PP_BACKEND_CUDA, constraints->index, &constraints->options, error);
  if (device != NULL || constraints->backend == PP_BACKEND_CUDA)
    return device;
  /* A device asked for by number must not silently be another, nor one that is
   * there but cannot be used be passed over. */
  if (constraints->index >= 0 || error->status != PP_NO_DEVICE)
    return NULL;

  /* gst-launch-1.0 shows the second text only. */
  GST_ELEMENT_INFO (element, RESOURCE, NOT_FOUND,
      ("Running on the CPU: %s", error->text),
      ("Running on the CPU: %s", error->text));
  return pp_device_open (PP_BACKEND_CPU, -1, &constraints->options, error);
}
