/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cudapreproc
 * @title: cudapreproc
 * @short_description: video frames to normalized tensors
 *
 * Turns video frames into normalized tensors for neural networks: converted,
 * resized, normalized, in frame order. Frames are uploaded, computed and
 * downloaded on several CUDA streams at once; without a GPU, CPU threads give
 * the same bits.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=100 ! cudapreproc width=640 height=640 fit=letterbox ! fakesink
 * ]|
 *
 * Since: 0.1
 */

#include "cudapreproc.h"

#include <gst/video/video.h>

#include "buffers/allocation.h"
#include "buffers/batch.h"
#include "buffers/depth.h"
#include "buffers/arena_memory.h"
#include "buffers/output_queue.h"
#include "buffers/regions.h"
#include "caps/capswatch.h"
#include "caps/inputformat.h"
#include "caps/tensorcaps.h"
#include "convert.h"
#include "convertcontext.h"
#include "debug.h"
#include "elementclass.h"

struct _GstCudaPreproc {
  GstBaseTransform parent;
  GstPpConverter converter;
  GstPpNegotiated negotiated; /* the streaming thread's */

  /* The base class' own, which ours call. */
  GstPadChainFunction base_chain;
  GstPadActivateModeFunction base_sink_activate, base_src_activate;

  /* The base class' pool of tensors, or NULL. Under the object lock. */
  GstBufferPool *pool;

  /* The streaming thread's. */
  GstPpBatch batch;         /* open: frames are being added to it */
  GArray *regions;          /* GstPpRegion: those of the last frame */
  GstPpOutputQueue outputs; /* complete tensors */
  GstPpDepth depth;
  gboolean at_once; /* the last frame's tensor is not held back */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_PP_INPUT_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_PP_OUTPUT_CAPS));

#define gst_cuda_preproc_parent_class parent_class
/* The interface has nothing but a property, which is one of the settings. */
G_DEFINE_TYPE_WITH_CODE (GstCudaPreproc, gst_cuda_preproc,
    GST_TYPE_BASE_TRANSFORM,
    G_IMPLEMENT_INTERFACE (GST_TYPE_VIDEO_DIRECTION, NULL))

static void
on_allocation_failed (gpointer owner, const pp_error *error)
{
  GstCudaPreproc *self = owner;

  gst_pp_element_allocation_failed (
      &self->converter, GST_BASE_TRANSFORM_SINK_PAD (self), error);
}

/* caps: what comes in, what goes out, and the plan between them */

static GstCaps *
gst_cuda_preproc_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK
      ? GST_BASE_TRANSFORM_SRC_PAD (trans)
      : GST_BASE_TRANSFORM_SINK_PAD (trans);
  const GstPpTensorConstraints constraints =
      gst_pp_converter_tensor_constraints (
          &GST_CUDA_PREPROC (trans)->converter);
  GstCaps *other_template = gst_pad_get_pad_template_caps (other);
  GstCaps *result = gst_pp_tensor_caps_transform (
      caps, direction, &constraints, other_template, filter);

  gst_caps_unref (other_template);
  return result;
}

static GstCaps *
gst_cuda_preproc_fixate_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  if (direction == GST_PAD_SRC)
    return GST_BASE_TRANSFORM_CLASS (parent_class)
        ->fixate_caps (trans, direction, caps, othercaps);
  /* If the frames' own caps are wrong, the error must not blame downstream's. */
  GstVideoInfo info;
  GstCaps *fixed = gst_pp_converter_read_video (&self->converter, caps, &info)
      ? gst_pp_converter_fixate (&self->converter, othercaps, caps, 1)
      : gst_caps_new_empty ();
  gst_caps_unref (othercaps);
  return fixed;
}

static gboolean
has_regions (const GstCudaPreproc *self)
{
  return self->negotiated.settings.regions != GST_PP_REGIONS_NONE;
}

/* Ends the open batch, full or not, if there is one. */
static void
close_batch (GstCudaPreproc *self, const gchar *cause)
{
  const guint pictures = self->batch.n_pictures, size = self->batch.size;
  GstBuffer *buffer =
      gst_pp_converter_close_batch (&self->converter, &self->batch);

  if (buffer == NULL)
    return;
  if (pictures < size)
    GST_DEBUG_OBJECT (self, "%s: the open batch leaves with %u of %u pictures",
        cause, pictures, size);
  if (self->outputs.discont)
    GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_DISCONT);
  self->outputs.discont = FALSE;
  gst_pp_output_queue_add (&self->outputs, buffer);
}

