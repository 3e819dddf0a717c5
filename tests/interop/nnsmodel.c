/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A model for NNStreamer's tensor_filter that returns its input. Its shape and type
 * are what the property `custom` says: "float32,64:48:3:1". test_nnstreamer.py
 * builds it.
 */

#include <nnstreamer_plugin_api.h>
#include <string.h>
#include <tensor_filter_custom.h>

static void *
open_model (const GstTensorFilterProperties *properties)
{
  gchar **words = g_strsplit (properties->custom_properties, ",", 2);
  GstTensorsInfo *info = g_new (GstTensorsInfo, 1);

  gst_tensors_info_init (info);
  info->num_tensors = gst_tensors_info_parse_types_string (info, words[0]);
  gst_tensors_info_parse_dimensions_string (info, words[1]);
  g_strfreev (words);
  return info;
}

static void
close_model (void *model, const GstTensorFilterProperties *properties)
{
  (void) properties;
  gst_tensors_info_free (model);
  g_free (model);
}

static int
get_info (void *model, const GstTensorFilterProperties *properties,
    GstTensorsInfo *info)
{
  (void) properties;
  gst_tensors_info_copy (info, model);
  return 0;
}

static int
invoke (void *model, const GstTensorFilterProperties *properties,
    const GstTensorMemory *input, GstTensorMemory *output)
{
  (void) model;
  (void) properties;
  if (input[0].size != output[0].size)
    return -1;
  memcpy (output[0].data, input[0].data, input[0].size);
  return 0;
}

static NNStreamer_custom_class model_class = {
  .initfunc = open_model,
  .exitfunc = close_model,
  .getInputDim = get_info,
  .getOutputDim = get_info,
  .invoke = invoke,
};

/* NNStreamer looks for this name. */
NNStreamer_custom_class *NNStreamer_custom = &model_class;
