/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "input.h"

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
