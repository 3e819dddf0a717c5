/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "convert.h"

#include "buffers/tensor_pool.h"
#include "debug.h"

GstPpFrame *
gst_pp_converter_map (GstPpConverter *self, GstPpNegotiated *negotiated,
    GstBuffer *input, pp_plan **plan)
{
  const GstPpDifference difference = gst_pp_live_settings_refresh (
      &self->settings, &negotiated->settings, &negotiated->settings_serial);
  if (difference == GST_PP_OTHER_PLANS)
    gst_pp_negotiated_forget_plans (negotiated);
  if (difference != GST_PP_SAME) {
    GST_DEBUG_OBJECT (self->element,
        "changed properties take effect with job %" G_GUINT64_FORMAT,
        self->n_jobs);
    gst_pp_converter_set_stats_interval (self, &negotiated->settings);
  }
  return gst_pp_converter_map_again (self, negotiated, input, plan);
}

GstPpFrame *
gst_pp_converter_map_again (GstPpConverter *self, GstPpNegotiated *negotiated,
    GstBuffer *input, pp_plan **plan)
{
  GstPpFault fault;
  gchar *reason = NULL;

  GstPpFrame *frame = gst_pp_frame_new (
      self->spare_frames, negotiated, input, plan, &fault, &reason);
  gst_pp_negotiated_warn_crop (negotiated, self->element);
  if (frame == NULL)
    gst_pp_converter_post_of_pad (self, negotiated, fault, reason);
  return frame;
}

gboolean
gst_pp_converter_open_batch (GstPpConverter *self,
    const GstPpNegotiated *negotiated, GstPpBatch *batch, GstBuffer *output,
    const pp_plan *plan)
{
  gchar *reason = NULL;

  if (gst_pp_batch_open (batch, output, (guint) negotiated->tensor.batch,
          pp_plan_tensor_size (plan), &reason))
    return TRUE;
  gst_pp_converter_post_reason (self, GST_PP_FAULT_OUTPUT, reason);
  return FALSE;
}

void
gst_pp_converter_post_no_output (
    GstPpConverter *self, GstBufferPool *pool, GstFlowReturn flow)
{
  pp_error error = { PP_NO_MEMORY, "no output buffer pool" };

  if (flow == GST_FLOW_ERROR) {
    if (pool != NULL)
      gst_pp_tensor_pool_get_error (pool, &error);
    gst_pp_converter_post_error (self, &error);
  } else if (flow == GST_FLOW_FLUSHING && pool != NULL &&
      !gst_buffer_pool_is_active (pool)) {
    /* Elements make it flush, but never inactive while frames come. */
    gst_pp_converter_post (self, GST_PP_FAULT_OUTPUT,
        "The pool of tensors was deactivated by something downstream");
  }
  gst_clear_object (&pool);
}

/* On a thread of the device. */
static void
on_done (gpointer owner, const GstPpFrame *frame, const pp_job_info *info,
    const pp_error *error)
{
  GstPpConverter *self = owner;

  if (error != NULL)
    gst_pp_converter_post_error (self, error);
  else
    gst_pp_monitor_add (
        self->monitor, info, frame->submitted, &frame->spent, frame->part);
}

/* Before the device, whose threads log the end of the job. */
static void
log_job (const GstPpConverter *self, const GstPpFrame *frame,
    const GstPpPicture *picture, guint slices)
{
  const GstPpInput *input = &frame->input;
  const gboolean cuda = pp_device_backend (self->device) == PP_BACKEND_CUDA;
  const guint planes = GST_VIDEO_FRAME_N_PLANES (&input->frame);
  const guint pinned = (guint) __builtin_popcount (frame->pinned_planes);
  const pp_rect source = picture->geometry.source;

  GST_DEBUG_OBJECT (self->element,
      "frame with PTS %" GST_TIME_FORMAT " is job %" G_GUINT64_FORMAT
      ": slice %d of %d is the picture of %dx%d at %d,%d in %dx%d; planes: %u %s, "
      "%u %s",
      GST_TIME_ARGS (picture->pts), self->n_jobs, picture->index, (gint) slices,
      source.width, source.height, source.x, source.y, input->width,
      input->height, cuda ? pinned : planes,
      cuda ? "pinned" : "read where they lie", cuda ? planes - pinned : 0,
      "copied to pinned memory first");
}

