/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "orientation.h"

#include <gst/video/video.h>

#include "enums.h"

void
gst_pp_orientation_clear (GstPpOrientation *orientation)
{
  g_free (orientation->stream_id);
  *orientation = (GstPpOrientation){ .of_all = PP_DIRECTION_IDENTITY,
    .direction = PP_DIRECTION_IDENTITY };
}

void
gst_pp_orientation_start_stream (
    GstPpOrientation *orientation, const gchar *stream_id)
{
  if (g_strcmp0 (stream_id, orientation->stream_id) == 0)
    return;
  gst_pp_orientation_clear (orientation);
  orientation->stream_id = g_strdup (stream_id);
}

gboolean
gst_pp_orientation_take_tags (
    GstPpOrientation *orientation, const GstTagList *tags)
{
  const gboolean of_stream =
      gst_tag_list_get_scope (tags) == GST_TAG_SCOPE_STREAM;
  GstVideoOrientationMethod method = GST_VIDEO_ORIENTATION_IDENTITY;
  /* Its parameter lacks a const. */
  const gboolean found =
      gst_video_orientation_from_tag ((GstTagList *) tags, &method);

  if (of_stream)
    orientation->of_stream = found;
  else
    orientation->of_all = gst_pp_direction_from_method (method);
  if (of_stream && found)
    orientation->direction = gst_pp_direction_from_method (method);
  else if (!orientation->of_stream)
    orientation->direction = orientation->of_all;
  return found;
}

GstEvent *
gst_pp_orientation_upright_event (GstEvent *event)
{
  GstTagList *tags;

  /* Others may hold the event and its list. */
  gst_event_parse_tag (event, &tags);
  tags = gst_tag_list_copy (tags);
  gst_tag_list_add (
      tags, GST_TAG_MERGE_REPLACE, GST_TAG_IMAGE_ORIENTATION, "rotate-0", NULL);

  GstEvent *upright = gst_event_new_tag (tags);

  gst_event_set_seqnum (upright, gst_event_get_seqnum (event));
  gst_event_unref (event);
  return upright;
}
