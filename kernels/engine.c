/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine: checks at the door, round robin over streams, jobs in flight.
 * Drives a backend through its table and knows none. What is queued for a job is
 * in stages.c, a job's life in job.c.
 *
 * A job's way: pp_submit takes the next sequence number, whose stream is
 * sequence % streams and whose events are those of slot sequence % slots, queues
 * the stages on the stream and appends the job to the device's list. The
 * completion thread takes jobs from the list in order, waits for their events,
 * calls back and marks them ended. At most 2 jobs a stream are unfinished.
 *
 * Locks: device->lock guards the list and the sticky error; job->lock guards a
 * job's end. Neither is held across a backend call or a callback.
 */

#include "engine.h"

#include <stdlib.h>
#include <string.h>

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
      .event[device->backend->unified ? PP_STAGE_COMPUTED : PP_STAGE_UPLOADED];
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
    pthread_mutex_unlock (&device->lock);
    if (job == NULL || job->error.status != PP_OK)
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
  pp_status status = backend->event_wait (input_event (device, job), error);

  if (status != PP_OK)
    return status;
  pp_job_release_input (job);
  release_passed_inputs (device, job);
  status =
      backend->event_wait (device->slot[job->slot].event[PP_STAGE_DONE], error);
  if (status == PP_OK)
    status = read_times (device, job, error);
  return status;
}

static void
complete (pp_device *device, pp_job *job)
{
  const pp_backend *backend = device->backend;
  pp_error error = job->error;
  const pp_status entered = backend->enter (device->context, &error);
  pp_status status = entered;

  if (status == PP_OK)
    status = job->error.status;
  if (status == PP_OK)
    status = wait_for_stages (device, job, &error);
  if (status != PP_OK) {
    /* What was queued before the failure may still be reading and writing. */
    if (entered == PP_OK)
      backend->stream_sync (device->lane[job->info.stream].stream, NULL);
    job->error = error;
    pthread_mutex_lock (&device->lock);
    if (device->error.status == PP_OK)
      device->error = job->error;
    pthread_mutex_unlock (&device->lock);
  }
  pp_job_end (job);
  if (entered == PP_OK)
    backend->leave (device->context);
}

