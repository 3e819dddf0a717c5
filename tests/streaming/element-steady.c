/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What is paid once: devices are opened in READY, memory is there when caps are
 * set, frames need no more, and no change of caps leaves any behind; what waits
 * for tensors that are not written; what frames show of how many are of use. On
 * the fake device, which counts and can be held.
 *
 * This program has the element linked in, and opens its device itself.
 */

#include <string.h>

#include "gst/cudapreproc.h"

#include "tests/fake/backend_fake.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"
#include "tests/frames/slicecases.h"

/* As test_harness takes it; this program's device has no other. */
#define BACKEND 1

/* What takes long on a device. */
static const fake_call slow_calls[] = { FAKE_OPEN, FAKE_HOST_ALLOC,
  FAKE_DEVICE_ALLOC, FAKE_PREPARE, FAKE_STREAM_CREATE, FAKE_EVENT_CREATE };

typedef struct {
  gint count[G_N_ELEMENTS (slow_calls)];
} Calls;

static Calls
calls_so_far (void)
{
  Calls calls;

  for (guint i = 0; i < G_N_ELEMENTS (slow_calls); i++)
    calls.count[i] = fake_count (slow_calls[i]);
  return calls;
}

static void
expect_no_calls_since (const Calls *before, const gchar *when)
{
  const Calls now = calls_so_far ();

  for (guint i = 0; i < G_N_ELEMENTS (slow_calls); i++)
    fail_unless (now.count[i] == before->count[i], "%s: %d calls of %s", when,
        now.count[i] - before->count[i], fake_call_name (slow_calls[i]));
}

/* A frame in the memory that the element offers. */
static GstBuffer *
offered_frame (GstHarness *h, const GstVideoInfo *info, guint number)
{
  GstBuffer *frame = test_numbered_frame (info, number);
  GstBuffer *offered = gst_harness_create_buffer (h, info->size);
  GstMapInfo map;

  fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ));
  gst_buffer_fill (offered, 0, map.data, map.size);
  gst_buffer_unmap (frame, &map);
  gst_buffer_unref (frame);
  return offered;
}

/* The device is open before there are caps; with caps, all that frames need is
 * there; frames, and crops of them, ask for nothing. */
GST_START_TEST (test_frames_pay_nothing) {
  static const gchar *const properties[] = { "streams=4 async-depth=4",
    "streams=1 async-depth=0", "", "batch-size=4",
    "batch-size=3 async-depth=2" };

  for (guint p = 0; p < G_N_ELEMENTS (properties); p++) {
    GstVideoInfo info;

    fake_reset ();
    GstHarness *h = test_rgb_harness (BACKEND, properties[p], &info);
    GstBuffer *input[16];
    for (guint n = 0; n < G_N_ELEMENTS (input); n++) {
      input[n] = offered_frame (h, &info, n);
      if (n % 3 == 1) {
        GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (input[n]);
        crop->x = crop->y = n % 4;
        crop->width = crop->height = 8;
      }
    }
    const Calls before = calls_so_far ();
    for (guint n = 0; n < G_N_ELEMENTS (input); n++) {
      GstBuffer *tensor;

      fail_unless_equals_int (gst_harness_push (h, input[n]), GST_FLOW_OK);
      while ((tensor = gst_harness_try_pull (h)) != NULL)
        gst_buffer_unref (tensor);
      expect_no_calls_since (&before, properties[p]);
    }
    test_harness_end (&h);
  }
}
GST_END_TEST

GST_START_TEST (test_device_opens_in_ready) {
  GstElement *element = gst_element_factory_make ("cudapreproc", NULL);

  fake_reset ();
  fail_unless_equals_int (fake_count (FAKE_OPEN), 0);
  gst_element_set_state (element, GST_STATE_READY);
  fail_unless_equals_int (fake_count (FAKE_OPEN), 1);
  const Calls before = calls_so_far ();
  gst_element_set_state (element, GST_STATE_PLAYING);
  expect_no_calls_since (&before, "READY to PLAYING");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}
GST_END_TEST

/* What the device was opened with changes: the next start opens another, the one
 * after it does not. */
