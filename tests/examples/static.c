/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Example: a program that has the plugin in itself. Needs cudapreproc built and
 * installed with -Ddefault_library=static or both.
 *
 *     gcc -o static static.c $(pkg-config --static --cflags --libs gstcudapreproc-1.0)
 */
#include <gst/cudapreproc/cudapreproc.h>
#include <gst/gst.h>

int
main (int argc, char **argv)
{
  GError *error = NULL;

  gst_init (&argc, &argv);
  gst_cuda_preproc_register_static ();

  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=5 ! cudapreproc width=64 height=64 ! fakesink",
      &error);
  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    return 1;
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  const gboolean failed = GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR;
  if (failed) {
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
    g_error_free (error);
  } else
    g_print ("5 tensors\n");
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  return failed;
}
