/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Numbers whose range is shown, by gst-inspect-1.0 and to bindings, and not
 * enforced: GLib only warns of a value outside of it and keeps the old one, or
 * takes the nearest. The object gets it as it is and can refuse it with an error.
 */
#ifndef GST_PP_UNCHECKED_PARAM_H
#define GST_PP_UNCHECKED_PARAM_H

#include <glib-object.h>

G_BEGIN_DECLS

/* As g_param_spec_int and g_param_spec_double, which they are otherwise; static
 * strings. */
GParamSpec *gst_pp_unchecked_param_int (const gchar *name, const gchar *blurb,
    gint min, gint max, gint standard, GParamFlags flags);
GParamSpec *gst_pp_unchecked_param_double (const gchar *name,
    const gchar *blurb, gdouble min, gdouble max, gdouble standard,
    GParamFlags flags);

G_END_DECLS

#endif
