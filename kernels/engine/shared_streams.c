/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shared_streams.h"

#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "forked.h"

struct pp_shared_streams {
  struct pp_shared_streams *next;
  const pp_backend *backend;
  void *handle; /* of the context; NULL on the CPU */
  pid_t process;
  int devices;
  pp_shared_stream *first; /* oldest first */
};

/* The process' streams. The lock is held while devices are opened and closed,
 * across calls of the backend; threads that convert frames never take it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pp_shared_streams *all;

int
pp_count_cores (void)
{
  cpu_set_t set;

  if (sched_getaffinity (0, sizeof set, &set) == 0)
    return CPU_COUNT (&set);
  const long online = sysconf (_SC_NPROCESSORS_ONLN);
  return online > 0 ? (int) online : 1;
}

static bool
has (pp_shared_stream *const *stream, int n, const pp_shared_stream *wanted)
{
  for (int i = 0; i < n; i++)
    if (stream[i] == wanted)
      return true;
  return false;
}

/* Under the lock: the stream with the fewest users that is not one of the n
 * taken, or NULL. *count becomes the number of all streams. */
static pp_shared_stream *
find_least_used (const pp_shared_streams *streams,
    pp_shared_stream *const *taken, int n, int *count)
{
  pp_shared_stream *found = NULL;

  *count = 0;
  for (pp_shared_stream *s = streams->first; s != NULL; s = s->next) {
    ++*count;
    if (!has (taken, n, s) && (found == NULL || s->users < found->users))
      found = s;
  }
  return found;
}

/* Under the lock: a stream for a device that has n already, or NULL where
 * another one should be created. */
static pp_shared_stream *
find (const pp_shared_streams *streams, pp_shared_stream *const *taken, int n)
{
  const bool unified = streams->backend->unified;
  const int limit = unified ? pp_count_cores () : PP_SHARED_STREAMS;
  int count;
  pp_shared_stream *other = find_least_used (streams, taken, n, &count);

  if (count < limit)
    return NULL;
  if (other == NULL && unified)
    other = find_least_used (streams, NULL, 0, &count);
  return other;
}

static pp_status
create_second (
    const pp_backend *backend, pp_shared_stream *shared, pp_error *error)
{
  pp_context *context = pp_arena_context (shared->arena);
  pp_status status = backend->stream_create (context, &shared->second, error);

  if (status == PP_OK)
    status =
        backend->event_create (context, false, &shared->upper_uploaded, error);
  if (status == PP_OK)
    status = backend->event_create (context, false, &shared->upper_done, error);
  return status;
}

/* Destroys all but the arena, which keeps the context. */
static void
destroy (const pp_backend *backend, pp_shared_stream *shared)
{
  pp_context *context = pp_arena_context (shared->arena);

  if (shared->stream != NULL)
    backend->stream_destroy (&shared->stream);
  if (shared->second != NULL)
    backend->stream_destroy (&shared->second);
  if (shared->upper_uploaded != NULL)
    backend->event_destroy (&shared->upper_uploaded);
  if (shared->upper_done != NULL)
    backend->event_destroy (&shared->upper_done);
  for (int b = 0; b < PP_N_BUFFERS; b++)
    if (shared->buffer[b].memory != NULL)
      backend->device_free (context, shared->buffer[b].memory);
}

static void
free_one (pp_shared_stream *shared)
{
  pp_arena_unref (&shared->arena);
  pthread_mutex_destroy (&shared->lock);
  free (shared);
}

/* NULL with an error. */
static pp_shared_stream *
create (const pp_backend *backend, pp_arena *arena, pp_error *error)
{
  pp_shared_stream *shared = calloc (1, sizeof *shared);

  if (shared == NULL) {
    pp_fail_memory (error, "calloc", sizeof *shared);
    return NULL;
  }
  pthread_mutex_init (&shared->lock, NULL);
  shared->arena = pp_arena_ref (arena);
  pp_status status =
      backend->stream_create (pp_arena_context (arena), &shared->stream, error);
  if (status == PP_OK && !backend->unified)
    status = create_second (backend, shared, error);
  if (status != PP_OK) {
    destroy (backend, shared);
    free_one (shared);
    return NULL;
  }
  return shared;
}

/* Under the lock. */
static pp_shared_streams *
find_streams (const pp_backend *backend, const void *handle)
{
  pp_shared_streams *streams = all;

  while (streams != NULL &&
      (streams->backend != backend || streams->handle != handle ||
          pp_is_forked (streams->process)))
    streams = streams->next;
  return streams;
}

