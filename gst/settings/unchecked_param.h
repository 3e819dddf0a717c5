/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Number properties that show a range, in gst-inspect-1.0 and to bindings, but do
 * not enforce it. GLib would clamp a value outside of the range, or only warn. Here
 * the object gets the value and can refuse it with an error.
 */
#ifndef GST_PP_UNCHECKED_PARAM_H
#define GST_PP_UNCHECKED_PARAM_H

#include <glib-object.h>

G_BEGIN_DECLS

/* As g_param_spec_int and g_param_spec_double. name and blurb must be static. */
GParamSpec *gst_pp_unchecked_param_int (const gchar *name, const gchar *blurb,
    gint min, gint max, gint standard, GParamFlags flags);
GParamSpec *gst_pp_unchecked_param_double (const gchar *name,
    const gchar *blurb, gdouble min, gdouble max, gdouble standard,
    GParamFlags flags);

G_END_DECLS

#endif
