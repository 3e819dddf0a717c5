/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "elementframes.h"

#include "elementutil.h"

#include <math.h>
#include <string.h>

/* frames */

gchar **
test_formats (void)
{
  GstElementFactory *factory = gst_element_factory_find ("cudapreproc");
  GPtrArray *names = g_ptr_array_new ();

  fail_unless (factory != NULL);
  for (const GList *item =
           gst_element_factory_get_static_pad_templates (factory);
       item != NULL; item = item->next) {
    GstStaticPadTemplate *template = item->data;
    if (template->direction != GST_PAD_SINK)
      continue;
    GstCaps *caps = gst_static_pad_template_get_caps (template);
    const GValue *list =
        gst_structure_get_value (gst_caps_get_structure (caps, 0), "format");
    for (guint i = 0; i < gst_value_list_get_size (list); i++)
      g_ptr_array_add (
          names, g_value_dup_string (gst_value_list_get_value (list, i)));
    gst_caps_unref (caps);
  }
  gst_object_unref (factory);
  fail_unless (names->len > 0, "the template has no formats");
  g_ptr_array_add (names, NULL);
  return (gchar **) g_ptr_array_free (names, FALSE);
}

void
test_video_info (
    GstVideoInfo *info, const gchar *format, gint width, gint height)
{
  gst_video_info_set_format (
      info, gst_video_format_from_string (format), width, height);
  GST_VIDEO_INFO_FPS_N (info) = 30;
  GST_VIDEO_INFO_FPS_D (info) = 1;
}

static gsize
plane_rows (const GstVideoInfo *info, guint plane)
{
  gint component[GST_VIDEO_MAX_COMPONENTS];

  gst_video_format_info_component (info->finfo, plane, component);
  return (gsize) GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT (
      info->finfo, component[0], GST_VIDEO_INFO_HEIGHT (info));
}

GstBuffer *
test_frame (const GstVideoInfo *info, const TestLayout *layout)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };
  gsize size = info->size;

  if (layout != NULL) {
    size = layout->before;
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
      offset[p] = size;
      stride[p] = info->stride[p] + (gint) layout->extra_stride;
      size += (gsize) stride[p] * plane_rows (info, p) + layout->between;
    }
  }

  GstBuffer *frame = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (frame, 0, layout != NULL ? layout->poison : 0, size);
  if (layout != NULL)
    gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE,
        GST_VIDEO_INFO_FORMAT (info), GST_VIDEO_INFO_WIDTH (info),
        GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offset,
        stride);
  return frame;
}

/* Packs every line; line holds width pixels of four samples, which next fills
 * with the line's number. */
typedef void (*NextLine) (gpointer user, gsize n_bytes, gpointer line);

static void
paint_lines (GstBuffer *buffer, const GstVideoInfo *info, NextLine next,
    gpointer user, guint bytes)
{
  const GstVideoFormatInfo *finfo = info->finfo;
  const gint width = GST_VIDEO_INFO_WIDTH (info);
  const gsize n_bytes = (gsize) width * 4 * bytes;
  gpointer line = g_malloc (n_bytes);
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (
      &frame, (GstVideoInfo *) info, buffer, GST_MAP_READWRITE));
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++) {
    next (user, n_bytes, line);
    finfo->pack_func (finfo, GST_VIDEO_PACK_FLAG_NONE, line, 0, frame.data,
        frame.info.stride, GST_VIDEO_CHROMA_SITE_UNKNOWN, y, width);
  }
  gst_video_frame_unmap (&frame);
  g_free (line);
}

/* Bytes of a sample in the lines that the format's pack function takes. */
static guint
line_bytes (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *unpacked =
      gst_video_format_get_info (info->finfo->unpack_format);

  return GST_VIDEO_FORMAT_INFO_DEPTH (unpacked, 0) > 8 ? 2 : 1;
}

static void
next_noise (gpointer user, gsize n_bytes, gpointer line)
{
  for (gsize i = 0; i < n_bytes; i++)
    ((guint8 *) line)[i] = (guint8) g_rand_int (user);
}

void
test_paint_noise (GstBuffer *frame, const GstVideoInfo *info, guint32 seed)
{
  GRand *random = g_rand_new_with_seed (seed);

  paint_lines (frame, info, next_noise, random, line_bytes (info));
  g_rand_free (random);
}

static void
next_colour (gpointer user, gsize n_bytes, gpointer line)
{
  const guint8 *colour = user;

  for (gsize i = 0; i < n_bytes; i++)
    ((guint8 *) line)[i] = i % 4 == 0 ? 0xff : colour[i % 4 - 1];
}

static void
next_colour_16 (gpointer user, gsize n_bytes, gpointer line)
{
  const guint8 *colour = user;

  for (gsize i = 0; i < n_bytes / 2; i++)
    ((guint16 *) line)[i] =
        (guint16) ((i % 4 == 0 ? 0xff : colour[i % 4 - 1]) << 8);
}

void
test_paint (GstBuffer *frame, const GstVideoInfo *info, const guint8 colour[3])
{
  const guint bytes = line_bytes (info);

  paint_lines (frame, info, bytes == 1 ? next_colour : next_colour_16,
      (gpointer) colour, bytes);
}

void
test_paint_number (GstBuffer *frame, const GstVideoInfo *info, guint number)
{
  const guint8 colour[3] = { (guint8) number, (guint8) (number >> 8),
    (guint8) (number * 7) };

  test_paint (frame, info, colour);
}

