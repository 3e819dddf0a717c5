/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "inputformat.h"

static gboolean
fill_component (
    const GstVideoFormatInfo *finfo, guint c, pp_component *component)
{
  const guint bytes = finfo->depth[c] + finfo->shift[c] > 8 ? 2 : 1;
  guint offset = finfo->poffset[c];

  /* P010, P012 and P016 give the offset of V in samples, not in bytes: no
   * 16-bit sample starts at an odd byte. */
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

/* GstVideoInfo drops a range with an unknown matrix, as decoders write it for
 * grey video, and takes an unknown range for full. Where one of the two is
 * unknown, the other holds, and it is what it is in caps without colorimetry. */
static void
keep_range (GstVideoInfo *info, const GstStructure *structure)
{
  const gchar *text = gst_structure_get_string (structure, "colorimetry");
  GstVideoColorimetry said;
  GstVideoInfo untagged;

  if (text == NULL || !gst_video_colorimetry_from_string (&said, text) ||
      !gst_video_info_set_format (&untagged, GST_VIDEO_INFO_FORMAT (info),
          (guint) GST_VIDEO_INFO_WIDTH (info),
          (guint) GST_VIDEO_INFO_HEIGHT (info)))
    return;
  if (said.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
    info->colorimetry.range = untagged.colorimetry.range;
  else if (said.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      said.range <= GST_VIDEO_COLOR_RANGE_16_235)
    info->colorimetry.range = said.range;
}

/* Whether it says what Y'CbCr is: if not, GstVideoInfo takes no notice of it. */
static gboolean
names_matrix (const gchar *colorimetry)
{
  GstVideoColorimetry said;

  return colorimetry != NULL &&
      gst_video_colorimetry_from_string (&said, colorimetry) &&
      said.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN &&
      said.matrix != GST_VIDEO_COLOR_MATRIX_RGB;
}

/* A site that caps name holds; GStreamer 1.22 drops it where they have no
 * colorimetry. One that they do not name beside colorimetry is unknown; newer
 * versions make one up there. Without either, all decide by the size. */
static void
keep_site (GstVideoInfo *info, const GstStructure *structure)
{
  const gchar *text = gst_structure_get_string (structure, "chroma-site");
  const GstVideoChromaSite said = text != NULL
      ? gst_video_chroma_site_from_string (text)
      : GST_VIDEO_CHROMA_SITE_UNKNOWN;

  if (said != GST_VIDEO_CHROMA_SITE_UNKNOWN ||
      names_matrix (gst_structure_get_string (structure, "colorimetry")))
    info->chroma_site = said;
}

gboolean
gst_pp_video_info_from_caps (GstVideoInfo *info, const GstCaps *caps)
{
  if (!gst_video_info_from_caps (info, caps))
    return FALSE;
  keep_range (info, gst_caps_get_structure (caps, 0));
  keep_site (info, gst_caps_get_structure (caps, 0));
  return TRUE;
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
