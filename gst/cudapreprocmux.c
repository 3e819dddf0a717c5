/* SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cudapreprocmux
 * @title: cudapreprocmux
 * @short_description: frames of several streams to one batch of tensors
 *
 * Takes one frame from each sink pad, whatever its size and format, and makes a
 * tensor with a slice for each of them: the frame of sink_2 is slice 2. All that
 * cudapreproc does to a frame, with the same properties, is done to each.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 cudapreprocmux name=mux width=640 height=640 fit=letterbox ! fakesink videotestsrc num-buffers=100 ! queue ! mux. videotestsrc num-buffers=100 pattern=ball ! queue ! mux.
 * ]|
 *
 * Since: 0.1
 */

#include "cudapreprocmux.h"

#include "buffers/allocation.h"
#include "buffers/batch.h"
#include "buffers/host_memory.h"
#include "caps/capswatch.h"
#include "caps/inputformat.h"
#include "caps/tensorcaps.h"
#include "convert.h"
#include "debug.h"
#include "elementclass.h"
#include "muxround.h"
#include "muxslices.h"

struct _GstCudaPreprocMux {
  GstAggregator parent;
  GstPpConverter converter;

  /* The number of slices; 0 before the first negotiation. Under the object lock;
   * only the source pad's thread writes it. */
  guint slices;
  GstPpTensor tensor;    /* the source pad's thread's */
  GstClockTime position; /* of the last batch; NONE before it; likewise */
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE ("sink_%u",
    GST_PAD_SINK, GST_PAD_REQUEST, GST_STATIC_CAPS (GST_PP_INPUT_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_PP_TENSOR_CAPS));

#define gst_cuda_preproc_mux_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCudaPreprocMux, gst_cuda_preproc_mux,
    GST_TYPE_AGGREGATOR, G_IMPLEMENT_INTERFACE (GST_TYPE_VIDEO_DIRECTION, NULL))

static void
on_allocation_failed (gpointer owner, const pp_error *error)
{
  GstCudaPreprocMux *self = owner;

  gst_pp_element_allocation_failed (
      &self->converter, self->parent.srcpad, error);
}

/* pads */

/* Whether there is, or will be, a slice for a pad of this index; if not, warns.
 * Before the first negotiation, pads get as many slices as they need, unless
 * properties say how many there are. */
static gboolean
has_slice (GstCudaPreprocMux *self, guint index)
{
  GST_OBJECT_LOCK (self);
  guint slices = self->slices;
  GST_OBJECT_UNLOCK (self);

  if (slices == 0)
    slices =
        (guint) gst_pp_converter_tensor_constraints (&self->converter).batch;
  if (slices == 0)
    slices = GST_PP_MAX_BATCH;
  if (index < slices)
    return TRUE;
  gst_pp_mux_slices_warn (GST_ELEMENT_CAST (self), index, slices);
  return FALSE;
}

static GstAggregatorPad *
gst_cuda_preproc_mux_create_new_pad (GstAggregator *aggregator,
    GstPadTemplate *templ, const gchar *name, const GstCaps *caps)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstElement *element = GST_ELEMENT_CAST (self);
  guint index = 0;

  if (name == NULL || g_strcmp0 (name, templ->name_template) == 0) {
    while (gst_pp_mux_slices_is_taken (element, index))
      index++;
  } else if (!gst_pp_mux_pad_number (name, &index) ||
      gst_pp_mux_slices_is_taken (element, index)) {
    GST_WARNING_OBJECT (self, "no pad can be named %s", name);
    return NULL;
  }
  if (!has_slice (self, index))
    return NULL;
  GstCudaPreprocMuxPad *pad = gst_pp_mux_pad_new (element, templ, index);
  gst_pp_caps_watch_add (GST_PAD (pad), element, &self->converter.errors);
  return GST_AGGREGATOR_PAD (pad);
}

/* caps */

