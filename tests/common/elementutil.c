/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "elementutil.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resources.h"

/* Their names since 1.28, which deprecates the older ones. */
#if !GST_CHECK_VERSION(1, 28, 0)
#define gst_state_get_name gst_element_state_get_name
#define gst_state_change_return_get_name                                       \
  gst_element_state_change_return_get_name
#endif

/* backends */

static const gchar *const backend_names[] = { "cpu", "cuda" };

const gchar *
test_backend (gint index)
{
  return backend_names[index];
}

gchar *
test_plugin_path (void)
{
  const gchar *folder = g_getenv ("PP_PLUGIN_DIR");

  if (folder == NULL)
    folder = g_getenv ("GST_PLUGIN_PATH_1_0");
  return g_build_filename (folder, "libgstcudapreproc.so", NULL);
}

/* From the file itself, and from a folder that GStreamer does not look into: its
 * scanner, which no sanitizer is in, ends when it loads a plugin that was built
 * with one, and whoever writes to it then gets SIGPIPE. */
static void
load_plugin (void)
{
  GError *error = NULL;
  g_autofree gchar *path = test_plugin_path ();
  GstPlugin *plugin = gst_plugin_load_file (path, &error);

  if (plugin == NULL)
    g_error ("%s: %s", path, error->message);
  gst_object_unref (plugin);
}

