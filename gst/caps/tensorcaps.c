/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tensorcaps.h"

#include "gst/settings/presets.h"

/* NNStreamer's names. */
static const gchar *const type_names[] = {
  [PP_TYPE_FLOAT32] = "float32",
  [PP_TYPE_FLOAT16] = "float16",
  [PP_TYPE_UINT8] = "uint8",
  [PP_TYPE_INT8] = "int8",
};

static const gchar *const channels_names[] = {
  [PP_CHANNELS_RGB] = "rgb",
  [PP_CHANNELS_BGR] = "bgr",
  [PP_CHANNELS_GRAY] = "gray",
};

/* NNStreamer's limit of dimensions a tensor. */
#define MAX_RANK 16

/* Where width, height and channels are in the dimensions, innermost first. */
static const struct {
  const gchar *name;
  gint width, height, channels;
} layouts[] = {
  [PP_LAYOUT_NCHW] = { "nchw", 0, 1, 2 },
  [PP_LAYOUT_NHWC] = { "nhwc", 1, 2, 0 },
};

const gchar *
gst_pp_type_name (pp_type type)
{
  return type_names[type];
}

static gboolean
is_any_framerate (const GValue *value)
{
  static const gint full[] = { 0, 1, G_MAXINT, 1 };

  if (!GST_VALUE_HOLDS_FRACTION_RANGE (value))
    return FALSE;
  const GValue *min = gst_value_get_fraction_range_min (value);
  const GValue *max = gst_value_get_fraction_range_max (value);
  return gst_value_get_fraction_numerator (min) == full[0] &&
      gst_value_get_fraction_denominator (min) == full[1] &&
      gst_value_get_fraction_numerator (max) == full[2] &&
      gst_value_get_fraction_denominator (max) == full[3];
}

/* Video caps need no framerate, tensor caps do: one that says nothing (any, or
 * 0/1 for none) must not be asked of the video. */
static gboolean
is_open_framerate (const GValue *value)
{
  return is_any_framerate (value) ||
      (GST_VALUE_HOLDS_FRACTION (value) &&
          gst_value_get_fraction_numerator (value) == 0);
}

/* What caps has of the other's framerate. One that is none, text for one, is as
 * if it were not there: so does GstVideoInfo take it. */
static void
keep_framerate (GstCaps *caps, const GValue *framerate)
{
  const GValue *possible =
      gst_structure_get_value (gst_caps_get_structure (caps, 0), "framerate");
  GValue common = G_VALUE_INIT;

  if (possible == NULL) {
    gst_caps_set_value (caps, "framerate", framerate);
  } else if (gst_value_intersect (&common, framerate, possible)) {
    gst_caps_set_value (caps, "framerate", &common);
    g_value_unset (&common);
  }
}

GstCaps *
gst_pp_tensor_caps_transform (const GstCaps *caps, GstPadDirection direction,
    const GstCaps *other_template, GstCaps *filter)
{
  GstCaps *result = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *framerate =
        gst_structure_get_value (gst_caps_get_structure (caps, i), "framerate");
    GstCaps *other = gst_caps_copy (other_template);

    if (framerate != NULL &&
        (direction == GST_PAD_SINK || !is_open_framerate (framerate)))
      keep_framerate (other, framerate);
    result = gst_caps_merge (result, other);
  }
  if (filter == NULL)
    return result;

  /* A source that is free to choose takes the first: ours, not its own. */
  const gboolean ours = direction == GST_PAD_SRC;
  GstCaps *filtered = gst_caps_intersect_full (
      ours ? result : filter, ours ? filter : result, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (result);
  return filtered;
}

/* Parses W:H:C..., each 1 or more, and pads with ones. */
static gboolean
parse_dimensions (const gchar *text, gint64 dimensions[MAX_RANK])
{
  for (gint i = 0; i < MAX_RANK; i++) {
    gchar *end = NULL;

    dimensions[i] = 1;
    if (text == NULL)
      continue;
    if (!g_ascii_isdigit (*text))
      return FALSE;
    dimensions[i] = g_ascii_strtoll (text, &end, 10);
    if (dimensions[i] < 1 || (*end != ':' && *end != '\0'))
      return FALSE;
    text = *end == ':' ? end + 1 : NULL;
  }
  return text == NULL;
}

static gboolean
has_channels (pp_layout layout, const gint64 dimensions[MAX_RANK])
{
  const gint64 channels = dimensions[layouts[layout].channels];

  return channels == 1 || channels == 3;
}

static gchar *
say_channels (const GstPpTensorConstraints *constraints)
{
  g_autofree gchar *text = g_strdup_printf (
      "channels=%s is set", channels_names[constraints->channels]);

  return gst_pp_preset_blame (constraints->preset, text);
}

