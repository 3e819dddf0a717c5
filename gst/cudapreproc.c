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
#include <unistd.h>

#include "buffers/allocation.h"
#include "caps/capswatch.h"
#include "device.h"
#include "report/error.h"
#include "buffers/frame.h"
#include "buffers/output_queue.h"
#include "buffers/host_memory.h"
#include "caps/inputformat.h"
#include "report/latency.h"
#include "settings/livesettings.h"
#include "buffers/meta.h"
#include "report/monitor.h"
#include "buffers/negotiated.h"
#include "caps/tensorcaps.h"
#include "debug.h"

/* More than are ever under way. */
#define MOST_FRAMES 64

struct _GstCudaPreproc {
  GstBaseTransform parent;

  GstPpLiveSettings settings;

  /* Under the object lock. */
  GstClockTime held_back; /* what async-depth adds to the latency */
  gchar *device_name;     /* of the device; owned */
  GstBufferPool *pool;    /* of tensors, that the base class uses; or NULL */

  /* From NULL->READY to READY->NULL. */
  pp_device *device;
  GstAllocator *allocator; /* of frames, for upstream */
  GstPpDeviceConstraints opened;
  pid_t opened_process; /* the one that opened it */

  GstPpErrorGate errors;
  GstPpMonitor *monitor;
  GstAtomicQueue *spare_frames; /* GstPpFrame, for the next ones */

  /* The streaming thread's. */
  GstPpNegotiated negotiated;
  guint settings_serial; /* of the settings in it */
  GstPpOutputQueue outputs;
  guint depth;     /* how many are held */
  gboolean warned; /* of settings that lose something, since the start */
};

enum {
  PROP_0,
  PROP_STATS = 1000,
  PROP_DEVICE_NAME
};

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_PP_INPUT_CAPS));

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_PP_TENSOR_CAPS));

#define gst_cuda_preproc_parent_class parent_class
G_DEFINE_TYPE (GstCudaPreproc, gst_cuda_preproc, GST_TYPE_BASE_TRANSFORM)

/* A new start mends a device that failed; on CUDA nothing mends one that is
 * another process'. */
static void
post (GstCudaPreproc *self, GstPpFault fault, const gchar *text)
{
  if (fault == GST_PP_FAULT_DEVICE && self->opened_process != getpid ())
    fault = GST_PP_FAULT_FORK;
  gst_pp_error_gate_post (&self->errors, GST_ELEMENT_CAST (self), fault, text);
}

static void
post_engine_error (GstCudaPreproc *self, const pp_error *error)
{
  post (self, gst_pp_fault_from_status (error->status), error->text);
}

/* Of a frame in upstream's hands, which need not say why it fails then. Upstream
 * has locked its pool. */
static void
on_allocation_failed (gpointer owner, const pp_error *error)
{
  GstCudaPreproc *self = owner;

  if (gst_pad_is_active (GST_BASE_TRANSFORM_SINK_PAD (self)))
    gst_pp_error_gate_try_post (&self->errors, GST_ELEMENT_CAST (self),
        gst_pp_fault_from_status (error->status), error->text);
}

/* Takes reason. */
static void
post_fault (GstCudaPreproc *self, GstPpFault fault, gchar *reason)
{
  post (self, fault, reason);
  g_free (reason);
}

static gboolean
start_settings (GstCudaPreproc *self, gboolean run)
{
  gchar *reason = NULL;

  if (gst_pp_live_settings_start (&self->settings, run, &reason))
    return TRUE;
  post_fault (self, GST_PP_FAULT_SETTINGS, reason);
  return FALSE;
}

static void
close_device (GstCudaPreproc *self)
{
  gst_clear_object (&self->allocator);
  pp_device_close (&self->device);
  GST_OBJECT_LOCK (self);
  g_clear_pointer (&self->device_name, g_free);
  GST_OBJECT_UNLOCK (self);
}

