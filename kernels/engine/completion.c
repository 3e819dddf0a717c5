/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The completion thread: waits for the jobs' events in order, releases inputs,
 * ends jobs, reads stage times, calls back.
 */

#include "engine.h"

#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static pp_event *
event_of (const pp_device *device, const pp_job *job, pp_mark mark)
{
  return device->resources[job->resources].event[mark];
}

/* Reads the times of a timed job's stages, from the start of the last timed job:
 * differences of neighbours stay exact however long the device runs. */
static pp_status
read_times (pp_device *device, pp_job *job, pp_error *error)
{
  const pp_mark ends[PP_N_STAGES] = {
    [PP_STAGE_UPLOAD] = job->uploaded_mark,
    [PP_STAGE_KERNEL] = job->computed_mark,
    [PP_STAGE_DOWNLOAD] = job->done_mark,
  };
  const pp_backend *backend = device->backend;
  pp_event *begin = event_of (device, job, PP_MARK_START);
  double since_last = 0, end[PP_N_STAGES] = { 0 };
  pp_status status = PP_OK;

  if (device->last_resources >= 0)
    status = backend->event_elapsed (
        device->resources[device->last_resources].event[PP_MARK_START], begin,
        &since_last, error);
  for (int s = 0; s < PP_N_STAGES && status == PP_OK; s++)
    if (ends[s] != PP_MARK_START)
      status = backend->event_elapsed (
          begin, event_of (device, job, ends[s]), &end[s], error);
  if (status != PP_OK)
    return status;

  const double start = device->last_start + since_last;
  job->info.times = (pp_times){ start, start + end[PP_STAGE_UPLOAD],
    start + end[PP_STAGE_KERNEL], start + end[PP_STAGE_DOWNLOAD] };
  device->last_start = start;
  device->last_resources = job->resources;
  return PP_OK;
}

/* Releases the inputs of jobs behind this one whose upload has passed as well:
 * a camera's pool must not wait for a kernel. Only the completion thread takes
 * jobs off the list, so those reached here stay. */
static void
release_passed_inputs (pp_device *device, pp_job *job)
{
  for (;;) {
    bool passed = false;

    pthread_mutex_lock (&device->lock);
    job = job->next;
    const bool queued = job != NULL && job->state == PP_JOB_QUEUED;
    pthread_mutex_unlock (&device->lock);
    if (!queued || job->error.status != PP_OK)
      return;
    if (job->input_released)
      continue;
    if (device->backend->event_query (
            event_of (device, job, job->input_mark), &passed, NULL) != PP_OK ||
        !passed)
      return;
    pp_job_release_input (job);
  }
}

/* Waits for the job's stages, releasing its input on the way. */
static pp_status
wait_for_stages (pp_device *device, pp_job *job, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_status status =
      backend->event_wait (event_of (device, job, job->input_mark),
          pp_job_is_alone (device, job), error);

  if (status != PP_OK)
    return status;
  pp_job_release_input (job);
  release_passed_inputs (device, job);
  if (job->input_mark == job->done_mark)
    return PP_OK;
  return backend->event_wait (event_of (device, job, job->done_mark),
      pp_job_is_alone (device, job), error);
}

static void
complete (pp_device *device, pp_job *job)
{
  pp_error error = job->error;
  pp_status status = error.status == PP_OK
      ? wait_for_stages (device, job, &error)
      : error.status;

  if (status == PP_OK) {
    /* Who waits for the tensor need not wait for its times. */
    pp_job_end (job, NULL);
    if (job->info.timed)
      status = read_times (device, job, &error);
  }
  if (status != PP_OK) {
    /* What was queued before the failure may still be reading and writing. */
    pp_shared_stream *shared = device->stream[job->info.stream];
    device->backend->stream_sync (shared->stream, NULL);
    if (job->in_two_bands)
      device->backend->stream_sync (shared->second, NULL);
    pthread_mutex_lock (&device->lock);
    if (device->error.status == PP_OK)
      device->error = error;
    pthread_mutex_unlock (&device->lock);
  } else if (job->info.timed && !job->in_two_bands) {
    pp_stream_choice_measure (device, &job->info.times);
  }
  pp_job_call_back (job, status == PP_OK ? NULL : &error);
  if (!pp_job_query (job))
    pp_job_end (job, &error);
}

/* With the device's lock held. */
static void
complete_all (pp_device *device)
{
  for (;;) {
    while (device->first != NULL ? device->first->state != PP_JOB_QUEUED
                                 : !device->quit)
      pthread_cond_wait (&device->changed, &device->lock);
    pp_job *job = device->first;
    if (job == NULL)
      break;
    pthread_mutex_unlock (&device->lock);
    complete (device, job);
    pthread_mutex_lock (&device->lock);
    device->first = job->next;
    if (device->first == NULL)
      device->last = NULL;
    device->unfinished--;
    pthread_cond_broadcast (&device->changed);
    pthread_mutex_unlock (&device->lock);
    pp_job_unref (&job);
    pthread_mutex_lock (&device->lock);
  }
}

/* Attaches before there is a job: where that failed, nobody could wait for what
 * the device does with the job's memory. */
static void *
completion_thread (void *data)
{
  pp_device *device = data;
  pp_error error = { 0 };

#ifdef __linux__
  /* Sleeps of the backend's waits are short: end them in time, nanoseconds. */
  prctl (PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
#endif
  const pp_status entered = device->backend->attach (device->context, &error);
  pthread_mutex_lock (&device->lock);
  device->error = error;
  device->thread_entered = true;
  pthread_cond_broadcast (&device->changed);
  if (entered == PP_OK)
    complete_all (device);
  pthread_mutex_unlock (&device->lock);
  if (entered == PP_OK)
    device->backend->detach (device->context);
  return NULL;
}

pp_status
pp_completion_start (pp_device *device, pp_error *error)
{
  const int code =
      pthread_create (&device->thread, NULL, completion_thread, device);

  if (code != 0)
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  device->thread_started = true;
  pthread_mutex_lock (&device->lock);
  while (!device->thread_entered)
    pthread_cond_wait (&device->changed, &device->lock);
  const pp_status status = device->error.status;
  if (status != PP_OK && error != NULL)
    *error = device->error;
  pthread_mutex_unlock (&device->lock);
  return status;
}

void
pp_completion_stop (pp_device *device)
{
  if (!device->thread_started)
    return;
  pthread_mutex_lock (&device->lock);
  device->quit = true;
  pthread_cond_broadcast (&device->changed);
  pthread_mutex_unlock (&device->lock);
  pthread_join (device->thread, NULL);
}
