/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "livesettings.h"

#include "gst/caps/inputformat.h"
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

/* No string is made where nobody reads it. */
static void
log_value (GstElement *element, const gchar *name, const GValue *value)
{
  if (gst_debug_category_get_threshold (GST_CAT_DEFAULT) < GST_LEVEL_DEBUG)
    return;
  g_autofree gchar *text = gst_value_serialize (value);
  GST_DEBUG_OBJECT (element, "%s is set to %s", name, text);
}

void
gst_pp_live_settings_set_property (
    GstPpLiveSettings *self, guint id, const GValue *value, GParamSpec *pspec)
{
  GST_OBJECT_LOCK (self->element);
  const gboolean late =
      self->stream.running && (pspec->flags & GST_PARAM_MUTABLE_PLAYING) == 0;
  if (!late)
    gst_pp_settings_set (&self->pending, id, value);
  GST_OBJECT_UNLOCK (self->element);
  if (late)
    GST_WARNING_OBJECT (
        self->element, "%s can be set only up to READY", pspec->name);
  else
    log_value (self->element, pspec->name, value);
}

void
gst_pp_live_settings_get_property (
    GstPpLiveSettings *self, guint id, GValue *value)
{
  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_get (&self->pending, id, value);
  GST_OBJECT_UNLOCK (self->element);
}

/* Whether frames of stream can be converted with settings, which are resolved. FALSE
 * and *reason if not. */
static gboolean
can_convert (
    const GstPpSettings *settings, const GstPpStream *stream, gchar **reason)
{
  pp_rect picture = { 0, 0, GST_VIDEO_INFO_WIDTH (&stream->info),
    GST_VIDEO_INFO_HEIGHT (&stream->info) };
  g_autofree gchar *no_format = NULL;
  pp_format format;
  pp_status status;

  if (!gst_pp_settings_check (settings, reason))
    return FALSE;
  /* More can be judged only with frames in a format that can be converted at
   * all. */
  if (!stream->negotiated ||
      !gst_pp_format_from_video_info (&stream->info, &format, &no_format))
    return TRUE;
  if (!gst_pp_settings_crop (settings, &picture)) {
    *reason = gst_pp_settings_say_crop (settings, &picture);
    return FALSE;
  }
  pp_plan *plan = gst_pp_settings_make_plan (
      settings, &stream->tensor, &format, &picture, &status, reason);
  if (plan == NULL && status == PP_BAD_ARGUMENT)
    return FALSE;
  g_clear_pointer (
      reason, g_free); /* of PP_NO_MEMORY, which is no settings' fault */
  pp_plan_unref (&plan);
  return TRUE;
}

/* The settings that take effect if those of one g_object_set are accepted. */
typedef struct {
  GstPpSettings settings;
  GstPpStream stream; /* to judge them by */
  guint serial;       /* of settings and stream when this was read */
  gboolean changed;
} Change;

/* Under the object lock. */
static void
read_change (GstPpLiveSettings *self, Change *change, guint n_pspecs,
    GParamSpec **pspecs)
{
  change->stream = self->stream;
  change->serial = self->serial;
  change->changed = FALSE;
  gst_pp_settings_copy (&change->settings, &self->settings);
  for (guint i = 0; i < n_pspecs; i++)
    change->changed |= gst_pp_settings_copy_one (
        &change->settings, &self->pending, pspecs[i]->name);
}

/* Under the object lock. Where another thread has set the property to something
 * else since, that value stays. */
static void
undo_change (GstPpLiveSettings *self, const Change *change, guint n_pspecs,
    GParamSpec **pspecs)
{
  for (guint i = 0; i < n_pspecs; i++)
    if (gst_pp_settings_equal_one (
            &self->pending, &change->settings, pspecs[i]->name))
      gst_pp_settings_copy_one (
          &self->pending, &self->settings, pspecs[i]->name);
}

/* Called without the lock: making a plan takes as long as converting some frames. */
static gboolean
judge_change (const Change *change, gchar **reason)
{
  GstPpSettings resolved;

  if (!change->changed || !change->stream.running)
    return TRUE;
  gst_pp_settings_init (&resolved);
  gst_pp_settings_resolve (&resolved, &change->settings);
  resolved.tagged_direction = change->stream.tagged;
  const gboolean good = can_convert (&resolved, &change->stream, reason);
  gst_pp_settings_clear (&resolved);
  return good;
}

