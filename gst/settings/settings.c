/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "settings.h"

#include <gst/video/video.h>
#include <string.h>

#include "presets.h"
#include "properties.h"

static gpointer
field_of (const GstPpSettings *settings, const GstPpProperty *property)
{
  return G_STRUCT_MEMBER_P (settings, property->offset);
}

/* By property id. */
static const GstPpProperty *
nth_property (guint id)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  g_assert (id >= 1 && id <= n);
  return &properties[id - 1];
}

typedef struct {
  GstPpSettings settings;
  const gchar *preset;
} PresetCheck;

static void
check_preset_row (gpointer data, const gchar *name, const gchar *value)
{
  PresetCheck *check = data;

  if (!gst_pp_settings_parse (&check->settings, name, value))
    g_critical ("preset %s: %s=%s is no setting", check->preset, name, value);
}

/* A misspelt row of a preset is told by the first element, whatever it does. */
static void
check_presets (void)
{
  PresetCheck check;

  gst_pp_settings_init (&check.settings);
  for (const GEnumValue *value = gst_pp_preset_values ();
       value->value_nick != NULL; value++) {
    check.preset = value->value_nick;
    gst_pp_preset_foreach (value->value, check_preset_row, &check);
  }
  gst_pp_settings_clear (&check.settings);
}

void
gst_pp_settings_install (GObjectClass *klass, const gchar *const *without)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  for (guint i = 0; i < n; i++) {
    const GstPpProperty *property = &properties[i];
    if (g_strv_contains (without, property->name))
      continue;
    const GParamFlags when = property->change == GST_PP_UNTIL_READY
        ? GST_PARAM_MUTABLE_READY
        : GST_PARAM_MUTABLE_PLAYING;

    g_object_class_install_property (klass, i + 1,
        property->kind->make_param (
            property, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | when));
  }
  check_presets ();
}

void
gst_pp_settings_init (GstPpSettings *settings)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  memset (settings, 0, sizeof *settings);
  for (guint i = 0; i < n; i++)
    properties[i].kind->reset (
        &properties[i], field_of (settings, &properties[i]));
}

void
gst_pp_settings_clear (GstPpSettings *settings)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  for (guint i = 0; i < n; i++)
    properties[i].kind->clear (field_of (settings, &properties[i]));
}

void
gst_pp_settings_set (GstPpSettings *settings, guint id, const GValue *value)
{
  const GstPpProperty *property = nth_property (id);

  settings->set |= gst_pp_property_bit (property);
  property->kind->set (property, field_of (settings, property), value);
}

void
gst_pp_settings_get (const GstPpSettings *settings, guint id, GValue *value)
{
  const GstPpProperty *property = nth_property (id);

  property->kind->get (field_of (settings, property), value);
}

gboolean
gst_pp_settings_parse (
    GstPpSettings *settings, const gchar *name, const gchar *text)
{
  const GstPpProperty *property = gst_pp_property_find (name);
  GstPpSettings parsed;

  if (property == NULL)
    return FALSE;
  gst_pp_settings_init (&parsed);
  gpointer value = field_of (&parsed, property);
  const gboolean good = property->kind->parse (property, value, text);
  if (good)
    property->kind->copy (field_of (settings, property), value);
  gst_pp_settings_clear (&parsed);
  return good;
}

static void
copy_field (
    GstPpSettings *to, const GstPpSettings *from, const GstPpProperty *property)
{
  property->kind->copy (field_of (to, property), field_of (from, property));
}

static gboolean
equal_field (const GstPpSettings *a, const GstPpSettings *b,
    const GstPpProperty *property)
{
  return property->kind->equal (field_of (a, property), field_of (b, property));
}

gboolean
gst_pp_settings_equal_one (
    const GstPpSettings *a, const GstPpSettings *b, const gchar *name)
{
  const GstPpProperty *property = gst_pp_property_find (name);

  return property == NULL ||
      (((a->set ^ b->set) & gst_pp_property_bit (property)) == 0 &&
          equal_field (a, b, property));
}

