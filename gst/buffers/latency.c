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
gst_pp_latency_of_frames (guint frames, gint fps_n, gint fps_d)
{
  if (fps_n <= 0)
    return 0;
  /* Gives G_MAXUINT64 for what is more. */
  const guint64 latency =
      gst_util_uint64_scale (frames * GST_SECOND, (guint64) fps_d, fps_n);
  return MIN (latency, GST_PP_MAX_LATENCY);
}

GstClockTime
gst_pp_latency_of_interval (guint frames, GstClockTime interval)
{
  const GstClockTime step = 10 * GST_MSECOND;
  const GstClockTime longest = MIN (interval, GST_PP_MAX_LATENCY);
  const guint64 steps = longest / step + (longest % step != 0);

  return MIN (
      gst_util_uint64_scale (frames, steps * step, 1), GST_PP_MAX_LATENCY);
}

static GstClockTime
add (GstClockTime time, GstClockTime latency)
{
  if (time >= GST_PP_MAX_LATENCY)
    return time;
  return MIN (time + latency, GST_PP_MAX_LATENCY);
}

void
gst_pp_latency_add (GstQuery *query, GstClockTime latency)
{
  gboolean live;
  GstClockTime min, max;

  gst_query_parse_latency (query, &live, &min, &max);
  gst_query_set_latency (query, live, add (min, latency), add (max, latency));
}
