/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pageable input: threads that copy it to pinned memory, and the order in which
 * jobs are queued on their streams although they get ready out of order.
 *
 * A device copies pageable memory at a fraction of the bus' speed, and so does
 * one core: several of them keep up with it, each with a frame of its own. They
 * take jobs in order. Whoever makes the oldest unqueued job ready queues it and
 * all ready ones behind it; who comes meanwhile leaves its job to that thread
 * and goes on. Where another device has the turn of the job's track, it is left to
 * the thread of the tracks, see tracks.h. So no thread waits for another's call
 * to the backend. With no such device, a pinned frame with nothing ahead of it is
 * queued by pp_submit's caller itself, and one behind a staged frame by the
 * thread that copied that.
 *
 * No deadlock: pp_submit's caller waits for older jobs of the device and for the
 * one that its own must come after, staging threads for that one, the thread of
 * the tracks for none. A job is named there after pp_submit returned it, and on
 * one device jobs are queued in the order of pp_submit, so nothing ever waits for
 * a later one.
 */

#include "engine.h"

#include <string.h>

static void
queue (pp_device *device, pp_job *job)
{
  const pp_backend *backend = device->backend;

  if (job->error.status != PP_OK ||
      backend->enter (device->context, &job->error) != PP_OK)
    return;
  job->queued = pp_queue_stages (device, job, &job->error) == PP_OK;
  backend->leave (device->context);
}

/* The next job's. With the device's lock held. */
static pp_track *
next_track (const pp_device *device)
{
  return device->track[device->next_to_queue->info.stream];
}

/* Makes the next job, if it is ready, the caller's to queue or to leave to the
 * thread of the tracks. With the device's lock held. */
static bool
claim_next (pp_device *device)
{
  const pp_job *job = device->next_to_queue;

  device->queueing = job != NULL && job->state == PP_JOB_READY;
  return device->queueing;
}

/* The next job, whose turn the caller has, and gives. With the device's lock held,
 * which is given up meanwhile. */
static void
queue_next (pp_device *device)
{
  pp_job *job = device->next_to_queue;
  pp_track *track = next_track (device);

  pthread_mutex_unlock (&device->lock);
  queue (device, job);
  pp_turn_give (device->tracks, track);
  pthread_mutex_lock (&device->lock);
  /* From here on it may end, but not before the lock is given up. */
  job->state = PP_JOB_QUEUED;
  device->next_to_queue = job->next;
  pthread_cond_broadcast (&device->changed);
}

void
pp_queue_ready (pp_device *device)
{
  if (device->queueing)
    return;
  while (claim_next (device) &&
      pp_turn_take_or_list (device->tracks, next_track (device), device))
    queue_next (device);
}

void
pp_queue_left (pp_device *device)
{
  pthread_mutex_lock (&device->lock);
  queue_next (device);
  if (claim_next (device)) /* behind other devices */
    pp_turn_leave (device->tracks, next_track (device), device);
  pthread_mutex_unlock (&device->lock);
}

static void
stage (pp_device *device, pp_job *job)
{
  if (job->task.after != NULL)
    pp_job_wait (job->task.after, NULL);
  const pp_status status =
      pp_stage_planes (device, job, &job->source, &job->error);
  if (status == PP_OK && !pp_job_reads_input (device, job))
    pp_job_release_input (job);

  pthread_mutex_lock (&device->lock);
  job->state = PP_JOB_READY;
  pp_queue_ready (device);
  pthread_mutex_unlock (&device->lock);
}

/* Jobs behind one that is not staged have not ended: the list holds them. */
static pp_job *
take (struct pp_staging *staging)
{
  pp_job *taken = staging->next;

  do
    staging->next = staging->next->next;
  while (staging->next != NULL && staging->next->state != PP_JOB_PAGEABLE);
  return taken;
}

static void *
staging_thread (void *data)
{
  pp_device *device = data;
  struct pp_staging *staging = &device->staging;

  pthread_mutex_lock (&device->lock);
  for (;;) {
    while (staging->next == NULL && !staging->quit)
      pthread_cond_wait (&staging->work, &device->lock);
    if (staging->next == NULL)
      break;
    pp_job *job = take (staging);
    pthread_mutex_unlock (&device->lock);
    stage (device, job);
    pthread_mutex_lock (&device->lock);
  }
  pthread_mutex_unlock (&device->lock);
  return NULL;
}

/* Fewer threads than wanted are slower, but do. */
pp_status
pp_staging_start (pp_device *device, pp_error *error)
{
  struct pp_staging *staging = &device->staging;
  int code = 0;

  if (staging->started > 0)
    return PP_OK;
  while (staging->started < staging->n_threads && code == 0) {
    code = pthread_create (
        &staging->thread[staging->started], NULL, staging_thread, device);
    if (code == 0)
      staging->started++;
  }
  if (staging->started == 0)
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  return PP_OK;
}

void
pp_staging_add (pp_device *device, pp_job *job)
{
  job->state = PP_JOB_PAGEABLE;
  if (device->staging.next == NULL)
    device->staging.next = job;
  pthread_cond_signal (&device->staging.work);
}

void
pp_staging_stop (pp_device *device)
{
  struct pp_staging *staging = &device->staging;

  pthread_mutex_lock (&device->lock);
  staging->quit = true;
  pthread_cond_broadcast (&staging->work);
  pthread_mutex_unlock (&device->lock);
  while (staging->started > 0)
    pthread_join (staging->thread[--staging->started], NULL);
}