/* A device opens where the element reaches READY. */
static gboolean
find_device (void)
{
  GstElement *element = gst_element_factory_make ("cudapreproc", NULL);
  GstBus *bus = gst_bus_new ();

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "backend", "cuda");
  const gboolean found = gst_element_set_state (element, GST_STATE_READY) ==
      GST_STATE_CHANGE_SUCCESS;
  if (!found) {
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_print ("SKIP cuda: %s\n", error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (element);
  gst_object_unref (bus);
  return found;
}

guint
test_n_backends (void)
{
  static guint n;

  if (n > 0)
    return n;
  load_plugin ();
  n = find_device () ? 2 : 1;
  /* What a device gave to this process does not survive a fork. */
  if (n > 1)
    g_setenv ("CK_FORK", "no", TRUE);
  return n;
}

/* leaks */

static GHashTable *live_before;

static GstTracer *
find_leaks_tracer (void)
{
  GList *tracers = gst_tracing_get_active_tracers ();
  GstTracer *found = NULL;

  for (GList *item = tracers; item != NULL; item = item->next)
    if (strcmp (G_OBJECT_TYPE_NAME (item->data), "GstLeaksTracer") == 0)
      found = item->data;
  g_list_free_full (tracers, gst_object_unref);
  return found; /* GStreamer itself keeps it */
}

/* A buffer's own text would be all of its bytes. */
static gchar *
describe (const GValue *object)
{
  if (G_VALUE_HOLDS (object, GST_TYPE_OBJECT))
    return g_strdup_printf ("%s %s", G_VALUE_TYPE_NAME (object),
        GST_OBJECT_NAME (g_value_get_object (object)));
  return g_strdup (G_VALUE_TYPE_NAME (object));
}

/* Of the leak checker, if the program has one. */
void __lsan_disable (void) __attribute__ ((weak));
void __lsan_enable (void) __attribute__ ((weak));

/* What lives, by address; the value says what it is. */
static GHashTable *
live_objects (GstTracer *tracer)
{
  GHashTable *live =
      g_hash_table_new_full (g_direct_hash, g_direct_equal, NULL, g_free);
  GstStructure *info = NULL;

  if (__lsan_disable != NULL)
    __lsan_disable ();
  g_signal_emit_by_name (tracer, "get-live-objects", &info);
  if (__lsan_enable != NULL)
    __lsan_enable ();
  const GValue *list = gst_structure_get_value (info, "live-objects-list");
  for (guint i = 0; i < gst_value_list_get_size (list); i++) {
    const GstStructure *entry =
        gst_value_get_structure (gst_value_list_get_value (list, i));
    const GValue *object = gst_structure_get_value (entry, "object");
    g_hash_table_insert (
        live, g_value_peek_pointer (object), describe (object));
  }
  /* info stays: freeing it would take references that it does not have. */
  return live;
}

/* A plugin that is loaded brings typefinders and their caps for good: where
 * some are new, caps tell nothing. */
static gboolean
is_registered (const gchar *text, gboolean new_typefinders)
{
  return g_str_has_prefix (text, "GstTypeFindFactory") ||
      (new_typefinders && strcmp (text, "GstCaps") == 0);
}

static guint
count_leaks (GstTracer *tracer, gboolean print)
{
  GHashTable *live = live_objects (tracer);
  gboolean new_typefinders = FALSE;
  GHashTableIter iter;
  gpointer object, text;
  guint n = 0;

  g_hash_table_iter_init (&iter, live);
  while (g_hash_table_iter_next (&iter, &object, &text))
    if (g_hash_table_contains (live_before, object))
      g_hash_table_iter_remove (&iter);
    else if (g_str_has_prefix (text, "GstTypeFindFactory"))
      new_typefinders = TRUE;

  g_hash_table_iter_init (&iter, live);
  while (g_hash_table_iter_next (&iter, NULL, &text)) {
    if (is_registered (text, new_typefinders))
      continue;
    n++;
    if (print)
      g_printerr ("leaked: %s\n", (const gchar *) text);
  }
  g_hash_table_unref (live);
  return n;
}

/* Pipelines of the test, or NULL where one is gone. */
static GSList *pipelines;

static void
note_pipeline (GstElement *pipeline)
{
  pipelines = g_slist_prepend (pipelines, pipeline);
  g_object_add_weak_pointer (G_OBJECT (pipeline), &pipelines->data);
}

/* Whether the test has left one at work. */
static gboolean
forget_pipelines (void)
{
  gboolean running = FALSE;

  for (GSList *item = pipelines; item != NULL; item = item->next) {
    if (item->data == NULL)
      continue;
    running |= GST_STATE (item->data) > GST_STATE_READY;
    g_object_remove_weak_pointer (item->data, &item->data);
  }
  g_slist_free (g_steal_pointer (&pipelines));
  return running;
}

static void
begin_test (void)
{
  GstTracer *tracer = find_leaks_tracer ();

  if (tracer != NULL)
    live_before = live_objects (tracer);
}

static void
end_test (void)
{
  GstTracer *tracer = find_leaks_tracer ();

  /* Its threads free objects while they are counted. Of a test that failed before,
   * only that is told. */
  fail_if (forget_pipelines (), "a pipeline was left running");
  if (tracer == NULL)
    return;
  /* A thread that ends gives back its task and messages a little later. */
  for (gint tries = 0; tries < 100 && count_leaks (tracer, FALSE) > 0; tries++)
    g_usleep (5000);
  const guint leaks = count_leaks (tracer, TRUE);
  g_clear_pointer (&live_before, g_hash_table_unref);
  fail_unless (leaks == 0, "%u objects leaked", leaks);
}

int
test_main (int argc, char **argv, const gchar *name, void (*add) (TCase *tcase))
{
  g_setenv ("GST_TRACERS", "leaks", FALSE);
  gst_check_init (&argc, &argv);
  if (find_leaks_tracer () == NULL)
    g_print ("SKIP leaks: this GStreamer has no leaks tracer\n");

  Suite *suite = suite_create (name);
  TCase *tcase = tcase_create ("all");
  tcase_add_checked_fixture (tcase, begin_test, end_test);
  suite_add_tcase (suite, tcase);
  add (tcase);
  return gst_check_run_suite (suite, name, name);
}

void
test_expect_words (const gchar *text, const gchar *words)
{
  gchar **word = g_strsplit (words, "|", -1);

  fail_unless (text != NULL, "no text, but it should have %s", words);
  for (guint i = 0; word[i] != NULL; i++)
    fail_unless (strstr (text, word[i]) != NULL, "\"%s\" does not name %s",
        text, word[i]);
  g_strfreev (word);
}

/* pipelines */

static void
choose_backend (const GValue *item, gpointer backend)
{
  gst_util_set_object_arg (g_value_get_object (item), "backend", backend);
}

GstElement *
test_launch (gint backend, const gchar *format, ...)
{
  GError *error = NULL;
  va_list arguments;

  va_start (arguments, format);
  gchar *line = g_strdup_vprintf (format, arguments);
  va_end (arguments);

  GstElement *pipeline =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);
  fail_unless (
      pipeline != NULL, "%s: %s", line, error != NULL ? error->message : "");
  g_free (line);

  static const gchar *const ours[] = { "cudapreproc", "cudapreprocmux" };
  for (guint i = 0; i < G_N_ELEMENTS (ours); i++) {
    GstIterator *iter = gst_bin_iterate_all_by_element_factory_name (
        GST_BIN (pipeline), ours[i]);
    gst_iterator_foreach (
        iter, choose_backend, (gpointer) test_backend (backend));
    gst_iterator_free (iter);
  }
  note_pipeline (pipeline);
  return pipeline;
}

