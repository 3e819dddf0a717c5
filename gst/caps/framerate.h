/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Framerates of frames, and of the batches that they are put into: pure functions
 * on values of caps, which may be fractions, ranges and lists of them.
 */
#ifndef GST_PP_FRAMERATE_H
#define GST_PP_FRAMERATE_H

#include <gst/gst.h>

G_BEGIN_DECLS

/* Whether framerate, of tensors, takes any video. */
gboolean gst_pp_framerate_is_open (const GValue *framerate);
/* *scaled, which is unset, becomes framerate times n / d. What is out of a
 * fraction's range becomes the largest one. FALSE: framerate is none. */
gboolean gst_pp_framerate_scale (
    GValue *scaled, const GValue *framerate, gint n, gint d);
/* Restricts the framerate of structure, or sets it where there is none. If both
 * have nothing in common, or framerate is of another type, such as text, which
 * GstVideoInfo ignores, it stays. */
void gst_pp_framerate_restrict (
    GstStructure *structure, const GValue *framerate);

G_END_DECLS

#endif
