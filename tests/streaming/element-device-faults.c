/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * As element-faults.c, with frames in CUDA memory, and tensors on the device or not:
 * every call fails once, those of the fake driver for which the element waits, too.
 * Frames come from the context that the element offers, or from another one, which it
 * moves to; in pipelines from a pool of few, which waits until they come back.
 */

#include "faultrun.h"

#include <gst/app/gstappsrc.h>
#include <gst/cuda/gstcudamemory.h>

#include "tests/common/cudaframes.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define SMALL "width=32 height=18 type=uint8 streams=2 staging-threads=2 "
/* The first one of another context; those of a batch must be of one. */
#define FIRST_MOVED 3
/* Of a pipeline. */
#define FRAMES 5
#define POOL_FRAMES 2

/* streams */

static GstBuffer *
make_offered (GstHarness *h, const GstVideoInfo *info, guint number)
{
  fake_exempt (TRUE);
  GstCudaContext *context = test_cuda_context_of (h);
  GstBuffer *frame = test_cuda_number (context, info, number);
  gst_object_unref (context);
  fake_exempt (FALSE);
  return frame;
}

static GstBuffer *
make_moved (GstHarness *h, const GstVideoInfo *info, guint number)
{
  GstCudaContext *other = g_object_get_data (G_OBJECT (h->element), "other");

  if (number < FIRST_MOVED)
    return make_offered (h, info, number);
  fake_exempt (TRUE);
  if (other == NULL) {
    other = test_cuda_context (0);
    g_object_set_data_full (
        G_OBJECT (h->element), "other", other, gst_object_unref);
  }
  GstBuffer *frame = test_cuda_number (other, info, number);
  fake_exempt (FALSE);
  return frame;
}

/* What comes before the device is open is the same as in element-faults.c. */
static const FaultStream streams[] = {
  { "frames", SMALL "async-depth=2", 120, 68, 6, 1, 1, 0, FALSE, TRUE,
      GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, make_moved },
  /* The last batch is not full. */
  { "both", SMALL "async-depth=1 batch-size=3", 120, 68, 8, 1, 3, 0, TRUE, TRUE,
      GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, make_moved },
  { "regions", SMALL "async-depth=1 regions=meta batch-size=2", 120, 68, 5, 1,
      1, 2, TRUE, TRUE, GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY, make_offered },
};

/* pipelines */

typedef struct {
  GstBufferPool *pool;
  GstVideoInfo info;
  guint next;
} Source;

static void
free_source (gpointer data)
{
  Source *source = data;

  gst_buffer_pool_set_active (source->pool, FALSE);
  gst_object_unref (source->pool);
  g_free (source);
}

/* On the streaming thread. Waits for a frame that has come back. */
static void
on_need_data (GstAppSrc *element, guint size, gpointer data)
{
  Source *source = data;

  (void) size;
  if (source->next == FRAMES) {
    gst_app_src_end_of_stream (element);
    return;
  }
  fake_exempt (TRUE);
  GstBuffer *frame = test_cuda_acquire (source->pool);
  test_paint_number (frame, &source->info, source->next);
  fake_exempt (FALSE);
  GST_BUFFER_PTS (frame) = source->next++ * GST_SECOND / 30;
  GST_BUFFER_DURATION (frame) = GST_SECOND / 30;
  gst_app_src_push_buffer (element, frame);
}

static void
feed (GstElement *pipeline)
{
  GstElement *element = test_element (pipeline, "in");
  Source *source = g_object_get_data (G_OBJECT (element), "source");

  if (source == NULL) {
    GstCudaContext *context = test_cuda_context (0);
    source = g_new0 (Source, 1);
    test_video_info (&source->info, "RGB", 120, 68);
    source->pool = test_cuda_pool (context, &source->info, POOL_FRAMES);
    g_autoptr (GstCaps) caps = test_cuda_caps (&source->info, TRUE);
    gst_app_src_set_caps (GST_APP_SRC (element), caps);
    g_object_set_data_full (G_OBJECT (element), "source", source, free_source);
    g_signal_connect (element, "need-data", G_CALLBACK (on_need_data), source);
    gst_object_unref (context);
  }
  source->next = 0;
}

static const FaultPipeline pipelines[] = {
  { "pipeline",
      "appsrc name=in format=time ! queue ! cudapreproc name=pp " SMALL
      "fit=letterbox batch-size=3 ! other/tensors(memory:CUDAMemory) ! queue "
      "! fakesink name=out sync=false",
      2, TRUE, feed },
  { "mux",
      "cudapreprocmux name=pp " SMALL "! other/tensors(memory:CUDAMemory) "
      "! queue ! fakesink name=out sync=false "
      "appsrc name=in format=time ! queue ! pp. "
      "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=40,height=34 "
      "! queue ! pp.",
      FRAMES, TRUE, feed },
};

/* each call */

/* The last one takes long, and pipelines make it as streams do. */
static const fake_call calls[] = { FAKE_OPEN, FAKE_ENTER, FAKE_HOST_ALLOC,
  FAKE_DEVICE_ALLOC, FAKE_PREPARE, FAKE_STREAM_CREATE, FAKE_EVENT_CREATE,
  FAKE_COPY, FAKE_TRANSFER, FAKE_LAUNCH, FAKE_LAUNCH_PICTURES, FAKE_PAD,
  FAKE_RECORD, FAKE_EVENT_WAIT, FAKE_EVENT_QUERY, FAKE_EVENT_ELAPSED,
  FAKE_THREAD, FAKE_DRIVER_SYNC, FAKE_MALLOC };

/* From GStreamer 1.24 on its own function waits, and does not tell of a failure. */
static gboolean
is_told (fake_call call)
{
  guint major, minor, micro, nano;

  gst_version (&major, &minor, &micro, &nano);
  return call != FAKE_DRIVER_SYNC || (major == 1 && minor < 23);
}

GST_START_TEST (test_stream_with_a_fault) {
  const fake_call call = calls[__i__];
  guint runs = 0;

  if (!is_told (call))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (streams); i++)
    runs += fault_run_stream (call, &streams[i]);
  fail_unless (runs > 0, "%s: never called", fault_call_name (call));
}
GST_END_TEST

GST_START_TEST (test_pipeline_with_a_fault) {
  for (guint i = 0; i < G_N_ELEMENTS (pipelines) && is_told (calls[__i__]); i++)
    fault_run_pipeline (calls[__i__], &pipelines[i]);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_loop_test (
      tcase, test_stream_with_a_fault, 0, (int) G_N_ELEMENTS (calls));
  tcase_add_loop_test (
      tcase, test_pipeline_with_a_fault, 0, (int) G_N_ELEMENTS (calls) - 1);
}

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, "element-device-faults", add_tests);
}
