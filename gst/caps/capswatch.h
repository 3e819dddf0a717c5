/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Says why caps are refused that the element is never asked about.
 */
#ifndef GST_PP_CAPS_WATCH_H
#define GST_PP_CAPS_WATCH_H

#include <gst/gst.h>

#include "gst/report/error.h"

G_BEGIN_DECLS

/* From now on posts an error for caps that come to element's pad and have nothing
 * in common with its template: GStreamer refuses them without a word before the
 * element sees them. Once, for as long as both live. */
void gst_pp_caps_watch_add (
    GstPad *pad, GstElement *element, GstPpErrorGate *errors);

/* Fixed caps that template does not let through: what of them is not possible,
 * with its value; free it. NULL: they have something in common. */
gchar *gst_pp_caps_watch_reason (const GstCaps *caps, const GstCaps *template);

G_END_DECLS

#endif
