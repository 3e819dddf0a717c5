/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Example: a camera's tensors, for as long as you like. The camera may go away
 * and come back, change its size, and send more than the network takes: then old
 * frames are dropped. Ctrl-C ends it.
 * Argument: rtsp://..., or any other URI that uridecodebin takes.
 *
 *     gcc -o camera camera.c $(pkg-config --cflags --libs gstcudapreproc-1.0 gstreamer-app-1.0)
 */
#include <signal.h>
#include <stdlib.h>

#include <gst/app/gstappsink.h>
#include <gst/cudapreproc/cudapreproc.h>
#include <gst/gst.h>

#define PIPELINE                                                               \
  "uridecodebin name=source expose-all-streams=false caps=video/x-raw(ANY) ! " \
  "queue leaky=downstream max-size-buffers=1 ! "                               \
  "cudapreproc preset=yolo width=640 height=640 ! "                            \
  "appsink name=sink sync=false drop=true max-buffers=1"
#define JITTER 100                      /* ms, of the network to the camera */
#define SILENCE 5                       /* s, then the camera counts as gone */
#define FIRST_WAIT (G_USEC_PER_SEC / 2) /* before another attempt, doubled */
#define LONGEST_WAIT (8 * G_USEC_PER_SEC)

static volatile sig_atomic_t stopped;

static void
on_signal (int number)
{
  stopped = 1;
  signal (number, SIG_DFL); /* for whoever presses it twice */
}

/* Two seconds is what rtspsrc would take. */
static void
on_source (GstElement *decodebin, GstElement *source)
{
  (void) decodebin;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (source), "latency"))
    g_object_set (source, "latency", JITTER, NULL);
}

static GstElement *
make_pipeline (const gchar *uri)
{
  g_autoptr (GError) error = NULL;
  GstElement *pipeline = gst_parse_launch (PIPELINE, &error);

  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    exit (1);
  }
  g_autoptr (GstElement) source =
      gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_object_set (source, "uri", uri, NULL);
  g_signal_connect (source, "source-setup", G_CALLBACK (on_source), NULL);
  return pipeline;
}

/* Yours: the network, on 3 x 640 x 640 floats from map.data on. A box that it
 * finds is mapped back to the frame with gst_cuda_preproc_picture_map_box. Here,
 * it only says what size the frames have. */
static void
infer (GstBuffer *buffer)
{
  static gint width, height;
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  GstMapInfo map;

  /* Waits for the tensor. If it could not be computed, the bus says why. */
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  if (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture) &&
      (picture.src[2] != width || picture.src[3] != height)) {
    width = picture.src[2];
    height = picture.src[3];
    g_print ("frames of %dx%d\n", width, height);
  }
  gst_buffer_unmap (buffer, &map);
}

/* Milliseconds since the time that the camera or the network gave the frame; 0
 * where it has none. */
static gdouble
get_latency (GstElement *pipeline, GstSample *sample)
{
  const GstClockTime frame =
      gst_segment_to_running_time (gst_sample_get_segment (sample),
          GST_FORMAT_TIME, GST_BUFFER_PTS (gst_sample_get_buffer (sample)));
  const GstClockTime now = gst_element_get_current_running_time (pipeline);

  return GST_CLOCK_TIME_IS_VALID (frame)
      ? (gdouble) GST_CLOCK_DIFF (frame, now) / GST_MSECOND
      : 0;
}

/* Until the camera is gone; whether it was there at all. */
static gboolean
watch (GstElement *pipeline)
{
  g_autoptr (GstElement) sink =
      gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) end = NULL;
  g_autoptr (GError) error = NULL;
  const gint64 start = g_get_monotonic_time ();
  gint64 heard = start, printed = start;
  gdouble longest = 0;
  guint tensors = 0;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!stopped && end == NULL &&
      g_get_monotonic_time () < heard + SILENCE * G_USEC_PER_SEC) {
    g_autoptr (GstSample) sample =
        gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 10);
    if (sample != NULL) {
      infer (gst_sample_get_buffer (sample));
      longest = MAX (longest, get_latency (pipeline, sample));
      heard = g_get_monotonic_time ();
      tensors++;
    }
    if (heard >= printed + G_USEC_PER_SEC) {
      g_print (
          "%u tensors, at most %.1f ms after their frames\n", tensors, longest);
      printed = heard;
      longest = tensors = 0;
    }
    end = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);

  if (end != NULL && GST_MESSAGE_TYPE (end) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (end, &error, NULL);
    g_print ("%s: %s\n", GST_MESSAGE_SRC_NAME (end), error->message);
  } else if (end != NULL) {
    g_print ("the stream ended\n");
  } else if (!stopped) {
    g_print ("no tensor for %d s\n", SILENCE);
  }
  return heard > start;
}

int
main (int argc, char **argv)
{
  gint64 wait = FIRST_WAIT;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: %s URI\n", argv[0]);
    return 2;
  }
  signal (SIGINT, on_signal);
  while (!stopped) {
    g_autoptr (GstElement) pipeline = make_pipeline (argv[1]);
    wait = watch (pipeline) ? FIRST_WAIT : MIN (wait * 2, LONGEST_WAIT);
    if (!stopped)
      g_print ("again in %g s\n", (gdouble) wait / G_USEC_PER_SEC);
    for (gint64 t = 0; !stopped && t < wait; t += 50000)
      g_usleep (50000);
  }
  return 0;
}
