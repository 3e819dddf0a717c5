/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When frames may be held back, and what that adds to the latency.
 */
#ifndef GST_PP_LATENCY_H
#define GST_PP_LATENCY_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Whether what comes to the pad is stored somewhere: not live, and seekable. A
 * camera's or an application's frame may be waited for before the next one. */
gboolean gst_pp_upstream_is_stored (GstPad *sink);

/* Adds to an answered LATENCY query. */
void gst_pp_latency_add (GstQuery *query, GstClockTime latency);

G_END_DECLS

#endif