static GstFlowReturn
gst_cuda_preproc_mux_update_src_caps (
    GstAggregator *aggregator, GstCaps *caps, GstCaps **chosen)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  const guint slices = self->slices != 0
      ? self->slices
      : gst_pp_mux_slices_count (GST_ELEMENT_CAST (self));

  *chosen =
      gst_pp_converter_fixate (&self->converter, caps, NULL, (gint) slices);
  return gst_caps_is_empty (*chosen) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

/* Reads the caps of batches. FALSE after posting why they cannot be made. */
static gboolean
read_batches (GstCudaPreprocMux *self, const GstCaps *caps)
{
  const GstPpTensorConstraints constraints =
      gst_pp_converter_tensor_constraints (&self->converter);
  g_autofree gchar *reason = NULL;
  gchar *text;

  if (!gst_pp_tensor_from_caps (caps, &constraints, &self->tensor, &reason))
    text = g_strdup_printf ("The tensors' caps have %s", reason);
  else if (self->slices != 0 && self->slices != (guint) self->tensor.batch)
    text = g_strdup_printf (
        "Downstream now wants batches of %d pictures, but they have %u since "
        "the start",
        self->tensor.batch, self->slices);
  else
    return TRUE;
  gst_pp_converter_post_reason (
      &self->converter, GST_PP_FAULT_NEGOTIATION, text);
  return FALSE;
}

/* FALSE after posting why the pad's frames cannot be converted. */
static gboolean
negotiate_pad (
    GstCudaPreprocMux *self, GstCudaPreprocMuxPad *pad, const GstCaps *tensors)
{
  pad->negotiated = gst_pp_converter_set_caps (
      &self->converter, &pad->what, pad->caps, tensors);
  return pad->negotiated;
}

static gboolean
gst_cuda_preproc_mux_negotiated_src_caps (
    GstAggregator *aggregator, GstCaps *caps)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstPpMuxSlices slices;
  gboolean negotiated = read_batches (self, caps);

  gst_pp_mux_slices_list (&slices, GST_ELEMENT_CAST (self));
  for (guint i = 0; i < GST_PP_MAX_BATCH && negotiated; i++)
    if (slices.pad[i] != NULL && slices.pad[i]->caps != NULL)
      negotiated = negotiate_pad (self, slices.pad[i], caps);
  gst_pp_mux_slices_clear (&slices);
  if (!negotiated)
    return FALSE;
  GST_OBJECT_LOCK (self);
  self->slices = (guint) self->tensor.batch;
  GST_OBJECT_UNLOCK (self);
  GST_DEBUG_OBJECT (self, "negotiated batches of %d: %" GST_PTR_FORMAT,
      self->tensor.batch, caps);
  return TRUE;
}

/* A live batch waits as long as the slowest stream takes for a frame, at most. */
static void
update_latency (GstCudaPreprocMux *self)
{
  GstPpMuxSlices slices;
  GstClockTime longest = 0;

  gst_pp_mux_slices_list (&slices, GST_ELEMENT_CAST (self));
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++)
    if (slices.pad[i] != NULL &&
        GST_CLOCK_TIME_IS_VALID (slices.pad[i]->frame_duration))
      longest = MAX (longest, slices.pad[i]->frame_duration);
  gst_pp_mux_slices_clear (&slices);
  gst_aggregator_set_latency (&self->parent, longest, longest);
}

static gboolean
handle_caps (GstCudaPreprocMux *self, GstCudaPreprocMuxPad *pad, GstCaps *caps)
{
  g_autoptr (GstCaps) tensors = gst_pad_get_current_caps (self->parent.srcpad);
  const GstStructure *video = gst_caps_get_structure (caps, 0);
  gint fps_n, fps_d;

  gst_caps_replace (&pad->caps, caps);
  pad->frame_duration = GST_CLOCK_TIME_NONE;
  if (gst_structure_get_fraction (video, "framerate", &fps_n, &fps_d) &&
      fps_n > 0 && fps_d > 0)
    pad->frame_duration = gst_util_uint64_scale_int (GST_SECOND, fps_d, fps_n);
  update_latency (self);
  return tensors == NULL || negotiate_pad (self, pad, tensors);
}

