/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine's enumerations as users and caps name them: one table each. A new
 * value is one row here; its nick is the word in properties, caps and errors.
 */
#ifndef GST_PP_ENUMS_H
#define GST_PP_ENUMS_H

#include <glib-object.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* What becomes a picture. */
typedef enum {
  GST_PP_REGIONS_NONE, /* the frame */
  GST_PP_REGIONS_META, /* each region that a meta marks */
  GST_PP_N_REGIONS
} GstPpRegions;

/* The value "auto", where an enumeration has it: caps or the hardware decide. */
#define GST_PP_AUTO (-1)

/* Each ends with a row of zeros. Those of backends, layouts, types and channels
 * begin with GST_PP_AUTO; the types' nicks are NNStreamer's. */
extern const GEnumValue gst_pp_backends[];
extern const GEnumValue gst_pp_layouts[];
extern const GEnumValue gst_pp_regions[];
extern const GEnumValue gst_pp_types[];
extern const GEnumValue gst_pp_channels[];
/* GstVideoOrientationMethod's own, as far as the element can turn frames. Beyond
 * pp_direction's values there is GST_PP_DIRECTION_AUTO: as tags say. */
extern const GEnumValue gst_pp_directions[];
extern const GEnumValue gst_pp_fits[];
extern const GEnumValue gst_pp_aligns[];
extern const GEnumValue gst_pp_methods[];
extern const GEnumValue gst_pp_denoises[];

/* GST_VIDEO_ORIENTATION_AUTO, without the header that declares it. */
#define GST_PP_DIRECTION_AUTO PP_N_DIRECTIONS

/* The direction of a GstVideoOrientationMethod; PP_DIRECTION_IDENTITY for values
 * that are none. */
pp_direction gst_pp_direction_from_method (gint method);

/* The nick of a value; NULL: the table does not have it. */
const gchar *gst_pp_enum_nick (const GEnumValue *values, gint value);
/* The value of a nick. FALSE: there is none, and *value is left alone. */
gboolean gst_pp_enum_from_nick (
    const GEnumValue *values, const gchar *nick, gint *value);

G_END_DECLS

#endif
