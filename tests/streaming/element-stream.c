/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames in a stream: every one leaves once, in order, with what belongs to it;
 * inputs go back as soon as they can; what downstream answers goes upstream.
 */

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define FRAME_TIME (GST_SECOND / 30)

/* frames */

GST_START_TEST (test_every_frame_leaves) {
  for (gint streams = 1; streams <= 8; streams++) {
    for (gint n = 0; n <= 9; n++) {
      gint in = 0, out = 0;
      GstElement *pipeline = test_launch (__i__,
          "videotestsrc num-buffers=%d ! video/x-raw,format=NV12,width=64,"
          "height=48 ! cudapreproc name=pp width=32 height=32 fit=letterbox "
          "streams=%d ! fakesink",
          n, streams);

      test_count_buffers (test_pad (pipeline, "pp", "sink"), &in);
      test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
      test_play_to_eos (pipeline);
      fail_unless (in == n && out == n, "streams=%d: %d of %d frames, %d came",
          streams, out, n, in);
      test_stop (&pipeline);
    }
  }
}
GST_END_TEST

/* A frame whose work depends on its number: every third is cropped, and every
 * second is in memory that the element offers. */
static GstBuffer *
uneven_frame (GstHarness *h, const GstVideoInfo *info, guint number)
{
  GstBuffer *frame = test_numbered_frame (info, number);

  if (number % 2 != 0) {
    GstBuffer *offered = gst_harness_create_buffer (h, info->size);
    GstMapInfo map;
    fail_unless (gst_buffer_map (frame, &map, GST_MAP_READ));
    gst_buffer_fill (offered, 0, map.data, map.size);
    gst_buffer_unmap (frame, &map);
    gst_buffer_unref (frame);
    frame = offered;
  }
  if (number % 3 == 0) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);
    crop->x = number % 7;
    crop->y = number % 5;
    crop->width = 4 + number % 2;
    crop->height = 4;
  }
  GST_BUFFER_PTS (frame) = number * FRAME_TIME;
  return frame;
}

/* Takes what has come; the number of the next frame. */
static guint
take_in_order (GstHarness *h, guint next)
{
  GstBuffer *tensor;

  while ((tensor = gst_harness_try_pull (h)) != NULL) {
    const guint number = test_number_of (tensor);
    fail_unless (number == next && GST_BUFFER_PTS (tensor) == next * FRAME_TIME,
        "frame %u at %" GST_TIME_FORMAT " came for frame %u", number,
        GST_TIME_ARGS (GST_BUFFER_PTS (tensor)), next);
    gst_buffer_unref (tensor);
    next++;
  }
  return next;
}

static void
run_ten_thousand (gint backend, gint streams)
{
  const guint n = 10000, warm = 2000;
  gchar *properties =
      g_strdup_printf ("streams=%d async-depth=%d", streams, streams);
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (backend, properties, &info);
  gsize memory = 0;
  guint next = 0;

  for (guint number = 0; number < n; number++) {
    const GstFlowReturn flow =
        gst_harness_push (h, uneven_frame (h, &info, number));
    fail_unless (flow == GST_FLOW_OK, "%s", gst_flow_get_name (flow));
    next = take_in_order (h, next);
    if (number == warm)
      memory = test_resident_memory ();
  }
  test_expect_flat (memory);
  gst_harness_push_event (h, gst_event_new_eos ());
  next = take_in_order (h, next);
  fail_unless (next == n, "%u of %u frames came", next, n);
  test_harness_end (&h);
  g_free (properties);
}

GST_START_TEST (test_ten_thousand_frames) {
  for (gint streams = 1; streams <= 8; streams *= 2)
    run_ten_thousand (__i__, streams);
}
GST_END_TEST

#define SOME_FLAGS                                                             \
  (GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_GAP |                             \
      GST_BUFFER_FLAG_DELTA_UNIT | GST_BUFFER_FLAG_MARKER |                    \
      GST_BUFFER_FLAG_CORRUPTED | GST_BUFFER_FLAG_RESYNC |                     \
      GST_BUFFER_FLAG_DROPPABLE | (guint) GST_VIDEO_BUFFER_FLAG_INTERLACED |   \
      (guint) GST_VIDEO_BUFFER_FLAG_TFF)

/* Each bit of number decides about one field, so that a recycled buffer's
 * field is another frame's. */
