/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "depth.h"

#include "gst/debug.h"
#include "latency.h"

void
gst_pp_depth_init (GstPpDepth *depth, GstElement *element)
{
  depth->element = element;
  depth->frames = 0;
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

static void
set_frames (GstPpDepth *depth, guint frames, const GstVideoInfo *info)
{
  const gint fps_n = GST_VIDEO_INFO_FPS_N (info);
  const gint fps_d = GST_VIDEO_INFO_FPS_D (info);

  GST_INFO_OBJECT (depth->element, "holding back %u frames", frames);
  depth->frames = frames;
  if (fps_n > 0 || frames == 0)
    set_latency (depth, gst_pp_latency_of_depth (frames, fps_n, fps_d));
}

void
gst_pp_depth_choose (GstPpDepth *depth, GstBaseTransform *trans, gint wanted,
    pp_device *device, const GstVideoInfo *info)
{
  guint frames = 0;

  if (wanted >= 0 || !gst_base_transform_is_qos_enabled (trans))
    frames = gst_pp_choose_depth (wanted, pp_device_useful_jobs (device),
        GST_VIDEO_INFO_FPS_N (info), GST_BASE_TRANSFORM_SINK_PAD (trans));
  set_frames (depth, frames, info);
}

void
gst_pp_depth_adapt (GstPpDepth *depth, GstBaseTransform *trans, gint wanted,
    pp_device *device, const GstVideoInfo *info, GstClockTime interval)
{
  const guint useful = (guint) pp_device_useful_jobs (device);

  if (wanted < 0 && depth->frames > 0) {
    if (gst_base_transform_is_qos_enabled (trans))
      set_frames (depth, 0, info);
    else if (depth->frames < useful)
      set_frames (depth, useful, info);
  }
  if (GST_VIDEO_INFO_FPS_N (info) == 0)
    set_latency (depth,
        MAX (get_latency (depth),
            gst_pp_latency_of_interval (depth->frames, interval)));
}

void
gst_pp_depth_add_latency (GstPpDepth *depth, GstQuery *query)
{
  gst_pp_latency_add (query, get_latency (depth));
}
