/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Negotiation as pure functions: caps of one pad to caps of the other.
 *
 * Tensor caps are NNStreamer's: other/tensors, format=static, num_tensors=1,
 * types and dimensions as strings, dimensions innermost first: W:H:C:N for nchw,
 * C:W:H:N for nhwc. The same with the feature memory:CUDAMemory are tensors that
 * stay on the device. The src pad can also send the picture as video.
 */
#ifndef GST_PP_TENSOR_CAPS_H
#define GST_PP_TENSOR_CAPS_H

#include <gst/video/video.h>

#include "inputformat.h"
#include "kernels/preproc.h"

G_BEGIN_DECLS

#define GST_PP_TENSOR_FIELDS                                                   \
  ", format = (string) static, num_tensors = (int) 1, "                        \
  "types = (string) { float32, float16, uint8, int8 }, "                       \
  "framerate = (fraction) [ 0/1, 2147483647/1 ]"

#define GST_PP_TENSOR_CAPS                                                     \
  "other/tensors" GST_PP_TENSOR_FIELDS "; other/tensors(" GST_PP_CUDA_FEATURE  \
  ")" GST_PP_TENSOR_FIELDS

/* A tensor of one picture that lies as a video frame does, before it is
 * normalised. */
#define GST_PP_PICTURE_CAPS                                                    \
  "video/x-raw, format = (string) { RGB, BGR, RGBA, BGRA, RGBx, BGRx, RGBP, "  \
  "BGRP, GRAY8 }, width = (int) [ 1, " G_STRINGIFY (                           \
      PP_MAX_SIZE) " ], height = (int) [ 1, " G_STRINGIFY (PP_MAX_SIZE) " ], " \
                                                                        "framerate = (fraction) [ 0/1, 2147483647/1 ]"

/* What the src pad can send; what is first is taken where downstream takes all. */
#define GST_PP_OUTPUT_CAPS GST_PP_TENSOR_CAPS "; " GST_PP_PICTURE_CAPS

/* Most pictures of a tensor. */
#define GST_PP_MAX_BATCH 64

/* A tensor's shape and type. */
typedef struct {
  gint width, height; /* pixels */
  gint channels;      /* 1 or 3 */
  pp_layout layout;
  pp_type type;
  gint batch; /* pictures, 1 to GST_PP_MAX_BATCH */
  /* GST_VIDEO_FORMAT_UNKNOWN: other/tensors. Else it is video of this format, type
   * is uint8 and batch 1. */
  GstVideoFormat format;
  gboolean on_device; /* it stays there */
} GstPpTensor;

/* What properties require of a tensor. */
typedef struct {
  gint width, height;          /* 0: left open */
  gint channels, layout, type; /* -1: left open, else the engine's value */
  gint preset; /* that set channels; GST_PP_PRESET_NONE: the user set them */
  gboolean swapped; /* an open width is the frame's height, and so on */
  gint batch;       /* 0: left open */
  gint usual_batch; /* where caps leave it open, too; 0 is 1 */
  gboolean no_rate; /* frames do not say how many tensors there are */
  /* what may lie on a GPU */
  gboolean cuda_frames, cuda_tensors;
  /* for video: what becomes of pixels and colours */
  gint fit; /* pp_fit */
  gboolean ignore_pixel_aspect_ratio;
  pp_rect crop;                      /* width 0: none */
  GstVideoTransferFunction transfer; /* unknown: the frames' */
  GstVideoColorPrimaries primaries;
} GstPpTensorConstraints;

/* Bytes of a tensor, of all its pictures. */
gsize gst_pp_tensor_size (const GstPpTensor *tensor);

/* For caps of the pad of that direction, the caps that the other pad can have:
 * its template's, cut by filter, which may be NULL. The framerate of tensors is
 * that of frames, divided by the number of pictures; going downstream, it is left
 * open where constraints do not say that number. With no_rate it is 0/1. Properties do not narrow caps
 * otherwise: caps with one shape would count as fixed, and the base class would not
 * ask downstream. What may not lie on a GPU is left out. */
GstCaps *gst_pp_tensor_caps_transform (const GstCaps *caps,
    GstPadDirection direction, const GstPpTensorConstraints *constraints,
    const GstCaps *other_template, GstCaps *filter);

/* Chooses the first structure of candidates that agrees with constraints and with
 * the framerate in sink_caps. What it leaves open is filled from constraints, else
 * from the video's size, else with defaults: nchw, float32, 3 channels,
 * usual_batch pictures. sink_caps is NULL for frames of several streams, which
 * have neither size nor framerate in common: no size is then an error.
 * Returns fixed caps, or NULL and *reason (free it), which names both sides of the
 * contradiction. */
GstCaps *gst_pp_tensor_caps_fixate (const GstCaps *candidates,
    const GstPpTensorConstraints *constraints, const GstCaps *sink_caps,
    gchar **reason);

/* Reads fixed caps of the src pad. A shape that can be read as nchw and as nhwc is read as
 * constraints->layout, else as nchw. FALSE and *reason (free it) if it contradicts
 * constraints. */
gboolean gst_pp_tensor_from_caps (const GstCaps *caps,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    gchar **reason);

G_END_DECLS

#endif
