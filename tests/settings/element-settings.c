/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gst/settings/: properties and presets, most of them as pure functions; and what
 * a change of them costs. The element is linked in.
 */

#include <locale.h>
#include <string.h>

#include "gst/buffers/arena_memory.h"
#include "gst/caps/tensorcaps.h"
#include "gst/cudapreproc.h"
#include "gst/settings/presets.h"
#include "gst/settings/enums.h"
#include "gst/settings/settings.h"

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

static void
set (GstPpSettings *settings, const gchar *name, const gchar *text)
{
  GObjectClass *klass = g_type_class_ref (GST_TYPE_CUDA_PREPROC);
  GParamSpec *pspec = g_object_class_find_property (klass, name);
  GValue value = G_VALUE_INIT;

  fail_unless (pspec != NULL, "no property %s", name);
  g_value_init (&value, pspec->value_type);
  if (G_VALUE_HOLDS_STRING (&value))
    g_value_set_string (&value, text);
  else
    fail_unless (gst_value_deserialize (&value, text), "%s=%s", name, text);
  gst_pp_settings_set (settings, pspec->param_id, &value);
  g_value_unset (&value);
  g_type_class_unref (klass);
}

/* What gst-inspect-1.0 shows as default is what a new element has. */
GST_START_TEST (test_property_defaults) {
  GObject *element = g_object_new (GST_TYPE_CUDA_PREPROC, NULL);
  guint n = 0, n_checked = 0;
  GParamSpec **pspecs =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  gst_object_ref_sink (element);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (pspecs[i]->owner_type != GST_TYPE_CUDA_PREPROC ||
        (pspecs[i]->flags & G_PARAM_WRITABLE) == 0)
      continue;
    g_value_init (&value, pspecs[i]->value_type);
    g_object_get_property (element, pspecs[i]->name, &value);
    fail_unless (g_param_value_defaults (pspecs[i], &value),
        "%s does not have its default", pspecs[i]->name);
    fail_unless ((pspecs[i]->flags & GST_PARAM_MUTABLE_PLAYING) != 0 ||
            (pspecs[i]->flags & GST_PARAM_MUTABLE_READY) != 0,
        "%s does not say when it can be set", pspecs[i]->name);
    g_value_unset (&value);
    n_checked++;
  }
  fail_unless (n_checked > 20, "only %u properties", n_checked);
  g_free (pspecs);
  gst_object_unref (element);
}
GST_END_TEST

static const struct {
  const gchar *property, *text;
  gdouble first, second, third;
  const gchar *words; /* of the error; NULL: none */
} list_cases[] = {
  { "mean", "0.5", 0.5, 0.5, 0.5, NULL },
  { "mean", "0.485,0.456,0.406", 0.485, 0.456, 0.406, NULL },
  { "mean", " 1 , 2 , 3 ", 1, 2, 3, NULL },
  { "mean", "-1e-3,+2,.5", -1e-3, 2, 0.5, NULL },
  { "std", "0.229, 0.224, 0.225", 0.229, 0.224, 0.225, NULL },
  { "pad-value", "127.5", 127.5, 127.5, 127.5, NULL },
  { "mean", "1,2", 0, 0, 0, "mean=1,2|2 values|3 channels" },
  { "mean", "1,2,3,4", 0, 0, 0, "mean=1,2,3,4|4 values|3 channels" },
  { "mean", "1,2,3,4,5", 0, 0, 0, "mean=1,2,3,4,5" },
  { "mean", "", 0, 0, 0, "mean is empty|list of numbers" },
  { "mean", "1,", 0, 0, 0, "mean=1," },
  { "mean", ",1", 0, 0, 0, "mean=,1" },
  { "mean", "1;2;3", 0, 0, 0, "mean=1;2;3" },
  { "mean", "1 2 3", 0, 0, 0, "mean=1 2 3" },
  { "std", "0,229", 0, 0, 0, "std=0,229|2 values" },
  { "std", "one", 0, 0, 0, "std=one" },
  { "pad-value", "0x", 0, 0, 0, "pad-value=0x" },
};

