/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Long runs, by hand: meson test -C build --suite soak. A thousand pipelines one
 * after the other and a million frames through one; after a warm-up nothing
 * grows. Prints what there was on the way. On a GPU be alone: what it has is
 * counted for all programs.
 *
 *   element-soak [cycles|frames [cpu|cuda]]   one of them, on one backend
 */

#include "tests/common/elementutil.h"

#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

#define CYCLES 1000
#define WARM_CYCLES 100
#define CYCLE_FRAMES 5
#define FRAMES 1000000
#define WARM_FRAMES 100000
/* How often figures are printed. */
#define LINES 10
#define MIB ((gsize) 1 << 20)
/* A thread's stack comes and goes; a GPU's memory is given in pieces of 2 MiB. */
#define MAPPED_ROOM (16 * MIB)
#define DEVICE_ROOM (4 * MIB)

typedef struct {
  guint threads, files;
  gsize memory;
  gsize mapped; /* pinned memory, too, which is not resident */
  gsize device; /* memory of the GPU */
} Figures;

/* In use on the current GPU; 0 where there is none. */
static gsize
device_memory (void)
{
  size_t available = 0, total = 0;

#ifdef HAVE_CUDA
  if (cudaMemGetInfo (&available, &total) != cudaSuccess)
    return 0;
#endif
  return total - available;
}

static Figures
take_figures (gint backend, const gchar *unit, guint n, gint64 begin)
{
  const Figures now = { test_n_threads (), test_n_files (),
    test_resident_memory (), test_virtual_memory (),
    g_str_equal (test_backend (backend), "cuda") ? device_memory () : 0 };

  g_print ("%8u %s: %6.1f MiB, %.1f mapped, %.1f on the GPU, %u threads, %u "
           "files, %.1f s\n",
      n, unit, (gdouble) now.memory / MIB, (gdouble) now.mapped / MIB,
      (gdouble) now.device / MIB, now.threads, now.files,
      (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  return now;
}

static void
expect_flat (const Figures *warm, const Figures *now)
{
  test_expect_flat (warm->memory);
  fail_unless (now->threads <= warm->threads, "%u threads, %u when warm",
      now->threads, warm->threads);
  fail_unless (now->mapped <= warm->mapped + MAPPED_ROOM,
      "%" G_GSIZE_FORMAT " bytes mapped, %" G_GSIZE_FORMAT " when warm",
      now->mapped, warm->mapped);
  fail_unless (now->device <= warm->device + DEVICE_ROOM,
      "%" G_GSIZE_FORMAT " bytes on the GPU, %" G_GSIZE_FORMAT " when warm",
      now->device, warm->device);
  fail_unless (now->files <= warm->files, "%u files, %u when warm", now->files,
      warm->files);
}

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
    const Figures now = take_figures (__i__, "cycles", n, begin);
    if (n == WARM_CYCLES)
      warm = now;
    else
      expect_flat (&warm, &now);
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
    const Figures now = take_figures (__i__, "frames", n, begin);
    if (n == WARM_FRAMES)
      warm = now;
    else
      expect_flat (&warm, &now);
  }
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
  fail_unless_equals_int (out, FRAMES);
  test_stop (&pipeline);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_cycles);
  test_add (tcase, test_frames);
}

int
main (int argc, char **argv)
{
  only_test = argc > 1 ? argv[1] : NULL;
  only_backend = argc > 2 ? argv[2] : NULL;
  return test_main (argc, argv, "element-soak", add_tests);
}