static void
close_and_drain (GstCudaPreproc *self, const gchar *cause)
{
  close_batch (self, cause);
  gst_pp_output_queue_drain (&self->outputs, cause);
}

/* Waits for the device first, which may still write to what is discarded. */
static void
discard_tensors (GstCudaPreproc *self)
{
  pp_device_drain (self->converter.opened.device, NULL);
  gst_pp_batch_clear (&self->batch);
  gst_pp_output_queue_flush (&self->outputs);
}

static gboolean
gst_cuda_preproc_set_caps (
    GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  GstPpConverter *converter = &self->converter;

  close_batch (self, "new caps");
  gst_pp_output_queue_drain_outdated (&self->outputs);
  if (!gst_pp_converter_set_caps (
          converter, &self->negotiated, incaps, outcaps))
    return FALSE;
  gst_pp_depth_choose (&self->depth, trans,
      self->negotiated.settings.async_depth,
      has_regions (self) ? 1 : (guint) self->negotiated.tensor.batch,
      converter->opened.device, &self->negotiated.info);
  gst_pp_negotiated_log (
      &self->negotiated, converter->opened.device, self->depth.tensors, incaps);
  return TRUE;
}

/* memory: ours for upstream's frames, ours for tensors */

static gboolean
gst_cuda_preproc_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  g_autoptr (GstObject) context =
      gst_pp_open_device_get_context (&self->converter.opened);

  if (!gst_pp_propose_allocation (query, self->converter.allocator, context,
          (guint) pp_device_streams (self->converter.opened.device)))
    return FALSE;
  gst_pp_log_allocation (GST_ELEMENT_CAST (self), self->converter.opened.device,
      "upstream was offered", query);
  return TRUE;
}

/* Takes the reference; NULL: there is none any more. */
static void
take_pool (GstCudaPreproc *self, GstBufferPool *pool)
{
  GST_OBJECT_LOCK (self);
  GstBufferPool *before = self->pool;
  self->pool = pool;
  GST_OBJECT_UNLOCK (self);
  gst_clear_object (&before);
}

/* Always our own pool: mapping its memory waits for the device. */
static gboolean
gst_cuda_preproc_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  const guint batch = self->depth.batch;
  const guint jobs = (guint) pp_device_streams (self->converter.opened.device);
  /* Those that are held back, those that jobs fill, and the one that is open in
   * between. Those that downstream holds come on top. */
  const guint min_buffers =
      self->depth.tensors + (jobs + batch - 1) / batch + (batch > 1);
  GstBufferPool *pool = NULL;
  GstPpFault fault;
  gchar *reason = NULL;

  if (!gst_pp_decide_allocation (query, self->converter.opened.device,
          self->converter.opened.gpu, &self->negotiated.tensor, min_buffers,
          &fault, &reason)) {
    gst_pp_converter_post_reason (&self->converter, fault, reason);
    return FALSE;
  }
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  take_pool (self, pool);
  gst_pp_log_allocation (GST_ELEMENT_CAST (self), self->converter.opened.device,
      "tensors come from", query);
  return TRUE;
}

/* Nothing ever waits in the pool of tensors, but who asks it for a buffer while
 * the element flushes gets FLUSHING. Any thread: the base class gives out its
 * pool without a lock, and the streaming thread may be replacing it. */
static void
set_flushing (GstCudaPreproc *self, gboolean flushing)
{
  GST_OBJECT_LOCK (self);
  g_autoptr (GstBufferPool) pool =
      self->pool != NULL ? gst_object_ref (self->pool) : NULL;
  GST_OBJECT_UNLOCK (self);

  if (pool != NULL)
    gst_buffer_pool_set_flushing (pool, flushing);
}

/* a frame's way: chain, submit_input_buffer, convert, generate_output */

/* Opens a batch in an output buffer with the timestamps, flags and metas of
 * frame. They are copied now, since the frame may be gone when the tensor is
 * done. */
