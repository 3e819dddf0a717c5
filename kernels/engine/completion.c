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

/* Reads the stage times off the slot's events, from the start of the job before
 * it: differences of neighbours stay exact however long the device runs. */
static pp_status
read_times (pp_device *device, pp_job *job, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_event *const *event = device->slot[job->slot].event;
  double since_last = 0, length[PP_STAGES] = { 0 };
  pp_status status = PP_OK;

  if (device->last_slot >= 0)
    status = backend->event_elapsed (
        device->slot[device->last_slot].event[PP_STAGE_START],
        event[PP_STAGE_START], &since_last, error);
  for (int s = PP_STAGE_UPLOADED; s < PP_STAGES && status == PP_OK; s++)
    status = backend->event_elapsed (
        event[PP_STAGE_START], event[s], &length[s], error);
  if (status != PP_OK)
    return status;

  const double start = device->last_start + since_last;
  job->info.times = (pp_times){ start, start + length[PP_STAGE_UPLOADED],
    start + length[PP_STAGE_COMPUTED], start + length[PP_STAGE_DONE] };
  device->last_start = start;
  device->last_slot = job->slot;
  return PP_OK;
}

/* The event after which the device has let go of the job's input. */
static pp_event *
input_event (const pp_device *device, const pp_job *job)
{
  return device->slot[job->slot]
      .event[device->backend->unified ? PP_STAGE_DONE : PP_STAGE_UPLOADED];
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
            input_event (device, job), &passed, NULL) != PP_OK ||
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
  pp_status status = backend->event_wait (
      input_event (device, job), pp_job_is_alone (device, job), error);

  if (status != PP_OK)
    return status;
  pp_job_release_input (job);
  release_passed_inputs (device, job);
  return backend->event_wait (device->slot[job->slot].event[PP_STAGE_DONE],
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
    status = read_times (device, job, &error);
  }
  if (status != PP_OK) {
    /* What was queued before the failure may still be reading and writing. */
    pp_track *track = device->track[job->info.stream];
    device->backend->stream_sync (track->stream, NULL);
    if (job->in_two)
      device->backend->stream_sync (track->upper, NULL);
    pthread_mutex_lock (&device->lock);
    if (device->error.status == PP_OK)
      device->error = error;
    pthread_mutex_unlock (&device->lock);
  } else if (!job->in_two) {
    pp_streams_measure (device, &job->info.times);
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
  pthread_mutex_unlock (&device->lock);
  return pp_device_error (device, error);
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
