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

typedef struct {
  guint tensors;                 /* since the last report */
  GstClockTime latency, longest; /* their sum, and the longest of them */
  gint64 reported;               /* microseconds */
  gint width, height;            /* of the last frame */
} Report;

static volatile sig_atomic_t stopped;

static void
on_signal (int number)
{
  stopped = 1;
  signal (number, SIG_DFL); /* for whoever presses it twice */
}

/* Yours: the network, on 3 x 640 x 640 floats. A box that it finds is mapped
 * back to the frame with gst_cuda_preproc_picture_map_box. */
static void
infer (const gfloat *tensor, const GstCudaPreprocPicture *picture)
{
  (void) tensor;
  (void) picture;
}

/* Two seconds is what rtspsrc would take. */
static void
on_source (GstElement *decodebin, GstElement *source, gpointer data)
{
  (void) decodebin;
  (void) data;
  if (g_object_class_find_property (G_OBJECT_GET_CLASS (source), "latency"))
    g_object_set (source, "latency", JITTER, NULL);
}

static GstElement *
connect_camera (const gchar *uri, GError **error)
{
  GstElement *pipeline = gst_parse_launch (PIPELINE, error);

  if (*error == NULL) {
    GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
    g_object_set (source, "uri", uri, NULL);
    g_signal_connect (source, "source-setup", G_CALLBACK (on_source), NULL);
    gst_object_unref (source);
  }
  return pipeline;
}

/* TRUE at an error, which is printed, or the end of the stream. */
static gboolean
has_ended (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message =
      gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  GError *error = NULL;

  gst_object_unref (bus);
  if (message == NULL)
    return FALSE;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    g_print ("%s: %s\n", GST_MESSAGE_SRC_NAME (message), error->message);
    g_error_free (error);
  } else
    g_print ("the stream ended\n");
  gst_message_unref (message);
  return TRUE;
}

/* From the frame's time, which the camera or the network gave it, until now. */
static GstClockTime
get_latency (GstElement *pipeline, GstSample *sample)
{
  const GstClockTime frame =
      gst_segment_to_running_time (gst_sample_get_segment (sample),
          GST_FORMAT_TIME, GST_BUFFER_PTS (gst_sample_get_buffer (sample)));
  const GstClockTime now = gst_element_get_current_running_time (pipeline);

  return GST_CLOCK_TIME_IS_VALID (frame) && now > frame ? now - frame : 0;
}

static void
report (Report *r, const GstCudaPreprocPicture *picture, GstClockTime latency)
{
  const gint64 now = g_get_monotonic_time ();

  if (picture->src[2] != r->width || picture->src[3] != r->height) {
    r->width = picture->src[2];
    r->height = picture->src[3];
    g_print ("frames of %dx%d\n", r->width, r->height);
  }
  r->tensors++;
  r->latency += latency;
  r->longest = MAX (r->longest, latency);
  if (now - r->reported < G_USEC_PER_SEC)
    return;
  g_print ("%u tensors, %.1f ms after their frames, at most %.1f\n", r->tensors,
      (gdouble) r->latency / r->tensors / GST_MSECOND,
      (gdouble) r->longest / GST_MSECOND);
  r->tensors = 0;
  r->latency = r->longest = 0;
  r->reported = now;
}

static void
handle (GstElement *pipeline, GstSample *sample, Report *r)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  GstMapInfo map;

  /* Waits for the tensor. If it could not be computed, the bus says why. */
  if (!gst_buffer_map (buffer, &map, GST_MAP_READ))
    return;
  if (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture)) {
    infer ((const gfloat *) (gconstpointer) map.data, &picture);
    report (r, &picture, get_latency (pipeline, sample));
  }
  gst_buffer_unmap (buffer, &map);
}

/* Until the camera is gone; whether it was there at all. */
static gboolean
watch (GstElement *pipeline, Report *r)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gint64 heard = g_get_monotonic_time ();
  gboolean seen = FALSE;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!stopped && !has_ended (pipeline)) {
    GstSample *sample =
        gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 10);
    if (sample == NULL) {
      if (g_get_monotonic_time () - heard < SILENCE * G_USEC_PER_SEC)
        continue;
      g_print ("no tensor for %d s\n", SILENCE);
      break;
    }
    handle (pipeline, sample, r);
    gst_sample_unref (sample);
    heard = g_get_monotonic_time ();
    seen = TRUE;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  return seen;
}

int
main (int argc, char **argv)
{
  gint64 wait = FIRST_WAIT;
  Report r = { 0 };
  GError *error = NULL;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: %s URI\n", argv[0]);
    return 2;
  }
  signal (SIGINT, on_signal);
  while (!stopped) {
    GstElement *pipeline = connect_camera (argv[1], &error);
    if (error != NULL) {
      g_printerr ("%s\n", error->message);
      return 1;
    }
    wait = watch (pipeline, &r) ? FIRST_WAIT : MIN (wait * 2, LONGEST_WAIT);
    gst_object_unref (pipeline);
    if (!stopped)
      g_print ("again in %g s\n", (gdouble) wait / G_USEC_PER_SEC);
    for (gint64 t = 0; !stopped && t < wait; t += 50000)
      g_usleep (50000);
  }
  return 0;
}
