/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Long runs, by hand: meson test -C build --suite soak. A thousand pipelines one
 * after the other, a million frames through one, ten thousand of a film with
 * regions, and two hundred thousand that a GPU decodes; after a warm-up nothing
 * grows. Prints what there was on the way. On a GPU be alone: what it has is counted
 * for all programs.
 *
 *   element-soak [cycles|frames|regions|decoded [cpu|cuda]]   one of them, on one
 *                                                             backend
 */

#include "tests/common/elementutil.h"

#include "decodedsoak.h"
#include "figures.h"
#include "regionsoak.h"

#define CYCLES 1000
#define WARM_CYCLES 100
#define CYCLE_FRAMES 5
#define FRAMES 1000000
#define WARM_FRAMES 100000
#define DECODED_FRAMES 200000
/* How often figures are printed. */
#define LINES 10

static void
run_cycle (gint backend)
{
  GstElement *pipeline = test_launch (backend,
      "videotestsrc num-buffers=%d ! video/x-raw,format=NV12,width=320,"
      "height=240 ! cudapreproc width=64 height=64 streams=4 ! fakesink",
      CYCLE_FRAMES);

  test_play_to_eos (pipeline);
  test_stop (&pipeline);
}

/* What the arguments name; NULL: all. */
static const gchar *only_test, *only_backend;

static gboolean
is_wanted (const gchar *test, gint backend)
{
  return (only_test == NULL || g_str_equal (only_test, test)) &&
      (only_backend == NULL ||
          g_str_equal (only_backend, test_backend (backend)));
}

GST_START_TEST (test_cycles) {
  if (!is_wanted ("cycles", __i__))
    return;

  const gint64 begin = g_get_monotonic_time ();
  Figures warm = { 0 };

  for (guint n = 1; n <= CYCLES; n++) {
    run_cycle (__i__);
    if (n % (CYCLES / LINES) != 0)
      continue;
    /* GStreamer keeps idle threads of its own. */
    gst_task_cleanup_all ();
    g_usleep (50000);
    const Figures now = figures_take (__i__, "cycles", n, begin);
    if (n == WARM_CYCLES)
      warm = now;
    else
      figures_expect_flat (&warm, &now);
  }
}
GST_END_TEST

GST_START_TEST (test_frames) {
  if (!is_wanted ("frames", __i__))
    return;

  const gint64 begin = g_get_monotonic_time ();
  Figures warm = { 0 };
  gint out = 0;
  GstElement *pipeline = test_launch (__i__,
      "videotestsrc num-buffers=%d pattern=solid-color ! video/x-raw,"
      "format=RGB,width=64,height=64,framerate=30/1 ! cudapreproc name=pp "
      "width=32 height=32 ! queue ! fakesink sync=false",
      FRAMES);

  test_count_buffers (test_pad (pipeline, "pp", "src"), &out);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = FRAMES / LINES; n <= FRAMES; n += FRAMES / LINES) {
    while ((guint) g_atomic_int_get (&out) < n)
      g_usleep (1000);
    const Figures now = figures_take (__i__, "frames", n, begin);
    if (n == WARM_FRAMES)
      warm = now;
    else
      figures_expect_flat (&warm, &now);
  }
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
  fail_unless_equals_int (out, FRAMES);
  test_stop (&pipeline);
}
GST_END_TEST

static const gchar *
find_film (void)
{
  static const gchar *const films[] = { SOURCE_ROOT
    "/../shared/media/bunny_720p_orig.mp4",
    SOURCE_ROOT "/tests/media/bunny_480_mjpeg420.avi" };

  for (guint f = 0; f < G_N_ELEMENTS (films); f++)
    if (g_file_test (films[f], G_FILE_TEST_EXISTS))
      return films[f];
  return NULL;
}

GST_START_TEST (test_regions) {
  const gchar *film = find_film ();

  if (!is_wanted ("regions", __i__))
    return;
  if (film == NULL) {
    g_print ("SKIP regions: no film\n");
    return;
  }
  g_autofree gchar *source =
      g_strdup_printf ("filesrc location=\"%s\" ! decodebin", film);

  region_soak (__i__, source, 1000, 1.5);
}
GST_END_TEST

/* The CPU has no decoder of frames in CUDA memory. */
GST_START_TEST (test_decoded) {
  if (is_wanted ("decoded", __i__) &&
      g_str_equal (test_backend (__i__), "cuda"))
    decoded_soak (__i__, DECODED_FRAMES);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_cycles);
  test_add (tcase, test_frames);
  test_add (tcase, test_regions);
  test_add (tcase, test_decoded);
}

int
main (int argc, char **argv)
{
  only_test = argc > 1 ? argv[1] : NULL;
  only_backend = argc > 2 ? argv[2] : NULL;
  return test_main (argc, argv, "element-soak", add_tests);
}