/* Of what constraints asks for; 0: any number. */
static gint
count_channels (const GstPpTensorConstraints *constraints)
{
  return constraints->channels >= 0
      ? pp_channels_count ((pp_channels) constraints->channels)
      : 0;
}

/* One reading of the dimensions; FALSE and *reason when it is none or
 * contradicts constraints. */
static gboolean
read_as (pp_layout layout, const gint64 dimensions[MAX_RANK],
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason)
{
  const gint64 width = dimensions[layouts[layout].width];
  const gint64 height = dimensions[layouts[layout].height];
  const gint64 channels = dimensions[layouts[layout].channels];

  g_clear_pointer (reason, g_free);
  if (!has_channels (layout, dimensions))
    *reason = g_strdup_printf ("that is %" G_GINT64_FORMAT
                               " channels as %s, not 1 or 3",
        channels, layouts[layout].name);
  else if (width > PP_MAX_SIZE || height > PP_MAX_SIZE)
    *reason = g_strdup_printf ("that is larger than %d", PP_MAX_SIZE);
  else if (constraints->layout >= 0 && constraints->layout != (gint) layout)
    *reason =
        g_strdup_printf ("layout=%s is set", layouts[constraints->layout].name);
  else if (constraints->width > 0 && constraints->width != width)
    *reason = g_strdup_printf ("width=%d is set", constraints->width);
  else if (constraints->height > 0 && constraints->height != height)
    *reason = g_strdup_printf ("height=%d is set", constraints->height);
  else if (constraints->channels >= 0 &&
      count_channels (constraints) != channels)
    *reason = say_channels (constraints);
  if (*reason != NULL)
    return FALSE;

  tensor->layout = layout;
  tensor->width = (gint) width;
  tensor->height = (gint) height;
  tensor->channels = (gint) channels;
  return TRUE;
}

static gboolean
read_dimensions (const gchar *text, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  const pp_layout first = constraints->layout >= 0
      ? (pp_layout) constraints->layout
      : PP_LAYOUT_NCHW;
  const pp_layout second =
      first == PP_LAYOUT_NCHW ? PP_LAYOUT_NHWC : PP_LAYOUT_NCHW;
  gint64 dimensions[MAX_RANK];
  gchar *why = NULL, *why_second = NULL;
  gboolean read = FALSE;

  if (!parse_dimensions (text, dimensions))
    why = g_strdup ("that is not a list of sizes");
  for (gint i = 3; i < MAX_RANK && why == NULL; i++)
    if (dimensions[i] != 1)
      why = g_strdup_printf ("only a batch of 1 is possible");
  if (why == NULL)
    read = read_as (first, dimensions, constraints, tensor, &why) ||
        read_as (second, dimensions, constraints, tensor, &why_second);
  /* Of two readings that fail, the one that could have been meant. */
  if (!read)
    *reason = g_strdup_printf ("dimensions=%s, but %s", text,
        why_second != NULL && !has_channels (first, dimensions) &&
                has_channels (second, dimensions)
            ? why_second
            : why);
  g_free (why);
  g_free (why_second);
  return read;
}

static gboolean
read_type (const gchar *text, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  for (gint type = 0; type < (gint) G_N_ELEMENTS (type_names); type++) {
    if (g_strcmp0 (text, type_names[type]) != 0)
      continue;
    if (constraints->type >= 0 && constraints->type != type) {
      *reason = g_strdup_printf (
          "types=%s, but type=%s is set", text, type_names[constraints->type]);
      return FALSE;
    }
    tensor->type = (pp_type) type;
    return TRUE;
  }
  *reason = g_strdup_printf ("types=%s is not possible", text);
  return FALSE;
}

typedef gboolean (*ReadFunc) (const gchar *text,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason);

/* The first value of a field, a string or a list of strings, that agrees. */
static const gchar *
read_field (const GValue *value, const gchar *name, ReadFunc read,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason)
{
  const gboolean is_list = GST_VALUE_HOLDS_LIST (value);
  const guint size = is_list ? gst_value_list_get_size (value) : 1;

  for (guint i = 0; i < size; i++) {
    const GValue *item = is_list ? gst_value_list_get_value (value, i) : value;
    const gchar *text =
        G_VALUE_HOLDS_STRING (item) ? g_value_get_string (item) : NULL;
    g_autofree gchar *why = NULL;

    if (text != NULL && read (text, constraints, tensor, &why)) {
      g_clear_pointer (reason, g_free);
      return text;
    }
    if (*reason == NULL)
      *reason = g_steal_pointer (&why);
  }
  if (*reason == NULL)
    *reason = g_strdup_printf ("%s that are not text", name);
  return NULL;
}

