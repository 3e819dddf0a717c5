/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * GST_DEBUG=cudapreproc:5 tells what was negotiated, what happened to each frame,
 * and what came in between.
 */

#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

#define FRAME_TIME (GST_SECOND / 30)
/* Lines that one frame may have. */
#define MAX_LINES 5

/* The element's lines, in the order in which they came. */
typedef struct {
  GMutex lock;
  GPtrArray *lines; /* owned strings; under lock */
} Story;

static void
on_line (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
    const gchar *function, gint number, GObject *object,
    GstDebugMessage *message, gpointer data)
{
  Story *story = data;

  (void) file;
  (void) function;
  (void) number;
  (void) object;
  if (level > GST_LEVEL_DEBUG ||
      strcmp (gst_debug_category_get_name (category), "cudapreproc") != 0)
    return;
  g_mutex_lock (&story->lock);
  g_ptr_array_add (story->lines, g_strdup (gst_debug_message_get (message)));
  g_mutex_unlock (&story->lock);
}

static void
story_begin (Story *story)
{
  g_mutex_init (&story->lock);
  story->lines = g_ptr_array_new_with_free_func (g_free);
  gst_debug_remove_log_function (gst_debug_log_default);
  gst_debug_add_log_function (on_line, story, NULL);
  gst_debug_set_threshold_for_name ("cudapreproc", GST_LEVEL_DEBUG);
}

/* Once nothing runs that logs. */
static void
story_end (Story *story)
{
  gst_debug_unset_threshold_for_name ("cudapreproc");
  gst_debug_remove_log_function (on_line);
  gst_debug_add_log_function (gst_debug_log_default, NULL, NULL);
  g_ptr_array_unref (story->lines);
  g_mutex_clear (&story->lock);
}

static void
story_forget (Story *story)
{
  g_mutex_lock (&story->lock);
  g_ptr_array_set_size (story->lines, 0);
  g_mutex_unlock (&story->lock);
}

/* The index of the first line from index on that begins so, or -1. */
static gint
find_line (Story *story, guint from, const gchar *beginning)
{
  gint found = -1;

  g_mutex_lock (&story->lock);
  for (guint i = from; i < story->lines->len && found < 0; i++)
    if (g_str_has_prefix (g_ptr_array_index (story->lines, i), beginning))
      found = (gint) i;
  g_mutex_unlock (&story->lock);
  return found;
}

/* The index behind the first line from index on that begins so, which must be
 * there and have the words that | separates. */
static guint
expect_line (
    Story *story, guint from, const gchar *beginning, const gchar *words)
{
  const gint index = find_line (story, from, beginning);

  fail_unless (
      index >= 0, "no line from %u on begins with \"%s\"", from, beginning);
  g_mutex_lock (&story->lock);
  g_autofree gchar *line =
      g_strdup (g_ptr_array_index (story->lines, (guint) index));
  g_mutex_unlock (&story->lock);
  fail_unless (strchr (line, '\n') == NULL, "more than a line: %s", line);
  test_expect_words (line, words);
  return (guint) index + 1;
}

static guint
count_lines (Story *story, const gchar *word)
{
  guint count = 0;

  g_mutex_lock (&story->lock);
  for (guint i = 0; i < story->lines->len; i++)
    count += strstr (g_ptr_array_index (story->lines, i), word) != NULL;
  g_mutex_unlock (&story->lock);
  return count;
}

/* The lines of the frame with this number since the start of the stream, which is
 * that job of the device: each once, in order, and few. */
static void
expect_frame (Story *story, guint number, guint job)
{
  g_autofree gchar *pts = g_strdup_printf ("PTS %" GST_TIME_FORMAT,
      GST_TIME_ARGS (gst_util_uint64_scale (number, GST_SECOND, 30)));
  g_autofree gchar *came =
      g_strdup_printf ("frame with %s is job %u:", pts, job);
  g_autofree gchar *done = g_strdup_printf ("job %u is done, ", job);
  g_autofree gchar *queued =
      g_strdup_printf ("queued the tensor with %s;", pts);
  g_autofree gchar *pushed =
      g_strdup_printf ("pushed the tensor with %s:", pts);

  const guint next =
      expect_line (story, 0, came, "40x30 at 4,6 in 64x48|planes: 2 ");
  expect_line (story, next, done, "us after it was submitted|on stream");
  expect_line (story, expect_line (story, next, queued, "tensors held: "),
      pushed, "ok|tensors held: ");
  const guint lines = count_lines (story, pts) + count_lines (story, done);
  fail_unless (lines >= 4 && lines <= MAX_LINES, "%s: %u lines", pts, lines);
  fail_unless_equals_int (count_lines (story, came), 1);
  fail_unless_equals_int (count_lines (story, done), 1);
}

