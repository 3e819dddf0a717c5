/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "capswatch.h"

/* Names the range that is allowed; a list of formats would be too long. */
static gchar *
say_field (const gchar *name, const GValue *value, const GValue *possible)
{
  g_autofree gchar *text = gst_value_serialize (value);

  if (GST_VALUE_HOLDS_INT_RANGE (possible))
    return g_strdup_printf ("%s=%s, must be %d to %d", name, text,
        gst_value_get_int_range_min (possible),
        gst_value_get_int_range_max (possible));
  return g_strdup_printf ("%s=%s, which is not possible", name, text);
}

gchar *
gst_pp_caps_watch_reason (const GstCaps *caps, const GstCaps *template)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const GstStructure *possible = gst_caps_get_structure (template, 0);
  const gchar *name = gst_structure_get_name (structure);

  if (gst_caps_can_intersect (caps, template))
    return NULL;
  if (!gst_structure_has_name (possible, name))
    return g_strdup_printf (
        "%s, must be %s", name, gst_structure_get_name (possible));
  for (gint i = 0; i < gst_structure_n_fields (possible); i++) {
    const gchar *field = gst_structure_nth_field_name (possible, (guint) i);
    const GValue *value = gst_structure_get_value (structure, field);
    const GValue *range = gst_structure_get_value (possible, field);

    if (value != NULL && !gst_value_intersect (NULL, value, range))
      return say_field (field, value, range);
  }

  g_autofree gchar *features =
      gst_caps_features_to_string (gst_caps_get_features (caps, 0));
  return g_strdup_printf ("%s(%s), which is not possible", name, features);
}

typedef struct {
  GstElement *element;
  GstPpErrorGate *errors;
} Watch;

/* GStreamer does not call probes for events while the pad is flushing. */
static GstPadProbeReturn
on_event (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  const Watch *watch = user;
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) != GST_EVENT_CAPS)
    return GST_PAD_PROBE_OK;
  gst_event_parse_caps (event, &caps);

  g_autoptr (GstCaps) template = gst_pad_get_pad_template_caps (pad);
  g_autofree gchar *reason = gst_pp_caps_watch_reason (caps, template);
  if (reason != NULL) {
    g_autofree gchar *text = g_strdup_printf ("Upstream sends %s", reason);
    gst_pp_error_gate_post (
        watch->errors, watch->element, GST_PP_FAULT_VIDEO, text);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_pp_caps_watch_add (GstPad *pad, GstElement *element, GstPpErrorGate *errors)
{
  const Watch watch = { element, errors };

  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event,
      g_memdup2 (&watch, sizeof watch), g_free);
}