static void *
completion_thread (void *data)
{
  pp_device *device = data;

  pthread_mutex_lock (&device->lock);
  for (;;) {
    while (device->first == NULL && !device->quit)
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
  pthread_mutex_unlock (&device->lock);
  return NULL;
}

/* Creates streams, events and the completion thread; close undoes whatever was
 * made before a failure. */
static pp_status
device_make (pp_device *device, pp_error *error)
{
  const pp_backend *backend = device->backend;

  for (int s = 0; s < device->n_streams; s++) {
    const pp_status status = backend->stream_create (
        device->context, &device->lane[s].stream, error);
    if (status != PP_OK)
      return status;
  }
  for (int s = 0; s < device->n_slots; s++) {
    for (int e = 0; e < PP_STAGES; e++) {
      const pp_status status = backend->event_create (
          device->context, &device->slot[s].event[e], error);
      if (status != PP_OK)
        return status;
    }
  }
  const int code =
      pthread_create (&device->thread, NULL, completion_thread, device);
  if (code != 0)
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  device->thread_started = true;
  return PP_OK;
}

pp_device *
pp_device_open (pp_backend_id id, int index, int streams, pp_error *error)
{
  if (streams < 1 || streams > PP_MAX_STREAMS) {
    pp_fail (error, PP_BAD_ARGUMENT, "streams is %d, must be 1 to %d", streams,
        PP_MAX_STREAMS);
    return NULL;
  }

  pp_device *device = calloc (1, sizeof *device);
  if (device == NULL) {
    pp_fail (error, PP_NO_MEMORY, "calloc of %zu bytes failed", sizeof *device);
    return NULL;
  }
  device->backend = id == PP_BACKEND_CUDA ? &pp_backend_cuda : &pp_backend_cpu;
  device->n_streams = streams;
  device->n_slots = PP_JOBS_PER_STREAM * streams + 1;
  device->last_slot = -1;
  pthread_mutex_init (&device->lock, NULL);
  pthread_cond_init (&device->changed, NULL);

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
device_stop_thread (pp_device *device)
{
  if (!device->thread_started)
    return;
  pthread_mutex_lock (&device->lock);
  device->quit = true;
  pthread_cond_broadcast (&device->changed);
  pthread_mutex_unlock (&device->lock);
  pthread_join (device->thread, NULL);
}

static void
device_unmake (pp_device *device)
{
  const pp_backend *backend = device->backend;

  for (int s = 0; s < device->n_streams; s++) {
    struct pp_lane *lane = &device->lane[s];
    if (lane->stream != NULL)
      backend->stream_destroy (&lane->stream);
    if (!backend->unified) {
      backend->device_free (device->context, lane->source);
      backend->device_free (device->context, lane->tensor);
      backend->device_free (device->context, lane->tables);
    }
  }
  for (int s = 0; s < device->n_slots; s++) {
    struct pp_slot *slot = &device->slot[s];
    for (int e = 0; e < PP_STAGES; e++)
      if (slot->event[e] != NULL)
        backend->event_destroy (&slot->event[e]);
    pp_arena_free (device->arena, slot->staging, slot->staging_size);
  }
}

void
pp_device_close (pp_device **address)
{
  pp_device *device = *address;

  *address = NULL;
  if (device == NULL)
    return;
  device_stop_thread (device);
  if (device->arena != NULL &&
      device->backend->enter (device->context, NULL) == PP_OK) {
    device_unmake (device);
    device->backend->leave (device->context);
  }
  pp_arena_unref (&device->arena);
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

pp_arena *
pp_device_arena (pp_device *device)
{
  return device->arena;
}

pp_status
pp_device_error (pp_device *device, pp_error *error)
{
  pthread_mutex_lock (&device->lock);
  const pp_status status = device->error.status;
  if (status != PP_OK && error != NULL)
    *error = device->error;
  pthread_mutex_unlock (&device->lock);
  return status;
}

pp_status
pp_device_drain (pp_device *device, pp_error *error)
{
  pthread_mutex_lock (&device->lock);
  while (device->unfinished > 0)
    pthread_cond_wait (&device->changed, &device->lock);
  pthread_mutex_unlock (&device->lock);
  return pp_device_error (device, error);
}

pp_status
pp_device_reserve (pp_device *device, const pp_plan *plan, pp_error *error)
{
  const pp_backend *backend = device->backend;
  pp_status status = pp_device_drain (device, error);

  if (status == PP_OK)
    status = backend->enter (device->context, error);
  if (status != PP_OK)
    return status;
  status = backend->prepare (device->context, plan, error);
  for (int s = 0; s < device->n_streams && status == PP_OK; s++)
    if (!backend->unified)
      status = pp_lane_reserve (device, &device->lane[s], plan, error);
  backend->leave (device->context);
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

/* Waits for room for one more job. */
static pp_status
wait_for_room (pp_device *device, pp_error *error)
{
  pthread_mutex_lock (&device->lock);
  while (device->unfinished >= PP_JOBS_PER_STREAM * device->n_streams)
    pthread_cond_wait (&device->changed, &device->lock);
  pthread_mutex_unlock (&device->lock);
  return pp_device_error (device, error);
}

/* Hands the job to the completion thread. */
static void
append (pp_device *device, pp_job *job)
{
  pthread_mutex_lock (&device->lock);
  if (device->last != NULL)
    device->last->next = job;
  else
    device->first = job;
  device->last = job;
  device->unfinished++;
  pthread_cond_broadcast (&device->changed);
  pthread_mutex_unlock (&device->lock);
}

pp_job *
pp_submit (pp_device *device, const pp_task *task, pp_error *error)
{
  const pp_backend *backend = device->backend;

  if (check_task (task, error) != PP_OK ||
      wait_for_room (device, error) != PP_OK ||
      backend->enter (device->context, error) != PP_OK)
    return NULL;

  pp_job *job = pp_job_new (device, task);
  if (job == NULL) {
    backend->leave (device->context);
    pp_fail (error, PP_NO_MEMORY, "calloc of %zu bytes failed", sizeof *job);
    return NULL;
  }
  job->info.sequence = device->sequence++;
  job->info.stream = (int) (job->info.sequence % (uint64_t) device->n_streams);
  job->slot = (int) (job->info.sequence % (uint64_t) device->n_slots);

  const pp_status status = pp_queue_stages (device, job, &job->error);
  backend->leave (device->context);
  if (status == PP_OK && !pp_job_reads_input (device, job))
    pp_job_release_input (job);

  pp_job_ref (job); /* the list's */
  append (device, job);
  return job;
}
