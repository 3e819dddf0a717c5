/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "converter.h"

#include <string.h>
#include <unistd.h>

#include "buffers/arena_memory.h"
#include "buffers/cuda_memory.h"
#include "buffers/meta.h"
#include "caps/inputformat.h"
#include "caps/tensorcaps.h"
#include "cudapreproc/cudapreproc.h"
#include "debug.h"

/* Where the queue of spare frames starts; it grows if there are ever more. */
#define MAX_FRAMES 64

/* Properties that are no settings, and can only be read. */
enum {
  PROP_STATS = 1000,
  PROP_DEVICE_NAME
};

/* GObject */

void
gst_pp_converter_install_properties (
    GObjectClass *klass, const gchar *const *without)
{
  gst_pp_settings_install (klass, without);
  /**
   * GstCudaPreproc:stats:
   *
   * Statistics of the frames since the element last went from READY to PAUSED.
   * report/stats.h lists the fields. A frame may be counted a moment after its
   * tensor can be mapped. When EOS leaves the element, all frames are counted.
   */
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Numbers of frames (frames, dropped, samples), tensors, bytes (bytes-up, -down, "
          "-staged), microseconds (upload-, kernel-, download- and latency-mean, "
          "-p50, -p95, -p99), streams in use, overlap (stage times over elapsed "
          "time) and the bottleneck's name",
          GST_TYPE_STRUCTURE, G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));

  g_object_class_install_property (klass, PROP_DEVICE_NAME,
      g_param_spec_string ("device-name", "device-name",
          "Where frames are converted; unset before READY", NULL,
          G_PARAM_READABLE | G_PARAM_STATIC_STRINGS));
}

void
gst_pp_converter_init (GstPpConverter *self, GstElement *element,
    GstPpAllocatorFailed allocation_failed)
{
  memset (self, 0, sizeof *self);
  self->element = element;
  self->allocation_failed = allocation_failed;
  gst_pp_open_device_init (&self->opened, element);
  gst_pp_live_settings_init (&self->settings, element);
  gst_pp_error_gate_init (&self->errors);
  self->monitor = gst_pp_monitor_new (element);
  self->spare_frames = gst_atomic_queue_new (MAX_FRAMES);
}

void
gst_pp_converter_clear (GstPpConverter *self)
{
  gst_pp_frame_free_spare (self->spare_frames);
  gst_pp_monitor_free (self->monitor);
  gst_pp_error_gate_clear (&self->errors);
  gst_pp_live_settings_clear (&self->settings);
  /* One that an application gave to an element that it never started. */
  gst_pp_open_device_close (&self->opened);
}

void
gst_pp_converter_set_property (
    GstPpConverter *self, guint id, const GValue *value, GParamSpec *pspec)
{
  gst_pp_live_settings_set_property (&self->settings, id, value, pspec);
}

void
gst_pp_converter_get_property (GstPpConverter *self, guint id, GValue *value)
{
  if (id == PROP_STATS) {
    g_value_take_boxed (value, gst_pp_monitor_get_stats (self->monitor));
  } else if (id == PROP_DEVICE_NAME) {
    GST_OBJECT_LOCK (self->element);
    g_value_set_string (value, self->opened.name);
    GST_OBJECT_UNLOCK (self->element);
  } else {
    gst_pp_live_settings_get_property (&self->settings, id, value);
  }
}

/* errors */

/* A device that failed works again after a restart. In a forked child its failure
 * comes from the fork, on the CPU too, and is posted with that remedy. */
void
gst_pp_converter_post (
    GstPpConverter *self, GstPpFault fault, const gchar *text)
{
  if (fault == GST_PP_FAULT_DEVICE && self->opened_process != getpid ())
    fault = GST_PP_FAULT_FORK;
  gst_pp_error_gate_post (&self->errors, self->element, fault, text);
}

void
gst_pp_converter_post_reason (
    GstPpConverter *self, GstPpFault fault, gchar *reason)
{
  gst_pp_converter_post (self, fault, reason);
  g_free (reason);
}

void
gst_pp_converter_post_error (GstPpConverter *self, const pp_error *error)
{
  gst_pp_converter_post (
      self, gst_pp_fault_from_status (error->status), error->text);
}

/* the device: opened in READY */