GST_START_TEST (test_options_open_anew) {
  static const gchar *const options[][2] = { { "streams", "3" },
    { "staging-threads", "2" }, { "cuda-device-id", "1" },
    { "backend", "cuda" } };
  GstElement *element = gst_element_factory_make ("cudapreproc", NULL);

  fake_reset ();
  gst_element_set_state (element, GST_STATE_READY);
  for (guint i = 0; i < G_N_ELEMENTS (options); i++) {
    gst_util_set_object_arg (G_OBJECT (element), options[i][0], options[i][1]);
    for (guint start = 0; start < 2; start++) {
      gst_element_set_state (element, GST_STATE_PLAYING);
      fail_unless (fake_count (FAKE_OPEN) == (gint) i + 2,
          "%s: opened %d times", options[i][0], fake_count (FAKE_OPEN));
      gst_element_set_state (element, GST_STATE_READY);
    }
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}
GST_END_TEST

/* What there is on the device, in words; free it. Host memory is pools': it
 * depends on how far the device is behind. */
static gchar *
on_device (void)
{
  gchar text[200];

  fake_live (text, sizeof text);
  const gchar *from = strstr (text, "host blocks ");
  const gchar *to = strstr (text, " events");
  fail_unless (from != NULL && to != NULL, "%s", text);
  from += strlen ("host blocks ");
  return g_strndup (from, (gsize) (to - from));
}

/* Two sizes take turns: what the device has stays what it was. */
GST_START_TEST (test_caps_leave_no_memory) {
  static const gint sizes[2][2] = { { 64, 48 }, { 128, 72 } };
  GstHarness *h = test_harness (
      BACKEND, "width=40 height=40 fit=letterbox streams=4 async-depth=4");
  gchar *before = NULL, text[200];

  for (guint round = 0; round < 30; round++) {
    const gint *size = sizes[round % 2];
    GstVideoInfo info;
    GstBuffer *tensor;

    test_video_info (&info, "NV12", size[0], size[1]);
    test_send_caps (h, &info);
    for (guint n = 0; n < 5; n++)
      fail_unless_equals_int (
          gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
    gst_harness_push_event (h, gst_event_new_gap (0, 1));
    while ((tensor = gst_harness_try_pull (h)) != NULL)
      gst_buffer_unref (tensor);

    gchar *now = on_device ();
    if (before != NULL)
      fail_unless_equals_string (now, before);
    g_free (before);
    before = now;
  }
  g_free (before);
  test_harness_end (&h);
  fail_unless (fake_live (text, sizeof text) == 0, "%s", text);
}
GST_END_TEST

static gpointer
overwrite (gpointer tensor)
{
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_WRITE));
  memset (map.data, 0, map.size);
  gst_buffer_unmap (tensor, &map);
  return NULL;
}

/* The device stands still: what is written to a tensor comes after what the
 * device writes. */
GST_START_TEST (test_writers_wait) {
  GstVideoInfo info;

  fake_reset ();
  GstHarness *h = test_rgb_harness (BACKEND, "streams=1", &info);
  fake_hold (TRUE);
  GstBuffer *tensor =
      test_convert (h, &info, test_numbered_frame (&info, 4711));
  GThread *thread = g_thread_new ("overwrite", overwrite, tensor);
  g_usleep (20000);
  fake_hold (FALSE);
  g_thread_join (thread);
  fail_unless_equals_int (test_number_of (tensor), 0);
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

typedef struct {
  GstHarness *h;
  const GstVideoInfo *info;
  gint pushed;
} Pusher;

static gpointer
push (gpointer user)
{
  Pusher *pusher = user;

  test_push_number (pusher->h, pusher->info, 1);
  g_atomic_int_set (&pusher->pushed, 1);
  return NULL;
}

/* The only tensor came back before the device has written it: the next frame
 * does not get it yet. */
GST_START_TEST (test_pool_waits) {
  GstVideoInfo info;

  fake_reset ();
  GstHarness *h = test_rgb_harness (BACKEND, "streams=1 async-depth=0", &info);
  Pusher pusher = { h, &info, 0 };
  fake_hold (TRUE);
  gst_buffer_unref (test_convert (h, &info, test_numbered_frame (&info, 0)));
  GThread *thread = g_thread_new ("push", push, &pusher);
  g_usleep (20000);
  fail_unless_equals_int (g_atomic_int_get (&pusher.pushed), 0);
  fake_hold (FALSE);
  g_thread_join (thread);
  test_pull_number (h, 1);
  test_harness_end (&h);
}
GST_END_TEST

/* Where no tensor is held back, each is waited for: its frame goes in two bands,
 * which are two launches. */
GST_START_TEST (test_urgent_frames) {
  for (gint depth = 0; depth < 2; depth++) {
    g_autofree gchar *properties = g_strdup_printf (
        "async-depth=%d width=640 height=640 type=uint8", depth);
    GstVideoInfo info;

    fake_reset ();
    GstHarness *h = test_harness (BACKEND, properties);
    test_video_info (&info, "RGB", 640, 640);
    test_send_caps (h, &info);
    gst_harness_push (h, offered_frame (h, &info, 7));
    gst_harness_push_event (h, gst_event_new_eos ());
    test_pull_number (h, 7);
    fail_unless_equals_int (fake_count (FAKE_LAUNCH), depth == 0 ? 2 : 1);
    test_harness_end (&h);
  }
}
GST_END_TEST

static GstClockTime
ask_latency (GstElement *pipeline)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime least;

  fail_unless (gst_pad_query (test_pad (pipeline, "pp", "src"), query));
  gst_query_parse_latency (query, NULL, &least, NULL);
  gst_query_unref (query);
  return least;
}

