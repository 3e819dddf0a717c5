/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "depth.h"

#include "gst/debug.h"
#include "latency.h"

void
gst_pp_depth_init (GstPpDepth *depth, GstElement *element)
{
  depth->element = element;
  depth->batch = 1;
  depth->tensors = 0;
  depth->latency = 0;
}

void
gst_pp_depth_reset (GstPpDepth *depth)
{
  GST_OBJECT_LOCK (depth->element);
  depth->latency = 0;
  GST_OBJECT_UNLOCK (depth->element);
}

static GstClockTime
get_latency (GstPpDepth *depth)
{
  GST_OBJECT_LOCK (depth->element);
  const GstClockTime latency = depth->latency;
  GST_OBJECT_UNLOCK (depth->element);
  return latency;
}

static void
set_latency (GstPpDepth *depth, GstClockTime latency)
{
  GST_OBJECT_LOCK (depth->element);
  const gboolean changed = depth->latency != latency;
  depth->latency = latency;
  GST_OBJECT_UNLOCK (depth->element);
  if (changed)
    gst_element_post_message (depth->element,
        gst_message_new_latency (GST_OBJECT_CAST (depth->element)));
}

/* The most frames that come after one before it leaves. */
static guint
count_frames (const GstPpDepth *depth)
{
  return depth->tensors * depth->batch + depth->batch - 1;
}

static void
set_tensors (GstPpDepth *depth, guint tensors, const GstVideoInfo *info)
{
  const gint fps_n = GST_VIDEO_INFO_FPS_N (info);
  const gint fps_d = GST_VIDEO_INFO_FPS_D (info);

  GST_INFO_OBJECT (depth->element, "holding back %u tensors", tensors);
  depth->tensors = tensors;
  if (fps_n > 0 || count_frames (depth) == 0)
    set_latency (
        depth, gst_pp_latency_of_frames (count_frames (depth), fps_n, fps_d));
}

/* Tensors that have as many jobs as keep device busy. */
static guint
useful_tensors (const GstPpDepth *depth, const pp_device *device)
{
  const guint jobs = (guint) pp_device_useful_jobs (device);

  return (jobs + depth->batch - 1) / depth->batch;
}

void
gst_pp_depth_choose (GstPpDepth *depth, GstBaseTransform *trans, gint wanted,
    guint batch, pp_device *device, const GstVideoInfo *info)
{
  guint tensors = 0;

  depth->batch = batch;
  if (wanted >= 0 || !gst_base_transform_is_qos_enabled (trans))
    tensors =
        gst_pp_choose_depth (wanted, (gint) useful_tensors (depth, device),
            GST_VIDEO_INFO_FPS_N (info), GST_BASE_TRANSFORM_SINK_PAD (trans));
  set_tensors (depth, tensors, info);
}

void
gst_pp_depth_adapt (GstPpDepth *depth, GstBaseTransform *trans, gint wanted,
    pp_device *device, const GstVideoInfo *info, GstClockTime interval)
{
  const guint useful = useful_tensors (depth, device);

  if (wanted < 0 && depth->tensors > 0) {
    if (gst_base_transform_is_qos_enabled (trans))
      set_tensors (depth, 0, info);
    else if (depth->tensors < useful)
      set_tensors (depth, useful, info);
  }
  if (GST_VIDEO_INFO_FPS_N (info) == 0)
    set_latency (depth,
        MAX (get_latency (depth),
            gst_pp_latency_of_interval (count_frames (depth), interval)));
}

void
gst_pp_depth_add_latency (GstPpDepth *depth, GstQuery *query)
{
  gst_pp_latency_add (query, get_latency (depth));
}