static GstFlowReturn
open_batch (GstCudaPreproc *self, const GstPpFrame *frame, const pp_plan *plan)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstBuffer *output = NULL;
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS (parent_class)
          ->prepare_output_buffer (trans, frame->input.buffer, &output);

  if (flow != GST_FLOW_OK) {
    gst_pp_converter_post_no_output (
        &self->converter, gst_base_transform_get_buffer_pool (trans), flow);
    return flow;
  }
  return gst_pp_converter_open_batch (
             &self->converter, &self->negotiated, &self->batch, output, plan)
      ? GST_FLOW_OK
      : GST_FLOW_ERROR;
}

/* Adds frame to the open batch, or opens one. Takes frame. */
static GstFlowReturn
add_frame (GstCudaPreproc *self, GstPpFrame *frame, pp_plan *plan)
{
  GstPpBatch *batch = &self->batch;
  GstFlowReturn flow = GST_FLOW_OK;

  if (batch->buffer == NULL)
    flow = open_batch (self, frame, plan);
  else
    gst_pp_batch_extend (batch, frame->input.buffer);
  if (flow != GST_FLOW_OK) {
    gst_pp_frame_free (frame);
    return flow;
  }
  gst_pp_thread_time_take (&self->outputs.thread_time,
      gst_pp_memory_get_waited (gst_buffer_peek_memory (batch->buffer, 0)),
      &frame->spent);
  frame->urgent =
      self->depth.tensors == 0 && batch->n_pictures + 1 == batch->size;
  if (gst_pp_converter_add (&self->converter, &self->negotiated, batch,
          batch->n_pictures, frame, plan))
    return GST_FLOW_OK;
  if (batch->n_pictures == 0)
    gst_pp_batch_clear (batch);
  return GST_FLOW_ERROR;
}

/* Makes a tensor of n regions of frame, from number first on. Takes frame. */
static GstFlowReturn
add_regions (GstCudaPreproc *self, GstPpFrame *frame, pp_plan *plan,
    guint first, guint n)
{
  GstPpBatch *batch = &self->batch;
  const GstFlowReturn flow = open_batch (self, frame, plan);

  if (flow != GST_FLOW_OK) {
    gst_pp_frame_free (frame);
    return flow;
  }
  if (first > 0)
    GST_BUFFER_FLAG_UNSET (batch->buffer, GST_BUFFER_FLAG_DISCONT);
  gst_pp_thread_time_take (&self->outputs.thread_time,
      gst_pp_memory_get_waited (gst_buffer_peek_memory (batch->buffer, 0)),
      &frame->spent);
  frame->urgent = self->depth.tensors == 0;
  if (gst_pp_converter_add_regions (&self->converter, &self->negotiated, batch,
          self->regions, first, n, frame)) {
    close_batch (self, "a frame's regions are in it");
    return GST_FLOW_OK;
  }
  gst_pp_batch_clear (batch);
  return GST_FLOW_ERROR;
}

/* Makes tensors of all regions of frame; they do not wait for the next frame.
 * Takes frame. plan: of the whole picture. */
static GstFlowReturn
convert_regions (GstCudaPreproc *self, GstPpFrame *frame, pp_plan *plan)
{
  GstPpNegotiated *negotiated = &self->negotiated;
  const guint size = (guint) negotiated->tensor.batch;
  g_autoptr (GstBuffer) input = gst_buffer_ref (frame->input.buffer);
  pp_geometry geometry;
  GstFlowReturn flow = GST_FLOW_OK;

  pp_plan_get_geometry (plan, &geometry);
  gst_pp_regions_find (self->regions, input, negotiated->settings.region_types,
      &geometry.source);
  const guint n = self->regions->len;
  if (n == 0) {
    gst_pp_frame_free (frame);
    gst_pp_output_queue_add_gap (&self->outputs, input);
  }
  for (guint first = 0; first < n && flow == GST_FLOW_OK; first += size) {
    if (first > 0)
      frame = gst_pp_converter_map_again (
          &self->converter, negotiated, gst_buffer_ref (input), &plan);
    if (frame == NULL)
      return GST_FLOW_ERROR;
    flow = add_regions (self, frame, plan, first, MIN (size, n - first));
  }
  return flow;
}

