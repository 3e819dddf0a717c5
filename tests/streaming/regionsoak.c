/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regionsoak.h"

#include <gst/cudapreproc/cudapreproc.h>
#include <gst/video/video.h>
#include <sys/resource.h>

#include "figures.h"
#include "tests/common/elementutil.h"

#define PARTS 10
#define BATCH 16
#define MANY 300

typedef struct {
  guint part; /* frames */
  GRand *random;
  gint width, height;           /* of the frame */
  gint frames;                  /* that came; atomic */
  guint64 regions;              /* of these, that have a pixel */
  gdouble processor[PARTS + 1]; /* seconds, when each part began */
  /* What left, on another thread. */
  guint64 tensors, pictures;
} Soak;

static gdouble
processor_seconds (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (gdouble) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
      1e-6 * (gdouble) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* Pixels of [start, start + length) inside of [0, size). */
static gint
inside (gint start, gint length, gint size)
{
  return MIN (start + length, size) - MAX (start, 0);
}

/* Around the frame, and in it; one in ten is empty. */
static void
add_region (Soak *soak, GstBuffer *frame)
{
  const gint x = g_rand_int_range (soak->random, -soak->width / 4, soak->width);
  const gint y =
      g_rand_int_range (soak->random, -soak->height / 4, soak->height);
  const gint width = g_rand_int_range (soak->random, 0, 10) == 0
      ? 0
      : g_rand_int_range (soak->random, 1, soak->width / 4);
  const gint height = g_rand_int_range (soak->random, 1, soak->height / 2);

  gst_buffer_add_video_region_of_interest_meta (
      frame, "thing", (guint) x, (guint) y, (guint) width, (guint) height);
  soak->regions += inside (x, width, soak->width) > 0 &&
      inside (y, height, soak->height) > 0;
}

static guint
count_regions (Soak *soak, guint number)
{
  if (number % 10 == 0)
    return 0;
  if (number % 100 == 55)
    return MANY;
  return (guint) g_rand_int_range (soak->random, 1, 21);
}

/* The detector. The regions of each part are the same. */
static GstPadProbeReturn
detect (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Soak *soak = data;
  const guint number = (guint) soak->frames, last = PARTS * soak->part;
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  if (number % soak->part == 0 && number <= last) {
    soak->processor[number / soak->part] = processor_seconds ();
    g_rand_set_seed (soak->random, 1);
  }
  g_atomic_int_inc (&soak->frames);
  if (number >= last)
    return GST_PAD_PROBE_DROP;
  gst_structure_get (gst_caps_get_structure (caps, 0), "width", G_TYPE_INT,
      &soak->width, "height", G_TYPE_INT, &soak->height, NULL);

  GstBuffer *frame =
      gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  const guint n = count_regions (soak, number % soak->part);

  for (guint i = 0; i < n; i++)
    add_region (soak, frame);
  GST_PAD_PROBE_INFO_DATA (info) = frame;
  return GST_PAD_PROBE_OK;
}

/* The model. */
static GstPadProbeReturn
use (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Soak *soak = data;
  GstBuffer *tensor = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  GstMapInfo map;

  (void) pad;
  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  gst_buffer_unmap (tensor, &map);
  soak->tensors++;
  while (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture))
    soak->pictures++;
  return GST_PAD_PROBE_OK;
}

/* From the beginning again. */
static void
start_over (GstElement *pipeline)
{
  fail_unless (gst_element_seek_simple (
      pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0));
}

/* Until so many frames came. */
static void
wait_for_frames (GstElement *pipeline, Soak *soak, guint frames)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  while ((guint) g_atomic_int_get (&soak->frames) < frames) {
    GstMessage *message = gst_bus_timed_pop_filtered (
        bus, 5 * GST_MSECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

    if (message == NULL)
      continue;
    fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
    gst_message_unref (message);
    start_over (pipeline);
  }
}

void
region_soak (gint backend, const gchar *source, guint part, gdouble slower)
{
  const gint64 begin = g_get_monotonic_time ();
  Soak soak = { .part = part, .random = g_rand_new () };
  Figures warm = { 0 };
  GstElement *pipeline = test_launch (backend,
      "%s ! cudapreproc name=pp width=112 height=112 fit=letterbox "
      "regions=meta batch-size=%d ! queue ! fakesink name=sink sync=false",
      source, BATCH);

  gst_pad_add_probe (test_pad (pipeline, "pp", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, detect, &soak, NULL);
  gst_pad_add_probe (test_pad (pipeline, "sink", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, use, &soak, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 1; n <= PARTS; n++) {
    wait_for_frames (pipeline, &soak, n * part);
    const Figures now = figures_take (backend, "frames", n * part, begin);
    if (n == 1)
      warm = now;
    else
      figures_expect_flat (&warm, &now);
  }
  /* One more tells when the last part ended; the rest of the film is dropped. */
  wait_for_frames (pipeline, &soak, PARTS * part + 1);
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
  test_stop (&pipeline);
  g_rand_free (soak.random);

  for (guint n = 0; n < PARTS; n++)
    g_print ("%s%.0f", n == 0 ? "us of processor time a frame: " : " ",
        (soak.processor[n + 1] - soak.processor[n]) / part * 1e6);
  g_print ("; %" G_GUINT64_FORMAT " pictures, %" G_GUINT64_FORMAT " tensors\n",
      soak.pictures, soak.tensors);
  fail_unless_equals_uint64 (soak.pictures, soak.regions);
  const gdouble second = soak.processor[2] - soak.processor[1];
  const gdouble last = soak.processor[PARTS] - soak.processor[PARTS - 1];
  fail_unless (last <= slower * second,
      "the last %u frames took %g s, the second ones %g", part, last, second);
}