static void
expect_negotiation (Story *story)
{
  guint at = expect_line (story, 0, "downstream offered other/tensors",
      "taken: other/tensors|32:32:3:1|float32");
  at = expect_line (story, at, "made a plan: the picture of 40x30 at 4,6 ",
      "64x48 frame|32x24 at 0,4 |32x32 tensor|method bicubic|antialias on");
  at = expect_line (story, at, "negotiated tensors of 32x32, 3 channels, nchw",
      "float32|framerate 30/1|picture of 40x30 at 4,6|streams: 2|"
      "tensors held back: 2|video: video/x-raw|NV12");
  expect_line (story, at, "tensors come from a pool", "12288 bytes");
  expect_line (story, at, "upstream was offered a pool", "4608 bytes");
}

/* Jobs are counted since the device was opened, and a new one opens when its
 * properties change. */
GST_START_TEST (test_frames_and_negotiation) {
  const guint frames = 6;
  Story story;

  story_begin (&story);
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=%u ! video/x-raw,format=NV12,width=64,height=48,"
      "framerate=30/1 ! cudapreproc name=pp width=32 height=32 fit=letterbox "
      "method=bicubic antialias=true crop=4,6,40,30 streams=2 async-depth=2 ! "
      "fakesink",
      frames);
  for (guint run = 0; run < 3; run++) {
    const guint first = run == 1 ? frames : 0;
    if (run == 2) {
      g_object_set (test_element (pipeline, "pp"), "streams", 2,
          "staging-threads", 1, NULL);
      expect_line (&story, 0, "staging-threads is set to 1", "1");
    }
    test_play_to_eos (pipeline);
    test_set_state (pipeline, GST_STATE_READY);
    if (run != 1)
      expect_line (&story, 0, "opened ", "with 2 streams");
    else
      fail_unless (find_line (&story, 0, "opened ") < 0, "opened again");
    if (run == 2)
      expect_line (&story, 0, "opening a device again: ", test_backend (__i__));
    expect_negotiation (&story);
    for (guint n = 0; n < frames; n++)
      expect_frame (&story, n, first + n);
    expect_line (&story, 0, "eos: held tensors are pushed before it: 2", "eos");
    story_forget (&story);
  }
  test_stop (&pipeline);
  story_end (&story);
}
GST_END_TEST

static void
push_at (GstHarness *h, const GstVideoInfo *info, GstClockTime pts)
{
  GstBuffer *frame = test_numbered_frame (info, 1);

  GST_BUFFER_PTS (frame) = pts;
  fail_unless_equals_int (gst_harness_push (h, frame), GST_FLOW_OK);
}

GST_START_TEST (test_what_comes_between) {
  GstVideoInfo info;
  GstSegment segment;
  Story story;

  story_begin (&story);
  GstHarness *h =
      test_rgb_harness (__i__, "streams=4 async-depth=4 qos=true", &info);
  for (guint i = 0; i < 3; i++)
    push_at (h, &info, i * FRAME_TIME);
  gst_harness_push_event (h, gst_event_new_gap (3 * FRAME_TIME, 1));
  guint at = expect_line (
      &story, 0, "gap: held tensors are pushed before it: 2", "gap");

  g_object_set (h->element, "crop", "8,8,16,16", "method", 0, NULL);
  at = expect_line (&story, at, "crop is set to ", "16");
  at = expect_line (&story, at, "method is set to nearest", "nearest");
  push_at (h, &info, 3 * FRAME_TIME);
  at = expect_line (
      &story, at, "changed properties take effect with job 3", "3");
  at = expect_line (&story, at, "made a plan: the picture of 16x16 at 8,8 ",
      "32x24 frame|method nearest|antialias off");
  at = expect_line (&story, at, "frame with PTS 0:00:00.0999", "job 3:");

  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2, GST_SECOND, 0));
  push_at (h, &info, 4 * FRAME_TIME);
  at =
      expect_line (&story, at, "the frame with PTS 0:00:00.13", "late|dropped");

  /* The first one after a drop has DISCONT, and leaves at once. */
  push_at (h, &info, 100 * GST_SECOND);
  push_at (h, &info, 101 * GST_SECOND);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_segment (&segment));
  at = expect_line (&story, at, "frame with PTS 0:01:40", "job 4:");
  at = expect_line (&story, at, "flush-start", "discarded");
  at = expect_line (&story, at, "flush-stop", "begins");
  expect_line (&story, at, "held tensors are discarded: 1", "1");
  test_harness_end (&h);
  story_end (&story);
}
GST_END_TEST

/* Below level 5 there is none of it. */
GST_START_TEST (test_level_4_is_quiet) {
  GstVideoInfo info;
  Story story;

  story_begin (&story);
  gst_debug_set_threshold_for_name ("cudapreproc", GST_LEVEL_INFO);
  GstHarness *h = test_rgb_harness (__i__, "async-depth=0", &info);
  for (guint i = 0; i < 3; i++)
    push_at (h, &info, i * FRAME_TIME);
  test_harness_end (&h);
  expect_line (&story, 0, "opened ", "streams");
  fail_unless_equals_int (count_lines (&story, "PTS"), 0);
  fail_unless_equals_int (count_lines (&story, "job"), 0);
  story_end (&story);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_frames_and_negotiation);
  test_add (tcase, test_what_comes_between);
  test_add (tcase, test_level_4_is_quiet);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-story", add_tests);
}
