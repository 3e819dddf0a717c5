/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many frames are held back, and what that adds to the latency.
 */
#ifndef GST_PP_LATENCY_H
#define GST_PP_LATENCY_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* The longest latency: 292 years. Other elements can add theirs to it. */
#define GST_PP_MAX_LATENCY ((GstClockTime) G_MAXINT64)

/* How many frames to hold back: wish, if it is not negative. Otherwise useful
 * frames, if the framerate is known and upstream of the pad is seekable and not
 * live: its next frame comes at once. Otherwise none: a camera's or an
 * application's next frame may come only after this one's tensor. */
guint gst_pp_choose_depth (
    gint wish, gint useful, gint framerate, GstPad *sink);

/* The duration of that many frames, at most GST_PP_MAX_LATENCY; 0 without a
 * framerate. */
GstClockTime gst_pp_latency_of_frames (guint frames, gint fps_n, gint fps_d);
/* The same for a time between frames, at most GST_PP_MAX_LATENCY. The time is
 * rounded up to 10 ms, so that jitter does not change the latency. */
GstClockTime gst_pp_latency_of_interval (guint frames, GstClockTime interval);

/* Adds latency to both ends of an answered LATENCY query. A sum is at most
 * GST_PP_MAX_LATENCY; a value above that, such as no maximum, stays as it is. */
void gst_pp_latency_add (GstQuery *query, GstClockTime latency);

G_END_DECLS

#endif
