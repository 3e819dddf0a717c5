/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared_streams.h"

#include <stdlib.h>

#include "process.h"

/* The process' tracks, by GPU. The lock is for opening and closing devices, which
 * call the backend meanwhile; those who have frames do not need it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pp_tracks *all;

static bool
has (pp_track *const *track, int n, const pp_track *wanted)
{
  for (int i = 0; i < n; i++)
    if (track[i] == wanted)
      return true;
  return false;
}

/* Under the lock: the one with the fewest devices that is not among those taken;
 * NULL where another one should be made. */
static pp_track *
find (const pp_tracks *tracks, pp_track *const *taken, int n)
{
  pp_track *found = NULL;
  int count = 0;

  for (pp_track *track = tracks->first; track != NULL; track = track->next) {
    count++;
    if (!has (taken, n, track) &&
        (found == NULL || track->users < found->users))
      found = track;
  }
  return count >= PP_SHARED_TRACKS ? found : NULL;
}

static pp_status
make_upper (const pp_backend *backend, pp_track *track, pp_error *error)
{
  pp_context *context = pp_arena_context (track->arena);
  pp_status status = backend->stream_create (context, &track->upper, error);

  if (status == PP_OK)
    status = backend->event_create (context, &track->upper_uploaded, error);
  if (status == PP_OK)
    status = backend->event_create (context, &track->upper_done, error);
  return status;
}

/* All but what keeps the context. */
static void
unmake (const pp_backend *backend, pp_track *track)
{
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
make (const pp_backend *backend, pp_arena *arena, pp_error *error)
{
  pp_track *track = calloc (1, sizeof *track);

  if (track == NULL) {
    pp_fail_memory (error, "calloc", sizeof *track);
    return NULL;
  }
  track->arena = pp_arena_ref (arena);
  pp_status status =
      backend->stream_create (pp_arena_context (arena), &track->stream, error);
  if (status == PP_OK && !backend->unified)
    status = make_upper (backend, track, error);
  if (status != PP_OK) {
    unmake (backend, track);
    pp_arena_unref (&track->arena);
    free (track);
    return NULL;
  }
  return track;
}

/* Under the lock. */
static pp_tracks *
find_tracks (const pp_backend *backend, int index)
{
  pp_tracks *tracks = backend->unified ? NULL : all;

  while (tracks != NULL &&
      (tracks->backend != backend || tracks->index != index ||
          pp_is_foreign (tracks->process)))
    tracks = tracks->next;
  return tracks;
}

/* Under the lock. NULL with an error. */
static pp_tracks *
new_tracks (const pp_backend *backend, int index, pp_error *error)
{
  pp_tracks *tracks = calloc (1, sizeof *tracks);

  if (tracks == NULL) {
    pp_fail_memory (error, "calloc", sizeof *tracks);
    return NULL;
  }
  tracks->backend = backend;
  tracks->index = index;
  tracks->process = pp_process_id ();
  pthread_mutex_init (&tracks->lock, NULL);
  pthread_cond_init (&tracks->turn_given, NULL);
  pthread_cond_init (&tracks->work, NULL);
  tracks->next = all;
  all = tracks;
  return tracks;
}

/* Under the lock. NULL with an error. */
static pp_track *
take (pp_tracks *tracks, pp_track *const *taken, int n, pp_arena *arena,
    pp_error *error)
{
  pp_track *track = find (tracks, taken, n);

  if (track == NULL) {
    track = make (tracks->backend, arena, error);
    if (track == NULL)
      return NULL;
    pp_track **link = &tracks->first;
    while (*link != NULL)
      link = &(*link)->next;
    *link = track;
  }
  track->users++;
  return track;
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
pp_tracks_take (pp_tracks **address, pp_track **track, int n, pp_arena *arena,
    const pp_backend *backend, int index, pp_error *error)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pp_status status = PP_NO_MEMORY;

  pthread_once (&once, guard_forks);
  for (int i = 0; i < n; i++)
    track[i] = NULL;
  take_lock ();
  pp_tracks *tracks = find_tracks (backend, index);
  if (tracks == NULL)
    tracks = new_tracks (backend, index, error);
  *address = tracks;
  if (tracks != NULL)
    status = ++tracks->devices > 1 ? pp_turns_start (tracks, error) : PP_OK;
  for (int i = 0; i < n && status == PP_OK; i++) {
    track[i] = take (tracks, track, i, arena, error);
    if (track[i] == NULL)
      status = PP_NO_MEMORY;
  }
  give_lock ();
  return status;
}

/* Under the lock. */
static pp_track *
take_unused (pp_tracks *tracks)
{
  pp_track **link = &tracks->first, *unused = NULL;

  while (*link != NULL) {
    pp_track *track = *link;
    if (track->users > 0) {
      link = &track->next;
      continue;
    }
    *link = track->next;
    track->next = unused;
    unused = track;
  }
  return unused;
}

/* Under the lock. */
static void
forget (const pp_tracks *tracks)
{
  pp_tracks **link = &all;

  while (*link != tracks)
    link = &(*link)->next;
  *link = tracks->next;
}

pp_track *
pp_tracks_give_back (pp_tracks **address, pp_track **track, int n)
{
  pp_tracks *tracks = *address;

  *address = NULL;
  if (tracks == NULL)
    return NULL;
  take_lock ();
  for (int i = 0; i < n; i++)
    if (track[i] != NULL)
      track[i]->users--;
  pp_track *unused = take_unused (tracks);
  const bool last = --tracks->devices == 0;
  if (last)
    forget (tracks);
  give_lock ();
  if (last) {
    pp_turns_stop (tracks);
    pthread_cond_destroy (&tracks->work);
    pthread_cond_destroy (&tracks->turn_given);
    pthread_mutex_destroy (&tracks->lock);
    free (tracks);
  }
  return unused;
}

void
pp_tracks_unmake (const pp_backend *backend, pp_track *unused)
{
  for (; unused != NULL; unused = unused->next)
    unmake (backend, unused);
}

void
pp_tracks_free (pp_track *unused)
{
  while (unused != NULL) {
    pp_track *next = unused->next;
    pp_arena_unref (&unused->arena);
    free (unused);
    unused = next;
  }
}