static gboolean
open_device (GstCudaPreproc *self, const GstPpDeviceConstraints *constraints)
{
  pp_error error;

  self->opened = *constraints;
  self->opened_process = getpid ();
  self->device =
      gst_pp_device_open (GST_ELEMENT_CAST (self), constraints, &error);
  if (self->device == NULL) {
    post_engine_error (self, &error);
    return FALSE;
  }
  pp_device_time_all (self->device, TRUE);
  self->allocator = gst_pp_allocator_new (pp_device_arena (self->device),
      pp_device_backend (self->device), self, on_allocation_failed);
  GST_OBJECT_LOCK (self);
  self->device_name = g_strdup (pp_device_name (self->device));
  GST_OBJECT_UNLOCK (self);
  gst_pp_monitor_reset (self->monitor, self->device);
  GST_INFO_OBJECT (self, "%s, %d streams", pp_device_name (self->device),
      pp_device_streams (self->device));
  return TRUE;
}

/* One that is what was asked for and has not failed. While the pads are shut. */
static gboolean
refresh_device (GstCudaPreproc *self)
{
  const GstPpDeviceConstraints constraints =
      gst_pp_live_settings_device_constraints (&self->settings);

  if (self->device != NULL && self->opened.backend == constraints.backend &&
      self->opened.index == constraints.index &&
      self->opened.options.streams == constraints.options.streams &&
      self->opened.options.staging_threads ==
          constraints.options.staging_threads &&
      pp_device_error (self->device, NULL) == PP_OK)
    return TRUE;
  close_device (self);
  return open_device (self, &constraints);
}

/* On a thread of the device. */
static void
on_done (gpointer owner, const GstPpFrame *frame, const pp_job_info *info,
    const pp_error *error)
{
  GstCudaPreproc *self = owner;

  if (error != NULL)
    post_engine_error (self, error);
  else
    gst_pp_monitor_add (self->monitor, frame, info);
}

/* An output buffer with what belongs to input's frame: timestamps, flags, metas.
 */
static GstFlowReturn
prepare_output (GstCudaPreproc *self, GstBuffer *input, const pp_plan *plan,
    GstBuffer **output)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  pp_geometry geometry;
  const GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS (parent_class)
                                 ->prepare_output_buffer (trans, input, output);

  if (flow == GST_FLOW_ERROR) {
    g_autoptr (GstBufferPool) pool = gst_base_transform_get_buffer_pool (trans);
    pp_error error = { PP_NO_MEMORY, "no output buffer pool" };
    if (pool != NULL)
      gst_pp_tensor_pool_get_error (pool, &error);
    post_engine_error (self, &error);
  }
  if (flow != GST_FLOW_OK)
    return flow;

  if (self->outputs.discont)
    GST_BUFFER_FLAG_SET (*output, GST_BUFFER_FLAG_DISCONT);
  self->outputs.discont = FALSE;
  pp_plan_get_geometry (plan, &geometry);
  gst_pp_meta_set (*output, self->negotiated.tensor.width,
      self->negotiated.tensor.height, &geometry);
  return GST_FLOW_OK;
}

static void
set_held_back (GstCudaPreproc *self, GstClockTime held_back)
{
  GST_OBJECT_LOCK (self);
  const gboolean changed = self->held_back != held_back;
  self->held_back = held_back;
  GST_OBJECT_UNLOCK (self);
  if (changed)
    gst_element_post_message (
        GST_ELEMENT_CAST (self), gst_message_new_latency (GST_OBJECT (self)));
}

static void
set_depth (GstCudaPreproc *self, guint depth)
{
  const GstVideoInfo *info = &self->negotiated.info;

  GST_INFO_OBJECT (self, "holding back %u frames", depth);
  self->depth = depth;
  if (GST_VIDEO_INFO_FPS_N (info) > 0 || depth == 0)
    set_held_back (self,
        gst_pp_latency_of_depth (
            depth, GST_VIDEO_INFO_FPS_N (info), GST_VIDEO_INFO_FPS_D (info)));
}

