/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps in <-> caps out, as pure functions.
 *
 * Tensor caps are NNStreamer's: other/tensors, format=static, num_tensors=1,
 * types and dimensions as strings, dimensions innermost first: W:H:C:1 for nchw,
 * C:W:H:1 for nhwc.
 */
#ifndef GST_PP_TENSOR_CAPS_H
#define GST_PP_TENSOR_CAPS_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

#define GST_PP_TENSOR_CAPS                                                     \
  "other/tensors, format = (string) static, num_tensors = (int) 1, "           \
  "types = (string) { float32, float16, uint8, int8 }, "                       \
  "framerate = (fraction) [ 0/1, 2147483647/1 ]"

/* A tensor's shape and type. */
typedef struct {
  gint width, height; /* pixels */
  gint channels;      /* 1 or 3 */
  pp_layout layout;
  pp_type type;
} GstPpTensor;

/* What the user, or of channels the preset, set. */
typedef struct {
  gint width, height;          /* 0: left open */
  gint channels, layout, type; /* -1: left open, else the engine's value */
  gint preset; /* that set channels; GST_PP_PRESET_NONE: the user did */
} GstPpTensorConstraints;

/* What the other pad could have, for caps on the pad of direction: everything
 * that the templates allow and filter (or NULL) lets through, with the framerate
 * kept. Never narrowed by properties: caps with one shape would count as fixed,
 * and downstream would not be asked. */
GstCaps *gst_pp_tensor_caps_transform (const GstCaps *caps,
    GstPadDirection direction, const GstCaps *other_template, GstCaps *filter);

/* Chooses the first structure of candidates that agrees with constraints, and fills
 * what it leaves open: with constraints, else with the size of the video in sink_caps.
 * Returns fixed caps, or NULL and *reason that names both sides of the
 * contradiction; free it. */
GstCaps *gst_pp_tensor_caps_fixate (const GstCaps *candidates,
    const GstPpTensorConstraints *constraints, const GstCaps *sink_caps,
    gchar **reason);

/* Reads fixed tensor caps. A shape that reads both ways is read as constraints says,
 * else as nchw. FALSE and *reason (free it) when it contradicts constraints. */
gboolean gst_pp_tensor_from_caps (const GstCaps *caps,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason);

G_END_DECLS

#endif
