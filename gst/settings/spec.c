/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Turns resolved settings into what the engine takes: device options, tensor
 * constraints, spec, plan.
 */

#include "settings.h"

#include <string.h>

#include "enums.h"
#include "gst/caps/inputformat.h"
#include "gst/caps/videocaps.h"
#include "presets.h"

pp_device_options
gst_pp_settings_device_options (const GstPpSettings *settings)
{
  const pp_device_options options = {
    .streams = settings->streams,
    .staging_threads = settings->staging_threads,
  };

  return options;
}

pp_direction
gst_pp_settings_direction (const GstPpSettings *settings)
{
  return settings->video_direction == GST_PP_DIRECTION_AUTO
      ? settings->tagged_direction
      : gst_pp_direction_from_method (settings->video_direction);
}

GstPpTensorConstraints
gst_pp_settings_tensor_constraints (const GstPpSettings *settings)
{
  GstPpTensorConstraints constraints = {
    .width = settings->width,
    .height = settings->height,
    .channels = settings->channels,
    .preset = gst_pp_settings_is_set (settings, channels) ? GST_PP_PRESET_NONE
                                                          : settings->preset,
    .layout = settings->layout,
    .type = settings->type,
    .swapped = pp_direction_swaps_axes (gst_pp_settings_direction (settings)),
    .batch = settings->batch_size,
    .no_rate = settings->regions != GST_PP_REGIONS_NONE,
    .fit = settings->fit,
    .ignore_pixel_aspect_ratio = settings->ignore_pixel_aspect_ratio,
  };
  GstVideoColorimetry colorimetry;
  g_autofree gchar *reason = NULL;

  /* Caps are asked for before settings are judged. */
  if (settings->crop.length == 4 && gst_pp_settings_check (settings, &reason))
    constraints.crop = (pp_rect){ (gint) settings->crop.value[0],
      (gint) settings->crop.value[1], (gint) settings->crop.value[2],
      (gint) settings->crop.value[3] };
  if (settings->colorimetry != NULL &&
      gst_video_colorimetry_from_string (&colorimetry, settings->colorimetry)) {
    constraints.transfer = colorimetry.transfer;
    constraints.primaries = colorimetry.primaries;
  }
  return constraints;
}

/* Fills value from a list of one number, or one per channel. Gray takes the first
 * of three: presets and programs name them whatever the model's channels are. */
static gboolean
spread (const gchar *name, const GstPpList *list, gint n_channels,
    gdouble value[PP_MAX_CHANNELS], gchar **reason)
{
  if (list->length != 1 && list->length != PP_MAX_CHANNELS) {
    *reason = g_strdup_printf (
        "%s=%s has %d values for %d channel%s, must have "
        "1 or 3",
        name, list->text, list->length, n_channels, n_channels == 1 ? "" : "s");
    return FALSE;
  }
  for (gint c = 0; c < PP_MAX_CHANNELS; c++)
    value[c] = list->value[list->length == 1 || n_channels == 1 ? 0 : c];
  return TRUE;
}

gboolean
gst_pp_settings_to_spec (const GstPpSettings *settings,
    const GstPpTensor *tensor, pp_spec *spec, gchar **reason)
{
  if (!gst_pp_settings_check (settings, reason))
    return FALSE;
  pp_spec_init (spec);
  spec->width = tensor->width;
  spec->height = tensor->height;
  spec->layout = tensor->layout;
  spec->type = tensor->type;
  spec->channels = settings->channels != GST_PP_AUTO
      ? (pp_channels) settings->channels
      : (tensor->channels == 1 ? PP_CHANNELS_GRAY : PP_CHANNELS_RGB);
  spec->direction = gst_pp_settings_direction (settings);
  spec->fit = (pp_fit) settings->fit;
  spec->pad_align = (pp_align) settings->pad_align;
  spec->ignore_pixel_aspect_ratio = settings->ignore_pixel_aspect_ratio;
  spec->resize = settings->resize;
  spec->crop_fraction = settings->crop_fraction;
  spec->method = (pp_method) settings->method;
  spec->antialias = settings->antialias;
  spec->denoise = (pp_denoise) settings->denoise;
  spec->denoise_size = settings->denoise_size;
  spec->denoise_sigma = settings->denoise_sigma;
  spec->scale = settings->scale;
  spec->quant_scale = settings->quant_scale;
  spec->quant_zero_point = settings->quant_zero_point;
  if (tensor->format != GST_VIDEO_FORMAT_UNKNOWN) {
    spec->surface = gst_pp_video_surface (tensor);
    spec->scale = spec->quant_scale = 1;
    spec->quant_zero_point = 0;
    return spread ("pad-value", &settings->pad_value, tensor->channels,
        spec->pad_value, reason);
  }

  return spread (
             "mean", &settings->mean, tensor->channels, spec->mean, reason) &&
      spread ("std", &settings->std, tensor->channels, spec->std, reason) &&
      spread ("pad-value", &settings->pad_value, tensor->channels,
          spec->pad_value, reason);
}

