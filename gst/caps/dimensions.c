/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "dimensions.h"

#include "gst/settings/enums.h"
#include "gst/settings/presets.h"

/* The most dimensions that NNStreamer gives a tensor. */
#define MAX_RANK 16

/* Where the number of pictures is in the dimensions, innermost first, and where
 * width, height and channels are. */
#define BATCH 3
static const struct {
  gint width, height, channels;
} layouts[] = {
  [PP_LAYOUT_NCHW] = { 0, 1, 2 },
  [PP_LAYOUT_NHWC] = { 1, 2, 0 },
};
G_STATIC_ASSERT (G_N_ELEMENTS (layouts) == PP_N_LAYOUTS);

static const gchar *
layout_name (gint layout)
{
  return gst_pp_enum_nick (gst_pp_layouts, layout);
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

gchar *
gst_pp_dimensions_say_channels (const GstPpTensorConstraints *constraints)
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
    *reason = gst_pp_dimensions_say_channels (constraints);
  else if (constraints->batch > 0 && constraints->batch != dimensions[BATCH])
    *reason = g_strdup_printf ("batch-size=%d is set", constraints->batch);
  if (*reason != NULL)
    return FALSE;

  tensor->layout = layout;
  tensor->width = (gint) width;
  tensor->height = (gint) height;
  tensor->channels = (gint) channels;
  tensor->batch = (gint) dimensions[BATCH];
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

/* The error for more pictures or dimensions than a tensor can have, or NULL. */
static gchar *
say_too_many (const gint64 dimensions[MAX_RANK], pp_layout layout)
{
  for (gint i = BATCH + 1; i < MAX_RANK; i++)
    if (dimensions[i] != 1)
      return g_strdup_printf (
          "all dimensions behind the fourth must be 1, and the %dth is "
          "%" G_GINT64_FORMAT,
          i + 1, dimensions[i]);
  if (dimensions[BATCH] > GST_PP_MAX_BATCH)
    return g_strdup_printf (
        "that is a batch of %" G_GINT64_FORMAT " pictures of %" G_GINT64_FORMAT
        "x%" G_GINT64_FORMAT " with %" G_GINT64_FORMAT
        " channels as %s, and a batch must be of at most %d",
        dimensions[BATCH], dimensions[layouts[layout].width],
        dimensions[layouts[layout].height],
        dimensions[layouts[layout].channels], layout_name ((gint) layout),
        GST_PP_MAX_BATCH);
  return NULL;
}

/* What an error about text says if its sizes make sense in the other order, which is
 * that of PyTorch, NumPy and ONNX; else "". Free it. */
static gchar *
suggest_order (const gchar *text, const GstPpTensorConstraints *constraints)
{
  g_auto (GStrv) sizes = g_strsplit (text, ":", -1);
  const guint rank = g_strv_length (sizes);
  gint64 dimensions[MAX_RANK];
  GstPpTensor tensor;
  gboolean read = FALSE;

  for (guint i = 0; i < rank / 2; i++) {
    gchar *size = sizes[i];
    sizes[i] = sizes[rank - 1 - i];
    sizes[rank - 1 - i] = size;
  }
  g_autofree gchar *reversed = g_strjoinv (":", sizes);
  if (parse_dimensions (reversed, dimensions))
    for (pp_layout layout = 0; layout < PP_N_LAYOUTS && !read; layout++) {
      g_autofree gchar *why = say_too_many (dimensions, layout);
      read = why == NULL &&
          read_as (layout, dimensions, constraints, &tensor, &why);
    }
  return read
      ? g_strdup_printf ("; the innermost comes first: dimensions=%s", reversed)
      : g_strdup ("");
}

gboolean
gst_pp_dimensions_read (const gchar *text,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason)
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
  why[guess] = say_too_many (dimensions, guess);
  if (why[guess] == NULL) {
    read = read_as (first, dimensions, constraints, tensor, &why[first]);
    for (pp_layout layout = 0; layout < PP_N_LAYOUTS && !read; layout++)
      read = read_as (layout, dimensions, constraints, tensor, &why[layout]);
  }
  if (!read) {
    g_autofree gchar *order = suggest_order (text, constraints);
    *reason =
        g_strdup_printf ("dimensions=%s, but %s%s", text, why[guess], order);
  }
  for (guint i = 0; i < PP_N_LAYOUTS; i++)
    g_free (why[i]);
  return read;
}

gchar *
gst_pp_dimensions_spell (const GstPpTensor *tensor)
{
  gint dimensions[3];

  dimensions[layouts[tensor->layout].width] = tensor->width;
  dimensions[layouts[tensor->layout].height] = tensor->height;
  dimensions[layouts[tensor->layout].channels] = tensor->channels;
  return g_strdup_printf ("%d:%d:%d:%d", dimensions[0], dimensions[1],
      dimensions[2], tensor->batch);
}

gint
gst_pp_dimensions_batch (const gchar *text)
{
  gint64 dimensions[MAX_RANK];

  if (!parse_dimensions (text, dimensions))
    return 0;
  return (gint) MIN (dimensions[BATCH], G_MAXINT);
}