static void
close_device (GstPpConverter *self)
{
  gst_clear_object (&self->allocator);
  gst_pp_open_device_close (&self->opened);
}

void
gst_pp_converter_begin_device (GstPpConverter *self)
{
  pp_device *device = self->opened.device;

  self->n_jobs = 0;
  gst_clear_object (&self->allocator);
  self->allocator = gst_pp_allocator_new (pp_device_arena (device),
      pp_device_backend (device), self->element, self->allocation_failed);
  GST_INFO_OBJECT (self->element, "opened %s, with %d streams",
      pp_device_name (device), pp_device_streams (device));
}

static gboolean
open_device (GstPpConverter *self, const GstPpDeviceConstraints *constraints)
{
  pp_error error;

  self->opened_process = getpid ();
  if (!gst_pp_open_device_open (&self->opened, constraints, &error)) {
    gst_pp_converter_post_error (self, &error);
    return FALSE;
  }
  gst_pp_converter_begin_device (self);
  gst_pp_monitor_reset (self->monitor, self->opened.device);
  return TRUE;
}

/* run: the element is about to run. */
static gboolean
open (GstPpConverter *self, gboolean run)
{
  gchar *reason = NULL;
  pp_status status;

  gst_pp_error_gate_open (&self->errors);
  if (!gst_pp_live_settings_start (&self->settings, run, &status, &reason)) {
    gst_pp_converter_post_reason (
        self, gst_pp_fault_from_status (status), reason);
    return FALSE;
  }

  const GstPpDeviceConstraints constraints =
      gst_pp_live_settings_device_constraints (&self->settings);
  if (gst_pp_open_device_is_good (&self->opened, &constraints))
    return TRUE;
  if (self->opened.device != NULL) {
    GST_DEBUG_OBJECT (self->element,
        "opening a device again: %s failed, or its properties have changed",
        pp_device_name (self->opened.device));
    close_device (self);
  }
  if (open_device (self, &constraints))
    return TRUE;
  gst_pp_live_settings_stop (&self->settings);
  return FALSE;
}

gboolean
gst_pp_converter_before_state (GstPpConverter *self, GstStateChange transition)
{
  if (transition == GST_STATE_CHANGE_NULL_TO_READY)
    return open (self, FALSE);
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    return open (self, TRUE);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING)
    gst_pp_monitor_restart (self->monitor);
  return TRUE;
}

void
gst_pp_converter_after_state (GstPpConverter *self, GstStateChange transition,
    GstStateChangeReturn result)
{
  const gboolean failed = result == GST_STATE_CHANGE_FAILURE;

  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY ||
      (transition == GST_STATE_CHANGE_READY_TO_PAUSED && failed))
    gst_pp_live_settings_stop (&self->settings);
  if (transition == GST_STATE_CHANGE_READY_TO_NULL ||
      (transition == GST_STATE_CHANGE_NULL_TO_READY && failed))
    close_device (self);
}

/* runs */

/* Starts a timeline if a file is set for it. FALSE after posting that it cannot be
 * written: the user need not wait for that until the stream ends. */
static gboolean
start_timeline (GstPpConverter *self)
{
  GstPpFault fault;
  gchar *reason = NULL;

  g_autofree gchar *path = gst_pp_live_settings_timeline (&self->settings);
  pp_device_time_all (self->opened.device, path != NULL);
  if (path == NULL ||
      gst_pp_monitor_set_timeline (self->monitor, path, &fault, &reason))
    return TRUE;
  gst_pp_converter_post_reason (self, fault, reason);
  return FALSE;
}

static void
write_timeline (GstPpConverter *self)
{
  gchar *reason = NULL;

  if (!gst_pp_monitor_write_timeline (
          self->monitor, pp_device_name (self->opened.device), &reason))
    gst_pp_converter_post_reason (self, GST_PP_FAULT_FILE, reason);
}

gboolean
gst_pp_converter_start (GstPpConverter *self)
{
  if (self->opened.device == NULL) /* somebody activated the pads below READY */
    return FALSE;
  self->warned = FALSE;
  gst_pp_monitor_reset (self->monitor, self->opened.device);
  if (!gst_pp_meta_is_registered ())
    GST_ELEMENT_WARNING (self->element, CORE, FAILED,
        ("Tensors go without " GST_CUDA_PREPROC_META_NAME
         ": another plugin has registered a meta of that name"),
        ("That meta is no GstCustomMeta."));
  return start_timeline (self);
}

