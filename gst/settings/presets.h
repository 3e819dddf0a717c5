/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Presets: the preprocessing that families of models were trained with.
 */
#ifndef GST_PP_PRESETS_H
#define GST_PP_PRESETS_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The first preset; it sets nothing. */
#define GST_PP_PRESET_NONE 0

/* The values of the preset property, ending with a row of zeros. Their names list
 * the settings. Static. */
const GEnumValue *gst_pp_preset_values (void);

/* Calls set for each setting of the preset, by property name and by value as on
 * a gst-launch-1.0 line. */
void gst_pp_preset_foreach (gint preset,
    void (*set) (gpointer data, const gchar *name, const gchar *value),
    gpointer data);

/* Adds to an error's text that the preset made the setting, so that nobody looks
 * for it elsewhere; free it. With GST_PP_PRESET_NONE it is a copy. */
gchar *gst_pp_preset_blame (gint preset, const gchar *text);

G_END_DECLS

#endif
