/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "h264feed.h"

/* Longest time to read a clip. */
#define PATIENCE (20 * GST_SECOND)
#define FEED "h264-feed"

struct H264Clip {
  GPtrArray *units; /* GstBuffer */
  GstCaps *caps;
  GstClockTime duration; /* of one pass */
};

typedef struct {
  H264Clip *clip;
  gint left; /* frames; negative: no end */
  guint64 next;
  gint ended; /* atomic */
} Feed;

/* reading */

static void
add_unit (H264Clip *clip, GstSample *sample)
{
  GstBuffer *unit = gst_sample_get_buffer (sample);

  if (clip->units->len == 0 &&
      GST_BUFFER_FLAG_IS_SET (unit, GST_BUFFER_FLAG_DELTA_UNIT))
    return;
  g_ptr_array_add (clip->units, gst_buffer_ref (unit));
  gst_caps_replace (&clip->caps, gst_sample_get_caps (sample));
}

/* From the first time to the end of the last one, in the order of presentation. */
static GstClockTime
find_duration (const H264Clip *clip)
{
  GstClockTime first = GST_CLOCK_TIME_NONE, end = 0;

  for (guint i = 0; i < clip->units->len; i++) {
    const GstBuffer *unit = clip->units->pdata[i];
    if (!GST_BUFFER_PTS_IS_VALID (unit) || !GST_BUFFER_DURATION_IS_VALID (unit))
      return 0;
    first = MIN (first, GST_BUFFER_PTS (unit));
    end = MAX (end, GST_BUFFER_PTS (unit) + GST_BUFFER_DURATION (unit));
  }
  return end > first ? end - first : 0;
}

/* Why reading stopped; NULL: at the end. */
static gchar *
read_units (H264Clip *clip, GstElement *pipeline)
{
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *failure = NULL;
  GstSample *sample;
  gboolean eos = FALSE;
  gchar *reason = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  do {
    g_signal_emit_by_name (
        sink, "try-pull-sample", (guint64) (PATIENCE / 100), &sample);
    if (sample != NULL) {
      add_unit (clip, sample);
      gst_sample_unref (sample);
    }
    g_object_get (sink, "eos", &eos, NULL);
    failure = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  } while (failure == NULL && (sample != NULL || !eos));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (failure != NULL) {
    GError *error = NULL;
    gst_message_parse_error (failure, &error, NULL);
    reason = g_strdup (error->message);
    g_error_free (error);
    gst_message_unref (failure);
  }
  gst_object_unref (bus);
  gst_object_unref (sink);
  return reason;
}

H264Clip *
h264_clip_read (const gchar *path, const gchar *demuxer, gchar **reason)
{
  g_autofree gchar *line = g_strdup_printf (
      "filesrc location=\"%s\" ! %s h264parse config-interval=-1 ! "
      "video/x-h264,stream-format=byte-stream,alignment=au ! "
      "appsink name=sink sync=false enable-last-sample=false",
      path, demuxer);
  GError *error = NULL;
  GstElement *pipeline =
      gst_parse_launch_full (line, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &error);

  if (pipeline == NULL) {
    *reason = g_strdup (error->message);
    g_error_free (error);
    return NULL;
  }
  H264Clip *clip = g_new0 (H264Clip, 1);
  clip->units =
      g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  *reason = read_units (clip, pipeline);
  gst_object_unref (pipeline);
  clip->duration = find_duration (clip);
  if (*reason == NULL && clip->duration == 0)
    *reason = g_strdup_printf ("%s has no IDR, or frames without times", path);
  if (*reason != NULL)
    g_clear_pointer (&clip, h264_clip_free);
  return clip;
}

void
h264_clip_free (H264Clip *clip)
{
  g_ptr_array_unref (clip->units);
  gst_clear_caps (&clip->caps);
  g_free (clip);
}

guint
h264_clip_length (const H264Clip *clip)
{
  return clip->units->len;
}

/* feeding */

static GstBuffer *
next_unit (Feed *feed)
{
  const guint length = feed->clip->units->len;
  const GstClockTime passed = feed->next / length * feed->clip->duration;
  GstBuffer *unit =
      gst_buffer_copy (feed->clip->units->pdata[feed->next % length]);

  if (feed->next > 0)
    GST_BUFFER_FLAG_UNSET (unit, GST_BUFFER_FLAG_DISCONT);
  GST_BUFFER_PTS (unit) += passed;
  if (GST_BUFFER_DTS_IS_VALID (unit))
    GST_BUFFER_DTS (unit) += passed;
  feed->next++;
  return unit;
}

/* On the streaming thread, whenever there is nothing to send. */
static void
on_need_data (GstElement *source, guint size, gpointer data)
{
  Feed *feed = data;
  GstFlowReturn flow;

  (void) size;
  if (feed->left == 0 || g_atomic_int_get (&feed->ended)) {
    g_signal_emit_by_name (source, "end-of-stream", &flow);
    return;
  }
  if (feed->left > 0)
    feed->left--;
  GstBuffer *unit = next_unit (feed);
  g_signal_emit_by_name (source, "push-buffer", unit, &flow);
  gst_buffer_unref (unit);
}

void
h264_feed (GstElement *source, H264Clip *clip, gint frames)
{
  Feed *feed = g_new0 (Feed, 1);

  feed->clip = clip;
  feed->left = frames;
  g_object_set_data_full (G_OBJECT (source), FEED, feed, g_free);
  g_object_set (source, "caps", clip->caps, "format", GST_FORMAT_TIME, NULL);
  g_signal_connect (source, "need-data", G_CALLBACK (on_need_data), feed);
}

void
h264_feed_end (GstElement *source)
{
  Feed *feed = g_object_get_data (G_OBJECT (source), FEED);

  g_atomic_int_set (&feed->ended, TRUE);
}
