/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * No driver, an old one, and the one that is here, one after the other with the
 * same registry: the plugin is always loaded, says what is missing, and takes
 * what was installed since. This program runs itself, with --tell, for each.
 */

#include <glib/gstdio.h>
#include <string.h>

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* what is run: tells what it finds */

/* The device's name, or the text of the error. */
static void
tell_backend (const gchar *backend)
{
  GstElement *element = gst_element_factory_make ("cudapreproc", NULL);
  GstBus *bus = gst_bus_new ();
  g_autofree gchar *text = NULL;

  gst_element_set_bus (element, bus);
  gst_util_set_object_arg (G_OBJECT (element), "backend", backend);
  if (gst_element_set_state (element, GST_STATE_READY) ==
      GST_STATE_CHANGE_SUCCESS) {
    g_object_get (element, "device-name", &text, NULL);
  } else {
    GstMessage *message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    text = g_strdup (error->message);
    gst_message_unref (message);
  }
  g_print ("%s: %s\n", backend, text);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_bus_set_flushing (bus, TRUE);
  gst_object_unref (bus);
  gst_object_unref (element);
}

/* A frame goes through, on whatever was chosen. */
static void
tell_frame (void)
{
  GstHarness *h = gst_harness_new_parse (
      "cudapreproc backend=auto width=16 height=12 type=uint8");
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *tensor =
      test_convert (h, &info, test_numbered_frame (&info, 4711));
  g_print ("frame: %u\n", test_number_of (tensor));
  gst_buffer_unref (tensor);
  gst_harness_teardown (h);
}

GST_START_TEST (test_tell) {
  GstElementFactory *factory = gst_element_factory_find ("cudapreproc");

  fail_unless (factory != NULL, "the element is not registered");
  gst_object_unref (factory);
  tell_backend ("cuda");
  tell_backend ("auto");
  tell_frame ();
}
GST_END_TEST

/* what runs it */

/* A folder with a registry, and with a file that is no driver, which stands
 * before a driver that may be here. */
static gchar *
make_folder (void)
{
  g_autoptr (GError) error = NULL;
  gchar *folder = g_dir_make_tmp ("element-driver-XXXXXX", &error);

  fail_unless (folder != NULL, "%s", error != NULL ? error->message : "");
  g_autofree gchar *file = g_build_filename (folder, "libcuda.so.1", NULL);
  fail_unless (g_file_set_contents (file, "", 0, NULL));
  return folder;
}

static void
remove_folder (gchar *folder)
{
  static const gchar *const files[] = { "libcuda.so.1", "registry" };

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *file = g_build_filename (folder, files[i], NULL);
    fail_unless (g_unlink (file) == 0, "%s is not there", file);
  }
  fail_unless_equals_int (g_rmdir (folder), 0);
  g_free (folder);
}

/* This plugin alone, found through the registry and GStreamer's scanner.
 * drivers: where one is looked for first, or NULL. */
static gchar **
make_environment (const gchar *folder, const gchar *drivers)
{
  g_autofree gchar *registry = g_build_filename (folder, "registry", NULL);
  gchar **all = g_get_environ ();

  all = g_environ_setenv (all, "GST_REGISTRY_1_0", registry, TRUE);
  all = g_environ_setenv (
      all, "GST_PLUGIN_PATH_1_0", g_getenv ("PP_PLUGIN_DIR"), TRUE);
  all = g_environ_setenv (all, "GST_PLUGIN_SYSTEM_PATH_1_0", "", TRUE);
  all = g_environ_setenv (all, "GST_TRACERS", "", TRUE);
  if (drivers != NULL) {
    const gchar *others = g_environ_getenv (all, "LD_LIBRARY_PATH");
    g_autofree gchar *path =
        g_strconcat (drivers, others != NULL ? ":" : NULL, others, NULL);
    all = g_environ_setenv (all, "LD_LIBRARY_PATH", path, TRUE);
  }
  return all;
}

/* What this program told; free it. */
static gchar *
ask (const gchar *folder, const gchar *drivers)
{
  gchar *argv[] = { (gchar *) "/proc/self/exe", (gchar *) "--tell", NULL };
  g_auto (GStrv) environment = make_environment (folder, drivers);
  g_autoptr (GError) error = NULL;
  gchar *told = NULL;
  gint status = -1;

  fail_unless (g_spawn_sync (NULL, argv, environment, 0, NULL, NULL, &told,
                   NULL, &status, &error),
      "%s", error != NULL ? error->message : "");
  fail_unless (status == 0, "ended with %d after: %s", status, told);
  return told;
}

static void
expect_told (const gchar *folder, const gchar *drivers, const gchar *words)
{
  g_autofree gchar *told = ask (folder, drivers);

  test_expect_words (told, words);
}

GST_START_TEST (test_drivers_come) {
  gchar *folder = make_folder ();

  expect_told (folder, folder,
      "cuda: cudaGetDeviceCount|no CUDA driver found|"
      "auto: cpu|frame: 4711");
  expect_told (folder, g_getenv ("PP_OLD_DRIVER_DIR"),
      "cuda: cudaGetDeviceCount|driver for CUDA 11.4, "
      "runtime|auto: cpu|frame: 4711");
  expect_told (folder, NULL,
      test_n_backends () > 1 ? "cuda: cuda|auto: cuda|frame: 4711"
                             : "cuda: cudaGetDeviceCount|auto: cpu|"
                               "frame: 4711");
  remove_folder (folder);
}
GST_END_TEST

static void
add_tell (TCase *tcase)
{
  tcase_add_test (tcase, test_tell);
}

static void
add_tests (TCase *tcase)
{
  test_n_backends (); /* loads the plugin, before leaks are counted */
  tcase_add_test (tcase, test_drivers_come);
}

int
main (int argc, char **argv)
{
  /* GStreamer must not see the option. */
  if (argc > 1 && strcmp (argv[1], "--tell") == 0)
    return test_main (1, argv, "element-driver", add_tell);
  return test_main (argc, argv, "element-driver", add_tests);
}
