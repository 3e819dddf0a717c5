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
  pp_region_plans_free (&negotiated->region_plans);
}

void
gst_pp_negotiated_clear (GstPpNegotiated *negotiated)
{
  gst_pp_negotiated_forget_plans (negotiated);
  gst_pp_settings_clear (&negotiated->settings);
  gst_pp_orientation_clear (&negotiated->orientation);
  g_free (negotiated->warned_crop);
}

static gboolean
make_format (const GstPpNegotiated *negotiated, gint width, gint height,
    pp_format *format, gchar **reason)
{
  if (!gst_pp_format_from_video_info (&negotiated->info, format, reason))
    return FALSE;
  format->width = width;
  format->height = height;
  return TRUE;
}

static pp_plan *
make_plan (GstPpNegotiated *negotiated, gint width, gint height,
    const pp_rect *picture, GstPpFault *fault, gchar **reason)
{
  pp_format format;
  pp_status status;

  *fault = GST_PP_FAULT_VIDEO;
  if (!make_format (negotiated, width, height, &format, reason))
    return NULL;
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

void
gst_pp_negotiated_log (const GstPpNegotiated *negotiated,
    const pp_device *device, guint held, const GstCaps *video)
{
  const GstPpTensor *tensor = &negotiated->tensor;
  const GstVideoInfo *info = &negotiated->info;
  pp_rect picture = { 0, 0, GST_VIDEO_INFO_WIDTH (info),
    GST_VIDEO_INFO_HEIGHT (info) };

  gst_pp_settings_crop (&negotiated->settings, &picture);
  GST_DEBUG_OBJECT (negotiated->element,
      "negotiated %s of %dx%d, %d channels, %s, %s, pictures of a tensor: %d, "
      "from the picture of %dx%d at %d,%d in frames of framerate %d/%d; streams: "
      "%d; tensors held back: %u; video: %" GST_PTR_FORMAT,
      tensor->on_device ? "tensors on the device"
          : tensor->format == GST_VIDEO_FORMAT_UNKNOWN
          ? "tensors"
          : gst_video_format_to_string (tensor->format),
      tensor->width, tensor->height, tensor->channels,
      gst_pp_enum_nick (gst_pp_layouts, (gint) tensor->layout),
      gst_pp_enum_nick (gst_pp_types, (gint) tensor->type), tensor->batch,
      picture.width, picture.height, picture.x, picture.y,
      GST_VIDEO_INFO_FPS_N (info), GST_VIDEO_INFO_FPS_D (info),
      pp_device_streams (device), held, video);
}

/* Whether region_plans are for frames of that size. */
static gboolean
make_region_plans (GstPpNegotiated *negotiated, gint width, gint height,
    GstPpFault *fault, gchar **reason)
{
  pp_format format;
  pp_status status;

  if (negotiated->region_plans != NULL && negotiated->region_width == width &&
      negotiated->region_height == height)
    return TRUE;
  pp_region_plans_free (&negotiated->region_plans);
  *fault = GST_PP_FAULT_VIDEO;
  if (!make_format (negotiated, width, height, &format, reason))
    return FALSE;
  negotiated->region_plans =
      gst_pp_settings_make_region_plans (&negotiated->settings,
          &negotiated->tensor, &format, GST_PP_REGION_PLANS, &status, reason);
  negotiated->region_width = width;
  negotiated->region_height = height;
  if (negotiated->region_plans == NULL)
    *fault = gst_pp_fault_from_status (status);
  return negotiated->region_plans != NULL;
}

pp_plan *
gst_pp_negotiated_get_region_plan (GstPpNegotiated *negotiated, gint width,
    gint height, const pp_rect *region, GstPpFault *fault, gchar **reason)
{
  pp_error error;

  if (!make_region_plans (negotiated, width, height, fault, reason))
    return NULL;
  pp_plan *plan =
      pp_region_plans_get (negotiated->region_plans, region, &error);
  if (plan == NULL) {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
  }
  return plan;
}

static gboolean
reserve (const GstPpNegotiated *negotiated, pp_device *device,
    const pp_plan *plan, gint n_pictures, pp_error *error)
{
  return pp_device_reserve_in_place (device, plan, n_pictures, negotiated->cuda,
             negotiated->tensor.on_device, error) == PP_OK;
}

/* What frames with regions need. */
static gboolean
reserve_regions (GstPpNegotiated *negotiated, pp_device *device,
    const pp_plan *whole, GstPpFault *fault, gchar **reason)
{
  const GstVideoInfo *info = &negotiated->info;
  pp_error error;

  if (negotiated->settings.regions == GST_PP_REGIONS_NONE)
    return TRUE;
  if (!make_region_plans (negotiated, GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info), fault, reason))
    return FALSE;
  if (reserve (negotiated, device, whole, negotiated->tensor.batch, &error))
    return TRUE;
  *fault = gst_pp_fault_from_status (error.status);
  *reason = g_strdup (error.text);
  return FALSE;
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
      reserve (negotiated, device, now, 1, &error) &&
      reserve (negotiated, device, whole, 1, &error);
  if (now != NULL && !reserved) {
    *fault = gst_pp_fault_from_status (error.status);
    *reason = g_strdup (error.text);
  }
  const gboolean good =
      reserved && reserve_regions (negotiated, device, whole, fault, reason);
  pp_plan_unref (&whole);
  return good;
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
