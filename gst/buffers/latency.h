/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * When frames may be held back, and what that adds to the latency.
 */
#ifndef GST_PP_LATENCY_H
#define GST_PP_LATENCY_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* How many frames to hold back: as many as the user wants (from 0), else as
 * many as are useful where frames come as fast as they are taken, else none.
 * They do where the framerate is known and what comes to the pad is stored
 * somewhere: not live, and seekable. A camera's or an application's frame may be
 * waited for before the next one comes. */
guint gst_pp_choose_depth (
    gint wish, gint useful, gint framerate, GstPad *sink);

/* How long depth frames take to come; 0 without a framerate. */
GstClockTime gst_pp_latency_of_depth (guint depth, gint fps_n, gint fps_d);
/* The same where only the time between frames is known, rounded up, so that
 * whoever follows it does not change the latency all the time. */
GstClockTime gst_pp_latency_of_interval (guint depth, GstClockTime interval);

/* Adds to an answered LATENCY query. */
void gst_pp_latency_add (GstQuery *query, GstClockTime latency);

G_END_DECLS

#endif
