/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * cudapreprocmux: a batch of one frame of each stream. Which slice a frame fills,
 * when a batch leaves, its times; pads that come, end, stall, flush.
 */

#include <string.h>

#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>

#include "gst/cudapreproc/cudapreproc.h"

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define FRAME (GST_SECOND / 30)
#define SIZE (16 * 12 * 3) /* bytes of a slice */
/* Tensors of 16 x 12, uint8. */
#define MUX "cudapreprocmux name=mux width=16 height=12 type=uint8 "
#define OUT "! appsink name=out sync=false "

/* streams */

/* A stream's source: names its element and links it to the mux. */
static gchar *
source_line (const gchar *name, const gchar *more)
{
  return g_strdup_printf (
      "appsrc name=%s format=time %s ! queue ! mux. ", name, more);
}

/* n sources in0, in1 ... of numbered RGB frames, mux with more properties. */
static GstElement *
launch (gint backend, guint n, const gchar *properties, const gchar *of_sources)
{
  GString *line = g_string_new (NULL);
  GstVideoInfo info;

  g_string_append_printf (line, MUX "%s " OUT, properties);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("in%u", i);
    g_autofree gchar *source = source_line (name, of_sources);
    g_string_append (line, source);
  }
  GstElement *pipeline = test_launch (backend, "%s", line->str);
  g_string_free (line, TRUE);
  test_video_info (&info, "RGB", 32, 24);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("in%u", i);
    g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
    gst_app_src_set_caps (GST_APP_SRC (test_element (pipeline, name)), caps);
  }
  return pipeline;
}

static GstAppSrc *
source (GstElement *pipeline, guint i)
{
  g_autofree gchar *name = g_strdup_printf ("in%u", i);

  return GST_APP_SRC (test_element (pipeline, name));
}

/* Frame number of stream i, at that time. */
static void
push_at (GstElement *pipeline, guint i, guint number, GstClockTime pts)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *frame = test_numbered_frame (&info, number);
  GST_BUFFER_PTS (frame) = pts;
  GST_BUFFER_DURATION (frame) = FRAME;
  fail_unless_equals_int (
      gst_app_src_push_buffer (source (pipeline, i), frame), GST_FLOW_OK);
}

static void
push (GstElement *pipeline, guint i, guint number)
{
  push_at (pipeline, i, number, number % 100 * FRAME);
}

static void
end (GstElement *pipeline, guint i)
{
  gst_app_src_end_of_stream (source (pipeline, i));
}

/* The next batch; NULL at the end of the stream. */
static GstBuffer *
pull (GstElement *pipeline)
{
  GstSample *sample = gst_app_sink_try_pull_sample (
      GST_APP_SINK (test_element (pipeline, "out")), TEST_PATIENCE);

  if (sample == NULL) {
    fail_unless (
        gst_app_sink_is_eos (GST_APP_SINK (test_element (pipeline, "out"))),
        "no batch came");
    return NULL;
  }
  GstBuffer *batch = gst_buffer_ref (gst_sample_get_buffer (sample));
  gst_sample_unref (sample);
  return batch;
}

/* slices */

static GstBuffer *
get_slice (GstBuffer *batch, guint i)
{
  return gst_buffer_copy_region (
      batch, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_DEEP, i * SIZE, SIZE);
}

/* -1: padding, which is 114. */
static void
expect_slice (GstBuffer *batch, guint i, gint number)
{
  GstBuffer *slice = get_slice (batch, i);
  guint8 padding[SIZE];

  if (number >= 0) {
    fail_unless_equals_int (test_number_of (slice), number);
  } else {
    memset (padding, 114, sizeof padding);
    gst_check_buffer_data (slice, padding, sizeof padding);
  }
  gst_buffer_unref (slice);
}

/* Pulls a batch of n slices, with these numbers in them, and checks its metas. */
static GstBuffer *
pull_numbers (GstElement *pipeline, guint n, const gint *numbers)
{
  GstBuffer *batch = pull (pipeline);
  GstCudaPreprocPicture picture;
  gpointer state = NULL;

  fail_unless (batch != NULL, "the stream ended");
  fail_unless_equals_int (gst_buffer_get_size (batch), n * SIZE);
  for (guint i = 0; i < n; i++) {
    expect_slice (batch, i, numbers[i]);
    if (numbers[i] < 0)
      continue;
    g_autofree gchar *pad = g_strdup_printf ("sink_%u", i);
    fail_unless (
        gst_cuda_preproc_buffer_next_picture (batch, &state, &picture));
    fail_unless_equals_int (picture.index, i);
    fail_unless_equals_string (picture.pad, pad);
  }
  fail_unless (!gst_cuda_preproc_buffer_next_picture (batch, &state, &picture));
  return batch;
}