GstElement *
test_element (GstElement *pipeline, const gchar *name)
{
  GstElement *element = gst_bin_get_by_name (GST_BIN (pipeline), name);

  fail_unless (element != NULL, "no element %s", name);
  gst_object_unref (element);
  return element;
}

GstPad *
test_pad (GstElement *pipeline, const gchar *name, const gchar *pad_name)
{
  GstPad *pad =
      gst_element_get_static_pad (test_element (pipeline, name), pad_name);

  fail_unless (pad != NULL, "no pad %s of %s", pad_name, name);
  gst_object_unref (pad);
  return pad;
}

static GstPadProbeReturn
count_buffer (GstPad *pad, GstPadProbeInfo *info, gpointer count)
{
  (void) pad;
  (void) info;
  g_atomic_int_inc ((gint *) count);
  return GST_PAD_PROBE_OK;
}

void
test_count_buffers (GstPad *pad, gint *count)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_buffer, count, NULL);
}

void
test_set_state (GstElement *pipeline, GstState state)
{
  gst_element_set_state (pipeline, state);
  const GstStateChangeReturn result =
      gst_element_get_state (pipeline, NULL, NULL, TEST_PATIENCE);
  fail_unless (result == GST_STATE_CHANGE_SUCCESS ||
          result == GST_STATE_CHANGE_NO_PREROLL,
      "%s not reached: %s", gst_state_get_name (state),
      gst_state_change_return_get_name (result));
}

GstMessage *
test_pop (GstElement *pipeline, GstMessageType types)
{
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, TEST_PATIENCE, types | GST_MESSAGE_ERROR);

  gst_object_unref (bus);
  fail_unless (message != NULL, "no message came in time");
  if ((GST_MESSAGE_TYPE (message) & types) == 0) {
    GError *error = NULL;
    gchar *debug = NULL;
    gst_message_parse_error (message, &error, &debug);
    fail ("%s: %s (%s)", GST_OBJECT_NAME (GST_MESSAGE_SRC (message)),
        error->message, debug);
  }
  return message;
}

void
test_play_to_eos (GstElement *pipeline)
{
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (test_pop (pipeline, GST_MESSAGE_EOS));
}

void
test_stop (GstElement **pipeline)
{
  fail_unless (gst_element_set_state (*pipeline, GST_STATE_NULL) ==
          GST_STATE_CHANGE_SUCCESS,
      "NULL not reached");
  gst_clear_object (pipeline);
}

/* harnesses */

GstHarness *
test_harness (gint backend, const gchar *properties)
{
  GError *error = NULL;
  gchar *line = g_strdup_printf (
      "cudapreproc backend=%s %s", test_backend (backend), properties);
  GstElement *element = gst_parse_launch (line, &error);
  GstBus *bus = gst_bus_new ();

  fail_unless (error == NULL, "%s: %s", line, error ? error->message : "");
  gst_element_set_bus (element, bus);
  gst_object_unref (bus);
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  g_free (line);
  return h;
}

