/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tensorcaps.h"

#include "dimensions.h"
#include "framerate.h"
#include "videocaps.h"
#include "gst/settings/enums.h"

/* A kind of structure that the src pad's caps may have. */
typedef struct {
  const gchar *name;
  /* Pictures of a tensor with structure's caps; 0: it leaves that open. NULL:
   * always 1. */
  gint (*count_pictures) (const GstStructure *structure);
  /* Reads what structure says into *tensor, and leaves the rest of it as it is.
   * *shape is the text in structure that says the size, NULL if there is none.
   * FALSE and *reason if a field cannot be met. */
  gboolean (*read) (const GstStructure *structure,
      const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
      const gchar **shape, gchar **reason);
  /* Writes what read reads, and what else follows from frames with the caps
   * video. */
  void (*write) (GstStructure *structure, const GstPpTensor *tensor,
      const gchar *shape, const GstPpTensorConstraints *constraints,
      const GstCaps *video);
} Kind;

/* other/tensors */

static const gchar *
type_name (gint type)
{
  return gst_pp_enum_nick (gst_pp_types, type);
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

static gint
count_pictures (const GstStructure *structure)
{
  const GValue *shape = gst_structure_get_value (structure, "dimensions");

  if (shape == NULL || !G_VALUE_HOLDS_STRING (shape))
    return 0;
  return gst_pp_dimensions_batch (g_value_get_string (shape));
}

static gboolean
read_tensors (const GstStructure *structure,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    const gchar **shape, gchar **reason)
{
  const GValue *types = gst_structure_get_value (structure, "types");
  const GValue *dimensions = gst_structure_get_value (structure, "dimensions");

  *shape = NULL;
  if (types != NULL &&
      read_field (types, "types", read_type, constraints, tensor, reason) ==
          NULL)
    return FALSE;
  if (dimensions == NULL)
    return TRUE;
  *shape = read_field (dimensions, "dimensions", gst_pp_dimensions_read,
      constraints, tensor, reason);
  return *shape != NULL;
}

/* In downstream's spelling, which may have more or fewer trailing ones. */
static void
write_tensors (GstStructure *structure, const GstPpTensor *tensor,
    const gchar *shape, const GstPpTensorConstraints *constraints,
    const GstCaps *video)
{
  g_autofree gchar *dimensions =
      shape != NULL ? g_strdup (shape) : gst_pp_dimensions_spell (tensor);

  gst_structure_set (structure, "types", G_TYPE_STRING,
      type_name ((gint) tensor->type), "dimensions", G_TYPE_STRING, dimensions,
      NULL);
}

/* video/x-raw */

static void
write_video (GstStructure *structure, const GstPpTensor *tensor,
    const gchar *shape, const GstPpTensorConstraints *constraints,
    const GstCaps *video)
{
  gst_pp_video_caps_write (structure, tensor, constraints, video);
}

/* the table */

static const Kind kinds[] = {
  { "other/tensors", count_pictures, read_tensors, write_tensors },
  { "video/x-raw", NULL, gst_pp_video_caps_read, write_video },
};

/* NULL: it is none of the src pad's. */
static const Kind *
find_kind (const GstStructure *structure)
{
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (gst_structure_has_name (structure, kinds[i].name))
      return &kinds[i];
  return NULL;
}

/* caps of the other pad */

/* video's framerate divided by the number of pictures: what tensors have. */
static void
set_tensors_rate (GstStructure *tensors, const GstStructure *video,
    const GstPpTensorConstraints *constraints)
{
  const GValue *framerate = gst_structure_get_value (video, "framerate");
  const Kind *kind = find_kind (tensors);
  const gint batch =
      kind == NULL || kind->count_pictures == NULL ? 1 : constraints->batch;
  GValue scaled = G_VALUE_INIT;

  if (constraints->no_rate) {
    gst_structure_set (tensors, "framerate", GST_TYPE_FRACTION, 0, 1, NULL);
    return;
  }
  /* Else what downstream takes decides about the number. */
  if (batch > 0 && framerate != NULL &&
      gst_pp_framerate_scale (&scaled, framerate, 1, batch)) {
    gst_pp_framerate_restrict (tensors, &scaled);
    g_value_unset (&scaled);
  }
}

/* The other way. */
static void
set_video_rate (GstStructure *video, const GstStructure *tensors,
    const GstPpTensorConstraints *constraints)
{
  const Kind *kind = find_kind (tensors);
  const GValue *framerate = gst_structure_get_value (tensors, "framerate");
  gint batch = 1;

  if (kind != NULL && kind->count_pictures != NULL)
    batch = constraints->batch > 0 ? constraints->batch
                                   : kind->count_pictures (tensors);
  GValue scaled = G_VALUE_INIT;

  if (framerate != NULL && !constraints->no_rate &&
      !gst_pp_framerate_is_open (framerate) &&
      gst_pp_framerate_scale (&scaled, framerate, MAX (batch, 1), 1)) {
    gst_pp_framerate_restrict (video, &scaled);
    g_value_unset (&scaled);
  }
}

GstCaps *
gst_pp_tensor_caps_transform (const GstCaps *caps, GstPadDirection direction,
    const GstPpTensorConstraints *constraints, const GstCaps *other_template,
    GstCaps *filter)
{
  GstCaps *result = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GstStructure *from = gst_caps_get_structure (caps, i);
    GstCaps *other = gst_caps_copy (other_template);

    for (guint o = 0; o < gst_caps_get_size (other); o++)
      if (direction == GST_PAD_SINK)
        set_tensors_rate (gst_caps_get_structure (other, o), from, constraints);
      else
        set_video_rate (gst_caps_get_structure (other, o), from, constraints);
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

/* choosing */

gsize
gst_pp_tensor_size (const GstPpTensor *tensor)
{
  if (tensor->format != GST_VIDEO_FORMAT_UNKNOWN)
    return gst_pp_video_surface (tensor).size;
  return (gsize) tensor->width * (gsize) tensor->height *
      (gsize) tensor->channels * (gsize) tensor->batch *
      pp_type_size (tensor->type);
}

static void
fill_open (GstPpTensor *tensor, const GstPpTensorConstraints *constraints,
    const GstStructure *video)
{
  gint width = 0, height = 0;

  if (video != NULL) {
    gst_structure_get_int (
        video, "width", constraints->swapped ? &height : &width);
    gst_structure_get_int (
        video, "height", constraints->swapped ? &width : &height);
  }
  tensor->width = constraints->width > 0 ? constraints->width : width;
  tensor->height = constraints->height > 0 ? constraints->height : height;
  tensor->channels = constraints->channels >= 0
      ? pp_channels_count ((pp_channels) constraints->channels)
      : 3;
  tensor->layout = constraints->layout >= 0 ? (pp_layout) constraints->layout
                                            : PP_LAYOUT_NCHW;
  tensor->type =
      constraints->type >= 0 ? (pp_type) constraints->type : PP_TYPE_FLOAT32;
  tensor->batch = constraints->batch > 0 ? constraints->batch
                                         : MAX (constraints->usual_batch, 1);
  tensor->format = GST_VIDEO_FORMAT_UNKNOWN;
}

static gchar *
say_rate (const GValue *possible, const GValue *framerate, const GValue *scaled,
    gint batch)
{
  g_autofree gchar *wanted = gst_value_serialize (possible);
  g_autofree gchar *frames = gst_value_serialize (framerate);
  g_autofree gchar *tensors = gst_value_serialize (scaled);

  if (batch == 1)
    return g_strdup_printf (
        "framerate=%s, but frames come at %s", wanted, frames);
  return g_strdup_printf ("framerate=%s, but frames come at %s, and batches of "
                          "%d of them at %s",
      wanted, frames, batch, tensors);
}

/* Sets the framerate of chosen to that of the video, divided by the number of
 * pictures; where the video has none, to the lowest. FALSE and *reason if
 * chosen cannot have it. */
static gboolean
choose_rate (GstStructure *chosen, const GstStructure *video,
    const GstPpTensor *tensor, gboolean no_rate, gchar **reason)
{
  const GValue *framerate =
      video != NULL ? gst_structure_get_value (video, "framerate") : NULL;
  const GValue *possible = gst_structure_get_value (chosen, "framerate");
  GValue scaled = G_VALUE_INIT;

  if (no_rate || framerate == NULL || !GST_VALUE_HOLDS_FRACTION (framerate) ||
      gst_value_get_fraction_numerator (framerate) < 0 ||
      !gst_pp_framerate_scale (&scaled, framerate, 1, tensor->batch)) {
    gst_structure_fixate_field_nearest_fraction (chosen, "framerate", 0, 1);
    return TRUE;
  }
  const gboolean met =
      possible == NULL || gst_value_intersect (NULL, possible, &scaled);
  if (!met)
    *reason = say_rate (possible, framerate, &scaled, tensor->batch);
  else if (possible != NULL)
    gst_structure_set_value (chosen, "framerate", &scaled);
  g_value_unset (&scaled);
  return met;
}

/* Candidate i with the first choice that agrees with constraints, and all other
 * fields fixed. NULL if there is none; *reason then says why, unless it is a field
 * that cannot be fixed, such as an empty list. */
static GstCaps *
fix_candidate (const GstCaps *candidates, guint i,
    const GstPpTensorConstraints *constraints, const GstCaps *sink_caps,
    gchar **reason)
{
  const GstStructure *video =
      sink_caps != NULL ? gst_caps_get_structure (sink_caps, 0) : NULL;
  const GstStructure *candidate = gst_caps_get_structure (candidates, i);
  const Kind *kind = find_kind (candidate);
  const gchar *shape;
  GstPpTensor tensor;

  fill_open (&tensor, constraints, video);
  if (kind == NULL ||
      !kind->read (candidate, constraints, &tensor, &shape, reason))
    return NULL;
  if (video == NULL && (tensor.width == 0 || tensor.height == 0)) {
    *reason = g_strdup_printf (
        "any size, but width=%d, height=%d leave it open: set both, since "
        "batches take it from no frame",
        tensor.width, tensor.height);
    return NULL;
  }
  GstStructure *chosen = gst_structure_copy (candidate);
  kind->write (chosen, &tensor, shape, constraints, sink_caps);
  if (!choose_rate (chosen, video, &tensor, constraints->no_rate, reason)) {
    gst_structure_free (chosen);
    return NULL;
  }
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
  for (guint i = 0; i < gst_caps_get_size (candidates); i++) {
    g_autofree gchar *why = NULL;
    GstCaps *caps = fix_candidate (candidates, i, constraints, sink_caps, &why);

    if (caps != NULL) {
      g_clear_pointer (reason, g_free);
      return caps;
    }
    if (*reason == NULL)
      *reason = g_steal_pointer (&why);
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
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const Kind *kind = find_kind (structure);
  const gchar *shape = NULL;

  tensor->format = GST_VIDEO_FORMAT_UNKNOWN;
  if (kind != NULL &&
      !kind->read (structure, constraints, tensor, &shape, reason))
    return FALSE;
  if (shape == NULL) {
    *reason = g_strdup ("no dimensions");
    return FALSE;
  }
  return TRUE;
}
