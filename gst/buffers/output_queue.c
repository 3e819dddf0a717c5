/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "output_queue.h"

#include <string.h>

#include "gst/debug.h"

static void
forget_times (GstPpOutputQueue *queue)
{
  memset (queue->gap, 0, sizeof queue->gap);
  queue->last = GST_CLOCK_TIME_NONE;
}

void
gst_pp_output_queue_init (
    GstPpOutputQueue *queue, GstPad *pad, const GstSegment *segment)
{
  memset (queue, 0, sizeof *queue);
  queue->pad = pad;
  queue->segment = segment;
  g_queue_init (&queue->items);
  queue->flow = GST_FLOW_OK;
  queue->position = GST_CLOCK_TIME_NONE;
  gst_pp_thread_time_init (&queue->thread_time);
  forget_times (queue);
}

/* times */

void
gst_pp_output_queue_note_frame (GstPpOutputQueue *queue, GstClockTime time)
{
  const GstClockTime last = queue->last;

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

static void
set_position (GstPpOutputQueue *queue, GstClockTime position)
{
  GST_OBJECT_LOCK (GST_PAD_PARENT (queue->pad));
  queue->position = position;
  GST_OBJECT_UNLOCK (GST_PAD_PARENT (queue->pad));
}

gboolean
gst_pp_output_queue_answer_position (GstPpOutputQueue *queue, GstQuery *query)
{
  GstFormat format;

  GST_OBJECT_LOCK (GST_PAD_PARENT (queue->pad));
  const GstClockTime position = queue->position;
  GST_OBJECT_UNLOCK (GST_PAD_PARENT (queue->pad));
  gst_query_parse_position (query, &format, NULL);
  if (format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (position))
    return FALSE;
  gst_query_set_position (query, format, (gint64) position);
  return TRUE;
}

static GstClockTime
to_stream_time (const GstPpOutputQueue *queue, GstClockTime time)
{
  const GstSegment *segment = queue->segment;

  if (segment->format != GST_FORMAT_TIME)
    return GST_CLOCK_TIME_NONE;
  /* The last frame may end a little behind it. */
  if (GST_CLOCK_TIME_IS_VALID (segment->stop))
    time = MIN (time, segment->stop);
  return gst_segment_to_stream_time (segment, GST_FORMAT_TIME, time);
}

void
gst_pp_output_queue_start_segment (GstPpOutputQueue *queue)
{
  set_position (queue, to_stream_time (queue, queue->segment->position));
}

/* Without a timestamp, or outside of the segment, it tells nothing. */
static void
note_position (GstPpOutputQueue *queue, GstBuffer *buffer)
{
  GstClockTime end = GST_BUFFER_PTS (buffer);

  if (!GST_CLOCK_TIME_IS_VALID (end))
    return;
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    end += GST_BUFFER_DURATION (buffer);
  const GstClockTime position = to_stream_time (queue, end);
  if (GST_CLOCK_TIME_IS_VALID (position))
    set_position (queue, position);
}

/* leaving */

void
gst_pp_output_queue_add (GstPpOutputQueue *queue, GstBuffer *buffer)
{
  g_queue_push_tail (&queue->items, buffer);
  GST_DEBUG_OBJECT (GST_PAD_PARENT (queue->pad),
      "queued the tensor with PTS %" GST_TIME_FORMAT "; tensors held: %u",
      GST_TIME_ARGS (GST_BUFFER_PTS (buffer)), queue->items.length);
}

void
gst_pp_output_queue_add_gap (GstPpOutputQueue *queue, const GstBuffer *frame)
{
  if (!GST_BUFFER_PTS_IS_VALID (frame))
    return;
  g_queue_push_tail (&queue->items,
      gst_event_new_gap (GST_BUFFER_PTS (frame), GST_BUFFER_DURATION (frame)));
  GST_DEBUG_OBJECT (GST_PAD_PARENT (queue->pad),
      "queued a gap at PTS %" GST_TIME_FORMAT,
      GST_TIME_ARGS (GST_BUFFER_PTS (frame)));
}

/* Pushes events that are older than all tensors. */
static void
push_events (GstPpOutputQueue *queue, guint keep)
{
  while (queue->items.length > keep &&
      GST_IS_EVENT (g_queue_peek_head (&queue->items)))
    gst_pad_push_event (queue->pad, g_queue_pop_head (&queue->items));
}

/* A push that lasts as long as the pipeline is paused says nothing about the
 * consumer. */
static gboolean
is_playing (const GstPpOutputQueue *queue)
{
  return GST_STATE (GST_PAD_PARENT (queue->pad)) == GST_STATE_PLAYING;
}

/* The oldest, which its caller pushes at once. */
static GstBuffer *
begin_push (GstPpOutputQueue *queue)
{
  GstBuffer *buffer = g_queue_pop_head (&queue->items);

  note_position (queue, buffer);
  queue->started = queue->leaving = TRUE;
  queue->was_playing = is_playing (queue);
  queue->leaving_pts = GST_BUFFER_PTS (buffer);
  gst_pp_thread_time_count (&queue->thread_time, GST_PP_PLACE_ELEMENT);
  return buffer;
}

/* Right after the push. */
static void
end_push (GstPpOutputQueue *queue, GstFlowReturn flow)
{
  GST_DEBUG_OBJECT (GST_PAD_PARENT (queue->pad),
      "pushed the tensor with PTS %" GST_TIME_FORMAT ": %s; tensors held: %u",
      GST_TIME_ARGS (queue->leaving_pts), gst_flow_get_name (flow),
      queue->items.length);
  queue->leaving = FALSE;
  if (flow >= GST_FLOW_OK)
    queue->refused = FALSE;
  if (queue->was_playing && is_playing (queue))
    gst_pp_thread_time_count (&queue->thread_time, GST_PP_PLACE_CONSUMER);
  else
    gst_pp_thread_time_skip (&queue->thread_time);
}

static void
discard (GstPpOutputQueue *queue)
{
  if (queue->items.length > 0)
    GST_DEBUG_OBJECT (GST_PAD_PARENT (queue->pad),
        "held tensors are discarded: %u", queue->items.length);
  g_queue_clear_full (&queue->items, (GDestroyNotify) gst_mini_object_unref);
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

/* After a push that failed. anew: downstream negotiates anew. */
static GstFlowReturn
give_up (GstPpOutputQueue *queue, GstFlowReturn flow, gboolean anew)
{
  const guint lost = queue->items.length + 1;

  discard (queue);
  queue->discont = TRUE;
  if (flow != GST_FLOW_NOT_NEGOTIATED || queue->refused ||
      !(anew || gst_pad_needs_reconfigure (queue->pad)))
    return flow;
  queue->refused = TRUE;
  warn_of_lost (queue, lost);
  return GST_FLOW_OK;
}

GstBuffer *
gst_pp_output_queue_take (GstPpOutputQueue *queue, guint keep)
{
  if (queue->leaving)
    end_push (queue, GST_FLOW_OK);
  push_events (queue, keep);
  if (queue->items.length > keep)
    return begin_push (queue);
  gst_pp_thread_time_count (&queue->thread_time, GST_PP_PLACE_ELEMENT);
  return NULL;
}

GstFlowReturn
gst_pp_output_queue_settle (GstPpOutputQueue *queue, GstFlowReturn flow)
{
  if (!queue->leaving)
    return flow;
  end_push (queue, flow);
  return flow >= GST_FLOW_OK ? flow : give_up (queue, flow, FALSE);
}

/* draining and flushing */

static void
drain (GstPpOutputQueue *queue, const gchar *cause, gboolean anew)
{
  GstFlowReturn flow = GST_FLOW_OK;

  if (queue->items.length > 0)
    GST_DEBUG_OBJECT (GST_PAD_PARENT (queue->pad),
        "%s: held tensors are pushed before it: %u", cause,
        queue->items.length);

  /* What makes us drain has just come from upstream. */
  gst_pp_thread_time_count (&queue->thread_time, GST_PP_PLACE_SOURCE);
  push_events (queue, 0);
  while (flow >= GST_FLOW_OK && queue->items.length > 0) {
    flow = gst_pad_push (queue->pad, begin_push (queue));
    queue->drained++;
    end_push (queue, flow);
    push_events (queue, 0);
  }
  if (flow < GST_FLOW_OK)
    flow = give_up (queue, flow, anew);
  if (flow < GST_FLOW_OK)
    queue->flow = flow;
}

void
gst_pp_output_queue_drain (GstPpOutputQueue *queue, const gchar *cause)
{
  drain (queue, cause, FALSE);
}

void
gst_pp_output_queue_drain_outdated (GstPpOutputQueue *queue)
{
  drain (queue, "new caps", TRUE);
}

GstFlowReturn
gst_pp_output_queue_take_flow (GstPpOutputQueue *queue)
{
  const GstFlowReturn flow = queue->flow;

  queue->flow = GST_FLOW_OK;
  return flow;
}

void
gst_pp_output_queue_flush (GstPpOutputQueue *queue)
{
  discard (queue);
  forget_times (queue);
  queue->started = queue->discont = queue->refused = queue->leaving = FALSE;
  queue->flow = GST_FLOW_OK;
  queue->drained = 0;
  set_position (queue, GST_CLOCK_TIME_NONE);
  gst_pp_thread_time_skip (&queue->thread_time);
}