gboolean
gst_pp_converter_end_stream (GstPpConverter *self)
{
  pp_error error;

  if (pp_device_drain (self->opened.device, &error) != PP_OK)
    gst_pp_converter_post_error (self, &error);
  if (gst_pp_error_gate_has_posted (&self->errors))
    return FALSE;
  write_timeline (self);
  return TRUE;
}

void
gst_pp_converter_stop (GstPpConverter *self)
{
  write_timeline (self);
}

/* caps */

void
gst_pp_converter_post_of_pad (GstPpConverter *self,
    const GstPpNegotiated *negotiated, GstPpFault fault, gchar *reason)
{
  if (negotiated->pad != NULL) {
    gchar *about = g_strdup_printf ("%s: %s", negotiated->pad, reason);
    g_free (reason);
    reason = about;
  }
  gst_pp_converter_post_reason (self, fault, reason);
}

GstPpTensorConstraints
gst_pp_converter_tensor_constraints (GstPpConverter *self)
{
  GstPpTensorConstraints constraints =
      gst_pp_live_settings_tensor_constraints (&self->settings);

  constraints.cuda_tensors = gst_pp_open_device_may_be_cuda (&self->opened);
  constraints.cuda_frames =
      constraints.cuda_tensors && gst_pp_cuda_takes_frames ();
  return constraints;
}

GstCaps *
gst_pp_converter_fixate (
    GstPpConverter *self, GstCaps *tensors, GstCaps *video, gint batch)
{
  GstPpTensorConstraints constraints =
      gst_pp_converter_tensor_constraints (self);
  gchar *reason = NULL;

  constraints.usual_batch = batch;
  GstCaps *fixed =
      gst_pp_tensor_caps_fixate (tensors, &constraints, video, &reason);

  if (fixed != NULL) {
    GST_DEBUG_OBJECT (self->element,
        "downstream offered %" GST_PTR_FORMAT "; taken: %" GST_PTR_FORMAT,
        tensors, fixed);
    return fixed;
  }
  /* Nothing contradicts a size that nobody sets. */
  const gboolean open =
      video == NULL && (constraints.width == 0 || constraints.height == 0);
  gst_pp_converter_post_reason (self,
      open ? GST_PP_FAULT_SETTINGS : GST_PP_FAULT_NEGOTIATION,
      g_strdup_printf ("Downstream wants %s", reason));
  g_free (reason);
  return gst_caps_new_empty ();
}

void
gst_pp_converter_set_stats_interval (
    GstPpConverter *self, const GstPpSettings *settings)
{
  gst_pp_monitor_set_interval (
      self->monitor, (guint) settings->stats_interval * GST_MSECOND);
}

gboolean
gst_pp_converter_read_video (
    GstPpConverter *self, const GstCaps *video, GstVideoInfo *info)
{
  if (gst_pp_video_info_from_caps (info, video))
    return TRUE;
  g_autofree gchar *text = gst_caps_to_string (video);
  gst_pp_converter_post_reason (self, GST_PP_FAULT_VIDEO,
      g_strdup_printf (
          "Caps cannot be read as frames of video/x-raw: %s", text));
  return FALSE;
}

/* Reads both caps and the settings into negotiated. FALSE after posting why frames
 * cannot be converted so. */
