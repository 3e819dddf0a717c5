/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which device the element runs on.
 */
#ifndef GST_PP_DEVICE_H
#define GST_PP_DEVICE_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* What an element wants. */
typedef struct {
  gint backend; /* GST_PP_AUTO or pp_backend_id */
  gint index;   /* -1: the first */
  pp_device_options options;
} GstPpDeviceConstraints;

/* Automatic means CUDA where there is a device, else the CPU, which element then
 * says on the bus, with the reason. NULL with the error. */
pp_device *gst_pp_device_open (GstElement *element,
    const GstPpDeviceConstraints *constraints, pp_error *error);

G_END_DECLS

#endif
