/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element's tests share: the loop over backends, the check for leaks,
 * pipelines and harnesses. Everything fails the running test when it does not
 * work. See elementframes.h for frames and tensors.
 */
#ifndef ELEMENTUTIL_H
#define ELEMENTUTIL_H

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <sys/types.h>

/* How long anything may take that takes milliseconds when it works. */
#define TEST_PATIENCE (20 * GST_SECOND)

/* running */

/* main of a test program. Every test that add adds is checked for GStreamer
 * objects and buffers that it leaves behind. */
int test_main (
    int argc, char **argv, const gchar *name, void (*add) (TCase *tcase));

/* Runs test once on each backend that opens here, with its index in __i__. */
#define test_add(tcase, test)                                                  \
  tcase_add_loop_test (tcase, test, 0, (int) test_n_backends ())
guint test_n_backends (void);
/* As the property takes it; 0 is the CPU. */
const gchar *test_backend (gint index);
/* The plugin's file: in PP_PLUGIN_DIR, else in GST_PLUGIN_PATH_1_0; free it. */
gchar *test_plugin_path (void);

/* Fails when the condition does not become true in time. */
#define test_wait_for(condition)                                               \
  G_STMT_START                                                                 \
  {                                                                            \
    const gint64 deadline =                                                    \
        g_get_monotonic_time () + (gint64) (TEST_PATIENCE / GST_USECOND);      \
    while (!(condition)) {                                                     \
      fail_unless (                                                            \
          g_get_monotonic_time () < deadline, "never came: " #condition);      \
      g_usleep (200);                                                          \
    }                                                                          \
  }                                                                            \
  G_STMT_END

/* Fails when text lacks one of the words, which | separates. */
void test_expect_words (const gchar *text, const gchar *words);

/* pipelines */

/* A pipeline from a launch line whose elements of the plugin run on backend. */
GstElement *test_launch (gint backend, const gchar *format, ...)
    G_GNUC_PRINTF (2, 3);
/* The element of that name, or its static pad; transfer none: it lives as long
 * as the pipeline. */
GstElement *test_element (GstElement *pipeline, const gchar *name);
GstPad *test_pad (GstElement *pipeline, const gchar *name, const gchar *pad);
/* Counts the buffers that pass a pad, atomically. */
void test_count_buffers (GstPad *pad, gint *count);
/* Goes to state and waits until it is reached. */
void test_set_state (GstElement *pipeline, GstState state);
/* The next message of these types; transfer full. Fails on an error that types
 * does not include, with its text. */
GstMessage *test_pop (GstElement *pipeline, GstMessageType types);
/* Plays until EOS and stays in PLAYING. */
void test_play_to_eos (GstElement *pipeline);
/* Goes to NULL, unrefs and clears the pointer. */
void test_stop (GstElement **pipeline);

/* harnesses */

/* A harness around a playing cudapreproc with these properties. Upstream is
 * live, so nothing is held back unless async-depth is set. */
GstHarness *test_harness (gint backend, const gchar *properties);
/* Fails when the element posted an error that test_harness_error did not take.
 */
void test_harness_end (GstHarness **h);
/* The text of the error that the element posted: there must be one, and only
 * one. Free it. */
gchar *test_harness_error (GstHarness *h);

/* A chain function of a pad downstream that takes no caps of ours. */
GstFlowReturn test_refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer);

/* process */

/* Ends a fork's child, with exit status 0 or not. */
G_NORETURN void test_end_child (gboolean good);
/* Waits for a child; its exit status, -1 when it hangs, or minus the signal that
 * ended it. */
gint test_wait_for_exit (pid_t process, GstClockTime patience);
/* Memory in bytes, resident and all; threads; open file descriptors. What was
 * freed and the allocator still keeps is given back first. An emulator's own memory
 * would count as resident: there, it is what the heap has in use. */
gsize test_resident_memory (void);
gsize test_virtual_memory (void);
/* Whether address space and memory are a sanitizer's, or valgrind's. */
gboolean test_is_sanitized (void);
/* Fails when resident memory has grown since it was before; some room is left
 * for the allocator. */
void test_expect_flat (gsize before);
guint test_n_threads (void);
guint test_n_files (void);

#endif