/* Reads structure where it says something and fills *tensor where it does not;
 * *dimensions is its spelling, or NULL. */
static gboolean
read_structure (const GstStructure *structure,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    const gchar **dimensions, gchar **reason)
{
  const GValue *types = gst_structure_get_value (structure, "types");
  const GValue *shape = gst_structure_get_value (structure, "dimensions");

  *dimensions = NULL;
  if (types != NULL &&
      read_field (types, "types", read_type, constraints, tensor, reason) ==
          NULL)
    return FALSE;
  if (shape == NULL)
    return TRUE;
  *dimensions = read_field (
      shape, "dimensions", read_dimensions, constraints, tensor, reason);
  return *dimensions != NULL;
}

static void
fill_open (GstPpTensor *tensor, const GstPpTensorConstraints *constraints,
    const GstStructure *video)
{
  gint width = 1, height = 1;

  gst_structure_get_int (video, "width", &width);
  gst_structure_get_int (video, "height", &height);
  tensor->width = constraints->width > 0 ? constraints->width : width;
  tensor->height = constraints->height > 0 ? constraints->height : height;
  tensor->channels =
      constraints->channels >= 0 ? count_channels (constraints) : 3;
  tensor->layout = constraints->layout >= 0 ? (pp_layout) constraints->layout
                                            : PP_LAYOUT_NCHW;
  tensor->type =
      constraints->type >= 0 ? (pp_type) constraints->type : PP_TYPE_FLOAT32;
}

static gchar *
spell_dimensions (const GstPpTensor *tensor)
{
  gint dimensions[3];

  dimensions[layouts[tensor->layout].width] = tensor->width;
  dimensions[layouts[tensor->layout].height] = tensor->height;
  dimensions[layouts[tensor->layout].channels] = tensor->channels;
  return g_strdup_printf (
      "%d:%d:%d:1", dimensions[0], dimensions[1], dimensions[2]);
}

/* The candidate with what it leaves open filled in; spelling: its own of the
 * dimensions, or NULL. NULL where a field of others cannot be fixed: an empty
 * list has no value to take. */
static GstCaps *
fill_candidate (const GstCaps *candidates, guint i, const GstPpTensor *tensor,
    const gchar *spelling, const GstStructure *video)
{
  GstStructure *chosen =
      gst_structure_copy (gst_caps_get_structure (candidates, i));
  g_autofree gchar *dimensions =
      spelling ? g_strdup (spelling) : spell_dimensions (tensor);
  gint fps_n = 0, fps_d = 1;

  gst_structure_get_fraction (video, "framerate", &fps_n, &fps_d);
  gst_structure_set (chosen, "types", G_TYPE_STRING, type_names[tensor->type],
      "dimensions", G_TYPE_STRING, dimensions, NULL);
  gst_structure_fixate_field_nearest_fraction (
      chosen, "framerate", fps_n, fps_d);
  GstCaps *caps = gst_caps_new_full (chosen, NULL);
  gst_caps_set_features (
      caps, 0, gst_caps_features_copy (gst_caps_get_features (candidates, i)));
  caps = gst_caps_fixate (caps);
  if (!gst_caps_is_fixed (caps))
    gst_clear_caps (&caps);
  return caps;
}

GstCaps *
gst_pp_tensor_caps_fixate (const GstCaps *candidates,
    const GstPpTensorConstraints *constraints, const GstCaps *sink_caps,
    gchar **reason)
{
  const GstStructure *video = gst_caps_get_structure (sink_caps, 0);

  for (guint i = 0; i < gst_caps_get_size (candidates); i++) {
    GstPpTensor tensor;
    const gchar *spelling;

    fill_open (&tensor, constraints, video);
    if (!read_structure (gst_caps_get_structure (candidates, i), constraints,
            &tensor, &spelling, reason))
      continue;
    GstCaps *caps = fill_candidate (candidates, i, &tensor, spelling, video);
    if (caps != NULL) {
      g_clear_pointer (reason, g_free);
      return caps;
    }
  }
  if (*reason == NULL)
    *reason = g_strdup ("nothing that this element can send");
  return NULL;
}

gboolean
gst_pp_tensor_from_caps (const GstCaps *caps,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason)
{
  const gchar *dimensions;

  if (!read_structure (gst_caps_get_structure (caps, 0), constraints, tensor,
          &dimensions, reason))
    return FALSE;
  if (dimensions == NULL) {
    *reason = g_strdup ("caps without dimensions");
    return FALSE;
  }
  return TRUE;
}
