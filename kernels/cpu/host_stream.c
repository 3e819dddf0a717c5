/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "host_stream.h"

#include <pthread.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A job queues up to six operations, an element keeps up to two jobs a stream
 * under way, and all elements of the process share the workers. */
#define QUEUE_LENGTH 1024
#define SCRATCH_ALIGNMENT 256

struct pp_event {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  uint64_t recorded, passed; /* how often */
  struct timespec time;      /* of the last pass */
  pp_error error;            /* of what was before it */
};

struct operation {
  pp_host_function function;
  bool asked; /* by another stream's worker */
  alignas (max_align_t) uint8_t data[PP_MAX_HOST_DATA];
};

struct pp_stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct operation queue[QUEUE_LENGTH];
  uint64_t pushed, done; /* operations; the worker is at queue[done % length] */
  bool quit;
  /* The worker's own. */
  void (*before) (void);
  void *scratch;
  size_t scratch_size;
  pp_error error; /* of the last function that is not record or wait */
};

/* The data of record and wait. */
struct passing {
  pp_event *event;
  uint64_t count; /* the event's recorded */
};

pp_status
pp_host_event_create (pp_event **event, pp_error *error)
{
  *event = calloc (1, sizeof **event);
  if (*event == NULL)
    return pp_fail_memory (error, "calloc", sizeof **event);
  pthread_mutex_init (&(*event)->lock, NULL);
  pthread_cond_init (&(*event)->cond, NULL);
  return PP_OK;
}

void
pp_host_event_destroy (pp_event **event)
{
  pthread_cond_destroy (&(*event)->cond);
  pthread_mutex_destroy (&(*event)->lock);
  free (*event);
  *event = NULL;
}

static pp_status
pass (pp_stream *stream, const void *data, pp_error *error)
{
  const struct passing *passing = data;
  pp_event *event = passing->event;

  (void) error;
  pthread_mutex_lock (&event->lock);
  event->passed = passing->count;
  event->error = stream->error;
  clock_gettime (CLOCK_MONOTONIC, &event->time);
  pthread_cond_broadcast (&event->cond);
  pthread_mutex_unlock (&event->lock);
  return PP_OK;
}

static pp_status
wait_for (pp_stream *stream, const void *data, pp_error *error)
{
  const struct passing *passing = data;
  pp_event *event = passing->event;

  (void) stream;
  (void) error;
  pthread_mutex_lock (&event->lock);
  while (event->passed < passing->count)
    pthread_cond_wait (&event->cond, &event->lock);
  pthread_mutex_unlock (&event->lock);
  return PP_OK;
}

pp_status
pp_host_event_wait (pp_event *event, pp_error *error)
{
  pthread_mutex_lock (&event->lock);
  while (event->passed < event->recorded)
    pthread_cond_wait (&event->cond, &event->lock);
  const pp_status status = event->error.status;
  if (status != PP_OK && error != NULL)
    *error = event->error;
  pthread_mutex_unlock (&event->lock);
  return status;
}

bool
pp_host_event_query (pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const bool passed = event->passed == event->recorded;
  pthread_mutex_unlock (&event->lock);
  return passed;
}

double
pp_host_event_elapsed (const pp_event *from, const pp_event *to)
{
  return (double) (to->time.tv_sec - from->time.tv_sec) * 1e6 +
      (double) (to->time.tv_nsec - from->time.tv_nsec) * 1e-3;
}

static void
run (pp_stream *stream, const struct operation *operation)
{
  pp_error error = { 0 };

  if (stream->before != NULL)
    stream->before ();
  operation->function (stream, operation->data, &error);
  if (!operation->asked && operation->function != pass &&
      operation->function != wait_for)
    stream->error = error;
}

static void *
worker (void *data)
{
  pp_stream *stream = data;

  pthread_mutex_lock (&stream->lock);
  for (;;) {
    while (stream->done == stream->pushed && !stream->quit)
      pthread_cond_wait (&stream->changed, &stream->lock);
    if (stream->done == stream->pushed)
      break;
    const struct operation operation =
        stream->queue[stream->done % QUEUE_LENGTH];
    pthread_mutex_unlock (&stream->lock);
    run (stream, &operation);
    pthread_mutex_lock (&stream->lock);
    stream->done++;
    pthread_cond_broadcast (&stream->changed);
  }
  pthread_mutex_unlock (&stream->lock);
  return NULL;
}