static void
set_fields (GstBuffer *frame, guint number)
{
  GST_BUFFER_PTS (frame) = number & 1 ? number * 7 : GST_CLOCK_TIME_NONE;
  GST_BUFFER_DTS (frame) = number & 2 ? number * 5 : GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION (frame) = number & 4 ? number + 1 : GST_CLOCK_TIME_NONE;
  GST_BUFFER_OFFSET (frame) = number & 8 ? number : GST_BUFFER_OFFSET_NONE;
  GST_BUFFER_OFFSET_END (frame) =
      number & 16 ? number + 2 : GST_BUFFER_OFFSET_NONE;
  GST_BUFFER_FLAG_UNSET (frame, SOME_FLAGS);
  if (number & 32)
    GST_BUFFER_FLAG_SET (frame, SOME_FLAGS);
}

GST_START_TEST (test_fields_stay_with_their_frame) {
  const guint n = 128, flags = SOME_FLAGS;
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=3 async-depth=3", &info);
  GstBuffer *expected = gst_buffer_new ();

  for (guint number = 0; number < n; number++) {
    GstBuffer *frame = test_numbered_frame (&info, number);
    set_fields (frame, number);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint number = 0; number < n; number++) {
    GstBuffer *tensor = gst_harness_pull (h);
    set_fields (expected, number);
    fail_unless_equals_int (test_number_of (tensor), number);
    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (tensor), GST_BUFFER_PTS (expected));
    fail_unless_equals_uint64 (
        GST_BUFFER_DTS (tensor), GST_BUFFER_DTS (expected));
    fail_unless_equals_uint64 (
        GST_BUFFER_DURATION (tensor), GST_BUFFER_DURATION (expected));
    fail_unless_equals_uint64 (
        GST_BUFFER_OFFSET (tensor), GST_BUFFER_OFFSET (expected));
    fail_unless_equals_uint64 (
        GST_BUFFER_OFFSET_END (tensor), GST_BUFFER_OFFSET_END (expected));
    fail_unless_equals_int (
        GST_BUFFER_FLAGS (tensor) & flags, GST_BUFFER_FLAGS (expected) & flags);
    gst_buffer_unref (tensor);
  }
  gst_buffer_unref (expected);
  test_harness_end (&h);
}
GST_END_TEST

/* what drains */

GST_START_TEST (test_dropped_frame_drains) {
  GstVideoInfo info;
  GstHarness *h =
      test_rgb_harness (__i__, "streams=4 async-depth=4 qos=true", &info);

  test_start (h, &info);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    GST_BUFFER_PTS (frame) = n * FRAME_TIME;
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  }
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
  /* Frames before one second are too late now. */
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, 0));
  GstBuffer *late = test_numbered_frame (&info, 3);
  GST_BUFFER_PTS (late) = 3 * FRAME_TIME;
  fail_unless_equals_int (gst_harness_push (h, late), GST_FLOW_OK);
  for (guint n = 0; n < 3; n++)
    test_pull_number (h, n);

  for (guint n = 4; n < 6; n++) {
    GstBuffer *next = test_numbered_frame (&info, n);
    GST_BUFFER_PTS (next) = (n + 6) * GST_SECOND;
    fail_unless_equals_int (gst_harness_push (h, next), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 4; n < 6; n++) {
    GstBuffer *tensor = gst_harness_pull (h);
    fail_unless_equals_int (test_number_of (tensor), (gint) n);
    fail_unless (GST_BUFFER_IS_DISCONT (tensor) == (n == 4),
        "DISCONT is the first frame's after a drop, not frame %u's", n);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* A frame that is too late after the QoS event of count_processed. */
static void
push_late (GstHarness *h, const GstVideoInfo *info)
{
  GstBuffer *late = test_numbered_frame (info, 0);

  GST_BUFFER_PTS (late) = 0;
  fail_unless_equals_int (gst_harness_push (h, late), GST_FLOW_OK);
}

/* Whoever watches QoS messages learns how many frames became tensors, held back or
 * not, and how many were dropped. */
GST_START_TEST (test_processed_frames_count) {
  static const gchar *const properties[] = { "qos=true",
    "qos=true async-depth=0", "qos=true streams=2 async-depth=3" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, properties[i], &info);
    GstBus *bus = gst_element_get_bus (h->element);
    guint64 processed = 0, dropped = 0;
    GstMessage *message;

    for (guint n = 0; n < 5; n++) {
      test_push_number (h, &info, n);
      if (n == 3) /* drains */
        gst_harness_push_event (h, gst_event_new_gap (0, 1));
    }
    gst_harness_push_upstream_event (
        h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, 0));
    push_late (h, &info);
    push_late (h, &info); /* a message counts what was before it */
    while ((message = gst_bus_pop_filtered (bus, GST_MESSAGE_QOS)) != NULL) {
      GstFormat format;
      gst_message_parse_qos_stats (message, &format, &processed, &dropped);
      gst_message_unref (message);
    }
    fail_unless (processed == 5 && dropped == 2,
        "%s: %u were processed and %u dropped", properties[i],
        (guint) processed, (guint) dropped);
    fail_unless_equals_int (gst_harness_buffers_received (h), 5);
    gst_object_unref (bus);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* How many tensors have left when the end comes, and are to have left. */
typedef struct {
  gint *out;
  gint expected;
} OutAtEos;

static GstPadProbeReturn
check_out_at_eos (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  const OutAtEos *at_eos = user;

  (void) pad;
  if (GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info)) == GST_EVENT_EOS)
    fail_unless_equals_int (*at_eos->out, at_eos->expected);
  return GST_PAD_PROBE_OK;
}

