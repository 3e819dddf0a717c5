/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values that a running element cannot go on with: they are undone and told, and
 * the stream goes on.
 */

#include "twosettings.h"

/* What an element that plays cannot convert with is undone, with all that was set
 * in the same call, and told in one warning; the stream goes on as it was. */
static const struct {
  const gchar *name, *value, *words;
} undone[] = {
  { "mean", "0,5", "mean=0,5|2 values|3 channels" },
  { "mean", "x", "mean=x|list of numbers" },
  { "std", "0", "std[0] is 0" },
  { "std", "1,1,nan", "std[2] is nan" },
  { "pad-value", "1e9", "pad-value[0] is 1e+09" },
  { "scale", "nan", "scale is nan" },
  { "scale", "inf", "scale is inf" },
  { "scale", "1e300", "scale is 1e+300" },
  { "denoise-size", "4", "denoise-size is 4" },
  { "denoise-size", "-1", "denoise-size is -1" },
  { "denoise-sigma", "nan", "denoise-sigma is nan" },
  { "crop", "1,1", "crop=1,1 |x,y,width,height" },
  { "crop", "0,0,0,5", "crop=0,0,0,5|at least 1" },
  { "crop", "0,0,-5,5", "crop=0,0,-5,5|at least 1" },
  { "crop", "0,0,1.5,5", "crop=0,0,1.5,5|whole number" },
  { "crop", "1200,0,81,100", "crop=1200,0,81,100|no pixel|32x24" },
  { "video-direction", "custom", "video-direction=custom|identity" },
  { "crop", "-9,0,9,9", "crop=-9,0,9,9|no pixel|32x24" },
};

typedef struct {
  GstHarness *h;
  guint warnings;
  gchar *text; /* of the last */
} Watch;

/* As a handler may: asks and sets, which needs all locks. */
static GstBusSyncReply
on_warning (GstBus *bus, GstMessage *message, gpointer user)
{
  Watch *watch = user;
  GError *error = NULL;
  g_autofree gchar *mean = NULL;

  (void) bus;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING)
    return GST_BUS_PASS;
  fail_unless (GST_OBJECT_TRYLOCK (GST_MESSAGE_SRC (message)));
  GST_OBJECT_UNLOCK (GST_MESSAGE_SRC (message));
  g_object_get (GST_MESSAGE_SRC (message), "mean", &mean, NULL);
  fail_unless_equals_string (mean, "-1");
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (
      g_error_matches (error, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS));
  watch->warnings++;
  g_free (watch->text);
  watch->text = g_strdup (error->message);
  g_error_free (error);
  return GST_BUS_PASS;
}

static void
watch_warnings (Watch *watch, GstHarness *h)
{
  GstBus *bus = gst_element_get_bus (h->element);

  *watch = (Watch){ h, 0, NULL };
  gst_bus_set_sync_handler (bus, on_warning, watch, NULL);
  gst_object_unref (bus);
}

static void
expect_pixel (GstHarness *h, gfloat value, gint width)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", 32, 24);
  GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
  test_expect_float (tensor, value);
  fail_unless_equals_int (test_meta_int (tensor, "src-width"), width);
  gst_buffer_unref (tensor);
}

