/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The errors and warnings that a person can meet, by their cause: domain and
 * code, which applications branch on; a text that names the property or the
 * field and its value; and a remedy. One message each, and no more.
 *
 * Not in the table of messagerows.c is what no pipeline can bring about here:
 * - failing calls of a device and of the C library, which are the other texts of
 *   running out of memory, too: element-faults.c;
 * - caps that the pads' templates let nobody send: formats without whole samples
 *   (element-formats.c), tensors of types that there are not, without dimensions
 *   or with fields that are no text or fixed by nothing (element-caps.c);
 * - values that a property's range, or a check before it, keeps from the engine:
 *   test-refusals.c;
 * - "no output buffer pool": the element has always made one by then.
 */

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "messagerows.h"
#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"
#include "tests/common/resources.h"

static void
spoil (GstBuffer *frame, const Spoilt *how)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { how->offset };
  gint stride[GST_VIDEO_MAX_PLANES] = { how->stride };
  const gsize size = gst_buffer_get_size (frame);

  if (how->missing == size)
    gst_buffer_remove_all_memory (frame);
  else if (how->missing > 0)
    gst_buffer_set_size (frame, (gssize) (size - how->missing));
  if (how->width > 0)
    gst_buffer_add_video_meta_full (frame, GST_VIDEO_FRAME_FLAG_NONE,
        how->format, how->width, 24, 1, offset, stride);
  if (how->crop != NULL) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (frame);
    crop->x = how->crop[0];
    crop->y = how->crop[1];
    crop->width = how->crop[2];
    crop->height = how->crop[3];
  }
}

/* Messages on the bus hold pads of the harness. One that goes with its message,
 * in a filtered pop that has the bus locked, unlinks and must not post then. */
static void
tear_down (GstHarness *h)
{
  gst_element_set_bus (h->element, NULL);
  gst_harness_teardown (h);
}

/* Three frames that meet the error, or the warning; then a good one, which passes
 * where only frames were wrong. */
static void
send_frames (GstElement *element, const Row *row)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  const gboolean taken = row->kind->flow == GST_FLOW_OK;
  const gboolean recovers = row->kind == &message_input;
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  if (row->downstream != NULL)
    gst_harness_set_sink_caps_str (h, row->downstream);
  if (row->video != NULL)
    gst_harness_set_src_caps_str (h, row->video);
  else
    test_send_caps (h, &info);
  for (guint n = 0; n < 3; n++) {
    GstBuffer *frame = test_frame (&info, NULL);
    GST_BUFFER_OFFSET (frame) = n;
    if (row->spoilt != NULL)
      spoil (frame, row->spoilt);
    const GstFlowReturn flow =
        row->push != NULL ? row->push (h, frame) : gst_harness_push (h, frame);
    fail_unless (flow == row->kind->flow, "%s, %s: frame %u: %s", row->cause,
        row->words, n, gst_flow_get_name (flow));
  }
  if (recovers)
    fail_unless_equals_int (
        gst_harness_push (h, test_frame (&info, NULL)), GST_FLOW_OK);
  gst_harness_push_event (h, gst_event_new_eos ());
  const guint received = gst_harness_buffers_received (h);
  fail_unless (recovers ? received == 1 : (received > 0) == taken,
      "%s, %s: %u tensors", row->cause, row->words, received);
  tear_down (h);
}

/* Host memory runs out while a pool is made: of what takes 192 MiB there is room
 * for one. */
static void
send_with_little_memory (GstElement *element, const Row *row,
    void (*send) (GstElement *element, const Row *row))
{
  struct rlimit before, limit;

  fail_unless (getrlimit (RLIMIT_AS, &before) == 0);
  limit = before;
  limit.rlim_cur = test_virtual_memory () + ((gsize) 192 << 20) * 3 / 2;
  fail_unless (setrlimit (RLIMIT_AS, &limit) == 0);
  send (element, row);
  fail_unless (setrlimit (RLIMIT_AS, &before) == 0);
}

void
send_without_room_for_tensors (GstElement *element, const Row *row)
{
  send_with_little_memory (element, row, send_frames);
}

/* Upstream makes the pool that it was offered, for which of what takes 384 MiB
 * there is room for none: GStreamer loses those made before one that fails. */
static void
offer_pool (GstElement *element, const Row *row)
{
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstBufferPool *pool = NULL;
  GstCaps *caps = gst_caps_from_string (row->video);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  gst_harness_set_src_caps (h, gst_caps_ref (caps));
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  fail_if (gst_buffer_pool_set_active (pool, TRUE));
  gst_object_unref (pool);
  gst_query_unref (query);
  gst_caps_unref (caps);
  tear_down (h);
}

void
send_without_room_for_frames (GstElement *element, const Row *row)
{
  send_with_little_memory (element, row, offer_pool);
}

static GstMessage *
pop (GstBus *bus)
{
  return gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING);
}

