/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "elementspec.h"

#include "gst/cudapreproc.h"
#include "gst/settings/settings.h"

static gboolean
set_properties (GObject *element, const gchar *text, gchar **reason)
{
  g_auto (GStrv) pairs = NULL;

  if (!g_shell_parse_argv (text, NULL, &pairs, NULL)) {
    *reason = g_strdup_printf ("cannot read %s", text);
    return FALSE;
  }
  for (guint i = 0; pairs[i] != NULL; i++) {
    g_auto (GStrv) pair = g_strsplit (pairs[i], "=", 2);

    if (pair[1] == NULL ||
        g_object_class_find_property (G_OBJECT_GET_CLASS (element), pair[0]) ==
            NULL) {
      *reason = g_strdup_printf ("unknown setting %s", pairs[i]);
      return FALSE;
    }
    gst_util_set_object_arg (element, pair[0], pair[1]);
  }
  return TRUE;
}

/* Clear what it returns. */
static GstPpSettings
read_properties (GObject *element)
{
  GstPpSettings settings;
  guint n;
  g_autofree GParamSpec **all =
      g_object_class_list_properties (G_OBJECT_GET_CLASS (element), &n);

  gst_pp_settings_init (&settings);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    if (all[i]->owner_type != GST_TYPE_CUDA_PREPROC ||
        (all[i]->flags & G_PARAM_WRITABLE) == 0)
      continue;
    g_object_get_property (element, all[i]->name, &value);
    gst_pp_settings_set (&settings, all[i]->param_id, &value);
    g_value_unset (&value);
  }
  return settings;
}

/* As where downstream takes anything. */
static GstPpTensor
make_tensor (const GstPpSettings *settings)
{
  const GstPpTensor tensor = {
    .width = settings->width,
    .height = settings->height,
    .channels = settings->channels == PP_CHANNELS_GRAY ? 1 : PP_MAX_CHANNELS,
    .layout = settings->layout == GST_PP_AUTO ? PP_LAYOUT_NCHW
                                              : (pp_layout) settings->layout,
    .type = settings->type == GST_PP_AUTO ? PP_TYPE_FLOAT32
                                          : (pp_type) settings->type,
  };

  return tensor;
}

gboolean
test_spec_from_properties (const gchar *text, pp_spec *spec, gchar **reason)
{
  GObject *element =
      g_object_ref_sink (g_object_new (GST_TYPE_CUDA_PREPROC, NULL));
  gboolean right = set_properties (element, text, reason);
  GstPpSettings settings = read_properties (element);
  const GstPpTensor tensor = make_tensor (&settings);

  right = right && gst_pp_settings_to_spec (&settings, &tensor, spec, reason);
  gst_pp_settings_clear (&settings);
  g_object_unref (element);
  return right;
}
