/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "input.h"

#include <string.h>

#include "arena_memory.h"
#include "cuda_memory.h"

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
check_meta (const GstVideoInfo *info, const GstVideoMeta *meta,
    const GstBuffer *buffer, gchar **reason)
{
  if (meta->map == NULL || meta->unmap == NULL) {
    *reason = g_strdup ("GstVideoMeta has no function to map its planes");
    return FALSE;
  }
  if (meta->buffer != buffer) {
    *reason = g_strdup ("GstVideoMeta was made for another buffer");
    return FALSE;
  }
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

/* Without GstVideoMeta the whole buffer is mapped once, for all planes. */
static const GstMapInfo *
plane_map (const GstPpInput *input, guint plane)
{
  return &input->frame.map[input->frame.meta != NULL ? plane : 0];
}

/* A plane that is spread over several memories is mapped as a copy, in host
 * memory. */
static gboolean
check_device_planes (const GstPpInput *input, gchar **reason)
{
  const GstObject *first =
      gst_pp_cuda_memory_context (gst_buffer_peek_memory (input->buffer, 0));

  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&input->frame); p++) {
    GstMemory *memory = plane_map (input, p)->memory;
    const GstObject *context = gst_pp_cuda_memory_context (memory);

    if (context == NULL) {
      *reason = g_strdup_printf ("caps say " GST_PP_CUDA_FEATURE
                                 ", but plane %u is not in one such memory",
          p);
      return FALSE;
    }
    if (context != first) {
      *reason = g_strdup_printf (
          "planes 0 and %u are in memory of different CUDA contexts", p);
      return FALSE;
    }
  }
  return TRUE;
}

/* The buffer as its metas describe it, or else the caps. Nothing is mapped on
 * FALSE. */
static gboolean
map_frame (GstVideoFrame *frame, const GstVideoInfo *info, gboolean on_device,
    GstBuffer *buffer, gchar **reason)
{
  const GstMapFlags flags = GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF |
      (on_device ? GST_PP_MAP_CUDA : 0);
  const GstVideoMeta *meta = gst_buffer_get_video_meta (buffer);
  const gsize size = gst_buffer_get_size (buffer);

  if (meta != NULL && !check_meta (info, meta, buffer, reason))
    return FALSE;
  if (meta == NULL && size < info->size) {
    *reason = g_strdup_printf ("buffer has %" G_GSIZE_FORMAT
                               " bytes, but %s %dx%d takes %" G_GSIZE_FORMAT,
        size, GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info), info->size);
    return FALSE;
  }
  /* A meta's own map function need not fill these. */
  memset (frame->map, 0, sizeof frame->map);
  memset (frame->data, 0, sizeof frame->data);
  if (gst_video_frame_map (frame, (GstVideoInfo *) info, buffer, flags))
    return TRUE;
  *reason = g_strdup_printf ("buffer of %" G_GSIZE_FORMAT
                             " bytes cannot be mapped as %s %dx%d",
      size, GST_VIDEO_INFO_NAME (info), GST_VIDEO_INFO_WIDTH (info),
      GST_VIDEO_INFO_HEIGHT (info));
  return FALSE;
}

gboolean
gst_pp_input_map (GstPpInput *input, const GstVideoInfo *info,
    gboolean on_device, GstBuffer *buffer, gchar **reason)
{
  input->buffer = NULL;
  input->on_device = on_device;
  memset (&input->view, 0, sizeof input->view);
  if (!map_frame (&input->frame, info, on_device, buffer, reason)) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  input->buffer = buffer;
  if (fill_crop (input, info, reason) && fill_view (input, reason) &&
      (!on_device || check_device_planes (input, reason)))
    return TRUE;
  gst_pp_input_clear (input);
  return FALSE;
}

gboolean
gst_pp_input_wait (const GstPpInput *input, gchar **reason)
{
  if (!input->on_device)
    return TRUE;
  GstMemory *last = NULL;
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&input->frame); p++) {
    GstMemory *memory = plane_map (input, p)->memory;
    /* Planes mostly share one. */
    if (memory != last && !gst_pp_cuda_memory_wait (memory)) {
      *reason = g_strdup_printf ("CUDA failed when plane %u was waited for", p);
      return FALSE;
    }
    last = memory;
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

/* How many bytes of plane plan reaches, from its first one on. */
static guint64
reach (const GstPpInput *input, const pp_plan *plan, guint plane)
{
  const pp_rect extent = pp_plan_plane_extent (plan, (int) plane);

  if (extent.height == 0)
    return 0;
  return ((guint64) extent.y + (guint64) extent.height - 1) *
      input->view.stride[plane] +
      (guint64) extent.x + (guint64) extent.width;
}

/* Bytes from plane's first one to the end of its map. Where the meta maps by
 * itself and does not tell what was mapped there is no end to be seen. */
static guint64
available (const GstPpInput *input, guint plane)
{
  const GstMapInfo *map = plane_map (input, plane);
  const guintptr at = (guintptr) input->view.plane[plane];
  const guintptr begin = (guintptr) map->data;

  if (map->data == NULL)
    return map->size > 0 ? map->size : G_MAXUINT64;
  return at >= begin && at - begin <= map->size ? map->size - (at - begin) : 0;
}

static gboolean
check_plane (
    const GstPpInput *input, const pp_plan *plan, guint p, gchar **reason)
{
  const pp_rect extent = pp_plan_plane_extent (plan, (int) p);
  const gchar *format = GST_VIDEO_INFO_NAME (&input->frame.info);
  const gsize stride = input->view.stride[p];
  const gsize row = (gsize) extent.x + (gsize) extent.width;
  const guint64 needed = reach (input, plan, p);

  if (extent.height == 0)
    return TRUE;
  if (stride < row) {
    *reason =
        g_strdup_printf ("stride of plane %u of %s %dx%d is %" G_GSIZE_FORMAT
                         ", but its rows take %" G_GSIZE_FORMAT " bytes",
            p, format, input->width, input->height, stride, row);
    return FALSE;
  }
  if (input->view.plane[p] == NULL) {
    *reason = g_strdup_printf ("plane %u of %s %dx%d was mapped to no address",
        p, format, input->width, input->height);
    return FALSE;
  }
  if (available (input, p) < needed) {
    *reason = g_strdup_printf ("buffer is too short: plane %u of %s %dx%d "
                               "with stride %" G_GSIZE_FORMAT
                               " takes %" G_GUINT64_FORMAT
                               " bytes, but has %" G_GUINT64_FORMAT,
        p, format, input->width, input->height, stride, needed,
        available (input, p));
    return FALSE;
  }
  return TRUE;
}

gboolean
gst_pp_input_check (
    const GstPpInput *input, const pp_plan *plan, gchar **reason)
{
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&input->frame); p++)
    if (!check_plane (input, plan, p, reason))
      return FALSE;
  return TRUE;
}

guint
gst_pp_input_pinned_planes (
    const GstPpInput *input, const pp_plan *plan, pp_backend_id backend)
{
  guint planes = 0;

  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (&input->frame); p++)
    if (gst_pp_memory_is_pinned (plane_map (input, p)->memory, backend,
            input->view.plane[p], (gsize) reach (input, plan, p)))
      planes |= 1u << p;
  return planes;
}
