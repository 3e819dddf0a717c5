/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The demo: a clip through a decoder and cudapreproc, with progress; then what
 * it took, the tensor's caps, and one tensor as a picture.
 * Arguments: the clip, the PNG to write.
 */
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/gst.h>

#define SIZE 640
#define ROUNDS 20 /* times that the clip is played */

/* TRUE when the bus has an error, which is then printed. */
static gboolean
has_failed (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *debug = NULL;

  gst_object_unref (bus);
  if (message == NULL)
    return FALSE;
  gst_message_parse_error (message, &error, &debug);
  g_printerr ("\n%s: %s\n%s\n", GST_OBJECT_NAME (message->src), error->message,
      debug != NULL ? debug : "");
  g_clear_error (&error);
  g_free (debug);
  gst_message_unref (message);
  return TRUE;
}

/* The planes of R, G and B, 0...1, as packed bytes. */
static GstBuffer *
tensor_to_rgb (const gfloat *tensor)
{
  GstBuffer *picture = gst_buffer_new_allocate (NULL, SIZE * SIZE * 3, NULL);
  GstMapInfo map;

  gst_buffer_map (picture, &map, GST_MAP_WRITE);
  for (gint i = 0; i < SIZE * SIZE; i++)
    for (gint c = 0; c < 3; c++)
      map.data[i * 3 + c] =
          (guint8) (tensor[c * SIZE * SIZE + i] * 255.0f + 0.5f);
  gst_buffer_unmap (picture, &map);
  return picture;
}

static gboolean
write_png (GstBuffer *tensor, const gchar *path)
{
  GstMapInfo map;
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (
      "appsrc name=source ! pngenc ! filesink name=sink", &error);

  if (pipeline == NULL || error != NULL) {
    g_printerr ("No PNG: %s\n", error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return FALSE;
  }
  /* Waits for the tensor; fails when it could not be computed. */
  if (!gst_buffer_map (tensor, &map, GST_MAP_READ)) {
    gst_object_unref (pipeline);
    return FALSE;
  }
  GstBuffer *picture =
      tensor_to_rgb ((const gfloat *) (gconstpointer) map.data);
  gst_buffer_unmap (tensor, &map);

  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      "RGB", "width", G_TYPE_INT, SIZE, "height", G_TYPE_INT, SIZE, "framerate",
      GST_TYPE_FRACTION, 0, 1, NULL);
  g_object_set (source, "caps", caps, "format", GST_FORMAT_TIME, NULL);
  g_object_set (sink, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_app_src_push_buffer (GST_APP_SRC (source), picture);
  gst_app_src_end_of_stream (GST_APP_SRC (source));

  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, 10 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const gboolean written =
      message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS;
  gst_clear_message (&message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  gst_caps_unref (caps);
  return written;
}

/* Plays the clip ROUNDS times; the last tensor and its caps, or NULL. */
static GstBuffer *
play (GstElement *pipeline, GstAppSink *sink, guint *frames, GstCaps **caps)
{
  GstBuffer *last = NULL;

  for (gint round = 0; round < ROUNDS; round++) {
    GstSample *sample;

    if (round > 0 &&
        !gst_element_seek_simple (
            pipeline, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, 0))
      break;
    while ((sample = gst_app_sink_try_pull_sample (sink, 10 * GST_SECOND)) !=
        NULL) {
      gst_buffer_replace (&last, gst_sample_get_buffer (sample));
      gst_caps_replace (caps, gst_sample_get_caps (sample));
      gst_sample_unref (sample);
      g_print ("\r%u frames", ++*frames);
    }
    if (has_failed (pipeline))
      break;
  }
  g_print ("\n");
  return last;
}

static void
report (GstElement *element, const GstCaps *caps, guint frames, gdouble seconds)
{
  GstStructure *stats = NULL;
  gchar *caps_text = gst_caps_to_string (caps);
  gchar *device = NULL;

  g_object_get (element, "stats", &stats, "device-name", &device, NULL);
  g_print ("Ran on:     %s\n", device);
  g_print (
      "Decoded, converted and pulled %u frames in %.2f s\n", frames, seconds);
  g_print ("Tensor:     %s\n", caps_text);
  g_print ("Statistics (times in microseconds):\n");
  for (gint i = 0; i < gst_structure_n_fields (stats); i++) {
    const gchar *name = gst_structure_nth_field_name (stats, (guint) i);
    const GValue *value = gst_structure_get_value (stats, name);
    if (G_VALUE_HOLDS_DOUBLE (value))
      g_print ("  %-14s %.1f\n", name, g_value_get_double (value));
    else if (G_VALUE_HOLDS_STRING (value))
      g_print ("  %-14s %s\n", name, g_value_get_string (value));
    else if (G_VALUE_HOLDS_INT (value))
      g_print ("  %-14s %d\n", name, g_value_get_int (value));
    else if (G_VALUE_HOLDS_UINT64 (value))
      g_print (
          "  %-14s %" G_GUINT64_FORMAT "\n", name, g_value_get_uint64 (value));
  }
  gst_structure_free (stats);
  g_free (device);
  g_free (caps_text);
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  GstCaps *caps = NULL;
  guint frames = 0;

  gst_init (&argc, &argv);
  if (argc != 3) {
    g_printerr ("usage: %s CLIP PNG\n", argv[0]);
    return 2;
  }
  gchar *launch = g_strdup_printf (
      "filesrc location=\"%s\" ! decodebin ! cudapreproc name=preproc "
      "width=%d height=%d fit=letterbox ! appsink name=sink sync=false "
      "max-buffers=4",
      argv[1], SIZE, SIZE);
  GstElement *pipeline = gst_parse_launch (launch, &error);
  if (pipeline == NULL || error != NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  g_print ("gst-launch-1.0 %s\n", launch);

  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  const gint64 start = g_get_monotonic_time ();
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstBuffer *tensor = play (pipeline, GST_APP_SINK (sink), &frames, &caps);
  gboolean done = tensor != NULL && !has_failed (pipeline);
  if (done) {
    report (element, caps, frames,
        (gdouble) (g_get_monotonic_time () - start) / G_USEC_PER_SEC);
    done = write_png (tensor, argv[2]);
    g_print ("Picture:    %s\n", done ? argv[2] : "not written");
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_clear_buffer (&tensor);
  gst_clear_caps (&caps);
  gst_object_unref (element);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  g_free (launch);
  return done ? 0 : 1;
}
