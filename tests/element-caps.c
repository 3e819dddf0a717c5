/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's pure functions: caps in <-> caps out, properties, formats.
 */

#include <locale.h>
#include <string.h>

#include "gst/cudapreproc.h"
#include "gst/inputformat.h"
#include "gst/settings.h"
#include "gst/tensorcaps.h"

#include "elementutil.h"

#define T "other/tensors, format = static, num_tensors = 1, "
#define ANY_RATE "framerate = (fraction) [ 0/1, 2147483647/1 ]"
#define VIDEO "video/x-raw, format = NV12, width = 640, height = 480, "

#define OPEN                                                                   \
  {                                                                            \
    0, 0, 0, GST_PP_AUTO, GST_PP_AUTO                                          \
  }
#define SIZED(w, h)                                                            \
  {                                                                            \
    w, h, 0, GST_PP_AUTO, GST_PP_AUTO                                          \
  }
#define OF_LAYOUT(layout)                                                      \
  {                                                                            \
    0, 0, 0, PP_LAYOUT_##layout, GST_PP_AUTO                                   \
  }
#define OF_TYPE(type)                                                          \
  {                                                                            \
    0, 0, 0, GST_PP_AUTO, PP_TYPE_##type                                       \
  }
#define OF_CHANNELS(n)                                                         \
  {                                                                            \
    0, 0, n, GST_PP_AUTO, GST_PP_AUTO                                          \
  }

/* Words that an error text must have; what comes after ends the list. */
static void
expect_words (const gchar *text, const gchar *words)
{
  gchar **word = g_strsplit (words, "|", -1);

  fail_unless (text != NULL, "no text, but it should have %s", words);
  for (guint i = 0; word[i] != NULL; i++)
    fail_unless (strstr (text, word[i]) != NULL, "\"%s\" does not name %s",
        text, word[i]);
  g_strfreev (word);
}

/* caps from what downstream offers */

typedef struct {
  const gchar *candidates; /* what is common with downstream */
  GstPpTensorWish wish;
  const gchar *video;
  const gchar *chosen; /* NULL: none agrees */
  const gchar *words;  /* of the reason then, | between them */
} FixateCase;

#define RATE30 "framerate = (fraction) 30/1"
#define ALL_TYPES "types = (string) { float32, float16, uint8, int8 }, "