/* As many tensors are held back as there are streams, or two a staging thread
 * where frames are not in our memory. */
GST_START_TEST (test_pageable_frames_go_deeper) {
  static const struct {
    gboolean pageable;
    guint held;
  } cases[] = { { FALSE, 1 }, { TRUE, 6 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    fake_reset ();
    GstElement *pipeline = test_launch (BACKEND,
        "videotestsrc num-buffers=20 ! "
        "video/x-raw,format=RGB,width=32,height=24,framerate=25/1 ! "
        "identity drop-allocation=%d ! "
        "cudapreproc name=pp streams=1 staging-threads=3 ! fakesink",
        cases[i].pageable);
    test_play_to_eos (pipeline);
    /* and the one that videotestsrc says it takes */
    fail_unless_equals_uint64 (
        ask_latency (pipeline), (cases[i].held + 1) * GST_SECOND / 25);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* batches */

GST_START_TEST (test_slices_are_single_tensors) {
  fake_reset ();
  slices_expect_single_tensors (BACKEND);
}
GST_END_TEST

typedef struct {
  GstBuffer *tensor;
  gint mapped;
} Mapper;

static gpointer
map (gpointer user)
{
  Mapper *mapper = user;
  GstMapInfo info;

  if (gst_buffer_map (mapper->tensor, &info, GST_MAP_READ))
    gst_buffer_unmap (mapper->tensor, &info);
  g_atomic_int_set (&mapper->mapped, 1);
  return NULL;
}

/* Three of four jobs have ended: a map waits for the last one. */
GST_START_TEST (test_map_waits_for_all_slices) {
  GstVideoInfo info;

  fake_reset ();
  GstHarness *h = test_rgb_harness (BACKEND, "streams=4 batch-size=4", &info);
  for (guint n = 0; n < 3; n++)
    test_push_number (h, &info, n);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  fake_hold (TRUE);
  test_push_number (h, &info, 3);
  Mapper mapper = { gst_harness_pull (h), 0 };
  GThread *thread = g_thread_new ("map", map, &mapper);
  g_usleep (20000);
  fail_unless_equals_int (g_atomic_int_get (&mapper.mapped), 0);
  fake_hold (FALSE);
  g_thread_join (thread);
  gst_buffer_unref (mapper.tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* The second of four pictures fails: so does the batch, whole, and the stream; the
 * next start begins with slices that nothing has failed in. */
GST_START_TEST (test_failure_in_a_batch) {
  GstVideoInfo info;
  GstMapInfo map;
  guint n = 0;

  fake_reset ();
  GstHarness *h = test_rgb_harness (BACKEND, "streams=4 batch-size=4", &info);
  fake_fail (FAKE_LAUNCH, 2, FALSE);
  fake_hold (TRUE);
  while (n < 4 &&
      gst_harness_push (h, test_numbered_frame (&info, n)) == GST_FLOW_OK)
    n++;
  fake_hold (FALSE);
  gst_harness_push_event (h, gst_event_new_eos ());
  GstBuffer *tensor = gst_harness_pull (h);
  fail_unless_equals_int (n, 4);
  fail_if (gst_buffer_map (tensor, &map, GST_MAP_READ));
  GstMemory *share =
      gst_memory_share (gst_buffer_peek_memory (tensor, 0), 0, 8);
  fail_if (gst_memory_map (share, &map, GST_MAP_READ));
  gst_memory_unref (share);
  g_free (test_harness_error (h));

  fake_fail (FAKE_LAUNCH, 0, FALSE);
  gst_buffer_unref (tensor);
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_push_event (h, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
  for (n = 0; n < 4; n++)
    test_push_number (h, &info, n);
  tensor = gst_harness_pull (h);
  for (n = 0; n < 4; n++) {
    GstBuffer *part =
        gst_buffer_copy_region (tensor, GST_BUFFER_COPY_MEMORY, n * 576, 576);
    fail_unless_equals_int (test_number_of (part), n);
    gst_buffer_unref (part);
  }
  gst_buffer_unref (tensor);
  test_harness_end (&h);
}
GST_END_TEST

/* Only the last picture of a batch is waited for before there are others: where
 * each is alone on the device, it goes in two bands. */
GST_START_TEST (test_last_picture_is_urgent) {
  GstVideoInfo info;

  fake_reset ();
  GstHarness *h = test_harness (BACKEND,
      "name=cudapreproc async-depth=0 width=640 height=640 type=uint8 "
      "batch-size=2");
  test_video_info (&info, "RGB", 640, 640);
  test_send_caps (h, &info);
  for (guint n = 0; n < 2; n++) {
    gst_harness_push (h, offered_frame (h, &info, 7));
    test_wait_for (test_stats_count (h, "frames") == n + 1);
    fail_unless_equals_int (fake_count (FAKE_LAUNCH), n == 0 ? 1 : 3);
  }
  gst_buffer_unref (gst_harness_pull (h));
  test_harness_end (&h);
}
GST_END_TEST

/* A thousand frames take no more blocks than the first few. */
GST_START_TEST (test_batches_use_their_blocks_again) {
  GstVideoInfo info;
  gint blocks = 0;

  fake_reset ();
  GstHarness *h =
      test_rgb_harness (BACKEND, "batch-size=8 async-depth=1", &info);
  for (guint n = 0; n < 1000; n++) {
    test_push_number (h, &info, n);
    gst_clear_buffer (&(GstBuffer *){ gst_harness_try_pull (h) });
    if (n % 100 == 50) { /* with a batch that is not full now and then */
      gst_harness_push_event (h, gst_event_new_gap (0, 1));
      while (gst_harness_buffers_in_queue (h) > 0)
        gst_buffer_unref (gst_harness_pull (h));
    }
    if (n == 100)
      blocks = fake_count (FAKE_HOST_ALLOC);
  }
  fail_unless_equals_int (fake_count (FAKE_HOST_ALLOC), blocks);
  test_harness_end (&h);
}
GST_END_TEST

static gint
count_streams (GstHarness *h)
{
  GstStructure *stats = test_stats (h);
  gint streams = 0;

  fail_unless (gst_structure_get_int (stats, "streams", &streams));
  gst_structure_free (stats);
  return streams;
}

/* What the first frames' times show is said: uploads are nearly all there is. */
GST_START_TEST (test_streams_are_told) {
  GstVideoInfo info;

  fake_reset ();
  fake_pretend (3000, 10, 10);
  GstHarness *h =
      test_rgb_harness (BACKEND, "name=cudapreproc async-depth=2", &info);
  fail_unless_equals_int (count_streams (h), 4);
  for (guint n = 0; n < 100; n++) {
    gst_harness_push (h, test_numbered_frame (&info, n));
    gst_clear_buffer (&(GstBuffer *){ gst_harness_try_pull (h) });
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (count_streams (h), 2);
  fake_pretend (0, 0, 0);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  tcase_add_test (tcase, test_frames_pay_nothing);
  tcase_add_test (tcase, test_device_opens_in_ready);
  tcase_add_test (tcase, test_options_open_anew);
  tcase_add_test (tcase, test_caps_leave_no_memory);
  tcase_add_test (tcase, test_writers_wait);
  tcase_add_test (tcase, test_pool_waits);
  tcase_add_test (tcase, test_urgent_frames);
  tcase_add_test (tcase, test_pageable_frames_go_deeper);
  tcase_add_test (tcase, test_streams_are_told);
  tcase_add_test (tcase, test_slices_are_single_tensors);
  tcase_add_test (tcase, test_map_waits_for_all_slices);
  tcase_add_test (tcase, test_failure_in_a_batch);
  tcase_add_test (tcase, test_last_picture_is_urgent);
  tcase_add_test (tcase, test_batches_use_their_blocks_again);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-steady", add_tests);
}
