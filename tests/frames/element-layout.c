/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How frames lie in memory: rows that are padded, planes with gaps, odd sizes,
 * crops; and whether the formats are what their descriptions say.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* layouts */

static const TestLayout layouts[] = {
  { 0, 0, 0, 0xa5 },
  { 0, 64, 0, 0x5a },
  { 256, 32, 4096, 0xff },
};

/* The same samples in each layout, with other bytes around them, give the same
 * tensor. */
static void
check_layouts (
    GstHarness *h, const gchar *format, gint width, gint height, guint32 seed)
{
  GstVideoInfo info;
  gchar *what = g_strdup_printf ("%s %dx%d", format, width, height);
  GstBuffer *plain = NULL;

  test_video_info (&info, format, width, height);
  for (guint l = 0; l <= G_N_ELEMENTS (layouts); l++) {
    GstBuffer *frame = test_frame (&info, l > 0 ? &layouts[l - 1] : NULL);
    test_paint_noise (frame, &info, seed);
    /* Nothing has to follow the last row. */
    if (l > 0 && layouts[l - 1].between == 0)
      gst_buffer_set_size (frame,
          (gssize) (gst_buffer_get_size (frame) - layouts[l - 1].extra_stride));
    GstBuffer *tensor = test_convert (h, &info, frame);
    if (plain == NULL) {
      plain = tensor;
    } else {
      test_expect_equal (tensor, plain, what);
      gst_buffer_unref (tensor);
    }
  }
  gst_buffer_unref (plain);
  g_free (what);
}

/* Few rows: it is the columns that matter. */
GST_START_TEST (test_padded_rows) {
  static const gint widths[] = { 639, 641, 642, 1282 };
  GstHarness *h = test_harness (__i__, "width=64 height=16");
  gchar **formats = test_formats ();

  for (guint f = 0; formats[f] != NULL; f++)
    for (guint w = 0; w < G_N_ELEMENTS (widths); w++)
      check_layouts (h, formats[f], widths[w], 10, f);
  g_strfreev (formats);
  test_harness_end (&h);
}
GST_END_TEST

GST_START_TEST (test_odd_sizes) {
  static const gint sizes[][2] = { { 639, 479 }, { 641, 481 }, { 321, 241 },
    { 3, 3 }, { 1, 1 }, { 2, 1 }, { 1, 2 }, { 5, 4 } };
  static const gchar *const formats[] = { "NV12", "I420", "YUY2", "UYVY",
    "Y42B", "NV16", "I422_10LE", "P010_10LE", "Y41B", "YUV9" };
  GstHarness *h = test_harness (__i__, "width=48 height=48 fit=letterbox");

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
      check_layouts (h, formats[f], sizes[s][0], sizes[s][1], f);
  test_harness_end (&h);
}
GST_END_TEST

/* The last row and column of an odd frame have the chroma that they share with
 * nobody. */
GST_START_TEST (test_odd_edges) {
  static const gchar *const formats[] = { "NV12", "I420", "YUY2", "Y42B",
    "YUV9" };
  static const gint sizes[][2] = { { 641, 481 }, { 3, 3 }, { 1, 1 } };
  static const guint8 colour[3] = { 180, 90, 200 };
  static const TestLayout layout = { 0, 64, 512, 0x00 };
  GstHarness *h = test_harness (__i__, "");

  for (guint f = 0; f < G_N_ELEMENTS (formats); f++)
    for (guint s = 0; s < G_N_ELEMENTS (sizes); s++) {
      GstVideoInfo info;
      gfloat first[3];

      test_video_info (&info, formats[f], sizes[s][0], sizes[s][1]);
      GstBuffer *frame = test_frame (&info, &layout);
      test_paint (frame, &info, colour);
      GstBuffer *tensor = test_convert (h, &info, frame);
      const gsize plane = gst_buffer_get_size (tensor) / 3;
      for (gsize c = 0; c < 3; c++) {
        GstBuffer *part = gst_buffer_copy_region (
            tensor, GST_BUFFER_COPY_MEMORY, c * plane, plane);
        gst_buffer_extract (part, 0, &first[c], sizeof *first);
        test_expect_float (part, first[c]);
        gst_buffer_unref (part);
      }
      /* this Y'CbCr is orange */
      fail_unless (first[0] > first[1] && first[1] > first[2], "%s is %g %g %g",
          formats[f], (gdouble) first[0], (gdouble) first[1],
          (gdouble) first[2]);
      gst_buffer_unref (tensor);
    }
  test_harness_end (&h);
}
GST_END_TEST

