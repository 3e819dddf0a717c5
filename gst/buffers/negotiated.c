/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "negotiated.h"

#include <string.h>

#include "gst/caps/inputformat.h"
#include "gst/settings/presets.h"

void
gst_pp_negotiated_init (GstPpNegotiated *negotiated)
{
  memset (negotiated, 0, sizeof *negotiated);
  gst_pp_settings_init (&negotiated->settings);
  gst_video_info_init (&negotiated->info);
}

void
gst_pp_negotiated_forget_plans (GstPpNegotiated *negotiated)
{
  for (guint i = 0; i < GST_PP_MAX_PLANS; i++)
    pp_plan_unref (&negotiated->entry[i].plan);
}

void
gst_pp_negotiated_clear (GstPpNegotiated *negotiated)
{
  gst_pp_negotiated_forget_plans (negotiated);
  gst_pp_settings_clear (&negotiated->settings);
}

/* Whether an error's text names a property that the preset has set. */
typedef struct {
  const GstPpSettings *settings;
  const gchar *text;
  gboolean found;
} Search;

static void
seek_property (gpointer data, const gchar *name, const gchar *value)
{
  Search *search = data;

  if (gst_pp_settings_is_set (search->settings, name))
    return;
  for (const gchar *at = strstr (search->text, name); at != NULL;
       at = strstr (at + 1, name)) {
    const gchar end = at[strlen (name)];
    const gboolean begins = at == search->text || strchr (" (", at[-1]) != NULL;
    if (begins && !g_ascii_isalnum (end) && end != '-')
      search->found = TRUE;
  }
}

static void
name_preset (
    const GstPpNegotiated *negotiated, GstPpFault fault, gchar **reason)
{
  gchar *text = *reason;
  Search search = { &negotiated->settings, text, FALSE };

  if (fault == GST_PP_FAULT_SETTINGS)
    gst_pp_preset_foreach (negotiated->settings.preset, seek_property, &search);
  if (!search.found)
    return;
  *reason = gst_pp_preset_blame (negotiated->settings.preset, text);
  g_free (text);
}

static pp_plan *
make_plan (GstPpNegotiated *negotiated, gint width, gint height,
    const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_spec spec;
  pp_format format;
  pp_error error;

  *fault = GST_PP_FAULT_VIDEO;
  if (!gst_pp_format_from_video_info (&negotiated->info, &format, reason))
    return NULL;
  *fault = GST_PP_FAULT_SETTINGS;
  if (!gst_pp_settings_to_spec (
          &negotiated->settings, &negotiated->tensor, &spec, reason)) {
    name_preset (negotiated, *fault, reason);
    return NULL;
  }

  format.width = width;
  format.height = height;
  pp_plan *plan = pp_plan_new (&spec, &format, picture, &error);
  if (plan == NULL) {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
    name_preset (negotiated, *fault, reason);
  }
  return plan;
}

pp_plan *
gst_pp_negotiated_find_plan (GstPpNegotiated *negotiated, gint width,
    gint height, const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_rect cut = *picture;

  *fault = GST_PP_FAULT_SETTINGS;
  if (!gst_pp_settings_crop (&negotiated->settings, &cut, reason))
    return NULL;
  for (guint i = 0; i < GST_PP_MAX_PLANS; i++)
    if (negotiated->entry[i].plan != NULL &&
        negotiated->entry[i].width == width &&
        negotiated->entry[i].height == height &&
        memcmp (&negotiated->entry[i].picture, &cut, sizeof cut) == 0)
      return negotiated->entry[i].plan;

  pp_plan *plan = make_plan (negotiated, width, height, &cut, fault, reason);
  if (plan == NULL)
    return NULL;
  const guint slot = negotiated->next++ % GST_PP_MAX_PLANS;
  pp_plan_unref (&negotiated->entry[slot].plan);
  negotiated->entry[slot].plan = plan;
  negotiated->entry[slot].width = width;
  negotiated->entry[slot].height = height;
  negotiated->entry[slot].picture = cut;
  return plan;
}

gboolean
gst_pp_negotiated_reserve (GstPpNegotiated *negotiated, pp_device *device,
    GstPpFault *fault, gchar **reason)
{
  const pp_rect frame = { 0, 0, GST_VIDEO_INFO_WIDTH (&negotiated->info),
    GST_VIDEO_INFO_HEIGHT (&negotiated->info) };
  pp_error error;
  pp_plan *now = NULL;
  pp_plan *whole =
      make_plan (negotiated, frame.width, frame.height, NULL, fault, reason);

  if (whole != NULL)
    now = gst_pp_negotiated_find_plan (
        negotiated, frame.width, frame.height, &frame, fault, reason);
  const gboolean reserved = now != NULL &&
      pp_device_reserve (device, now, &error) == PP_OK &&
      pp_device_reserve (device, whole, &error) == PP_OK;
  if (now != NULL && !reserved) {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
  }
  pp_plan_unref (&whole);
  return reserved;
}
