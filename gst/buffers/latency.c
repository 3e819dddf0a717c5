/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "latency.h"

static gboolean
upstream_is_stored (GstPad *sink)
{
  gboolean live = TRUE, seekable = FALSE;

  GstQuery *query = gst_query_new_latency ();
  if (gst_pad_peer_query (sink, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  if (live)
    return FALSE;

  query = gst_query_new_seeking (GST_FORMAT_TIME);
  if (gst_pad_peer_query (sink, query))
    gst_query_parse_seeking (query, NULL, &seekable, NULL, NULL);
  gst_query_unref (query);
  return seekable;
}

guint
gst_pp_choose_depth (gint wish, gint useful, gint framerate, GstPad *sink)
{
  if (wish >= 0)
    return (guint) wish;
  return framerate > 0 && upstream_is_stored (sink) ? (guint) useful : 0;
}

GstClockTime
gst_pp_latency_of_depth (guint depth, gint fps_n, gint fps_d)
{
  return fps_n > 0 ? gst_util_uint64_scale (depth * GST_SECOND, fps_d, fps_n)
                   : 0;
}

GstClockTime
gst_pp_latency_of_interval (guint depth, GstClockTime interval)
{
  const GstClockTime step = 10 * GST_MSECOND;

  return depth * ((interval + step - 1) / step * step);
}

void
gst_pp_latency_add (GstQuery *query, GstClockTime latency)
{
  gboolean live;
  GstClockTime min, max;

  gst_query_parse_latency (query, &live, &min, &max);
  min += latency;
  if (GST_CLOCK_TIME_IS_VALID (max))
    max += latency;
  gst_query_set_latency (query, live, min, max);
}
