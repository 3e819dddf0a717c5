/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reports caps that GStreamer refuses before the element sees them.
 */
#ifndef GST_PP_CAPS_WATCH_H
#define GST_PP_CAPS_WATCH_H

#include <gst/gst.h>

#include "gst/report/error.h"

G_BEGIN_DECLS

/* From now on, posts an error when caps arrive at element's pad that its template
 * does not allow: GStreamer refuses them without a message. Call it once for a
 * pad. errors must live as long as the pad. */
void gst_pp_caps_watch_add (
    GstPad *pad, GstElement *element, GstPpErrorGate *errors);

/* Which field of these fixed caps template does not allow, with its value; free
 * it. NULL: template allows them. */
gchar *gst_pp_caps_watch_reason (const GstCaps *caps, const GstCaps *template);

G_END_DECLS

#endif
