/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "presets.h"

/* What training code works on is frames as libraries decode them, which know no
 * pixel aspect ratio. */
#define SQUARE "ignore-pixel-aspect-ratio=true "
#define STANDARD "method=bilinear channels=rgb scale=0.00392156862745098 "

/* clang-format off */
static const struct {
  const gchar *nick, *origin, *settings;
} presets[] = {
  { "none", "Nothing", "" },
  { "unit", "0...1", STANDARD "mean=0 std=1" },
  { "signed", "-1...1", STANDARD "mean=0.5 std=0.5" },
  /* Resize(256) and CenterCrop(224), as the fraction that holds at any size */
  { "imagenet", "torchvision", STANDARD SQUARE
    "fit=crop crop-fraction=0.875 antialias=true "
    "mean=0.485,0.456,0.406 std=0.229,0.224,0.225" },
  { "clip", "OpenCLIP", SQUARE
    "method=bicubic channels=rgb scale=0.00392156862745098 "
    "fit=crop crop-fraction=1 antialias=true "
    "mean=0.48145466,0.4578275,0.40821073 "
    "std=0.26862954,0.26130258,0.27577711" },
  { "yolo", "Ultralytics", STANDARD SQUARE
    "fit=letterbox pad-value=114 antialias=false mean=0 std=1" },
  { "caffe", "BGR minus means", SQUARE
    "method=bilinear channels=bgr scale=1 "
    "fit=stretch antialias=false mean=104,117,123 std=1" },
};
/* clang-format on */

#define N_PRESETS G_N_ELEMENTS (presets)

const GEnumValue *
gst_pp_preset_values (void)
{
  static GEnumValue values[N_PRESETS + 1];
  static gsize made;

  if (g_once_init_enter (&made)) {
    for (guint i = 0; i < N_PRESETS; i++) {
      values[i].value = (gint) i;
      values[i].value_nick = presets[i].nick;
      values[i].value_name = *presets[i].settings != '\0'
          ? g_strdup_printf ("%s: %s", presets[i].origin, presets[i].settings)
          : presets[i].origin;
    }
    g_once_init_leave (&made, 1);
  }
  return values;
}

void
gst_pp_preset_foreach (gint preset,
    void (*set) (gpointer data, const gchar *name, const gchar *value),
    gpointer data)
{
  g_auto (GStrv) settings = g_strsplit (presets[preset].settings, " ", -1);

  for (guint i = 0; settings[i] != NULL; i++) {
    g_auto (GStrv) pair = g_strsplit (settings[i], "=", 2);
    set (data, pair[0], pair[0] != NULL && pair[1] != NULL ? pair[1] : "");
  }
}

gchar *
gst_pp_preset_blame (gint preset, const gchar *text)
{
  if (preset == GST_PP_PRESET_NONE)
    return g_strdup (text);
  return g_strdup_printf ("%s (preset=%s sets what is not set otherwise)", text,
      presets[preset].nick);
}
