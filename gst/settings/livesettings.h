/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settings of an element that may be playing: what was set last, and what
 * takes effect, which is never half of a g_object_set and never a value that would
 * end the stream.
 */
#ifndef GST_PP_LIVE_SETTINGS_H
#define GST_PP_LIVE_SETTINGS_H

#include <gst/gst.h>
#include <gst/video/video.h>

#include "gst/device.h"
#include "settings.h"

G_BEGIN_DECLS

/* What a running element converts, for judging settings. */
typedef struct {
  pp_direction tagged; /* what video-direction=auto stands for */
  gboolean running;    /* above READY */
  gboolean negotiated; /* the two below are known */
  GstVideoInfo info;
  GstPpTensor tensor;
} GstPpStream;

/* The element's object lock guards all but the element. Functions take it, and
 * may be called on any thread. */
typedef struct {
  GstElement *element;   /* whose settings these are; not a reference */
  GstPpSettings pending; /* what was set last; what properties read back */
  /* what takes effect: set by calls of g_object_set that have ended */
  GstPpSettings settings;
  GstPpStream stream;
  guint serial; /* counts changes of settings and stream */
} GstPpLiveSettings;

void gst_pp_live_settings_init (GstPpLiveSettings *self, GstElement *element);
void gst_pp_live_settings_clear (GstPpLiveSettings *self);

/* GObject's methods of these names, for the ids of gst_pp_settings_install. While
 * the element runs, properties that may be set only up to READY keep their
 * values, with a warning in the log. */
void gst_pp_live_settings_set_property (
    GstPpLiveSettings *self, guint id, const GValue *value, GParamSpec *pspec);
void gst_pp_live_settings_get_property (
    GstPpLiveSettings *self, guint id, GValue *value);
/* To be called once after all properties of one g_object_set, before chaining up.
 * What was set takes effect. If the element runs and could not convert frames
 * with it, all of it is undone instead, and a warning is posted, with no lock
 * held. What other threads are setting meanwhile is left alone. */
void gst_pp_live_settings_dispatch (
    GstPpLiveSettings *self, guint n_pspecs, GParamSpec **pspecs);

/* The element goes from NULL to READY, or (run) from READY to PAUSED. What
 * properties read back takes effect, even if g_object_freeze_notify still holds
 * back the end of a g_object_set. FALSE with *status and *reason (NULL before;
 * free it) as from gst_pp_settings_check_without_caps: the element does not run. */
gboolean gst_pp_live_settings_start (
    GstPpLiveSettings *self, gboolean run, pp_status *status, gchar **reason);
/* It went back to READY, or did not reach PAUSED. */
void gst_pp_live_settings_stop (GstPpLiveSettings *self);

/* What tags say of the stream's orientation, for judging settings and caps.
 * Whether video-direction=auto takes effect. */
gboolean gst_pp_live_settings_tag (
    GstPpLiveSettings *self, pp_direction direction);
/* Whether the next frame's axes are swapped. */
gboolean gst_pp_live_settings_swap_axes (GstPpLiveSettings *self);

/* All of what takes effect, resolved. *serial says of which change that is. */
void gst_pp_live_settings_resolve (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial);
/* The same when caps are set. From now on new settings are judged by what is
 * converted. FALSE and *reason (free it) where the first frames since the start
 * have no pixel in crop. */
gboolean gst_pp_live_settings_negotiate (GstPpLiveSettings *self,
    const GstVideoInfo *info, const GstPpTensor *tensor, GstPpSettings *to,
    guint *serial, gchar **reason);
/* What may change while PLAYING, if there were changes since; what has changed in
 * *to, see gst_pp_settings_refresh. */
GstPpDifference gst_pp_live_settings_refresh (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial);
/* What the user and the preset ask for. */
GstPpTensorConstraints gst_pp_live_settings_tensor_constraints (
    GstPpLiveSettings *self);
GstPpDeviceConstraints gst_pp_live_settings_device_constraints (
    GstPpLiveSettings *self);
/* A copy of timeline-location; free it. NULL: none is wanted. */
gchar *gst_pp_live_settings_timeline (GstPpLiveSettings *self);

G_END_DECLS

#endif
