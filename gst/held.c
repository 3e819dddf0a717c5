/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "held.h"

void
gst_pp_held_init (GstPpHeld *held, GstPad *pad)
{
  held->pad = pad;
  g_queue_init (&held->buffers);
  held->flow = GST_FLOW_OK;
  gst_pp_pace_init (&held->pace);
}

void
gst_pp_held_add (GstPpHeld *held, GstBuffer *buffer)
{
  g_queue_push_tail (&held->buffers, buffer);
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
  gst_pp_pace_count (&held->pace, GST_PP_PLACE_ELEMENT);
  const GstFlowReturn flow =
      gst_pad_push (held->pad, g_queue_pop_head (&held->buffers));
  if (was_playing && is_playing (held))
    gst_pp_pace_count (&held->pace, GST_PP_PLACE_CONSUMER);
  else
    gst_pp_pace_skip (&held->pace);
  return flow;
}

static void
discard (GstPpHeld *held)
{
  g_queue_clear_full (&held->buffers, (GDestroyNotify) gst_buffer_unref);
}

/* Whether downstream was linked or negotiated anew, and so refused a tensor that
 * was made for what was before: then the stream goes on without it. */
static gboolean
is_outdated (const GstPpHeld *held, GstFlowReturn flow)
{
  return flow == GST_FLOW_NOT_NEGOTIATED &&
      gst_pad_needs_reconfigure (held->pad);
}

static void
warn_of_lost (const GstPpHeld *held, guint lost)
{
  GST_ELEMENT_WARNING (GST_PAD_PARENT (held->pad), CORE, NEGOTIATION,
      ("Downstream changed what it takes while %u tensors were held back: they "
       "are lost",
          lost),
      ("Set async-depth=0 where pads are linked anew while playing."));
}

GstFlowReturn
gst_pp_held_push (GstPpHeld *held, guint keep)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && held->buffers.length > keep)
    flow = push_one (held);
  if (is_outdated (held, flow)) {
    warn_of_lost (held, held->buffers.length + 1);
    flow = GST_FLOW_OK;
    discard (held);
  }
  if (flow != GST_FLOW_OK)
    discard (held);
  return flow;
}

GstClockTime
gst_pp_held_span (const GstPpHeld *held)
{
  if (held->buffers.length == 0)
    return 0;

  const GstClockTime first = GST_BUFFER_PTS (held->buffers.head->data);
  const GstClockTime last = GST_BUFFER_PTS (held->buffers.tail->data);
  if (!GST_CLOCK_TIME_IS_VALID (first) || !GST_CLOCK_TIME_IS_VALID (last))
    return 0;
  return last > first ? last - first : 0;
}

void
gst_pp_held_flush (GstPpHeld *held)
{
  discard (held);
  held->started = FALSE;
  held->flow = GST_FLOW_OK;
  gst_pp_pace_skip (&held->pace);
}

void
gst_pp_held_drain (GstPpHeld *held)
{
  /* What makes us drain has just come from upstream. */
  gst_pp_pace_count (&held->pace, GST_PP_PLACE_SOURCE);
  const GstFlowReturn flow = gst_pp_held_push (held, 0);
  if (flow != GST_FLOW_OK)
    held->flow = flow;
}

GstFlowReturn
gst_pp_held_take_flow (GstPpHeld *held)
{
  const GstFlowReturn flow = held->flow;

  held->flow = GST_FLOW_OK;
  return flow;
}