void
gst_pp_live_settings_dispatch (
    GstPpLiveSettings *self, guint n_pspecs, GParamSpec **pspecs)
{
  g_autofree gchar *reason = NULL;
  gboolean done = FALSE;
  Change change;

  gst_pp_settings_init (&change.settings);
  /* Judges again if settings or stream changed meanwhile. */
  while (!done) {
    GST_OBJECT_LOCK (self->element);
    read_change (self, &change, n_pspecs, pspecs);
    GST_OBJECT_UNLOCK (self->element);
    g_clear_pointer (&reason, g_free);
    const gboolean good = judge_change (&change, &reason);

    GST_OBJECT_LOCK (self->element);
    done = self->serial == change.serial;
    if (done && !good) {
      undo_change (self, &change, n_pspecs, pspecs);
    } else if (done && change.changed) {
      gst_pp_settings_copy (&self->settings, &change.settings);
      self->serial++;
    }
    GST_OBJECT_UNLOCK (self->element);
  }
  gst_pp_settings_clear (&change.settings);
  if (reason != NULL)
    GST_ELEMENT_WARNING (self->element, LIBRARY, SETTINGS,
        ("%s; what was set is undone", reason),
        ("All properties of that g_object_set keep the values they had."));
}

gboolean
gst_pp_live_settings_start (
    GstPpLiveSettings *self, gboolean run, pp_status *status, gchar **reason)
{
  GstPpSettings resolved;
  gboolean good = FALSE, done = FALSE;

  gst_pp_settings_init (&resolved);
  /* Judges again if settings changed meanwhile. */
  while (!done) {
    GST_OBJECT_LOCK (self->element);
    gst_pp_settings_copy (&self->settings, &self->pending);
    gst_pp_settings_resolve (&resolved, &self->settings);
    const guint serial = ++self->serial;
    GST_OBJECT_UNLOCK (self->element);
    g_clear_pointer (reason, g_free);
    good = gst_pp_settings_check_without_caps (&resolved, status, reason);

    GST_OBJECT_LOCK (self->element);
    done = self->serial == serial;
    if (done) {
      self->stream.running = run && good;
      self->stream.negotiated = FALSE;
    }
    GST_OBJECT_UNLOCK (self->element);
  }
  gst_pp_settings_clear (&resolved);
  return good;
}

void
gst_pp_live_settings_stop (GstPpLiveSettings *self)
{
  GST_OBJECT_LOCK (self->element);
  self->stream.running = self->stream.negotiated = FALSE;
  self->serial++;
  GST_OBJECT_UNLOCK (self->element);
}

gboolean
gst_pp_live_settings_tag (GstPpLiveSettings *self, pp_direction direction)
{
  GST_OBJECT_LOCK (self->element);
  self->stream.tagged = direction;
  const gboolean automatic =
      self->settings.video_direction == GST_PP_DIRECTION_AUTO;
  GST_OBJECT_UNLOCK (self->element);
  return automatic;
}

gboolean
gst_pp_live_settings_swap_axes (GstPpLiveSettings *self)
{
  GST_OBJECT_LOCK (self->element);
  const pp_direction direction =
      self->settings.video_direction == GST_PP_DIRECTION_AUTO
      ? self->stream.tagged
      : gst_pp_direction_from_method (self->settings.video_direction);
  GST_OBJECT_UNLOCK (self->element);
  return pp_direction_swaps_axes (direction);
}

void
gst_pp_live_settings_resolve (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial)
{
  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_resolve (to, &self->settings);
  *serial = self->serial;
  GST_OBJECT_UNLOCK (self->element);
}

gboolean
gst_pp_live_settings_negotiate (GstPpLiveSettings *self,
    const GstVideoInfo *info, const GstPpTensor *tensor, GstPpSettings *to,
    guint *serial, gchar **reason)
{
  pp_rect picture = { 0, 0, GST_VIDEO_INFO_WIDTH (info),
    GST_VIDEO_INFO_HEIGHT (info) };

  GST_OBJECT_LOCK (self->element);
  gst_pp_settings_resolve (to, &self->settings);
  const gboolean good =
      self->stream.negotiated || gst_pp_settings_crop (to, &picture);
  self->stream.negotiated = good;
  self->stream.info = *info;
  self->stream.tensor = *tensor;
  *serial = ++self->serial;
  GST_OBJECT_UNLOCK (self->element);

  if (!good)
    *reason = gst_pp_settings_say_crop (to, &picture);
  return good;
}

GstPpDifference
gst_pp_live_settings_refresh (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial)
{
  GstPpDifference difference = GST_PP_SAME;

  GST_OBJECT_LOCK (self->element);
  if (self->serial != *serial) {
    difference = gst_pp_settings_refresh (to, &self->settings);
    *serial = self->serial;
  }
  GST_OBJECT_UNLOCK (self->element);
  return difference;
}

GstPpTensorConstraints
gst_pp_live_settings_tensor_constraints (GstPpLiveSettings *self)
{
  GstPpSettings settings;
  guint serial;

  gst_pp_settings_init (&settings);
  gst_pp_live_settings_resolve (self, &settings, &serial);
  GST_OBJECT_LOCK (self->element);
  settings.tagged_direction = self->stream.tagged;
  GST_OBJECT_UNLOCK (self->element);
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