/* Pageable frames, which only the first one shows, need more of them under way.
 */
static void
deepen (GstCudaPreproc *self)
{
  const guint useful = (guint) pp_device_useful_jobs (self->device);

  if (self->negotiated.settings.async_depth < 0 && self->depth > 0 &&
      self->depth < useful)
    set_depth (self, useful);
}

/* Takes input. */
static GstFlowReturn
convert (GstCudaPreproc *self, GstBuffer *input)
{
  pp_plan *plan = NULL;
  GstBuffer *output = NULL;
  GstPpFault fault;
  gchar *reason = NULL;
  pp_error error;

  if (gst_pp_live_settings_refresh (&self->settings, &self->negotiated.settings,
          &self->settings_serial) == GST_PP_OTHER_PLANS)
    gst_pp_negotiated_forget_plans (&self->negotiated);
  GstPpFrame *frame = gst_pp_frame_new (
      self->spare_frames, &self->negotiated, input, &plan, &fault, &reason);
  gst_pp_negotiated_warn_crop (&self->negotiated, GST_ELEMENT_CAST (self));
  if (frame == NULL) {
    post_fault (self, fault, reason);
    return GST_FLOW_ERROR;
  }

  const GstFlowReturn flow =
      prepare_output (self, frame->input.buffer, plan, &output);
  if (flow != GST_FLOW_OK) {
    gst_pp_frame_free (frame);
    return flow;
  }
  gst_pp_pace_take (&self->outputs.pace,
      gst_pp_memory_get_waited (gst_buffer_peek_memory (output, 0)),
      &frame->spent);
  frame->urgent = self->depth == 0;
  if (!gst_pp_frame_submit (
          frame, self->device, plan, output, on_done, self, &error)) {
    post_engine_error (self, &error);
    gst_buffer_unref (output);
    return GST_FLOW_ERROR;
  }
  gst_pp_output_queue_add (&self->outputs, output);
  deepen (self);
  /* Without a framerate only the frames tell how long one is held. */
  if (GST_VIDEO_INFO_FPS_N (&self->negotiated.info) == 0)
    set_held_back (self,
        MAX (self->held_back,
            gst_pp_latency_of_interval (
                self->depth, gst_pp_output_queue_interval (&self->outputs))));
  return GST_FLOW_OK;
}

static GstFlowReturn
gst_cuda_preproc_submit_input_buffer (
    GstBaseTransform *trans, gboolean is_discont, GstBuffer *input)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  gst_pp_pace_count (&self->outputs.pace, GST_PP_PLACE_SOURCE);
  if (gst_pad_needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (trans)))
    gst_pp_output_queue_drain (&self->outputs);
  if (self->outputs.flow != GST_FLOW_OK) {
    gst_buffer_unref (input);
    return gst_pp_output_queue_take_flow (&self->outputs);
  }

  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS (parent_class)
          ->submit_input_buffer (trans, is_discont, input);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    self->outputs.discont = TRUE;
    gst_pp_output_queue_drain (&self->outputs);
  }
  if (flow != GST_FLOW_OK)
    return flow;
  return convert (self, g_steal_pointer (&trans->queued_buf));
}

static GstFlowReturn
gst_cuda_preproc_generate_output (GstBaseTransform *trans, GstBuffer **output)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  *output = NULL;
  /* Where the depth is ours, the first leaves at once: sinks preroll with it, and
   * upstream may be a tee that has no more to give until its other sinks play. */
  const gboolean keep =
      self->outputs.started || self->negotiated.settings.async_depth >= 0;
  const GstFlowReturn flow =
      gst_pp_output_queue_push (&self->outputs, keep ? self->depth : 0);
  gst_pp_pace_count (&self->outputs.pace, GST_PP_PLACE_ELEMENT);
  return flow;
}