/* Adds frame to the open batch, which leaves when it is full. Takes frame. */
static GstFlowReturn
convert_frame (
    GstCudaPreproc *self, GstPpFrame *frame, pp_plan *plan, gboolean is_discont)
{
  const GstFlowReturn flow = add_frame (self, frame, plan);

  if (flow != GST_FLOW_OK)
    return flow;
  if (is_discont)
    GST_BUFFER_FLAG_SET (self->batch.buffer, GST_BUFFER_FLAG_DISCONT);
  if (gst_pp_batch_is_full (&self->batch))
    close_batch (self, "it is full");
  return GST_FLOW_OK;
}

/* Queues jobs on the device that turn input (transfer full) into pictures of
 * tensors. */
static GstFlowReturn
convert (GstCudaPreproc *self, GstBuffer *input, gboolean is_discont)
{
  GstPpConverter *converter = &self->converter;
  const GstClockTime pts = GST_BUFFER_PTS (input);
  pp_plan *plan = NULL;

  GstPpFrame *frame =
      gst_pp_converter_map (converter, &self->negotiated, input, &plan);
  if (frame == NULL)
    return GST_FLOW_ERROR;
  self->outputs.discont |= is_discont && has_regions (self);
  const GstFlowReturn flow = has_regions (self)
      ? convert_regions (self, frame, plan)
      : convert_frame (self, frame, plan, is_discont);
  if (flow != GST_FLOW_OK)
    return flow;
  gst_pp_output_queue_note_frame (&self->outputs, pts);
  gst_pp_depth_adapt (&self->depth, GST_BASE_TRANSFORM (self),
      self->negotiated.settings.async_depth, converter->opened.device,
      &self->negotiated.info, gst_pp_output_queue_interval (&self->outputs));
  return GST_FLOW_OK;
}

/* Frames in CUDA memory are read where they are, which the device must do in their
 * context. */
static gboolean
follow_context (GstCudaPreproc *self, GstBuffer *input)
{
  GstBaseTransform *trans = &self->parent;
  GstObject *context = gst_pp_converter_other_context (
      &self->converter, &self->negotiated, input);

  if (context == NULL)
    return TRUE;
  close_and_drain (self, "a frame of another CUDA context");
  if (!gst_pp_converter_move (&self->converter, &self->negotiated, context))
    return FALSE;
  /* The base class asks for another pool, but takes caps that stay the same as
   * negotiated. */
  gst_base_transform_reconfigure_src (trans);
  g_autoptr (GstCaps) video =
      gst_pad_get_current_caps (GST_BASE_TRANSFORM_SINK_PAD (trans));
  g_autoptr (GstCaps) tensors =
      gst_pad_get_current_caps (GST_BASE_TRANSFORM_SRC_PAD (trans));
  return video == NULL || tensors == NULL ||
      gst_cuda_preproc_set_caps (trans, video, tensors);
}

/* After the base class dropped a frame. It marks the next tensor that it pushes
 * as discontinuous, so a drain pushes those from before the gap. */
static GstFlowReturn
note_dropped (GstCudaPreproc *self, GstClockTime pts)
{
  GST_DEBUG_OBJECT (self,
      "the frame with PTS %" GST_TIME_FORMAT
      " is late and was dropped, as downstream's QoS events ask",
      GST_TIME_ARGS (pts));
  gst_pp_monitor_add_dropped (self->converter.monitor);
  gst_pp_output_queue_drain (&self->outputs, "a dropped frame");
  const GstFlowReturn flow = gst_pp_output_queue_take_flow (&self->outputs);
  return flow == GST_FLOW_OK ? GST_BASE_TRANSFORM_FLOW_DROPPED : flow;
}

/* If the frame is discontinuous, the base class marks the next tensor that it
 * pushes. So earlier tensors must have left by then, and this frame's must leave
 * at once: a drain would push it unmarked. The first tensor of a stream leaves at
 * once, too: sinks preroll with it, and upstream may be a tee that sends no more
 * until its other sinks play. is_discont stays set until the base class has
 * pushed a tensor, so also for later frames of the same batch, which only DISCONT
 * itself ends. */
