/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Example: tensors out of a film, and where a box that a network found in one
 * lies in the frame. The network is yours; here its box is the tensor's middle.
 * Argument: the film.
 *
 *     gcc -o boxes boxes.c $(pkg-config --cflags --libs gstcudapreproc-1.0 gstreamer-app-1.0)
 */
#include <gst/app/gstappsink.h>
#include <gst/cudapreproc/cudapreproc.h>
#include <gst/gst.h>

#define SIZE 320

/* Your network: fills box with left, top, right and bottom in the tensor. */
static void
infer (const gfloat *tensor, gdouble box[4])
{
  (void) tensor; /* 3 x SIZE x SIZE */
  box[0] = box[1] = SIZE * 0.375;
  box[2] = box[3] = SIZE * 0.625;
}

/* FALSE if the tensor could not be computed; the bus then says why. */
static gboolean
handle (GstBuffer *buffer)
{
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ)) /* waits for the tensor */
    return FALSE;
  while (gst_cuda_preproc_buffer_next_picture (buffer, &state, &picture)) {
    const gsize slice = (gsize) picture.index * 3 * SIZE * SIZE;
    gdouble box[4];

    infer ((const gfloat *) (gconstpointer) map.data + slice, box);
    gst_cuda_preproc_picture_map_box (&picture, box, box);
    g_print ("%" GST_TIME_FORMAT ": %g,%g to %g,%g\n",
        GST_TIME_ARGS (picture.pts), box[0], box[1], box[2], box[3]);
  }
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

/* TRUE if there is an error, which is printed. */
static gboolean
has_failed (GstElement *pipeline)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  GError *error = NULL;

  gst_object_unref (bus);
  if (message == NULL)
    return FALSE;
  gst_message_parse_error (message, &error, NULL);
  g_printerr ("%s\n", error->message);
  g_error_free (error);
  gst_message_unref (message);
  return TRUE;
}

int
main (int argc, char **argv)
{
  GError *error = NULL;
  gboolean failed = FALSE;

  gst_init (&argc, &argv);
  if (argc != 2) {
    g_printerr ("usage: %s FILM\n", argv[0]);
    return 2;
  }
  gchar *launch = g_strdup_printf (
      "filesrc location=\"%s\" ! decodebin ! cudapreproc fit=letterbox "
      "width=%d height=%d ! appsink name=sink max-buffers=4 sync=false",
      argv[1], SIZE, SIZE);
  GstElement *pipeline = gst_parse_launch (launch, &error);
  g_free (launch);
  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstAppSink *sink = GST_APP_SINK (element);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (!failed && !gst_app_sink_is_eos (sink)) {
    GstSample *sample = gst_app_sink_try_pull_sample (sink, GST_SECOND);
    if (sample != NULL) {
      failed = !handle (gst_sample_get_buffer (sample));
      gst_sample_unref (sample);
    }
    failed = has_failed (pipeline) || failed;
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (pipeline);
  return failed;
}