static void
check_list (guint i)
{
  const GstPpTensor tensor = { 8, 8, 3, PP_LAYOUT_NCHW, PP_TYPE_FLOAT32 };
  const gchar *property = list_cases[i].property;
  GstPpSettings settings;
  pp_spec spec;
  gchar *reason = NULL;

  gst_pp_settings_init (&settings);
  set (&settings, property, list_cases[i].text);
  const gboolean good =
      gst_pp_settings_to_spec (&settings, &tensor, &spec, &reason);
  if (list_cases[i].words != NULL) {
    fail_unless (!good, "%s=%s was taken", property, list_cases[i].text);
    test_expect_words (reason, list_cases[i].words);
  } else {
    const gdouble *value = strcmp (property, "mean") == 0 ? spec.mean
        : strcmp (property, "std") == 0                   ? spec.std
                                                          : spec.pad_value;
    fail_unless (good, "%s=%s: %s", property, list_cases[i].text, reason);
    fail_unless (value[0] == list_cases[i].first &&
            value[1] == list_cases[i].second && value[2] == list_cases[i].third,
        "%s=%s is %g %g %g", property, list_cases[i].text, value[0], value[1],
        value[2]);
  }
  g_free (reason);
  gst_pp_settings_clear (&settings);
}

/* Numbers mean the same where a comma is the decimal point. */
/* Lists are another matter: an empty one is refused. */
GST_START_TEST (test_empty_is_none) {
  static const gchar *names[] = { "colorimetry", "timeline-location" };
  GstElement *element = g_object_new (GST_TYPE_CUDA_PREPROC, NULL);

  gst_object_ref_sink (element);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    gchar *standard = NULL, *text = NULL;

    g_object_get (element, names[i], &standard, NULL);
    g_object_set (element, names[i], "bt709", NULL);
    g_object_set (element, names[i], "", NULL);
    g_object_get (element, names[i], &text, NULL);
    fail_unless (
        g_strcmp0 (text, standard) == 0, "%s reads back '%s'", names[i], text);
    g_free (standard);
    g_free (text);
  }
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
      GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_object_unref (element);
}
GST_END_TEST

GST_START_TEST (test_lists) {
  static const gchar *locales[] = { "C", "de_DE.UTF-8", "fr_FR.UTF-8" };

  for (guint l = 0; l < G_N_ELEMENTS (locales); l++) {
    if (setlocale (LC_ALL, locales[l]) == NULL) {
      g_print ("SKIP locale %s is not installed\n", locales[l]);
      continue;
    }
    for (guint i = 0; i < G_N_ELEMENTS (list_cases); i++)
      check_list (i);
  }
  setlocale (LC_ALL, "C");
}
GST_END_TEST

/* One number, or the first of three, from the user or a preset; what a channel
 * that is not there would get is not judged. */
GST_START_TEST (test_lists_of_gray) {
  static const struct {
    const gchar *preset, *mean, *std;
    gdouble expected_mean, expected_std;
  } cases[] = {
    { NULL, "5", "2", 5, 2 },
    { NULL, "5,6,7", "2,0,nan", 5, 2 },
    { "imagenet", NULL, NULL, 0.485, 0.229 },
    { "caffe", NULL, NULL, 104, 1 },
  };
  const GstPpTensor tensor = { .width = 8, .height = 8, .channels = 1 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPpSettings settings, resolved;
    pp_spec spec;
    gchar *reason = NULL;

    gst_pp_settings_init (&settings);
    gst_pp_settings_init (&resolved);
    if (cases[i].preset != NULL)
      set (&settings, "preset", cases[i].preset);
    if (cases[i].mean != NULL)
      set (&settings, "mean", cases[i].mean);
    if (cases[i].std != NULL)
      set (&settings, "std", cases[i].std);
    set (&settings, "channels", "gray");
    gst_pp_settings_resolve (&resolved, &settings);
    fail_unless (gst_pp_settings_to_spec (&resolved, &tensor, &spec, &reason),
        "case %u: %s", i, reason);
    fail_unless_equals_int (spec.channels, PP_CHANNELS_GRAY);
    fail_unless (spec.mean[0] == cases[i].expected_mean &&
            spec.std[0] == cases[i].expected_std && spec.std[1] == spec.std[0],
        "case %u: mean %g, std %g %g", i, spec.mean[0], spec.std[0],
        spec.std[1]);
    gst_pp_settings_clear (&settings);
    gst_pp_settings_clear (&resolved);
  }
}
GST_END_TEST

/* Back to the default, not to nothing. */
GST_START_TEST (test_list_reset) {
  const GstPpTensor tensor = { 8, 8, 3, PP_LAYOUT_NCHW, PP_TYPE_FLOAT32 };
  GstPpSettings settings;
  pp_spec spec;
  gchar *reason = NULL;

  gst_pp_settings_init (&settings);
  set (&settings, "std", "2");
  set (&settings, "std", NULL);
  fail_unless (gst_pp_settings_to_spec (&settings, &tensor, &spec, &reason),
      "%s", reason);
  fail_unless (spec.std[0] == 1 && spec.std[2] == 1);
  gst_pp_settings_clear (&settings);
}
GST_END_TEST