/* As video decoders pad: rows of 2048 bytes, 1088 of them. */
GST_START_TEST (test_decoder_layout) {
  static const TestLayout layout = { 0, 2048 - 1920, 8 * 2048, 0x77 };
  GstHarness *h = test_harness (__i__, "width=64 height=64 fit=letterbox");
  GstVideoInfo info;

  test_video_info (&info, "NV12", 1920, 1080);
  GstBuffer *plain = test_frame (&info, NULL);
  GstBuffer *padded = test_frame (&info, &layout);
  const GstVideoMeta *meta = gst_buffer_get_video_meta (padded);
  fail_unless_equals_int (meta->stride[1], 2048);
  fail_unless_equals_int (meta->offset[1], 2048 * 1088);

  test_paint_noise (plain, &info, 1);
  test_paint_noise (padded, &info, 1);
  GstBuffer *expected = test_convert (h, &info, plain);
  GstBuffer *tensor = test_convert (h, &info, padded);
  test_expect_equal (tensor, expected, "stride 2048");
  gst_buffer_unref (tensor);
  gst_buffer_unref (expected);
  test_harness_end (&h);
}
GST_END_TEST

/* Planes in memories of their own, as V4L2 gives them. */
GST_START_TEST (test_planes_in_several_memories) {
  GstHarness *h = test_harness (__i__, "width=16 height=16");
  GstVideoInfo info;

  test_video_info (&info, "I420", 64, 48);
  GstBuffer *plain = test_frame (&info, NULL);
  test_paint_noise (plain, &info, 1);
  GstBuffer *expected = test_convert (h, &info, gst_buffer_ref (plain));

  for (guint with_meta = 0; with_meta < 2; with_meta++) {
    GstBuffer *split = gst_buffer_new ();
    for (guint p = 0; p < 3; p++) {
      GstMapInfo map;
      const gsize end = p < 2 ? info.offset[p + 1] : info.size;
      GstMemory *memory =
          gst_allocator_alloc (NULL, end - info.offset[p], NULL);
      gst_memory_map (memory, &map, GST_MAP_WRITE);
      gst_buffer_extract (plain, info.offset[p], map.data, map.size);
      gst_memory_unmap (memory, &map);
      gst_buffer_append_memory (split, memory);
    }
    if (with_meta)
      gst_buffer_add_video_meta_full (split, GST_VIDEO_FRAME_FLAG_NONE,
          GST_VIDEO_FORMAT_I420, 64, 48, 3, info.offset, info.stride);
    GstBuffer *tensor = test_convert (h, &info, split);
    test_expect_equal (tensor, expected, "three memories");
    gst_buffer_unref (tensor);
  }
  gst_buffer_unref (plain);
  gst_buffer_unref (expected);
  test_harness_end (&h);
}
GST_END_TEST

/* crops */

static GstPadProbeReturn
note_crop (GstPad *pad, GstPadProbeInfo *info, gpointer crops)
{
  (void) pad;
  if (gst_buffer_get_video_crop_meta (GST_PAD_PROBE_INFO_BUFFER (info)) != NULL)
    g_atomic_int_inc ((gint *) crops);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
keep_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer kept)
{
  (void) pad;
  gst_buffer_replace (kept, GST_PAD_PROBE_INFO_BUFFER (info));
  return GST_PAD_PROBE_OK;
}

