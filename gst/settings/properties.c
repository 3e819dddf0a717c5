/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "properties.h"

#include "enums.h"
#include "presets.h"
#include "settings.h"

#define ENUM_ROW(name, field, change, standard, values, type, blurb)           \
  {                                                                            \
    name, &gst_pp_kind_enum, G_STRUCT_OFFSET (GstPpSettings, field), change,   \
        standard, 0, 0, NULL, values, "GstCudaPreproc" type, blurb             \
  }
#define DIRECTION_ROW(name, field, change, standard, blurb)                    \
  {                                                                            \
    name, &gst_pp_kind_direction, G_STRUCT_OFFSET (GstPpSettings, field),      \
        change, standard, 0, 0, NULL, gst_pp_directions, NULL, blurb           \
  }
#define INT_ROW(name, field, change, standard, min, max, blurb)                \
  {                                                                            \
    name, &gst_pp_kind_int, G_STRUCT_OFFSET (GstPpSettings, field), change,    \
        standard, min, max, NULL, NULL, NULL, blurb                            \
  }
#define BOOLEAN_ROW(name, field, change, standard, blurb)                      \
  {                                                                            \
    name, &gst_pp_kind_boolean, G_STRUCT_OFFSET (GstPpSettings, field),        \
        change, standard, 0, 0, NULL, NULL, NULL, blurb                        \
  }
#define DOUBLE_ROW(name, field, change, standard, min, max, blurb)             \
  {                                                                            \
    name, &gst_pp_kind_double, G_STRUCT_OFFSET (GstPpSettings, field), change, \
        standard, min, max, NULL, NULL, NULL, blurb                            \
  }
#define STRING_ROW(name, field, change, standard, blurb)                       \
  {                                                                            \
    name, &gst_pp_kind_string, G_STRUCT_OFFSET (GstPpSettings, field), change, \
        0, 0, 0, standard, NULL, NULL, blurb                                   \
  }
#define LIST_ROW(name, field, change, standard, blurb)                         \
  {                                                                            \
    name, &gst_pp_kind_list, G_STRUCT_OFFSET (GstPpSettings, field), change,   \
        0, 0, 0, standard, NULL, NULL, blurb                                   \
  }

#define READY GST_PP_UNTIL_READY
#define PLANS GST_PP_CHANGES_PLANS
#define PICTURE GST_PP_CHANGES_PICTURE
#define REPORTS GST_PP_CHANGES_REPORTS

