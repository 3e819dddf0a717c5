/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "negotiated.h"

#include <string.h>

#include "gst/caps/inputformat.h"
#include "gst/settings/presets.h"

void
gst_pp_plan_cache_init (GstPpPlanCache *cache)
{
  memset (cache, 0, sizeof *cache);
  gst_pp_settings_init (&cache->settings);
  gst_video_info_init (&cache->info);
}

void
gst_pp_plan_cache_clear (GstPpPlanCache *cache)
{
  for (guint i = 0; i < GST_PP_PLAN_CACHE_SIZE; i++)
    pp_plan_unref (&cache->entry[i].plan);
}

void
gst_pp_plan_cache_finish (GstPpPlanCache *cache)
{
  gst_pp_plan_cache_clear (cache);
  gst_pp_settings_clear (&cache->settings);
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
name_preset (const GstPpPlanCache *cache, GstPpFault fault, gchar **reason)
{
  gchar *text = *reason;
  Search search = { &cache->settings, text, FALSE };

  if (fault == GST_PP_FAULT_SETTINGS)
    gst_pp_preset_foreach (cache->settings.preset, seek_property, &search);
  if (!search.found)
    return;
  *reason = gst_pp_preset_blame (cache->settings.preset, text);
  g_free (text);
}

static pp_plan *
make_plan (GstPpPlanCache *cache, gint width, gint height,
    const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_spec spec;
  pp_format format;
  pp_error error;

  *fault = GST_PP_FAULT_VIDEO;
  if (!gst_pp_format_from_video_info (&cache->info, &format, reason))
    return NULL;
  *fault = GST_PP_FAULT_SETTINGS;
  if (!gst_pp_settings_to_spec (
          &cache->settings, &cache->tensor, &spec, reason)) {
    name_preset (cache, *fault, reason);
    return NULL;
  }

  format.width = width;
  format.height = height;
  pp_plan *plan = pp_plan_new (&spec, &format, picture, &error);
  if (plan == NULL) {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
    name_preset (cache, *fault, reason);
  }
  return plan;
}

pp_plan *
gst_pp_plan_cache_find (GstPpPlanCache *cache, gint width, gint height,
    const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_rect cut = *picture;

  *fault = GST_PP_FAULT_SETTINGS;
  if (!gst_pp_settings_crop (&cache->settings, &cut, reason))
    return NULL;
  for (guint i = 0; i < GST_PP_PLAN_CACHE_SIZE; i++)
    if (cache->entry[i].plan != NULL && cache->entry[i].width == width &&
        cache->entry[i].height == height &&
        memcmp (&cache->entry[i].picture, &cut, sizeof cut) == 0)
      return cache->entry[i].plan;

  pp_plan *plan = make_plan (cache, width, height, &cut, fault, reason);
  if (plan == NULL)
    return NULL;
  const guint slot = cache->next++ % GST_PP_PLAN_CACHE_SIZE;
  pp_plan_unref (&cache->entry[slot].plan);
  cache->entry[slot].plan = plan;
  cache->entry[slot].width = width;
  cache->entry[slot].height = height;
  cache->entry[slot].picture = cut;
  return plan;
}

gboolean
gst_pp_plan_cache_reserve (
    GstPpPlanCache *cache, pp_device *device, GstPpFault *fault, gchar **reason)
{
  const pp_rect frame = { 0, 0, GST_VIDEO_INFO_WIDTH (&cache->info),
    GST_VIDEO_INFO_HEIGHT (&cache->info) };
  pp_error error;
  pp_plan *now = NULL;
  pp_plan *whole =
      make_plan (cache, frame.width, frame.height, NULL, fault, reason);

  if (whole != NULL)
    now = gst_pp_plan_cache_find (
        cache, frame.width, frame.height, &frame, fault, reason);
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