static GstFlowReturn
gst_cuda_preproc_submit_input_buffer (
    GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  GstPpOutputQueue *outputs = &self->outputs;

  gst_pp_thread_time_count (&outputs->thread_time, GST_PP_PLACE_SOURCE);
  if (!follow_context (self, input)) {
    gst_buffer_unref (input);
    return GST_FLOW_ERROR;
  }
  if (gst_pp_converter_turns (&self->converter, &self->negotiated))
    gst_base_transform_reconfigure_src (trans);
  if (GST_BUFFER_FLAG_IS_SET (input, GST_BUFFER_FLAG_DISCONT))
    close_and_drain (self, "a frame with DISCONT");
  else if (gst_pad_needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (trans)))
    close_and_drain (self, "a new negotiation");
  GstFlowReturn flow = gst_pp_output_queue_take_flow (outputs);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return flow;
  }
  const GstClockTime pts = GST_BUFFER_PTS (input);
  flow = GST_BASE_TRANSFORM_CLASS (parent_class)
             ->submit_input_buffer (trans, is_discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    return note_dropped (self, pts);
  if (flow != GST_FLOW_OK)
    return flow;
  self->at_once = is_discont || !outputs->started;
  return convert (self, g_steal_pointer (&trans->queued_buf), is_discont);
}

/* The oldest tensor, if it need not be held any longer. The base class pushes it,
 * which counts it for QoS, and calls this again. */
static GstFlowReturn
gst_cuda_preproc_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  *output = gst_pp_output_queue_take (
      &self->outputs, self->at_once ? 0 : self->depth.tensors);
  return GST_FLOW_OK;
}

/* Hands on what pushing the last tensor returned. */
static GstFlowReturn
gst_cuda_preproc_chain (GstPad *pad, GstObject *parent, GstBuffer *input)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (parent);
  const GstFlowReturn flow = self->base_chain (pad, parent, input);

  return gst_pp_output_queue_settle (&self->outputs, flow);
}

/* Never called, since generate_output does its work. Without it, the base class
 * would take this for an element that works in place. */
static GstFlowReturn
gst_cuda_preproc_transform (
    GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  g_return_val_if_reached (GST_FLOW_NOT_SUPPORTED);
}

/* events and queries: what is serialized comes after the frames before it */

static gboolean
handle_caps (GstCudaPreproc *self, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gst_caps_ref (caps);
  const gboolean handled =
      GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
  /* The base class may have found nothing in common without asking us. */
  if (!handled && !GST_PAD_IS_FLUSHING (GST_BASE_TRANSFORM_SRC_PAD (trans))) {
    g_autoptr (GstCaps) peer =
        gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SRC_PAD (trans), NULL);
    g_autofree gchar *video = gst_caps_to_string (caps);
    g_autofree gchar *wanted = gst_caps_to_string (peer);
    gst_pp_converter_post_reason (&self->converter, GST_PP_FAULT_NEGOTIATION,
        g_strdup_printf (
            "No tensor of %s is what downstream takes: %s", video, wanted));
  }
  gst_caps_unref (caps);
  return handled;
}

/* The stream begins again: what happened before no longer counts. */
static void
end_flush (GstCudaPreproc *self)
{
  GST_DEBUG_OBJECT (self, "flush-stop: the stream begins again");
  discard_tensors (self);
  gst_pp_error_gate_open (&self->converter.errors);
  set_flushing (self, FALSE);
}

