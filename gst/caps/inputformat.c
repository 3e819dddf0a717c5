/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "inputformat.h"

gboolean
gst_pp_caps_are_cuda (const GstCaps *caps, guint nth)
{
  const GstCapsFeatures *features = gst_caps_get_features (caps, nth);

  return features != NULL && !gst_caps_features_is_any (features) &&
      gst_caps_features_contains (features, GST_PP_CUDA_FEATURE);
}

static gboolean
fill_component (
    const GstVideoFormatInfo *finfo, guint c, pp_component *component)
{
  const guint bytes = finfo->depth[c] + finfo->shift[c] > 8 ? 2 : 1;
  guint offset = finfo->poffset[c];

  /* For P010, P012 and P016, GStreamer gives V's offset in samples instead of
   * bytes. It is odd then, which an offset of 16-bit samples in bytes is not. */
  if (offset % bytes != 0)
    offset *= bytes;

  component->plane = (int) finfo->plane[c];
  component->offset = (int) offset;
  component->pixel_stride = finfo->pixel_stride[c];
  component->sub_x = (int) finfo->w_sub[c];
  component->sub_y = (int) finfo->h_sub[c];
  component->depth = (int) finfo->depth[c];
  component->shift = (int) finfo->shift[c];

  return component->pixel_stride >= (int) bytes && component->depth > 0 &&
      component->depth + component->shift <= 16;
}

static gboolean
fill_components (
    const GstVideoFormatInfo *finfo, pp_format *format, gchar **reason)
{
  const GstVideoFormatFlags unusable = GST_VIDEO_FORMAT_FLAG_COMPLEX |
      GST_VIDEO_FORMAT_FLAG_PALETTE | GST_VIDEO_FORMAT_FLAG_TILED;

  format->n_components =
      GST_VIDEO_FORMAT_INFO_IS_GRAY (finfo) ? 1 : PP_MAX_COMPONENTS;
  format->model = GST_VIDEO_FORMAT_INFO_IS_GRAY (finfo) ? PP_MODEL_GRAY
      : GST_VIDEO_FORMAT_INFO_IS_YUV (finfo)            ? PP_MODEL_YUV
                                                        : PP_MODEL_RGB;
  format->sample_bytes = finfo->depth[0] + finfo->shift[0] > 8 ? 2 : 1;
  format->big_endian =
      format->sample_bytes == 2 && !GST_VIDEO_FORMAT_INFO_IS_LE (finfo);

  if ((finfo->flags & unusable) == 0 &&
      finfo->n_components >= (guint) format->n_components) {
    gboolean usable = TRUE;
    for (int c = 0; c < format->n_components; c++)
      usable = fill_component (finfo, c, &format->component[c]) && usable;
    if (usable)
      return TRUE;
  }
  *reason = g_strdup_printf ("format=%s has components that are not whole "
                             "8- or 16-bit samples",
      finfo->name);
  return FALSE;
}

static gboolean
fill_colour (const GstVideoInfo *info, pp_format *format, gchar **reason)
{
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  const GstVideoColorimetry *colorimetry = &GST_VIDEO_INFO_COLORIMETRY (info);

  gst_video_color_range_offsets (
      colorimetry->range, info->finfo, offset, scale);
  for (int c = 0; c < format->n_components; c++) {
    format->offset[c] = offset[c];
    format->scale[c] = scale[c];
  }

  if (format->model == PP_MODEL_YUV &&
      !gst_video_color_matrix_get_Kr_Kb (
          colorimetry->matrix, &format->kr, &format->kb)) {
    g_autofree gchar *text = gst_video_colorimetry_to_string (colorimetry);
    *reason = g_strdup_printf ("colorimetry=%s has no matrix for format=%s",
        text ? text : "unknown", GST_VIDEO_INFO_NAME (info));
    return FALSE;
  }
  return TRUE;
}

/* Parses a colorimetry string. Fields are unknown, which is 0, if it does not name
 * them or names what frames cannot have; all are if text is NULL or unreadable. */
static GstVideoColorimetry
read_colorimetry (const gchar *text)
{
  GstVideoColorimetry said = { 0 };

  if (text == NULL || !gst_video_colorimetry_from_string (&said, text))
    return (GstVideoColorimetry){ 0 };
  if (said.range > GST_VIDEO_COLOR_RANGE_16_235)
    said.range = GST_VIDEO_COLOR_RANGE_UNKNOWN;
  /* Y'CbCr needs a matrix; decoders write this one where a file has none. */
  if (said.matrix == GST_VIDEO_COLOR_MATRIX_RGB)
    said.matrix = GST_VIDEO_COLOR_MATRIX_UNKNOWN;
  return said;
}

/* Sets each field by itself: one that is unknown gets the value that it has for
 * caps without colorimetry, and changes no other field. GstVideoInfo does not: if
 * the matrix is unknown or unusable it replaces all fields, and it reads an unknown
 * range as full. */
