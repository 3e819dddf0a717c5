/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "decodedsoak.h"

#include "tests/common/elementutil.h"
#include "tests/common/h264feed.h"
#include "tests/common/media.h"

#include "figures.h"

#define CLIP "bunny_1080p_bt709.mp4"
#define DECODERS 8
#define LINES 10

static const gchar *
find_missing (void)
{
  static const gchar *const needed[] = { "nvh264dec", "qtdemux", "h264parse" };

  for (guint i = 0; i < G_N_ELEMENTS (needed); i++) {
    GstElementFactory *factory = gst_element_factory_find (needed[i]);
    if (factory == NULL)
      return needed[i];
    gst_object_unref (factory);
  }
  return NULL;
}

static H264Clip *
read_clip (void)
{
  const gchar *missing = find_missing ();
  g_autofree gchar *path = test_media_path (CLIP);
  gchar *reason = NULL;

  if (missing != NULL || path == NULL) {
    g_print ("SKIP decoded: no %s\n", missing != NULL ? missing : CLIP);
    return NULL;
  }
  H264Clip *clip = h264_clip_read (path, "qtdemux !", &reason);
  fail_unless (clip != NULL, "%s", reason);
  return clip;
}

static GstElement *
start (gint backend, H264Clip *clip, guint frames, gint *out)
{
  GstElement *pipeline = test_launch (backend,
      "appsrc name=source ! nvh264dec ! video/x-raw(memory:CUDAMemory) ! "
      "cudapreproc name=pp width=640 height=640 fit=letterbox ! "
      "other/tensors(memory:CUDAMemory) ! fakesink sync=false "
      "enable-last-sample=false");

  h264_feed (test_element (pipeline, "source"), clip, (gint) frames);
  test_count_buffers (test_pad (pipeline, "pp", "src"), out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

/* Every decoder's errors are looked for. */
static void
expect_no_error (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

  if (message != NULL) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    fail ("%s", error->message);
  }
  gst_object_unref (bus);
}

/* Fails where none comes for long. */
static void
wait_for_frames (GstElement **pipelines, gint *out, guint frames)
{
  gint64 progress = g_get_monotonic_time ();
  guint seen = 0, before;

  do {
    g_usleep (10000);
    before = seen;
    seen = 0;
    for (guint d = 0; d < DECODERS; d++) {
      seen += (guint) g_atomic_int_get (&out[d]);
      expect_no_error (pipelines[d]);
    }
    if (seen != before)
      progress = g_get_monotonic_time ();
    fail_unless (GST_CLOCK_DIFF (progress, g_get_monotonic_time ()) <
            (GstClockTimeDiff) (TEST_PATIENCE / GST_USECOND),
        "stuck after %u frames", seen);
  } while (seen < frames);
}

/* Of its frames: all came, and none crossed the bus. */
static void
finish (GstElement **pipeline, gint *out, guint frames)
{
  GstStructure *stats = NULL;
  guint64 up = 1, down = 1;

  gst_message_unref (test_pop (*pipeline, GST_MESSAGE_EOS));
  fail_unless_equals_int (g_atomic_int_get (out), frames);
  g_object_get (test_element (*pipeline, "pp"), "stats", &stats, NULL);
  fail_unless (gst_structure_get (stats, "bytes-up", G_TYPE_UINT64, &up,
      "bytes-down", G_TYPE_UINT64, &down, NULL));
  fail_unless_equals_uint64 (up, 0);
  fail_unless_equals_uint64 (down, 0);
  gst_structure_free (stats);
  test_stop (pipeline);
}

void
decoded_soak (gint backend, guint frames)
{
  const gint64 begin = g_get_monotonic_time ();
  GstElement *pipelines[DECODERS];
  gint out[DECODERS] = { 0 };
  H264Clip *clip = read_clip ();
  Figures warm = { 0 };

  if (clip == NULL)
    return;
  for (guint d = 0; d < DECODERS; d++)
    pipelines[d] = start (backend, clip, frames / DECODERS, &out[d]);
  for (guint line = 1; line < LINES; line++) {
    wait_for_frames (pipelines, out, frames / LINES * line);
    const Figures now =
        figures_take (backend, "decoded", frames / LINES * line, begin);
    if (line == 1)
      warm = now;
    else
      figures_expect_flat (&warm, &now);
  }
  for (guint d = 0; d < DECODERS; d++)
    finish (&pipelines[d], &out[d], frames / DECODERS);
  const Figures end = figures_take (backend, "decoded", frames, begin);
  figures_expect_flat (&warm, &end);
  h264_clip_free (clip);
}
