/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "livesettings.h"

#include "gst/debug.h"

void
gst_pp_live_settings_init (GstPpLiveSettings *self, GstElement *element)
{
  self->element = element;
  gst_pp_settings_init (&self->pending);
  gst_pp_settings_init (&self->settings);
}

void
gst_pp_live_settings_clear (GstPpLiveSettings *self)
{
  gst_pp_settings_clear (&self->pending);
  gst_pp_settings_clear (&self->settings);
}

void
gst_pp_live_settings_set_property (
    GstPpLiveSettings *self, guint id, const GValue *value, GParamSpec *pspec)
{
  if ((pspec->flags & GST_PARAM_MUTABLE_PLAYING) == 0 &&
      GST_STATE (self->element) > GST_STATE_READY) {
    GST_WARNING_OBJECT (
        self->element, "%s can be set only up to READY", pspec->name);
    return;
  }
  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_set (&self->pending, id, value);
  GST_OBJECT_UNLOCK (self->element);
}

void
gst_pp_live_settings_get_property (
    GstPpLiveSettings *self, guint id, GValue *value)
{
  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_get (&self->pending, id, value);
  GST_OBJECT_UNLOCK (self->element);
}

void
gst_pp_live_settings_dispatch (
    GstPpLiveSettings *self, guint n_pspecs, GParamSpec **pspecs)
{
  gboolean changed = FALSE;

  GST_OBJECT_LOCK (self->element);
  for (guint i = 0; i < n_pspecs; i++)
    changed |= gst_pp_settings_copy_one (
        &self->settings, &self->pending, pspecs[i]->name);
  self->serial += changed;
  GST_OBJECT_UNLOCK (self->element);
}

gboolean
gst_pp_live_settings_check (GstPpLiveSettings *self, gchar **reason)
{
  GST_OBJECT_LOCK (self->element);
  const gboolean good = gst_pp_settings_check (&self->settings, reason);
  GST_OBJECT_UNLOCK (self->element);
  return good;
}

void
gst_pp_live_settings_resolve (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial)
{
  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_resolve (to, &self->settings, FALSE);
  *serial = self->serial;
  GST_OBJECT_UNLOCK (self->element);
}

gboolean
gst_pp_live_settings_refresh (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial)
{
  GST_OBJECT_LOCK (self->element);
  const gboolean changed = self->serial != *serial;
  if (changed) {
    gst_pp_settings_resolve (to, &self->settings, TRUE);
    *serial = self->serial;
  }
  GST_OBJECT_UNLOCK (self->element);
  return changed;
}

GstPpTensorConstraints
gst_pp_live_settings_tensor_constraints (GstPpLiveSettings *self)
{
  GstPpSettings settings;
  guint serial;

  gst_pp_settings_init (&settings);
  gst_pp_live_settings_resolve (self, &settings, &serial);
  const GstPpTensorConstraints constraints =
      gst_pp_settings_tensor_constraints (&settings);
  gst_pp_settings_clear (&settings);
  return constraints;
}

GstPpDeviceConstraints
gst_pp_live_settings_device_constraints (GstPpLiveSettings *self)
{
  GST_OBJECT_LOCK (self->element);
  const GstPpDeviceConstraints constraints = { self->settings.backend,
    self->settings.cuda_device_id,
    gst_pp_settings_device_options (&self->settings) };
  GST_OBJECT_UNLOCK (self->element);
  return constraints;
}

gchar *
gst_pp_live_settings_timeline (GstPpLiveSettings *self)
{
  GST_OBJECT_LOCK (self->element);
  gchar *path = g_strdup (self->settings.timeline_location);
  GST_OBJECT_UNLOCK (self->element);
  return path;
}