static gchar *
pop_error (GstHarness *h)
{
  GstBus *bus = gst_element_get_bus (h->element);
  GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  gchar *text = NULL;

  if (message != NULL) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    g_error_free (error);
    gst_message_unref (message);
  }
  gst_object_unref (bus);
  return text;
}

gchar *
test_harness_error (GstHarness *h)
{
  gchar *text = pop_error (h);

  fail_unless (text != NULL, "no error was posted");
  gchar *second = pop_error (h);
  fail_unless (second == NULL, "a second error: %s", second);
  return text;
}

void
test_harness_end (GstHarness **h)
{
  gchar *text = pop_error (*h);

  fail_unless (text == NULL, "error: %s", text);
  /* Messages refer to the element that owns the bus. */
  GstBus *bus = gst_element_get_bus ((*h)->element);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_harness_teardown (*h);
  *h = NULL;
}

GstFlowReturn
test_refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  (void) pad;
  (void) parent;
  gst_buffer_unref (buffer);
  return GST_FLOW_NOT_NEGOTIATED;
}

/* process */

/* By exec: at an exit valgrind would count what a child cannot give back. */
void
test_end_child (gboolean good)
{
  execlp (good ? "true" : "false", "child", NULL);
  _exit (2);
}

gint
test_wait_for_exit (pid_t process, GstClockTime patience)
{
  const gint64 end =
      g_get_monotonic_time () + (gint64) (patience / GST_USECOND);
  gint status = 0;

  while (waitpid (process, &status, WNOHANG) == 0) {
    if (g_get_monotonic_time () > end) {
      kill (process, SIGKILL);
      waitpid (process, &status, 0);
      return -1;
    }
    g_usleep (1000);
  }
  return WIFEXITED (status) ? WEXITSTATUS (status) : -WTERMSIG (status);
}

static void
read_statm (gsize *size, gsize *resident)
{
  const gsize page = (gsize) sysconf (_SC_PAGESIZE);
  FILE *file = fopen ("/proc/self/statm", "r");

  fail_unless (file != NULL && fscanf (file, "%zu %zu", size, resident) == 2,
      "/proc/self/statm cannot be read");
  fclose (file);
  *size *= page;
  *resident *= page;
}

gsize
test_resident_memory (void)
{
  gsize size, resident;

#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
  if (is_emulated ()) {
    const struct mallinfo2 heap = mallinfo2 ();
    return heap.uordblks + heap.hblkhd;
  }
#endif
  malloc_trim (0);
#endif
  read_statm (&size, &resident);
  return resident;
}

gboolean
test_is_sanitized (void)
{
  gsize size, resident;

  /* Sanitizers reserve terabytes for their shadow; for valgrind, meson.build says
   * so. */
  read_statm (&size, &resident);
  return size > (gsize) 1 << 40 || g_getenv ("PP_VALGRIND") != NULL;
}

void
test_expect_flat (gsize before)
{
  const gsize now = test_resident_memory ();

  if (test_is_sanitized ())
    g_print ("SKIP memory: a sanitizer keeps what was freed\n");
  else
    fail_unless (now < before + ((gsize) 4 << 20),
        "memory grew from %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT, before,
        now);
}

gsize
test_virtual_memory (void)
{
  gsize size, resident;

  read_statm (&size, &resident);
  return size;
}

static guint
count_entries (const gchar *path)
{
  GDir *dir = g_dir_open (path, 0, NULL);
  guint n = 0;

  fail_unless (dir != NULL, "%s cannot be read", path);
  while (g_dir_read_name (dir) != NULL)
    n++;
  g_dir_close (dir);
  return n;
}

guint
test_n_threads (void)
{
  return count_entries ("/proc/self/task");
}

guint
test_n_files (void)
{
  return count_entries ("/proc/self/fd");
}
