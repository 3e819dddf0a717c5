/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "frame.h"

#include "arena_memory.h"

static GstPpFrame *
new_empty (GstAtomicQueue *spare)
{
  GstPpFrame *frame = gst_atomic_queue_pop (spare);

  if (frame == NULL)
    frame = g_new0 (GstPpFrame, 1);
  frame->spare = spare;
  return frame;
}

/* The plan for input, which is mapped; NULL with *fault and *reason. */
static pp_plan *
find_plan (const GstPpInput *input, GstPpNegotiated *negotiated,
    GstPpFault *fault, gchar **reason)
{
  *fault = GST_PP_FAULT_DEVICE;
  if (!gst_pp_input_wait (input, reason))
    return NULL;
  pp_plan *plan = gst_pp_negotiated_find_plan (
      negotiated, input->width, input->height, &input->crop, fault, reason);
  if (plan == NULL)
    return NULL;
  *fault = GST_PP_FAULT_INPUT;
  return gst_pp_input_check (input, plan, reason) ? plan : NULL;
}

GstPpFrame *
gst_pp_frame_new (GstAtomicQueue *spare, GstPpNegotiated *negotiated,
    GstBuffer *input, pp_plan **plan, GstPpFault *fault, gchar **reason)
{
  GstPpFrame *frame = new_empty (spare);

  *fault = GST_PP_FAULT_INPUT;
  if (gst_pp_input_map (
          &frame->input, &negotiated->info, negotiated->cuda, input, reason)) {
    *plan = find_plan (&frame->input, negotiated, fault, reason);
    if (*plan != NULL)
      return frame;
  }
  gst_pp_frame_free (frame);
  return NULL;
}

void
gst_pp_frame_free (GstPpFrame *frame)
{
  gst_pp_input_clear (&frame->input);
  gst_atomic_queue_push (frame->spare, frame);
}

void
gst_pp_frame_free_spare (GstAtomicQueue *spare)
{
  GstPpFrame *frame;

  while ((frame = gst_atomic_queue_pop (spare)) != NULL)
    g_free (frame);
  gst_atomic_queue_unref (spare);
}

static void
on_input_done (void *user)
{
  GstPpFrame *frame = user;

  gst_pp_input_clear (&frame->input);
}

static void
on_done (void *user, const pp_job_info *info, const pp_error *error)
{
  GstPpFrame *frame = user;

  frame->done (frame->owner, frame, info, error);
  gst_pp_frame_free (frame);
}

void
gst_pp_frame_find_pinned (
    GstPpFrame *frame, const pp_device *device, pp_plan *const *plans, guint n)
{
  frame->pinned_planes = frame->input.on_device ? 0 : ~0u;
  for (guint i = 0; i < n && !frame->input.on_device; i++)
    frame->pinned_planes &= gst_pp_input_pinned_planes (
        &frame->input, plans[i], pp_device_backend (device));
}

static pp_picture
get_picture (pp_plan *plan, GstMemory *memory, guint slice)
{
  const pp_picture picture = {
    .plan = plan,
    .tensor =
        gst_pp_memory_get_data (memory) + slice * pp_plan_tensor_size (plan),
    .padding = gst_pp_memory_get_padding (memory, slice),
  };

  return picture;
}

gboolean
gst_pp_frame_submit (GstPpFrame *frame, pp_device *device,
    pp_plan *const *plans, guint n, GstMemory *memory, guint slice,
    GstPpFrameDone done, gpointer owner, pp_error *error)
{
  pp_picture pictures[PP_MAX_PICTURES];
  const pp_task task = {
    .pictures = pictures,
    .n_pictures = (gint) n,
    .view = frame->input.view,
    .on_device = frame->input.on_device,
    .tensors_on_device = gst_pp_memory_is_on_device (memory),
    .pinned_planes = frame->pinned_planes,
    .urgent = frame->urgent,
    .input_done = on_input_done,
    .done = on_done,
    .user = frame,
  };

  for (guint i = 0; i < n; i++)
    pictures[i] = get_picture (plans[i], memory, slice + i);
  frame->done = done;
  frame->owner = owner;
  frame->submitted = gst_util_get_timestamp ();
  pp_job *job = pp_submit (device, &task, error);
  if (job == NULL) {
    gst_pp_frame_free (frame);
    return FALSE;
  }
  for (guint i = 1; i < n; i++)
    gst_pp_memory_take_job (memory, slice + i, pp_job_ref (job));
  gst_pp_memory_take_job (memory, slice, job);
  return TRUE;
}

gboolean
gst_pp_frame_submit_padding (GstAtomicQueue *spare, pp_device *device,
    pp_plan *plan, GstMemory *memory, guint slice, GstPpFrameDone done,
    gpointer owner, pp_error *error)
{
  GstPpFrame *frame = new_empty (spare);
  const pp_picture picture = get_picture (plan, memory, slice);
  const pp_task task = {
    .pictures = &picture,
    .n_pictures = 1,
    .tensors_on_device = TRUE,
    .padding_only = TRUE,
    .input_done = on_input_done,
    .done = on_done,
    .user = frame,
  };

  frame->done = done;
  frame->owner = owner;
  pp_job *job = pp_submit (device, &task, error);
  if (job == NULL) {
    gst_pp_frame_free (frame);
    return FALSE;
  }
  gst_pp_memory_take_job (memory, slice, job);
  return TRUE;
}
