/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * batch-size: which frames share a tensor, its times and flags, when it leaves,
 * and what goes on from frames that are missing, dropped or discarded.
 */

#include <gst/cudapreproc/cudapreproc.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define FRAME_TIME (GST_SECOND / 30)
#define SLICE 576 /* bytes: 16x12 RGB in uint8 */
#define PADDING 114

/* frames in, batches out */

static GstBuffer *
numbered (const GstVideoInfo *info, guint n)
{
  GstBuffer *frame = test_numbered_frame (info, n);

  GST_BUFFER_PTS (frame) = n * FRAME_TIME;
  GST_BUFFER_DTS (frame) = n * FRAME_TIME + 1;
  GST_BUFFER_DURATION (frame) = FRAME_TIME;
  GST_BUFFER_OFFSET (frame) = 1000 + n;
  GST_BUFFER_OFFSET_END (frame) = 1001 + n;
  return frame;
}

static void
push (GstHarness *h, const GstVideoInfo *info, guint n)
{
  fail_unless_equals_int (
      gst_harness_push (h, numbered (info, n)), GST_FLOW_OK);
}

static void
expect_padding (GstBuffer *tensor, guint slice)
{
  GstMapInfo map;
  gsize i = slice * SLICE;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  while (i < (slice + 1) * SLICE && map.data[i] == PADDING)
    i++;
  fail_unless (i == (slice + 1) * SLICE,
      "slice %u: byte %" G_GSIZE_FORMAT " is %u", slice, i % SLICE,
      map.data[i]);
  gst_buffer_unmap (tensor, &map);
}

/* A slice is that of frame n, and the next meta says so. */
static void
expect_picture (GstBuffer *tensor, guint slice, guint n, gpointer *state)
{
  GstBuffer *part = gst_buffer_copy_region (
      tensor, GST_BUFFER_COPY_MEMORY, slice * SLICE, SLICE);
  GstCudaPreprocPicture picture;

  fail_unless_equals_int (test_number_of (part), n);
  gst_buffer_unref (part);
  fail_unless (gst_cuda_preproc_buffer_next_picture (tensor, state, &picture),
      "no meta for slice %u", slice);
  fail_unless_equals_int (picture.index, slice);
  fail_unless_equals_uint64 (picture.pts, n * FRAME_TIME);
  fail_unless_equals_uint64 (picture.duration, FRAME_TIME);
  fail_unless_equals_uint64 (picture.offset, 1000 + n);
  fail_unless (picture.width == 16 && picture.height == 12);
}

/* The next tensor has frames begin and on, and size slices; transfer full. */
static GstBuffer *
pull (GstHarness *h, guint begin, guint pictures, guint size)
{
  GstBuffer *tensor = gst_harness_try_pull (h);
  gpointer state = NULL;
  GstCudaPreprocPicture picture;

  fail_unless (tensor != NULL, "the batch of frame %u did not come", begin);
  fail_unless_equals_uint64 (gst_buffer_get_size (tensor), size * SLICE);
  for (guint i = 0; i < pictures; i++)
    expect_picture (tensor, i, begin + i, &state);
  fail_if (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture));
  for (guint i = pictures; i < size; i++)
    expect_padding (tensor, i);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (tensor), begin * FRAME_TIME);
  fail_unless_equals_uint64 (GST_BUFFER_DTS (tensor), begin * FRAME_TIME + 1);
  fail_unless_equals_uint64 (
      GST_BUFFER_DURATION (tensor), pictures * FRAME_TIME);
  fail_unless_equals_uint64 (GST_BUFFER_OFFSET (tensor), 1000 + begin);
  fail_unless_equals_uint64 (
      GST_BUFFER_OFFSET_END (tensor), 1000 + begin + pictures);
  return tensor;
}

static void
expect (GstHarness *h, guint begin, guint pictures, guint size)
{
  gst_buffer_unref (pull (h, begin, pictures, size));
}

static void
expect_nothing (GstHarness *h)
{
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
}

/* full batches */