static void
expect_numbers (GstElement *pipeline, guint n, const gint *numbers)
{
  gst_buffer_unref (pull_numbers (pipeline, n, numbers));
}

#define EXPECT(pipeline, ...)                                                  \
  G_STMT_START                                                                 \
  {                                                                            \
    const gint slices[] = { __VA_ARGS__ };                                     \
    expect_numbers (pipeline, G_N_ELEMENTS (slices), slices);                  \
  }                                                                            \
  G_STMT_END

static void
expect_end (GstElement *pipeline)
{
  fail_unless (pull (pipeline) == NULL, "more came");
}

/* Fails unless the mux posts an error with these words. */
static void
expect_error (GstElement *pipeline, const gchar *words)
{
  GError *error = NULL;
  GstMessage *message = test_pop (pipeline, GST_MESSAGE_ERROR);

  gst_message_parse_error (message, &error, NULL);
  fail_unless_equals_string (GST_MESSAGE_SRC_NAME (message), "mux");
  test_expect_words (error->message, words);
  g_error_free (error);
  gst_message_unref (message);
}

/* which slice */

GST_START_TEST (test_a_frame_of_each_stream) {
  GstElement *pipeline = launch (__i__, 3, "", "");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 5; n++) {
    for (guint i = 0; i < 3; i++)
      push (pipeline, i, 100 * i + n);
    const gint numbers[] = { (gint) n, 100 + (gint) n, 200 + (gint) n };
    GstBuffer *batch = pull_numbers (pipeline, 3, numbers);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (batch), n * FRAME);
    gst_buffer_unref (batch);
  }
  for (guint i = 0; i < 3; i++)
    end (pipeline, i);
  expect_end (pipeline);
  test_stop (&pipeline);
}
GST_END_TEST

/* Of any size and format: the same as what cudapreproc makes of it. */
static const struct {
  const gchar *format;
  gint width, height;
} kinds[] = {
  { "NV12", 64, 48 },
  { "RGB", 33, 25 },
  { "GRAY8", 20, 40 },
  { "I420_10LE", 48, 26 },
};

GST_START_TEST (test_any_size_and_format) {
  static const gchar settings[] =
      "width=16 height=12 type=uint8 fit=letterbox antialias=true";
  GstElement *pipeline =
      launch (__i__, G_N_ELEMENTS (kinds), "fit=letterbox antialias=true", "");
  GstBuffer *single[G_N_ELEMENTS (kinds)];

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstHarness *h = test_harness (__i__, settings);
    GstVideoInfo info;

    test_video_info (&info, kinds[i].format, kinds[i].width, kinds[i].height);
    GstBuffer *frame = test_frame (&info, NULL);
    test_paint_noise (frame, &info, 7 + i);
    GST_BUFFER_PTS (frame) = 0;
    g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
    gst_app_src_set_caps (source (pipeline, i), caps);
    gst_app_src_push_buffer (source (pipeline, i), gst_buffer_ref (frame));
    single[i] = test_convert (h, &info, frame);
    test_harness_end (&h);
  }
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstBuffer *batch = pull (pipeline);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++) {
    GstBuffer *slice = get_slice (batch, i);
    test_expect_equal (single[i], slice, kinds[i].format);
    gst_buffer_unref (slice);
    gst_buffer_unref (single[i]);
  }
  gst_buffer_unref (batch);
  test_stop (&pipeline);
}
GST_END_TEST

