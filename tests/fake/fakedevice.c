/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For programs that the element is linked into, instead of gst/device.c: it gets
 * the fake device, whatever its number, unless it asks for the CPU.
 */
#include "backend_fake.h"
#include "gst/device.h"
#include "kernels/engine/engine.h"

pp_device *
gst_pp_device_open (GstElement *element,
    const GstPpDeviceConstraints *constraints, pp_error *error)
{
  (void) element;
  return pp_device_open_backend (
      constraints->backend == PP_BACKEND_CPU ? &pp_backend_cpu : &fake_backend,
      -1, &constraints->options, error);
}
