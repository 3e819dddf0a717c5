/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events and caps in a stream: what is serialized stays between the frames that
 * it was between, also where frames are held back.
 */

#include <stdio.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"
#include "gst/buffers/output_queue.h"

/* Notes what passes a pad: frames by number, events by type. */
static GstPadProbeReturn
write_down (GstPad *pad, GstPadProbeInfo *info, gpointer journal)
{
  (void) pad;
  if (GST_PAD_PROBE_INFO_TYPE (info) & GST_PAD_PROBE_TYPE_BUFFER)
    g_string_append_printf (
        journal, "%u ", test_number_of (GST_PAD_PROBE_INFO_BUFFER (info)));
  else
    g_string_append_printf (journal, "%s ",
        gst_event_type_get_name (
            GST_EVENT_TYPE (GST_PAD_PROBE_INFO_EVENT (info))));
  return GST_PAD_PROBE_OK;
}

/* Everything that leaves the element from now on. */
static GString *
journal_new (GstHarness *h)
{
  GString *journal = g_string_new (NULL);

  gst_pad_add_probe (h->sinkpad,
      GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
          GST_PAD_PROBE_TYPE_EVENT_FLUSH,
      write_down, journal, NULL);
  return journal;
}

/* Exactly this since the last time. */
static void
journal_expect (GString *journal, const gchar *expected)
{
  fail_unless_equals_string (journal->str, expected);
  g_string_truncate (journal, 0);
}

static GstEvent *
new_custom (GstEventType type)
{
  return gst_event_new_custom (type, gst_structure_new_empty ("test"));
}

static GstEvent *
new_serialized (guint kind)
{
  GstSegment segment;

  switch (kind) {
    case 0:
      return gst_event_new_gap (0, GST_SECOND);
    case 1:
      return gst_event_new_tag (
          gst_tag_list_new (GST_TAG_TITLE, "title", NULL));
    case 2:
      gst_segment_init (&segment, GST_FORMAT_TIME);
      segment.start = GST_SECOND;
      return gst_event_new_segment (&segment);
    case 3:
      return new_custom (GST_EVENT_CUSTOM_DOWNSTREAM);
    case 4:
      return new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_STICKY);
    case 5:
      return new_custom (GST_EVENT_CUSTOM_BOTH);
    case 6:
      return gst_event_new_buffer_size (GST_FORMAT_BYTES, 0, 1, FALSE);
    case 7:
      return gst_event_new_stream_start ("other");
    case 8:
      return gst_event_new_segment_done (GST_FORMAT_TIME, 0);
    case 9:
      return gst_event_new_stream_group_done (1);
    default:
      return NULL;
  }
}

GST_START_TEST (test_serialized_events_stay_in_place) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);
  GString *expected = g_string_new (NULL);
  GstEvent *event;

  test_start (h, &info);
  test_push_number (h, &info, 0);
  test_push_number (h, &info, 1);
  GString *journal = journal_new (h);
  for (guint kind = 0; (event = new_serialized (kind)) != NULL; kind++) {
    g_string_printf (expected, "%u %u %s ", 2 * kind, 2 * kind + 1,
        gst_event_type_get_name (GST_EVENT_TYPE (event)));
    fail_unless (gst_harness_push_event (h, event));
    journal_expect (journal, expected->str);
    test_push_number (h, &info, 2 * kind + 2);
    test_push_number (h, &info, 2 * kind + 3);
    journal_expect (journal, "");
  }
  g_string_free (expected, TRUE);
  g_string_free (journal, TRUE);
  test_harness_end (&h);
}
GST_END_TEST