/* Each stream is turned as its own tags say. */
GST_START_TEST (test_orientation_of_each_stream) {
  static const gchar *const directions[] = { "identity", "180" };
  GstElement *pipeline = launch (__i__, 2, "video-direction=auto", "");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push (pipeline, 1, 2);
  EXPECT (pipeline, 1, 2);
  GstTagList *tags =
      gst_tag_list_new (GST_TAG_IMAGE_ORIENTATION, "rotate-180", NULL);
  gst_tag_list_set_scope (tags, GST_TAG_SCOPE_STREAM);
  gst_pad_push_event (
      test_pad (pipeline, "in1", "src"), gst_event_new_tag (tags));

  GstBuffer *frame = test_frame (&info, NULL);
  test_paint_noise (frame, &info, 3);
  GST_BUFFER_PTS (frame) = 3 * FRAME;
  for (guint i = 0; i < 2; i++)
    gst_app_src_push_buffer (source (pipeline, i), gst_buffer_ref (frame));
  GstBuffer *batch = pull (pipeline);
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *properties = g_strdup_printf (
        "width=16 height=12 type=uint8 video-direction=%s", directions[i]);
    GstHarness *h = test_harness (__i__, properties);
    GstBuffer *single = test_convert (h, &info, gst_buffer_ref (frame));
    GstBuffer *slice = get_slice (batch, i);
    test_expect_equal (single, slice, directions[i]);
    gst_buffer_unref (single);
    gst_buffer_unref (slice);
    test_harness_end (&h);
  }
  gst_buffer_unref (batch);
  gst_buffer_unref (frame);
  test_stop (&pipeline);
}
GST_END_TEST

/* Downstream's number of slices; those without a pad are padding. */
GST_START_TEST (test_downstream_decides) {
  GstElement *pipeline = launch (__i__, 2, "", "");
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "other/tensors, format=static, num_tensors=1, types=uint8, "
      "dimensions=16:12:3:4, framerate=0/1");

  gst_app_sink_set_caps (GST_APP_SINK (test_element (pipeline, "out")), caps);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (gint n = 0; n < 3; n++) {
    push (pipeline, 0, (guint) n);
    push (pipeline, 1, 100 + (guint) n);
    EXPECT (pipeline, n, 100 + n, -1, -1);
  }
  test_stop (&pipeline);
}
GST_END_TEST

static const struct {
  const gchar *properties, *words;
} contradictions[] = {
  { "batch-size=3", "16:12:3:4|batch-size=3" },
  { "batch-size=4 width=20", "16:12:3:4|width=20" },
};

