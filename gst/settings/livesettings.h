/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settings of an element that may be playing: what was set last, and what
 * holds, which is never half of a g_object_set.
 */
#ifndef GST_PP_LIVE_SETTINGS_H
#define GST_PP_LIVE_SETTINGS_H

#include <gst/gst.h>

#include "gst/device.h"
#include "settings.h"

G_BEGIN_DECLS

/* The element's object lock guards all but the element. Functions take it, and
 * may be called on any thread. */
typedef struct {
  GstElement *element;    /* whose settings these are; not a reference */
  GstPpSettings pending;  /* what was set last */
  GstPpSettings settings; /* what holds: of each g_object_set that is over */
  guint serial;           /* counts changes of settings */
} GstPpLiveSettings;

void gst_pp_live_settings_init (GstPpLiveSettings *self, GstElement *element);
void gst_pp_live_settings_clear (GstPpLiveSettings *self);

/* What GObject's methods of these names do for the ids of gst_pp_settings_install.
 * What may be set only up to READY is left alone above, with a warning in the
 * log. */
void gst_pp_live_settings_set_property (
    GstPpLiveSettings *self, guint id, const GValue *value, GParamSpec *pspec);
void gst_pp_live_settings_get_property (
    GstPpLiveSettings *self, guint id, GValue *value);
/* Comes once after all properties of one g_object_set. What other threads are
 * setting meanwhile is not among them. */
void gst_pp_live_settings_dispatch (
    GstPpLiveSettings *self, guint n_pspecs, GParamSpec **pspecs);

/* See gst_pp_settings_check. */
gboolean gst_pp_live_settings_check (GstPpLiveSettings *self, gchar **reason);
/* What holds, all of it, with the preset's: see gst_pp_settings_resolve. *serial
 * says of which change that is. */
void gst_pp_live_settings_resolve (
    GstPpLiveSettings *self, GstPpSettings *to, guint *serial);
/* The same of what may change while PLAYING, if there were changes since; whether
 * there were. */
gboolean gst_pp_live_settings_refresh (
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