GST_START_TEST (test_other_events_pass_at_once) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);

  test_start (h, &info);
  test_push_number (h, &info, 0);
  GString *journal = journal_new (h);
  gst_harness_push_event (h, new_custom (GST_EVENT_CUSTOM_DOWNSTREAM_OOB));
  journal_expect (journal, "custom-downstream-oob ");
  gst_harness_push_event (h, new_custom (GST_EVENT_CUSTOM_BOTH_OOB));
  journal_expect (journal, "custom-both-oob ");

  while (gst_harness_upstream_events_in_queue (h) > 0)
    gst_event_unref (gst_harness_pull_upstream_event (h));
  gst_harness_push_upstream_event (h, new_custom (GST_EVENT_CUSTOM_UPSTREAM));
  fail_unless_equals_int (gst_harness_upstream_events_in_queue (h), 1);

  gst_harness_push_event (h, gst_event_new_eos ());
  journal_expect (journal, "0 eos ");
  g_string_free (journal, TRUE);
  test_harness_end (&h);
}
GST_END_TEST

/* A flush forgets what is held; what comes after it is not touched. */
GST_START_TEST (test_flush_discards) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "streams=4 async-depth=4", &info);
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  GString *journal = journal_new (h);
  for (guint round = 0; round < 20; round++) {
    for (guint n = 0; n < round % 5; n++)
      test_push_number (h, &info, n);
    gst_harness_push_event (h, gst_event_new_flush_start ());
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_harness_push_event (h, gst_event_new_segment (&segment));
    journal_expect (journal, "flush-start flush-stop segment ");
    /* the first of a stream is not held back */
    test_push_number (h, &info, 50);
    journal_expect (journal, "50 ");
    test_push_number (h, &info, 100 + round);
    gst_harness_push_event (h, gst_event_new_gap (0, 1));
    gchar *expected = g_strdup_printf ("%u gap ", 100 + round);
    journal_expect (journal, expected);
    g_free (expected);
  }
  g_string_free (journal, TRUE);
  test_harness_end (&h);
}
GST_END_TEST

static void
flush (GstHarness *h)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (h, gst_event_new_flush_start ());
  gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
  gst_harness_push_event (h, gst_event_new_segment (&segment));
}

/* After a flush the stream is as new: the next error is told, and the end comes,
 * which who waits for either would wait for. */
