/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A job: what it is made of, who waits for it, how it ends.
 */

#include "engine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Waiting polls for about the time that one frame takes on an idle device, in
 * nanoseconds. Waking a thread that sleeps takes 10 to 50 us, most where the
 * machine is a virtual one: a fifth of a frame's latency. */
#define POLL_TIME 200000

/* Devices of the process whose jobs run elsewhere than on its cores; atomic. */
static int polled_devices;

void
pp_jobs_count_device (const pp_device *device, int change)
{
  if (!device->backend->unified)
    __atomic_fetch_add (&polled_devices, change, __ATOMIC_RELAXED);
}

/* Polling takes a core for the waiter and one for the completion thread: only
 * while every such device could have both and leave as many. Asked for each job,
 * so that it ends where more devices are opened. */
static bool
is_worth_polling (const pp_device *device)
{
  return !device->backend->unified &&
      4 * __atomic_load_n (&polled_devices, __ATOMIC_RELAXED) <=
      device->n_cores;
}

pp_job *
pp_job_new (pp_device *device, const pp_task *task)
{
  const size_t pictures = (size_t) task->n_pictures * sizeof (pp_picture);
  pp_job *job = malloc (sizeof *job + pictures);

  if (job == NULL)
    return NULL;
  *job = (pp_job){ .references = 1,
    .device = device,
    .process = device->process,
    .backend = device->backend,
    .task = *task,
    .state = PP_JOB_READY,
    .worth_polling = is_worth_polling (device) };
  memcpy (job->picture, task->pictures, pictures);
  job->task.pictures = job->picture;
  for (int i = 0; i < task->n_pictures; i++)
    pp_plan_ref (job->picture[i].plan);
  if (task->after != NULL)
    pp_job_ref (task->after);
  pthread_mutex_init (&job->lock, NULL);
  pthread_cond_init (&job->cond, NULL);
  return job;
}

pp_job *
pp_job_ref (pp_job *job)
{
  __atomic_fetch_add (&job->references, 1, __ATOMIC_RELAXED);
  return job;
}

static void
unref_plans (pp_job *job)
{
  for (int i = 0; i < job->task.n_pictures; i++)
    pp_plan_unref (&job->picture[i].plan);
}

/* By the last who has the job. */
static void
destroy_event (pp_job *job)
{
  pp_context *context = pp_arena_context (job->event_arena);

  if (pp_is_forked (job->process))
    return;
  if (job->backend->enter (context, NULL) == PP_OK) {
    job->backend->event_destroy (&job->event);
    job->backend->leave (context);
  }
  pp_arena_unref (&job->event_arena);
}

