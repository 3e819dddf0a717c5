/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tracks.h"

#include <stdlib.h>

#include "process.h"

/* The process' tracks, oldest first. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pp_track *first;

static bool
has (pp_track *const *track, int n, const pp_track *wanted)
{
  for (int i = 0; i < n; i++)
    if (track[i] == wanted)
      return true;
  return false;
}

static bool
is_of (const pp_track *track, const pp_backend *backend, int index)
{
  return track->backend == backend && track->index == index &&
      !pp_is_foreign (track->process);
}

/* Under the lock: the one with the fewest devices that is not among those taken;
 * NULL where another one should be made. */
static pp_track *
find (pp_track *const *taken, int n, const pp_backend *backend, int index)
{
  pp_track *found = NULL;
  int count = 0;

  if (backend->unified)
    return NULL;
  for (pp_track *track = first; track != NULL; track = track->next) {
    if (!is_of (track, backend, index))
      continue;
    count++;
    if (!has (taken, n, track) &&
        (found == NULL || track->users < found->users))
      found = track;
  }
  return count >= PP_SHARED_TRACKS ? found : NULL;
}

static pp_status
make_upper (pp_track *track, pp_context *context, pp_error *error)
{
  const pp_backend *backend = track->backend;
  pp_status status = backend->stream_create (context, &track->upper, error);

  if (status == PP_OK)
    status = backend->event_create (context, &track->upper_uploaded, error);
  if (status == PP_OK)
    status = backend->event_create (context, &track->upper_done, error);
  return status;
}

/* All but what keeps the context. */
static void
unmake (pp_track *track)
{
  const pp_backend *backend = track->backend;
  pp_context *context = pp_arena_context (track->arena);

  if (track->stream != NULL)
    backend->stream_destroy (&track->stream);
  if (track->upper != NULL)
    backend->stream_destroy (&track->upper);
  if (track->upper_uploaded != NULL)
    backend->event_destroy (&track->upper_uploaded);
  if (track->upper_done != NULL)
    backend->event_destroy (&track->upper_done);
  if (!backend->unified) {
    backend->device_free (context, track->source);
    backend->device_free (context, track->medians);
    backend->device_free (context, track->tensor);
  }
}

/* NULL with an error. */
static pp_track *
make (pp_arena *arena, const pp_backend *backend, int index, pp_error *error)
{
  pp_context *context = pp_arena_context (arena);
  pp_track *track = calloc (1, sizeof *track);

  if (track == NULL) {
    pp_fail_memory (error, "calloc", sizeof *track);
    return NULL;
  }
  track->backend = backend;
  track->index = index;
  track->process = pp_process_id ();
  track->arena = arena; /* a reference when it is made */
  pthread_mutex_init (&track->turn, NULL);
  pp_status status = backend->stream_create (context, &track->stream, error);
  if (status == PP_OK && !backend->unified)
    status = make_upper (track, context, error);
  if (status != PP_OK) {
    unmake (track);
    pthread_mutex_destroy (&track->turn);
    free (track);
    return NULL;
  }
  pp_arena_ref (arena);
  return track;
}

/* Under the lock. */
static void
append (pp_track *track)
{
  pp_track **link = &first;

  while (*link != NULL)
    link = &(*link)->next;
  *link = track;
}

/* Under the lock. */
static void
unlink_track (pp_track *track)
{
  pp_track **link = &first;

  while (*link != track)
    link = &(*link)->next;
  *link = track->next;
}

static void
take_lock (void)
{
  pthread_mutex_lock (&lock);
}

static void
give_lock (void)
{
  pthread_mutex_unlock (&lock);
}

/* A fork's child has tracks of its own, and none of the threads that could give
 * the lock. */
static void
guard_forks (void)
{
  pthread_atfork (take_lock, give_lock, give_lock);
}

pp_status
pp_tracks_take (pp_track **track, int n, pp_arena *arena,
    const pp_backend *backend, int index, pp_error *error)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pp_status status = PP_OK;

  pthread_once (&once, guard_forks);
  take_lock ();
  for (int i = 0; i < n; i++)
    track[i] = NULL;
  for (int i = 0; i < n && status == PP_OK; i++) {
    track[i] = find (track, i, backend, index);
    if (track[i] == NULL) {
      track[i] = make (arena, backend, index, error);
      if (track[i] != NULL)
        append (track[i]);
    }
    if (track[i] != NULL)
      track[i]->users++;
    else
      status = PP_NO_MEMORY;
  }
  give_lock ();
  return status;
}

/* Under the lock: leaves those that no device has any more, out of the pool. */
static void
give_up (pp_track **track, int n)
{
  for (int i = 0; i < n; i++) {
    if (track[i] == NULL)
      continue;
    if (--track[i]->users > 0)
      track[i] = NULL;
    else
      unlink_track (track[i]);
  }
}

void
pp_tracks_give_back (pp_track **track, int n)
{
  take_lock ();
  give_up (track, n);
  give_lock ();
  for (int i = 0; i < n; i++)
    if (track[i] != NULL)
      unmake (track[i]);
}

void
pp_tracks_lose (pp_track **track, int n)
{
  take_lock ();
  give_up (track, n);
  give_lock ();
  pp_tracks_forget (track, n);
}

void
pp_tracks_forget (pp_track **track, int n)
{
  for (int i = 0; i < n; i++) {
    if (track[i] == NULL)
      continue;
    pp_arena_unref (&track[i]->arena);
    pthread_mutex_destroy (&track[i]->turn);
    free (track[i]);
    track[i] = NULL;
  }
}
