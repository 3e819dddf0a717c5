/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "enums.h"

#include <gst/video/video.h>

/* A table has the engine's values, then the end; and perhaps auto before them. */
#define ASSERT_ROWS(table, others, count)                                      \
  G_STATIC_ASSERT (G_N_ELEMENTS (table) == (others) + (count) + 1)

const GEnumValue gst_pp_backends[] = {
  { GST_PP_AUTO, "CUDA if there is a device, else the CPU", "auto" },
  { PP_BACKEND_CUDA, "CUDA", "cuda" },
  { PP_BACKEND_CPU, "CPU threads", "cpu" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_backends, 1, PP_N_BACKENDS);

const GEnumValue gst_pp_layouts[] = {
  { GST_PP_AUTO, "What downstream's caps say, else nchw", "auto" },
  { PP_LAYOUT_NCHW, "Planar: batch, channel, row, column", "nchw" },
  { PP_LAYOUT_NHWC, "Interleaved: batch, row, column, channel", "nhwc" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_layouts, 1, PP_N_LAYOUTS);

const GEnumValue gst_pp_regions[] = {
  { GST_PP_REGIONS_NONE, "The frame is the picture", "none" },
  { GST_PP_REGIONS_META, "Each GstVideoRegionOfInterestMeta is one", "meta" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_regions, 0, GST_PP_N_REGIONS);

const GEnumValue gst_pp_types[] = {
  { GST_PP_AUTO, "What downstream's caps say, else float32", "auto" },
  { PP_TYPE_FLOAT32, "32-bit float", "float32" },
  { PP_TYPE_FLOAT16, "16-bit float", "float16" },
  { PP_TYPE_UINT8, "8-bit unsigned integer", "uint8" },
  { PP_TYPE_INT8, "8-bit signed integer", "int8" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_types, 1, PP_N_TYPES);

const GEnumValue gst_pp_channels[] = {
  { GST_PP_AUTO, "What downstream's caps say, else rgb", "auto" },
  { PP_CHANNELS_RGB, "Red, green, blue", "rgb" },
  { PP_CHANNELS_BGR, "Blue, green, red", "bgr" },
  { PP_CHANNELS_GRAY, "Luma: 0.299 R + 0.587 G + 0.114 B", "gray" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_channels, 1, PP_N_CHANNEL_ORDERS);

const GEnumValue gst_pp_directions[] = {
  { PP_DIRECTION_IDENTITY, "As it is stored", "identity" },
  { PP_DIRECTION_90R, "Rotated clockwise by 90 degrees", "90r" },
  { PP_DIRECTION_180, "Rotated by 180 degrees", "180" },
  { PP_DIRECTION_90L, "Rotated counter-clockwise by 90 degrees", "90l" },
  { PP_DIRECTION_HORIZ, "Left and right swapped", "horiz" },
  { PP_DIRECTION_VERT, "Top and bottom swapped", "vert" },
  { PP_DIRECTION_UL_LR, "Across the upper left diagonal", "ul-lr" },
  { PP_DIRECTION_UR_LL, "Across the upper right diagonal", "ur-ll" },
  { GST_PP_DIRECTION_AUTO, "As the image-orientation tag says", "auto" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_directions, 1, PP_N_DIRECTIONS);

#define ASSERT_METHOD(name)                                                    \
  G_STATIC_ASSERT ((gint) PP_DIRECTION_##name == GST_VIDEO_ORIENTATION_##name)
ASSERT_METHOD (IDENTITY);
ASSERT_METHOD (90R);
ASSERT_METHOD (180);
ASSERT_METHOD (90L);
ASSERT_METHOD (HORIZ);
ASSERT_METHOD (VERT);
ASSERT_METHOD (UL_LR);
ASSERT_METHOD (UR_LL);
G_STATIC_ASSERT ((gint) GST_PP_DIRECTION_AUTO == GST_VIDEO_ORIENTATION_AUTO);

pp_direction
gst_pp_direction_from_method (gint method)
{
  return method >= 0 && method < PP_N_DIRECTIONS ? (pp_direction) method
                                                 : PP_DIRECTION_IDENTITY;
}

const GEnumValue gst_pp_fits[] = {
  { PP_FIT_STRETCH, "Fill the tensor, ignoring the aspect ratio", "stretch" },
  { PP_FIT_LETTERBOX, "Keep the aspect ratio and pad", "letterbox" },
  { PP_FIT_CROP, "Keep the aspect ratio and crop the centre", "crop" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_fits, 0, PP_N_FITS);

const GEnumValue gst_pp_aligns[] = {
  { PP_ALIGN_CENTER, "Padding on both sides", "center" },
  { PP_ALIGN_TOP_LEFT, "Padding on the right and at the bottom", "top-left" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_aligns, 0, PP_N_ALIGNS);

const GEnumValue gst_pp_methods[] = {
  { PP_METHOD_NEAREST, "Nearest sample", "nearest" },
  { PP_METHOD_BILINEAR, "Bilinear", "bilinear" },
  { PP_METHOD_BICUBIC, "Bicubic (a = -0.75, antialiased -0.5)", "bicubic" },
  { PP_METHOD_LANCZOS, "Lanczos, radius 3", "lanczos" },
  { PP_METHOD_AREA, "Mean of the area that a pixel covers", "area" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_methods, 0, PP_N_METHODS);

const GEnumValue gst_pp_denoises[] = {
  { PP_DENOISE_NONE, "No filter", "none" },
  { PP_DENOISE_GAUSSIAN, "Gaussian blur", "gaussian" },
  { PP_DENOISE_MEDIAN, "Median", "median" },
  { 0, NULL, NULL },
};
ASSERT_ROWS (gst_pp_denoises, 0, PP_N_DENOISES);

const gchar *
gst_pp_enum_nick (const GEnumValue *values, gint value)
{
  for (; values->value_nick != NULL; values++)
    if (values->value == value)
      return values->value_nick;
  return NULL;
}

gboolean
gst_pp_enum_from_nick (const GEnumValue *values, const gchar *nick, gint *value)
{
  for (; values->value_nick != NULL; values++) {
    if (g_strcmp0 (values->value_nick, nick) != 0)
      continue;
    *value = values->value;
    return TRUE;
  }
  return FALSE;
}