/* Whether an error's text names a property that the preset has set. */
typedef struct {
  const GstPpSettings *settings;
  const gchar *text;
  gboolean found;
} Search;

static void
search_property (gpointer data, const gchar *name, const gchar *value)
{
  Search *search = data;

  if (gst_pp_settings_is_set_by_name (search->settings, name))
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
blame_preset (const GstPpSettings *settings, gchar **reason)
{
  gchar *text = *reason;
  Search search = { settings, text, FALSE };

  gst_pp_preset_foreach (settings->preset, search_property, &search);
  if (!search.found)
    return;
  *reason = gst_pp_preset_blame (settings->preset, text);
  g_free (text);
}

pp_plan *
gst_pp_settings_make_plan (const GstPpSettings *settings,
    const GstPpTensor *tensor, const pp_format *format, const pp_rect *picture,
    pp_status *status, gchar **reason)
{
  pp_spec spec;
  pp_error error = { PP_BAD_ARGUMENT, "" };
  pp_plan *plan = NULL;

  if (gst_pp_settings_to_spec (settings, tensor, &spec, reason)) {
    plan = pp_plan_new (&spec, format, picture, &error);
    if (plan != NULL)
      return plan;
    *reason = g_strdup (error.text);
  }
  *status = error.status;
  if (*status == PP_BAD_ARGUMENT)
    blame_preset (settings, reason);
  return NULL;
}

/* What caps leave open is as small as it can be, so that it breaks no limit. */
static void
fill_tensor (GstPpTensor *tensor, const GstPpTensorConstraints *constraints,
    gint type, gint channels)
{
  *tensor = (GstPpTensor){
    .width = MAX (constraints->width, 1),
    .height = MAX (constraints->height, 1),
    .channels = channels,
    .layout = constraints->layout >= 0 ? (pp_layout) constraints->layout
                                       : PP_LAYOUT_NCHW,
    .type = (pp_type) type,
    .batch = 1,
    .format = GST_VIDEO_FORMAT_UNKNOWN,
  };
}

/* A frame that already has the tensor's size. FALSE: there is none. */
static gboolean
fill_format (pp_format *format, const GstPpTensor *tensor, gboolean swapped)
{
  g_autofree gchar *reason = NULL;
  GstVideoInfo info;

  gst_video_info_init (&info);
  return gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8,
             (guint) (swapped ? tensor->height : tensor->width),
             (guint) (swapped ? tensor->width : tensor->height)) &&
      gst_pp_format_from_video_info (&info, format, &reason);
}

/* Whether there are tensors of that type and number of channels. */
static gboolean
can_make (const GstPpSettings *settings,
    const GstPpTensorConstraints *constraints, gint type, gint channels,
    pp_status *status, gchar **reason)
{
  pp_format format;
  GstPpTensor tensor;

  fill_tensor (&tensor, constraints, type, channels);
  if (!fill_format (&format, &tensor, constraints->swapped))
    return TRUE;
  pp_plan *plan = gst_pp_settings_make_plan (
      settings, &tensor, &format, NULL, status, reason);
  const gboolean made = plan != NULL;

  pp_plan_unref (&plan);
  return made;
}

