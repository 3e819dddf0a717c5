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

/* An error's text with the preset named, if it is one, so that nobody looks for
 * a setting that the preset made; free it. */
gchar *gst_pp_preset_blame (gint preset, const gchar *text);

G_END_DECLS

#endif