GstBuffer *
test_numbered_frame (const GstVideoInfo *info, guint number)
{
  GstBuffer *frame = test_frame (info, NULL);

  test_paint_number (frame, info, number);
  return frame;
}

void
test_take_caps (GstHarness *h, GstCaps *caps)
{
  GstCaps *now = gst_pad_get_current_caps (h->srcpad);

  if (now == NULL || !gst_caps_is_equal (caps, now))
    gst_harness_set_src_caps (h, caps);
  else
    gst_caps_unref (caps);
  gst_clear_caps (&now);
}

void
test_send_caps (GstHarness *h, const GstVideoInfo *info)
{
  test_take_caps (h, gst_video_info_to_caps ((GstVideoInfo *) info));
}

GstBuffer *
test_convert (GstHarness *h, const GstVideoInfo *info, GstBuffer *frame)
{
  test_send_caps (h, info);
  const GstFlowReturn flow = gst_harness_push (h, frame);
  fail_unless (flow == GST_FLOW_OK, "%s", gst_flow_get_name (flow));
  GstBuffer *tensor = gst_harness_pull (h);
  fail_unless (tensor != NULL, "no tensor came");
  return tensor;
}

GstHarness *
test_rgb_harness (gint backend, const gchar *properties, GstVideoInfo *info)
{
  gchar *all = g_strdup_printf ("width=16 height=12 type=uint8 %s", properties);
  GstHarness *h = test_harness (backend, all);

  test_video_info (info, "RGB", 32, 24);
  test_send_caps (h, info);
  g_free (all);
  return h;
}

GstStructure *
test_stats (GstHarness *h)
{
  GstStructure *stats = NULL;

  gst_harness_get (h, "cudapreproc", "stats", &stats, NULL);
  return stats;
}

guint64
test_stats_count (GstHarness *h, const gchar *name)
{
  GstStructure *stats = test_stats (h);
  guint64 count = 0;

  fail_unless (gst_structure_get_uint64 (stats, name, &count), "no %s", name);
  gst_structure_free (stats);
  return count;
}

void
test_start (GstHarness *h, const GstVideoInfo *info)
{
  test_push_number (h, info, 4711);
  test_pull_number (h, 4711);
}

void
test_push_number (GstHarness *h, const GstVideoInfo *info, guint number)
{
  const GstFlowReturn flow =
      gst_harness_push (h, test_numbered_frame (info, number));

  fail_unless (flow == GST_FLOW_OK, "%s", gst_flow_get_name (flow));
}

void
test_pull_number (GstHarness *h, guint number)
{
  GstBuffer *tensor = gst_harness_pull (h);

  fail_unless (tensor != NULL, "frame %u did not come", number);
  fail_unless_equals_int (test_number_of (tensor), number);
  gst_buffer_unref (tensor);
}

/* tensors */

/* Checks are made outside the loops: each passed fail_unless is written down.
 */

guint
test_number_of (GstBuffer *tensor)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  const gsize plane = map.size / 3;
  const guint number = map.data[0] + 256u * map.data[plane];
  const guint8 colour[3] = { (guint8) number, (guint8) (number >> 8),
    (guint8) (number * 7) };
  fail_unless_equals_int (map.size % 3, 0);
  for (gint c = 0; c < 3; c++) {
    const guint8 *values = map.data + (gsize) c * plane;
    gsize i = 0;
    while (i < plane && values[i] == colour[c])
      i++;
    fail_unless (i == plane,
        "byte %" G_GSIZE_FORMAT " of channel %d is %u, but %u belongs to frame "
        "%u",
        i, c, values[i], colour[c], number);
  }
  gst_buffer_unmap (tensor, &map);
  return number;
}

void
test_expect_equal (GstBuffer *a, GstBuffer *b, const gchar *what)
{
  GstMapInfo map_a, map_b;
  gsize i = 0;

  fail_unless (gst_buffer_map (a, &map_a, GST_MAP_READ));
  fail_unless (gst_buffer_map (b, &map_b, GST_MAP_READ));
  fail_unless (map_a.size == map_b.size,
      "%s: %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT " bytes", what, map_a.size,
      map_b.size);
  while (i < map_a.size && map_a.data[i] == map_b.data[i])
    i++;
  fail_unless (i == map_a.size, "%s: byte %" G_GSIZE_FORMAT " is %u and %u",
      what, i, map_a.data[i], map_b.data[i]);
  gst_buffer_unmap (a, &map_a);
  gst_buffer_unmap (b, &map_b);
}

void
test_expect_float (GstBuffer *tensor, gfloat value)
{
  GstMapInfo map;
  gsize i = 0;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  const gfloat *element = (const gfloat *) (gconstpointer) map.data;
  const gsize n = map.size / sizeof *element;
  while (i < n && fabsf (element[i] - value) <= 1e-4f)
    i++;
  fail_unless (n > 0 && i == n, "element %" G_GSIZE_FORMAT " is %g, not %g", i,
      (gdouble) element[i], (gdouble) value);
  gst_buffer_unmap (tensor, &map);
}

gint
test_meta_int (GstBuffer *tensor, const gchar *field)
{
  GstCustomMeta *meta =
      gst_buffer_get_custom_meta (tensor, "GstCudaPreprocMeta");
  gint value = 0;

  fail_unless (meta != NULL, "no GstCudaPreprocMeta");
  fail_unless (gst_structure_get_int (
                   gst_custom_meta_get_structure (meta), field, &value),
      "no %s in GstCudaPreprocMeta", field);
  return value;
}
