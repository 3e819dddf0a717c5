/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How many tensors the element holds back, and the latency that this adds, and that
 * waiting for the frames of a batch adds.
 */
#ifndef GST_PP_DEPTH_H
#define GST_PP_DEPTH_H

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* The object lock guards latency; the rest is the streaming thread's. */
typedef struct {
  GstElement *element;  /* which holds them; not a reference */
  guint batch;          /* frames of a tensor */
  guint tensors;        /* held back in a steady stream */
  GstClockTime latency; /* how long a frame may stay, by what is known */
} GstPpDepth;

void gst_pp_depth_init (GstPpDepth *depth, GstElement *element);
/* Before caps are known. */
void gst_pp_depth_reset (GstPpDepth *depth);

/* How many tensors of batch frames are held back when caps are set: wanted, or if
 * that is negative, as many as keep device busy where that delays nobody: see
 * gst_pp_choose_depth. With qos, frames may be dropped when they are late, and none
 * is made later. Posts a LATENCY message where the latency changes. */
void gst_pp_depth_choose (GstPpDepth *depth, GstBaseTransform *trans,
    gint wanted, guint batch, pp_device *device, const GstVideoInfo *info);
/* The same after each frame: pageable ones, which only the first one shows, need
 * more of them under way. interval: the time from one frame to the next, 0 if
 * unknown; without a framerate only this tells how long one is held. */
void gst_pp_depth_adapt (GstPpDepth *depth, GstBaseTransform *trans,
    gint wanted, pp_device *device, const GstVideoInfo *info,
    GstClockTime interval);
/* Adds to a LATENCY query that upstream has answered. Any thread. */
void gst_pp_depth_add_latency (GstPpDepth *depth, GstQuery *query);

G_END_DECLS

#endif