gboolean
gst_pp_settings_copy_one (
    GstPpSettings *to, const GstPpSettings *from, const gchar *name)
{
  const GstPpProperty *property = gst_pp_property_find (name);

  if (property == NULL)
    return FALSE;
  const guint64 bit = gst_pp_property_bit (property);
  const gboolean changed = !gst_pp_settings_equal_one (to, from, name);
  copy_field (to, from, property);
  to->set = (to->set & ~bit) | (from->set & bit);
  return changed;
}

void
gst_pp_settings_copy (GstPpSettings *to, const GstPpSettings *from)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  for (guint i = 0; i < n; i++)
    copy_field (to, from, &properties[i]);
  to->set = from->set;
}

gboolean
gst_pp_settings_is_set_at (const GstPpSettings *settings, gsize offset)
{
  const GstPpProperty *property = gst_pp_property_at (offset);

  if (offset == G_STRUCT_OFFSET (GstPpSettings, crop_fraction) &&
      gst_pp_settings_is_set (settings, resize))
    return TRUE;
  return property != NULL &&
      (settings->set & gst_pp_property_bit (property)) != 0;
}

gboolean
gst_pp_settings_is_set_by_name (
    const GstPpSettings *settings, const gchar *name)
{
  const GstPpProperty *property = gst_pp_property_find (name);

  return property != NULL &&
      gst_pp_settings_is_set_at (settings, property->offset);
}

static gchar *
say_range (const GstPpProperty *property, gdouble value)
{
  const gchar *name = property->name;

  if (property->max < G_MAXDOUBLE)
    return g_strdup_printf ("%s is %.10g, must be %.10g to %.10g", name, value,
        property->min, property->max);
  if (property->min > -G_MAXDOUBLE)
    return g_strdup_printf ("%s is %.10g, must be at least %.10g and finite",
        name, value, property->min);
  return g_strdup_printf ("%s is %.10g, must be finite", name, value);
}

static gboolean
check_ranges (const GstPpSettings *settings, gchar **reason)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  for (guint i = 0; i < n; i++) {
    const GstPpProperty *property = &properties[i];

    if (property->kind->number == NULL)
      continue;
    const gdouble value =
        property->kind->number (field_of (settings, property));
    /* NaN fails every comparison. */
    if (!(value >= property->min && value <= property->max)) {
      *reason = say_range (property, value);
      return FALSE;
    }
  }
  return TRUE;
}

static gboolean
check_lists (const GstPpSettings *settings, gchar **reason)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);

  for (guint i = 0; i < n; i++) {
    if (properties[i].kind != &gst_pp_kind_list)
      continue;
    const GstPpList *list = field_of (settings, &properties[i]);
    if (list->text != NULL && *list->text == '\0') {
      *reason =
          g_strdup_printf ("%s is empty, must be a list of numbers with commas",
              properties[i].name);
      return FALSE;
    }
    if (list->length < 0) {
      *reason = g_strdup_printf ("%s=%s is not a list of numbers with commas",
          properties[i].name, list->text);
      return FALSE;
    }
  }
  return TRUE;
}

/* Where it lies is judged when there is a frame. */
static gboolean
check_crop (const GstPpSettings *settings, gchar **reason)
{
  const GstPpList *crop = &settings->crop;

  if (crop->text == NULL)
    return TRUE;
  if (crop->length != 4) {
    *reason = g_strdup_printf ("crop=%s is not x,y,width,height", crop->text);
    return FALSE;
  }
  for (gint i = 0; i < 4; i++) {
    const gdouble value = crop->value[i];
    const gdouble min = i < 2 ? -G_MAXINT : 1;

    if (value >= min && value <= G_MAXINT && value == (gint) value)
      continue;
    *reason = g_strdup_printf (
        "crop=%s: %s is %g, must be a whole number of pixels%s", crop->text,
        (const gchar *[]){ "x", "y", "width", "height" }[i], value,
        i < 2 ? "" : ", at least 1");
    return FALSE;
  }
  return TRUE;
}

