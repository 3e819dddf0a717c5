/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's properties: one table that installs, sets, gets and frees them.
 */
#ifndef GST_PP_SETTINGS_H
#define GST_PP_SETTINGS_H

#include <gst/gst.h>

#include "gst/caps/tensorcaps.h"

G_BEGIN_DECLS

/* An enumeration's value for "decided elsewhere": by the caps, by what is there.
 */
#define GST_PP_AUTO (-1)

/* A list of numbers, as the user wrote it and as it reads. */
#define GST_PP_LIST_MAX 4
typedef struct {
  gchar *text; /* owned; NULL: not set */
  gint length; /* -1: text is not a list of numbers */
  gdouble value[GST_PP_LIST_MAX];
} GstPpList;

/* The properties' values. */
typedef struct {
  guint64 set; /* bit i: property i + 1 was set by the user */
  gint preset;
  /* devices */
  gint backend; /* GST_PP_AUTO or pp_backend_id */
  gint cuda_device_id;
  gint streams, staging_threads; /* 0: automatic */
  gint async_depth;              /* -1: automatic */
  /* the tensor */
  gint width, height;          /* 0: open */
  gint layout, type, channels; /* GST_PP_AUTO or the engine's value */
  /* the picture in it */
  gint fit, pad_align;
  gboolean ignore_pixel_aspect_ratio;
  gint resize;
  gdouble crop_fraction;
  GstPpList crop, pad_value;
  gint method;
  gboolean antialias;
  gint denoise, denoise_size;
  gdouble denoise_sigma;
  /* the numbers */
  gdouble scale;
  GstPpList mean, std;
  gdouble quant_scale;
  gint quant_zero_point;
  /* what is told about them */
  gchar *timeline_location; /* owned; NULL: none */
  gint stats_interval;      /* milliseconds; 0: none */
} GstPpSettings;

/* Installs a GObject property for each row, from id 1 on; the number of them. */
guint gst_pp_settings_install (GObjectClass *klass);

void gst_pp_settings_init (GstPpSettings *settings);
void gst_pp_settings_clear (GstPpSettings *settings);
/* By property id. The caller serialises. */
void gst_pp_settings_set (
    GstPpSettings *settings, guint id, const GValue *value);
void gst_pp_settings_get (
    const GstPpSettings *settings, guint id, GValue *value);
/* Whether the user set the property of that name; resize stands for
 * crop-fraction, too. */
gboolean gst_pp_settings_is_set (
    const GstPpSettings *settings, const gchar *name);
/* Copies the property of that name, as the user set it. FALSE: there is none. */
gboolean gst_pp_settings_copy_one (
    GstPpSettings *to, const GstPpSettings *from, const gchar *name);
/* Copies all, or only what may change while PLAYING, with what the preset says
 * where the user said nothing; and what the user set. */
void gst_pp_settings_resolve (
    GstPpSettings *to, const GstPpSettings *from, gboolean only_mutable);

/* What must hold of the values whatever the caps are. FALSE and *reason (free it)
 * that names the property and its value. */
gboolean gst_pp_settings_check (const GstPpSettings *settings, gchar **reason);

/* How to open the device. */
pp_device_options gst_pp_settings_device_options (
    const GstPpSettings *settings);

/* Takes resolved settings, as the functions below do. */
GstPpTensorConstraints gst_pp_settings_tensor_constraints (
    const GstPpSettings *settings);
/* FALSE and *reason (free it) that names the property and its value. */
gboolean gst_pp_settings_to_spec (const GstPpSettings *settings,
    const GstPpTensor *tensor, pp_spec *spec, gchar **reason);
/* Posts a warning where quant-scale has its default and pixels do not fit into the
 * integer type; whether it did. */
gboolean gst_pp_settings_warn (GstElement *element,
    const GstPpSettings *settings, const GstPpTensor *tensor);
/* Cuts picture, a rectangle of the frame, by the crop property, which counts
 * from picture's corner. As above. */
gboolean gst_pp_settings_crop (
    const GstPpSettings *settings, pp_rect *picture, gchar **reason);

G_END_DECLS

#endif
