/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The values of the element's properties. A new property is a field here, a row in
 * properties.c, and its use, for most of them in spec.c.
 */
#ifndef GST_PP_SETTINGS_H
#define GST_PP_SETTINGS_H

#include <gst/gst.h>

#include "gst/caps/tensorcaps.h"
#include "enums.h"

G_BEGIN_DECLS

/* A list of numbers. */
#define GST_PP_LIST_MAX 4
typedef struct {
  gchar *text; /* as the user wrote it; owned; NULL: not set */
  gint length; /* of value; -1: text is not a list of numbers */
  gdouble value[GST_PP_LIST_MAX];
} GstPpList;

/* One field per property, and which of them the user set. */
typedef struct {
  guint64 set; /* a bit per property, see gst_pp_settings_is_set */
  gint preset;
  /* devices */
  gint backend; /* GST_PP_AUTO or pp_backend_id */
  gint cuda_device_id;
  gint streams, staging_threads; /* 0: automatic */
  gint async_depth;              /* -1: automatic */
  /* the tensor */
  gint width, height;          /* 0: open */
  gint layout, type, channels; /* GST_PP_AUTO or the engine's value */
  gint batch_size;             /* 0: open */
  gint regions;                /* GstPpRegions */
  gchar *region_types;         /* owned; NULL: all */
  /* the picture in it */
  gint fit, pad_align;
  gboolean ignore_pixel_aspect_ratio;
  gchar *colorimetry; /* owned; NULL or empty: the caps' */
  gint resize;
  gdouble crop_fraction;
  GstPpList crop, pad_value;
  gint video_direction; /* pp_direction or GST_PP_DIRECTION_AUTO */
  gint method;
  gboolean antialias;
  gint denoise, denoise_size;
  gdouble denoise_sigma;
  /* the numbers */
  gdouble scale;
  GstPpList mean, std;
  gdouble quant_scale;
  gint quant_zero_point;
  /* what goes with it */
  gboolean attach_frame;
  /* reports */
  gchar *timeline_location; /* owned; NULL: none */
  gint stats_interval;      /* milliseconds; 0: none */
  /* No property: what video_direction stands for if it is automatic. No function
   * here sets it but gst_pp_settings_init. */
  pp_direction tagged_direction;
} GstPpSettings;

/* Installs the properties, with ids from 1 on, but not those that without names, NULL
 * at its end. */
void gst_pp_settings_install (GObjectClass *klass, const gchar *const *without);

/* The caller serialises calls for one GstPpSettings, here and below. */

/* The defaults. */
void gst_pp_settings_init (GstPpSettings *settings);
void gst_pp_settings_clear (GstPpSettings *settings);
/* By property id. Any value is taken; gst_pp_settings_check judges it. */
void gst_pp_settings_set (
    GstPpSettings *settings, guint id, const GValue *value);
void gst_pp_settings_get (
    const GstPpSettings *settings, guint id, GValue *value);
/* Sets the property of that name from text as on a gst-launch-1.0 line, but not as
 * the user does: it does not count as set. FALSE: there is no such property, or
 * text is no value of it, which it then keeps. */
gboolean gst_pp_settings_parse (
    GstPpSettings *settings, const gchar *name, const gchar *text);
/* Copies the property of that name, and whether the user set it. Whether that
 * changed anything; FALSE also for other names. */
gboolean gst_pp_settings_copy_one (
    GstPpSettings *to, const GstPpSettings *from, const gchar *name);
/* Whether the property of that name has the same value in both, set by the user in
 * both or in none; TRUE for other names. */
gboolean gst_pp_settings_equal_one (
    const GstPpSettings *a, const GstPpSettings *b, const gchar *name);
/* Copies all of them. */
void gst_pp_settings_copy (GstPpSettings *to, const GstPpSettings *from);
/* Whether the user set the property with that field. Setting resize counts for
 * crop_fraction, too, since both say how far to resize. */
#define gst_pp_settings_is_set(settings, field)                                \
  gst_pp_settings_is_set_at ((settings), G_STRUCT_OFFSET (GstPpSettings, field))
gboolean gst_pp_settings_is_set_at (
    const GstPpSettings *settings, gsize offset);
/* The same by name; FALSE where there is no such property. */
gboolean gst_pp_settings_is_set_by_name (
    const GstPpSettings *settings, const gchar *name);

/* What must hold of the values whatever the caps are. FALSE and *reason (free it)
 * that names the property and its value. */
gboolean gst_pp_settings_check (const GstPpSettings *settings, gchar **reason);

/* Resolved settings are the user's, with the preset's where the user set
 * nothing. */
void gst_pp_settings_resolve (GstPpSettings *to, const GstPpSettings *from);

/* What a change of resolved settings means for a stream. */
typedef enum {
  GST_PP_SAME,          /* nothing */
  GST_PP_OTHER_PICTURE, /* crop, or no plan's business: all plans stay */
  GST_PP_OTHER_PLANS    /* all plans are to be made anew */
} GstPpDifference;

/* As gst_pp_settings_resolve for what may change while PLAYING; the rest of *to
 * stays. What has changed in *to. */
GstPpDifference gst_pp_settings_refresh (
    GstPpSettings *to, const GstPpSettings *from);

/* All functions below take resolved settings. */

/* How frames are turned. */
pp_direction gst_pp_settings_direction (const GstPpSettings *settings);

/* What must hold of the values whatever frames come and whatever tensors downstream
 * takes; more than gst_pp_settings_check. FALSE with *status and *reason (NULL
 * before; free it) as gst_pp_settings_make_plan has them. */
gboolean gst_pp_settings_check_without_caps (
    const GstPpSettings *settings, pp_status *status, gchar **reason);

/* How to open the device. */
pp_device_options gst_pp_settings_device_options (
    const GstPpSettings *settings);
GstPpTensorConstraints gst_pp_settings_tensor_constraints (
    const GstPpSettings *settings);
/* FALSE and *reason (free it) that names the property and its value. */
gboolean gst_pp_settings_to_spec (const GstPpSettings *settings,
    const GstPpTensor *tensor, pp_spec *spec, gchar **reason);
/* The plan for frames of format whose picture is the given part, NULL for all of
 * it. NULL with *status, which is PP_BAD_ARGUMENT where the settings are at fault,
 * and *reason (free it), which then names property, value and preset. */
pp_plan *gst_pp_settings_make_plan (const GstPpSettings *settings,
    const GstPpTensor *tensor, const pp_format *format, const pp_rect *picture,
    pp_status *status, gchar **reason);
/* The plans for regions of such frames, n_plans at once; NULL as above. */
pp_region_plans *gst_pp_settings_make_region_plans (
    const GstPpSettings *settings, const GstPpTensor *tensor,
    const pp_format *format, gint n_plans, pp_status *status, gchar **reason);
/* Posts a warning where quant-scale has its default and pixels do not fit into the
 * integer type; whether it did. */
gboolean gst_pp_settings_warn (GstElement *element,
    const GstPpSettings *settings, const GstPpTensor *tensor);
/* Cuts picture, a rectangle of the frame, by the crop property, which counts from
 * picture's corner and may reach beyond picture. FALSE: crop has no pixel of it,
 * and picture stays. Of settings that gst_pp_settings_check found good. */
gboolean gst_pp_settings_crop (const GstPpSettings *settings, pp_rect *picture);
/* What is wrong then; free it. */
gchar *gst_pp_settings_say_crop (
    const GstPpSettings *settings, const pp_rect *picture);

G_END_DECLS

#endif