/* Whatever is held back: the first leaves when it is full, and so do others where
 * none is held back. */
GST_START_TEST (test_batches_leave_when_full) {
  static const struct {
    const gchar *properties;
    guint size, depth;
  } cases[] = { { "batch-size=1", 1, 0 }, { "batch-size=2", 2, 0 },
    { "batch-size=4 async-depth=1", 4, 1 },
    { "batch-size=3 async-depth=2", 3, 2 },
    { "batch-size=64 streams=2", 64, 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const guint size = cases[i].size, depth = cases[i].depth;
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, cases[i].properties, &info);

    for (guint n = 0; n < 5 * size; n++) {
      const guint full = (n + 1) / size; /* with frame n */
      const guint out = full == 0 ? 0 : MAX (full - MIN (full, depth), 1);
      push (h, &info, n);
      fail_unless (gst_harness_buffers_received (h) == out,
          "%s: %u tensors after frame %u, not %u", cases[i].properties,
          gst_harness_buffers_received (h), n, out);
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    for (guint b = 0; b < 5; b++)
      expect (h, b * size, size, size);
    expect_nothing (h);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* What comes between frames: what ends a batch, and what does not. */

static GstEvent *
new_event (GstEventType type)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  if (type == GST_EVENT_STREAM_START)
    return gst_event_new_stream_start ("another");
  if (type == GST_EVENT_SEGMENT)
    return gst_event_new_segment (&segment);
  if (type == GST_EVENT_SEGMENT_DONE)
    return gst_event_new_segment_done (GST_FORMAT_TIME, 0);
  if (type == GST_EVENT_GAP)
    return gst_event_new_gap (0, 1);
  if (type == GST_EVENT_TAG)
    return gst_event_new_tag (gst_tag_list_new_empty ());
  if (type == GST_EVENT_EOS)
    return gst_event_new_eos ();
  return gst_event_new_custom (type, gst_structure_new_empty ("x"));
}

static const struct {
  GstEventType type;
  gboolean ends_batch;
} between[] = {
  { GST_EVENT_STREAM_START, TRUE },
  { GST_EVENT_SEGMENT, TRUE },
  { GST_EVENT_SEGMENT_DONE, TRUE },
  { GST_EVENT_GAP, TRUE },
  { GST_EVENT_TAG, FALSE },
  { GST_EVENT_CUSTOM_DOWNSTREAM, FALSE },
  { GST_EVENT_CUSTOM_BOTH, FALSE },
  { GST_EVENT_CUSTOM_DOWNSTREAM_OOB, FALSE },
  { GST_EVENT_EOS, TRUE },
};

static GstPadProbeReturn
note_batches (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  (void) pad;
  if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_printf (user, "%u ",
        (guint) GST_BUFFER_OFFSET (GST_PAD_PROBE_INFO_BUFFER (info)) - 1000);
  else
    g_string_append_printf (
        user, "%s ", GST_EVENT_TYPE_NAME (GST_PAD_PROBE_INFO_EVENT (info)));
  return GST_PAD_PROBE_OK;
}

/* Two frames after a complete batch, which is held back, then the event, and two
 * more: the complete one leaves before any serialized event, the open one only
 * before some. */
GST_START_TEST (test_events_between_frames) {
  for (guint i = 0; i < G_N_ELEMENTS (between); i++) {
    const gboolean serialized =
        (between[i].type & GST_EVENT_TYPE_SERIALIZED) != 0;
    const gboolean ends = between[i].ends_batch;
    const gchar *name = gst_event_type_get_name (between[i].type);
    GstVideoInfo info;
    GstHarness *h =
        test_rgb_harness (__i__, "batch-size=4 async-depth=1", &info);
    GString *seen = g_string_new (NULL);
    const gulong probe = gst_pad_add_probe (h->sinkpad,
        GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
        note_batches, seen, NULL);

    for (guint n = 0; n < 10; n++)
      push (h, &info, n);
    gst_harness_push_event (h, new_event (between[i].type));
    g_autofree gchar *expected = g_strdup_printf (
        "0 %s%s%s ", serialized ? "4 " : "", ends ? "8 " : "", name);
    fail_unless_equals_string (seen->str, expected);

    expect (h, 0, 4, 4);
    if (serialized)
      expect (h, 4, 4, 4);
    if (ends)
      expect (h, 8, 2, 4);
    if (between[i].type != GST_EVENT_EOS) {
      for (guint n = 10; n < 12; n++)
        push (h, &info, n);
      gst_harness_push_event (h, gst_event_new_gap (0, 1));
      if (!serialized)
        expect (h, 4, 4, 4);
      if (ends)
        expect (h, 10, 2, 4);
      else
        expect (h, 8, 4, 4);
    }
    expect_nothing (h);
    gst_pad_remove_probe (h->sinkpad, probe);
    g_string_free (seen, TRUE);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Caps, the same or others, and upstream that wants its buffers back. */
GST_START_TEST (test_caps_and_drain_between_frames) {
  GstVideoInfo info, other;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=4", &info);

  push (h, &info, 0);
  test_video_info (&other, "RGB", 64, 48);
  test_send_caps (h, &other);
  expect (h, 0, 1, 4);
  for (guint n = 1; n < 4; n++)
    push (h, &other, n);
  GstQuery *query = gst_query_new_drain ();
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_unref (query);
  expect (h, 1, 3, 4);
  push (h, &other, 4);
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&other));
  expect (h, 4, 1, 4);
  expect_nothing (h);
  test_harness_end (&h);
}
GST_END_TEST

/* Downstream changes how many it wants: what is open leaves with the old number of
 * slices. */
GST_START_TEST (test_downstream_changes_the_number) {
  static const guint sizes[] = { 4, 1, 3, 2, 5 };
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  guint n = 0, before = 1;

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    g_autofree gchar *caps = g_strdup_printf (
        "other/tensors, format = static, num_tensors = 1, types = uint8, "
        "dimensions = (string) 16:12:3:%u",
        sizes[i]);
    gst_harness_set_sink_caps_str (h, caps);
    gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
    for (guint f = 0; f < sizes[i] + 1; f++)
      push (h, &info, n + f);
    if (before > 1)
      expect (h, n - 1, 1, before);
    expect (h, n, sizes[i], sizes[i]);
    if (sizes[i] == 1)
      expect (h, n + 1, 1, 1);
    n += sizes[i] + 1;
    before = sizes[i];
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  expect (h, n - 1, 1, before);
  expect_nothing (h);
  test_harness_end (&h);
}
GST_END_TEST

/* frames that are missing */

/* The next tensor's DISCONT; it has these frames. */
static void
expect_discont (GstHarness *h, guint begin, guint pictures, gboolean discont)
{
  GstBuffer *tensor = pull (h, begin, pictures, 3);

  fail_unless (GST_BUFFER_IS_DISCONT (tensor) == discont,
      "the batch of frame %u is %sdiscontinuous", begin, discont ? "not " : "");
  gst_buffer_unref (tensor);
}

/* A frame with DISCONT begins a batch, whose DISCONT it is; those before it leave
 * without. */
GST_START_TEST (test_discont_begins_a_batch) {
  for (guint depth = 0; depth <= 2; depth++) {
    g_autofree gchar *properties =
        g_strdup_printf ("batch-size=3 async-depth=%u", depth);
    GstVideoInfo info;
    GstHarness *h = test_rgb_harness (__i__, properties, &info);

    for (guint n = 0; n < 14; n++) {
      GstBuffer *frame = numbered (&info, n);
      GST_BUFFER_FLAG_UNSET (frame, GST_BUFFER_FLAG_DISCONT);
      if (n == 0 || n == 5 || n == 11)
        GST_BUFFER_FLAG_SET (frame, GST_BUFFER_FLAG_DISCONT);
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
      if (n == 5)
        fail_unless_equals_int (gst_harness_buffers_received (h), 2);
    }
    gst_harness_push_event (h, gst_event_new_eos ());
    expect_discont (h, 0, 3, TRUE);
    expect_discont (h, 3, 2, FALSE);
    expect_discont (h, 5, 3, TRUE);
    expect_discont (h, 8, 3, FALSE);
    expect_discont (h, 11, 3, TRUE);
    expect_nothing (h);
    test_harness_end (&h);
  }
}
GST_END_TEST

/* Of a frame that QoS dropped nothing is in the batch, which goes on with the next
 * one; complete ones leave. The gap is marked, and both are counted. */
GST_START_TEST (test_dropped_frames) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (
      __i__, "name=cudapreproc batch-size=3 async-depth=2 qos=true", &info);

  for (guint n = 0; n < 7; n++)
    push (h, &info, n);
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, 0));
  push (h, &info, 7); /* too late now */
  expect_discont (h, 0, 3, FALSE);
  expect (h, 3, 3, 3);
  expect_nothing (h);
  push (h, &info, 90);
  expect_nothing (h);
  push (h, &info, 91);
  GstBuffer *tensor = gst_harness_try_pull (h);
  gpointer state = NULL;
  fail_unless (tensor != NULL, "the batch with the gap in it is held back");
  expect_picture (tensor, 0, 6, &state);
  expect_picture (tensor, 1, 90, &state);
  expect_picture (tensor, 2, 91, &state);
  fail_unless (GST_BUFFER_IS_DISCONT (tensor));
  fail_unless_equals_uint64 (GST_BUFFER_DURATION (tensor), 86 * FRAME_TIME);
  gst_buffer_unref (tensor);
  for (guint n = 92; n < 95; n++)
    push (h, &info, n);
  gst_harness_push_event (h, gst_event_new_eos ());
  expect_discont (h, 92, 3, FALSE);

  fail_unless_equals_uint64 (test_stats_count (h, "frames"), 12);
  fail_unless_equals_uint64 (test_stats_count (h, "dropped"), 1);
  test_harness_end (&h);
}
GST_END_TEST

