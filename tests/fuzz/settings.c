/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Properties as someone may set them: an input is lines of name=value, as on a
 * gst-launch-1.0 line. Together they make a plan, or there is a reason.
 */
#include "gst/cudapreproc.h"
#include "gst/settings/settings.h"

#include "gstinput.h"

/* Larger tensors are not planned: they take long. */
#define MOST_PIXELS (1 << 12)

static GParamSpec *
find_property (const gchar *name)
{
  static GObjectClass *klass;
  GParamSpec *pspec;

  if (klass == NULL)
    klass = g_type_class_ref (GST_TYPE_CUDA_PREPROC);
  pspec = g_object_class_find_property (klass, name);
  /* the element's own: the first ids are the settings' */
  return pspec != NULL && pspec->owner_type == GST_TYPE_CUDA_PREPROC &&
          (pspec->flags & G_PARAM_WRITABLE) != 0
      ? pspec
      : NULL;
}

/* Parsed and validated, as g_object_set has it done. */
static void
set_property (GstPpSettings *settings, GParamSpec *pspec, const gchar *text)
{
  GValue value = G_VALUE_INIT, there = G_VALUE_INIT;
  gboolean good = TRUE;

  g_value_init (&value, pspec->value_type);
  g_value_init (&there, pspec->value_type);
  if (G_VALUE_HOLDS_STRING (&value))
    g_value_set_string (&value, text);
  else
    good = gst_value_deserialize (&value, text);
  if (good) {
    g_param_value_validate (pspec, &value);
    gst_pp_settings_set (settings, pspec->param_id, &value);
    gst_pp_settings_get (settings, pspec->param_id, &there);
    /* An empty text unsets; NaN is not equal to itself. */
    MUST (*text == '\0' || G_VALUE_HOLDS_DOUBLE (&value) ||
            g_param_values_cmp (pspec, &value, &there) == 0,
        "%s is not what was set", pspec->name);
  }
  g_value_unset (&value);
  g_value_unset (&there);
}

static void
take_settings (input *in, GstPpSettings *settings)
{
  while (in->size > 0) {
    g_autofree gchar *line = take_line (in);
    gchar *text = strchr (line, '=');

    if (text == NULL)
      continue;
    *text++ = '\0';
    GParamSpec *pspec = find_property (line);
    if (pspec != NULL)
      set_property (settings, pspec, text);
  }
}

/* The tensor where caps leave everything open. */
static GstPpTensor
tensor_of (const GstPpTensorConstraints *constraints)
{
  const GstPpTensor tensor = {
    .width = constraints->width > 0 ? constraints->width : 8,
    .height = constraints->height > 0 ? constraints->height : 8,
    .channels = constraints->channels >= 0
        ? pp_channels_count ((pp_channels) constraints->channels)
        : 3,
    .layout = constraints->layout >= 0 ? (pp_layout) constraints->layout
                                       : PP_LAYOUT_NCHW,
    .type =
        constraints->type >= 0 ? (pp_type) constraints->type : PP_TYPE_FLOAT32,
    .batch = MAX (constraints->batch, 1),
  };

  return tensor;
}

static void
check_plan (const pp_spec *spec, const pp_rect *picture)
{
  pp_format format = { .model = PP_MODEL_GRAY,
    .width = 64,
    .height = 48,
    .par_n = 1,
    .par_d = 1,
    .n_components = 1,
    .sample_bytes = 1,
    .component = { { .pixel_stride = 1, .depth = 8 } },
    .scale = { 255 } };
  pp_error error = { PP_OK, "" };
  pp_plan *plan = pp_plan_new (spec, &format, picture, &error);

  MUST (plan != NULL || error.text[0] != '\0', "no reason");
  pp_plan_unref (&plan);
}

static void
check_settings (const GstPpSettings *settings)
{
  const GstPpTensorConstraints constraints =
      gst_pp_settings_tensor_constraints (settings);
  const GstPpTensor tensor = tensor_of (&constraints);
  const pp_device_options options = gst_pp_settings_device_options (settings);
  pp_rect picture = { 0, 0, 64, 48 };
  pp_spec spec;
  gchar *reason = NULL;

  if (!gst_pp_settings_check (settings, &reason)) {
    must_be_reason (reason);
    return;
  }
  MUST (options.streams >= 0 && options.streams <= PP_MAX_STREAMS &&
          options.staging_threads >= 0 &&
          options.staging_threads <= PP_MAX_STAGING_THREADS,
      "%d streams, %d threads", options.streams, options.staging_threads);
  MUST (constraints.batch >= 0 && tensor.batch <= GST_PP_MAX_BATCH,
      "a batch of %d", constraints.batch);
  if (!gst_pp_settings_to_spec (settings, &tensor, &spec, &reason)) {
    must_be_reason (reason);
    return;
  }
  if (!gst_pp_settings_crop (settings, &picture)) {
    MUST (picture.width == 64 && picture.height == 48, "a crop of nothing");
    must_be_reason (gst_pp_settings_say_crop (settings, &picture));
  }
  MUST (picture.x >= 0 && picture.y >= 0 && picture.width >= 1 &&
          picture.height >= 1 && picture.x + picture.width <= 64 &&
          picture.y + picture.height <= 48,
      "the picture is %dx%d at %d,%d", picture.width, picture.height, picture.x,
      picture.y);
  if (tensor.width * (gint64) tensor.height <= MOST_PIXELS)
    check_plan (&spec, &picture);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  GstPpSettings settings, resolved;

  gst_pp_settings_init (&settings);
  gst_pp_settings_init (&resolved);
  take_settings (&in, &settings);
  gst_pp_settings_resolve (&resolved, &settings);
  check_settings (&resolved);
  /* once more, over what is there, as while PLAYING */
  gst_pp_settings_copy_one (&settings, &resolved, "mean");
  MUST (!gst_pp_settings_copy_one (&settings, &resolved, "mean") &&
          !gst_pp_settings_copy_one (&settings, &resolved, "name"),
      "mean changed twice, or name is a property");
  gst_pp_settings_refresh (&resolved, &settings);
  check_settings (&resolved);
  gst_pp_settings_clear (&settings);
  gst_pp_settings_clear (&resolved);
  return 0;
}
