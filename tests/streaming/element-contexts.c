/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in CUDA memory as a stream: the context that elements share, frames of
 * another one, caps that change from one kind of memory to the other, flushes,
 * several streams.
 */

#include <string.h>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/cuda/gstcudautils.h>

#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/cudaframes.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define PROPERTIES "name=cudapreproc width=16 height=12 type=uint8 "

/* The context that a tensor is in. */
static gpointer
context_of (GstBuffer *tensor)
{
  GstCudaPreprocDeviceTensor device;

  fail_unless (gst_cuda_preproc_memory_get_device_tensor (
      gst_buffer_peek_memory (tensor, 0), &device));
  return device.context;
}

static GstBuffer *
host_noise (const GstVideoInfo *info, guint32 seed)
{
  GstBuffer *frame = test_frame (info, NULL);

  test_paint_noise (frame, info, seed);
  return frame;
}

/* The tensor of the frame of that seed, through host memory. */
static GstBuffer *
expected_tensor (const GstVideoInfo *info, guint32 seed)
{
  GstHarness *h = test_cuda_harness (PROPERTIES, FALSE);
  GstBuffer *tensor = test_convert (h, info, host_noise (info, seed));

  test_harness_end (&h);
  return tensor;
}

/* Sends the frame of that seed, in context or, where that is NULL, in host memory;
 * its tensor, which must be the right one. */
static GstBuffer *
send (GstHarness *h, GstCudaContext *context, const GstVideoInfo *info,
    guint32 seed)
{
  GstBuffer *expected = expected_tensor (info, seed);

  test_cuda_send_caps (h, info, context != NULL);
  fail_unless_equals_int (
      gst_harness_push (h,
          context != NULL ? test_cuda_noise (context, info, seed)
                          : host_noise (info, seed)),
      GST_FLOW_OK);
  GstBuffer *tensor = gst_harness_pull (h);
  test_expect_equal (tensor, expected, "a tensor");
  gst_buffer_unref (expected);
  return tensor;
}

static void
send_and_drop (GstHarness *h, GstCudaContext *context, const GstVideoInfo *info,
    guint32 seed)
{
  gst_buffer_unref (send (h, context, info, seed));
}

/* contexts */

static GstMessage *
pop_have_context (GstElement *element)
{
  GstBus *bus = gst_element_get_bus (element);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_HAVE_CONTEXT);

  gst_object_unref (bus);
  return message;
}

static gpointer
context_handle (GstHarness *h)
{
  GstCudaContext *context = test_cuda_context_of (h);
  gpointer handle = gst_cuda_context_get_handle (context);

  gst_object_unref (context);
  return handle;
}

