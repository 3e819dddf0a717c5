/* SPDX-License-Identifier: LGPL-2.1-or-later
 * How many tensors the element holds back, and the latency of that and of waiting
 * for the frames of a batch.
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
  GstClockTime latency; /* how long a frame may stay, as far as is known */
} GstPpDepth;

void gst_pp_depth_init (GstPpDepth *depth, GstElement *element);
/* Before caps are known. */
void gst_pp_depth_reset (GstPpDepth *depth);

/* Decides, when caps are set, how many tensors of batch frames each are held
 * back: wanted, if that is not negative. Otherwise as many as keep device busy if
 * that delays nobody (see gst_pp_choose_depth), and none with qos, since frames
 * that are held back would be late more often. Posts a LATENCY message if the
 * latency changes. */
void gst_pp_depth_choose (GstPpDepth *depth, GstBaseTransform *trans,
    gint wanted, guint batch, pp_device *device, const GstVideoInfo *info);
/* Decides again after each frame. If frames are pageable, which only the first
 * one shows, more tensors are needed to keep device busy. interval: the time from
 * one frame to the next, 0 if unknown; without a framerate, the latency follows
 * from it. */
void gst_pp_depth_adapt (GstPpDepth *depth, GstBaseTransform *trans,
    gint wanted, pp_device *device, const GstVideoInfo *info,
    GstClockTime interval);
/* Adds to a LATENCY query that upstream has answered. Any thread. */
void gst_pp_depth_add_latency (GstPpDepth *depth, GstQuery *query);

G_END_DECLS

#endif
