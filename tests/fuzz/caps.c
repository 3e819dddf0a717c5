/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps that others write. An input is what the user set, a line of caps of
 * tensors and a line of caps of video: what comes of them is possible, or there
 * is a reason.
 */
#include "gst/caps/inputformat.h"
#include "gst/caps/tensorcaps.h"

#include "gstinput.h"

static GstPpTensorConstraints
take_constraints (input *in)
{
  static const gint channels[] = { -1, PP_CHANNELS_GRAY, PP_CHANNELS_BGR };
  GstPpTensorConstraints constraints = { 0 };

  constraints.width = take_byte (in);
  constraints.height = take_byte (in);
  constraints.channels = channels[take_index (in, 3)];
  constraints.layout = take_index (in, PP_LAYOUT_NHWC + 2) - 1;
  constraints.type = take_index (in, PP_TYPE_INT8 + 2) - 1;
  constraints.batch = take_index (in, 6);
  constraints.fit = take_index (in, PP_N_FITS);
  constraints.ignore_pixel_aspect_ratio = take_bool (in);
  /* The corpus has no byte for it: both values come in any case. */
  constraints.cuda_frames = constraints.cuda_tensors =
      constraints.ignore_pixel_aspect_ratio;
  if (take_bool (in))
    constraints.crop =
        (pp_rect){ take_int (in), take_int (in), take_int (in), take_int (in) };
  return constraints;
}

/* Caps of a line that fit the template, as the base class takes them. One
 * structure at a time: where an intersection has several, GStreamer 1.22 asks
 * whether one holds the other, and crashes on lists of flag sets, as 8:8:5 is. */
static GstCaps *
take_caps (input *in, const gchar *template)
{
  g_autofree gchar *line = take_line (in);
  GstCaps *caps = parse_caps (line);
  GstCaps *all = gst_caps_new_empty ();

  if (caps == NULL)
    return all;

  GstCaps *ours = gst_caps_from_string (template);
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);
    gst_caps_append (all, gst_caps_intersect (one, ours));
    gst_caps_unref (one);
  }
  gst_caps_unref (caps);
  gst_caps_unref (ours);
  return all;
}

static void
check_tensor (
    const GstPpTensor *tensor, const GstPpTensorConstraints *constraints)
{
  MUST (tensor->width >= 1 && tensor->width <= PP_MAX_SIZE &&
          tensor->height >= 1 && tensor->height <= PP_MAX_SIZE &&
          (tensor->channels == 1 || tensor->channels == 3),
      "%dx%d with %d channels", tensor->width, tensor->height,
      tensor->channels);
  MUST (tensor->batch >= 1 && tensor->batch <= GST_PP_MAX_BATCH &&
          (constraints->batch == 0 || constraints->batch == tensor->batch),
      "a batch of %d, %d is set", tensor->batch, constraints->batch);
  MUST (tensor->format == GST_VIDEO_FORMAT_UNKNOWN ||
          (tensor->type == PP_TYPE_UINT8 && tensor->batch == 1 &&
              gst_pp_tensor_size (tensor) >=
                  (gsize) tensor->width * (gsize) tensor->height),
      "video of type %d, %d pictures", (gint) tensor->type, tensor->batch);
  MUST ((constraints->width == 0 || constraints->width == tensor->width) &&
          (constraints->height == 0 || constraints->height == tensor->height) &&
          (constraints->channels < 0 ||
              pp_channels_count ((pp_channels) constraints->channels) ==
                  tensor->channels) &&
          (constraints->layout < 0 ||
              tensor->format != GST_VIDEO_FORMAT_UNKNOWN ||
              constraints->layout == (gint) tensor->layout) &&
          (constraints->type < 0 || constraints->type == (gint) tensor->type),
      "%dx%d with %d channels is not what was set", tensor->width,
      tensor->height, tensor->channels);
}

/* FALSE where there is a reason. */
static gboolean
read_tensor (const GstCaps *caps, const GstPpTensorConstraints *constraints)
{
  GstPpTensor tensor = { 0 };
  gchar *reason = NULL;

  if (gst_pp_tensor_from_caps (caps, constraints, &tensor, &reason)) {
    MUST (reason == NULL, "read, but %s", reason);
    check_tensor (&tensor, constraints);
    return TRUE;
  }
  must_be_reason (reason);
  return FALSE;
}

static void
check_fixate (const GstCaps *tensors, const GstPpTensorConstraints *constraints,
    const GstCaps *video)
{
  gchar *reason = NULL;
  GstCaps *fixed =
      gst_pp_tensor_caps_fixate (tensors, constraints, video, &reason);

  if (fixed == NULL) {
    must_be_reason (reason);
    return;
  }
  MUST (reason == NULL, "chosen, but %s", reason);
  MUST (gst_caps_is_fixed (fixed), "not fixed");
  MUST (gst_caps_can_intersect (fixed, tensors), "not one of those offered");
  MUST (read_tensor (fixed, constraints), "it does not read what it chose");
  gst_caps_unref (fixed);
}

static void
check_transform (const GstCaps *caps, GstPadDirection direction,
    const GstPpTensorConstraints *constraints, const gchar *template)
{
  GstCaps *other = gst_caps_from_string (template);
  GstCaps *result =
      gst_pp_tensor_caps_transform (caps, direction, constraints, other, NULL);

  MUST (gst_caps_is_empty (result) == gst_caps_is_empty (caps),
      "something of nothing, or the other way");
  /* gst_caps_is_subset says no of ranges that overlap and together are the
   * template's. */
  GstCaps *more = gst_caps_subtract (result, other);
  MUST (gst_caps_is_empty (more), "more than the template");
  gst_caps_unref (more);
  gst_caps_unref (result);
  gst_caps_unref (other);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  const GstPpTensorConstraints constraints = take_constraints (&in);
  GstCaps *tensors = take_caps (&in, GST_PP_OUTPUT_CAPS);
  GstCaps *video = take_caps (&in, GST_PP_INPUT_CAPS);

  check_transform (tensors, GST_PAD_SRC, &constraints, GST_PP_INPUT_CAPS);
  check_transform (video, GST_PAD_SINK, &constraints, GST_PP_OUTPUT_CAPS);
  if (!gst_caps_is_empty (video)) {
    video = gst_caps_fixate (video);
    if (!gst_caps_is_empty (tensors))
      check_fixate (tensors, &constraints, video);
  }
  if (!gst_caps_is_empty (tensors)) {
    tensors = gst_caps_fixate (tensors);
    read_tensor (tensors, &constraints);
  }
  gst_caps_unref (tensors);
  gst_caps_unref (video);
  return 0;
}
