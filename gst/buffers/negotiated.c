/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "negotiated.h"

#include <string.h>

#include "gst/caps/inputformat.h"
#include "gst/debug.h"

void
gst_pp_negotiated_init (GstPpNegotiated *negotiated, GstElement *element)
{
  memset (negotiated, 0, sizeof *negotiated);
  negotiated->element = element;
  gst_pp_settings_init (&negotiated->settings);
  gst_pp_orientation_clear (&negotiated->orientation);
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
  gst_pp_orientation_clear (&negotiated->orientation);
  g_free (negotiated->warned_crop);
}

static pp_plan *
make_plan (GstPpNegotiated *negotiated, gint width, gint height,
    const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_format format;
  pp_status status;

  *fault = GST_PP_FAULT_VIDEO;
  if (!gst_pp_format_from_video_info (&negotiated->info, &format, reason))
    return NULL;
  format.width = width;
  format.height = height;
  pp_plan *plan = gst_pp_settings_make_plan (&negotiated->settings,
      &negotiated->tensor, &format, picture, &status, reason);
  if (plan == NULL)
    *fault = gst_pp_fault_from_status (status);
  return plan;
}

static void
log_plan (const GstPpNegotiated *negotiated, const pp_plan *plan, gint width,
    gint height)
{
  const GstPpSettings *settings = &negotiated->settings;
  pp_geometry geometry;

  pp_plan_get_geometry (plan, &geometry);
  const pp_rect source = geometry.source, target = geometry.target;
  GST_DEBUG_OBJECT (negotiated->element,
      "made a plan: the picture of %dx%d at %d,%d of the %dx%d frame is resized to %dx%d at "
      "%d,%d of the %dx%d tensor; direction %s; method %s, antialias %s",
      source.width, source.height, source.x, source.y, width, height,
      target.width, target.height, target.x, target.y, negotiated->tensor.width,
      negotiated->tensor.height,
      gst_pp_enum_nick (
          gst_pp_directions, (gint) gst_pp_settings_direction (settings)),
      gst_pp_enum_nick (gst_pp_methods, settings->method),
      settings->antialias ? "on" : "off");
}

pp_plan *
gst_pp_negotiated_find_plan (GstPpNegotiated *negotiated, gint width,
    gint height, const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_rect cut = *picture;

  if (!gst_pp_settings_crop (&negotiated->settings, &cut))
    negotiated->missed = *picture;
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
  log_plan (negotiated, plan, width, height);
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

void
gst_pp_negotiated_warn_crop (GstPpNegotiated *negotiated, GstElement *element)
{
  const pp_rect missed = negotiated->missed;
  const gchar *crop = negotiated->settings.crop.text;

  if (missed.width == 0)
    return;
  negotiated->missed.width = 0;
  if (g_strcmp0 (negotiated->warned_crop, crop) == 0)
    return;
  g_free (negotiated->warned_crop);
  negotiated->warned_crop = g_strdup (crop);

  g_autofree gchar *reason =
      gst_pp_settings_say_crop (&negotiated->settings, &missed);
  GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
      ("%s: such pictures are converted whole", reason),
      ("Set a crop that lies in the frame, or none."));
}

void
gst_pp_negotiated_forget_warnings (GstPpNegotiated *negotiated)
{
  negotiated->missed.width = 0;
  g_clear_pointer (&negotiated->warned_crop, g_free);
}
