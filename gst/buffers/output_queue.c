/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "output_queue.h"

#include <string.h>

static void
forget_times (GstPpOutputQueue *queue)
{
  memset (queue->gap, 0, sizeof queue->gap);
  queue->last = GST_CLOCK_TIME_NONE;
}

void
gst_pp_output_queue_init (GstPpOutputQueue *queue, GstPad *pad)
{
  queue->pad = pad;
  g_queue_init (&queue->buffers);
  queue->flow = GST_FLOW_OK;
  gst_pp_pace_init (&queue->pace);
  forget_times (queue);
}

void
gst_pp_output_queue_add (GstPpOutputQueue *queue, GstBuffer *buffer)
{
  const GstClockTime time = GST_BUFFER_PTS (buffer), last = queue->last;

  g_queue_push_tail (&queue->buffers, buffer);
  for (gint i = GST_PP_MAX_GAPS - 1; i > 0; i--)
    queue->gap[i] = queue->gap[i - 1];
  if (GST_CLOCK_TIME_IS_VALID (time) && GST_CLOCK_TIME_IS_VALID (last) &&
      time > last)
    queue->gap[0] = time - last;
  else
    forget_times (queue);
  queue->last = time;
}

GstClockTime
gst_pp_output_queue_interval (const GstPpOutputQueue *queue)
{
  GstClockTime least = queue->gap[0];

  for (gint i = 1; i < GST_PP_MAX_GAPS; i++)
    least = MIN (least, queue->gap[i]);
  return least;
}

/* A push that lasts as long as the pipeline is paused says nothing about the
 * consumer. */
static gboolean
is_playing (const GstPpOutputQueue *queue)
{
  return GST_STATE (GST_PAD_PARENT (queue->pad)) == GST_STATE_PLAYING;
}

static GstFlowReturn
push_one (GstPpOutputQueue *queue)
{
  const gboolean was_playing = is_playing (queue);

  queue->started = TRUE;
  gst_pp_pace_count (&queue->pace, GST_PP_PLACE_ELEMENT);
  const GstFlowReturn flow =
      gst_pad_push (queue->pad, g_queue_pop_head (&queue->buffers));
  if (flow == GST_FLOW_OK)
    queue->refused = FALSE;
  if (was_playing && is_playing (queue))
    gst_pp_pace_count (&queue->pace, GST_PP_PLACE_CONSUMER);
  else
    gst_pp_pace_skip (&queue->pace);
  return flow;
}

static void
discard (GstPpOutputQueue *queue)
{
  g_queue_clear_full (&queue->buffers, (GDestroyNotify) gst_buffer_unref);
}

/* Downstream was linked or negotiated anew, and refused a tensor that was made
 * for what was before: the stream goes on without it. */
static void
warn_of_lost (const GstPpOutputQueue *queue, guint lost)
{
  GST_ELEMENT_WARNING (GST_PAD_PARENT (queue->pad), CORE, NEGOTIATION,
      ("Downstream changed what it takes and refused a tensor that was on its "
       "way: tensors lost: %u",
          lost),
      ("Block the pad until the element is drained before linking it anew; "
       "with async-depth=0 one tensor at most is on its way."));
}

static GstFlowReturn
push_all_but (GstPpOutputQueue *queue, guint keep, gboolean anew)
{
  GstFlowReturn flow = GST_FLOW_OK;

  while (flow == GST_FLOW_OK && queue->buffers.length > keep)
    flow = push_one (queue);
  if (flow == GST_FLOW_OK)
    return flow;

  const guint lost = queue->buffers.length + 1;
  discard (queue);
  queue->discont = TRUE;
  if (flow != GST_FLOW_NOT_NEGOTIATED || queue->refused ||
      !(anew || gst_pad_needs_reconfigure (queue->pad)))
    return flow;
  queue->refused = TRUE;
  warn_of_lost (queue, lost);
  return GST_FLOW_OK;
}

GstFlowReturn
gst_pp_output_queue_push (GstPpOutputQueue *queue, guint keep)
{
  return push_all_but (queue, keep, FALSE);
}

void
gst_pp_output_queue_flush (GstPpOutputQueue *queue)
{
  discard (queue);
  forget_times (queue);
  queue->started = queue->discont = queue->refused = FALSE;
  queue->flow = GST_FLOW_OK;
  gst_pp_pace_skip (&queue->pace);
}

static void
drain (GstPpOutputQueue *queue, gboolean anew)
{
  /* What makes us drain has just come from upstream. */
  gst_pp_pace_count (&queue->pace, GST_PP_PLACE_SOURCE);
  const GstFlowReturn flow = push_all_but (queue, 0, anew);
  if (flow != GST_FLOW_OK)
    queue->flow = flow;
}

void
gst_pp_output_queue_drain (GstPpOutputQueue *queue)
{
  drain (queue, FALSE);
}

void
gst_pp_output_queue_drain_outdated (GstPpOutputQueue *queue)
{
  drain (queue, TRUE);
}

GstFlowReturn
gst_pp_output_queue_take_flow (GstPpOutputQueue *queue)
{
  const GstFlowReturn flow = queue->flow;

  queue->flow = GST_FLOW_OK;
  return flow;
}
