/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "videocaps.h"

#include "dimensions.h"
#include "gst/settings/enums.h"
#include "inputformat.h"

/* The formats, and the tensors that they are. */
static const struct {
  GstVideoFormat format;
  gint channels;
  pp_layout layout;
} formats[] = {
  { GST_VIDEO_FORMAT_RGB, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_BGR, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_RGBA, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_BGRA, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_RGBx, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_BGRx, 3, PP_LAYOUT_NHWC },
  { GST_VIDEO_FORMAT_RGBP, 3, PP_LAYOUT_NCHW },
  { GST_VIDEO_FORMAT_BGRP, 3, PP_LAYOUT_NCHW },
  { GST_VIDEO_FORMAT_GRAY8, 1, PP_LAYOUT_NCHW },
};

/* reading */

static gboolean
read_format (const gchar *name, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  const GstVideoFormat format = gst_video_format_from_string (name);
  guint i = 0;

  while (i < G_N_ELEMENTS (formats) && formats[i].format != format)
    i++;
  if (i == G_N_ELEMENTS (formats)) {
    *reason =
        g_strdup_printf ("format=%s, which this element does not send", name);
    return FALSE;
  }
  if (constraints->channels >= 0 &&
      pp_channels_count ((pp_channels) constraints->channels) !=
          formats[i].channels) {
    g_autofree gchar *channels = gst_pp_dimensions_say_channels (constraints);
    *reason = g_strdup_printf ("format=%s, but %s", name, channels);
    return FALSE;
  }
  tensor->format = format;
  tensor->channels = formats[i].channels;
  tensor->layout = formats[i].layout;
  return TRUE;
}

/* The first format of a string or list of them; its name belongs to value. */
static const gchar *
choose_format (const GValue *value, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  const gboolean is_list = value != NULL && GST_VALUE_HOLDS_LIST (value);
  const guint size = is_list ? gst_value_list_get_size (value) : 1;

  for (guint i = 0; i < size && value != NULL; i++) {
    const GValue *item = is_list ? gst_value_list_get_value (value, i) : value;
    const gchar *name =
        G_VALUE_HOLDS_STRING (item) ? g_value_get_string (item) : NULL;
    g_autofree gchar *why = NULL;

    if (name != NULL && read_format (name, constraints, tensor, &why))
      return name;
    if (*reason == NULL)
      *reason = g_steal_pointer (&why);
  }
  if (*reason == NULL)
    *reason = g_strdup ("video without a format");
  return NULL;
}

/* The side of that name: structure's value that is nearest to *side. */
static gboolean
choose_side (const GstStructure *structure, const gchar *name, gint set,
    gint *side, gchar **reason)
{
  g_autoptr (GstStructure) copy = gst_structure_copy (structure);

  gst_structure_fixate_field_nearest_int (copy, name, *side);
  gst_structure_get_int (copy, name, side);
  if (*side < 1 || *side > PP_MAX_SIZE) {
    *reason = g_strdup_printf (
        "%s=%d, but sizes must be 1 to %d", name, *side, PP_MAX_SIZE);
    return FALSE;
  }
  if (set > 0 && *side != set) {
    *reason =
        g_strdup_printf ("%s=%d, but %s=%d is set", name, *side, name, set);
    return FALSE;
  }
  return TRUE;
}

gboolean
gst_pp_video_caps_read (const GstStructure *structure,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    const gchar **format, gchar **reason)
{
  *format = NULL;
  if (constraints->batch > 1) {
    *reason = g_strdup_printf (
        "video/x-raw, which is one picture, but batch-size=%d is set",
        constraints->batch);
    return FALSE;
  }
  if (constraints->type >= 0 && constraints->type != PP_TYPE_UINT8) {
    *reason =
        g_strdup_printf ("video/x-raw, which is uint8, but type=%s is set",
            gst_pp_enum_nick (gst_pp_types, constraints->type));
    return FALSE;
  }
  tensor->type = PP_TYPE_UINT8;
  tensor->batch = 1;
  if (!choose_side (
          structure, "width", constraints->width, &tensor->width, reason) ||
      !choose_side (
          structure, "height", constraints->height, &tensor->height, reason))
    return FALSE;
  *format = choose_format (gst_structure_get_value (structure, "format"),
      constraints, tensor, reason);
  if (*format == NULL)
    return FALSE;
  g_clear_pointer (reason, g_free);
  return TRUE;
}

/* writing */

/* What a crop of length from first on leaves of a frame's side; 0: there is none, or
 * it has no pixel. */