/* Text that is no setting changes nothing, however it is misspelt. */
GST_START_TEST (test_parse) {
  static const struct {
    const gchar *name, *text;
    gboolean good;
  } cases[] = {
    { "method", "bicubic", TRUE },
    { "method", "bicubi", FALSE },
    { "method", "", FALSE },
    { "methd", "bicubic", FALSE },
    { "", "", FALSE },
    { "zz", "1", FALSE },
    { "resize", "256", TRUE },
    { "resize", "256px", FALSE },
    { "resize", "40000", FALSE },
    { "crop-fraction", "0.875", TRUE },
    { "crop-fraction", "0,875", FALSE },
    { "crop-fraction", "2", FALSE },
    { "crop-fraction", "nan", FALSE },
    { "antialias", "true", TRUE },
    { "antialias", "yes", FALSE },
    { "mean", "1,2,3", TRUE },
    { "mean", "1,2,", FALSE },
    { "mean", "", FALSE },
  };
  GstPpSettings standard, parsed;

  gst_pp_settings_init (&standard);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gst_pp_settings_init (&parsed);
    fail_unless (gst_pp_settings_parse (
                     &parsed, cases[i].name, cases[i].text) == cases[i].good,
        "%s=%s", cases[i].name, cases[i].text);
    fail_unless (gst_pp_settings_copy_one (&parsed, &standard, cases[i].name) ==
            cases[i].good,
        "%s=%s", cases[i].name, cases[i].text);
    gst_pp_settings_clear (&parsed);
  }
  gst_pp_settings_clear (&standard);
}
GST_END_TEST

static void
expect_setting (gpointer data, const gchar *name, const gchar *value)
{
  fail_unless (gst_pp_settings_parse (data, name, value), "%s=%s", name, value);
}

/* Every word of every preset is a setting. */
GST_START_TEST (test_presets_are_settings) {
  for (const GEnumValue *preset = gst_pp_preset_values ();
       preset->value_nick != NULL; preset++) {
    GstPpSettings settings;

    gst_pp_settings_init (&settings);
    gst_pp_preset_foreach (preset->value, expect_setting, &settings);
    gst_pp_settings_clear (&settings);
  }
}
GST_END_TEST

/* What a change means for the plans that there are. */
GST_START_TEST (test_refresh) {
  static const struct {
    const gchar *name, *text;
    GstPpDifference difference;
  } cases[] = {
    { "mean", "0", GST_PP_SAME },
    { "mean", "1", GST_PP_OTHER_PLANS },
    { "mean", "1", GST_PP_SAME },
    { "crop", "0,0,8,8", GST_PP_OTHER_PICTURE },
    { "crop", "0,0,8,8", GST_PP_SAME },
    { "method", "area", GST_PP_OTHER_PLANS },
    { "width", "8", GST_PP_SAME }, /* not while PLAYING */
    { "crop", NULL, GST_PP_OTHER_PICTURE },
  };
  GstPpSettings user, resolved;

  gst_pp_settings_init (&user);
  gst_pp_settings_init (&resolved);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    set (&user, cases[i].name, cases[i].text);
    fail_unless (
        gst_pp_settings_refresh (&resolved, &user) == cases[i].difference,
        "row %u, %s=%s", i, cases[i].name, cases[i].text);
  }
  gst_pp_settings_clear (&user);
  gst_pp_settings_clear (&resolved);
}
GST_END_TEST

/* The plan that padded a frame's tensor. The block keeps its number. */
static guint64
plan_of_frame (GstHarness *h, const GstVideoInfo *info, GQueue *tensors)
{
  GstBuffer *tensor = test_convert (h, info, test_frame (info, NULL));
  GstMapInfo map;

  fail_unless (gst_buffer_map (tensor, &map, GST_MAP_READ));
  gst_buffer_unmap (tensor, &map);
  g_queue_push_tail (tensors, tensor);
  return *gst_pp_memory_get_padding (gst_buffer_peek_memory (tensor, 0), 0);
}

/* Two crops that take turns make two plans; a value that is set once more makes
 * none. */