GST_START_TEST (test_contradictions) {
  for (guint i = 0; i < G_N_ELEMENTS (contradictions); i++) {
    GstElement *pipeline = launch (__i__, 2, contradictions[i].properties, "");
    g_autoptr (GstCaps) caps = gst_caps_from_string (
        "other/tensors, format=static, num_tensors=1, types=uint8, "
        "dimensions=16:12:3:4, framerate=0/1");

    gst_app_sink_set_caps (GST_APP_SINK (test_element (pipeline, "out")), caps);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    push (pipeline, 0, 1);
    push (pipeline, 1, 2);
    expect_error (pipeline, contradictions[i].words);
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* Frames have no size in common. */
GST_START_TEST (test_size_is_no_pads) {
  GstElement *pipeline = launch (__i__, 2, "width=0 height=0", "");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push (pipeline, 1, 2);
  expect_error (pipeline, "width|height");
  test_stop (&pipeline);
}
GST_END_TEST

/* pads */

static GstPad *
request (GstElement *mux, const gchar *name)
{
  return gst_element_request_pad_simple (mux, name);
}

static void
expect_pad (GstPad *pad, const gchar *name)
{
  fail_unless (pad != NULL, "no pad %s", name);
  fail_unless_equals_string (GST_PAD_NAME (pad), name);
}

static void
release (GstElement *mux, GstPad *pad)
{
  gst_element_release_request_pad (mux, pad);
  gst_object_unref (pad);
}

GST_START_TEST (test_numbers_of_pads) {
  GstElement *mux = gst_element_factory_make ("cudapreprocmux", NULL);
  GstPad *pads[4];

  g_object_set (mux, "batch-size", 4, NULL);
  expect_pad (pads[0] = request (mux, "sink_%u"), "sink_0");
  expect_pad (pads[2] = request (mux, "sink_2"), "sink_2");
  expect_pad (pads[1] = request (mux, "sink_%u"), "sink_1");
  expect_pad (pads[3] = request (mux, "sink_%u"), "sink_3");
  fail_unless (request (mux, "sink_%u") == NULL);
  release (mux, pads[1]);
  expect_pad (pads[1] = request (mux, "sink_%u"), "sink_1");
  fail_unless (request (mux, "sink_64") == NULL);
  fail_unless (request (mux, "sink_") == NULL);
  fail_unless (request (mux, "sink_-1") == NULL);
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
    release (mux, pads[i]);
  gst_object_unref (mux);
}
GST_END_TEST

/* Without batch-size it is the pads that are there first. */
GST_START_TEST (test_later_pad_has_no_slice) {
  GstElement *pipeline = launch (__i__, 2, "", "");
  GstElement *mux = test_element (pipeline, "mux");
  gchar *text = NULL;
  GError *error = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push (pipeline, 1, 2);
  EXPECT (pipeline, 1, 2);
  fail_unless (request (mux, "sink_%u") == NULL);
  GstMessage *message = test_pop (pipeline, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, &text);
  test_expect_words (error->message, "sink_2|2 pictures");
  test_expect_words (text, "batch-size");
  g_error_free (error);
  g_free (text);
  gst_message_unref (message);
  /* The others go on. */
  push (pipeline, 0, 3);
  push (pipeline, 1, 4);
  EXPECT (pipeline, 3, 4);
  test_stop (&pipeline);
}
GST_END_TEST

/* A stream that ended is not waited for, nor one whose pad was released; one that
 * begins again is. */
GST_START_TEST (test_streams_that_end) {
  GstElement *pipeline = launch (__i__, 3, "", "");
  GstElement *mux = test_element (pipeline, "mux");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint i = 0; i < 3; i++)
    push (pipeline, i, 100 * i);
  EXPECT (pipeline, 0, 100, 200);
  end (pipeline, 1);
  push (pipeline, 0, 1);
  push (pipeline, 2, 201);
  EXPECT (pipeline, 1, -1, 201);

  GstPad *pad = gst_element_get_static_pad (mux, "sink_2");
  GstPad *peer = gst_pad_get_peer (pad);
  gst_pad_unlink (peer, pad);
  gst_element_release_request_pad (mux, pad);
  gst_object_unref (pad);
  push (pipeline, 0, 2);
  EXPECT (pipeline, 2, -1, -1);

  pad = gst_element_request_pad_simple (mux, "sink_2");
  fail_unless (pad != NULL);
  gst_object_unref (pad);
  gst_object_unref (peer);
  end (pipeline, 0);
  /* The new pad has had nothing yet. */
  gst_element_release_request_pad (mux, pad);
  expect_end (pipeline);
  test_stop (&pipeline);
}
GST_END_TEST

/* Another size in mid-stream, on one pad. */
GST_START_TEST (test_caps_change_on_one_pad) {
  GstElement *pipeline = launch (__i__, 2, "", "");
  GstVideoInfo info;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push (pipeline, 1, 101);
  EXPECT (pipeline, 1, 101);
  test_video_info (&info, "RGB", 80, 60);
  GstBuffer *frame = test_numbered_frame (&info, 102);
  GST_BUFFER_PTS (frame) = 2 * FRAME;
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  g_autoptr (GstSample) sample = gst_sample_new (frame, caps, NULL, NULL);
  gst_app_src_push_sample (source (pipeline, 1), sample);
  gst_buffer_unref (frame);
  push (pipeline, 0, 2);
  EXPECT (pipeline, 2, 102);
  test_stop (&pipeline);
}
GST_END_TEST

GST_START_TEST (test_64_pads) {
  GstElement *pipeline = launch (__i__, 64, "", "");
  gint numbers[64];

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < 3; n++) {
    for (guint i = 0; i < 64; i++) {
      numbers[i] = (gint) (100 * i + n);
      push (pipeline, i, 100 * i + n);
    }
    expect_numbers (pipeline, 64, numbers);
  }
  test_stop (&pipeline);
}
GST_END_TEST

/* times */

/* Running times count, not timestamps. */
GST_START_TEST (test_segments) {
  GstElement *pipeline = launch (__i__, 2, "", "");
  GstSegment segment;
  GstCudaPreprocPicture picture;
  gpointer state = NULL;
  GstSample *sample;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = 10 * GST_SECOND;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  sample = gst_sample_new (NULL, NULL, &segment, NULL);
  gst_app_src_push_sample (source (pipeline, 1), sample);
  gst_sample_unref (sample);
  push_at (pipeline, 1, 101, 10 * GST_SECOND + FRAME);
  const gint numbers[] = { 1, 101 };
  GstBuffer *batch = pull_numbers (pipeline, 2, numbers);
  fail_unless_equals_uint64 (GST_BUFFER_PTS (batch), FRAME);
  gst_cuda_preproc_buffer_next_picture (batch, &state, &picture);
  fail_unless_equals_uint64 (picture.pts, FRAME);
  gst_cuda_preproc_buffer_next_picture (batch, &state, &picture);
  fail_unless_equals_uint64 (picture.pts, 10 * GST_SECOND + FRAME);
  gst_buffer_unref (batch);
  test_stop (&pipeline);
}
GST_END_TEST