static void
set_colorimetry (GstVideoInfo *info, const GstVideoColorimetry *said)
{
  GstVideoInfo untagged;

  if (!gst_video_info_set_format (&untagged, GST_VIDEO_INFO_FORMAT (info),
          (guint) GST_VIDEO_INFO_WIDTH (info),
          (guint) GST_VIDEO_INFO_HEIGHT (info)))
    return;
  info->colorimetry = untagged.colorimetry;
  if (said->range != GST_VIDEO_COLOR_RANGE_UNKNOWN)
    info->colorimetry.range = said->range;
  if (said->matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      GST_VIDEO_INFO_IS_YUV (info))
    info->colorimetry.matrix = said->matrix;
  if (said->transfer != GST_VIDEO_TRANSFER_UNKNOWN)
    info->colorimetry.transfer = said->transfer;
  if (said->primaries != GST_VIDEO_COLOR_PRIMARIES_UNKNOWN)
    info->colorimetry.primaries = said->primaries;
}

/* Sets the same chroma site with every version of GStreamer:
 * - A site that the caps name counts. GStreamer 1.22 ignores it if they have no
 *   colorimetry.
 * - It is unknown if they name a matrix but no site. Newer versions choose one.
 * - If they name neither, it stays: all versions choose it by the size. */
static void
set_site (GstVideoInfo *info, const GstStructure *structure,
    const GstVideoColorimetry *said)
{
  const gchar *text = gst_structure_get_string (structure, "chroma-site");
  const GstVideoChromaSite site = text != NULL
      ? gst_video_chroma_site_from_string (text)
      : GST_VIDEO_CHROMA_SITE_UNKNOWN;

  if (site != GST_VIDEO_CHROMA_SITE_UNKNOWN ||
      said->matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    info->chroma_site = site;
}

/* Some files and cameras give 0/1 or negative fractions where they know nothing.
 * Pixels are square then, and the framerate is unknown. */
static void
mend_fractions (GstVideoInfo *info)
{
  if (info->par_n <= 0 || info->par_d <= 0)
    info->par_n = info->par_d = 1;
  if (info->fps_n < 0 || info->fps_d <= 0) {
    info->fps_n = 0;
    info->fps_d = 1;
  }
}

gboolean
gst_pp_video_info_from_caps (GstVideoInfo *info, const GstCaps *caps)
{
  if (!gst_caps_is_fixed (caps) || !gst_video_info_from_caps (info, caps))
    return FALSE;
  gst_pp_video_info_override_colorimetry (info, caps, NULL);
  mend_fractions (info);
  return TRUE;
}

void
gst_pp_video_info_override_colorimetry (
    GstVideoInfo *info, const GstCaps *caps, const gchar *colorimetry)
{
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const GstVideoColorimetry user = read_colorimetry (colorimetry);
  GstVideoColorimetry said =
      read_colorimetry (gst_structure_get_string (structure, "colorimetry"));

  if (user.range != GST_VIDEO_COLOR_RANGE_UNKNOWN)
    said.range = user.range;
  if (user.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    said.matrix = user.matrix;
  if (user.transfer != GST_VIDEO_TRANSFER_UNKNOWN)
    said.transfer = user.transfer;
  if (user.primaries != GST_VIDEO_COLOR_PRIMARIES_UNKNOWN)
    said.primaries = user.primaries;
  set_colorimetry (info, &said);
  set_site (info, structure, &said);
}

gboolean
gst_pp_format_from_video_info (
    const GstVideoInfo *info, pp_format *format, gchar **reason)
{
  GstVideoChromaSite site = GST_VIDEO_INFO_CHROMA_SITE (info);

  memset (format, 0, sizeof *format);
  format->width = GST_VIDEO_INFO_WIDTH (info);
  format->height = GST_VIDEO_INFO_HEIGHT (info);
  format->par_n = GST_VIDEO_INFO_PAR_N (info);
  format->par_d = GST_VIDEO_INFO_PAR_D (info);

  /* Caps with colorimetry but no chroma-site: JFIF centres chroma, MPEG-2 puts
   * it left. */
  if (site == GST_VIDEO_CHROMA_SITE_UNKNOWN)
    site =
        GST_VIDEO_INFO_COLORIMETRY (info).range == GST_VIDEO_COLOR_RANGE_0_255
        ? GST_VIDEO_CHROMA_SITE_NONE
        : GST_VIDEO_CHROMA_SITE_H_COSITED;
  format->cosited_x = (site & GST_VIDEO_CHROMA_SITE_H_COSITED) != 0;
  format->cosited_y = (site & GST_VIDEO_CHROMA_SITE_V_COSITED) != 0;

  return fill_components (info->finfo, format, reason) &&
      fill_colour (info, format, reason);
}
