/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tensorcaps.h"

#include "gst/settings/enums.h"
#include "gst/settings/presets.h"

/* The most dimensions that NNStreamer gives a tensor. */
#define MAX_RANK 16

/* Where width, height and channels are in the dimensions, innermost first. */
static const struct {
  gint width, height, channels;
} layouts[] = {
  [PP_LAYOUT_NCHW] = { 0, 1, 2 },
  [PP_LAYOUT_NHWC] = { 1, 2, 0 },
};
G_STATIC_ASSERT (G_N_ELEMENTS (layouts) == PP_N_LAYOUTS);

static const gchar *
type_name (gint type)
{
  return gst_pp_enum_nick (gst_pp_types, type);
}

static const gchar *
layout_name (gint layout)
{
  return gst_pp_enum_nick (gst_pp_layouts, layout);
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

/* Whether tensor caps with this framerate take any video. Tensor caps always have a
 * framerate, but video caps may have none. So "any framerate" and 0/1, which means
 * unknown, must not become a field of the video's caps. */
static gboolean
is_open_framerate (const GValue *value)
{
  return is_any_framerate (value) ||
      (GST_VALUE_HOLDS_FRACTION (value) &&
          gst_value_get_fraction_numerator (value) == 0);
}

/* Sets the framerate of caps. If they have one already, it becomes what both
 * allow; if the two have nothing in common, it stays. It also stays if
 * framerate is of another type, such as text, which GstVideoInfo ignores. */
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

  /* A source that can choose takes the first structure. So caps for upstream
   * are in our order of preference, not in that of its filter. */
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
  g_autofree gchar *text = g_strdup_printf ("channels=%s is set",
      gst_pp_enum_nick (gst_pp_channels, constraints->channels));

  return gst_pp_preset_blame (constraints->preset, text);
}

/* The channels that constraints require; 0: any number. */
static gint
count_channels (const GstPpTensorConstraints *constraints)
{
  return constraints->channels >= 0
      ? pp_channels_count ((pp_channels) constraints->channels)
      : 0;
}

/* Reads the dimensions as one layout. FALSE and *reason if the element cannot
 * make that tensor, or if it contradicts constraints. */
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
    *reason = g_strdup_printf ("that is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                               " with %" G_GINT64_FORMAT
                               " channels as %s, and channels must be 1 or 3",
        width, height, channels, layout_name ((gint) layout));
  else if (width > PP_MAX_SIZE || height > PP_MAX_SIZE)
    *reason = g_strdup_printf ("that is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                               " as %s, and sizes must be at most %d",
        width, height, layout_name ((gint) layout), PP_MAX_SIZE);
  else if (constraints->layout >= 0 && constraints->layout != (gint) layout)
    *reason =
        g_strdup_printf ("layout=%s is set", layout_name (constraints->layout));
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

/* The layout that an error about dimensions names: one in which they have 1 or 3
 * channels, else the one in which they have fewer. */
static pp_layout
guess_layout (const gint64 dimensions[MAX_RANK], pp_layout preferred)
{
  pp_layout guess = preferred;

  for (pp_layout layout = 0; layout < PP_N_LAYOUTS; layout++)
    if (!has_channels (guess, dimensions) &&
        (has_channels (layout, dimensions) ||
            dimensions[layouts[layout].channels] <
                dimensions[layouts[guess].channels]))
      guess = layout;
  return guess;
}

/* The error for a batch; NULL: the dimensions are those of one picture. */
static gchar *
say_batch (const gint64 dimensions[MAX_RANK], pp_layout layout)
{
  for (gint i = 3; i < MAX_RANK; i++)
    if (dimensions[i] != 1)
      return g_strdup_printf (
          "that is a batch of %" G_GINT64_FORMAT
          " pictures of %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
          " with %" G_GINT64_FORMAT
          " channels as %s, and only a batch of 1 is possible",
          dimensions[i], dimensions[layouts[layout].width],
          dimensions[layouts[layout].height],
          dimensions[layouts[layout].channels], layout_name ((gint) layout));
  return NULL;
}

static gboolean
read_dimensions (const gchar *text, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  const pp_layout first = constraints->layout >= 0
      ? (pp_layout) constraints->layout
      : PP_LAYOUT_NCHW;
  gint64 dimensions[MAX_RANK];
  gchar *why[PP_N_LAYOUTS] = { NULL };

  if (!parse_dimensions (text, dimensions)) {
    *reason = g_strdup_printf (
        "dimensions=%s, but that is not a list of sizes", text);
    return FALSE;
  }

  const pp_layout guess = guess_layout (dimensions, first);
  gboolean read = FALSE;
  why[guess] = say_batch (dimensions, guess);
  if (why[guess] == NULL) {
    read = read_as (first, dimensions, constraints, tensor, &why[first]);
    for (pp_layout layout = 0; layout < PP_N_LAYOUTS && !read; layout++)
      read = read_as (layout, dimensions, constraints, tensor, &why[layout]);
  }
  if (!read)
    *reason = g_strdup_printf ("dimensions=%s, but %s", text, why[guess]);
  for (guint i = 0; i < PP_N_LAYOUTS; i++)
    g_free (why[i]);
  return read;
}

static gboolean
read_type (const gchar *text, const GstPpTensorConstraints *constraints,
    GstPpTensor *tensor, gchar **reason)
{
  gint type = GST_PP_AUTO;

  if (!gst_pp_enum_from_nick (gst_pp_types, text, &type) ||
      type == GST_PP_AUTO) {
    *reason = g_strdup_printf ("types=%s, but there are no such tensors", text);
    return FALSE;
  }
  if (constraints->type >= 0 && constraints->type != type) {
    *reason = g_strdup_printf (
        "types=%s, but type=%s is set", text, type_name (constraints->type));
    return FALSE;
  }
  tensor->type = (pp_type) type;
  return TRUE;
}

typedef gboolean (*ReadFunc) (const gchar *text,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason);

/* Reads the values of a field, a string or a list of strings, until one is good,
 * and returns that one. NULL and *reason for the first value if none is. */
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

/* Reads types and dimensions from structure into *tensor; what structure does not
 * have is left as it is. *dimensions is the text that dimensions were read from,
 * NULL if there is none. FALSE and *reason if a field cannot be met. */
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

  gst_structure_get_int (
      video, "width", constraints->swapped ? &height : &width);
  gst_structure_get_int (
      video, "height", constraints->swapped ? &width : &height);
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

/* A copy of candidate i with types and dimensions of tensor and all other fields
 * fixed. spelling is the text to use for the dimensions, as the candidate has it;
 * NULL: it has none. Returns NULL if another field cannot be fixed, such as an
 * empty list. */
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
  gst_structure_set (chosen, "types", G_TYPE_STRING,
      type_name ((gint) tensor->type), "dimensions", G_TYPE_STRING, dimensions,
      NULL);
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
    *reason = g_strdup ("no dimensions");
    return FALSE;
  }
  return TRUE;
}