static const FixateCase fixate_cases[] = {
  /* Nothing is decided: the frame's size and the defaults. */
  { T ALL_TYPES ANY_RATE, OPEN, VIDEO RATE30,
      T "types = float32, dimensions = (string) 640:480:3:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE, OPEN, VIDEO "framerate = (fraction) 30000/1001",
      T "types = float32, dimensions = (string) 640:480:3:1, "
        "framerate = (fraction) 30000/1001",
      NULL },
  /* No framerate upstream. */
  { T ALL_TYPES ANY_RATE, OPEN,
      "video/x-raw, format = NV12, width = 640, height = 480",
      T "types = float32, dimensions = (string) 640:480:3:1, "
        "framerate = (fraction) 0/1",
      NULL },
  /* Properties decide. */
  { T ALL_TYPES ANY_RATE, SIZED (224, 0), VIDEO RATE30,
      T "types = float32, dimensions = (string) 224:480:3:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE, { 224, 160, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8 },
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:224:160:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE, { 224, 160, 1, PP_LAYOUT_NHWC, PP_TYPE_INT8 },
      VIDEO RATE30,
      T "types = int8, dimensions = (string) 1:224:160:1, " RATE30, NULL },
  { T ALL_TYPES ANY_RATE, { 224, 160, 1, PP_LAYOUT_NCHW, PP_TYPE_FLOAT16 },
      VIDEO RATE30,
      T "types = float16, dimensions = (string) 224:160:1:1, " RATE30, NULL },
  /* Downstream decides, in its own spelling. */
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:224:160:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 3:224:160, " ANY_RATE, OPEN,
      VIDEO RATE30, T "types = uint8, dimensions = (string) 3:224:160, " RATE30,
      NULL },
  { T "types = uint8, dimensions = (string) 224:160:3:1:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = uint8, dimensions = (string) 224:160:3:1:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 224:160:3:1:1:1:1:1:1:1:1:1:1:1:1:1"
      ", " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) "
        "224:160:3:1:1:1:1:1:1:1:1:1:1:1:1:1, " RATE30,
      NULL },
  { T "types = uint8, dimensions = (string) 224:160, " ANY_RATE, OPEN,
      VIDEO RATE30, T "types = uint8, dimensions = (string) 224:160, " RATE30,
      NULL },
  /* A shape that reads both ways stays as it is, whatever the layout. */
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, SIZED (640, 3),
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  { T ALL_TYPES "dimensions = (string) 3:640:3:1, " ANY_RATE, OF_LAYOUT (NHWC),
      VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:640:3:1, " RATE30, NULL },
  /* The first structure that agrees, as NNStreamer's elements offer several. */
  { "other/tensors, format = static, num_tensors = 1, types = uint8, "
    "dimensions = (string) 3:300:300:1, " ANY_RATE "; " T
    "types = float32, dimensions = (string) 3:224:224:1, " ANY_RATE,
      SIZED (224, 224), VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:224:224:1, " RATE30, NULL },
  { T "types = uint8, dimensions = (string) 3:300:300:1, " ANY_RATE "; " T
      "types = float32, dimensions = (string) 3:224:224:1, " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:300:300:1, " RATE30, NULL },
  { T "types = (string) { uint8, float32 }, dimensions = (string) { "
      "3:300:300:1, 3:224:224:1 }, " ANY_RATE,
      { 224, 0, 0, GST_PP_AUTO, PP_TYPE_FLOAT32 }, VIDEO RATE30,
      T "types = float32, dimensions = (string) 3:224:224:1, " RATE30, NULL },
  { T "types = int16, dimensions = (string) 3:224:224:1, " ANY_RATE "; " T
      "types = uint8, dimensions = (string) 3:64:64:1, " ANY_RATE,
      OPEN, VIDEO RATE30,
      T "types = uint8, dimensions = (string) 3:64:64:1, " RATE30, NULL },
  /* Contradictions name both sides. */
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      SIZED (640, 0), VIDEO RATE30, NULL, "3:224:160:1|width=640" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      SIZED (0, 640), VIDEO RATE30, NULL, "3:224:160:1|height=640" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      OF_TYPE (FLOAT32), VIDEO RATE30, NULL, "types=uint8|type=float32" },
  { T "types = uint8, dimensions = (string) 3:224:160:1, " ANY_RATE,
      OF_LAYOUT (NCHW), VIDEO RATE30, NULL, "3:224:160:1|layout=nchw|nchw" },
  { T "types = uint8, dimensions = (string) 224:160:3:1, " ANY_RATE,
      OF_LAYOUT (NHWC), VIDEO RATE30, NULL, "224:160:3:1|layout=nhwc|nhwc" },
  { T "types = uint8, dimensions = (string) 224:160:3:1, " ANY_RATE,
      OF_CHANNELS (1), VIDEO RATE30, NULL, "224:160:3:1|channels=gray" },
  { T "types = uint8, dimensions = (string) 224:160:1:1, " ANY_RATE,
      OF_CHANNELS (3), VIDEO RATE30, NULL, "224:160:1:1|channels=rgb" },
  /* What no tensor of ours can be. */
  { T "types = uint8, dimensions = (string) 224:160:4:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "224:160:4:1" },
  { T "types = uint8, dimensions = (string) 3:224:160:2, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "3:224:160:2|batch" },
  { T "types = uint8, dimensions = (string) 0:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "0:160:3:1" },
  { T "types = uint8, dimensions = (string) -2:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "-2:160:3:1" },
  { T "types = uint8, dimensions = (string) 224:160:3:, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "224:160:3:" },
  { T "types = uint8, dimensions = (string) 32769:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "32769:160:3:1|32768" },
  { T "types = uint8, dimensions = (string) 4294967520:160:3:1, " ANY_RATE,
      OPEN, VIDEO RATE30, NULL, "4294967520:160:3:1|32768" },
  { T "types = int16, dimensions = (string) 224:160:3:1, " ANY_RATE, OPEN,
      VIDEO RATE30, NULL, "int16" },
  { T "types = (string) \"uint8,uint8\", " ANY_RATE, OPEN, VIDEO RATE30, NULL,
      "uint8,uint8" },
};

static void
check_chosen (const FixateCase *row, guint index, const GstCaps *chosen)
{
  GstCaps *expected = gst_caps_from_string (row->chosen);

  fail_unless (gst_caps_is_fixed (chosen), "case %u is not fixed: %s", index,
      gst_caps_to_string (chosen));
  fail_unless (gst_caps_is_equal (chosen, expected), "case %u is %s, not %s",
      index, gst_caps_to_string (chosen), row->chosen);
  gst_caps_unref (expected);
}

GST_START_TEST (test_fixate) {
  for (guint i = 0; i < G_N_ELEMENTS (fixate_cases); i++) {
    const FixateCase *row = &fixate_cases[i];
    GstCaps *candidates = gst_caps_from_string (row->candidates);
    GstCaps *video = gst_caps_from_string (row->video);
    gchar *reason = NULL;
    GstCaps *chosen =
        gst_pp_tensor_caps_fixate (candidates, &row->wish, video, &reason);

    if (row->chosen != NULL) {
      fail_unless (chosen != NULL, "case %u: %s", i, reason);
      fail_unless (reason == NULL, "case %u has a reason: %s", i, reason);
      check_chosen (row, i, chosen);
    } else {
      fail_unless (chosen == NULL, "case %u is %s", i,
          chosen != NULL ? gst_caps_to_string (chosen) : "");
      expect_words (reason, row->words);
    }
    g_free (reason);
    gst_clear_caps (&chosen);
    gst_caps_unref (candidates);
    gst_caps_unref (video);
  }
}
GST_END_TEST

/* caps of the other pad */

static const struct {
  const gchar *caps;
  GstPadDirection direction;
  const gchar *framerate; /* in every structure; NULL: none has one */
  guint size;
} transform_cases[] = {
  { VIDEO RATE30, GST_PAD_SINK, "30/1", 1 },
  { VIDEO "framerate = (fraction) 0/1", GST_PAD_SINK, "0/1", 1 },
  { "video/x-raw, format = RGB", GST_PAD_SINK, "[ 0/1, 2147483647/1 ]", 1 },
  { T RATE30, GST_PAD_SRC, "30/1", 1 },
  { T "framerate = (fraction) [ 1/1, 30/1 ]", GST_PAD_SRC, "[ 1/1, 30/1 ]", 1 },
  /* Video caps need no framerate: one that says nothing is not asked for. */
  { T ANY_RATE, GST_PAD_SRC, NULL, 1 },
  { T "framerate = (fraction) 0/1", GST_PAD_SRC, NULL, 1 },
  { T "types = uint8", GST_PAD_SRC, NULL, 1 },
  { "EMPTY", GST_PAD_SRC, NULL, 0 },
};

GST_START_TEST (test_transform) {
  GstCaps *video = gst_caps_from_string ("video/x-raw, format = RGB");
  GstCaps *tensor = gst_caps_from_string (GST_PP_TENSOR_CAPS);

  for (guint i = 0; i < G_N_ELEMENTS (transform_cases); i++) {
    const GstPadDirection direction = transform_cases[i].direction;
    GstCaps *caps = gst_caps_from_string (transform_cases[i].caps);
    GstCaps *other = gst_pp_tensor_caps_transform (
        caps, direction, direction == GST_PAD_SINK ? tensor : video);

    fail_unless_equals_int (gst_caps_get_size (other), transform_cases[i].size);
    for (guint s = 0; s < gst_caps_get_size (other); s++) {
      const GValue *rate = gst_structure_get_value (
          gst_caps_get_structure (other, s), "framerate");
      gchar *text = rate != NULL ? gst_value_serialize (rate) : NULL;
      fail_unless (g_strcmp0 (text, transform_cases[i].framerate) == 0,
          "case %u: framerate is %s, not %s", i, text,
          transform_cases[i].framerate);
      g_free (text);
    }
    gst_caps_unref (caps);
    gst_caps_unref (other);
  }
  gst_caps_unref (video);
  gst_caps_unref (tensor);
}
GST_END_TEST

/* The other way and back: what is negotiated reads as what was meant. */
GST_START_TEST (test_tensor_from_caps) {
  static const struct {
    const gchar *caps;
    GstPpTensorWish wish;
    GstPpTensor tensor;
    const gchar *words;
  } cases[] = {
    { T "types = float32, dimensions = (string) 640:480:3:1", OPEN,
        { 640, 480, 3, PP_LAYOUT_NCHW, PP_TYPE_FLOAT32 }, NULL },
    { T "types = float16, dimensions = (string) 3:640:480:1", OPEN,
        { 640, 480, 3, PP_LAYOUT_NHWC, PP_TYPE_FLOAT16 }, NULL },
    { T "types = uint8, dimensions = (string) 1:640:480:1", OPEN,
        { 640, 480, 1, PP_LAYOUT_NHWC, PP_TYPE_UINT8 }, NULL },
    { T "types = int8, dimensions = (string) 640:480", OPEN,
        { 640, 480, 1, PP_LAYOUT_NCHW, PP_TYPE_INT8 }, NULL },
    /* both ways */
    { T "types = uint8, dimensions = (string) 3:640:3:1", OPEN,
        { 3, 640, 3, PP_LAYOUT_NCHW, PP_TYPE_UINT8 }, NULL },
    { T "types = uint8, dimensions = (string) 3:640:3:1", OF_LAYOUT (NHWC),
        { 640, 3, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8 }, NULL },
    { T "types = uint8, dimensions = (string) 3:640:3:1", SIZED (640, 3),
        { 640, 3, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8 }, NULL },
    { T "types = uint8, dimensions = (string) 1:1:1:1", OF_LAYOUT (NHWC),
        { 1, 1, 1, PP_LAYOUT_NHWC, PP_TYPE_UINT8 }, NULL },
    { T "types = uint8", OPEN, { 0 }, "dimensions" },
    { T "types = uint8, dimensions = (string) 640:480:3:1", SIZED (320, 0),
        { 0 }, "640:480:3:1|width=320" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstCaps *caps = gst_caps_from_string (cases[i].caps);
    GstPpTensor tensor;
    gchar *reason = NULL;
    const gboolean read =
        gst_pp_tensor_from_caps (caps, &cases[i].wish, &tensor, &reason);

    if (cases[i].words != NULL) {
      fail_unless (!read, "case %u was read", i);
      expect_words (reason, cases[i].words);
    } else {
      const GstPpTensor *expected = &cases[i].tensor;
      fail_unless (read, "case %u: %s", i, reason);
      fail_unless (tensor.width == expected->width &&
              tensor.height == expected->height &&
              tensor.channels == expected->channels &&
              tensor.layout == expected->layout &&
              tensor.type == expected->type,
          "case %u is %dx%dx%d layout %d type %d", i, tensor.width,
          tensor.height, tensor.channels, (gint) tensor.layout,
          (gint) tensor.type);
    }
    g_free (reason);
    gst_caps_unref (caps);
  }
}
GST_END_TEST

/* properties */

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
    expect_words (reason, list_cases[i].words);
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
      expect_words (reason, cases[i].words);
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

/* formats */

static void
format_from (const gchar *text, pp_format *format)
{
  GstCaps *caps = gst_caps_from_string (text);
  GstVideoInfo info;
  gchar *reason = NULL;

  fail_unless (gst_video_info_from_caps (&info, caps), "%s", text);
  fail_unless (gst_pp_format_from_video_info (&info, format, &reason), "%s: %s",
      text, reason);
  gst_caps_unref (caps);
}

/* The engine takes every format of the template. */
GST_START_TEST (test_formats_are_usable) {
  GValue list = G_VALUE_INIT;
  pp_spec spec;

  g_value_init (&list, GST_TYPE_LIST);
  fail_unless (gst_value_deserialize (&list, GST_PP_INPUT_FORMATS));
  pp_spec_init (&spec);
  spec.width = spec.height = 16;
  for (guint i = 0; i < gst_value_list_get_size (&list); i++) {
    const gchar *name =
        g_value_get_string (gst_value_list_get_value (&list, i));
    GstVideoInfo info;
    pp_format format;
    pp_error error;
    gchar *reason = NULL;

    fail_unless (gst_video_info_set_format (
                     &info, gst_video_format_from_string (name), 33, 17),
        "%s is not a format here", name);
    fail_unless (gst_pp_format_from_video_info (&info, &format, &reason),
        "%s: %s", name, reason);
    pp_plan *plan = pp_plan_new (&spec, &format, NULL, &error);
    fail_unless (plan != NULL, "%s: %s", name, error.text);
    pp_plan_unref (&plan);
  }
  g_value_unset (&list);
}
GST_END_TEST

/* Components that are no whole samples: an error, not a guess. */
GST_START_TEST (test_formats_are_refused) {
  static const GstVideoFormat refused[] = {
    GST_VIDEO_FORMAT_v210,
    GST_VIDEO_FORMAT_RGB8P,
    GST_VIDEO_FORMAT_IYU1,
    GST_VIDEO_FORMAT_UYVP,
    GST_VIDEO_FORMAT_NV12_64Z32,
    GST_VIDEO_FORMAT_GRAY10_LE32,
    GST_VIDEO_FORMAT_NV12_10LE32,
    GST_VIDEO_FORMAT_NV12_10LE40,
  };

  for (guint i = 0; i < G_N_ELEMENTS (refused); i++) {
    const gchar *name = gst_video_format_to_string (refused[i]);
    GstVideoInfo info;
    pp_format format;
    gchar *reason = NULL;

    gst_video_info_set_format (&info, refused[i], 64, 64);
    fail_unless (!gst_pp_format_from_video_info (&info, &format, &reason),
        "%s was taken", name);
    expect_words (reason, name);
    g_free (reason);
  }
}
GST_END_TEST

/* Caps alone decide about range, matrix and chroma, never the size. */
GST_START_TEST (test_colour) {
  static const struct {
    const gchar *caps;
    gint offset, scale; /* of Y */
    gdouble kr;
    gboolean cosited_x, cosited_y;
  } cases[] = {
#define SMALL "video/x-raw, format = I420, width = 640, height = 360"
#define LARGE "video/x-raw, format = I420, width = 1280, height = 720"
    { SMALL, 16, 219, 0.299, FALSE, FALSE },
    { LARGE, 16, 219, 0.2126, TRUE, FALSE },
    { SMALL ", colorimetry = bt709", 16, 219, 0.2126, TRUE, FALSE },
    { LARGE ", colorimetry = bt601", 16, 219, 0.299, TRUE, FALSE },
    { SMALL ", colorimetry = bt2020", 16, 219, 0.2627, TRUE, FALSE },
    { SMALL ", colorimetry = (string) 1:3:5:1", 0, 255, 0.2126, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:4:0:0", 0, 255, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:4:0:0, chroma-site = mpeg2", 0, 255,
        0.299, TRUE, FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = jpeg", 16, 219, 0.2126, FALSE,
        FALSE },
    { SMALL ", colorimetry = bt709, chroma-site = cosited", 16, 219, 0.2126,
        TRUE, TRUE },
    /* A matrix that is unknown takes the range with it. */
    { SMALL ", colorimetry = (string) 2:0:0:0", 16, 219, 0.299, FALSE, FALSE },
    { SMALL ", colorimetry = (string) 1:0:0:0", 16, 219, 0.299, FALSE, FALSE },
    { "video/x-raw, format = I420_10LE, width = 640, height = 360, "
      "colorimetry = bt2100-pq",
        64, 876, 0.2627, TRUE, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    pp_format format;

    format_from (cases[i].caps, &format);
    fail_unless (format.offset[0] == cases[i].offset &&
            format.scale[0] == cases[i].scale,
        "%s: Y is (value - %d) / %d", cases[i].caps, format.offset[0],
        format.scale[0]);
    fail_unless (
        format.kr == cases[i].kr, "%s: Kr is %g", cases[i].caps, format.kr);
    fail_unless (format.cosited_x == cases[i].cosited_x &&
            format.cosited_y == cases[i].cosited_y,
        "%s: cosited %d %d", cases[i].caps, format.cosited_x, format.cosited_y);
  }
}
GST_END_TEST

/* P010's second chroma sample is two bytes on, whatever GstVideoFormatInfo. */
GST_START_TEST (test_components) {
  pp_format format;

  format_from (
      "video/x-raw, format = P010_10LE, width = 64, height = 64", &format);
  fail_unless (format.sample_bytes == 2 && !format.big_endian);
  fail_unless_equals_int (format.component[2].offset, 2);
  fail_unless_equals_int (format.component[2].pixel_stride, 4);
  fail_unless_equals_int (format.component[2].shift, 6);

  format_from (
      "video/x-raw, format = I420_10BE, width = 64, height = 64", &format);
  fail_unless (format.sample_bytes == 2 && format.big_endian);
  fail_unless_equals_int (format.component[0].shift, 0);
  fail_unless_equals_int (format.component[0].depth, 10);

  format_from ("video/x-raw, format = GRAY8, width = 64, height = 64, "
               "pixel-aspect-ratio = 16/11",
      &format);
  fail_unless (format.model == PP_MODEL_GRAY && format.n_components == 1);
  fail_unless (format.par_n == 16 && format.par_d == 11);
}
GST_END_TEST

static void
add_tests (TCase *tcase)
{
  tcase_add_test (tcase, test_fixate);
  tcase_add_test (tcase, test_transform);
  tcase_add_test (tcase, test_tensor_from_caps);
  tcase_add_test (tcase, test_property_defaults);
  tcase_add_test (tcase, test_lists);
  tcase_add_test (tcase, test_list_reset);
  tcase_add_test (tcase, test_resolve_mutable);
  tcase_add_test (tcase, test_crop_property);
  tcase_add_test (tcase, test_formats_are_usable);
  tcase_add_test (tcase, test_formats_are_refused);
  tcase_add_test (tcase, test_colour);
  tcase_add_test (tcase, test_components);
}

int
main (int argc, char **argv)
{
  return test_main (argc, argv, "element-caps", add_tests);
}
