/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "slicecases.h"

#include "tests/common/elementframes.h"

#include <string.h>

#include "tests/common/elementutil.h"

/* Of a batch; each frame is once the first, once in the middle and once the last. */
#define SIZE 3

/* Slices of 5769, 70 and 210 bytes among them, which no vector is as long as. */
static const gchar *const settings[] = {
  "width=16 height=16",
  "width=641 height=3 type=uint8 layout=nhwc",
  "width=5 height=7 type=float16 channels=gray",
  "width=5 height=7 type=float16 layout=nhwc fit=letterbox",
  ("width=7 height=5 type=int8 quant-zero-point=-128 fit=letterbox "
   "pad-align=top-left"),
  "preset=imagenet width=24 height=24 channels=bgr",
  "preset=yolo width=40 height=24",
  "width=33 height=17 fit=crop method=bicubic antialias=true pad-value=1,2,3",
  "width=20 height=20 fit=letterbox method=lanczos denoise=gaussian",
  "width=20 height=20 fit=letterbox method=area denoise=median layout=nhwc",
};

/* The frame's tensor alone. */
static GstBuffer *
convert_alone (GstHarness *h, const GstVideoInfo *info, GstBuffer *frame)
{
  return test_convert (h, info, gst_buffer_ref (frame));
}

static void
expect_slice (GstBuffer *batch, guint slice, GstBuffer *single, gboolean filled,
    const gchar *what)
{
  const gsize size = gst_buffer_get_size (single);
  GstBuffer *part = gst_buffer_copy_region (
      batch, GST_BUFFER_COPY_MEMORY, slice * size, size);
  g_autofree gchar *text = g_strdup_printf ("%s, slice %u", what, slice);
  GstMapInfo map;

  fail_unless_equals_uint64 (gst_buffer_get_size (batch), SIZE * size);
  if (filled) {
    test_expect_equal (part, single, text);
  } else { /* nothing of the frame that was there before */
    fail_unless (gst_buffer_map (single, &map, GST_MAP_READ));
    fail_unless (gst_buffer_memcmp (part, 0, map.data, map.size) != 0,
        "%s is still the frame", text);
    gst_buffer_unmap (single, &map);
  }
  gst_buffer_unref (part);
}

/* Frames in turns, and in the end a batch that has not all of them. */
static void
check (gint backend, const gchar *properties, const GstVideoInfo *info)
{
  g_autofree gchar *batches = g_strdup_printf ("%s batch-size=3", properties);
  g_autofree gchar *what =
      g_strdup_printf ("%s, %s", GST_VIDEO_INFO_NAME (info), properties);
  GstHarness *one = test_harness (backend, properties);
  GstHarness *three = test_harness (backend, batches);
  GstBuffer *frame[SIZE], *single[SIZE];

  for (guint f = 0; f < SIZE; f++) {
    frame[f] = test_frame (info, NULL);
    test_paint_noise (frame[f], info, f);
    single[f] = convert_alone (one, info, frame[f]);
  }
  test_send_caps (three, info);
  for (guint round = 0; round <= SIZE; round++) {
    const guint n = round < SIZE ? SIZE : 1;
    for (guint i = 0; i < n; i++)
      fail_unless_equals_int (
          gst_harness_push (three, gst_buffer_ref (frame[(i + round) % SIZE])),
          GST_FLOW_OK);
    if (n < SIZE)
      gst_harness_push_event (three, gst_event_new_eos ());
    GstBuffer *batch = gst_harness_pull (three);
    for (guint i = 0; i < SIZE; i++)
      expect_slice (batch, i, single[(i + round) % SIZE], i < n, what);
    gst_buffer_unref (batch);
  }
  for (guint f = 0; f < SIZE; f++) {
    gst_buffer_unref (frame[f]);
    gst_buffer_unref (single[f]);
  }
  test_harness_end (&one);
  test_harness_end (&three);
}

void
slices_expect_single_tensors (gint backend)
{
  gchar **formats = test_formats ();
  GstVideoInfo info;

  for (guint f = 0; formats[f] != NULL; f++) {
    test_video_info (&info, formats[f], 37, 23);
    check (backend, settings[f % G_N_ELEMENTS (settings)], &info);
  }
  for (guint s = 0; s < G_N_ELEMENTS (settings); s++) {
    test_video_info (&info, "NV12", 64, 36);
    check (backend, settings[s], &info);
  }
  g_strfreev (formats);
}