GST_START_TEST (test_flush_forgets_errors) {
  GstVideoInfo info;
  GstHarness *h = test_rgb_harness (__i__, "", &info);
  GString *journal = journal_new (h);

  for (guint round = 0; round < 3; round++) {
    test_push_number (h, &info, round);
    fail_unless_equals_int (
        gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
    g_free (test_harness_error (h));
    /* An end of what failed is none. */
    fail_unless (!gst_harness_push_event (h, gst_event_new_eos ()));
    flush (h);
  }
  g_string_truncate (journal, 0);
  test_push_number (h, &info, 7);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  journal_expect (journal, "7 eos ");
  g_string_free (journal, TRUE);
  test_harness_end (&h);
}
GST_END_TEST

/* caps */

static const gint sizes[2][2] = { { 64, 48 }, { 128, 72 } };

/* The sizes take turns while frames are held: each tensor is the one that this
 * frame gives alone. */
GST_START_TEST (test_caps_change_in_stream) {
  GstHarness *h = test_harness (__i__,
      "width=40 height=40 fit=letterbox streams=4 "
      "async-depth=4");
  GstHarness *alone = test_harness (__i__, "width=40 height=40 fit=letterbox");
  GstVideoInfo info[2];
  GstBuffer *frame[2], *expected[2];

  for (guint s = 0; s < 2; s++) {
    test_video_info (&info[s], "NV12", sizes[s][0], sizes[s][1]);
    frame[s] = test_frame (&info[s], NULL);
    test_paint_noise (frame[s], &info[s], s);
    expected[s] = test_convert (alone, &info[s], gst_buffer_ref (frame[s]));
  }
  for (guint round = 0; round < 30; round++) {
    test_send_caps (h, &info[round % 2]);
    for (guint n = 0; n < 5; n++)
      fail_unless_equals_int (
          gst_harness_push (h, gst_buffer_ref (frame[round % 2])), GST_FLOW_OK);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (guint n = 0; n < 150; n++) {
    GstBuffer *tensor = gst_harness_pull (h);
    const guint s = n / 5 % 2;
    fail_unless_equals_int (test_meta_int (tensor, "src-width"), sizes[s][0]);
    test_expect_equal (tensor, expected[s], "after a change of caps");
    gst_buffer_unref (tensor);
  }
  for (guint s = 0; s < 2; s++) {
    gst_buffer_unref (frame[s]);
    gst_buffer_unref (expected[s]);
  }
  test_harness_end (&alone);
  test_harness_end (&h);
}
GST_END_TEST

static GstPadProbeReturn
note_source_height (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  (void) pad;
  g_string_append_printf (user, "%d ",
      test_meta_int (GST_PAD_PROBE_INFO_BUFFER (info), "src-height"));
  return GST_PAD_PROBE_OK;
}

/* Five frames of one size, then five of the other: by order. */
static void
concatenate (gint backend, guint order)
{
  static const gchar *const expected[] = {
    "480 480 480 480 480 720 720 720 720 720 ",
    "720 720 720 720 720 480 480 480 480 480 "
  };
  GString *seen = g_string_new (NULL);
  GstElement *pipeline = test_launch (backend,
      "concat name=c ! cudapreproc name=pp width=64 height=64 fit=letterbox "
      "streams=4 ! fakesink "
      "videotestsrc num-buffers=5 ! video/x-raw,width=%d,height=%d ! c. "
      "videotestsrc num-buffers=5 ! video/x-raw,width=%d,height=%d ! c.",
      order == 0 ? 640 : 1280, order == 0 ? 480 : 720, order == 0 ? 1280 : 640,
      order == 0 ? 720 : 480);

  gst_pad_add_probe (test_pad (pipeline, "pp", "src"),
      GST_PAD_PROBE_TYPE_BUFFER, note_source_height, seen, NULL);
  test_play_to_eos (pipeline);
  fail_unless_equals_string (seen->str, expected[order]);
  test_stop (&pipeline);
  g_string_free (seen, TRUE);
}

/* The least that rounds of both orders leave resident: the allocator keeps now
 * more, now less of what was freed. */
static gsize
concatenate_often (gint backend, guint rounds)
{
  gsize least = G_MAXSIZE;

  for (guint round = 0; round < rounds; round++) {
    for (guint order = 0; order < 2; order++)
      concatenate (backend, order);
    least = MIN (least, test_resident_memory ());
  }
  return least;
}

/* Segment and caps come between the frames of two real sources, and no change
 * leaves memory behind: not as much as a small frame a round. */
GST_START_TEST (test_concat) {
  enum {
    ROUNDS = 30,
    SMALL_FRAME = 640 * 480 * 3 / 2
  };
  const gsize before = concatenate_often (__i__, 10);
  concatenate_often (__i__, ROUNDS - 10);
  const gsize after = concatenate_often (__i__, 10);

  fail_unless (
      test_is_sanitized () || after < before + (ROUNDS - 10) * SMALL_FRAME,
      "memory grew from %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT, before,
      after);
}
GST_END_TEST

static GstPadProbeReturn
check_size (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstCaps *caps = gst_pad_get_current_caps (pad);
  const gchar *dimensions =
      gst_structure_get_string (gst_caps_get_structure (caps, 0), "dimensions");
  gint size[3] = { 0 };

  (void) user;
  fail_unless (
      sscanf (dimensions, "%d:%d:%d", &size[0], &size[1], &size[2]) == 3);
  fail_unless_equals_int (
      gst_buffer_get_size (GST_PAD_PROBE_INFO_BUFFER (info)),
      size[0] * size[1] * size[2]);
  gst_caps_unref (caps);
  return GST_PAD_PROBE_OK;
}

static void
ask_for_memory (GstHarness *h, const GstVideoInfo *info)
{
  GstCaps *caps = gst_video_info_to_caps ((GstVideoInfo *) info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_unref (query);
  gst_caps_unref (caps);
}

/* Downstream changes its mind while frames are held: those go with their own
 * caps, the next ones with the new. Also where upstream asks for memory first.
 */
GST_START_TEST (test_downstream_renegotiates) {
  static const gchar *const wanted[] = { "16:12:3:1", "3:20:10:1", "8:8:1:1" };
  GstHarness *h = test_harness (__i__, "streams=3 async-depth=3");
  GstVideoInfo info;
  guint n = 0;

  test_video_info (&info, "RGB", 32, 24);
  gst_harness_set_sink_caps_str (h, "other/tensors");
  test_send_caps (h, &info);
  gst_pad_add_probe (
      h->sinkpad, GST_PAD_PROBE_TYPE_BUFFER, check_size, NULL, NULL);
  for (guint round = 0; round < 9; round++) {
    gchar *caps = g_strdup_printf (
        "other/tensors, format = static, num_tensors = 1, types = uint8, "
        "dimensions = (string) %s",
        wanted[round % 3]);
    gst_harness_set_sink_caps_str (h, caps);
    gst_harness_push_upstream_event (h, gst_event_new_reconfigure ());
    if (round % 2 != 0)
      ask_for_memory (h, &info);
    for (guint i = 0; i < 4; i++, n++)
      test_push_number (h, &info, n);
    g_free (caps);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (gst_harness_buffers_received (h), (gint) n);
  test_harness_end (&h);
}
GST_END_TEST

static GstPadProbeReturn
check_next (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  gint *frames = user;
  const GstClockTime expected = gst_util_uint64_scale (*frames, GST_SECOND, 30);
  const GstClockTime pts = GST_BUFFER_PTS (GST_PAD_PROBE_INFO_BUFFER (info));

  (void) pad;
  fail_unless (pts == expected, "frame %d has PTS %" GST_TIME_FORMAT, *frames,
      GST_TIME_ARGS (pts));
  ++*frames;
  return GST_PAD_PROBE_OK;
}

/* Once downstream refused a frame, those held back behind it stay back. */
GST_START_TEST (test_nothing_follows_a_refusal) {
  gint frames = 0;
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=48,"
      "framerate=30/1 ! cudapreproc async-depth=4 ! identity name=i "
      "eos-after=5 ! fakesink name=sink");
  gst_pad_add_probe (test_pad (pipeline, "sink", "sink"),
      GST_PAD_PROBE_TYPE_BUFFER, check_next, &frames, NULL);
  test_play_to_eos (pipeline);
  fail_unless (frames >= 4 && frames <= 5, "%d frames came", frames);
  test_stop (&pipeline);
}
GST_END_TEST

static GstPadProbeReturn
relink (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstPad *other = user, *peer = gst_pad_get_peer (pad);

  (void) info;
  gst_pad_unlink (pad, peer);
  fail_unless_equals_int (gst_pad_link (pad, other), GST_PAD_LINK_OK);
  gst_object_unref (peer);
  return GST_PAD_PROBE_REMOVE;
}

static GstPadProbeReturn
note_discont (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  (void) pad;
  g_atomic_int_set ((gint *) user,
      GST_BUFFER_FLAG_IS_SET (
          GST_PAD_PROBE_INFO_BUFFER (info), GST_BUFFER_FLAG_DISCONT));
  return GST_PAD_PROBE_REMOVE;
}

/* A branch that takes other tensors, while frames are held back: those may be
 * lost, with a warning, but the stream goes on. Between frames, and when one is
 * about to leave. */
GST_START_TEST (test_relinked_while_frames_are_held) {
  static const GstPadProbeType whens[] = { GST_PAD_PROBE_TYPE_IDLE,
    GST_PAD_PROBE_TYPE_BUFFER };

  for (guint i = 0; i < G_N_ELEMENTS (whens); i++) {
    gint first = 0, second = 0, discont = -1;
    GstElement *pipeline = test_launch (__i__,
        "videotestsrc is-live=true ! video/x-raw,width=64,height=48,"
        "framerate=200/1 ! cudapreproc name=pp async-depth=4 ! "
        "capsfilter name=a caps=other/tensors,types=float32,"
        "dimensions=(string)32:32:3:1 ! fakesink name=one async=false "
        "capsfilter name=b caps=other/tensors,types=uint8,"
        "dimensions=(string)1:16:16:1 ! fakesink name=two async=false");
    test_count_buffers (test_pad (pipeline, "one", "sink"), &first);
    test_count_buffers (test_pad (pipeline, "two", "sink"), &second);
    gst_pad_add_probe (test_pad (pipeline, "two", "sink"),
        GST_PAD_PROBE_TYPE_BUFFER, note_discont, &discont, NULL);
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    test_wait_for (g_atomic_int_get (&first) > 8);
    gst_pad_add_probe (test_pad (pipeline, "pp", "src"), whens[i], relink,
        test_pad (pipeline, "b", "sink"), NULL);
    test_wait_for (g_atomic_int_get (&second) > 8);
    fail_unless_equals_int (g_atomic_int_get (&discont), 1);
    gst_message_unref (test_pop (pipeline, GST_MESSAGE_WARNING));
    test_stop (&pipeline);
  }
}
GST_END_TEST

/* Two tensors held back, before caps that are negotiated anew; the flow that the
 * next frame returns. */
static GstFlowReturn
drain_two (GstPpOutputQueue *queue)
{
  gst_pp_output_queue_add (queue, gst_buffer_new ());
  gst_pp_output_queue_add (queue, gst_buffer_new ());
  gst_pp_output_queue_drain_outdated (queue);
  return gst_pp_output_queue_take_flow (queue);
}

/* Outdated tensors are lost, but who refuses the next ones, too, ends the
 * stream. */
GST_START_TEST (test_outdated_once) {
  GstElement *element = gst_bin_new (NULL);
  GstPad *pad = gst_pad_new ("src", GST_PAD_SRC);
  GstPad *sink = gst_pad_new ("sink", GST_PAD_SINK);
  GstBus *bus = gst_bus_new ();
  GstSegment segment;
  GstPpOutputQueue queue = { 0 };

  gst_element_set_bus (element, bus);
  gst_element_add_pad (element, pad);
  gst_pad_set_chain_function (sink, test_refuse);
  gst_pad_set_active (sink, TRUE);
  gst_pad_set_active (pad, TRUE);
  fail_unless_equals_int (gst_pad_link (pad, sink), GST_PAD_LINK_OK);
  gst_pad_check_reconfigure (pad);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (pad, gst_event_new_stream_start ("stream"));
  gst_pad_push_event (pad, gst_event_new_segment (&segment));
  gst_pp_output_queue_init (&queue, pad, &segment);

  fail_unless_equals_int (drain_two (&queue), GST_FLOW_OK);
  fail_unless (queue.discont && queue.items.length == 0);
  GstMessage *warning = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
  fail_unless (warning != NULL, "nobody was told");
  gst_message_unref (warning);
  fail_unless_equals_int (drain_two (&queue), GST_FLOW_NOT_NEGOTIATED);
  fail_unless (gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING) == NULL);

  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (sink);
  gst_object_unref (bus);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_serialized_events_stay_in_place);
  test_add (tcase, test_other_events_pass_at_once);
  test_add (tcase, test_flush_discards);
  test_add (tcase, test_flush_forgets_errors);
  test_add (tcase, test_caps_change_in_stream);
  test_add (tcase, test_concat);
  test_add (tcase, test_downstream_renegotiates);
  test_add (tcase, test_nothing_follows_a_refusal);
  test_add (tcase, test_relinked_while_frames_are_held);
  tcase_add_test (tcase, test_outdated_once);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-events", add_tests);
}
