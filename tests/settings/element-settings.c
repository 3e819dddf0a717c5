/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * gst/settings.c: properties, as pure functions.
 */

#include <locale.h>
#include <string.h>

#include "gst/cudapreproc.h"
#include "gst/settings/presets.h"
#include "gst/settings/settings.h"

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
  { "mean", "", 0, 0, 0, "mean=" },
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
  gst_pp_settings_resolve (&to, &from, TRUE);
  fail_unless (to.mean.length == 3 && to.mean.value[2] == 3);
  fail_unless (to.mean.text != from.mean.text, "the text is shared");
  fail_unless (to.method == PP_METHOD_NEAREST && to.scale == 1);
  fail_unless (to.width == 0 && to.type == GST_PP_AUTO);
  gst_pp_settings_resolve (&to, &from, FALSE);
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
    gst_pp_settings_resolve (&resolved, &user, FALSE);
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
    gst_pp_settings_resolve (&resolved, &user, FALSE);
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

GST_START_TEST (test_crop_property) {
  static const struct {
    const gchar *text;
    pp_rect cut;
    const gchar *words;
  } cases[] = {
    { NULL, { 100, 50, 640, 480 }, NULL },
    { "0,0,640,480", { 100, 50, 640, 480 }, NULL },
    { "10,20,30,40", { 110, 70, 30, 40 }, NULL },
    { "639,479,1,1", { 739, 529, 1, 1 }, NULL },
    { "0,0,641,480", { 0 }, "crop=0,0,641,480|640x480" },
    { "1,0,640,480", { 0 }, "crop=1,0,640,480|640x480" },
    { "0,0,0,480", { 0 }, "crop=0,0,0,480" },
    { "-1,0,10,10", { 0 }, "crop=-1,0,10,10|-1" },
    { "0,0,10.5,10", { 0 }, "crop=0,0,10.5,10|10.5" },
    { "0,0,10", { 0 }, "crop=0,0,10" },
    { "0,0,nan,10", { 0 }, "crop=0,0,nan,10|nan" },
    { "0,0,1e99,10", { 0 }, "crop=0,0,1e99,10" },
    { "a", { 0 }, "crop=a" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    pp_rect cut = { 100, 50, 640, 480 };
    GstPpSettings settings;
    gchar *reason = NULL;

    gst_pp_settings_init (&settings);
    set (&settings, "crop", cases[i].text);
    const gboolean good = gst_pp_settings_crop (&settings, &cut, &reason);
    if (cases[i].words != NULL) {
      fail_unless (!good, "crop=%s was taken", cases[i].text);
      test_expect_words (reason, cases[i].words);
    } else {
      fail_unless (good, "crop=%s: %s", cases[i].text, reason);
      fail_unless (memcmp (&cut, &cases[i].cut, sizeof cut) == 0,
          "crop=%s is %d,%d %dx%d", cases[i].text, cut.x, cut.y, cut.width,
          cut.height);
    }
    g_free (reason);
    gst_pp_settings_clear (&settings);
  }
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_property_defaults);
  tcase_add_test (tcase, test_lists);
  tcase_add_test (tcase, test_list_reset);
  tcase_add_test (tcase, test_resolve_mutable);
  tcase_add_test (tcase, test_preset_and_user);
  tcase_add_test (tcase, test_constraints);
  tcase_add_test (tcase, test_crop_property);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-settings", add_tests);
}