static gboolean
gst_cuda_preproc_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  const GstEventType type = GST_EVENT_TYPE (event);

  if (type == GST_EVENT_FLUSH_STOP) {
    end_flush (self);
  } else if (type == GST_EVENT_FLUSH_START) {
    GST_DEBUG_OBJECT (self, "flush-start: what is held will be discarded");
    set_flushing (self, TRUE);
  } else if (GST_EVENT_IS_SERIALIZED (event)) {
    if (gst_pp_batch_ends_at (type))
      close_batch (self, GST_EVENT_TYPE_NAME (event));
    gst_pp_output_queue_drain (&self->outputs, GST_EVENT_TYPE_NAME (event));
    /* The end of the last segment is not the end of the next. */
    if (self->outputs.flow == GST_FLOW_EOS &&
        (type == GST_EVENT_SEGMENT || type == GST_EVENT_STREAM_START))
      self->outputs.flow = GST_FLOW_OK;
  }

  if (type == GST_EVENT_STREAM_START)
    gst_pp_converter_start_stream (&self->converter, &self->negotiated, event);
  else if (type == GST_EVENT_TAG)
    event =
        gst_pp_converter_take_tags (&self->converter, &self->negotiated, event);
  if (type == GST_EVENT_CAPS)
    return handle_caps (self, event);
  if (type == GST_EVENT_EOS &&
      !gst_pp_converter_end_stream (&self->converter)) {
    gst_event_unref (event);
    return FALSE;
  }
  const gboolean handled =
      GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
  if (type == GST_EVENT_SEGMENT)
    gst_pp_output_queue_start_segment (&self->outputs);
  return handled;
}

static gboolean
query_src (GstCudaPreproc *self, GstQuery *query)
{
  GstBaseTransform *trans = &self->parent;

  if (GST_QUERY_TYPE (query) == GST_QUERY_SCHEDULING) {
    /* Frames are pushed, whatever upstream could do. */
    gst_query_set_scheduling (query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode (query, GST_PAD_MODE_PUSH);
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_POSITION &&
      gst_pp_output_queue_answer_position (&self->outputs, query))
    return TRUE;
  if (gst_pp_element_answers_context (GST_ELEMENT_CAST (self), query))
    return TRUE;
  const gboolean answered = GST_BASE_TRANSFORM_CLASS (parent_class)
                                ->query (trans, GST_PAD_SRC, query);
  if (answered && GST_QUERY_TYPE (query) == GST_QUERY_LATENCY)
    gst_pp_depth_add_latency (&self->depth, query);
  return answered;
}

static gboolean
query_sink (GstCudaPreproc *self, GstQuery *query)
{
  GstBaseTransform *trans = &self->parent;

  /* GStreamer sends these to an inactive pad, too. The base class would then
   * negotiate while stop runs, and keep the result for good. Deactivating the pad
   * waits for a query that is already here, since that has the stream lock. */
  if (GST_QUERY_IS_SERIALIZED (query) &&
      !gst_pad_is_active (GST_BASE_TRANSFORM_SINK_PAD (trans)))
    return FALSE;
  if (gst_pp_element_answers_context (GST_ELEMENT_CAST (self), query))
    return TRUE;
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN) {
    close_and_drain (self, "drain query");
    /* Upstream wants its buffers back. */
    pp_device_drain (self->converter.opened.device, NULL);
  } else if (GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION &&
      gst_pad_needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (trans))) {
    close_and_drain (self, "allocation query");
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)
      ->query (trans, GST_PAD_SINK, query);
}

static gboolean
gst_cuda_preproc_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  return direction == GST_PAD_SRC ? query_src (self, query)
                                  : query_sink (self, query);
}

/* states */

static gboolean
gst_cuda_preproc_start (GstBaseTransform *trans)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  gst_pp_depth_reset (&self->depth);
  gst_pp_negotiated_forget_warnings (&self->negotiated);
  return gst_pp_converter_start (&self->converter);
}

static gboolean
gst_cuda_preproc_stop (GstBaseTransform *trans)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  discard_tensors (self);
  take_pool (self, NULL);
  gst_pp_negotiated_forget_plans (&self->negotiated);
  gst_pp_converter_forget_tags (&self->converter, &self->negotiated);
  gst_pp_converter_stop (&self->converter);
  return TRUE;
}

static GstStateChangeReturn
gst_cuda_preproc_change_state (GstElement *element, GstStateChange transition)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (element);

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_flushing (self, TRUE);
  return gst_pp_element_change_state (element, transition);
}

/* The base class counts only tensors that it pushed itself. Drains push some,
 * too. */
static gboolean
gst_cuda_preproc_post_message (GstElement *element, GstMessage *message)
{
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_QOS &&
      GST_MESSAGE_SRC (message) == GST_OBJECT_CAST (element)) {
    GstFormat format;
    guint64 processed, dropped;
    gst_message_parse_qos_stats (message, &format, &processed, &dropped);
    message = gst_message_make_writable (message);
    gst_message_set_qos_stats (message, format,
        processed + GST_CUDA_PREPROC (element)->outputs.drained, dropped);
  }
  return GST_ELEMENT_CLASS (parent_class)->post_message (element, message);
}