/* Never called, since generate_output is ours; without it the base class takes
 * the element for one that works in place. */
static GstFlowReturn
gst_cuda_preproc_transform (
    GstBaseTransform *trans, GstBuffer *input, GstBuffer *output)
{
  g_return_val_if_reached (GST_FLOW_NOT_SUPPORTED);
}

static GstCaps *
gst_cuda_preproc_transform_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK
      ? GST_BASE_TRANSFORM_SRC_PAD (trans)
      : GST_BASE_TRANSFORM_SINK_PAD (trans);
  GstCaps *other_template = gst_pad_get_pad_template_caps (other);
  GstCaps *result =
      gst_pp_tensor_caps_transform (caps, direction, other_template, filter);

  gst_caps_unref (other_template);
  return result;
}

static GstCaps *
gst_cuda_preproc_fixate_caps (GstBaseTransform *trans,
    GstPadDirection direction, GstCaps *caps, GstCaps *othercaps)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  gchar *reason = NULL;

  if (direction == GST_PAD_SRC)
    return GST_BASE_TRANSFORM_CLASS (parent_class)
        ->fixate_caps (trans, direction, caps, othercaps);

  const GstPpTensorConstraints constraints =
      gst_pp_live_settings_tensor_constraints (&self->settings);
  GstCaps *fixed =
      gst_pp_tensor_caps_fixate (othercaps, &constraints, caps, &reason);
  if (fixed == NULL) {
    post_fault (self, GST_PP_FAULT_NEGOTIATION,
        g_strdup_printf ("Downstream wants %s", reason));
    g_free (reason);
    fixed = gst_caps_new_empty ();
  }
  gst_caps_unref (othercaps);
  return fixed;
}

static gboolean
gst_cuda_preproc_set_caps (
    GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  GstPpFault fault;
  gchar *reason = NULL;

  gst_pp_output_queue_drain_outdated (&self->outputs);
  gst_pp_negotiated_forget_plans (&self->negotiated);
  gst_pp_live_settings_resolve (
      &self->settings, &self->negotiated.settings, &self->settings_serial);

  const GstPpTensorConstraints constraints =
      gst_pp_settings_tensor_constraints (&self->negotiated.settings);
  if (!gst_pp_video_info_from_caps (&self->negotiated.info, incaps)) {
    g_autofree gchar *text = gst_caps_to_string (incaps);
    post_fault (self, GST_PP_FAULT_VIDEO,
        g_strdup_printf (
            "Caps cannot be read as frames of video/x-raw: %s", text));
    return FALSE;
  }
  gst_pp_video_info_override_colorimetry (
      &self->negotiated.info, incaps, self->negotiated.settings.colorimetry);
  if (!gst_pp_tensor_from_caps (
          outcaps, &constraints, &self->negotiated.tensor, &reason)) {
    post_fault (self, GST_PP_FAULT_NEGOTIATION, reason);
    return FALSE;
  }
  if (!gst_pp_live_settings_negotiate (&self->settings, &self->negotiated.info,
          &self->negotiated.tensor, &self->negotiated.settings,
          &self->settings_serial, &reason)) {
    post_fault (self, GST_PP_FAULT_SETTINGS, reason);
    return FALSE;
  }
  set_depth (self,
      gst_pp_choose_depth (self->negotiated.settings.async_depth,
          pp_device_useful_jobs (self->device),
          GST_VIDEO_INFO_FPS_N (&self->negotiated.info),
          GST_BASE_TRANSFORM_SINK_PAD (self)));
  if (!gst_pp_negotiated_reserve (
          &self->negotiated, self->device, &fault, &reason)) {
    post_fault (self, fault, reason);
    return FALSE;
  }
  if (pp_device_streams_in_use (self->device) <
      pp_device_streams (self->device))
    GST_WARNING_OBJECT (self, "There is device memory for %d of %d streams",
        pp_device_streams_in_use (self->device),
        pp_device_streams (self->device));
  self->warned = self->warned ||
      gst_pp_settings_warn (GST_ELEMENT_CAST (self), &self->negotiated.settings,
          &self->negotiated.tensor);
  return TRUE;
}

