/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pp_submit: checks the task, waits for room, makes the job, and queues it or
 * hands it to a staging thread.
 */
#include <stdlib.h>

#include "engine.h"

/* After the first PP_MEASURED_JOBS jobs, one in this many is timed. */
#define TIMED_PART 8
/* Staging threads for pinned frames of several pictures: while one queues a job, the
 * other one prepares the next. */
#define QUEUEING_THREADS 2

static pp_status
check_planes (const pp_task *task, const pp_plan *plan, pp_error *error)
{
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &plan->extent[p];
    if (extent->height == 0)
      continue;
    if (task->view.plane[p] == NULL)
      return pp_fail (error, PP_BAD_ARGUMENT, "plane %d is NULL", p);
    if (task->view.stride[p] < (size_t) extent->x + (size_t) extent->width)
      return pp_fail (error, PP_BAD_ARGUMENT,
          "stride of plane %d is %zu, but its rows have %d bytes", p,
          task->view.stride[p], extent->x + extent->width);
  }
  return PP_OK;
}

/* Whether picture i's tensor can be in one block with those before it. */
static pp_status
check_tensor (const pp_task *task, int i, pp_error *error)
{
  const pp_picture *picture = task->pictures;
  const pp_numbers *n = &picture[i].plan->numbers;
  const pp_numbers *first = &picture[0].plan->numbers;
  const size_t size = picture[0].plan->tensor_size;

  if (picture[0].plan->gaps || picture[i].plan->gaps)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "the tensor of picture %d is a surface with bytes between its elements, "
        "must be the job's only one",
        picture[0].plan->gaps ? 0 : i);
  if (n->type != first->type || n->width != first->width ||
      n->height != first->height || n->n_channels != first->n_channels ||
      n->pixel_stride != first->pixel_stride ||
      n->row_stride != first->row_stride ||
      picture[i].plan->tensor_size != size)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "the tensor of picture %d is %dx%d, type %d, must have the size, type "
        "and layout of picture 0, %dx%d, type %d",
        i, n->width, n->height, n->type, first->width, first->height,
        first->type);
  for (int other = 0; other < i; other++) {
    const uintptr_t a = (uintptr_t) picture[i].tensor;
    const uintptr_t b = (uintptr_t) picture[other].tensor;
    if ((a < b ? b - a : a - b) < size)
      return pp_fail (error, PP_BAD_ARGUMENT,
          "the tensors of pictures %d and %d are %zu bytes apart, must be %zu "
          "or more",
          other, i, (size_t) (a < b ? b - a : a - b), size);
  }
  return PP_OK;
}

/* What the device can reach. */
static pp_status
check_places (const pp_device *device, const pp_task *task, pp_error *error)
{
  if (device->backend->unified && (task->on_device || task->tensors_on_device))
    return pp_fail (error, PP_BAD_ARGUMENT,
        "%s is set, but %s has no memory of its own",
        task->on_device ? "on_device" : "tensors_on_device", device->name);
  if (task->padding_only && !task->tensors_on_device)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "padding_only is set without tensors_on_device: pp_plan_fill_tensor is "
        "for tensors in host memory");
  return PP_OK;
}

/* A kernel that writes elements at other addresses fails, and its device with
 * it. */
static pp_status
check_alignment (const pp_task *task, int i, pp_error *error)
{
  const pp_picture *picture = &task->pictures[i];
  const size_t element = pp_type_size ((pp_type) picture->plan->numbers.type);

  if (!task->tensors_on_device || (uintptr_t) picture->tensor % element == 0)
    return PP_OK;
  return pp_fail (error, PP_BAD_ARGUMENT,
      "the tensor of picture %d is at %p, must be at a multiple of %zu bytes, "
      "its element",
      i, picture->tensor, element);
}