/* clang-format off */
static const GstPpProperty properties[] = {
  ENUM_ROW ("backend", backend, READY, GST_PP_AUTO, gst_pp_backends, "Backend",
    "Where frames are converted"),
  INT_ROW ("cuda-device-id", cuda_device_id, READY, -1, -1, G_MAXINT,
    "Number of the CUDA device (-1: the first)"),
  INT_ROW ("streams", streams, READY, 0, 0, PP_MAX_STREAMS,
    "CUDA streams (not video streams), or threads on the CPU (0: up to four; on "
    "CUDA, tuned from the first frames' stage times)"),
  INT_ROW ("staging-threads", staging_threads, READY, 0, 0,
    PP_MAX_STAGING_THREADS,
    "Threads that copy frames to pinned memory if upstream did not put them "
    "there (0: half the cores, at most six)"),
  INT_ROW ("async-depth", async_depth, READY, -1, -1, 64,
    "Tensors held back so that their frames' stages overlap (-1: as many as "
    "streams if upstream is seekable and not live, else 0)"),
  ENUM_ROW ("preset", preset, READY, GST_PP_PRESET_NONE, NULL, "Preset",
    "What the model was trained with: sets the listed properties, unless they "
    "are set themselves"),
  INT_ROW ("width", width, READY, 0, 0, PP_MAX_SIZE,
    "Width of the tensor in pixels (0: what downstream's caps say, else of "
    "cudapreproc the frame's, turned; cudapreprocmux then has none)"),
  INT_ROW ("height", height, READY, 0, 0, PP_MAX_SIZE,
    "Height of the tensor in pixels (0: what downstream's caps say, else of "
    "cudapreproc the frame's, turned; cudapreprocmux then has none)"),
  ENUM_ROW ("layout", layout, READY, GST_PP_AUTO, gst_pp_layouts, "Layout",
    "Order of the tensor's dimensions"),
  ENUM_ROW ("type", type, READY, GST_PP_AUTO, gst_pp_types, "Type",
    "Type of the tensor's elements"),
  ENUM_ROW ("channels", channels, READY, GST_PP_AUTO, gst_pp_channels,
    "Channels", "The tensor's channels and their order"),
  INT_ROW ("batch-size", batch_size, READY, 0, 0, GST_PP_MAX_BATCH,
    "Pictures in a tensor: consecutive frames, or with cudapreprocmux one of each "
    "pad (0: what downstream's caps say, else 1 or the number of pads)"),
  ENUM_ROW ("regions", regions, READY, GST_PP_REGIONS_NONE, gst_pp_regions,
    "Regions", "Which parts of a frame become pictures; a frame without any is a "
    "GAP event"),
  STRING_ROW ("region-types", region_types, READY, NULL,
    "With regions=meta: the types of regions that count, such as face, with commas "
    "between them (unset: all)"),
  ENUM_ROW ("fit", fit, READY, PP_FIT_STRETCH, gst_pp_fits, "Fit",
    "How the picture is fitted into the tensor"),
  ENUM_ROW ("pad-align", pad_align, READY, PP_ALIGN_CENTER, gst_pp_aligns,
    "PadAlign", "Where the padding of fit=letterbox is"),
  BOOLEAN_ROW ("ignore-pixel-aspect-ratio", ignore_pixel_aspect_ratio, READY,
    FALSE, "Treat pixels as square, as training code does"),
  STRING_ROW ("colorimetry", colorimetry, READY, "",
    "Colorimetry that frames have, whatever their caps say, such as bt709 or "
    "1:4:0:0; what it leaves unknown is as in the caps (empty: all of it)"),
  INT_ROW ("resize", resize, READY, 0, 0, PP_MAX_SIZE,
    "Resize the short side to this many pixels before the centre is cropped, "
    "as torchvision's Resize does (0: to the tensor's size)"),
  DOUBLE_ROW ("crop-fraction", crop_fraction, READY, 0, 0, 1,
    "The tensor's size divided by the size before the centre is cropped, "
    "timm's crop_pct (0: not set)"),
  LIST_ROW ("crop", crop, PICTURE, NULL,
    "Part of the frame to convert: x,y,width,height in pixels, inside of its "
    "GstVideoCropMeta and before it is turned (unset: all of it)"),
  DIRECTION_ROW ("video-direction", video_direction, PLANS,
    PP_DIRECTION_IDENTITY, "How the frame is turned before it is fitted into "
    "the tensor (auto: as the stream's image-orientation tag says; custom is "
    "refused)"),
  LIST_ROW ("pad-value", pad_value, PLANS, "114",
    "Value of the padding, 0 to 255 and normalised like a pixel: one number, or "
    "one per channel"),
  ENUM_ROW ("method", method, PLANS, PP_METHOD_BILINEAR, gst_pp_methods,
    "Method", "Interpolation method"),
  BOOLEAN_ROW ("antialias", antialias, PLANS, FALSE,
    "Widen the filter when shrinking: Pillow and torchvision do, OpenCV and "
    "Ultralytics do not"),
  ENUM_ROW ("denoise", denoise, PLANS, PP_DENOISE_NONE, gst_pp_denoises,
    "Denoise", "Noise filter that is applied before resizing"),
  INT_ROW ("denoise-size", denoise_size, PLANS, 3, 3, 7,
    "Width and height of the noise filter in samples: 3, 5 or, with "
    "denoise=gaussian, 7"),
  DOUBLE_ROW ("denoise-sigma", denoise_sigma, PLANS, 0, 0, G_MAXDOUBLE,
    "Standard deviation of denoise=gaussian in samples (0: OpenCV's fixed "
    "kernel of that size)"),
  DOUBLE_ROW ("scale", scale, PLANS, 1.0 / 255, -G_MAXDOUBLE, G_MAXDOUBLE,
    "Tensor = (pixel * scale - mean) / std, for pixels in 0 to 255"),
  LIST_ROW ("mean", mean, PLANS, "0",
    "Subtracted after scaling: one number, or one per channel in the tensor's "
    "order"),
  LIST_ROW ("std", std, PLANS, "1",
    "Divisor after mean is subtracted: one number, or one per channel in the "
    "tensor's order"),
  DOUBLE_ROW ("quant-scale", quant_scale, READY, 0, 0, G_MAXDOUBLE,
    "Step from one integer to the next with type=uint8 or int8 (0: scale, which "
    "keeps the pixels' values if mean=0 and std=1)"),
  INT_ROW ("quant-zero-point", quant_zero_point, READY, 0, -128, 255,
    "Integer that stands for 0 with type=uint8 or int8"),
  BOOLEAN_ROW ("attach-frame", attach_frame, READY, FALSE,
    "Keep the frame with its tensor, in a GstParentBufferMeta; upstream gets its "
    "buffer back only when the tensor is freed"),
  STRING_ROW ("timeline-location", timeline_location, READY, NULL,
    "File for the times at which the last 4096 frames were uploaded, computed "
    "and downloaded, written when the stream ends: .json (for Perfetto or "
    "chrome://tracing) or .svg (a picture of some of them)"),
  INT_ROW ("stats-interval", stats_interval, REPORTS, 0, 0, G_MAXINT,
    "Milliseconds between element messages cudapreproc-stats, which have the "
    "fields of stats for the time between them, and since the start (0: none)"),
};
/* clang-format on */

/* GstPpSettings.set has a bit for each. */
G_STATIC_ASSERT (G_N_ELEMENTS (properties) <= 64);

const GstPpProperty *
gst_pp_properties (guint *n)
{
  *n = G_N_ELEMENTS (properties);
  return properties;
}

const GstPpProperty *
gst_pp_property_find (const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if (g_strcmp0 (properties[i].name, name) == 0)
      return &properties[i];
  return NULL;
}

const GstPpProperty *
gst_pp_property_at (gsize offset)
{
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    if (properties[i].offset == offset)
      return &properties[i];
  return NULL;
}

guint64
gst_pp_property_bit (const GstPpProperty *property)
{
  return G_GUINT64_CONSTANT (1) << (property - properties);
}
