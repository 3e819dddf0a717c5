/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "output_queue.h"

#include <string.h>

static void
forget_times (GstPpHeld *held)
{
  memset (held->gap, 0, sizeof held->gap);
  held->last = GST_CLOCK_TIME_NONE;
}

void
gst_pp_held_init (GstPpHeld *held, GstPad *pad)
{
  held->pad = pad;
  g_queue_init (&held->buffers);
  held->flow = GST_FLOW_OK;
  gst_pp_thread_time_init (&held->thread_time);
  forget_times (held);
}

void
gst_pp_held_add (GstPpHeld *held, GstBuffer *buffer)
{
  const GstClockTime time = GST_BUFFER_PTS (buffer), last = held->last;

  g_queue_push_tail (&held->buffers, buffer);
  for (gint i = GST_PP_HELD_GAPS - 1; i > 0; i--)
    held->gap[i] = held->gap[i - 1];
  if (GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (last) &&
      time > last)
    held->gap[0] = time - last;
  else
    forget_times (held);
  held->last = time;
}

GstClockTime
gst_pp_held_interval (const GstPpHeld *held)
{
  GstClockTime least = held->gap[0];

  for (gint i = 1; i < GST_PP_HELD_GAPS; i++)
    least = MIN (least, held->gap[i]);
  return least;
}

/* A push that lasts as long as the pipeline is paused says nothing about the
 * consumer. */
static gboolean
is_playing (const GstPpHeld *held)
{
  return GST_STATE (GST_PAD_PARENT (held->pad)) == GST_STATE_PLAYING;
}

static GstFlowReturn
push_one (GstPpHeld *held)
{
  const gboolean was_playing = is_playing (held);

  held->started = TRUE;
  gst_pp_thread_time_count (&held->thread_time, GST_PP_PLACE_ELEMENT);
  const GstFlowReturn flow =
      gst_pad_push (held->pad, g_queue_pop_head (&held->buffers));
  if (flow == GST_FLOW_OK)
    held->refused = FALSE;
  if (was_playing && is_playing (held))
    gst_pp_thread_time_count (&held->thread_time, GST_PP_PLACE_CONSUMER);
  else
    gst_pp_thread_time_skip (&held->thread_time);
  return flow;
}

static void
discard (GstPpHeld *held)
{
  g_queue_clear_full (&held->buffers, (GDestroyNotify) gst_buffer_unref);
}

/* Downstream was linked or negotiated anew, and refused a tensor that was made
 * for what was before: the stream goes on without it. */
static void
warn_of_lost (const GstPpHeld *held, guint lost)
{
  GST_ELEMENT_WARNING (GST_PAD_PARENT (held->pad), CORE, NEGOTIATION,
      ("Downstream changed what it takes and refused a tensor that was on its "
       "way: tensors lost: %u",
          lost),
      ("Block the pad until the element is drained before linking it anew; "
       "with async-depth=0 one tensor at most is on its way."));
}

static GstFlowReturn
push_all_but (GstPpHeld *held, guint keep, gboolean anew)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && held->buffers.length > keep)
    flow = push_one (held);
  if (flow == GST_FLOW_OK)
    return flow;

  const guint lost = held->buffers.length + 1;
  discard (held);
  held->discont = TRUE;
  if (flow != GST_FLOW_NOT_NEGOTIATED || held->refused ||
      !(anew || gst_pad_needs_reconfigure (held->pad)))
    return flow;
  held->refused = TRUE;
  warn_of_lost (held, lost);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_pp_held_push (GstPpHeld *held, guint keep)
{
  return push_all_but (held, keep, FALSE);
}

void
gst_pp_held_flush (GstPpHeld *held)
{
  discard (held);
  forget_times (held);
  held->started = held->discont = held->refused = FALSE;
  held->flow = GST_FLOW_OK;
  gst_pp_thread_time_skip (&held->thread_time);
}

static void
drain (GstPpHeld *held, gboolean anew)
{
  /* What makes us drain has just come from upstream. */
  gst_pp_thread_time_count (&held->thread_time, GST_PP_PLACE_SOURCE);
  const GstFlowReturn flow = push_all_but (held, 0, anew);
  if (flow != GST_FLOW_OK)
    held->flow = flow;
}

void
gst_pp_held_drain (GstPpHeld *held)
{
  drain (held, FALSE);
}

void
gst_pp_held_drain_outdated (GstPpHeld *held)
{
  drain (held, TRUE);
}

GstFlowReturn
gst_pp_held_take_flow (GstPpHeld *held)
{
  const GstFlowReturn flow = held->flow;

  held->flow = GST_FLOW_OK;
  return flow;
}