static gboolean
gst_cuda_preproc_propose_allocation (
    GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  return gst_pp_propose_allocation (
      query, self->allocator, (guint) pp_device_streams (self->device));
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

/* Always our own pool: completion travels with its memory. */
static gboolean
gst_cuda_preproc_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);
  GstBufferPool *pool = NULL;
  pp_error error;

  if (!gst_pp_decide_allocation (query, self->device, &self->negotiated.tensor,
          self->depth + (guint) pp_device_streams (self->device), &error)) {
    post_engine_error (self, &error);
    return FALSE;
  }
  gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  take_pool (self, pool);
  return TRUE;
}

/* Nothing waits for a buffer of ours, but whoever asks for one must know. Any
 * thread: the base class gives its pool without a lock, which is no good beside
 * the streaming thread, that may be replacing it. */
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

static gboolean
handle_caps (GstCudaPreproc *self, GstEvent *event)
{
  GstBaseTransform *trans = GST_BASE_TRANSFORM (self);
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  gst_caps_ref (caps);
  const gboolean handled =
      GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
  /* Also where the base class found nothing in common and asked us nothing. */
  if (!handled && !GST_PAD_IS_FLUSHING (GST_BASE_TRANSFORM_SRC_PAD (trans))) {
    g_autoptr (GstCaps) peer =
        gst_pad_peer_query_caps (GST_BASE_TRANSFORM_SRC_PAD (trans), NULL);
    g_autofree gchar *video = gst_caps_to_string (caps);
    g_autofree gchar *wanted = gst_caps_to_string (peer);
    post_fault (self, GST_PP_FAULT_NEGOTIATION,
        g_strdup_printf (
            "No tensor of %s is what downstream takes: %s", video, wanted));
  }
  gst_caps_unref (caps);
  return handled;
}

static void
write_timeline (GstCudaPreproc *self)
{
  gchar *reason = NULL;

  if (!gst_pp_monitor_write_timeline (self->monitor, GST_OBJECT_NAME (self),
          pp_device_name (self->device), &reason))
    post_fault (self, GST_PP_FAULT_FILE, reason);
}

static gboolean
gst_cuda_preproc_sink_event (GstBaseTransform *trans, GstEvent *event)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP) {
    /* The device first: it may still write to what is held. */
    pp_device_drain (self->device, NULL);
    gst_pp_output_queue_flush (&self->outputs);
    set_flushing (self, FALSE);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START) {
    set_flushing (self, TRUE);
  } else if (GST_EVENT_IS_SERIALIZED (event)) {
    gst_pp_output_queue_drain (&self->outputs);
    /* The end of the last segment is not the end of the next. */
    if (self->outputs.flow == GST_FLOW_EOS &&
        (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT ||
            GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START))
      self->outputs.flow = GST_FLOW_OK;
  }

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS)
    return handle_caps (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_EOS) {
    pp_error error;

    if (pp_device_drain (self->device, &error) != PP_OK)
      post_engine_error (self, &error);
    if (gst_pp_error_gate_has_posted (&self->errors)) {
      /* The stream did not end well. */
      gst_event_unref (event);
      return FALSE;
    }
    write_timeline (self);
  }
  return GST_BASE_TRANSFORM_CLASS (parent_class)->sink_event (trans, event);
}

