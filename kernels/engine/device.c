/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Devices: opened, asked, drained, closed.
 */
#include <stdlib.h>

#include "backends.h"
#include "engine.h"

/* Overlap needs three streams, for upload, kernel and download; a fourth hides
 * the host's part. */
#define AUTOMATIC_STREAMS 4
/* More did not make staging faster on any machine measured. */
#define MAX_AUTOMATIC_STAGING_THREADS 6

static pp_status
create_events (pp_device *device, pp_error *error)
{
  for (int r = 0; r < device->n_resources; r++)
    for (int m = 0; m < PP_N_JOB_MARKS; m++) {
      const pp_status status = device->backend->event_create (device->context,
          pp_mark_is_timed ((pp_mark) m), &device->resources[r].event[m],
          error);
      if (status != PP_OK)
        return status;
    }
  return PP_OK;
}

/* All that is made between enter and leave; close undoes whatever was made before
 * a failure. */
static pp_status
device_make (pp_device *device, pp_error *error)
{
  device->backend->describe (
      device->context, device->name, sizeof device->name);
  pp_status status = pp_shared_streams_take (&device->shared, device->stream,
      device->n_streams, device->in_context, device->backend, error);
  if (status == PP_OK)
    status = create_events (device, error);
  if (status == PP_OK)
    status = pp_completion_start (device, error);
  return status;
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
    device->n_streams = unified
        ? clamp (pp_count_cores (), 1, AUTOMATIC_STREAMS)
        : AUTOMATIC_STREAMS;
    device->choice.automatic = !unified;
  }
  device->stager.n_threads = options->staging_threads;
  if (unified)
    device->stager.n_threads = 0;
  else if (options->staging_threads == 0)
    device->stager.n_threads =
        clamp (pp_count_cores () / 2, 1, MAX_AUTOMATIC_STAGING_THREADS);

  const int on_streams = PP_JOBS_PER_STREAM * device->n_streams;
  const int staged = PP_JOBS_PER_STAGING_THREAD * device->stager.n_threads;
  device->n_resources = (on_streams > staged ? on_streams : staged) + 1;
}

pp_device *
pp_device_open (pp_backend_id id, int index, const pp_device_options *options,
    pp_error *error)
{
  return pp_device_open_backend (pp_backend_find (id), index, options, error);
}

/* Pinned memory is of the primary context, memory on the device of the one that
 * the device works in. */
static pp_status
open_arenas (pp_device *device, int index, void *handle, pp_error *error)
{
  const pp_backend *backend = device->backend;

  if (handle != NULL) {
    device->memory = pp_arena_new (backend, index, handle, true, error);
    if (device->memory == NULL)
      return error != NULL ? error->status : PP_NO_DEVICE;
    backend->identify (
        pp_arena_context (device->memory), &index, &device->handle);
  }
  device->arena = pp_arena_new (backend, index, NULL, false, error);
  if (device->arena != NULL && device->memory == NULL && !backend->unified)
    device->memory = pp_arena_new_beside (device->arena, error);
  if (device->arena == NULL || (device->memory == NULL && !backend->unified))
    return error != NULL ? error->status : PP_NO_DEVICE;
  device->in_context = backend->unified ? device->arena : device->memory;
  device->context = pp_arena_context (device->in_context);
  backend->identify (device->context, &index, &device->handle);
  return PP_OK;
}

/* Without arenas. NULL with an error. */
static pp_device *
device_new (const pp_backend *backend, const pp_device_options *options,
    pp_error *error)
{
  static uint64_t last_id; /* atomic */

  if (check_options (options, error) != PP_OK)
    return NULL;

  pp_device *device = calloc (1, sizeof *device);
  if (device == NULL) {
    pp_fail_memory (error, "calloc", sizeof *device);
    return NULL;
  }
  device->backend = backend;
  device->id = __atomic_add_fetch (&last_id, 1, __ATOMIC_RELAXED);
  device->process = getpid ();
  device->last_resources = -1;
  pthread_mutex_init (&device->lock, NULL);
  pthread_cond_init (&device->changed, NULL);
  pthread_cond_init (&device->stager.work, NULL);
  apply_options (device, options);
  pp_stream_choice_reset (device, device->n_streams);
  device->n_cores = pp_count_cores ();
  pp_jobs_count_device (device, 1);
  return device;
}

pp_device *
pp_device_open_backend (const pp_backend *backend, int index,
    const pp_device_options *options, pp_error *error)
{
  static const pp_device_options automatic = { 0 };

  if (options == NULL)
    options = &automatic;
  pp_device *device = device_new (backend, options, error);
  if (device == NULL ||
      open_arenas (device, index, options->context, error) != PP_OK) {
    pp_device_close (&device);
    if (options->context_done != NULL)
      options->context_done (options->context_user);
    return NULL;
  }
  pp_arena_set_done (
      device->in_context, options->context_done, options->context_user);
  pp_status status = backend->enter (device->context, error);
  if (status == PP_OK) {
    status = device_make (device, error);
    backend->leave (device->context);
  }
  if (status != PP_OK)
    pp_device_close (&device);
  return device;
}