/* Late frames may be dropped: holding others back would make them later. */
GST_START_TEST (test_nothing_is_held_with_qos) {
  static const struct {
    const gchar *properties;
    gint out; /* of ten frames, before the end */
  } cases[] = { { "streams=3", 7 }, { "streams=3 qos=true", 10 },
    { "streams=3 qos=true async-depth=4", 6 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint out = 0;
    GstElement *pipeline = test_launch (__i__,
        "videotestsrc num-buffers=10 ! video/x-raw,width=16,height=16 ! "
        "cudapreproc name=pp width=8 height=8 %s ! fakesink name=sink",
        cases[i].properties);

    gst_pad_add_probe (test_pad (pipeline, "pp", "sink"),
        GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, check_out_at_eos,
        &(OutAtEos){ &out, cases[i].out }, NULL);
    test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
    test_play_to_eos (pipeline);
    fail_unless_equals_int (out, 10);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* DISCONT is that frame's only, whether it is pushed or drained, and whatever is
 * held back before it leaves before it. */
GST_START_TEST (test_discont_is_one_frames) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);

  for (guint n = 0; n < 12; n++) {
    GstBuffer *frame = test_numbered_frame (&info, n);
    if (n % 4 == 3)
      GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
    else
      GST_BUFFER_FLAG_UNSET (frame, GST_BUFFER_FLAG_DISCONT);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    if (n % 4 == 3)
      fail_unless_equals_int (gst_harness_buffers_received (h), (gint) n + 1);
    if (n == 3 || n == 5)
      gst_harness_push_event (h, gst_event_new_gap (0, 1));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 12; n++) {
    GstBuffer *tensor = gst_harness_pull (h);
    fail_unless_equals_int (test_number_of (tensor), (gint) n);
    fail_unless (GST_BUFFER_IS_DISCONT (tensor) == (n % 4 == 3),
        "frame %u is marked as another", n);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* Random frames of their own number's time, late ones among them: DISCONT is on
 * the tensors whose frame had it or came behind one that was dropped. */
GST_START_TEST (test_discont_beside_qos) {
  static const gchar *const properties[] = { "qos=true async-depth=0",
    "qos=true async-depth=1", "qos=true streams=3 async-depth=5" };
  const guint n = 400;
  GRand *random = g_rand_new_with_seed (6);

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, properties[i], &info);
    g_autofree gboolean *kept = g_new0 (gboolean, n);
    g_autofree gboolean *discont = g_new0 (gboolean, n);
    gboolean gap = TRUE;

    for (guint k = 0; k < n; k++) {
      const gboolean late = k > 0 && g_rand_int_range (random, 0, 4) == 0;
      GstBuffer *frame = test_numbered_frame (&info, k);
      GST_BUFFER_PTS (frame) = k * FRAME_TIME;
      gap |= g_rand_int_range (random, 0, 8) == 0;
      if (gap)
        GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
      else
        GST_BUFFER_FLAG_UNSET (frame, GST_BUFFER_FLAG_DISCONT);
      if (k > 0)
        gst_harness_push_upstream_event (h,
            gst_event_new_qos (
                GST_QOS_TYPE_UNDERFLOW, 1, 0, late ? k * FRAME_TIME : 0));
      if (g_rand_int_range (random, 0, 20) == 0)
        gst_harness_push_event (h, gst_event_new_gap (k * FRAME_TIME, 1));
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
      kept[k] = !late;
      discont[k] = gap;
      gap = late;
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    for (guint k = 0; k < n; k++) {
      if (!kept[k])
        continue;
      GstBuffer *tensor = gst_harness_try_pull (h);
      fail_unless (tensor != NULL, "%s: no frame %u", properties[i], k);
      fail_unless_equals_int (test_number_of (tensor), (gint) k);
      fail_unless (GST_BUFFER_IS_DISCONT (tensor) == discont[k],
          "%s: frame %u has DISCONT %d", properties[i], k,
          GST_BUFFER_IS_DISCONT (tensor));
      gst_buffer_unref (tensor);
    }
    test_harness_end (&h);
  }
  g_rand_free (random);
}
GST_END_TEST

static void
on_frame_freed (gpointer count, GstMiniObject *frame)
{
  (void) frame;
  g_atomic_int_inc ((gint *) count);
}

static GstBuffer *
watched_frame (const GstVideoInfo *info, guint number, gint *freed)
{
  GstBuffer *frame = test_numbered_frame (info, number);

  gst_mini_object_weak_ref (
      GST_MINI_OBJECT_CAST (frame), on_frame_freed, freed);
  return frame;
}

GST_START_TEST (test_drain_query_returns_inputs) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);
  gint freed = 0;

  for (guint round = 0; round < 100; round++) {
    for (guint n = 0; n < 3; n++)
      fail_unless_equals_int (
          gst_harness_push (h, watched_frame (&info, n, &freed)), GST_FLOW_OK);
    GstQuery *query = gst_query_new_drain ();
    gst_pad_peer_query (h->srcpad, query);
    gst_query_unref (query);
    fail_unless_equals_int (g_atomic_int_get (&freed), 3 * ((gint) round + 1));
    for (guint n = 0; n < 3; n++)
      test_pull_number (h, n);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* Frames are held back, but a camera with three buffers gets each back although
 * no next frame comes. */
GST_START_TEST (test_inputs_are_released) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);
  GstCaps *caps = gst_video_info_to_caps (&info);
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstBufferPoolAcquireParams params = {
    .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
  };

  gst_buffer_pool_config_set_params (config, caps, (guint) info.size, 3, 3);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  for (guint n = 0; n < 50; n++) {
    GstBuffer *frame = NULL;
    test_wait_for (
        gst_buffer_pool_acquire_buffer (pool, &frame, &params) == GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
  }
  /* All three, without anything further. */
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = NULL;
    test_wait_for (
        gst_buffer_pool_acquire_buffer (pool, &frame, &params) == GST_FLOW_OK);
    gst_harness_push (h, frame);
  }
  test_harness_end (&h);
  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  gst_caps_unref (caps);
}
GST_END_TEST