/* memory */

static gboolean
gst_cuda_preproc_mux_propose_allocation (GstAggregator *aggregator,
    GstAggregatorPad *pad, GstQuery *decide_query, GstQuery *query)
{
  GstPpConverter *converter = &GST_CUDA_PREPROC_MUX (aggregator)->converter;

  return gst_pp_propose_allocation (query, converter->allocator,
      (guint) pp_device_streams (converter->device));
}

static gboolean
gst_cuda_preproc_mux_decide_allocation (
    GstAggregator *aggregator, GstQuery *query)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  pp_device *device = self->converter.device;
  GstPpFault fault;
  gchar *reason = NULL;

  if (gst_pp_decide_allocation (query, device, &self->tensor,
          (guint) pp_device_streams (device), &fault, &reason))
    return TRUE;
  gst_pp_converter_post_reason (&self->converter, fault, reason);
  return FALSE;
}

/* a batch's way: clip, aggregate, send_round, convert */

/* On the source pad's thread, with the pad's lock held. */
static GstBuffer *
gst_cuda_preproc_mux_clip (
    GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *frame)
{
  if (!GST_BUFFER_PTS_IS_VALID (frame) || /* an error, see muxround.c */
      GST_CLOCK_TIME_IS_VALID (
          gst_pp_mux_pad_running_time (GST_CUDA_PREPROC_MUX_PAD (pad), frame)))
    return frame;
  GST_DEBUG_OBJECT (pad,
      "the frame with PTS %" GST_TIME_FORMAT " is outside of its segment and "
      "was dropped",
      GST_TIME_ARGS (GST_BUFFER_PTS (frame)));
  gst_buffer_unref (frame);
  return NULL;
}

/* The position of a running time in the output segment, but never one before the
 * last batch. */
static GstClockTime
place_batch (GstCudaPreprocMux *self, GstClockTime time)
{
  GstAggregatorPad *srcpad = GST_AGGREGATOR_PAD (self->parent.srcpad);

  GST_OBJECT_LOCK (srcpad);
  const guint64 position = gst_segment_position_from_running_time (
      &srcpad->segment, GST_FORMAT_TIME, time);
  GST_OBJECT_UNLOCK (srcpad);
  return GST_CLOCK_TIME_IS_VALID (self->position)
      ? MAX (position, self->position)
      : position;
}

/* Takes a buffer from the pool and gives it the round's times and flags. */
static GstFlowReturn
prepare_output (
    GstCudaPreprocMux *self, const GstPpMuxRound *round, GstBuffer **output)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (&self->parent);
  const GstFlowReturn flow = pool != NULL
      ? gst_buffer_pool_acquire_buffer (pool, output, NULL)
      : GST_FLOW_ERROR;

  if (flow != GST_FLOW_OK) {
    gst_pp_converter_post_no_output (&self->converter, pool, flow);
    return flow;
  }
  gst_object_unref (pool);
  self->position = place_batch (self, round->earliest);
  GST_BUFFER_PTS (*output) = self->position;
  GST_BUFFER_DURATION (*output) = round->duration;
  GST_BUFFER_FLAG_SET (*output, round->discont);
  return GST_FLOW_OK;
}

/* Adds slice i's frame of the round to the batch, which the first one opens. */
static GstFlowReturn
convert (
    GstCudaPreprocMux *self, GstPpMuxRound *round, guint i, GstPpBatch *batch)
{
  GstPpConverter *converter = &self->converter;
  GstCudaPreprocMuxPad *pad = round->slices.pad[i];
  GstFlowReturn flow = GST_FLOW_OK;
  GstBuffer *output = NULL;
  pp_plan *plan = NULL;

  GstPpFrame *frame = gst_pp_converter_map (
      converter, &pad->what, g_steal_pointer (&round->frame[i]), &plan);
  if (frame == NULL)
    return GST_FLOW_ERROR;
  if (batch->buffer == NULL) {
    flow = prepare_output (self, round, &output);
    if (flow == GST_FLOW_OK &&
        !gst_pp_converter_open_batch (
            converter, &pad->what, batch, output, plan))
      flow = GST_FLOW_ERROR;
  }
  if (flow != GST_FLOW_OK) {
    gst_pp_frame_free (frame);
    return flow;
  }
  return gst_pp_converter_add (converter, &pad->what, batch, i, frame, plan)
      ? GST_FLOW_OK
      : GST_FLOW_ERROR;
}