void
pp_job_unref (pp_job **address)
{
  pp_job *job = *address;

  *address = NULL;
  if (job == NULL ||
      __atomic_sub_fetch (&job->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  if (job->event != NULL)
    destroy_event (job);
  unref_plans (job);
  pp_job_unref (&job->task.after);
  pthread_cond_destroy (&job->cond);
  pthread_mutex_destroy (&job->lock);
  free (job);
}

void
pp_job_get_pictures (const pp_job *job, pp_pictures *pictures)
{
  const uint8_t *lowest = job->picture[0].tensor;

  pictures->n = job->task.n_pictures;
  for (int i = 0; i < pictures->n; i++)
    if ((const uint8_t *) job->picture[i].tensor < lowest)
      lowest = job->picture[i].tensor;
  for (int i = 0; i < pictures->n; i++) {
    pictures->plan[i] = job->picture[i].plan;
    pictures->slice[i] =
        (size_t) ((const uint8_t *) job->picture[i].tensor - lowest);
  }
}

static bool
holds_padding (const pp_picture *picture)
{
  return picture->padding != NULL &&
      (*picture->padding & ~PP_PADDING_ONLY) == picture->plan->id;
}

/* What is noted of a tensor on the device. The job that makes the padding may
 * fail; then so has its device, and no other one takes the note for its own. */
static uint64_t
padding_on_device (const pp_job *job, const pp_plan *plan)
{
  const uint64_t mixed = plan->id ^ job->device->id << 40;

  return (mixed & ~PP_PADDING_ONLY) |
      (job->task.padding_only ? PP_PADDING_ONLY : 0);
}

/* Whether a tensor that is noted as there has what the job would make. */
static bool
is_padded (const pp_job *job, uint64_t there, uint64_t wanted)
{
  return there == wanted ||
      (!job->task.padding_only && there == (wanted | PP_PADDING_ONLY));
}

static void
note_padding_on_device (pp_job *job)
{
  for (int i = 0; i < job->task.n_pictures; i++) {
    const pp_picture *picture = &job->picture[i];
    const pp_plan *plan = picture->plan;
    const uint64_t wanted = padding_on_device (job, plan);
    const uint64_t there = picture->padding != NULL ? *picture->padding : 0;
    const bool any =
        job->task.padding_only || pp_plan_has_padding (plan) || plan->gaps;

    if (any && !is_padded (job, there, wanted))
      job->pad |= UINT64_C (1) << i;
    if (picture->padding != NULL)
      *picture->padding = wanted;
  }
}

/* Plans that are made for one frame leave no padding that another job finds
 * again: where there are several, the launch makes it faster than this thread. It
 * makes no bytes that are no elements.
 * The record says then that nobody knows what is there, since the launch may
 * fail. */
void
pp_job_fill_padding (pp_job *job)
{
  if (job->task.tensors_on_device) {
    note_padding_on_device (job);
    return;
  }
  for (int i = 0; i < job->task.n_pictures; i++)
    job->padding |= job->task.n_pictures > 1 &&
        job->picture[i].plan->pool != NULL &&
        pp_plan_has_padding (job->picture[i].plan) &&
        !job->picture[0].plan->gaps;

  for (int i = 0; i < job->task.n_pictures; i++) {
    const pp_picture *picture = &job->picture[i];

    if (!job->padding && !holds_padding (picture))
      pp_plan_fill_padding (picture->plan, picture->tensor);
    if (picture->padding != NULL)
      *picture->padding = job->padding ? 0 : picture->plan->id;
  }
}

/* Planes that any of the pictures reads. */
static unsigned
read_planes (const pp_job *job)
{
  unsigned planes = 0;

  for (int i = 0; i < job->task.n_pictures && !job->task.padding_only; i++)
    for (int p = 0; p < PP_MAX_PLANES; p++)
      if (job->picture[i].plan->extent[p].height > 0)
        planes |= 1u << p;
  return planes;
}

void
pp_job_get_strides (const pp_job *job, size_t stride[PP_MAX_PLANES])
{
  const unsigned planes = read_planes (job) & ~job->staged;

  for (int p = 0; p < PP_MAX_PLANES; p++)
    stride[p] = (planes & (1u << p)) != 0 ? job->task.view.stride[p] : 0;
}

unsigned
pp_job_pageable_planes (const pp_device *device, const pp_job *job)
{
  return device->backend->unified || job->task.on_device
      ? 0
      : read_planes (job) & ~job->task.pinned_planes;
}

bool
pp_job_reads_input (const pp_job *job)
{
  return (read_planes (job) & ~job->staged) != 0;
}

/* The job before it may have ended and be in the list still. */
bool
pp_job_is_alone (pp_device *device, const pp_job *job)
{
  pthread_mutex_lock (&device->lock);
  pp_job *oldest = device->first;
  if (oldest != job && pp_job_query (oldest))
    oldest = oldest->next;
  const bool alone = oldest == job && job->next == NULL;
  pthread_mutex_unlock (&device->lock);
  return alone;
}

bool
pp_job_query (pp_job *job)
{
  return __atomic_load_n (&job->ended, __ATOMIC_ACQUIRE);
}

static int64_t
nanoseconds (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C (1000000000) + now.tv_nsec;
}

/* Gives way to threads that have work in between. */
static void
poll (pp_job *job)
{
  const int64_t end = nanoseconds () + POLL_TIME;

  while (!pp_job_query (job) && nanoseconds () < end)
    sched_yield ();
}

pp_status
pp_job_wait (pp_job *job, pp_error *error)
{
  if (!pp_job_query (job)) {
    if (pp_is_forked (job->process))
      return pp_fail_forked (job->process, error);
    if (job->worth_polling)
      poll (job);
    pthread_mutex_lock (&job->lock);
    while (!job->ended)
      pthread_cond_wait (&job->cond, &job->lock);
    pthread_mutex_unlock (&job->lock);
  }
  if (job->error.status != PP_OK && error != NULL)
    *error = job->error;
  return job->error.status;
}

/* With the job's lock held: it has not ended. The event that the completion
 * thread waits for becomes the job's. */
static void
lend_event (pp_job *job)
{
  pp_device *device = job->device;

  pthread_mutex_lock (&device->lock);
  while (job->state != PP_JOB_QUEUED)
    pthread_cond_wait (&device->changed, &device->lock);
  if (job->queued) {
    struct pp_job_resources *resources = &device->resources[job->resources];

    resources->lent |= 1u << job->done_mark;
    job->event = resources->event[job->done_mark];
    job->event_arena = pp_arena_ref (device->in_context);
  }
  pthread_mutex_unlock (&device->lock);
}

void *
pp_job_event (pp_job *job)
{
  if (job->backend->unified || pp_is_forked (job->process))
    return NULL;
  pthread_mutex_lock (&job->lock);
  if (job->event == NULL && !job->ended)
    lend_event (job);
  pp_event *event = job->event;
  pthread_mutex_unlock (&job->lock);
  return event != NULL ? job->backend->event_handle (event) : NULL;
}

void
pp_job_free_block_after (pp_job *job, pp_arena *arena, void *block, size_t size)
{
  if (pp_is_forked (job->process))
    return;
  pthread_mutex_lock (&job->lock);
  const bool ended = job->ended;
  if (!ended)
    job->orphan = (struct pp_orphan){ pp_arena_ref (arena), block, size };
  pthread_mutex_unlock (&job->lock);
  if (ended)
    pp_arena_free (arena, block, size);
}

void
pp_job_release_input (pp_job *job)
{
  if (job->input_released)
    return;
  job->input_released = true;
  if (job->task.input_done != NULL)
    job->task.input_done (job->task.user);
}

void
pp_job_call_back (pp_job *job, const pp_error *error)
{
  pp_job_release_input (job);
  if (job->task.done != NULL)
    job->task.done (job->task.user, &job->info, error);
  pp_job_unref (&job->task.after);
  pp_pinned_tables_unref (&job->tables);
  unref_plans (job);
}

void
pp_job_end (pp_job *job, const pp_error *error)
{
  pthread_mutex_lock (&job->lock);
  if (error != NULL)
    job->error = *error;
  __atomic_store_n (&job->ended, true, __ATOMIC_RELEASE);
  struct pp_orphan orphan = job->orphan;
  pthread_cond_broadcast (&job->cond);
  pthread_mutex_unlock (&job->lock);
  if (orphan.arena != NULL) {
    pp_arena_free (orphan.arena, orphan.block, orphan.size);
    pp_arena_unref (&orphan.arena);
  }
}
