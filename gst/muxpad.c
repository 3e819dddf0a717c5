/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "muxpad.h"

#include <string.h>

#define NAME_PREFIX "sink_"

#define gst_cuda_preproc_mux_pad_parent_class parent_class
G_DEFINE_TYPE (
    GstCudaPreprocMuxPad, gst_cuda_preproc_mux_pad, GST_TYPE_AGGREGATOR_PAD)

GstClockTime
gst_pp_mux_pad_running_time (GstCudaPreprocMuxPad *pad, GstBuffer *buffer)
{
  guint64 start = GST_BUFFER_PTS (buffer), stop = GST_CLOCK_TIME_NONE;

  /* A flush takes the segment away on another thread. */
  GST_OBJECT_LOCK (pad);
  const GstSegment segment = pad->parent.segment;
  GST_OBJECT_UNLOCK (pad);
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    stop = start + GST_BUFFER_DURATION (buffer);
  else if (GST_CLOCK_TIME_IS_VALID (pad->frame_duration))
    stop = start + pad->frame_duration;
  if (segment.format != GST_FORMAT_TIME ||
      !gst_segment_clip (&segment, GST_FORMAT_TIME, start, stop, &start, &stop))
    return GST_CLOCK_TIME_NONE;
  return gst_segment_to_running_time (&segment, GST_FORMAT_TIME,
      segment.rate < 0 && GST_CLOCK_TIME_IS_VALID (stop) ? stop : start);
}

gboolean
gst_pp_mux_pad_lock_segment (GstCudaPreprocMuxPad *pad)
{
  g_mutex_lock (&pad->segment_lock);
  return !pad->flushing && pad->parent.segment.format == GST_FORMAT_TIME;
}

void
gst_pp_mux_pad_unlock_segment (GstCudaPreprocMuxPad *pad)
{
  g_mutex_unlock (&pad->segment_lock);
}

void
gst_pp_mux_pad_set_flushing (GstCudaPreprocMuxPad *pad, gboolean flushing)
{
  g_mutex_lock (&pad->segment_lock);
  pad->flushing = flushing;
  g_mutex_unlock (&pad->segment_lock);
}

void
gst_pp_mux_pad_forget (GstCudaPreprocMuxPad *pad)
{
  gst_pp_negotiated_forget_plans (&pad->what);
  gst_pp_negotiated_forget_warnings (&pad->what);
  gst_clear_caps (&pad->caps);
  pad->negotiated = pad->warned = pad->in_context = FALSE;
  pad->frame_duration = GST_CLOCK_TIME_NONE;
}

gboolean
gst_pp_mux_pad_number (const gchar *name, guint *number)
{
  const gchar *digits = name + strlen (NAME_PREFIX);
  guint64 value;

  if (!g_str_has_prefix (name, NAME_PREFIX) ||
      !g_ascii_string_to_unsigned (digits, 10, 0, G_MAXUINT, &value, NULL))
    return FALSE;
  *number = (guint) value;
  return TRUE;
}

GstCudaPreprocMuxPad *
gst_pp_mux_pad_new (GstElement *element, GstPadTemplate *templ, guint index)
{
  g_autofree gchar *name = g_strdup_printf (NAME_PREFIX "%u", index);
  GstCudaPreprocMuxPad *pad = g_object_new (GST_TYPE_CUDA_PREPROC_MUX_PAD,
      "name", name, "direction", GST_PAD_SINK, "template", templ, NULL);

  pad->index = index;
  gst_pp_negotiated_init (&pad->what, element);
  pad->what.pad = GST_PAD_NAME (pad);
  return pad;
}

static void
gst_cuda_preproc_mux_pad_finalize (GObject *object)
{
  GstCudaPreprocMuxPad *self = GST_CUDA_PREPROC_MUX_PAD (object);

  gst_pp_negotiated_clear (&self->what);
  gst_clear_caps (&self->caps);
  g_mutex_clear (&self->segment_lock);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_preproc_mux_pad_class_init (GstCudaPreprocMuxPadClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = gst_cuda_preproc_mux_pad_finalize;
}

static void
gst_cuda_preproc_mux_pad_init (GstCudaPreprocMuxPad *self)
{
  g_mutex_init (&self->segment_lock);
  self->frame_duration = GST_CLOCK_TIME_NONE;
}
