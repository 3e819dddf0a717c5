/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings -> what the engine is asked for.
 */

#include "settings.h"

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

GstPpTensorConstraints
gst_pp_settings_tensor_constraints (const GstPpSettings *settings)
{
  const GstPpTensorConstraints constraints = {
    .width = settings->width,
    .height = settings->height,
    .channels = settings->channels,
    .preset = gst_pp_settings_is_set (settings, "channels") ? GST_PP_PRESET_NONE
                                                            : settings->preset,
    .layout = settings->layout,
    .type = settings->type,
  };

  return constraints;
}

/* One number for all channels, or one a channel. */
static gboolean
spread (const gchar *name, const GstPpList *list, gint n_channels,
    gdouble value[PP_MAX_CHANNELS], gchar **reason)
{
  if (list->length < 0) {
    *reason = g_strdup_printf (
        "%s=%s is not a list of numbers with commas", name, list->text);
    return FALSE;
  }
  if (list->length != 1 && list->length != n_channels) {
    *reason = g_strdup_printf ("%s=%s has %d values for %d channels", name,
        list->text, list->length, n_channels);
    return FALSE;
  }
  for (gint c = 0; c < PP_MAX_CHANNELS; c++)
    value[c] = list->value[list->length == 1 ? 0 : MIN (c, n_channels - 1)];
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

  return spread (
             "mean", &settings->mean, tensor->channels, spec->mean, reason) &&
      spread ("std", &settings->std, tensor->channels, spec->std, reason) &&
      spread ("pad-value", &settings->pad_value, tensor->channels,
          spec->pad_value, reason);
}

/* What a channel's black and white become, before they are clamped to bytes. */
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
            gst_pp_type_name (tensor->type), low, low + 255, spec.scale,
            spec.quant_zero_point, ends[0], ends[1]),
        ("Set quant-scale and quant-zero-point to those of the model."));
    return TRUE;
  }
  return FALSE;
}

gboolean
gst_pp_settings_crop (
    const GstPpSettings *settings, pp_rect *picture, gchar **reason)
{
  const GstPpList *crop = &settings->crop;
  gint value[4];

  if (crop->text == NULL)
    return TRUE;
  if (crop->length != 4) {
    *reason = g_strdup_printf ("crop=%s is not x,y,width,height", crop->text);
    return FALSE;
  }
  for (gint i = 0; i < 4; i++) {
    const gdouble least = i >= 2 ? 1 : 0;
    if (!(crop->value[i] >= least && crop->value[i] <= PP_MAX_SIZE) ||
        crop->value[i] != (gint) crop->value[i]) {
      *reason = g_strdup_printf ("crop=%s: %g is not a whole number of "
                                 "pixels, from 0, or 1 for width and height",
          crop->text, crop->value[i]);
      return FALSE;
    }
    value[i] = (gint) crop->value[i];
  }
  if (value[0] + value[2] > picture->width ||
      value[1] + value[3] > picture->height) {
    *reason = g_strdup_printf ("crop=%s does not fit in the picture of %dx%d",
        crop->text, picture->width, picture->height);
    return FALSE;
  }
  *picture = (pp_rect){ picture->x + value[0], picture->y + value[1], value[2],
    value[3] };
  return TRUE;
}