static gboolean
read_caps (GstPpConverter *self, GstPpNegotiated *negotiated,
    const GstCaps *video, const GstCaps *tensor)
{
  gchar *reason = NULL;

  gst_pp_negotiated_forget_plans (negotiated);
  gst_pp_live_settings_resolve (
      &self->settings, &negotiated->settings, &negotiated->settings_serial);
  if (!gst_pp_converter_read_video (self, video, &negotiated->info))
    return FALSE;
  /* On the CPU such frames are not offered, but decoders choose them before they
   * are linked, and choose anew with the first frame. They can be mapped. */
  negotiated->cuda = gst_pp_caps_are_cuda (video, 0) &&
      gst_pp_converter_tensor_constraints (self).cuda_frames;
  gst_pp_video_info_override_colorimetry (
      &negotiated->info, video, negotiated->settings.colorimetry);
  const GstPpTensorConstraints constraints =
      gst_pp_settings_tensor_constraints (&negotiated->settings);
  negotiated->swapped = constraints.swapped;
  if (!gst_pp_tensor_from_caps (
          tensor, &constraints, &negotiated->tensor, &reason)) {
    gst_pp_converter_post_of_pad (self, negotiated, GST_PP_FAULT_NEGOTIATION,
        g_strdup_printf ("The tensors' caps have %s", reason));
    g_free (reason);
    return FALSE;
  }
  if (!gst_pp_live_settings_negotiate (&self->settings, &negotiated->info,
          &negotiated->tensor, &negotiated->settings,
          &negotiated->settings_serial, &reason)) {
    gst_pp_converter_post_of_pad (
        self, negotiated, GST_PP_FAULT_SETTINGS, reason);
    return FALSE;
  }
  gst_pp_converter_set_stats_interval (self, &negotiated->settings);
  return TRUE;
}

gboolean
gst_pp_converter_set_caps (GstPpConverter *self, GstPpNegotiated *negotiated,
    const GstCaps *video, const GstCaps *tensor)
{
  GstPpFault fault;
  gchar *reason = NULL;

  if (!read_caps (self, negotiated, video, tensor))
    return FALSE;
  if (!gst_pp_negotiated_reserve (
          negotiated, self->opened.device, &fault, &reason)) {
    gst_pp_converter_post_of_pad (self, negotiated, fault, reason);
    return FALSE;
  }
  if (pp_device_streams_in_use (self->opened.device) <
      pp_device_streams (self->opened.device))
    GST_WARNING_OBJECT (self->element,
        "There is device memory for %d of %d streams",
        pp_device_streams_in_use (self->opened.device),
        pp_device_streams (self->opened.device));
  self->warned = self->warned ||
      gst_pp_settings_warn (
          self->element, &negotiated->settings, &negotiated->tensor);
  return TRUE;
}

/* how frames are turned */

/* Whether frames are turned as tags say. */
static gboolean
set_orientation (GstPpConverter *self, GstPpNegotiated *negotiated)
{
  const pp_direction direction = negotiated->orientation.direction;
  const gboolean automatic =
      gst_pp_live_settings_tag (&self->settings, direction);

  if (negotiated->settings.tagged_direction == direction)
    return automatic;
  negotiated->settings.tagged_direction = direction;
  if (negotiated->settings.video_direction == GST_PP_DIRECTION_AUTO)
    gst_pp_negotiated_forget_plans (negotiated);
  GST_DEBUG_OBJECT (self->element, "the stream's orientation is %s%s",
      gst_pp_enum_nick (gst_pp_directions, (gint) direction),
      automatic ? "" : ", which counts with video-direction=auto only");
  return automatic;
}

void
gst_pp_converter_start_stream (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstEvent *event)
{
  const gchar *id;

  gst_event_parse_stream_start (event, &id);
  gst_pp_orientation_start_stream (&negotiated->orientation, id);
  set_orientation (self, negotiated);
}

GstEvent *
gst_pp_converter_take_tags (
    GstPpConverter *self, GstPpNegotiated *negotiated, GstEvent *event)
{
  GstTagList *tags;

  gst_event_parse_tag (event, &tags);
  const gboolean found =
      gst_pp_orientation_take_tags (&negotiated->orientation, tags);
  const gboolean automatic = set_orientation (self, negotiated);

  return found && automatic ? gst_pp_orientation_upright_event (event) : event;
}

void
gst_pp_converter_forget_tags (GstPpConverter *self, GstPpNegotiated *negotiated)
{
  gst_pp_orientation_clear (&negotiated->orientation);
  set_orientation (self, negotiated);
}

gboolean
gst_pp_converter_turns (GstPpConverter *self, GstPpNegotiated *negotiated)
{
  const GstPpSettings *settings = &negotiated->settings;
  const gboolean open = settings->width == 0 || settings->height == 0;
  const gboolean swapped = gst_pp_live_settings_swap_axes (&self->settings);

  if (!open || swapped == negotiated->swapped)
    return FALSE;
  negotiated->swapped = swapped;
  return TRUE;
}