/* flow */

/* Tensors come one after the other. */
static GstPadProbeReturn
answer_next (GstPad *pad, GstPadProbeInfo *info, gpointer next)
{
  (void) pad;
  fail_unless_equals_int (test_number_of (GST_PAD_PROBE_INFO_BUFFER (info)),
      (gint) (*(guint *) next)++);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
answer (GstPad *pad, GstPadProbeInfo *info, gpointer flow)
{
  (void) pad;
  if (*(GstFlowReturn *) flow == GST_FLOW_OK)
    return GST_PAD_PROBE_OK;
  gst_buffer_unref (GST_PAD_PROBE_INFO_BUFFER (info));
  GST_PAD_PROBE_INFO_DATA (info) = NULL;
  info->ABI.abi.flow_ret = *(GstFlowReturn *) flow;
  return GST_PAD_PROBE_HANDLED;
}

/* Success of any kind is success: every tensor comes, in order. */
GST_START_TEST (test_any_success) {
  static const GstFlowReturn flows[] = { GST_FLOW_CUSTOM_SUCCESS,
    GST_FLOW_CUSTOM_SUCCESS_1, GST_FLOW_CUSTOM_SUCCESS_2 };

  for (guint depth = 0; depth <= 3; depth += 3) {
    for (guint f = 0; f < G_N_ELEMENTS (flows); f++) {
      g_autofree gchar *properties =
          g_strdup_printf ("streams=3 async-depth=%u", depth);
      GstVideoInfo info;
      GstHarness *h = test_rgb_harness (__i__, properties, &info);
      GstFlowReturn flow = flows[f];
      guint next = 0;

      gst_pad_add_probe (
          h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, answer_next, &next, NULL);
      gst_pad_add_probe (
          h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, answer, &flow, NULL);
      for (guint n = 0; n < 8; n++) {
        fail_unless (gst_harness_push (h, test_numbered_frame (&info, n)) >=
            GST_FLOW_OK);
        if (n == 4)
          gst_harness_push_event (h, gst_event_new_gap (0, 1));
      }
      gst_harness_push_event (h, gst_event_new_eos ());
      fail_unless (next == 8, "%u of 8 tensors came, %s", next, properties);
      test_harness_end (&h);
    }
  }
}
GST_END_TEST

/* What downstream answers reaches upstream, with the next frame at the latest,
 * and is forgotten once downstream takes frames again. */
GST_START_TEST (test_flow_goes_upstream) {
  static const GstFlowReturn flows[] = { GST_FLOW_EOS, GST_FLOW_NOT_LINKED,
    GST_FLOW_ERROR, GST_FLOW_CUSTOM_ERROR };

  for (guint depth = 0; depth <= 2; depth += 2) {
    for (guint f = 0; f < G_N_ELEMENTS (flows); f++) {
      gchar *properties = g_strdup_printf ("streams=2 async-depth=%u", depth);
      GstVideoInfo info;
      GstHarness *h = test_rgb_harness (__i__, properties, &info);
      GstFlowReturn flow = flows[f], returned = GST_FLOW_OK;
      guint n = 0;

      gst_pad_add_probe (
          h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, answer, &flow, NULL);
      while (returned == GST_FLOW_OK && n <= depth)
        returned = gst_harness_push (h, test_numbered_frame (&info, n++));
      fail_unless (returned == flows[f], "%s, not %s",
          gst_flow_get_name (returned), gst_flow_get_name (flows[f]));
      flow = GST_FLOW_OK;
      for (guint i = 0; i <= depth; i++)
        test_push_number (h, &info, n++);
      fail_unless (gst_harness_buffers_in_queue (h) > 0);
      test_harness_end (&h);
      g_free (properties);
    }
  }
}
GST_END_TEST

/* A drain has nowhere to return to: the next frame does. Then a new segment, or
 * a downstream that is linked again, is a new chance. */
GST_START_TEST (test_flow_of_a_drain) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=2 async-depth=2", &info);
  GstFlowReturn flow = GST_FLOW_OK;
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_add_probe (
      h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, answer, &flow, NULL);
  test_start (h, &info);
  flow = GST_FLOW_NOT_LINKED;
  test_push_number (h, &info, 0);
  gst_harness_push_event (h, gst_event_new_gap (0, 1));
  fail_unless_equals_int (gst_harness_push (h, test_numbered_frame (&info, 1)),
      GST_FLOW_NOT_LINKED);
  flow = GST_FLOW_OK;
  test_push_number (h, &info, 2);
  gst_harness_push_event (h, gst_event_new_gap (0, 1));
  test_pull_number (h, 2);

  flow = GST_FLOW_EOS;
  test_push_number (h, &info, 3);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  flow = GST_FLOW_OK;
  test_push_number (h, &info, 4);
  gst_harness_push_event (h, gst_event_new_eos ());
  test_pull_number (h, 4);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_every_frame_leaves);
  test_add (tcase, test_ten_thousand_frames);
  test_add (tcase, test_fields_stay_with_their_frame);
  test_add (tcase, test_dropped_frame_drains);
  test_add (tcase, test_processed_frames_count);
  test_add (tcase, test_nothing_is_held_with_qos);
  test_add (tcase, test_discont_is_one_frames);
  test_add (tcase, test_discont_beside_qos);
  test_add (tcase, test_drain_query_returns_inputs);
  test_add (tcase, test_inputs_are_released);
  test_add (tcase, test_any_success);
  test_add (tcase, test_flow_goes_upstream);
  test_add (tcase, test_flow_of_a_drain);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-stream", add_tests);
}