static gboolean
check_colorimetry (const GstPpSettings *settings, gchar **reason)
{
  const gchar *text = settings->colorimetry;
  GstVideoColorimetry colorimetry;

  if (text == NULL || *text == '\0' ||
      gst_video_colorimetry_from_string (&colorimetry, text))
    return TRUE;
  *reason = g_strdup_printf ("colorimetry=%s is not a GStreamer colorimetry, "
                             "such as bt709 or 1:4:0:0",
      text);
  return FALSE;
}

/* GStreamer's type has more values. */
static gboolean
check_direction (const GstPpSettings *settings, gchar **reason)
{
  if (gst_pp_enum_nick (gst_pp_directions, settings->video_direction) != NULL)
    return TRUE;
  *reason = g_strdup_printf (
      "video-direction=%s is not supported, must be identity, 90r, 180, 90l, "
      "horiz, vert, ul-lr, ur-ll or auto",
      settings->video_direction == GST_VIDEO_ORIENTATION_CUSTOM ? "custom"
                                                                : "unknown");
  return FALSE;
}

gboolean
gst_pp_settings_check (const GstPpSettings *settings, gchar **reason)
{
  if (!check_ranges (settings, reason) || !check_lists (settings, reason) ||
      !check_crop (settings, reason) || !check_colorimetry (settings, reason) ||
      !check_direction (settings, reason))
    return FALSE;
  if (settings->denoise_size % 2 == 0) {
    *reason = g_strdup_printf (
        "denoise-size is %d, must be 3, 5 or, with denoise=gaussian, 7",
        settings->denoise_size);
    return FALSE;
  }
  if (settings->backend == PP_BACKEND_CPU && settings->cuda_device_id >= 0) {
    *reason =
        g_strdup_printf ("cuda-device-id is %d, must be -1 with backend=cpu",
            settings->cuda_device_id);
    return FALSE;
  }
  return TRUE;
}

typedef struct {
  GstPpSettings *settings;
  const GstPpSettings *user;
  gboolean only_mutable;
} Resolution;

/* One setting of a preset. */
static void
apply_preset (gpointer data, const gchar *name, const gchar *value)
{
  const Resolution *resolution = data;
  const GstPpProperty *property = gst_pp_property_find (name);

  if (property == NULL ||
      gst_pp_settings_is_set_at (resolution->user, property->offset) ||
      (resolution->only_mutable && property->change == GST_PP_UNTIL_READY))
    return;
  /* It goes with the preset's fit, which the user replaced by one that never
   * crops. */
  if (property->offset == G_STRUCT_OFFSET (GstPpSettings, crop_fraction) &&
      resolution->settings->fit == PP_FIT_LETTERBOX)
    return;
  gst_pp_settings_parse (resolution->settings, name, value);
}

void
gst_pp_settings_resolve (GstPpSettings *to, const GstPpSettings *from)
{
  Resolution resolution = { to, from, FALSE };

  gst_pp_settings_copy (to, from);
  gst_pp_preset_foreach (to->preset, apply_preset, &resolution);
}

GstPpDifference
gst_pp_settings_refresh (GstPpSettings *to, const GstPpSettings *from)
{
  guint n;
  const GstPpProperty *properties = gst_pp_properties (&n);
  Resolution resolution = { to, from, TRUE };
  GstPpDifference difference = GST_PP_SAME;
  GstPpSettings before;

  gst_pp_settings_init (&before);
  gst_pp_settings_copy (&before, to);
  for (guint i = 0; i < n; i++)
    if (properties[i].change != GST_PP_UNTIL_READY)
      copy_field (to, from, &properties[i]);
  to->set = from->set;
  gst_pp_preset_foreach (to->preset, apply_preset, &resolution);

  for (guint i = 0; i < n; i++)
    if (!equal_field (to, &before, &properties[i]))
      difference = MAX (difference,
          properties[i].change == GST_PP_CHANGES_PLANS ? GST_PP_OTHER_PLANS
                                                       : GST_PP_OTHER_PICTURE);
  gst_pp_settings_clear (&before);
  return difference;
}