static void
flush (GstHarness *h)
{
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (h, new_event (GST_EVENT_SEGMENT));
}

/* A flush discards the open batch; the next begins with the next frame, in slices
 * that others may have filled. */
GST_START_TEST (test_flush_discards_the_open_batch) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=4 async-depth=1", &info);

  for (guint round = 0; round < 30; round++) {
    for (guint n = 0; n < round % 4; n++)
      push (h, &info, n);
    flush (h);
    expect_nothing (h);
    push (h, &info, 100);
    gst_harness_push_event (h, gst_event_new_gap (0, 1));
    expect (h, 100, 1, 4);
    for (guint n = 0; n < 4; n++)
      push (h, &info, n);
    flush (h); /* a complete one, held back */
    expect_nothing (h);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* So does a stop, in which downstream gets nothing. */
GST_START_TEST (test_stop_discards_the_open_batch) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=4", &info);

  push (h, &info, 0);
  gst_element_set_state (h->element, GST_STATE_READY);
  expect_nothing (h);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  gst_harness_push_event (h, gst_event_new_stream_start ("again"));
  gst_harness_set_src_caps (h, gst_video_info_to_caps (&info));
  for (guint n = 10; n < 14; n++)
    push (h, &info, n);
  expect (h, 10, 4, 4);
  test_harness_end (&h);
}
GST_END_TEST

