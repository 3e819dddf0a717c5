/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What models were trained with, as settings.
 */
#ifndef GST_PP_PRESETS_H
#define GST_PP_PRESETS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The first preset; it sets nothing. */
#define GST_PP_PRESET_NONE 0

/* The values of the preset property, whose descriptions are the settings. Static.
 */
const GEnumValue *gst_pp_preset_values (void);

/* Calls set for each setting of the preset, by property name and by value as on
 * a gst-launch-1.0 line. */
void gst_pp_preset_foreach (gint preset,
    void (*set) (gpointer data, const gchar *name, const gchar *value),
    gpointer data);

G_END_DECLS

#endif