/* Takes the one message and checks it. */
static void
expect_message (GstBus *bus, const Row *row)
{
  GstMessage *message = pop (bus);
  const Kind *kind = row->kind;
  GError *error = NULL;
  gchar *remedy = NULL;

  fail_unless (message != NULL, "%s, %s: no message", row->cause, row->words);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING)
    gst_message_parse_warning (message, &error, &remedy);
  else
    gst_message_parse_error (message, &error, &remedy);
  fail_unless (
      (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) == kind->is_warning &&
          g_error_matches (error, kind->domain (), kind->code),
      "%s, %s: %s of %s %d: %s", row->cause, row->words,
      GST_MESSAGE_TYPE_NAME (message), g_quark_to_string (error->domain),
      error->code, error->message);
  test_expect_words (error->message, row->words);
  fail_unless (
      row->unsaid == NULL || strstr (error->message, row->unsaid) == NULL,
      "%s: %s", row->cause, error->message);
  test_expect_words (remedy, kind->remedy);
  g_print ("%-26s %2d  %s\n", g_quark_to_string (error->domain), error->code,
      error->message);
  g_error_free (error);
  g_free (remedy);
  gst_message_unref (message);

  message = pop (bus);
  fail_unless (
      message == NULL, "%s, %s: a second message", row->cause, row->words);
}

/* In a fork's child, where the element has neither its threads nor its device. */
static void
meet_in_child (GstElement *element, const Row *row)
{
  /* The parent's is a descriptor that both would read. */
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  send_frames (element, row);
  expect_message (bus, row);
}

static void
fork_and_meet (GstElement *element, const Row *row)
{
  const pid_t process = fork ();

  if (process == 0) {
    meet_in_child (element, row);
    test_end_child (TRUE);
  }
  const gint status = test_wait_for_exit (process, TEST_PATIENCE);
  fail_unless (status == 0, "%s: the child ended as %d", row->words, status);
}

/* From NULL or READY on. */
static void
meet (GstElement *element, GstBus *bus, const Row *row)
{
  const gboolean started = gst_element_set_state (element, GST_STATE_PAUSED) !=
      GST_STATE_CHANGE_FAILURE;

  if (row->kind == &message_forked) {
    fork_and_meet (element, row);
    return;
  }
  if (started)
    (row->send != NULL ? row->send : send_frames) (element, row);
  expect_message (bus, row);
}

static void
check_row (gint backend, const Row *row)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), row->cause);
  GstElement *element = gst_parse_launch (line, NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  meet (element, bus, row);
  if (row->kind->is_told_again) {
    if (GST_STATE (element) > GST_STATE_READY)
      gst_element_set_state (element, GST_STATE_READY);
    gst_element_set_bus (element, bus);
    meet (element, bus, row);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (bus);
}

/* CUDA's driver maps more than any limit. */
static gboolean
can_run_out_of_memory (gint backend)
{
  const gchar *reason = backend != 0 ? "not with CUDA"
      : test_is_sanitized ()         ? "a sanitizer ends at the limit"
      : is_emulated ()               ? "an emulator ignores the limit"
                                     : NULL;

  if (reason != NULL)
    g_print ("SKIP no memory: %s\n", reason);
  return reason == NULL;
}

/* In a folder of its own, with what rows name in it. */
GST_START_TEST (test_messages) {
  g_autofree gchar *before = g_get_current_dir ();
  g_autofree gchar *folder = g_dir_make_tmp ("messages-XXXXXX", NULL);

  fail_unless (folder != NULL && g_chdir (folder) == 0);
  fail_unless (g_mkdir ("folder.svg", 0700) == 0 &&
      mkfifo ("pipe.json", 0600) == 0 && g_mkdir ("lost", 0700) == 0);
  for (guint i = 0; i < message_n_rows; i++)
    if (message_rows[i].kind != &message_no_memory ||
        can_run_out_of_memory (__i__))
      check_row (__i__, &message_rows[i]);
  g_rmdir ("folder.svg");
  g_unlink ("pipe.json");
  fail_unless (g_chdir (before) == 0 && g_rmdir (folder) == 0,
      "something was left in %s", folder);
}
GST_END_TEST

static GstElement *
negotiate (gint backend, const gchar *properties, GstBus *bus)
{
  g_autofree gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), properties);
  GstElement *element = gst_parse_launch (line, NULL);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  GstVideoInfo info;

  gst_element_set_bus (element, bus);
  test_video_info (&info, "RGB", 32, 24);
  gst_harness_play (h);
  test_send_caps (h, &info);
  tear_down (h);
  return element;
}

/* Integers that cannot hold the pixels, where nobody chose it so. */
GST_START_TEST (test_clamp_is_told) {
  static const struct {
    const gchar *properties, *words; /* NULL: no warning */
  } cases[] = {
    { "type=uint8", NULL },
    { "type=int8", "int8|-128|127|quant-scale=0|quant-zero-point=0|255" },
    { "type=int8 quant-zero-point=-128", NULL },
    { "type=uint8 preset=imagenet", "uint8|-540|573" },
    { "type=uint8 preset=imagenet quant-scale=0.02", NULL },
    { "type=float16 preset=imagenet", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBus *bus = gst_bus_new ();
    GstElement *element = negotiate (__i__, cases[i].properties, bus);
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_WARNING);
    GError *warning = NULL;

    fail_unless ((message != NULL) == (cases[i].words != NULL), "%s",
        cases[i].properties);
    if (message != NULL) {
      gst_message_parse_warning (message, &warning, NULL);
      fail_unless (g_error_matches (
          warning, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
      test_expect_words (warning->message, cases[i].words);
      g_clear_error (&warning);
      gst_message_unref (message);
    }
    gst_bus_set_flushing (bus, TRUE);
    gst_object_unref (element);
    gst_object_unref (bus);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_clamp_is_told);
  test_add (tcase, test_messages);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-messages", add_tests);
}