static gint
crop_side (gint side, gint first, gint length)
{
  const gint64 end = MIN ((gint64) first + length, side);
  const gint64 left = end - MAX (first, 0);

  return length > 0 && left > 0 ? (gint) left : side;
}

/* Squeezing a frame into another shape makes its pixels wider or narrower; the
 * other fits make them square, or leave them as they are. A quarter turn turns
 * them, too. */
static void
find_pixel_aspect_ratio (const GstPpTensor *tensor,
    const GstPpTensorConstraints *constraints, const GstVideoInfo *info,
    gint *par_n, gint *par_d)
{
  const gint side[2] = { crop_side (GST_VIDEO_INFO_WIDTH (info),
                             constraints->crop.x, constraints->crop.width),
    crop_side (GST_VIDEO_INFO_HEIGHT (info), constraints->crop.y,
        constraints->crop.height) };
  const gint par[2] = { GST_VIDEO_INFO_PAR_N (info),
    GST_VIDEO_INFO_PAR_D (info) };
  const gint x = constraints->swapped ? 1 : 0, y = 1 - x;

  *par_n = *par_d = 1;
  if (constraints->fit == PP_FIT_STRETCH) {
    if (!gst_util_fraction_multiply (
            par[x], par[y], side[x], tensor->width, par_n, par_d) ||
        !gst_util_fraction_multiply (
            *par_n, *par_d, tensor->height, side[y], par_n, par_d))
      *par_n = *par_d = 1;
  } else if (constraints->ignore_pixel_aspect_ratio) {
    *par_n = par[x];
    *par_d = par[y];
  }
}

/* Full range; R'G'B', or gray as it is made of them. */
static gchar *
spell_colorimetry (const GstPpTensor *tensor,
    const GstPpTensorConstraints *constraints, const GstVideoInfo *info)
{
  GstVideoColorimetry colorimetry = GST_VIDEO_INFO_COLORIMETRY (info);

  colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
  colorimetry.matrix = tensor->channels == 1 ? GST_VIDEO_COLOR_MATRIX_BT601
                                             : GST_VIDEO_COLOR_MATRIX_RGB;
  if (constraints->transfer != GST_VIDEO_TRANSFER_UNKNOWN)
    colorimetry.transfer = constraints->transfer;
  if (constraints->primaries != GST_VIDEO_COLOR_PRIMARIES_UNKNOWN)
    colorimetry.primaries = constraints->primaries;
  return gst_video_colorimetry_to_string (&colorimetry);
}

static void
write_colorimetry (GstStructure *structure, const gchar *text)
{
  const GValue *possible = gst_structure_get_value (structure, "colorimetry");
  GValue value = G_VALUE_INIT;

  g_value_init (&value, G_TYPE_STRING);
  g_value_set_string (&value, text);
  if (possible == NULL || gst_value_intersect (NULL, possible, &value))
    gst_structure_set_value (structure, "colorimetry", &value);
  g_value_unset (&value);
}

void
gst_pp_video_caps_write (GstStructure *structure, const GstPpTensor *tensor,
    const GstPpTensorConstraints *constraints, const GstCaps *video)
{
  GstVideoInfo info;
  gint par_n, par_d;

  gst_structure_set (structure, "format", G_TYPE_STRING,
      gst_video_format_to_string (tensor->format), "width", G_TYPE_INT,
      tensor->width, "height", G_TYPE_INT, tensor->height, NULL);
  if (!gst_pp_video_info_from_caps (&info, video))
    return;
  find_pixel_aspect_ratio (tensor, constraints, &info, &par_n, &par_d);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (
        structure, "pixel-aspect-ratio", par_n, par_d);
  else
    gst_structure_set (
        structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, par_n, par_d, NULL);
  g_autofree gchar *colorimetry =
      spell_colorimetry (tensor, constraints, &info);
  if (colorimetry != NULL)
    write_colorimetry (structure, colorimetry);
}

/* bytes */

pp_surface
gst_pp_video_surface (const GstPpTensor *tensor)
{
  pp_surface surface = { 0 };
  GstVideoInfo info;

  if (!gst_video_info_set_format (
          &info, tensor->format, (guint) tensor->width, (guint) tensor->height))
    return surface;
  surface.size = info.size;
  surface.pixel_stride = GST_VIDEO_INFO_COMP_PSTRIDE (&info, 0);
  surface.row_stride = (gsize) GST_VIDEO_INFO_COMP_STRIDE (&info, 0);
  for (gint c = 0; c < tensor->channels; c++)
    surface.offset[c] = GST_VIDEO_INFO_COMP_OFFSET (&info, c);
  return surface;
}
