/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Caps of video on the src pad: the picture before it is normalised, for people to
 * look at and for elements that take video.
 */
#ifndef GST_PP_VIDEO_CAPS_H
#define GST_PP_VIDEO_CAPS_H

#include <gst/video/video.h>

#include "tensorcaps.h"

G_BEGIN_DECLS

/* Reads format and size of structure into *tensor, the first format that agrees
 * with constraints; *format is its name in structure. A size that structure leaves
 * open becomes one that is near *tensor's. FALSE and *reason (free it) if
 * constraints contradict. */
gboolean gst_pp_video_caps_read (const GstStructure *structure,
    const GstPpTensorConstraints *constraints, GstPpTensor *tensor,
    const gchar **format, gchar **reason);
/* Writes the same, and of what structure leaves open, the pixel aspect ratio and
 * the colorimetry of pictures made of frames with the caps video. */
void gst_pp_video_caps_write (GstStructure *structure,
    const GstPpTensor *tensor, const GstPpTensorConstraints *constraints,
    const GstCaps *video);

/* Where the bytes of such a tensor are, as GstVideoInfo has it. */
pp_surface gst_pp_video_surface (const GstPpTensor *tensor);

G_END_DECLS

#endif