GST_START_TEST (test_context_is_offered) {
  GstVideoInfo info;
  GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
  GstMessage *message = pop_have_context (h->element);

  fail_unless (message != NULL);
  gst_message_unref (message);
  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *tensor = send (h, NULL, &info, 1);
  fail_unless (context_of (tensor) == context_handle (h));
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* Fails unless the runtime of CUDA, in the primary context, reads expected there. */
static void
expect_in_primary (GstBuffer *tensor, GstBuffer *expected)
{
  const gsize size = gst_buffer_get_size (expected);
  g_autofree guint8 *bytes = g_malloc0 (size);
  GstCudaPreprocDeviceTensor device;

  fail_unless (gst_cuda_preproc_memory_get_device_tensor (
      gst_buffer_peek_memory (tensor, 0), &device));
  fail_unless_equals_uint64 (device.size, size);
  fail_unless (test_cuda_read_in_primary (&device, bytes, size));
  fail_unless (gst_buffer_memcmp (expected, 0, bytes, size) == 0);
}

/* What the element offers is where users of CUDA's runtime work: PyTorch, TensorRT.
 * Frames come from host memory, and from what it offers upstream. */
GST_START_TEST (test_runtime_reads_tensors) {
  for (gint cuda = 0; cuda < 2; cuda++) {
    GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
    GstCudaContext *context = test_cuda_context_of (h);
    GstVideoInfo info;

    test_video_info (&info, "NV12", 64, 36);
    test_cuda_send_caps (h, &info, cuda);
    for (guint i = 0; i < 20; i++) {
      GstBuffer *expected = expected_tensor (&info, i);
      GstBuffer *frame =
          cuda ? test_cuda_noise (context, &info, i) : host_noise (&info, i);
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
      GstBuffer *tensor = gst_harness_pull (h);
      expect_in_primary (tensor, expected);
      gst_buffer_unref (tensor);
      gst_buffer_unref (expected);
    }
    gst_object_unref (context);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* A context that somebody has kept of an element outlives it. */
GST_START_TEST (test_offered_context_lasts) {
  GstVideoInfo info;
  GstHarness *h = test_cuda_harness (PROPERTIES, FALSE);
  GstCudaContext *context = test_cuda_context_of (h);

  test_harness_end (&h);
  test_video_info (&info, "RGB", 32, 24);
  h = test_cuda_harness (PROPERTIES, FALSE);
  send_and_drop (h, context, &info, 2);
  gst_object_unref (context);
  test_harness_end (&h);
}
GST_END_TEST

/* Nor does it keep anything once nobody has it: memory, and the primary context. */
GST_START_TEST (test_offered_context_goes) {
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  test_cuda_expect_nothing_left ();
  for (gint kept = 0; kept < 3; kept++) {
    GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
    GstCudaContext *context = kept ? test_cuda_context_of (h) : NULL;

    if (kept == 2)
      send_and_drop (h, context, &info, 1);
    test_harness_end (&h);
    gst_clear_object (&context);
    test_cuda_expect_nothing_left ();
  }
}
GST_END_TEST

static void
give_context (GstElement *element, GstCudaContext *context)
{
  GstContext *given = gst_context_new_cuda_context (context);

  gst_element_set_context (element, given);
  gst_context_unref (given);
}

/* Answers need-context as an application does. */
static GstBusSyncReply
answer_need (GstBus *bus, GstMessage *message, gpointer context)
{
  const gchar *type;

  (void) bus;
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_NEED_CONTEXT &&
      gst_message_parse_context_type (message, &type) &&
      strcmp (type, GST_CUDA_CONTEXT_TYPE) == 0)
    give_context (GST_ELEMENT (GST_MESSAGE_SRC (message)), context);
  return GST_BUS_PASS;
}

/* A context that is set, or that the application answers with, counts. */
GST_START_TEST (test_context_is_given) {
  for (gint asked = 0; asked < 2; asked++) {
    GstCudaContext *context = test_cuda_context (0);
    GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
    GstBus *bus = gst_element_get_bus (h->element);
    GstVideoInfo info;

    gst_element_set_state (h->element, GST_STATE_NULL);
    gst_clear_message (&(GstMessage *){ pop_have_context (h->element) });
    if (asked)
      gst_bus_set_sync_handler (bus, answer_need, context, NULL);
    else
      give_context (h->element, context);
    gst_element_set_state (h->element, GST_STATE_PLAYING);
    fail_unless (pop_have_context (h->element) == NULL);
    fail_unless (context_handle (h) == gst_cuda_context_get_handle (context));
    test_video_info (&info, "RGB", 32, 24);
    gst_harness_push_event (h, gst_event_new_stream_start ("again"));
    GstBuffer *tensor = send (h, context, &info, 3);
    fail_unless (context_of (tensor) == gst_cuda_context_get_handle (context));
    gst_buffer_unref (tensor);
    gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
    gst_object_unref (bus);
    test_harness_end (&h);
    gst_object_unref (context);
  }
}
GST_END_TEST

/* The device goes where frames are, and tensors that are kept stay readable. */
GST_START_TEST (test_frames_of_other_contexts) {
  GstCudaContext *context[2] = { test_cuda_context (0), test_cuda_context (0) };
  GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
  GstBuffer *kept[6];
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    GstCudaContext *its = context[i / 2 % 2];
    kept[i] = send (h, its, &info, i);
    fail_unless (context_of (kept[i]) == gst_cuda_context_get_handle (its));
    fail_unless (context_handle (h) == gst_cuda_context_get_handle (its));
  }
  test_harness_end (&h);
  for (guint i = 0; i < G_N_ELEMENTS (kept); i++) {
    GstBuffer *expected = expected_tensor (&info, i);
    test_expect_equal (kept[i], expected, "a tensor that was kept");
    gst_buffer_unref (expected);
    gst_buffer_unref (kept[i]);
  }
  gst_object_unref (context[0]);
  gst_object_unref (context[1]);
}
GST_END_TEST

/* Batches and tensors that are held back leave before the device moves. */
GST_START_TEST (test_moves_between_batches) {
  GstCudaContext *context[2] = { test_cuda_context (0), test_cuda_context (0) };
  GstHarness *h =
      test_cuda_harness (PROPERTIES "batch-size=2 async-depth=3", TRUE);
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  for (guint i = 0; i < 7; i++)
    fail_unless_equals_int (
        gst_harness_push (h, test_cuda_noise (context[i / 5], &info, i)),
        GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 4);
  for (guint i = 0; i < 4; i++) {
    GstBuffer *expected = expected_tensor (&info, i < 3 ? 2 * i : 5);
    GstBuffer *batch = gst_harness_pull (h);
    GstBuffer *slice =
        gst_buffer_copy_region (batch, GST_BUFFER_COPY_MEMORY, 0, 576);
    test_expect_equal (slice, expected, "a first slice");
    fail_unless (
        context_of (batch) == gst_cuda_context_get_handle (context[i / 3]));
    gst_buffer_unref (slice);
    gst_buffer_unref (batch);
    gst_buffer_unref (expected);
  }
  test_harness_end (&h);
  gst_object_unref (context[0]);
  gst_object_unref (context[1]);
}
GST_END_TEST

GST_START_TEST (test_frames_of_another_gpu) {
  GstCudaContext *context = test_cuda_context (1);
  GstVideoInfo info;

  if (context == NULL)
    return;
  GstHarness *h = test_cuda_harness (PROPERTIES, FALSE);
  test_video_info (&info, "RGB", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  fail_unless_equals_int (
      gst_harness_push (h, test_cuda_noise (context, &info, 1)),
      GST_FLOW_ERROR);
  g_autofree gchar *text = test_harness_error (h);
  test_expect_words (text, "GPU 1|GPU 0");
  test_harness_end (&h);

  /* A context on another GPU than the one that is asked for is passed over. */
  h = test_harness (CUDA_BACKEND, PROPERTIES);
  gst_element_set_state (h->element, GST_STATE_NULL);
  g_object_set (h->element, "cuda-device-id", 0, NULL);
  give_context (h->element, context);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  fail_unless (context_handle (h) != gst_cuda_context_get_handle (context));
  test_harness_end (&h);
  gst_object_unref (context);
}
GST_END_TEST

/* streams */

GST_START_TEST (test_caps_change) {
  for (gint tensors = 0; tensors < 2; tensors++) {
    GstHarness *h = test_cuda_harness (PROPERTIES, tensors);
    GstCudaContext *context = test_cuda_context_of (h);
    GstVideoInfo info[2];

    test_video_info (&info[0], "NV12", 32, 24);
    test_video_info (&info[1], "RGB", 48, 30);
    for (guint i = 0; i < 12; i++)
      send_and_drop (h, i % 3 == 0 ? NULL : context, &info[i / 2 % 2], i);
    gst_object_unref (context);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Downstream takes both kinds of tensors in turns. */
GST_START_TEST (test_downstream_changes) {
  GstHarness *h = test_cuda_harness (PROPERTIES, TRUE);
  GstCudaContext *context = test_cuda_context_of (h);
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  for (guint i = 0; i < 6; i++) {
    GstCudaPreprocDeviceTensor device;
    gst_harness_set_sink_caps_str (
        h, i % 2 ? "other/tensors" : "other/tensors(memory:CUDAMemory)");
    gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
    GstBuffer *tensor = send (h, context, &info, i);
    fail_unless (
        gst_cuda_preproc_memory_get_device_tensor (
            gst_buffer_peek_memory (tensor, 0), &device) == (i % 2 == 0));
    gst_buffer_unref (tensor);
  }
  gst_object_unref (context);
  test_harness_end (&h);
}
GST_END_TEST

GST_START_TEST (test_flushes) {
  GstHarness *h = test_cuda_harness (PROPERTIES "async-depth=4", TRUE);
  GstCudaContext *context = test_cuda_context_of (h);
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  for (guint i = 0; i < 10; i++) {
    GstSegment segment;

    for (guint n = 0; n < 3; n++)
      gst_harness_push (h, test_cuda_noise (context, &info, n));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    while (gst_harness_buffers_in_queue (h) > 0)
      gst_buffer_unref (gst_harness_pull (h));
  }
  send_and_drop (h, context, &info, 4);
  gst_object_unref (context);
  test_harness_end (&h);
}
GST_END_TEST

/* what is offered */

static GstCaps *
sink_caps (GstHarness *h)
{
  return gst_pad_peer_query_caps (h->srcpad, NULL);
}

static gboolean
has_cuda (const GstCaps *caps)
{
  for (guint i = 0; i < gst_caps_get_size (caps); i++)
    if (gst_caps_features_contains (
            gst_caps_get_features (caps, i), "memory:CUDAMemory"))
      return TRUE;
  return FALSE;
}

/* The CPU offers neither to read frames in CUDA memory nor to leave tensors there;
 * element-device has what it does with such frames. */
GST_START_TEST (test_cpu_offers_none) {
  for (gint backend = 0; backend < 2; backend++) {
    GstHarness *h = test_harness (backend, PROPERTIES);
    GstCaps *in = sink_caps (h);
    GstCaps *out = gst_pad_peer_query_caps (h->sinkpad, NULL);

    fail_unless (has_cuda (in) == (backend == CUDA_BACKEND));
    fail_unless (has_cuda (out) == (backend == CUDA_BACKEND));
    gst_caps_unref (in);
    gst_caps_unref (out);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Where nobody asks for the device, tensors are in host memory. */
GST_START_TEST (test_host_tensors_unless_asked) {
  GstCudaPreprocDeviceTensor device;
  GstVideoInfo info;
  GstHarness *h = test_harness (CUDA_BACKEND, PROPERTIES);
  GstCudaContext *context = test_cuda_context_of (h);

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *tensor = send (h, context, &info, 3);
  fail_if (gst_cuda_preproc_memory_get_device_tensor (
      gst_buffer_peek_memory (tensor, 0), &device));
  gst_buffer_unref (tensor);
  gst_object_unref (context);
  test_harness_end (&h);
}
GST_END_TEST

/* The least number of buffers that the pool for upstream has; -1: there is none. */
static gint
offered_buffers (GstHarness *h, const GstVideoInfo *info)
{
  GstCaps *caps = test_cuda_caps (info, TRUE);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool = NULL;
  guint min = 0;
  gint buffers = -1;

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (gst_query_get_n_allocation_pools (query) == 1);
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, &min, NULL);
  if (pool != NULL) {
    fail_unless_equals_string (G_OBJECT_TYPE_NAME (pool), "GstCudaBufferPool");
    buffers = (gint) min;
    gst_object_unref (pool);
  }
  gst_query_unref (query);
  gst_caps_unref (caps);
  return buffers;
}

/* As many as jobs may be under way; none of a format that GStreamer would end the
 * process over. */
GST_START_TEST (test_pool_for_upstream) {
  GstVideoInfo info;
  GstHarness *h = test_cuda_harness (PROPERTIES "streams=3", FALSE);

  test_video_info (&info, "NV12", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  fail_unless_equals_int (offered_buffers (h, &info), 6);
  test_video_info (&info, "GRAY8", 32, 24);
  test_cuda_send_caps (h, &info, TRUE);
  fail_unless_equals_int (offered_buffers (h, &info), -1);
  test_harness_end (&h);
}
GST_END_TEST

/* several streams */

/* A mux of two streams, the memory of whose frames context says, and one frame of
 * each; the pipeline plays. */
static GstElement *
play_mux (GstCudaContext *const *context, gboolean tensors)
{
  GstElement *pipeline = test_launch (CUDA_BACKEND,
      "cudapreprocmux name=mux width=16 height=12 type=uint8 ! %s ! "
      "appsink name=out sync=false "
      "appsrc name=in0 format=time ! queue ! mux. "
      "appsrc name=in1 format=time ! queue ! mux.",
      tensors ? "other/tensors(memory:CUDAMemory)" : "other/tensors");
  GstVideoInfo info;

  test_video_info (&info, "NV12", 32, 24);
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *name = g_strdup_printf ("in%u", i);
    GstAppSrc *source = GST_APP_SRC (test_element (pipeline, name));
    g_autoptr (GstCaps) caps = test_cuda_caps (&info, context[i] != NULL);

    gst_app_src_set_caps (source, caps);
    for (guint n = 0; n < 3; n++) {
      GstBuffer *frame = context[i] != NULL
          ? test_cuda_noise (context[i], &info, i)
          : host_noise (&info, i);
      GST_BUFFER_PTS (frame) = n * GST_SECOND / 30;
      GST_BUFFER_DURATION (frame) = GST_SECOND / 30;
      gst_app_src_push_buffer (source, frame);
    }
    gst_app_src_end_of_stream (source);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

static GstBuffer *
pull_batch (GstElement *pipeline)
{
  GstSample *sample = gst_app_sink_try_pull_sample (
      GST_APP_SINK (test_element (pipeline, "out")), TEST_PATIENCE);

  fail_unless (sample != NULL);
  GstBuffer *batch = gst_buffer_ref (gst_sample_get_buffer (sample));
  gst_sample_unref (sample);
  return batch;
}

GST_START_TEST (test_mux) {
  GstCudaContext *context = test_cuda_context (0);
  GstCudaContext *const kinds[][2] = { { NULL, NULL }, { context, context },
    { NULL, context }, { context, NULL } };
  GstBuffer *expected = NULL;

  for (guint k = 0; k < G_N_ELEMENTS (kinds); k++)
    for (gint tensors = 0; tensors < 2; tensors++) {
      GstElement *pipeline = play_mux (kinds[k], tensors);
      for (guint n = 0; n < 3; n++) {
        GstBuffer *batch = pull_batch (pipeline);
        if (expected == NULL)
          expected = gst_buffer_copy_deep (batch);
        test_expect_equal (batch, expected, "a batch");
        gst_buffer_unref (batch);
      }
      gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
      test_stop (&pipeline);
    }
  gst_buffer_unref (expected);
  gst_object_unref (context);
}
GST_END_TEST

GST_START_TEST (test_mux_of_two_contexts) {
  GstCudaContext *context[2] = { test_cuda_context (0), test_cuda_context (0) };
  GstElement *pipeline = play_mux (context, FALSE);
  GstMessage *message = test_pop (pipeline, GST_MESSAGE_ERROR);
  GError *error = NULL;
  gchar *remedy = NULL;

  gst_message_parse_error (message, &error, &remedy);
  test_expect_words (error->message, "sink_0|sink_1|context");
  test_expect_words (remedy, "cuda-device-id|one CUDA context|cudadownload");
  fail_unless (
      g_error_matches (error, GST_CORE_ERROR, GST_CORE_ERROR_NEGOTIATION));
  g_free (remedy);
  g_error_free (error);
  gst_message_unref (message);
  test_stop (&pipeline);
  gst_object_unref (context[0]);
  gst_object_unref (context[1]);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_context_is_offered);
  tcase_add_test (tcase, test_runtime_reads_tensors);
  tcase_add_test (tcase, test_offered_context_lasts);
  tcase_add_test (tcase, test_offered_context_goes);
  tcase_add_test (tcase, test_context_is_given);
  tcase_add_test (tcase, test_frames_of_other_contexts);
  tcase_add_test (tcase, test_moves_between_batches);
  tcase_add_test (tcase, test_frames_of_another_gpu);
  tcase_add_test (tcase, test_caps_change);
  tcase_add_test (tcase, test_downstream_changes);
  tcase_add_test (tcase, test_flushes);
  tcase_add_test (tcase, test_cpu_offers_none);
  tcase_add_test (tcase, test_host_tensors_unless_asked);
  tcase_add_test (tcase, test_pool_for_upstream);
  tcase_add_test (tcase, test_mux);
  tcase_add_test (tcase, test_mux_of_two_contexts);
}

int
main (int argc, char **argv)
{
  return test_cuda_main (argc, argv, "element-contexts", add_tests);
}
