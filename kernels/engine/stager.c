/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Threads that copy pageable planes to pinned memory. A device reads pageable
 * memory at a fraction of the bus' speed, and one core copies no faster: several
 * keep up with it, each with a frame of its own. They take jobs in order.
 *
 * They also take jobs of several pictures, of which nothing need be pageable: one
 * writes the tables of the next job while the other queues one.
 */
#include <string.h>

#include "copy_rows.h"
#include "engine.h"
#include "kernels/plan/image.h"

/* Makes the job's staging memory large enough. */
static pp_status
reserve_staging (pp_device *device, pp_job *job, size_t needed, pp_error *error)
{
  pp_buffer *staging = &device->resources[job->resources].staging;

  if (staging->size >= needed)
    return PP_OK;
  pp_arena_free (device->arena, staging->memory, staging->size);
  staging->size = 0;
  staging->memory = pp_arena_alloc (device->arena, needed, error);
  if (staging->memory == NULL)
    return PP_NO_MEMORY;
  staging->size = needed;
  return PP_OK;
}

static void
stage_one (pp_device *device, pp_job *job)
{
  const pp_plan *plan = job->picture[0].plan;

  if (reserve_staging (device, job, pp_image_staged_size (plan, job->staged),
          &job->error) == PP_OK)
    job->info.bytes_staged = pp_stage_planes (plan, job->staged,
        &job->task.view, device->resources[job->resources].staging.memory);
}

/* Tables of plans for one frame are not among those that the device keeps. */
static void
stage_pictures (pp_device *device, pp_job *job)
{
  pp_pictures pictures;
  pp_pictures_layout layout;
  size_t stride[PP_MAX_PLANES];

  pp_job_get_pictures (job, &pictures);
  pp_job_get_strides (job, stride);
  if (job->task.on_device)
    pp_pictures_layout_init_in_place (&layout, &pictures);
  else
    pp_pictures_layout_init (&layout, &pictures, job->staged, stride);
  if (job->staged != 0 &&
      reserve_staging (device, job, layout.staged_size, &job->error) == PP_OK)
    job->info.bytes_staged = pp_stage_pictures (&pictures, &layout, job->staged,
        &job->task.view, device->resources[job->resources].staging.memory);
  if (job->error.status == PP_OK && pictures.plan[0]->pool != NULL)
    job->tables =
        pp_pinned_tables_new (device, &pictures, layout.together, &job->error);
}

static void
stage (pp_device *device, pp_job *job)
{
  if (job->task.after != NULL)
    pp_job_wait (job->task.after, NULL);
  if (job->task.n_pictures > 1)
    stage_pictures (device, job);
  else
    stage_one (device, job);
  if (job->error.status == PP_OK && !pp_job_reads_input (job))
    pp_job_release_input (job);

  pthread_mutex_lock (&device->lock);
  job->state = PP_JOB_READY;
  pp_order_queue_ready (device);
  pthread_mutex_unlock (&device->lock);
}

/* Jobs behind one that is not staged have not ended: the list holds them. */
static pp_job *
take (struct pp_stager *stager)
{
  pp_job *taken = stager->next;

  do
    stager->next = stager->next->next;
  while (stager->next != NULL && stager->next->state != PP_JOB_STAGING);
  return taken;
}

static void *
staging_thread (void *data)
{
  pp_device *device = data;
  struct pp_stager *stager = &device->stager;

  pthread_mutex_lock (&device->lock);
  for (;;) {
    while (stager->next == NULL && !stager->quit)
      pthread_cond_wait (&stager->work, &device->lock);
    if (stager->next == NULL)
      break;
    pp_job *job = take (stager);
    pthread_mutex_unlock (&device->lock);
    stage (device, job);
    pthread_mutex_lock (&device->lock);
  }
  pthread_mutex_unlock (&device->lock);
  return NULL;
}

/* Fewer threads than wanted are slower, but do. No frame tries again to make those
 * that could not be made. */
pp_status
pp_stager_start (pp_device *device, int n, pp_error *error)
{
  struct pp_stager *stager = &device->stager;
  int code = 0;

  while (stager->started < n && code == 0) {
    code = pthread_create (
        &stager->thread[stager->started], NULL, staging_thread, device);
    if (code == 0)
      stager->started++;
  }
  if (stager->started == 0)
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  if (code != 0)
    stager->n_threads = stager->started;
  return PP_OK;
}

void
pp_stager_add (pp_device *device, pp_job *job)
{
  job->state = PP_JOB_STAGING;
  if (device->stager.next == NULL)
    device->stager.next = job;
  pthread_cond_signal (&device->stager.work);
}

void
pp_stager_stop (pp_device *device)
{
  struct pp_stager *stager = &device->stager;

  pthread_mutex_lock (&device->lock);
  stager->quit = true;
  pthread_cond_broadcast (&stager->work);
  pthread_mutex_unlock (&device->lock);
  while (stager->started > 0)
    pthread_join (stager->thread[--stager->started], NULL);
}