static gboolean
gst_cuda_preproc_query (
    GstBaseTransform *trans, GstPadDirection direction, GstQuery *query)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  /* GStreamer hands these to a pad that is shut down, too; the base class would
   * then negotiate anew, beside stop, and keep what it got for good. Shutting
   * down waits for who is inside: both hold the stream lock. */
  if (direction == GST_PAD_SINK && GST_QUERY_IS_SERIALIZED (query) &&
      !gst_pad_is_active (GST_BASE_TRANSFORM_SINK_PAD (trans)))
    return FALSE;
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE (query) == GST_QUERY_DRAIN) {
    gst_pp_output_queue_drain (&self->outputs);
    /* Upstream wants its buffers back. */
    pp_device_drain (self->device, NULL);
  } else if (direction == GST_PAD_SINK &&
      GST_QUERY_TYPE (query) == GST_QUERY_ALLOCATION &&
      gst_pad_needs_reconfigure (GST_BASE_TRANSFORM_SRC_PAD (trans))) {
    gst_pp_output_queue_drain (&self->outputs);
  }
  const gboolean answered =
      GST_BASE_TRANSFORM_CLASS (parent_class)->query (trans, direction, query);
  if (answered && direction == GST_PAD_SRC &&
      GST_QUERY_TYPE (query) == GST_QUERY_LATENCY) {
    GST_OBJECT_LOCK (self);
    const GstClockTime held_back = self->held_back;
    GST_OBJECT_UNLOCK (self);
    gst_pp_latency_add (query, held_back);
  }
  return answered;
}

/* Also says whether the file can be made, before there is anything to write. */
static gboolean
start_timeline (GstCudaPreproc *self)
{
  GstPpFault fault;
  gchar *reason = NULL;

  g_autofree gchar *path = gst_pp_live_settings_timeline (&self->settings);
  if (path == NULL ||
      gst_pp_monitor_set_timeline (self->monitor, path, &fault, &reason))
    return TRUE;
  post_fault (self, fault, reason);
  return FALSE;
}

static gboolean
gst_cuda_preproc_start (GstBaseTransform *trans)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  if (self->device == NULL) /* pads that someone activated below READY */
    return FALSE;
  self->warned = FALSE;
  self->negotiated.missed.width = 0;
  g_clear_pointer (&self->negotiated.warned_crop, g_free);
  GST_OBJECT_LOCK (self);
  self->held_back = 0;
  GST_OBJECT_UNLOCK (self);
  gst_pp_monitor_reset (self->monitor, self->device);
  return start_timeline (self);
}

static gboolean
gst_cuda_preproc_stop (GstBaseTransform *trans)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (trans);

  pp_device_drain (self->device, NULL);
  gst_pp_output_queue_flush (&self->outputs);
  gst_pp_negotiated_forget_plans (&self->negotiated);
  take_pool (self, NULL);
  write_timeline (self);
  return TRUE;
}

static GstStateChangeReturn
gst_cuda_preproc_change_state (GstElement *element, GstStateChange transition)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (element);

  /* The device is there before the pads open: data may come before start. */
  if (transition == GST_STATE_CHANGE_NULL_TO_READY ||
      transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    gst_pp_error_gate_open (&self->errors);
    if (!start_settings (
            self, transition == GST_STATE_CHANGE_READY_TO_PAUSED) ||
        !refresh_device (self)) {
      gst_pp_live_settings_stop (&self->settings);
      return GST_STATE_CHANGE_FAILURE;
    }
  } else if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING) {
    gst_pp_monitor_restart (self->monitor);
  } else if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    set_flushing (self, TRUE);
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS (parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED &&
          result == GST_STATE_CHANGE_FAILURE))
    gst_pp_live_settings_stop (&self->settings);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY &&
          result == GST_STATE_CHANGE_FAILURE))
    close_device (self);
  return result;
}

static void
gst_cuda_preproc_set_property (
    GObject *object, guint id, const GValue *value, GParamSpec *pspec)
{
  gst_pp_live_settings_set_property (
      &GST_CUDA_PREPROC (object)->settings, id, value, pspec);
}