static GstFlowReturn
send_round (GstCudaPreprocMux *self, GstPpMuxRound *round)
{
  GstAggregatorPad *srcpad = GST_AGGREGATOR_PAD (self->parent.srcpad);
  GstFlowReturn flow = GST_FLOW_OK;
  GstPpBatch batch = { NULL };

  for (guint i = 0; i < GST_PP_MAX_BATCH && flow == GST_FLOW_OK; i++)
    if (round->frame[i] != NULL)
      flow = convert (self, round, i, &batch);
  if (flow != GST_FLOW_OK) {
    gst_pp_batch_clear (&batch);
    return flow;
  }
  GST_OBJECT_LOCK (srcpad);
  srcpad->segment.position = self->position;
  GST_OBJECT_UNLOCK (srcpad);
  return gst_aggregator_finish_buffer (
      &self->parent, gst_pp_batch_close (&batch));
}

static GstFlowReturn
gst_cuda_preproc_mux_aggregate (GstAggregator *aggregator, gboolean timeout)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstFlowReturn flow = GST_AGGREGATOR_FLOW_NEED_DATA;
  GstPpMuxRound round;

  /* A deadline comes also where negotiation failed. */
  if (!gst_pad_has_current_caps (aggregator->srcpad))
    return gst_pp_error_gate_has_posted (&self->converter.errors)
        ? GST_FLOW_NOT_NEGOTIATED
        : GST_AGGREGATOR_FLOW_NEED_DATA;
  if (!gst_pp_mux_round_take (&round, &self->converter, self->slices))
    flow = GST_FLOW_ERROR;
  else if (round.ended)
    flow = gst_pp_converter_end_stream (&self->converter) ? GST_FLOW_EOS
                                                          : GST_FLOW_ERROR;
  else if (round.frames > 0)
    flow = send_round (self, &round);
  gst_pp_mux_round_clear (&round);
  return flow;
}

/* The running time of the earliest frame that waits, by which a live batch leaves
 * when the latency has passed; NONE: nothing waits. */
static GstClockTime
gst_cuda_preproc_mux_get_next_time (GstAggregator *aggregator)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstPpMuxSlices slices;
  GstClockTime earliest = GST_CLOCK_TIME_NONE;

  gst_pp_mux_slices_list (&slices, GST_ELEMENT_CAST (self));
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++) {
    if (slices.pad[i] == NULL)
      continue;
    GstBuffer *frame = gst_aggregator_pad_peek_buffer (&slices.pad[i]->parent);
    if (frame == NULL)
      continue;
    const GstClockTime time = GST_BUFFER_PTS_IS_VALID (frame)
        ? gst_pp_mux_pad_running_time (slices.pad[i], frame)
        : 0; /* the error is posted at once */
    if (!GST_CLOCK_TIME_IS_VALID (earliest) || time < earliest)
      earliest = time;
    gst_buffer_unref (frame);
  }
  gst_pp_mux_slices_clear (&slices);
  return earliest;
}

/* events and queries */

