/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gst/device.h"

#include "gst/settings/enums.h"

/* What backend=auto tries, in this order. */
static const struct {
  pp_backend_id id;
  const gchar *place; /* in "Running on ..." */
} backends[] = {
  { PP_BACKEND_CUDA, "CUDA" },
  { PP_BACKEND_CPU, "the CPU" },
};
G_STATIC_ASSERT (G_N_ELEMENTS (backends) == PP_N_BACKENDS);

static pp_device *
open_backend (pp_backend_id id, const GstPpDeviceConstraints *constraints,
    pp_error *error)
{
  pp_device_options options = constraints->options;

  /* CUDA was tried first, and has given the context back. */
  if (id == PP_BACKEND_CPU) {
    options.context = NULL;
    options.context_done = NULL;
  }
  return pp_device_open (id, constraints->index, &options, error);
}

pp_device *
gst_pp_device_open (GstElement *element,
    const GstPpDeviceConstraints *constraints, pp_error *error)
{
  if (constraints->backend != GST_PP_AUTO)
    return open_backend (
        (pp_backend_id) constraints->backend, constraints, error);

  pp_device *device = open_backend (backends[0].id, constraints, error);
  for (guint i = 1; i < G_N_ELEMENTS (backends) && device == NULL; i++) {
    /* A device asked for by number is that of the first backend. It must not
     * silently be another, nor must one that exists but fails be passed over. */
    if (constraints->index >= 0 || error->status != PP_NO_DEVICE)
      return NULL;
    /* gst-launch-1.0 shows the second text only. */
    GST_ELEMENT_INFO (element, RESOURCE, NOT_FOUND,
        ("Running on %s: %s", backends[i].place, error->text),
        ("Running on %s: %s", backends[i].place, error->text));
    device = open_backend (backends[i].id, constraints, error);
  }
  return device;
}
