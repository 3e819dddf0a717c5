/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame for the engine: its input, the tensor, what the reference makes of it
 * and what the callbacks saw.
 */
#ifndef ENGINEFRAME_H
#define ENGINEFRAME_H

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/reference/reference.h"

#include "tests/common/formats.h"

/* A frame and the tensors that the engine and the reference make of it. With
 * regions, a tensor of each, side by side. */
struct frame {
  pp_arena *arena;
  pp_plan *plan;
  uint8_t *source, *tensor, *expected;
  size_t source_size, tensor_size;
  uint64_t padding;
  pp_picture picture; /* of the last frame_task */
  int n_regions;
  pp_region_plans *regions;
  pp_picture region[PP_MAX_PICTURES];
  uint64_t region_padding[PP_MAX_PICTURES];
  bool urgent;
  pp_view view;
  /* What is on the device, see frame_place; else NULL. */
  pp_arena *memory;
  uint8_t *device_source, *device_tensor;
  size_t lead;
  bool keeps_source; /* on_input_done does not write to device_source */
  pp_job *job;
  int submitted; /* times */
  /* what the callbacks saw */
  int inputs_done, dones; /* atomic */
  bool input_first, failed;
  int ended_as; /* how many jobs ended before */
  pp_job_info info;
};

/* Jobs that ended, of all frames; atomic. */
static int frames_ended;

static inline void
on_input_done (void *user)
{
  struct frame *frame = user;

  frame->input_first = __atomic_load_n (&frame->dones, __ATOMIC_SEQ_CST) == 0;
  /* The device has let go of it: nothing may read this. */
  memset (frame->source, 0x5a, frame->source_size);
  if (frame->device_source != NULL && !frame->keeps_source)
    pp_arena_upload (frame->memory, frame->device_source + frame->lead,
        frame->source, frame->source_size, NULL);
  __atomic_fetch_add (&frame->inputs_done, 1, __ATOMIC_SEQ_CST);
}

static inline void
on_done (void *user, const pp_job_info *info, const pp_error *error)
{
  struct frame *frame = user;

  frame->failed = error != NULL;
  frame->info = *info;
  frame->ended_as = __atomic_fetch_add (&frames_ended, 1, __ATOMIC_SEQ_CST);
  __atomic_fetch_add (&frame->dones, 1, __ATOMIC_SEQ_CST);
}

/* A random NV12 or RGB frame of width x height, whose content depends on seed,
 * with rows pad bytes longer than they need. */
static inline void
frame_init (struct frame *frame, pp_arena *arena, const pp_spec *spec,
    pp_format format, int pad, unsigned seed)
{
  const size_t stride =
      (size_t) format.width * (format.model == PP_MODEL_RGB ? 3 : 1) +
      (size_t) pad;
  const size_t rows = (size_t) format.height +
      (format.model == PP_MODEL_RGB ? 0 : ((size_t) format.height + 1) / 2);

  memset (frame, 0, sizeof *frame);
  frame->arena = pp_arena_ref (arena);
  frame->plan = make_plan (spec, &format, NULL);
  frame->source_size = (stride + 1) * rows;
  frame->tensor_size = pp_plan_tensor_size (frame->plan);
  frame->source = pp_arena_alloc (arena, frame->source_size, NULL);
  frame->tensor = pp_arena_alloc (arena, frame->tensor_size, NULL);
  frame->expected = malloc (frame->tensor_size);
  for (size_t i = 0; i < frame->source_size; i++)
    frame->source[i] = (uint8_t) rand_r (&seed);
  memset (frame->tensor, 0xee, frame->tensor_size);
  frame->view.plane[0] = frame->source;
  frame->view.plane[1] = frame->source + stride * (size_t) format.height;
  frame->view.stride[0] = stride;
  frame->view.stride[1] = stride + (size_t) (format.width & 1);

  const pp_view view = pp_plan_crop_view (frame->plan, &frame->view);
  pp_apply_c (frame->plan, &view, frame->expected);
}

/* Makes n pictures of the frame, which frame_init made with the same spec and
 * format: a tensor for each of the rectangles. */