/* What the picture of a frame by a plan has in its meta. */
static GstPpPicture
describe (const GstPpNegotiated *negotiated, const GstPpFrame *frame,
    const pp_plan *plan, guint index)
{
  GstBuffer *input = frame->input.buffer;
  GstPpPicture picture = {
    .width = negotiated->tensor.width,
    .height = negotiated->tensor.height,
    .index = (gint) index,
    .pts = GST_BUFFER_PTS (input),
    .duration = GST_BUFFER_DURATION (input),
    .offset = GST_BUFFER_OFFSET (input),
    .pad = negotiated->pad,
  };

  pp_plan_get_geometry (plan, &picture.geometry);
  return picture;
}

/* Takes frame. last: it has no more pictures. FALSE after posting why. */
static gboolean
add_pictures (GstPpConverter *self, const GstPpNegotiated *negotiated,
    GstPpBatch *batch, const GstPpPicture *pictures, pp_plan *const *plans,
    guint n, gboolean last, GstPpFrame *frame)
{
  pp_error error;

  frame->part = (GstPpPart){ last, batch->n_pictures == 0 };
  gst_pp_frame_find_pinned (frame, self->device, plans, n);
  for (guint i = 0; i < n; i++)
    log_job (self, frame, &pictures[i], batch->size);
  if (gst_pp_batch_add (batch, pictures, plans, n,
          negotiated->settings.attach_frame, frame, self->device, on_done, self,
          &error)) {
    self->n_jobs++;
    return TRUE;
  }
  gst_pp_converter_post_error (self, &error);
  return FALSE;
}

gboolean
gst_pp_converter_add (GstPpConverter *self, const GstPpNegotiated *negotiated,
    GstPpBatch *batch, guint index, GstPpFrame *frame, pp_plan *plan)
{
  const GstPpPicture picture = describe (negotiated, frame, plan, index);

  return add_pictures (
      self, negotiated, batch, &picture, &plan, 1, TRUE, frame);
}

/* The plans of n regions, each a reference. FALSE with *fault and *reason: of some. */
static gboolean
get_region_plans (GstPpNegotiated *negotiated, const GstPpInput *input,
    const GstPpRegion *regions, guint n, pp_plan **plans, GstPpFault *fault,
    gchar **reason)
{
  for (guint i = 0; i < n; i++) {
    plans[i] = gst_pp_negotiated_get_region_plan (negotiated, input->width,
        input->height, &regions[i].rect, fault, reason);
    if (plans[i] == NULL)
      return FALSE;
    *fault = GST_PP_FAULT_INPUT;
    if (!gst_pp_input_check (input, plans[i], reason))
      return FALSE;
  }
  return TRUE;
}

gboolean
gst_pp_converter_add_regions (GstPpConverter *self, GstPpNegotiated *negotiated,
    GstPpBatch *batch, const GArray *regions, guint first, guint n,
    GstPpFrame *frame)
{
  const GstPpRegion *region = &g_array_index (regions, GstPpRegion, first);
  pp_plan *plans[PP_MAX_PICTURES] = { NULL };
  GstPpPicture pictures[PP_MAX_PICTURES] = { 0 };
  GstPpFault fault;
  gchar *reason = NULL;
  gboolean added = FALSE;

  if (get_region_plans (
          negotiated, &frame->input, region, n, plans, &fault, &reason)) {
    for (guint i = 0; i < n; i++) {
      pictures[i] = describe (negotiated, frame, plans[i], i);
      pictures[i].region = &region[i];
      pictures[i].nth_region = (gint) (first + i);
      pictures[i].n_regions = (gint) regions->len;
    }
    added = add_pictures (self, negotiated, batch, pictures, plans, n,
        first + n == regions->len, frame);
  } else {
    gst_pp_frame_free (frame);
    gst_pp_converter_post_reason (self, fault, reason);
  }
  for (guint i = 0; i < n; i++)
    pp_plan_unref (&plans[i]);
  return added;
}