GST_START_TEST (test_crops_keep_plans) {
  static const gchar *const crops[] = { "0,0,32,8", "0,0,8,24" };
  GstElement *element = g_object_new (
      GST_TYPE_CUDA_PREPROC, "width", 16, "height", 16, "async-depth", 0, NULL);
  GQueue tensors = G_QUEUE_INIT;
  guint64 plans[2] = { 0 };
  GstVideoInfo info;

  gst_util_set_object_arg (G_OBJECT (element), "backend", "cpu");
  gst_util_set_object_arg (G_OBJECT (element), "fit", "letterbox");
  GstHarness *h = gst_harness_new_with_element (element, "sink", "src");
  gst_harness_play (h);
  test_video_info (&info, "RGB", 32, 24);
  for (guint n = 0; n < 6; n++) {
    g_object_set (
        element, "crop", crops[n % 2], "mean", "0", "scale", 1.0 / 255, NULL);
    const guint64 plan = plan_of_frame (h, &info, &tensors);
    fail_unless (plan != 0 && plan != plans[1 - n % 2]);
    fail_unless (n < 2 || plan == plans[n % 2], "crop %u has another plan", n);
    plans[n % 2] = plan;
  }
  g_object_set (element, "mean", "1", NULL);
  const guint64 other = plan_of_frame (h, &info, &tensors);
  fail_unless (other != plans[0] && other != plans[1]);
  g_queue_clear_full (&tensors, (GDestroyNotify) gst_buffer_unref);
  gst_harness_teardown (h);
  gst_object_unref (element);
}
GST_END_TEST

/* A running stream takes over what may change, and nothing else. */
GST_START_TEST (test_resolve_mutable) {
  GstPpSettings from, to;

  gst_pp_settings_init (&from);
  gst_pp_settings_init (&to);
  set (&from, "mean", "1,2,3");
  set (&from, "method", "nearest");
  set (&from, "scale", "1");
  set (&from, "width", "320");
  set (&from, "type", "uint8");
  fail_unless_equals_int (
      gst_pp_settings_refresh (&to, &from), GST_PP_OTHER_PLANS);
  fail_unless (to.mean.length == 3 && to.mean.value[2] == 3);
  fail_unless (to.mean.text != from.mean.text, "the text is shared");
  fail_unless (to.method == PP_METHOD_NEAREST && to.scale == 1);
  fail_unless (to.width == 0 && to.type == GST_PP_AUTO);
  gst_pp_settings_resolve (&to, &from);
  fail_unless (to.width == 320 && to.type == PP_TYPE_UINT8);
  gst_pp_settings_clear (&from);
  gst_pp_settings_clear (&to);
}
GST_END_TEST

/* What the user sets counts, and takes away what only goes with the preset's own
 * value. */