/* Batches do not go back in time, although frames may; and one frame's DISCONT is
 * the batch's. */
GST_START_TEST (test_times_and_flags) {
  static const struct {
    guint time; /* frames */
    GstBufferFlags flags;
    guint expected; /* frames */
  } rounds[] = {
    { 5, 0, 5 },
    { 2, 0, 5 },
    { 7, GST_BUFFER_FLAG_DISCONT, 7 },
    { 8, 0, 8 },
  };
  GstElement *pipeline = launch (__i__, 2, "", "");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint r = 0; r < G_N_ELEMENTS (rounds); r++) {
    GstBuffer *frame = test_numbered_frame (&info, r);
    GST_BUFFER_PTS (frame) = rounds[r].time * FRAME;
    GST_BUFFER_FLAG_SET (frame, rounds[r].flags);
    push_at (pipeline, 0, r, rounds[r].time * FRAME);
    gst_app_src_push_buffer (source (pipeline, 1), frame);
    const gint numbers[] = { (gint) r, (gint) r };
    GstBuffer *batch = pull_numbers (pipeline, 2, numbers);
    fail_unless_equals_uint64 (
        GST_BUFFER_PTS (batch), rounds[r].expected * FRAME);
    /* A stream begins with one. */
    fail_unless_equals_int (
        GST_BUFFER_FLAG_IS_SET (batch, GST_BUFFER_FLAG_DISCONT),
        r == 0 || rounds[r].flags != 0);
    gst_buffer_unref (batch);
  }
  test_stop (&pipeline);
}
GST_END_TEST

GST_START_TEST (test_no_time) {
  GstElement *pipeline = launch (__i__, 2, "", "");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push_at (pipeline, 1, 2, GST_CLOCK_TIME_NONE);
  expect_error (pipeline, "sink_1|timestamp");
  test_stop (&pipeline);
}
GST_END_TEST

/* The error for a frame names the pad that it came on. */
GST_START_TEST (test_short_frame) {
  GstElement *pipeline = launch (__i__, 2, "", "");
  GstBuffer *frame = gst_buffer_new_allocate (NULL, 100, NULL);

  GST_BUFFER_PTS (frame) = 0;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 0);
  gst_app_src_push_buffer (source (pipeline, 1), frame);
  expect_error (pipeline, "sink_1|100 bytes");
  test_stop (&pipeline);
}
GST_END_TEST

/* A gap is a slice without a picture. */
GST_START_TEST (test_gap) {
  GstElement *pipeline = launch (__i__, 2, "", "");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 1);
  push (pipeline, 1, 101);
  EXPECT (pipeline, 1, 101);
  gst_pad_push_event (
      test_pad (pipeline, "in1", "src"), gst_event_new_gap (2 * FRAME, FRAME));
  push (pipeline, 0, 2);
  EXPECT (pipeline, 2, -1);
  push (pipeline, 0, 3);
  push (pipeline, 1, 103);
  EXPECT (pipeline, 3, 103);
  test_stop (&pipeline);
}
GST_END_TEST

/* A live batch leaves at its deadline with what is there: half a second later than a
 * frame takes, so that a busy machine does not miss it. */
GST_START_TEST (test_deadline) {
  GstElement *pipeline =
      launch (__i__, 2, "latency=500000000", "is-live=true do-timestamp=true");

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push_at (pipeline, 0, 1, GST_CLOCK_TIME_NONE);
  push_at (pipeline, 1, 101, GST_CLOCK_TIME_NONE);
  EXPECT (pipeline, 1, 101);
  const gint64 before = g_get_monotonic_time ();
  push_at (pipeline, 0, 2, GST_CLOCK_TIME_NONE);
  EXPECT (pipeline, 2, -1);
  fail_unless (
      g_get_monotonic_time () - before >= 530000, "it left before its time");
  push_at (pipeline, 0, 3, GST_CLOCK_TIME_NONE);
  push_at (pipeline, 1, 103, GST_CLOCK_TIME_NONE);
  EXPECT (pipeline, 3, 103);
  test_stop (&pipeline);
}
GST_END_TEST