/* Between enter and leave. */
static void
device_unmake (pp_device *device)
{
  const pp_backend *backend = device->backend;

  for (int s = 0; s < device->n_streams; s++)
    if (device->tables[s].block.memory != NULL)
      backend->device_free (device->context, device->tables[s].block.memory);
  for (int r = 0; r < device->n_resources; r++) {
    struct pp_job_resources *resources = &device->resources[r];

    for (int m = 0; m < PP_N_JOB_MARKS; m++)
      if (resources->event[m] != NULL && (resources->lent >> m & 1) == 0)
        backend->event_destroy (&resources->event[m]);
  }
}

/* What lies in the arena's memory. */
static void
device_free_pinned (pp_device *device)
{
  pp_arena_keep_nothing (device->arena);
  pp_pinned_tables_clear (device);
  for (int r = 0; r < device->n_resources; r++)
    pp_arena_free (device->arena, device->resources[r].staging.memory,
        device->resources[r].staging.size);
}

void
pp_device_close (pp_device **address)
{
  pp_device *device = *address;

  *address = NULL;
  /* Of a fork's copy nothing can be given back. */
  if (device == NULL || pp_is_forked (device->process))
    return;
  pp_completion_stop (device);
  pp_stager_stop (device);
  pp_jobs_count_device (device, -1);
  pp_shared_stream *unused = pp_shared_streams_give_back (
      &device->shared, device->stream, device->n_streams);
  if (device->context != NULL &&
      device->backend->enter (device->context, NULL) == PP_OK) {
    pp_shared_streams_destroy (device->backend, unused);
    device_unmake (device);
    device->backend->leave (device->context);
  }
  pp_shared_streams_free (unused);
  if (device->arena != NULL)
    device_free_pinned (device);
  if (device->memory != NULL)
    pp_arena_keep_nothing (device->memory);
  pp_arena_unref (&device->memory);
  pp_arena_unref (&device->arena);
  pp_recipes_clear (&device->recipes);
  pthread_cond_destroy (&device->stager.work);
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

static int
larger (int a, int b)
{
  return a > b ? a : b;
}

/* While nothing is staged, fewer than there are resources for, which would only
 * hold more of upstream's buffers. */
int
pp_device_most_jobs (const pp_device *device)
{
  return larger (PP_JOBS_PER_STREAM * device->n_streams,
      PP_JOBS_PER_STAGING_THREAD * device->stager.started);
}

/* Several pictures take about as long on a stream as on the threads before it. */
int
pp_device_useful_jobs (const pp_device *device)
{
  if (device->stager.pictures)
    return pp_device_most_jobs (device);
  return larger (
      device->n_streams, PP_JOBS_PER_STAGING_THREAD * device->stager.started);
}

void *
pp_device_context (const pp_device *device)
{
  return device->handle;
}

pp_arena *
pp_device_arena (pp_device *device)
{
  return device->arena;
}

pp_arena *
pp_device_memory (pp_device *device)
{
  return device->memory;
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
  if (pp_is_forked (device->process))
    return pp_fail_forked (device->process, error);
  pthread_mutex_lock (&device->lock);
  const pp_status status = copy_error (device, error);
  pthread_mutex_unlock (&device->lock);
  return status;
}

pp_status
pp_device_drain (pp_device *device, pp_error *error)
{
  if (pp_is_forked (device->process))
    return pp_fail_forked (device->process, error);
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
    pp_device *device, const struct pp_room *room, int *most, pp_error *error)
{
  if (pp_pinned_tables_reserve (device, room->tables, error) != PP_OK)
    return PP_NO_MEMORY;
  for (int s = 0; s < device->n_streams; s++) {
    const pp_status status = pp_room_reserve (device, s, room, error);
    if (status == PP_NO_MEMORY && device->choice.automatic && s > 0) {
      *most = s;
      break;
    }
    if (status != PP_OK)
      return status;
  }
  return PP_OK;
}

pp_status
pp_device_reserve_in_place (pp_device *device, const pp_plan *plan,
    int n_pictures, bool on_device, bool tensors_on_device, pp_error *error)
{
  const pp_backend *backend = device->backend;
  int most = device->n_streams;

  if (n_pictures < 1 || n_pictures > PP_MAX_PICTURES)
    return pp_fail (error, PP_BAD_ARGUMENT, "n_pictures is %d, must be 1 to %d",
        n_pictures, PP_MAX_PICTURES);

  pp_status status = pp_device_drain (device, error);

  if (status == PP_OK && n_pictures > 1)
    status = pp_recipes_reserve (&device->recipes, n_pictures, error);
  if (status == PP_OK)
    status = backend->enter (device->context, error);
  if (status != PP_OK)
    return status;
  status = backend->prepare (device->context, plan, error);
  if (status == PP_OK && !backend->unified) {
    const struct pp_room room =
        pp_room_for (plan, n_pictures, on_device, tensors_on_device);
    status = reserve_streams (device, &room, &most, error);
  }
  backend->leave (device->context);
  pp_stream_choice_reset (device, most);
  return status;
}

pp_status
pp_device_reserve_pictures (
    pp_device *device, const pp_plan *plan, int n_pictures, pp_error *error)
{
  return pp_device_reserve_in_place (
      device, plan, n_pictures, false, false, error);
}

pp_status
pp_device_reserve (pp_device *device, const pp_plan *plan, pp_error *error)
{
  return pp_device_reserve_pictures (device, plan, 1, error);
}