/* Frames are pushed to us. The base class would pull them if a sink asked. */
static gboolean
gst_cuda_preproc_activate_mode (
    GstPad *pad, GstObject *parent, GstPadMode mode, gboolean active)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (parent);

  if (mode == GST_PAD_MODE_PULL && active)
    return FALSE;
  return GST_PAD_IS_SRC (pad)
      ? self->base_src_activate (pad, parent, mode, active)
      : self->base_sink_activate (pad, parent, mode, active);
}

/* GObject */

static void
gst_cuda_preproc_finalize (GObject *object)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (object);

  g_array_unref (self->regions);
  gst_pp_negotiated_clear (&self->negotiated);
  gst_pp_converter_clear (&self->converter);
  gst_clear_object (&self->pool);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_preproc_class_init (GstCudaPreprocClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  static const gchar *const none[] = { NULL };

  G_OBJECT_CLASS (klass)->finalize = gst_cuda_preproc_finalize;
  gst_pp_element_class_init (
      element_class, G_STRUCT_OFFSET (GstCudaPreproc, converter), none);

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA preprocessor",
      "Filter/Converter/Video/Scaler/Colorspace/Hardware",
      "Turns video frames into normalized tensors for neural networks",
      "The cudapreproc authors");
  element_class->change_state = gst_cuda_preproc_change_state;
  element_class->post_message = gst_cuda_preproc_post_message;

  trans_class->start = gst_cuda_preproc_start;
  trans_class->stop = gst_cuda_preproc_stop;
  trans_class->transform_caps = gst_cuda_preproc_transform_caps;
  trans_class->fixate_caps = gst_cuda_preproc_fixate_caps;
  trans_class->set_caps = gst_cuda_preproc_set_caps;
  trans_class->propose_allocation = gst_cuda_preproc_propose_allocation;
  trans_class->decide_allocation = gst_cuda_preproc_decide_allocation;
  trans_class->sink_event = gst_cuda_preproc_sink_event;
  trans_class->query = gst_cuda_preproc_query;
  trans_class->submit_input_buffer = gst_cuda_preproc_submit_input_buffer;
  trans_class->generate_output = gst_cuda_preproc_generate_output;
  trans_class->transform = gst_cuda_preproc_transform;
  trans_class->passthrough_on_same_caps = FALSE;
}

/* Puts our functions in front of the base class' own. */
static void
wrap_pads (GstCudaPreproc *self)
{
  GstPad *sink = GST_BASE_TRANSFORM_SINK_PAD (self);
  GstPad *src = GST_BASE_TRANSFORM_SRC_PAD (self);

  self->base_chain = GST_PAD_CHAINFUNC (sink);
  self->base_sink_activate = GST_PAD_ACTIVATEMODEFUNC (sink);
  self->base_src_activate = GST_PAD_ACTIVATEMODEFUNC (src);
  gst_pad_set_chain_function (sink, gst_cuda_preproc_chain);
  gst_pad_set_activatemode_function (sink, gst_cuda_preproc_activate_mode);
  gst_pad_set_activatemode_function (src, gst_cuda_preproc_activate_mode);
}

static void
gst_cuda_preproc_init (GstCudaPreproc *self)
{
  GstBaseTransform *trans = &self->parent;
  GstElement *element = GST_ELEMENT_CAST (self);

  gst_pp_converter_init (&self->converter, element, on_allocation_failed);
  gst_pp_negotiated_init (&self->negotiated, element);
  self->regions = gst_pp_regions_new ();
  gst_pp_caps_watch_add (
      GST_BASE_TRANSFORM_SINK_PAD (self), element, &self->converter.errors);
  gst_pp_output_queue_init (
      &self->outputs, GST_BASE_TRANSFORM_SRC_PAD (self), &trans->segment);
  gst_pp_depth_init (&self->depth, element);
  wrap_pads (self);
  gst_base_transform_set_gap_aware (trans, TRUE);
  gst_base_transform_set_prefer_passthrough (trans, FALSE);
}