static gboolean
query_src (GstElement *pipeline, GstQuery *query)
{
  return gst_pad_query (test_pad (pipeline, "mux", "src"), query);
}

GST_START_TEST (test_queries) {
  GstElement *pipeline = launch (__i__, 2, "latency=5000000", "is-live=true");
  GstQuery *query = gst_query_new_position (GST_FORMAT_TIME);
  gint64 position;
  GstClockTime min;
  gboolean live, seekable;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  push (pipeline, 0, 7);
  push (pipeline, 1, 8);
  EXPECT (pipeline, 7, 8);
  fail_unless (query_src (pipeline, query));
  gst_query_parse_position (query, NULL, &position);
  fail_unless_equals_int64 (position, 7 * FRAME);
  gst_query_unref (query);

  query = gst_query_new_seeking (GST_FORMAT_TIME);
  fail_unless (query_src (pipeline, query));
  gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  fail_unless (!seekable);
  gst_query_unref (query);

  query = gst_query_new_latency ();
  fail_unless (query_src (pipeline, query));
  gst_query_parse_latency (query, &live, &min, NULL);
  fail_unless (live);
  fail_unless (min >= FRAME + 5 * GST_MSECOND,
      "%" GST_TIME_FORMAT " of latency", GST_TIME_ARGS (min));
  gst_query_unref (query);
  test_stop (&pipeline);
}
GST_END_TEST

/* states */

/* A pad of this thread's, linked to a new one of the mux. */
static GstPad *
link_pad (GstElement *mux)
{
  GstPad *pad = gst_pad_new (NULL, GST_PAD_SRC);
  GstPad *peer = request (mux, "sink_%u");

  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (pad, peer), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  return pad;
}

static void
unlink_pad (GstElement *mux, GstPad *pad)
{
  GstPad *peer = gst_pad_get_peer (pad);

  gst_pad_set_active (pad, FALSE);
  gst_pad_unlink (pad, peer);
  release (mux, peer);
  gst_object_unref (pad);
}

static void
begin_segment (GstPad *pad)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  fail_unless (gst_pad_push_event (pad, gst_event_new_segment (&segment)));
}

static void
begin_stream (GstPad *pad)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&info);
  gst_pad_push_event (pad, gst_event_new_stream_start ("test"));
  fail_unless (gst_pad_push_event (pad, gst_event_new_caps (caps)));
  begin_segment (pad);
}

static void
push_to_pad (GstPad *pad, guint number)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *frame = test_numbered_frame (&info, number);
  GST_BUFFER_PTS (frame) = number * FRAME;
  fail_unless_equals_int (gst_pad_push (pad, frame), GST_FLOW_OK);
}

static void
flush (GstPad *pad)
{
  fail_unless (gst_pad_push_event (pad, gst_event_new_flush_start ()));
  fail_unless (gst_pad_push_event (pad, gst_event_new_flush_stop (TRUE)));
  begin_segment (pad);
}

static GstElement *
start_two (gint backend, GstPad **pads)
{
  GstElement *pipeline = test_launch (backend, MUX OUT);

  for (guint i = 0; i < 2; i++)
    pads[i] = link_pad (test_element (pipeline, "mux"));
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  return pipeline;
}

/* After a batch of what both push now. */
static void
stop_two (GstElement *pipeline, GstPad **pads)
{
  push_to_pad (pads[0], 5);
  push_to_pad (pads[1], 6);
  EXPECT (pipeline, 5, 6);
  gst_element_set_state (pipeline, GST_STATE_READY);
  for (guint i = 0; i < 2; i++)
    unlink_pad (test_element (pipeline, "mux"), pads[i]);
  test_stop (&pipeline);
}

/* The frames that waited are gone: of all streams, or of one. */
GST_START_TEST (test_flush) {
  for (guint flushed = 1; flushed <= 2; flushed++) {
    GstPad *pads[2];
    GstElement *pipeline = start_two (__i__, pads);

    for (guint i = 0; i < 2; i++)
      begin_stream (pads[i]);
    push_to_pad (pads[0], 1);
    push_to_pad (pads[1], 2);
    EXPECT (pipeline, 1, 2);
    push_to_pad (pads[0], 3); /* waits for the other stream's */
    for (guint i = 0; i < flushed; i++)
      flush (pads[i]);
    stop_two (pipeline, pads);
  }
}
GST_END_TEST