static inline void
frame_set_regions (struct frame *frame, const pp_spec *spec, pp_format format,
    const pp_rect *rects, int n)
{
  const size_t slice = frame->tensor_size;
  pp_error error;

  pp_arena_free (frame->arena, frame->tensor, frame->tensor_size);
  free (frame->expected);
  frame->tensor_size = slice * (size_t) n;
  frame->tensor = pp_arena_alloc (frame->arena, frame->tensor_size, NULL);
  frame->expected = malloc (frame->tensor_size);
  memset (frame->tensor, 0xee, frame->tensor_size);
  frame->n_regions = n;
  frame->regions = pp_region_plans_new (spec, &format, n, &error);
  for (int i = 0; i < n; i++) {
    pp_picture *region = &frame->region[i];

    region->plan = pp_region_plans_get (frame->regions, &rects[i], &error);
    EXPECT (region->plan != NULL, "%s", error.text);
    region->tensor = frame->tensor + (size_t) i * slice;
    region->padding = &frame->region_padding[i];

    const pp_view view = pp_plan_crop_view (region->plan, &frame->view);
    pp_apply_c (region->plan, &view, frame->expected + (size_t) i * slice);
  }
}

/* What is on the device. */
#define SOURCE_ON_DEVICE 1u
#define TENSOR_ON_DEVICE 2u

/* Puts the frame's source, lead bytes into a block, its tensor, or both into the
 * device's memory. After frame_set_regions. */
static inline void
frame_place (struct frame *frame, pp_arena *memory, unsigned place, size_t lead)
{
  pp_error error = { 0 };
  pp_status status = PP_OK;

  frame->memory = pp_arena_ref (memory);
  if ((place & SOURCE_ON_DEVICE) != 0) {
    frame->lead = lead;
    frame->device_source =
        pp_arena_alloc (memory, lead + frame->source_size, &error);
    for (int p = 0; p < 2; p++)
      frame->view.plane[p] =
          frame->device_source + lead + (frame->view.plane[p] - frame->source);
    status = pp_arena_upload (memory, frame->device_source + lead,
        frame->source, frame->source_size, &error);
  }
  if ((place & TENSOR_ON_DEVICE) != 0) {
    frame->device_tensor = pp_arena_alloc (memory, frame->tensor_size, &error);
    for (int i = 0; i < frame->n_regions; i++)
      frame->region[i].tensor = frame->device_tensor +
          ((uint8_t *) frame->region[i].tensor - frame->tensor);
    if (status == PP_OK)
      status = pp_arena_upload (memory, frame->device_tensor, frame->tensor,
          frame->tensor_size, &error);
  }
  EXPECT (status == PP_OK, "%s", error.text);
}

/* The tensor as it is on the device, to frame->tensor. */
static inline void
frame_download (struct frame *frame)
{
  pp_error error = { 0 };

  if (frame->device_tensor != NULL)
    EXPECT (pp_arena_download (frame->memory, frame->device_tensor,
                frame->tensor, frame->tensor_size, &error) == PP_OK,
        "%s", error.text);
}

static inline pp_task
frame_task (struct frame *frame, unsigned pinned)
{
  frame->picture = (pp_picture){ frame->plan,
    frame->device_tensor != NULL ? frame->device_tensor : frame->tensor,
    &frame->padding };
  return (pp_task){ .pictures =
                        frame->n_regions > 0 ? frame->region : &frame->picture,
    .n_pictures = frame->n_regions > 0 ? frame->n_regions : 1,
    .view = frame->view,
    .on_device = frame->device_source != NULL,
    .tensors_on_device = frame->device_tensor != NULL,
    .pinned_planes = pinned,
    .urgent = frame->urgent,
    .input_done = on_input_done,
    .done = on_done,
    .user = frame };
}

static inline void
frame_submit (struct frame *frame, pp_device *device, unsigned pinned)
{
  const pp_task task = frame_task (frame, pinned);
  pp_error error = { 0 };

  frame->job = pp_submit (device, &task, &error);
  frame->submitted++;
  EXPECT (frame->job != NULL, "%s", error.text);
}

/* Until done was called for each job, which may be after it ended: microseconds,
 * or more on a busy machine. */
static inline void
frame_wait_callbacks (struct frame *frame)
{
  const time_t deadline = time (NULL) + 20;

  while (frame->job != NULL &&
      __atomic_load_n (&frame->dones, __ATOMIC_SEQ_CST) < frame->submitted &&
      time (NULL) < deadline)
    sched_yield ();
}

/* Submits a frame that reads, as its plane 0, the tensor of a first one, which need
 * not be there yet. */