pp_status
pp_host_stream_create (
    pp_stream **address, void (*before) (void), pp_error *error)
{
  pp_stream *stream = calloc (1, sizeof *stream);

  if (stream == NULL)
    return pp_fail_memory (error, "calloc", sizeof *stream);
  stream->before = before;
  pthread_mutex_init (&stream->lock, NULL);
  pthread_cond_init (&stream->changed, NULL);
  const int code = pthread_create (&stream->thread, NULL, worker, stream);
  if (code != 0) {
    pthread_cond_destroy (&stream->changed);
    pthread_mutex_destroy (&stream->lock);
    free (stream);
    return pp_fail (error, PP_NO_MEMORY, "pthread_create: %s", strerror (code));
  }
  *address = stream;
  return PP_OK;
}

void
pp_host_stream_destroy (pp_stream **address)
{
  pp_stream *stream = *address;

  pthread_mutex_lock (&stream->lock);
  stream->quit = true;
  pthread_cond_broadcast (&stream->changed);
  pthread_mutex_unlock (&stream->lock);
  pthread_join (stream->thread, NULL);
  pthread_cond_destroy (&stream->changed);
  pthread_mutex_destroy (&stream->lock);
  free (stream->scratch);
  free (stream);
  *address = NULL;
}

/* With the stream's lock held and room in the queue. */
static void
append (pp_stream *stream, pp_host_function function, bool asked,
    const void *data, size_t size)
{
  struct operation *operation = &stream->queue[stream->pushed % QUEUE_LENGTH];

  operation->function = function;
  operation->asked = asked;
  memcpy (operation->data, data, size);
  stream->pushed++;
  pthread_cond_broadcast (&stream->changed);
}

void
pp_host_stream_push (
    pp_stream *stream, pp_host_function function, const void *data, size_t size)
{
  pthread_mutex_lock (&stream->lock);
  while (stream->pushed - stream->done == QUEUE_LENGTH)
    pthread_cond_wait (&stream->changed, &stream->lock);
  append (stream, function, false, data, size);
  pthread_mutex_unlock (&stream->lock);
}

bool
pp_host_stream_ask (pp_stream *stream, pp_host_function function, void *pointer)
{
  pthread_mutex_lock (&stream->lock);
  const bool room = stream->pushed - stream->done < QUEUE_LENGTH;
  if (room)
    append (stream, function, true, &pointer, sizeof pointer);
  pthread_mutex_unlock (&stream->lock);
  return room;
}

void
pp_host_stream_sync (pp_stream *stream)
{
  pthread_mutex_lock (&stream->lock);
  const uint64_t end = stream->pushed;
  while (stream->done < end)
    pthread_cond_wait (&stream->changed, &stream->lock);
  pthread_mutex_unlock (&stream->lock);
}

void *
pp_host_stream_scratch (pp_stream *stream, size_t size, pp_error *error)
{
  const size_t rounded =
      (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT;

  if (stream->scratch_size >= rounded && stream->scratch != NULL)
    return stream->scratch;
  free (stream->scratch);
  stream->scratch =
      aligned_alloc (SCRATCH_ALIGNMENT, rounded > 0 ? rounded : 1);
  stream->scratch_size = stream->scratch != NULL ? rounded : 0;
  if (stream->scratch == NULL)
    pp_fail_memory (error, "aligned_alloc", rounded);
  return stream->scratch;
}

void
pp_host_stream_record (pp_stream *stream, pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const struct passing passing = { event, ++event->recorded };
  pthread_mutex_unlock (&event->lock);
  pp_host_stream_push (stream, pass, &passing, sizeof passing);
}

void
pp_host_stream_wait (pp_stream *stream, pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const struct passing passing = { event, event->recorded };
  pthread_mutex_unlock (&event->lock);
  pp_host_stream_push (stream, wait_for, &passing, sizeof passing);
}
