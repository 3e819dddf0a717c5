/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine: checks at the door, devices, jobs in flight. Drives a backend
 * through its table and knows none. Pageable input and the order of queueing are
 * in staging.c, the choice of the stream in streams.c, what is queued for a job
 * in stages.c, completion in completion.c, a job's life in job.c, what devices on
 * one GPU share in tracks.c, and their turns there in turns.c.
 *
 * A job's way: pp_submit takes the next sequence number, whose events are those
 * of slot sequence % slots, gives the job the next stream and appends it to the
 * device's list. If pinned memory lacks some of its planes, a staging thread
 * copies them. When all jobs before it are queued, its stages are queued on the
 * stream. The completion thread takes jobs from the list in order, waits until
 * they are queued and for their events, marks them ended and calls back.
 *
 * Locks: device->lock guards the list, the jobs' states and the sticky error;
 * inside it tracks->lock may be taken, which guards turns; job->lock guards a
 * job's end. None of them is held across a backend call or a callback. What is: a
 * track's turn, for which jobs are listed and only pp_device_reserve waits; and
 * the lock of tracks.c, for opening and closing devices only.
 */

#include "engine.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* Overlap needs three streams, for upload, kernel and download; a fourth hides
 * the host's part. */
#define AUTOMATIC_STREAMS 4
/* More did not make staging faster on any machine measured. */
#define MOST_AUTOMATIC_STAGING_THREADS 6

/* That this process may use. */
static int
count_cores (void)
{
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) == 0)
    return CPU_COUNT (&set);
  const long online = sysconf (_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int) online : 1;
}

/* Devices of the process whose jobs run elsewhere than on its cores; atomic. */
static int polling_devices;

/* Polling takes a core for the waiter and one for the completion thread: only
 * while every such device could have both and leave as many. */
static void
count_polling (pp_device *device)
{
  if (device->backend->unified)
    return;
  const int devices =
      __atomic_add_fetch (&polling_devices, 1, __ATOMIC_RELAXED);
  device->worth_polling = 4 * devices <= count_cores ();
}

/* Takes tracks, creates events and the completion thread; close undoes whatever
 * was made before a failure. */
static pp_status
device_make (pp_device *device, pp_error *error)
{
  const pp_backend *backend = device->backend;
  const pp_status status = pp_tracks_take (&device->tracks, device->track,
      device->n_streams, device->arena, backend, device->index, error);

  if (status != PP_OK)
    return status;
  for (int s = 0; s < device->n_slots; s++) {
    for (int e = 0; e < PP_STAGES; e++) {
      const pp_status made = backend->event_create (
          device->context, &device->slot[s].event[e], error);
      if (made != PP_OK)
        return made;
    }
  }
  return pp_completion_start (device, error);
}

static int
clamp (int value, int least, int most)
{
  return value < least ? least : value > most ? most : value;
}

static pp_status
check_options (const pp_device_options *options, pp_error *error)
{
  if (options->streams < 0 || options->streams > PP_MAX_STREAMS)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "streams is %d, must be 1 to %d, or 0 for automatic", options->streams,
        PP_MAX_STREAMS);
  if (options->staging_threads < 0 ||
      options->staging_threads > PP_MAX_STAGING_THREADS)
    return pp_fail (error, PP_BAD_ARGUMENT,
        "staging_threads is %d, must be 1 to %d, or 0 for automatic",
        options->staging_threads, PP_MAX_STAGING_THREADS);
  return PP_OK;
}

/* A stream of a unified backend is a core: there is nothing to overlap, so all
 * are used, and nothing to stage. */
static void
apply_options (pp_device *device, const pp_device_options *options)
{
  const bool unified = device->backend->unified;

  device->n_streams = options->streams;
  if (options->streams == 0) {
    device->n_streams = unified ? clamp (count_cores (), 1, AUTOMATIC_STREAMS)
                                : AUTOMATIC_STREAMS;
    device->streams.automatic = !unified;
  }
  device->staging.n_threads = options->staging_threads;
  if (unified)
    device->staging.n_threads = 0;
  else if (options->staging_threads == 0)
    device->staging.n_threads =
        clamp (count_cores () / 2, 1, MOST_AUTOMATIC_STAGING_THREADS);

  const int on_streams = PP_JOBS_PER_STREAM * device->n_streams;
  const int staged = PP_JOBS_PER_STAGING_THREAD * device->staging.n_threads;
  device->n_slots = (on_streams > staged ? on_streams : staged) + 1;
}