static inline void
frame_submit_after (struct frame *frame, pp_device *device, unsigned pinned,
    const struct frame *first)
{
  pp_task task = frame_task (frame, pinned);
  pp_error error = { 0 };

  task.view.plane[0] = first->tensor;
  task.after = first->job;
  frame->job = pp_submit (device, &task, &error);
  frame->submitted = 1;
  EXPECT (frame->job != NULL, "%s", error.text);
}

static inline void
frame_check (struct frame *frame, const char *what)
{
  pp_error error = { 0 };

  EXPECT (frame->job != NULL && pp_job_wait (frame->job, &error) == PP_OK,
      "%s: %s", what, error.text);
  frame_download (frame);
  EXPECT (memcmp (frame->tensor, frame->expected, frame->tensor_size) == 0,
      "%s: tensor differs from the reference's", what);
  frame_wait_callbacks (frame);
}

static inline void
frame_check_callbacks (struct frame *frame, const char *what)
{
  frame_wait_callbacks (frame);
  EXPECT (frame->inputs_done == 1 && frame->dones == 1 && frame->input_first,
      "%s: %d inputs done, %d done", what, frame->inputs_done, frame->dones);
}

/* Frames that were submitted in this order, since frames_ended was 0. */
static inline void
frames_check_order (
    struct frame *frames, int n, pp_device *device, const char *what)
{
  EXPECT (pp_device_drain (device, NULL) == PP_OK, "drain");
  for (int i = 0; i < n; i++) {
    EXPECT (pp_job_query (frames[i].job), "job %d after drain", i);
    frame_check (&frames[i], what);
    frame_check_callbacks (&frames[i], what);
    EXPECT (!frames[i].failed && frames[i].ended_as == i, "job %d ended as %d",
        i, frames[i].ended_as);
  }
}

/* Waits for the job first. */
static inline void
frame_clear (struct frame *frame)
{
  if (frame->job != NULL)
    pp_job_wait (frame->job, NULL);
  frame_wait_callbacks (frame);
  pp_job_unref (&frame->job);
  pp_arena_free (frame->arena, frame->source, frame->source_size);
  pp_arena_free (frame->arena, frame->tensor, frame->tensor_size);
  if (frame->device_source != NULL)
    pp_arena_free (
        frame->memory, frame->device_source, frame->lead + frame->source_size);
  if (frame->device_tensor != NULL)
    pp_arena_free (frame->memory, frame->device_tensor, frame->tensor_size);
  pp_arena_unref (&frame->memory);
  for (int i = 0; i < frame->n_regions; i++)
    pp_plan_unref (&frame->region[i].plan);
  pp_region_plans_free (&frame->regions);
  pp_plan_unref (&frame->plan);
  pp_arena_unref (&frame->arena);
  free (frame->expected);
}

/* Of a device that was closed: its jobs are done, and what they hold is there. */
static inline void
frames_check_closed (struct frame *frames, int n)
{
  for (int i = 0; i < n; i++) {
    EXPECT (pp_job_query (frames[i].job), "job %d after close", i);
    frame_check (&frames[i], "closed");
    frame_check_callbacks (&frames[i], "closed");
    frame_clear (&frames[i]);
  }
}

/* A frame whose tensor is a frame, too: RGB, side x side. */
static inline void
frame_init_first (struct frame *frame, pp_arena *arena, int side, unsigned seed)
{
  pp_spec spec = sized_spec (side, side);

  spec.type = PP_TYPE_UINT8;
  spec.layout = PP_LAYOUT_NHWC;
  frame_init (frame, arena, &spec, rgb_format (1500, 1500), 0, seed);
}

static inline pp_spec
letterbox_spec (int width, int height)
{
  pp_spec spec = sized_spec (width, height);

  spec.fit = PP_FIT_LETTERBOX;
  for (int c = 0; c < 3; c++) {
    spec.mean[c] = 0.1 * (c + 1);
    spec.std[c] = 0.2 * (c + 1);
  }
  return spec;
}

/* The task's mistake is an error with this in its text. */
static inline void
expect_refused (pp_device *device, const pp_task *task, const char *text)
{
  pp_error error = { 0 };

  EXPECT (pp_submit (device, task, &error) == NULL &&
          error.status == PP_BAD_ARGUMENT && strstr (error.text, text) != NULL,
      "%s: %s", text, error.text);
}

#endif
