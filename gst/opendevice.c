/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "opendevice.h"

#include "buffers/cuda_memory.h"

void
gst_pp_open_device_init (GstPpOpenDevice *self, GstElement *element)
{
  self->element = element;
}

/* Takes context, which may be NULL. */
static void
replace_context (GstPpOpenDevice *self, GstObject *context)
{
  GST_OBJECT_LOCK (self->element);
  GstObject *before = self->context;
  self->context = context;
  GST_OBJECT_UNLOCK (self->element);
  gst_clear_object (&before);
}

GstObject *
gst_pp_open_device_get_context (GstPpOpenDevice *self)
{
  GST_OBJECT_LOCK (self->element);
  GstObject *context =
      self->context != NULL ? gst_object_ref (self->context) : NULL;
  GST_OBJECT_UNLOCK (self->element);
  return context;
}

static void
take_device (GstPpOpenDevice *self, pp_device *device)
{
  pp_device_close (&self->device);
  self->device = device;
  g_atomic_int_set (&self->is_cpu,
      device != NULL && pp_device_backend (device) == PP_BACKEND_CPU);
  GST_OBJECT_LOCK (self->element);
  g_free (self->name);
  self->name = device != NULL ? g_strdup (pp_device_name (device)) : NULL;
  GST_OBJECT_UNLOCK (self->element);
}

static void
release_context (void *context)
{
  gst_object_unref (context);
}

/* Options with context, which may be NULL; the device keeps a reference to it. */
static void
set_context (pp_device_options *options, GstObject *context)
{
  if (context == NULL)
    return;
  options->context = gst_pp_cuda_context_handle (context);
  options->context_done = release_context;
  options->context_user = gst_object_ref (context);
}

static void
release_arena (gpointer user)
{
  pp_arena *arena = user;

  pp_arena_unref (&arena);
}

/* The device's context is the GPU's primary one, which its pinned memory keeps. */
static GstObject *
offer_context (GstPpOpenDevice *self)
{
  return gst_pp_cuda_context_offer (self->element,
      pp_device_context (self->device), self->gpu,
      pp_arena_ref (pp_device_arena (self->device)), release_arena);
}

gboolean
gst_pp_open_device_open (GstPpOpenDevice *self,
    const GstPpDeviceConstraints *constraints, pp_error *error)
{
  GstPpDeviceConstraints inside = *constraints;

  self->constraints = *constraints;
  if (constraints->backend != PP_BACKEND_CPU)
    gst_pp_cuda_context_look_for (self->element, &self->context);
  GstObject *context = gst_pp_open_device_get_context (self);
  if (constraints->backend != PP_BACKEND_CPU)
    set_context (&inside.options, context);
  self->gpu = context != NULL ? gst_pp_cuda_context_device (context)
                              : MAX (constraints->index, 0);
  gst_clear_object (&context);

  pp_device *device = gst_pp_device_open (self->element, &inside, error);
  if (device == NULL) {
    replace_context (self, NULL);
    return FALSE;
  }
  take_device (self, device);
  if (pp_device_backend (device) == PP_BACKEND_CPU)
    replace_context (self, NULL);
  else if (inside.options.context == NULL)
    replace_context (self, offer_context (self));
  return TRUE;
}

void
gst_pp_open_device_close (GstPpOpenDevice *self)
{
  take_device (self, NULL);
  replace_context (self, NULL);
}

gboolean
gst_pp_open_device_move (
    GstPpOpenDevice *self, GstObject *context, pp_error *error)
{
  GstPpDeviceConstraints inside = self->constraints;

  inside.backend = PP_BACKEND_CUDA;
  set_context (&inside.options, context);
  pp_device *device = gst_pp_device_open (self->element, &inside, error);
  if (device == NULL)
    return FALSE;
  take_device (self, device);
  replace_context (self, gst_object_ref (context));
  return TRUE;
}

gboolean
gst_pp_open_device_is_good (
    GstPpOpenDevice *self, const GstPpDeviceConstraints *constraints)
{
  const pp_device_options *wanted = &constraints->options;
  const pp_device_options *opened = &self->constraints.options;

  return self->device != NULL &&
      self->constraints.backend == constraints->backend &&
      self->constraints.index == constraints->index &&
      opened->streams == wanted->streams &&
      opened->staging_threads == wanted->staging_threads &&
      pp_device_error (self->device, NULL) == PP_OK;
}

gboolean
gst_pp_open_device_may_be_cuda (GstPpOpenDevice *self)
{
  return !g_atomic_int_get (&self->is_cpu);
}

void
gst_pp_open_device_set_context (
    GstPpOpenDevice *self, GstContext *given, gint index)
{
  GstObject *context = gst_pp_cuda_context_take (self->element, given, index);

  GST_OBJECT_LOCK (self->element);
  if (self->context == NULL)
    self->context = g_steal_pointer (&context);
  GST_OBJECT_UNLOCK (self->element);
  gst_clear_object (&context);
}

gboolean
gst_pp_open_device_answer_context (GstPpOpenDevice *self, GstQuery *query)
{
  GstObject *context = gst_pp_open_device_get_context (self);
  const gboolean answered =
      gst_pp_cuda_context_answer (self->element, query, context);

  gst_clear_object (&context);
  return answered;
}
