/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps and GstVideoInfo -> the engine's description of an image. The only place
 * that knows GStreamer's video formats.
 */
#ifndef GST_PP_INPUT_FORMAT_H
#define GST_PP_INPUT_FORMAT_H

#include <gst/video/video.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* Every format whose components are whole 8- or 16-bit samples and that
 * GstVideoFormatInfo describes truly, in the order a free source picks from.
 * Not in it: VYUY (Cb and Cr are exchanged), v216 (its byte order), Y210, Y212
 * and Y412 (all offsets 0). */
#define GST_PP_INPUT_FORMATS                                                   \
  "{ NV12, I420, RGB, BGR, RGBx, BGRx, RGBA, BGRA, xRGB, xBGR, ARGB, ABGR, "   \
  "GBR, GBRA, RGBP, BGRP, NV21, YV12, NV16, NV61, NV24, Y42B, Y444, Y41B, "    \
  "YUV9, YVU9, YUY2, UYVY, YVYU, v308, IYU2, AYUV, VUYA, A420, AV12, "         \
  "GRAY8, GRAY16_LE, GRAY16_BE, P010_10LE, P010_10BE, P012_LE, P012_BE, "      \
  "P016_LE, P016_BE, I420_10LE, I420_10BE, I420_12LE, I420_12BE, I422_10LE, "  \
  "I422_10BE, I422_12LE, I422_12BE, Y444_10LE, Y444_10BE, Y444_12LE, "         \
  "Y444_12BE, Y444_16LE, Y444_16BE, GBR_10LE, GBR_10BE, GBR_12LE, GBR_12BE, "  \
  "GBRA_10LE, GBRA_10BE, GBRA_12LE, GBRA_12BE, A420_10LE, A420_10BE, "         \
  "A422_10LE, A422_10BE, A444_10LE, A444_10BE, ARGB64, ARGB64_LE, "            \
  "ARGB64_BE, RGBA64_LE, RGBA64_BE, BGRA64_LE, BGRA64_BE, ABGR64_LE, "         \
  "ABGR64_BE, AYUV64 }"

/* GStreamer's name for memory on a GPU. */
#define GST_PP_CUDA_FEATURE "memory:CUDAMemory"

#define GST_PP_INPUT_FIELDS                                                    \
  ", format = (string) " GST_PP_INPUT_FORMATS                                  \
  ", width = (int) [ 1, " G_STRINGIFY (                                        \
      PP_MAX_SIZE) " ], height = (int) [ 1, " G_STRINGIFY (PP_MAX_SIZE) " ]"

/* What the sink pads take; a source that can do both takes the first. */
#define GST_PP_INPUT_CAPS                                                      \
  "video/x-raw(" GST_PP_CUDA_FEATURE ")" GST_PP_INPUT_FIELDS                   \
  "; video/x-raw" GST_PP_INPUT_FIELDS

/* Whether what the nth structure of caps describes lies on a GPU. */
gboolean gst_pp_caps_are_cuda (const GstCaps *caps, guint nth);

/* As gst_video_info_from_caps, but each field of the caps counts for itself: one
 * that is unknown, or that such frames cannot have, is as if it were not there.
 * Range, matrix, transfer and primaries are then those of untagged caps, the pixel
 * aspect ratio is 1/1 and the framerate 0/1; and the chroma site is the same with
 * every version of GStreamer. */
gboolean gst_pp_video_info_from_caps (GstVideoInfo *info, const GstCaps *caps);
/* Changes info, which was made from caps, to what it were if caps had the fields
 * that colorimetry names, a string as in caps; NULL or empty: it names none. The
 * chroma site depends on them where caps do not name it. */
void gst_pp_video_info_override_colorimetry (
    GstVideoInfo *info, const GstCaps *caps, const gchar *colorimetry);

/* Fills format for the frames of info. On FALSE, *reason says which caps field
 * has which value that cannot be converted; free it. */
gboolean gst_pp_format_from_video_info (
    const GstVideoInfo *info, pp_format *format, gchar **reason);

G_END_DECLS

#endif