/* The tensor behind videocrop; *crops counts the frames that had crop meta. */
static GstBuffer *
cropped (gint backend, const gchar *format, const gchar *crop,
    const gchar *between, gint *crops)
{
  GstBuffer *tensor = NULL;
  GstElement *pipeline = test_launch (backend,
      "videotestsrc num-buffers=1 pattern=colors ! video/x-raw,format=%s,"
      "width=320,height=240 ! videocrop %s ! %s cudapreproc name=pp width=96 "
      "height=64 fit=letterbox ! fakesink",
      format, crop, between);

  *crops = 0;
  gst_pad_add_probe (test_pad (pipeline, "pp", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, note_crop, crops, NULL);
  gst_pad_add_probe (test_pad (pipeline, "pp", "src"),
      GST_PAD_PROBE_TYPE_BUFFER, keep_buffer, &tensor, NULL);
  test_play_to_eos (pipeline);
  test_stop (&pipeline);
  fail_unless (tensor != NULL, "no tensor came");
  return tensor;
}

/* A frame with crop meta is the frame cropped before: any crop where chroma is
 * not subsampled, even ones where it is. */
GST_START_TEST (test_videocrop) {
  static const struct {
    const gchar *format, *crop;
  } cases[] = {
    { "RGB", "left=33 top=17 right=8" },
    { "Y444", "left=33 top=17 right=8" },
    { "GRAY8", "left=33 top=17 right=8 bottom=1" },
    { "NV12", "left=32 top=16 right=8" },
    { "I420", "left=32 top=16 right=8 bottom=2" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint with_meta, without_meta;
    GstBuffer *expected = cropped (__i__, cases[i].format, cases[i].crop,
        "identity drop-allocation=true !", &without_meta);
    GstBuffer *tensor =
        cropped (__i__, cases[i].format, cases[i].crop, "", &with_meta);

    fail_unless_equals_int (without_meta, 0);
    fail_unless_equals_int (with_meta, 1);
    test_expect_equal (tensor, expected, cases[i].format);
    gst_buffer_unref (tensor);
    gst_buffer_unref (expected);
  }
}
GST_END_TEST

/* formats */

/* Bars wide enough that no chroma sample and no filter mixes their middles. */
#define BAR 32
static const guint8 bars[][3] = { { 255, 255, 255 }, { 0, 0, 0 }, { 255, 0, 0 },
  { 0, 255, 0 }, { 0, 0, 255 }, { 255, 255, 0 }, { 128, 128, 128 } };
#define N_BARS G_N_ELEMENTS (bars)

static GstBuffer *
painted_bars (GstVideoInfo *info)
{
  test_video_info (info, "RGB", BAR * N_BARS, 16);
  GstBuffer *frame = test_frame (info, NULL);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
  for (gint y = 0; y < 16; y++)
    for (gsize x = 0; x < BAR * N_BARS; x++)
      memcpy (map.data + y * info->stride[0] + 3 * x, bars[x / BAR], 3);
  gst_buffer_unmap (frame, &map);
  return frame;
}

/* As videoconvert does it. */
static GstBuffer *
converted (
    GstBuffer *from, const GstVideoInfo *from_info, const GstVideoInfo *to_info)
{
  GstVideoConverter *converter = gst_video_converter_new (
      (GstVideoInfo *) from_info, (GstVideoInfo *) to_info, NULL);
  GstBuffer *to = test_frame (to_info, NULL);
  GstVideoFrame source, target;

  fail_unless (converter != NULL, "%s", GST_VIDEO_INFO_NAME (to_info));
  fail_unless (gst_video_frame_map (
      &source, (GstVideoInfo *) from_info, from, GST_MAP_READ));
  fail_unless (gst_video_frame_map (
      &target, (GstVideoInfo *) to_info, to, GST_MAP_WRITE));
  gst_video_converter_frame (converter, &source, &target);
  gst_video_frame_unmap (&source);
  gst_video_frame_unmap (&target);
  gst_video_converter_free (converter);
  return to;
}

/* The middle of every bar is its colour, or its luma. videoconvert's 8-bit
 * paths are up to 5 steps off. */
static void
check_bars (GstBuffer *tensor, const GstVideoInfo *info)
{
  const gboolean gray = GST_VIDEO_FORMAT_INFO_IS_GRAY (info->finfo);
  gdouble kr = 0.299, kb = 0.114;
  GstMapInfo map;

  if (gray)
    gst_video_color_matrix_get_Kr_Kb (
        GST_VIDEO_INFO_COLORIMETRY (info).matrix, &kr, &kb);
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  for (gsize b = 0; b < N_BARS; b++) {
    const gdouble luma =
        kr * bars[b][0] + (1 - kr - kb) * bars[b][1] + kb * bars[b][2];
    const gsize middle = 8 * BAR * N_BARS + b * BAR + BAR / 2;
    for (gsize c = 0; c < 3; c++) {
      const gdouble expected = gray ? luma : bars[b][c];
      const gint got = map.data[c * map.size / 3 + middle];
      fail_unless (ABS (got - expected) <= 6,
          "%s: channel %u of %u,%u,%u is %d, not %g",
          GST_VIDEO_INFO_NAME (info), (guint) c, bars[b][0], bars[b][1],
          bars[b][2], got, expected);
    }
  }
  gst_buffer_unmap (tensor, &map);
}

GST_START_TEST (test_formats_are_described_truly) {
  GstHarness *h = test_harness (__i__, "type=uint8");
  gchar **formats = test_formats ();
  GstVideoInfo rgb, info;
  GstBuffer *frame = painted_bars (&rgb);

  for (guint f = 0; formats[f] != NULL; f++) {
    test_video_info (&info, formats[f], BAR * N_BARS, 16);
    GstBuffer *tensor = test_convert (h, &info, converted (frame, &rgb, &info));
    check_bars (tensor, &info);
    gst_buffer_unref (tensor);
  }
  gst_buffer_unref (frame);
  g_strfreev (formats);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_padded_rows);
  test_add (tcase, test_odd_sizes);
  test_add (tcase, test_odd_edges);
  test_add (tcase, test_decoder_layout);
  test_add (tcase, test_planes_in_several_memories);
  test_add (tcase, test_videocrop);
  test_add (tcase, test_formats_are_described_truly);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-layout", add_tests);
}