GST_START_TEST (test_property_goes_bad) {
  GstHarness *h = test_harness (__i__, "async-depth=0 mean=-1 scale=1");
  GObject *element = G_OBJECT (h->element);
  Watch watch;

  watch_warnings (&watch, h);
  expect_pixel (h, 1, 32);
  for (guint i = 0; i < G_N_ELEMENTS (undone); i++) {
    GValue before = G_VALUE_INIT, after = G_VALUE_INIT;
    GParamSpec *pspec = g_object_class_find_property (
        G_OBJECT_GET_CLASS (element), undone[i].name);

    g_object_get_property (element, undone[i].name, &before);
    g_object_freeze_notify (element); /* one call with two good values */
    g_object_set (element, "mean", "-2", "antialias", TRUE, NULL);
    gst_util_set_object_arg (element, undone[i].name, undone[i].value);
    g_object_thaw_notify (element);
    fail_unless (watch.warnings == i + 1, "%s=%s: %u warnings", undone[i].name,
        undone[i].value, watch.warnings);
    test_expect_words (watch.text, undone[i].words);
    g_object_get_property (element, undone[i].name, &after);
    fail_unless (g_param_values_cmp (pspec, &before, &after) == 0,
        "%s=%s reads back", undone[i].name, undone[i].value);
    expect_pixel (h, 1, 32);
    g_value_unset (&before);
    g_value_unset (&after);
  }
  g_object_set (element, "mean", "-3", NULL);
  expect_pixel (h, 3, 32);
  fail_unless_equals_int (watch.warnings, G_N_ELEMENTS (undone));
  g_free (watch.text);
  test_harness_end (&h);
}
GST_END_TEST

/* Sets values that are good and values that are not, as fast as it can. */
static gpointer
set_good_and_bad (gpointer user)
{
  Setter *setter = user;

  for (guint i = 0; i < 2000; i++) {
    use_settings (setter->h, i % 2);
    gst_harness_set (setter->h, "cudapreproc", "scale", 3.0,
        i % 3 == 0 ? "mean" : "std", i % 3 == 0 ? "x" : "0", NULL);
    if (i % 31 == 0)
      g_usleep (100);
  }
  g_atomic_int_set (&setter->done, TRUE);
  return NULL;
}

static GstBusSyncReply
count_warnings (GstBus *bus, GstMessage *message, gpointer user)
{
  (void) bus;
  if (GST_MESSAGE_TYPE (message) != GST_MESSAGE_WARNING)
    return GST_BUS_PASS;
  g_atomic_int_inc ((gint *) user);
  gst_message_unref (message);
  return GST_BUS_DROP;
}

/* While frames of two sizes pass and caps change: no frame sees a value that was
 * undone, and each bad call is one warning. */
GST_START_TEST (test_bad_settings_never_stop) {
  static const guint8 gray[3] = { 128, 128, 128 };
  Setter setter = { test_harness (__i__,
                        "name=cudapreproc width=16 height=16 "
                        "fit=letterbox streams=2 async-depth=0"),
    FALSE };
  GstBus *bus = gst_element_get_bus (setter.h->element);
  gint warnings = 0;
  GstVideoInfo info[2];
  GstBuffer *frame[2];

  gst_bus_set_sync_handler (bus, count_warnings, &warnings, NULL);
  use_settings (setter.h, 0);
  for (guint i = 0; i < 2; i++) {
    test_video_info (&info[i], "RGB", 32, i == 0 ? 24 : 16);
    frame[i] = test_frame (&info[i], NULL);
    test_paint (frame[i], &info[i], gray);
  }
  test_send_caps (setter.h, &info[0]);
  GThread *thread = g_thread_new ("set", set_good_and_bad, &setter);
  for (guint n = 0; !g_atomic_int_get (&setter.done); n++) {
    const guint i = n / 4 % 2;
    GstBuffer *tensor =
        test_convert (setter.h, &info[i], gst_buffer_ref (frame[i]));
    expect_settings (tensor);
    gst_buffer_unref (tensor);
  }
  g_thread_join (thread);
  fail_unless_equals_int (warnings, 2000);
  gst_bus_set_sync_handler (bus, NULL, NULL, NULL);
  gst_object_unref (bus);
  gst_buffer_unref (frame[0]);
  gst_buffer_unref (frame[1]);
  test_harness_end (&setter.h);
}
GST_END_TEST