static void
gst_cuda_preproc_dispatch_properties_changed (
    GObject *object, guint n_pspecs, GParamSpec **pspecs)
{
  gst_pp_live_settings_dispatch (
      &GST_CUDA_PREPROC (object)->settings, n_pspecs, pspecs);
  G_OBJECT_CLASS (parent_class)
      ->dispatch_properties_changed (object, n_pspecs, pspecs);
}

static void
gst_cuda_preproc_get_property (
    GObject *object, guint id, GValue *value, GParamSpec *pspec)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (object);

  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_pp_monitor_get_stats (self->monitor));
  } else if (id == PROP_DEVICE_NAME) {
    GST_OBJECT_LOCK (self);
    g_value_set_string (value, self->device_name);
    GST_OBJECT_UNLOCK (self);
  } else {
    gst_pp_live_settings_get_property (&self->settings, id, value);
  }
}

static void
gst_cuda_preproc_finalize (GObject *object)
{
  GstCudaPreproc *self = GST_CUDA_PREPROC (object);

  gst_pp_live_settings_clear (&self->settings);
  gst_pp_negotiated_clear (&self->negotiated);
  gst_pp_monitor_free (self->monitor);
  gst_pp_frame_free_spare (self->spare_frames);
  gst_pp_error_gate_clear (&self->errors);
  g_free (self->device_name);
  gst_clear_object (&self->pool);
  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_cuda_preproc_class_init (GstCudaPreprocClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  gst_pp_debug_init ();
  gst_pp_meta_register ();

  object_class->set_property = gst_cuda_preproc_set_property;
  object_class->get_property = gst_cuda_preproc_get_property;
  object_class->dispatch_properties_changed =
      gst_cuda_preproc_dispatch_properties_changed;
  object_class->finalize = gst_cuda_preproc_finalize;
  gst_pp_settings_install (object_class);
  /**
   * GstCudaPreproc:stats:
   *
   * frames, bytes-up, bytes-down, bytes-staged; streams, those in use;
   * overlap, the sum of all stage times over the wall time, without standing
   * still in PAUSED; bottleneck, what keeps the last few hundred frames from
   * going faster, in one word (see the README); and of the stages upload, kernel
   * and download and of the latency, from submission to the tensor, the mean,
   * p50, p95 and p99 in microseconds.
   * Counted from READY to PAUSED on; a tensor may be there a moment before it
   * counts, but at EOS all do.
   */
  g_object_class_install_property (object_class, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Frames, bytes, overlap, bottleneck and times in microseconds",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  g_object_class_install_property (object_class, PROP_DEVICE_NAME,
      g_param_spec_string ("device-name", "device-name",
          "Where frames are converted; unset before READY", NULL,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);
  gst_element_class_set_static_metadata (element_class, "CUDA preprocessor",
      "Filter/Converter/Video/Scaler/Colorspace/Hardware",
      "Turns video frames into normalized tensors for neural networks",
      "The cudapreproc authors");
  element_class->change_state = gst_cuda_preproc_change_state;

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

static void
gst_cuda_preproc_init (GstCudaPreproc *self)
{
  gst_pp_live_settings_init (&self->settings, GST_ELEMENT_CAST (self));
  gst_pp_negotiated_init (&self->negotiated);
  gst_pp_error_gate_init (&self->errors);
  gst_pp_caps_watch_add (GST_BASE_TRANSFORM_SINK_PAD (self),
      GST_ELEMENT_CAST (self), &self->errors);
  self->monitor = gst_pp_monitor_new (self);
  self->spare_frames = gst_atomic_queue_new (MOST_FRAMES);
  gst_pp_output_queue_init (
      &self->outputs, GST_BASE_TRANSFORM_SRC_PAD (GST_BASE_TRANSFORM (self)));
  gst_base_transform_set_gap_aware (GST_BASE_TRANSFORM (self), TRUE);
  gst_base_transform_set_prefer_passthrough (GST_BASE_TRANSFORM (self), FALSE);
}
