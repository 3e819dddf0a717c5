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

/* Of any number: GStreamer has no name for some, and complains about 0. */
static const gchar *
format_name (GstVideoFormat format)
{
  const gchar *name = format != GST_VIDEO_FORMAT_UNKNOWN
      ? gst_video_format_to_string (format)
      : NULL;

  return name != NULL ? name : "an unknown format";
}

/* gst_video_frame_map asserts what it expects of a meta; a wrong meta is the
 * sender's fault and must be an error instead. */
static gboolean
check_meta (const GstVideoInfo *info, const GstVideoMeta *meta, gchar **reason)
{
  if (meta->format == GST_VIDEO_INFO_FORMAT (info) &&
      meta->n_planes == GST_VIDEO_INFO_N_PLANES (info) &&
      meta->width >= (guint) GST_VIDEO_INFO_WIDTH (info) &&
      meta->height >= (guint) GST_VIDEO_INFO_HEIGHT (info))
    return TRUE;

  *reason = g_strdup_printf ("GstVideoMeta describes %s %ux%u with %u planes, "
                             "but the caps say %s %dx%d with %u",
      format_name (meta->format), meta->width, meta->height, meta->n_planes,
      GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info));
  return FALSE;
}

static gboolean
fill_view (GstPpInput *input, gchar **reason)
{
  const GstVideoFrame *frame = &input->frame;

  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (frame); p++) {
    const gint stride = GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
    if (stride < 0) {
      *reason = g_strdup_printf (
          "stride of plane %u is %d, must not be negative", p, stride);
      return FALSE;
    }
    input->view.plane[p] = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    input->view.stride[p] = (gsize) stride;
  }
  return TRUE;
}

static gboolean
fill_crop (GstPpInput *input, const GstVideoInfo *info, gchar **reason)
{
  const GstVideoCropMeta *crop = gst_buffer_get_video_crop_meta (input->buffer);
  const guint width = (guint) GST_VIDEO_FRAME_WIDTH (&input->frame);
  const guint height = (guint) GST_VIDEO_FRAME_HEIGHT (&input->frame);

  input->width = (gint) width;
  input->height = (gint) height;
  if (crop == NULL) {
    input->crop = (pp_rect){ 0, 0, GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info) };
    return TRUE;
  }
  /* Sizes first: then no difference overflows. */
  if (crop->width < 1 || crop->width > width || crop->height < 1 ||
      crop->height > height || crop->x > width - crop->width ||
      crop->y > height - crop->height) {
    *reason = g_strdup_printf ("GstVideoCropMeta is %ux%u at %u,%u, but the "
                               "frame is %ux%u",
        crop->width, crop->height, crop->x, crop->y, width, height);
    return FALSE;
  }
  input->crop = (pp_rect){ (int) crop->x, (int) crop->y, (int) crop->width,
    (int) crop->height };
  return TRUE;
}

gboolean
gst_pp_input_map (GstPpInput *input, const GstVideoInfo *info,
    GstBuffer *buffer, gchar **reason)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);

  input->buffer = NULL;
  memset (&input->view, 0, sizeof input->view);
  if (meta != NULL && !check_meta (info, meta, reason)) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  if (meta == NULL && gst_buffer_get_size (buffer) < info->size) {
    *reason = g_strdup_printf ("buffer has %" G_GSIZE_FORMAT
                               " bytes, but %s %dx%d takes %" G_GSIZE_FORMAT,
        gst_buffer_get_size (buffer), GST_VIDEO_INFO_NAME (info),
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), info->size);
    gst_buffer_unref (buffer);
    return FALSE;
  }
  if (!gst_video_frame_map (&input->frame, (GstVideoInfo *) info, buffer,
          GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)) {
    *reason = g_strdup_printf ("buffer of %" G_GSIZE_FORMAT
                               " bytes cannot be mapped as %s %dx%d",
        gst_buffer_get_size (buffer), GST_VIDEO_INFO_NAME (info),
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info));
    gst_buffer_unref (buffer);
    return FALSE;
  }

  input->buffer = buffer;
  if (!fill_crop (input, info, reason) || !fill_view (input, reason)) {
    gst_pp_input_clear (input);
    return FALSE;
  }
  return TRUE;
}

void
gst_pp_input_clear (GstPpInput *input)
{
  if (input->buffer == NULL)
    return;
  gst_video_frame_unmap (&input->frame);
  gst_clear_buffer (&input->buffer);
}

/* Without GstVideoMeta the whole buffer is mapped once, for all planes. */
static const GstMapInfo *
plane_map (const GstPpInput *input, guint plane)
{
  return &input->frame.map[input->frame.meta != NULL ? plane : 0];
}

GstMemory *
gst_pp_input_peek_memory (const GstPpInput *input, guint plane)
{
  return plane_map (input, plane)->memory;
}

gboolean
gst_pp_input_check (
    const GstPpInput *input, const pp_plan *plan, gchar **reason)
{
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&input->frame); p++) {
    const pp_rect extent = pp_plan_plane_extent (plan, (int) p);
    const GstMapInfo *map = plane_map (input, p);
    const gsize stride = input->view.stride[p];

    if (extent.height == 0)
      continue;
    const gsize row = (gsize) extent.x + extent.width;
    const gsize needed = ((gsize) extent.y + extent.height - 1) * stride + row;
    const gsize available =
        (gsize) (map->data + map->size - input->view.plane[p]);
    if (stride < row) {
      *reason =
          g_strdup_printf ("stride of plane %u of %s %dx%d is %" G_GSIZE_FORMAT
                           ", but its rows take %" G_GSIZE_FORMAT " bytes",
              p, GST_VIDEO_INFO_NAME (&input->frame.info), input->width,
              input->height, stride, row);
      return FALSE;
    }
    if (available < needed) {
      *reason = g_strdup_printf ("buffer is too short: plane %u of %s %dx%d "
                                 "with stride %" G_GSIZE_FORMAT
                                 " takes %" G_GSIZE_FORMAT
                                 " bytes, but has %" G_GSIZE_FORMAT,
          p, GST_VIDEO_INFO_NAME (&input->frame.info), input->width,
          input->height, stride, needed, available);
      return FALSE;
    }
  }
  return TRUE;
}