/* On the thread that sends the event. */
static GstFlowReturn
gst_cuda_preproc_mux_sink_event_pre_queue (GstAggregator *aggregator,
    GstAggregatorPad *aggregator_pad, GstEvent *event)
{
  GstCudaPreprocMuxPad *pad = GST_CUDA_PREPROC_MUX_PAD (aggregator_pad);
  GstAggregatorClass *base = GST_AGGREGATOR_CLASS (parent_class);

  if (GST_EVENT_TYPE (event) != GST_EVENT_FLUSH_STOP)
    return base->sink_event_pre_queue (aggregator, aggregator_pad, event);
  gst_pp_mux_pad_set_flushing (pad, TRUE);
  const GstFlowReturn flow =
      base->sink_event_pre_queue (aggregator, aggregator_pad, event);
  gst_pp_mux_pad_set_flushing (pad, FALSE);
  return flow;
}

/* GStreamer 1.22 asserts that the pad has a segment. */
static gboolean
handle_gap (
    GstAggregator *aggregator, GstCudaPreprocMuxPad *pad, GstEvent *event)
{
  gboolean handled = FALSE;

  if (gst_pp_mux_pad_lock_segment (pad)) {
    handled = GST_AGGREGATOR_CLASS (parent_class)
                  ->sink_event (aggregator, &pad->parent, event);
  } else {
    GST_DEBUG_OBJECT (pad, "a GAP event without a segment was dropped");
    gst_event_unref (event);
  }
  gst_pp_mux_pad_unlock_segment (pad);
  return handled;
}

/* Serialized events come on the source pad's thread. */
static gboolean
gst_cuda_preproc_mux_sink_event (GstAggregator *aggregator,
    GstAggregatorPad *aggregator_pad, GstEvent *event)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstCudaPreprocMuxPad *pad = GST_CUDA_PREPROC_MUX_PAD (aggregator_pad);

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    GstCaps *caps;
    gst_event_parse_caps (event, &caps);
    const gboolean handled = handle_caps (self, pad, caps);
    gst_event_unref (event);
    return handled;
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_GAP)
    return handle_gap (aggregator, pad, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START)
    gst_pp_converter_start_stream (&self->converter, &pad->what, event);
  else if (GST_EVENT_TYPE (event) == GST_EVENT_TAG)
    event = gst_pp_converter_take_tags (&self->converter, &pad->what, event);
  return GST_AGGREGATOR_CLASS (parent_class)
      ->sink_event (aggregator, aggregator_pad, event);
}

/* The stream begins again: what happened before no longer counts. */
static GstFlowReturn
gst_cuda_preproc_mux_flush (GstAggregator *aggregator)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);

  pp_device_drain (self->converter.device, NULL);
  gst_pp_error_gate_open (&self->converter.errors);
  self->position = GST_CLOCK_TIME_NONE;
  return GST_FLOW_OK;
}

static gboolean
answer_position (GstCudaPreprocMux *self, GstQuery *query)
{
  GstAggregatorPad *srcpad = GST_AGGREGATOR_PAD (self->parent.srcpad);
  GstFormat format;

  gst_query_parse_position (query, &format, NULL);
  if (format != GST_FORMAT_TIME)
    return FALSE;
  GST_OBJECT_LOCK (srcpad);
  const guint64 position = gst_segment_to_stream_time (
      &srcpad->segment, GST_FORMAT_TIME, srcpad->segment.position);
  GST_OBJECT_UNLOCK (srcpad);
  if (!GST_CLOCK_TIME_IS_VALID (position))
    return FALSE;
  gst_query_set_position (query, GST_FORMAT_TIME, (gint64) position);
  return TRUE;
}

static gboolean
gst_cuda_preproc_mux_src_query (GstAggregator *aggregator, GstQuery *query)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);

  return GST_QUERY_TYPE (query) == GST_QUERY_POSITION
      ? answer_position (self, query)
      : GST_AGGREGATOR_CLASS (parent_class)->src_query (aggregator, query);
}

static gboolean
gst_cuda_preproc_mux_sink_query (
    GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);

  /* Upstream wants its buffers back. */
  if (GST_QUERY_TYPE (query) == GST_QUERY_DRAIN)
    pp_device_drain (self->converter.device, NULL);
  return GST_AGGREGATOR_CLASS (parent_class)
      ->sink_query (aggregator, pad, query);
}