pp_device *
pp_device_open (pp_backend_id id, int index, const pp_device_options *options,
    pp_error *error)
{
  return pp_device_open_backend (
      id == PP_BACKEND_CUDA ? &pp_backend_cuda : &pp_backend_cpu, index,
      options, error);
}

pp_device *
pp_device_open_backend (const pp_backend *backend, int index,
    const pp_device_options *options, pp_error *error)
{
  static const pp_device_options automatic = { 0 };

  if (options == NULL)
    options = &automatic;
  if (check_options (options, error) != PP_OK)
    return NULL;

  pp_device *device = calloc (1, sizeof *device);
  if (device == NULL) {
    pp_fail_memory (error, "calloc", sizeof *device);
    return NULL;
  }
  device->backend = backend;
  device->index = index < 0 ? 0 : index; /* as backends take it */
  device->process = pp_process_id ();
  device->last_slot = -1;
  pthread_mutex_init (&device->lock, NULL);
  pthread_cond_init (&device->changed, NULL);
  pthread_cond_init (&device->staging.work, NULL);
  apply_options (device, options);
  pp_streams_reset (device, device->n_streams);
  count_polling (device);

  device->arena = pp_arena_new (device->backend, index, error);
  if (device->arena == NULL) {
    pp_device_close (&device);
    return NULL;
  }
  device->context = pp_arena_context (device->arena);
  device->backend->describe (
      device->context, device->name, sizeof device->name);

  pp_status status = device->backend->enter (device->context, error);
  if (status == PP_OK) {
    status = device_make (device, error);
    device->backend->leave (device->context);
  }
  if (status != PP_OK)
    pp_device_close (&device);
  return device;
}

static void
device_unmake (pp_device *device)
{
  const pp_backend *backend = device->backend;

  for (int s = 0; s < device->n_streams && !backend->unified; s++)
    backend->device_free (device->context, device->lane[s].tables);
  for (int s = 0; s < device->n_slots; s++) {
    struct pp_slot *slot = &device->slot[s];
    for (int e = 0; e < PP_STAGES; e++)
      if (slot->event[e] != NULL)
        backend->event_destroy (&slot->event[e]);
  }
}

void
pp_device_close (pp_device **address)
{
  pp_device *device = *address;

  *address = NULL;
  /* Of a fork's copy nothing can be given back. */
  if (device == NULL || pp_is_foreign (device->process))
    return;
  pp_completion_stop (device);
  pp_staging_stop (device);
  if (!device->backend->unified)
    __atomic_fetch_sub (&polling_devices, 1, __ATOMIC_RELAXED);
  pp_track *unused =
      pp_tracks_give_back (&device->tracks, device->track, device->n_streams);
  if (device->arena != NULL &&
      device->backend->enter (device->context, NULL) == PP_OK) {
    pp_tracks_unmake (device->backend, unused);
    device_unmake (device);
    device->backend->leave (device->context);
  }
  pp_tracks_free (unused);
  if (device->arena != NULL)
    pp_arena_keep_nothing (device->arena);
  for (int i = 0; i < device->n_slots; i++)
    pp_arena_free (
        device->arena, device->slot[i].staging, device->slot[i].staging_size);
  pp_arena_unref (&device->arena);
  pthread_cond_destroy (&device->staging.work);
  pthread_cond_destroy (&device->changed);
  pthread_mutex_destroy (&device->lock);
  free (device);
}

const char *
pp_device_name (const pp_device *device)
{
  return device->name;
}

pp_backend_id
pp_device_backend (const pp_device *device)
{
  return device->backend->id;
}

int
pp_device_streams (const pp_device *device)
{
  return device->n_streams;
}

int
pp_device_useful_jobs (const pp_device *device)
{
  const int staged = PP_JOBS_PER_STAGING_THREAD * device->staging.started;

  return staged > device->n_streams ? staged : device->n_streams;
}

pp_arena *
pp_device_arena (pp_device *device)
{
  return device->arena;
}

/* With the device's lock held. */
static pp_status
copy_error (const pp_device *device, pp_error *error)
{
  if (device->error.status != PP_OK && error != NULL)
    *error = device->error;
  return device->error.status;
}

pp_status
pp_device_error (pp_device *device, pp_error *error)
{
  if (pp_is_foreign (device->process))
    return pp_fail_foreign (device->process, error);
  pthread_mutex_lock (&device->lock);
  const pp_status status = copy_error (device, error);
  pthread_mutex_unlock (&device->lock);
  return status;
}