/* Values are judged with those that are there and those of the same call. */
GST_START_TEST (test_values_that_go_together) {
  GstHarness *h = test_harness (__i__, "async-depth=0 mean=-1 scale=1");
  GObject *element = G_OBJECT (h->element);
  Watch watch;

  watch_warnings (&watch, h);
  expect_pixel (h, 1, 32);
  /* neither alone */
  g_object_set (element, "denoise", 2, NULL);
  fail_unless_equals_int (watch.warnings, 0);
  g_object_set (element, "denoise-size", 7, NULL);
  fail_unless_equals_int (watch.warnings, 1);
  test_expect_words (watch.text, "denoise-size is 7|median");
  g_object_set (element, "denoise-size", 7, "denoise", 1, NULL);
  fail_unless_equals_int (watch.warnings, 1);
  expect_pixel (h, 1, 32);
  g_free (watch.text);
  test_harness_end (&h);
}
GST_END_TEST

/* Up to READY anything is stored, and judged at the start. */
GST_START_TEST (test_bad_values_up_to_ready) {
  GstHarness *h = test_harness (__i__, "async-depth=0 mean=-1 scale=1");
  GObject *element = G_OBJECT (h->element);
  g_autofree gchar *mean = NULL;
  Watch watch;

  watch_warnings (&watch, h);
  expect_pixel (h, 1, 32);
  gst_element_set_state (h->element, GST_STATE_READY);
  g_object_set (element, "mean", "x", NULL);
  g_object_get (element, "mean", &mean, NULL);
  fail_unless_equals_string (mean, "x");
  fail_unless_equals_int (gst_element_set_state (h->element, GST_STATE_PLAYING),
      GST_STATE_CHANGE_FAILURE);
  g_autofree gchar *text = test_harness_error (h);
  test_expect_words (text, "mean=x");
  g_object_set (element, "mean", "-1", "streams", 2, NULL);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  expect_pixel (h, 1, 32);
  fail_unless_equals_int (watch.warnings, 0);
  test_harness_end (&h);
}
GST_END_TEST

static void
push_sized (GstHarness *h, gint width, gint height, gint expected)
{
  GstVideoInfo info;

  test_video_info (&info, "RGB", width, height);
  GstBuffer *tensor = test_convert (h, &info, test_frame (&info, NULL));
  fail_unless (test_meta_int (tensor, "src-width") == expected, "%dx%d: %d",
      width, height, test_meta_int (tensor, "src-width"));
  gst_buffer_unref (tensor);
}

/* A crop is cut to the frame; frames that have no pixel of it are whole, with one
 * warning for all of them. */
GST_START_TEST (test_crop_leaves_the_frame) {
  GstHarness *h = test_harness (
      __i__, "async-depth=0 width=8 height=8 mean=-1 crop=20,0,20,10");
  Watch watch;

  watch_warnings (&watch, h);
  push_sized (h, 32, 24, 12);
  push_sized (h, 64, 24, 20);
  fail_unless_equals_int (watch.warnings, 0);
  for (guint n = 0; n < 2; n++) {
    push_sized (h, 16, 24, 16);
    push_sized (h, 20, 24, 20);
    push_sized (h, 21, 24, 1);
  }
  fail_unless_equals_int (watch.warnings, 1);
  test_expect_words (watch.text, "crop=20,0,20,10|16x24");

  /* another one, whose turn comes later */
  g_object_set (h->element, "crop", "18,0,2,2", NULL);
  push_sized (h, 32, 24, 2);
  push_sized (h, 16, 24, 16);
  push_sized (h, 18, 24, 18);
  fail_unless_equals_int (watch.warnings, 2);
  test_expect_words (watch.text, "crop=18,0,2,2|16x24");
  /* a new start tells again */
  gst_element_set_state (h->element, GST_STATE_READY);
  gst_element_set_state (h->element, GST_STATE_PLAYING);
  push_sized (h, 32, 24, 2);
  push_sized (h, 16, 24, 16);
  fail_unless_equals_int (watch.warnings, 3);
  g_free (watch.text);
  test_harness_end (&h);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  test_add (tcase, test_property_goes_bad);
  test_add (tcase, test_bad_settings_never_stop);
  test_add (tcase, test_values_that_go_together);
  test_add (tcase, test_bad_values_up_to_ready);
  test_add (tcase, test_crop_leaves_the_frame);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-changes", add_tests);
}