GST_START_TEST (test_preset_and_user) {
  static const struct {
    const gchar *name, *text;
    gint fit, resize;
    gdouble crop_fraction;
  } cases[] = {
    { "scale", "1", PP_FIT_CROP, 0, 0.875 },
    { "fit", "letterbox", PP_FIT_LETTERBOX, 0, 0 },
    { "fit", "stretch", PP_FIT_STRETCH, 0, 0.875 },
    { "resize", "256", PP_FIT_CROP, 256, 0 },
    { "crop-fraction", "0.5", PP_FIT_CROP, 0, 0.5 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPpSettings user, resolved;

    gst_pp_settings_init (&user);
    gst_pp_settings_init (&resolved);
    set (&user, "preset", "imagenet");
    set (&user, cases[i].name, cases[i].text);
    gst_pp_settings_resolve (&resolved, &user);
    fail_unless (resolved.fit == cases[i].fit &&
            resolved.resize == cases[i].resize &&
            resolved.crop_fraction == cases[i].crop_fraction &&
            resolved.mean.value[0] == 0.485,
        "%s=%s: fit %d, resize %d, crop-fraction %g, mean %g", cases[i].name,
        cases[i].text, resolved.fit, resolved.resize, resolved.crop_fraction,
        resolved.mean.value[0]);
    gst_pp_settings_clear (&user);
    gst_pp_settings_clear (&resolved);
  }
}
GST_END_TEST

/* What contradicts downstream's caps is told as its author's. */
GST_START_TEST (test_constraints) {
  static const struct {
    const gchar *name, *text;
    gint channels;
    gboolean preset;
  } cases[] = {
    { "preset", "caffe", PP_CHANNELS_BGR, TRUE },
    { "channels", "gray", PP_CHANNELS_GRAY, FALSE },
    { "channels", "auto", GST_PP_AUTO, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPpSettings user, resolved;

    gst_pp_settings_init (&user);
    gst_pp_settings_init (&resolved);
    set (&user, "preset", "caffe");
    set (&user, cases[i].name, cases[i].text);
    gst_pp_settings_resolve (&resolved, &user);
    const GstPpTensorConstraints constraints =
        gst_pp_settings_tensor_constraints (&resolved);
    fail_unless (constraints.channels == cases[i].channels &&
            constraints.preset ==
                (cases[i].preset ? user.preset : GST_PP_PRESET_NONE),
        "%s=%s: channels %d, of preset %d", cases[i].name, cases[i].text,
        constraints.channels, constraints.preset);
    gst_pp_settings_clear (&user);
    gst_pp_settings_clear (&resolved);
  }
}
GST_END_TEST

/* Of a picture that begins at 100,50: crops are cut to it, and one that has no
 * pixel of it leaves it whole. */
GST_START_TEST (test_crop_property) {
  static const struct {
    const gchar *text;
    pp_rect cut;
    gboolean missed;
  } cases[] = {
    { NULL, { 100, 50, 640, 480 }, FALSE },
    { "0,0,640,480", { 100, 50, 640, 480 }, FALSE },
    { "10,20,30,40", { 110, 70, 30, 40 }, FALSE },
    { "639,479,1,1", { 739, 529, 1, 1 }, FALSE },
    { "0,0,641,480", { 100, 50, 640, 480 }, FALSE },
    { "1,2,640,480", { 101, 52, 639, 478 }, FALSE },
    { "-1,-2,10,10", { 100, 50, 9, 8 }, FALSE },
    { "-5,-5,1000,1000", { 100, 50, 640, 480 }, FALSE },
    { "639,0,2147483647,2147483647", { 739, 50, 1, 480 }, FALSE },
    { "640,0,10,10", { 100, 50, 640, 480 }, TRUE },
    { "0,480,10,10", { 100, 50, 640, 480 }, TRUE },
    { "-10,0,10,10", { 100, 50, 640, 480 }, TRUE },
    { "2147483647,0,2147483647,1", { 100, 50, 640, 480 }, TRUE },
    { "-2147483647,0,1,1", { 100, 50, 640, 480 }, TRUE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    pp_rect cut = { 100, 50, 640, 480 };
    GstPpSettings settings;
    gchar *reason = NULL;

    gst_pp_settings_init (&settings);
    set (&settings, "crop", cases[i].text);
    fail_unless (gst_pp_settings_check (&settings, &reason), "%s", reason);
    fail_unless (gst_pp_settings_crop (&settings, &cut) == !cases[i].missed,
        "crop=%s", cases[i].text);
    fail_unless (memcmp (&cut, &cases[i].cut, sizeof cut) == 0,
        "crop=%s is %d,%d %dx%d", cases[i].text, cut.x, cut.y, cut.width,
        cut.height);
    gst_pp_settings_clear (&settings);
  }
}
GST_END_TEST

/* Whatever frames there are. */
GST_START_TEST (test_crop_is_refused) {
  static const struct {
    const gchar *text, *words;
  } cases[] = {
    { "0,0,0,480", "crop=0,0,0,480|width is 0|at least 1" },
    { "0,0,480,-3", "crop=0,0,480,-3|height is -3|at least 1" },
    { "0,0,10.5,10", "crop=0,0,10.5,10|width is 10.5|whole number" },
    { "0.5,0,10,10", "crop=0.5,0,10,10|x is 0.5|whole number" },
    { "0,0,10", "crop=0,0,10|x,y,width,height" },
    { "0,nan,10,10", "crop=0,nan,10,10|y is nan" },
    { "0,0,1e99,10", "crop=0,0,1e99,10|1e+99" },
    { "a", "crop=a|numbers" },
    { "", "crop is empty|numbers" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstPpSettings settings;
    gchar *reason = NULL;

    gst_pp_settings_init (&settings);
    set (&settings, "crop", cases[i].text);
    fail_unless (!gst_pp_settings_check (&settings, &reason),
        "crop=%s was taken", cases[i].text);
    test_expect_words (reason, cases[i].words);
    g_free (reason);
    gst_pp_settings_clear (&settings);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_property_defaults);
  tcase_add_test (tcase, test_empty_is_none);
  tcase_add_test (tcase, test_lists);
  tcase_add_test (tcase, test_lists_of_gray);
  tcase_add_test (tcase, test_list_reset);
  tcase_add_test (tcase, test_parse);
  tcase_add_test (tcase, test_presets_are_settings);
  tcase_add_test (tcase, test_refresh);
  tcase_add_test (tcase, test_crops_keep_plans);
  tcase_add_test (tcase, test_resolve_mutable);
  tcase_add_test (tcase, test_preset_and_user);
  tcase_add_test (tcase, test_constraints);
  tcase_add_test (tcase, test_crop_property);
  tcase_add_test (tcase, test_crop_is_refused);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-settings", add_tests);
}