/* The reason is that of the defaults for what is left to downstream. */
gboolean
gst_pp_settings_check_without_caps (
    const GstPpSettings *settings, pp_status *status, gchar **reason)
{
  *status = PP_BAD_ARGUMENT;
  if (!gst_pp_settings_check (settings, reason))
    return FALSE;
  const GstPpTensorConstraints constraints =
      gst_pp_settings_tensor_constraints (settings);
  static const gint counts[] = { PP_MAX_CHANNELS, 1 };

  for (guint c = 0; c < G_N_ELEMENTS (counts); c++)
    for (gint type = 0; type < PP_N_TYPES; type++) {
      g_autofree gchar *why = NULL;

      if ((constraints.type >= 0 && constraints.type != type) ||
          (constraints.channels >= 0 &&
              pp_channels_count ((pp_channels) constraints.channels) !=
                  counts[c]))
        continue;
      const gboolean made =
          can_make (settings, &constraints, type, counts[c], status, &why);
      /* Memory that is lacking says nothing about the settings. */
      if (made || *status != PP_BAD_ARGUMENT || *reason == NULL) {
        g_free (*reason);
        *reason = g_steal_pointer (&why);
      }
      if (made || *status != PP_BAD_ARGUMENT)
        return made;
    }
  return FALSE;
}

pp_region_plans *
gst_pp_settings_make_region_plans (const GstPpSettings *settings,
    const GstPpTensor *tensor, const pp_format *format, gint n_plans,
    pp_status *status, gchar **reason)
{
  pp_spec spec;
  pp_error error = { PP_BAD_ARGUMENT, "" };

  if (gst_pp_settings_to_spec (settings, tensor, &spec, reason)) {
    pp_region_plans *plans =
        pp_region_plans_new (&spec, format, n_plans, &error);
    if (plans != NULL)
      return plans;
    *reason = g_strdup (error.text);
  }
  *status = error.status;
  if (*status == PP_BAD_ARGUMENT)
    blame_preset (settings, reason);
  return NULL;
}

/* The integers of a channel's black and white before they are clamped. */
static void
quantize_ends (const pp_spec *spec, gint c, gdouble ends[2])
{
  for (gint i = 0; i < 2; i++)
    ends[i] = (255 * i - spec->mean[c] / spec->scale) / spec->std[c] +
        spec->quant_zero_point;
}

gboolean
gst_pp_settings_warn (GstElement *element, const GstPpSettings *settings,
    const GstPpTensor *tensor)
{
  const gdouble low = tensor->type == PP_TYPE_INT8 ? -128 : 0;
  g_autofree gchar *reason = NULL;
  pp_spec spec;

  if (settings->quant_scale != 0 ||
      (tensor->type != PP_TYPE_INT8 && tensor->type != PP_TYPE_UINT8) ||
      !gst_pp_settings_to_spec (settings, tensor, &spec, &reason))
    return FALSE;
  for (gint c = 0; c < tensor->channels; c++) {
    gdouble ends[2];

    quantize_ends (&spec, c, ends);
    if (MIN (ends[0], ends[1]) >= low - 0.5 &&
        MAX (ends[0], ends[1]) <= low + 255.5)
      continue;
    GST_ELEMENT_WARNING (element, LIBRARY, SETTINGS,
        ("type=%s holds %g to %g, but with quant-scale=0, which stands for "
         "scale=%g, and quant-zero-point=%d black would be %g and white %g: "
         "what lies beyond is clamped",
            gst_pp_enum_nick (gst_pp_types, (gint) tensor->type), low,
            low + 255, spec.scale, spec.quant_zero_point, ends[0], ends[1]),
        ("Set quant-scale and quant-zero-point to those of the model."));
    return TRUE;
  }
  return FALSE;
}

gboolean
gst_pp_settings_crop (const GstPpSettings *settings, pp_rect *picture)
{
  const gdouble *crop = settings->crop.value;

  if (settings->crop.text == NULL)
    return TRUE;
  const gint64 left = MAX ((gint64) crop[0], 0);
  const gint64 top = MAX ((gint64) crop[1], 0);
  const gint64 right =
      MIN ((gint64) crop[0] + (gint64) crop[2], picture->width);
  const gint64 bottom =
      MIN ((gint64) crop[1] + (gint64) crop[3], picture->height);

  if (left >= right || top >= bottom)
    return FALSE;
  *picture = (pp_rect){ picture->x + (gint) left, picture->y + (gint) top,
    (gint) (right - left), (gint) (bottom - top) };
  return TRUE;
}

gchar *
gst_pp_settings_say_crop (const GstPpSettings *settings, const pp_rect *picture)
{
  return g_strdup_printf ("crop=%s has no pixel of the picture, which is %dx%d",
      settings->crop.text, picture->width, picture->height);
}