/* Under the lock. NULL with an error. */
static pp_shared_streams *
new_streams (const pp_backend *backend, void *handle, pp_error *error)
{
  pp_shared_streams *streams = calloc (1, sizeof *streams);

  if (streams == NULL) {
    pp_fail_memory (error, "calloc", sizeof *streams);
    return NULL;
  }
  streams->backend = backend;
  streams->handle = handle;
  streams->process = getpid ();
  streams->next = all;
  all = streams;
  return streams;
}

/* Under the lock. NULL with an error. */
static pp_shared_stream *
take (pp_shared_streams *streams, pp_shared_stream *const *taken, int n,
    pp_arena *arena, pp_error *error)
{
  pp_shared_stream *shared = find (streams, taken, n);

  if (shared == NULL) {
    shared = create (streams->backend, arena, error);
    if (shared == NULL)
      return NULL;
    pp_shared_stream **link = &streams->first;
    while (*link != NULL)
      link = &(*link)->next;
    *link = shared;
  }
  shared->users++;
  return shared;
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

/* A forked child creates streams of its own. It has none of the parent's other
 * threads, so nobody could release the lock if one of them held it. */
static void
guard_forks (void)
{
  pthread_atfork (take_lock, give_lock, give_lock);
}

pp_status
pp_shared_streams_take (pp_shared_streams **address, pp_shared_stream **stream,
    int n, pp_arena *arena, const pp_backend *backend, pp_error *error)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pp_status status = PP_NO_MEMORY;
  int index;
  void *handle;

  backend->identify (pp_arena_context (arena), &index, &handle);
  pthread_once (&once, guard_forks);
  for (int i = 0; i < n; i++)
    stream[i] = NULL;
  take_lock ();
  pp_shared_streams *streams = find_streams (backend, handle);
  if (streams == NULL)
    streams = new_streams (backend, handle, error);
  *address = streams;
  if (streams != NULL) {
    streams->devices++;
    status = PP_OK;
  }
  for (int i = 0; i < n && status == PP_OK; i++) {
    stream[i] = take (streams, stream, i, arena, error);
    if (stream[i] == NULL)
      status = PP_NO_MEMORY;
  }
  give_lock ();
  return status;
}

/* Under the lock. */
static pp_shared_stream *
take_unused (pp_shared_streams *streams)
{
  pp_shared_stream **link = &streams->first, *unused = NULL;

  while (*link != NULL) {
    pp_shared_stream *shared = *link;
    if (shared->users > 0) {
      link = &shared->next;
      continue;
    }
    *link = shared->next;
    shared->next = unused;
    unused = shared;
  }
  return unused;
}

/* Under the lock. */
static void
forget (const pp_shared_streams *streams)
{
  pp_shared_streams **link = &all;

  while (*link != streams)
    link = &(*link)->next;
  *link = streams->next;
}

pp_shared_stream *
pp_shared_streams_give_back (
    pp_shared_streams **address, pp_shared_stream **stream, int n)
{
  pp_shared_streams *streams = *address;

  *address = NULL;
  if (streams == NULL)
    return NULL;
  take_lock ();
  for (int i = 0; i < n; i++)
    if (stream[i] != NULL)
      stream[i]->users--;
  pp_shared_stream *unused = take_unused (streams);
  const bool last = --streams->devices == 0;
  if (last)
    forget (streams);
  give_lock ();
  if (last)
    free (streams);
  return unused;
}

void
pp_shared_streams_destroy (const pp_backend *backend, pp_shared_stream *unused)
{
  for (; unused != NULL; unused = unused->next)
    destroy (backend, unused);
}

void
pp_shared_streams_free (pp_shared_stream *unused)
{
  while (unused != NULL) {
    pp_shared_stream *next = unused->next;
    free_one (unused);
    unused = next;
  }
}

pp_status
pp_shared_stream_join_second (
    pp_shared_stream *shared, const pp_backend *backend, pp_error *error)
{
  pp_status status = PP_OK;

  if (!shared->upper_pending)
    return PP_OK;
  status = backend->record (shared->second, shared->upper_done, error);
  if (status == PP_OK)
    status = backend->stream_wait (shared->stream, shared->upper_done, error);
  shared->upper_pending = status != PP_OK;
  return status;
}