/* times and flags */

/* Frames without some of their times, or that go back. */
GST_START_TEST (test_times) {
  static const struct {
    GstClockTime pts[2], duration[2], expected;
  } cases[] = {
    { { 0, 10 }, { 10, 10 }, 20 },
    { { 5, 10 }, { 5, 7 }, 12 },
    { { 5, 1000 }, { 5, 0 }, 995 },
    { { 5, 10 }, { 5, GST_CLOCK_TIME_NONE }, GST_CLOCK_TIME_NONE },
    { { 5, 10 }, { GST_CLOCK_TIME_NONE, 7 }, 12 },
    { { GST_CLOCK_TIME_NONE, 10 }, { 5, 5 }, GST_CLOCK_TIME_NONE },
    { { 5, GST_CLOCK_TIME_NONE }, { 5, 5 }, GST_CLOCK_TIME_NONE },
    { { 30, 10 }, { 10, 10 }, GST_CLOCK_TIME_NONE },
    { { 30, 25 }, { 10, 10 }, 5 },
  };
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=2", &info);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    for (guint n = 0; n < 2; n++) {
      GstBuffer *frame = test_numbered_frame (&info, n);
      GST_BUFFER_PTS (frame) = cases[i].pts[n];
      GST_BUFFER_DURATION (frame) = cases[i].duration[n];
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    }
    GstBuffer *tensor = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (tensor), cases[i].pts[0]);
    fail_unless (GST_BUFFER_DURATION (tensor) == cases[i].expected,
        "case %u: duration %" G_GUINT64_FORMAT, i,
        GST_BUFFER_DURATION (tensor));
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* One corrupted frame is enough, but one gap is not. */
GST_START_TEST (test_flags) {
  static const GstBufferFlags any = GST_BUFFER_FLAG_CORRUPTED;
  static const GstBufferFlags all =
      GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DROPPABLE;
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "batch-size=3", &info);

  for (guint with = 0; with < 8; with++) {
    for (guint n = 0; n < 3; n++) {
      GstBuffer *frame = test_numbered_frame (&info, n);
      if (with >> n & 1)
        GST_BUFFER_FLAG_SET (frame, any | all);
      fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
    }
    GstBuffer *tensor = gst_harness_pull (h);
    const GstBufferFlags expected =
        (with != 0 ? any : 0) | (with == 7 ? all : 0);
    fail_unless_equals_int (GST_BUFFER_FLAGS (tensor) & (any | all), expected);
    gst_buffer_unref (tensor);
  }
  test_harness_end (&h);
}
GST_END_TEST