/* states */

static void
forget_streams (GstCudaPreprocMux *self)
{
  GST_OBJECT_LOCK (self);
  self->slices = 0;
  GST_OBJECT_UNLOCK (self);
  self->position = GST_CLOCK_TIME_NONE;
}

static gboolean
gst_cuda_preproc_mux_start (GstAggregator *aggregator)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);

  forget_streams (self);
  return gst_pp_converter_start (&self->converter);
}

static gboolean
gst_cuda_preproc_mux_stop (GstAggregator *aggregator)
{
  GstCudaPreprocMux *self = GST_CUDA_PREPROC_MUX (aggregator);
  GstPpMuxSlices slices;

  pp_device_drain (self->converter.device, NULL);
  gst_pp_mux_slices_list (&slices, GST_ELEMENT_CAST (self));
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++)
    if (slices.pad[i] != NULL) {
      gst_pp_converter_forget_tags (&self->converter, &slices.pad[i]->what);
      gst_pp_mux_pad_forget (slices.pad[i]);
    }
  gst_pp_mux_slices_clear (&slices);
  forget_streams (self);
  gst_pp_converter_stop (&self->converter);
  return TRUE;
}

/* GObject */

static void
gst_cuda_preproc_mux_finalize (GObject *object)
{
  gst_pp_converter_clear (&GST_CUDA_PREPROC_MUX (object)->converter);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_preproc_mux_class_init (GstCudaPreprocMuxClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);
  /* It has a thread of its own, and a queue behind it holds back enough. */
  static const gchar *const without[] = { "async-depth", "regions",
    "region-types", NULL };

  G_OBJECT_CLASS (klass)->finalize = gst_cuda_preproc_mux_finalize;
  gst_pp_element_class_init (
      element_class, G_STRUCT_OFFSET (GstCudaPreprocMux, converter), without);

  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &sink_template, GST_TYPE_CUDA_PREPROC_MUX_PAD);
  gst_element_class_add_static_pad_template_with_gtype (
      element_class, &src_template, GST_TYPE_AGGREGATOR_PAD);
  gst_element_class_set_static_metadata (element_class,
      "CUDA preprocessor of several streams",
      "Filter/Converter/Video/Scaler/Colorspace/Hardware",
      "Turns a frame of each stream into a batch of normalized tensors",
      "The cudapreproc authors");

  aggregator_class->create_new_pad = gst_cuda_preproc_mux_create_new_pad;
  aggregator_class->update_src_caps = gst_cuda_preproc_mux_update_src_caps;
  aggregator_class->negotiated_src_caps =
      gst_cuda_preproc_mux_negotiated_src_caps;
  aggregator_class->propose_allocation =
      gst_cuda_preproc_mux_propose_allocation;
  aggregator_class->decide_allocation = gst_cuda_preproc_mux_decide_allocation;
  aggregator_class->clip = gst_cuda_preproc_mux_clip;
  aggregator_class->aggregate = gst_cuda_preproc_mux_aggregate;
  aggregator_class->get_next_time = gst_cuda_preproc_mux_get_next_time;
  aggregator_class->sink_event_pre_queue =
      gst_cuda_preproc_mux_sink_event_pre_queue;
  aggregator_class->sink_event = gst_cuda_preproc_mux_sink_event;
  aggregator_class->sink_query = gst_cuda_preproc_mux_sink_query;
  aggregator_class->src_query = gst_cuda_preproc_mux_src_query;
  aggregator_class->flush = gst_cuda_preproc_mux_flush;
  aggregator_class->start = gst_cuda_preproc_mux_start;
  aggregator_class->stop = gst_cuda_preproc_mux_stop;
}

static void
gst_cuda_preproc_mux_init (GstCudaPreprocMux *self)
{
  gst_pp_converter_init (
      &self->converter, GST_ELEMENT_CAST (self), on_allocation_failed);
  self->position = GST_CLOCK_TIME_NONE;
}