pp_status
pp_device_drain (pp_device *device, pp_error *error)
{
  if (pp_is_foreign (device->process))
    return pp_fail_foreign (device->process, error);
  pthread_mutex_lock (&device->lock);
  while (device->unfinished > 0)
    pthread_cond_wait (&device->changed, &device->lock);
  pthread_mutex_unlock (&device->lock);
  return pp_device_error (device, error);
}

/* On all streams; where their number is automatic, on as many as there is memory
 * for. */
static pp_status
reserve_streams (
    pp_device *device, const pp_plan *plan, int *most, pp_error *error)
{
  for (int s = 0; s < device->n_streams; s++) {
    pp_status status = pp_tables_reserve (device, s, plan, error);
    if (status == PP_OK) {
      pp_turn_wait (device->tracks, device->track[s]);
      status = pp_lane_reserve (device, s, plan, error);
      pp_turn_give (device->tracks, device->track[s]);
    }
    if (status == PP_NO_MEMORY && device->streams.automatic && s > 0) {
      *most = s;
      break;
    }
    if (status != PP_OK)
      return status;
  }
  return PP_OK;
}

pp_status
pp_device_reserve (pp_device *device, const pp_plan *plan, pp_error *error)
{
  const pp_backend *backend = device->backend;
  int most = device->n_streams;
  pp_status status = pp_device_drain (device, error);

  if (status == PP_OK)
    status = backend->enter (device->context, error);
  if (status != PP_OK)
    return status;
  status = backend->prepare (device->context, plan, error);
  if (status == PP_OK && !backend->unified)
    status = reserve_streams (device, plan, &most, error);
  backend->leave (device->context);
  pp_streams_reset (device, most);
  return status;
}

static pp_status
check_task (const pp_task *task, pp_error *error)
{
  if (task->plan == NULL || task->tensor == NULL)
    return pp_fail (error, PP_BAD_ARGUMENT, "task has no %s",
        task->plan == NULL ? "plan" : "tensor");
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &task->plan->extent[p];
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

/* Waits for room for one more job. Pinned frames do not take up the slots that
 * are there for staging: that would only hold more of upstream's buffers. */
static pp_status
wait_for_room (pp_device *device, pp_error *error)
{
  const int most = device->staging.started > 0
      ? device->n_slots - 1
      : PP_JOBS_PER_STREAM * device->n_streams;

  if (pp_is_foreign (device->process))
    return pp_fail_foreign (device->process, error);
  pthread_mutex_lock (&device->lock);
  while (device->unfinished >= most)
    pthread_cond_wait (&device->changed, &device->lock);
  const pp_status status = copy_error (device, error);
  pthread_mutex_unlock (&device->lock);
  return status;
}

/* Hands the job to those that stage, queue and complete it, of whom the caller
 * may be one. */
static void
append (pp_device *device, pp_job *job, bool pageable)
{
  pthread_mutex_lock (&device->lock);
  pp_streams_take (device, &job->info);
  if (device->last != NULL)
    device->last->next = job;
  else
    device->first = job;
  device->last = job;
  if (device->next_to_queue == NULL)
    device->next_to_queue = job;
  device->unfinished++;
  if (pageable)
    pp_staging_add (device, job);
  else
    pp_queue_ready (device);
  pthread_mutex_unlock (&device->lock);
}

/* A job of another device, which queueing does not wait for: it would hold up
 * devices that have nothing to do with it. Staging waits by itself. */
static void
wait_for_other_device (const pp_device *device, const pp_task *task)
{
  if (task->after != NULL && task->after->device != device)
    pp_job_wait (task->after, NULL);
}

pp_job *
pp_submit (pp_device *device, const pp_task *task, pp_error *error)
{
  if (check_task (task, error) != PP_OK ||
      wait_for_room (device, error) != PP_OK)
    return NULL;

  pp_job *job = pp_job_new (device, task);
  if (job == NULL) {
    pp_fail_memory (error, "malloc", sizeof *job);
    return NULL;
  }
  job->info.sequence = device->sequence++;
  job->slot = (int) (job->info.sequence % (uint64_t) device->n_slots);
  pp_job_fill_padding (job);

  const bool pageable = pp_job_is_pageable (device, job) &&
      pp_staging_start (device, &job->error) == PP_OK;
  if (!pageable)
    wait_for_other_device (device, task);
  pp_job_ref (job); /* the list's */
  append (device, job, pageable);
  return job;
}