/* latency */

static GstClockTime
ask_latency (GstHarness *h)
{
  GstQuery *query = gst_query_new_latency ();
  GstClockTime min;

  fail_unless (gst_pad_peer_query (h->sinkpad, query));
  gst_query_parse_latency (query, NULL, &min, NULL);
  gst_query_unref (query);
  return min;
}

/* A batch's first frame waits for the others, and for the batches that are held
 * back: known from the framerate, or from frames. */
GST_START_TEST (test_latency) {
  static const struct {
    guint size, depth, frames;
  } cases[] = { { 1, 0, 0 }, { 4, 0, 3 }, { 4, 2, 11 }, { 64, 1, 127 },
    { 64, 64, 4159 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gint fps = 0; fps <= 25; fps += 25) {
      g_autofree gchar *properties = g_strdup_printf (
          "batch-size=%u async-depth=%u", cases[i].size, cases[i].depth);
      GstHarness *h = test_harness (__i__, properties);
      GstVideoInfo info;

      test_video_info (&info, "RGB", 16, 16);
      GST_VIDEO_INFO_FPS_N (&info) = fps;
      test_send_caps (h, &info);
      for (guint n = 0; n < 5 && fps == 0; n++) {
        GstBuffer *frame = test_frame (&info, NULL);
        GST_BUFFER_PTS (frame) = n * 40 * GST_MSECOND;
        fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
      }
      fail_unless (ask_latency (h) == cases[i].frames * 40 * GST_MSECOND,
          "%s at %d: %" GST_TIME_FORMAT, properties, fps,
          GST_TIME_ARGS (ask_latency (h)));
      test_harness_end (&h);
    }
}
GST_END_TEST

/* pipelines */

/* Sinks preroll with the first batch; with a partial one where there is no more. */
GST_START_TEST (test_preroll) {
  for (guint frames = 2; frames <= 8; frames += 6) {
    gint in = 0, out = 0;
    GstElement *pipeline = test_launch (__i__,
        "videotestsrc num-buffers=%u ! cudapreproc name=pp width=16 height=16 "
        "batch-size=4 async-depth=0 ! fakesink",
        frames);

    test_count_buffers (test_pad (pipeline, "pp", "sink"), &in);
    test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
    test_set_state (pipeline, GST_STATE_PAUSED);
    fail_unless_equals_int (out, 1);
    fail_unless_equals_int (in, (gint) MIN (frames, 4));
    test_play_to_eos (pipeline);
    fail_unless_equals_int (out, frames == 2 ? 1 : 2);
    test_stop (&pipeline);
  }
}
GST_END_TEST

static GstPadProbeReturn
check_time (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstBuffer *tensor = GST_PAD_PROBE_INFO_BUFFER (info);
  gpointer state = NULL;
  GstCudaPreprocPicture picture;
  guint *frames = user;

  (void) pad;
  while (gst_cuda_preproc_buffer_next_picture (tensor, &state, &picture)) {
    fail_unless_equals_uint64 (
        picture.pts, gst_util_uint64_scale (*frames, GST_SECOND, 30));
    ++*frames;
  }
  return GST_PAD_PROBE_OK;
}

/* Threads on both sides, and a copy of each tensor that somebody else maps. */
GST_START_TEST (test_real_pipeline) {
  guint one = 0, two = 0;
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=203 ! video/x-raw,format=NV12,width=64,height=48,"
      "framerate=30/1 ! queue ! cudapreproc name=pp width=32 height=32 "
      "fit=letterbox batch-size=8 ! tee name=t ! queue ! fakesink name=one "
      "dump=false t. ! queue ! filesink name=two location=/dev/null");

  gst_pad_add_probe (test_pad (pipeline, "one", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, check_time, &one, NULL);
  gst_pad_add_probe (test_pad (pipeline, "two", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, check_time, &two, NULL);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (one, 203);
  fail_unless_equals_int (two, 203);
  GstCaps *caps = gst_pad_get_current_caps (test_pad (pipeline, "pp", "src"));
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint fps_n = 0, fps_d = 0;
  fail_unless_equals_string (
      gst_structure_get_string (structure, "dimensions"), "32:32:3:8");
  fail_unless (
      gst_structure_get_fraction (structure, "framerate", &fps_n, &fps_d));
  fail_unless (fps_n == 15 && fps_d == 4, "%d/%d", fps_n, fps_d);
  gst_caps_unref (caps);
  test_stop (&pipeline);
}
GST_END_TEST

/* What the README shows, with the numbers that it tells. */
GST_START_TEST (test_readme_example) {
  g_autofree gchar *readme = NULL;
  gint out = 0;

  fail_unless (
      g_file_get_contents (SOURCE_ROOT "/README.md", &readme, NULL, NULL));
  gchar *line = strstr (readme, "\n## Batches\n");
  line = line != NULL ? strstr (line, "\ngst-launch-1.0 -v ") : NULL;
  fail_unless (line != NULL, "no example of batches");
  line += strlen ("\ngst-launch-1.0 -v ");
  *strchr (line, '\n') = '\0';

  GstElement *pipeline = test_launch (__i__, "%s name=sink", line);
  test_count_buffers (test_pad (pipeline, "sink", "sink"), &out);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (out, 13);
  GstCaps *caps =
      gst_pad_get_current_caps (test_pad (pipeline, "sink", "sink"));
  fail_unless_equals_string (
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "dimensions"),
      "224:224:3:8");
  gst_caps_unref (caps);
  test_stop (&pipeline);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_batches_leave_when_full);
  test_add (tcase, test_events_between_frames);
  test_add (tcase, test_caps_and_drain_between_frames);
  test_add (tcase, test_downstream_changes_the_number);
  test_add (tcase, test_discont_begins_a_batch);
  test_add (tcase, test_dropped_frames);
  test_add (tcase, test_flush_discards_the_open_batch);
  test_add (tcase, test_stop_discards_the_open_batch);
  test_add (tcase, test_times);
  test_add (tcase, test_flags);
  test_add (tcase, test_latency);
  test_add (tcase, test_preroll);
  test_add (tcase, test_real_pipeline);
  test_add (tcase, test_readme_example);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-batches", add_tests);
}
