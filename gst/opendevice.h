/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The device that an element has open, and the CUDA context that it shares with
 * other elements: one that it was given or found, else the GPU's primary one, which
 * it offers to them.
 */
#ifndef GST_PP_OPEN_DEVICE_H
#define GST_PP_OPEN_DEVICE_H

#include "device.h"

G_BEGIN_DECLS

typedef struct {
  GstElement *element;                /* not a reference */
  pp_device *device;                  /* owned; NULL: none is open */
  GstPpDeviceConstraints constraints; /* what it was opened with */
  gint gpu;                           /* its number */
  gint is_cpu;                        /* atomic; it runs on the CPU */
  /* Under the element's object lock. */
  gchar *name;        /* of device; owned */
  GstObject *context; /* a GstCudaContext; owned; NULL: there is none */
} GstPpOpenDevice;

void gst_pp_open_device_init (GstPpOpenDevice *self, GstElement *element);
/* Looks for a context, opens a device in it, or offers that of the device. FALSE
 * and *error. */
gboolean gst_pp_open_device_open (GstPpOpenDevice *self,
    const GstPpDeviceConstraints *constraints, pp_error *error);
/* Also forgets the context. */
void gst_pp_open_device_close (GstPpOpenDevice *self);
/* Opens the device anew in context, which is on its GPU. No buffer of the old one
 * may be under way. FALSE and *error, and the old one stays. */
gboolean gst_pp_open_device_move (
    GstPpOpenDevice *self, GstObject *context, pp_error *error);

/* Whether the device is what constraints ask for, and works. */
gboolean gst_pp_open_device_is_good (
    GstPpOpenDevice *self, const GstPpDeviceConstraints *constraints);

/* Any thread. */

/* Whether frames or tensors may be on a GPU: not once the CPU is opened. */
gboolean gst_pp_open_device_may_be_cuda (GstPpOpenDevice *self);
/* GstElement's set_context, which chains up afterwards: the first context that is
 * given counts, if it is on the GPU of that number; -1: on any. */
void gst_pp_open_device_set_context (
    GstPpOpenDevice *self, GstContext *given, gint index);
/* A reference to the context, or NULL. */
GstObject *gst_pp_open_device_get_context (GstPpOpenDevice *self);
/* Answers a CONTEXT query with it. FALSE where it asks for something else. */
gboolean gst_pp_open_device_answer_context (
    GstPpOpenDevice *self, GstQuery *query);

G_END_DECLS

#endif