static pp_status
check_task (const pp_device *device, const pp_task *task, pp_error *error)
{
  pp_status status = check_places (device, task, error);

  if (status != PP_OK)
    return status;
  if (task->n_pictures < 1 || task->n_pictures > PP_MAX_PICTURES)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "task has %d pictures, must be 1 to %d", task->n_pictures,
        PP_MAX_PICTURES);
  for (int i = 0; i < task->n_pictures; i++) {
    const pp_picture *picture = &task->pictures[i];
    if (picture->plan == NULL || picture->tensor == NULL)
      return pp_fail (error, PP_BAD_ARGUMENT, "picture %d has no %s", i,
          picture->plan == NULL ? "plan" : "tensor");
    status = check_alignment (task, i, error);
    if (status == PP_OK && !task->padding_only)
      status = check_planes (task, picture->plan, error);
    if (status == PP_OK && i > 0)
      status = check_tensor (task, i, error);
    if (status != PP_OK)
      return status;
  }
  return PP_OK;
}

/* Waits for room for one more job. */
static pp_status
wait_for_room (pp_device *device, pp_error *error)
{
  const int most = pp_device_most_jobs (device);

  if (pp_is_forked (device->process))
    return pp_fail_forked (device->process, error);
  pthread_mutex_lock (&device->lock);
  while (device->unfinished >= most)
    pthread_cond_wait (&device->changed, &device->lock);
  const pp_status status = device->error.status;
  if (status != PP_OK && error != NULL)
    *error = device->error;
  pthread_mutex_unlock (&device->lock);
  return status;
}

/* Whether a staging thread queues the job. That of several pictures takes this
 * thread as long to queue as all else that it does for the frame. While the device
 * has other work, this thread goes on to the next frame instead; an idle device
 * would only wait for the other thread to wake up. */
static bool
goes_to_stager (pp_device *device, pp_job *job)
{
  const int most = device->stager.n_threads;
  const int threads = most < QUEUEING_THREADS ? most : QUEUEING_THREADS;

  if (job->staged != 0)
    return pp_stager_start (device, most, &job->error) == PP_OK;
  if (job->task.n_pictures == 1 || threads == 0)
    return false;
  pthread_mutex_lock (&device->lock);
  const bool idle = device->unfinished == 0;
  pthread_mutex_unlock (&device->lock);
  if (idle || pp_stager_start (device, threads, NULL) != PP_OK)
    return false;
  device->stager.pictures = true;
  return true;
}

/* Adds the job to the device's list. Hands it to a staging thread, or queues it
 * on this thread if it is next. */
static void
append (pp_device *device, pp_job *job, bool staging)
{
  pthread_mutex_lock (&device->lock);
  pp_stream_choice_take (device, &job->info);
  if (device->last != NULL)
    device->last->next = job;
  else
    device->first = job;
  device->last = job;
  if (device->next_to_queue == NULL)
    device->next_to_queue = job;
  device->unfinished++;
  if (staging)
    pp_stager_add (device, job);
  else
    pp_order_queue_ready (device);
  pthread_mutex_unlock (&device->lock);
}

/* Waits for a job of another device here: making the stream wait would hold up
 * the other devices that share it. A staging thread that has the job waits
 * instead. */
static void
wait_for_other_device (const pp_device *device, const pp_task *task)
{
  if (task->after != NULL && task->after->device != device)
    pp_job_wait (task->after, NULL);
}

static bool
is_timed (const pp_device *device, uint64_t sequence)
{
  return device->time_all || sequence < device->timed_until ||
      sequence % TIMED_PART == 0;
}

pp_job *
pp_submit (pp_device *device, const pp_task *task, pp_error *error)
{
  if (check_task (device, task, error) != PP_OK ||
      wait_for_room (device, error) != PP_OK)
    return NULL;

  pp_job *job = pp_job_new (device, task);
  if (job == NULL) {
    pp_fail_memory (error, "malloc", sizeof *job);
    return NULL;
  }
  job->info.sequence = device->sequence++;
  /* What makes padding has no stages, and nothing to say about the others'. */
  job->info.timed =
      !task->padding_only && is_timed (device, job->info.sequence);
  job->resources = (int) (job->info.sequence % (uint64_t) device->n_resources);
  job->staged = pp_job_pageable_planes (device, job);
  pp_job_fill_padding (job);

  const bool staging = goes_to_stager (device, job);
  if (!staging)
    wait_for_other_device (device, task);
  pp_job_ref (job); /* the list's */
  append (device, job, staging);
  return job;
}

void
pp_device_time_all (pp_device *device, bool all)
{
  device->time_all = all;
}