static gint flushed_often; /* atomic */

static gpointer
flush_often (gpointer pad)
{
  for (guint i = 0; i < 50000; i++)
    flush (pad);
  g_atomic_int_set (&flushed_often, TRUE);
  return NULL;
}

/* A stream's gaps, before its segment too, beside flushes of it: nobody complains of
 * a pad without a segment. */
GST_START_TEST (test_gap_and_flush) {
  GstPad *pads[2];
  GstElement *pipeline = start_two (__i__, pads);

  gst_pad_push_event (pads[0], gst_event_new_stream_start ("test"));
  gst_pad_push_event (pads[0], gst_event_new_gap (0, FRAME));
  for (guint i = 0; i < 2; i++)
    begin_stream (pads[i]);
  flushed_often = FALSE;
  GThread *thread = g_thread_new ("flush", flush_often, pads[0]);
  for (guint i = 0; !g_atomic_int_get (&flushed_often); i++)
    gst_pad_push_event (pads[0], gst_event_new_gap (i * FRAME, FRAME));
  g_thread_join (thread);
  flush (pads[0]);
  stop_two (pipeline, pads);
}
GST_END_TEST

GST_START_TEST (test_ready_and_playing) {
  GstElement *pipeline = test_launch (__i__,
      MUX "! queue ! fakesink name=out sync=false "
          "videotestsrc ! video/x-raw,width=32,height=24 ! queue ! mux. "
          "videotestsrc ! video/x-raw,width=64,height=48 ! queue ! mux.");
  GRand *random = g_rand_new_with_seed (5);
  gint out = 0;

  test_count_buffers (test_pad (pipeline, "out", "sink"), &out);
  for (guint i = 0; i < 50; i++) {
    const gint before = g_atomic_int_get (&out);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    if (i % 10 == 0)
      test_wait_for (g_atomic_int_get (&out) > before + 3);
    else
      g_usleep ((gulong) g_rand_int_range (random, 0, 8000));
    fail_unless_equals_int (gst_element_set_state (pipeline, GST_STATE_READY),
        GST_STATE_CHANGE_SUCCESS);
  }
  g_rand_free (random);
  test_stop (&pipeline);
}
GST_END_TEST

/* Streams of which one is slower, to the end: every frame is in a batch. */
GST_START_TEST (test_to_the_end) {
  GstElement *pipeline = test_launch (__i__,
      MUX "! fakesink name=out sync=false "
          "videotestsrc num-buffers=40 ! queue ! mux. "
          "videotestsrc num-buffers=60 ! queue ! mux. ");
  gint out = 0, in[2] = { 0, 0 };

  test_count_buffers (test_pad (pipeline, "out", "sink"), &out);
  test_count_buffers (test_pad (pipeline, "mux", "sink_0"), &in[0]);
  test_count_buffers (test_pad (pipeline, "mux", "sink_1"), &in[1]);
  test_play_to_eos (pipeline);
  fail_unless_equals_int (in[0] + in[1], 100);
  fail_unless_equals_int (out, 60);
  test_stop (&pipeline);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_a_frame_of_each_stream);
  test_add (tcase, test_any_size_and_format);
  test_add (tcase, test_orientation_of_each_stream);
  test_add (tcase, test_downstream_decides);
  test_add (tcase, test_contradictions);
  test_add (tcase, test_size_is_no_pads);
  tcase_add_test (tcase, test_numbers_of_pads);
  test_add (tcase, test_later_pad_has_no_slice);
  test_add (tcase, test_streams_that_end);
  test_add (tcase, test_caps_change_on_one_pad);
  test_add (tcase, test_64_pads);
  test_add (tcase, test_segments);
  test_add (tcase, test_times_and_flags);
  test_add (tcase, test_no_time);
  test_add (tcase, test_short_frame);
  test_add (tcase, test_gap);
  test_add (tcase, test_deadline);
  test_add (tcase, test_queries);
  test_add (tcase, test_flush);
  test_add (tcase, test_gap_and_flush);
  test_add (tcase, test_ready_and_playing);
  test_add (tcase, test_to_the_end);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-mux", add_tests);
}
