/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For test_device.py, through ctypes: runs a pipeline that ends in an appsink with
 * the name sink, and says where its tensors lie, so that Python needs no PyGObject.
 *
 * Functions return NULL or FALSE where something is not there. One thread at a time.
 */
#include <gst/app/gstappsink.h>
#include <gst/gst.h>

#include "gst/cudapreproc/cudapreproc.h"

#define MAP_CUDA ((GstMapFlags) (GST_MAP_FLAG_LAST << 1))
#define PATIENCE (20 * GST_SECOND)

typedef struct {
  GstElement *pipeline;
  GstAppSink *sink;
  GstBus *bus;
  gint alive; /* of pipeline and element */
} Run;

gboolean device_tensors_has (const gchar *element);
Run *device_tensors_open (const gchar *line);
GstSample *device_tensors_pull (Run *run);
gboolean device_tensors_close (Run *run);
void device_tensors_caps (GstSample *sample, gchar *to, gsize size);
gboolean device_tensors_describe (
    GstSample *sample, GstCudaPreprocDeviceTensor *tensor);
gboolean device_tensors_wait (GstSample *sample);
gsize device_tensors_read (GstSample *sample, void *to, gsize size);
void device_tensors_release (GstSample *sample);
gint device_tensors_held (void);

static gint held;

gboolean
device_tensors_has (const gchar *element)
{
  gst_init (NULL, NULL);
  GstElementFactory *factory = gst_element_factory_find (element);
  const gboolean found = factory != NULL;

  gst_clear_object (&factory);
  return found;
}

static GQuark
described (void)
{
  return g_quark_from_static_string ("device-tensor");
}

/* As soon as the tensor's job is queued: later it may have ended, and has no event
 * then. */
static GstPadProbeReturn
describe_early (GstPad *pad, GstPadProbeInfo *info, gpointer unused)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstCudaPreprocDeviceTensor *tensor = g_new0 (GstCudaPreprocDeviceTensor, 1);

  (void) pad;
  (void) unused;
  if (gst_cuda_preproc_memory_get_device_tensor (
          gst_buffer_peek_memory (buffer, 0), tensor))
    gst_mini_object_set_qdata (
        GST_MINI_OBJECT_CAST (buffer), described (), tensor, g_free);
  else
    g_free (tensor);
  return GST_PAD_PROBE_OK;
}

static void
on_finalized (gpointer data, GObject *object)
{
  Run *run = data;

  (void) object;
  g_atomic_int_add (&run->alive, -1);
}

static void
watch (Run *run, GstElement *element)
{
  g_object_weak_ref (G_OBJECT (element), on_finalized, run);
  run->alive++;
}

/* The element's name is preproc. */
Run *
device_tensors_open (const gchar *line)
{
  GError *error = NULL;

  gst_init (NULL, NULL);
  GstElement *pipeline = gst_parse_launch (line, &error);
  if (error != NULL) {
    g_printerr ("%s\n", error->message);
    g_clear_error (&error);
    gst_clear_object (&pipeline);
    return NULL;
  }
  Run *run = g_new0 (Run, 1);
  run->pipeline = pipeline;
  run->sink = GST_APP_SINK (gst_bin_get_by_name (GST_BIN (pipeline), "sink"));
  run->bus = gst_element_get_bus (pipeline);
  watch (run, pipeline);
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  watch (run, element);
  gst_object_unref (element);
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (run->sink), "sink");
  gst_pad_add_probe (
      pad, GST_PAD_PROBE_TYPE_BUFFER, describe_early, NULL, NULL);
  gst_object_unref (pad);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return run;
}

/* Release it. NULL: at the end, or after an error, which is printed. */
GstSample *
device_tensors_pull (Run *run)
{
  GstSample *sample = gst_app_sink_try_pull_sample (run->sink, PATIENCE);

  if (sample != NULL) {
    held++;
    return sample;
  }
  GstMessage *message = gst_bus_pop_filtered (run->bus, GST_MESSAGE_ERROR);
  if (message != NULL) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  return NULL;
}

/* Whether nothing of pipeline and element is left. */
gboolean
device_tensors_close (Run *run)
{
  gst_element_set_state (run->pipeline, GST_STATE_NULL);
  gst_bus_set_flushing (run->bus, TRUE);
  gst_object_unref (run->bus);
  gst_object_unref (run->sink);
  gst_object_unref (run->pipeline);
  const gboolean gone = g_atomic_int_get (&run->alive) == 0;
  if (gone)
    g_free (run);
  return gone;
}

/* As text. */
void
device_tensors_caps (GstSample *sample, gchar *to, gsize size)
{
  g_autofree gchar *text = gst_caps_to_string (gst_sample_get_caps (sample));

  g_strlcpy (to, text, size);
}

/* As it was when the tensor came; waits for nothing. */
gboolean
device_tensors_describe (GstSample *sample, GstCudaPreprocDeviceTensor *tensor)
{
  const GstCudaPreprocDeviceTensor *early = gst_mini_object_get_qdata (
      GST_MINI_OBJECT_CAST (gst_sample_get_buffer (sample)), described ());

  if (early != NULL)
    *tensor = *early;
  return early != NULL;
}

/* Until the tensor is computed, on the host; it must be on the device. */
gboolean
device_tensors_wait (GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstMapInfo map;

  if (!gst_buffer_map (buffer, &map, GST_MAP_READ | MAP_CUDA))
    return FALSE;
  gst_buffer_unmap (buffer, &map);
  return TRUE;
}

/* Copies the tensor to host memory; its bytes. */
gsize
device_tensors_read (GstSample *sample, void *to, gsize size)
{
  return gst_buffer_extract (gst_sample_get_buffer (sample), 0, to, size);
}

void
device_tensors_release (GstSample *sample)
{
  gst_sample_unref (sample);
  held--;
}

/* Samples that are not released. */
gint
device_tensors_held (void)
{
  return held;
}
