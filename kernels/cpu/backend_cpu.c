/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU as a backend: engine/backend.h says what its functions must do. A
 * stream is a worker thread with a queue of operations, which it runs in order.
 * An event counts how often it was recorded and how often it has passed. The
 * backend is unified: jobs read frames and write tensors where they are,
 * without copies.
 */

#include "kernels/engine/backend.h"
#include "kernel_cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Operations. A job queues at most six, and the engine keeps two jobs a stream.
 */
#define QUEUE_LENGTH 32
#define BLOCK_ALIGNMENT 256

struct pp_context {
  int unused; /* the CPU has no state */
};

struct pp_event {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  uint64_t recorded, passed; /* how often; equal: nothing to wait for */
  struct timespec time;      /* when it last passed */
  pp_error error;            /* of its stream at that time */
};

struct operation {
  enum {
    LAUNCH,
    RECORD,
    WAIT
  } kind;
  pp_launch launch;
  pp_event *event;
  uint64_t count; /* RECORD, WAIT: of event->recorded */
};

struct pp_stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct operation queue[QUEUE_LENGTH];
  unsigned head, length; /* queue[head] is being run */
  bool quit;
  /* Used by the worker alone. */
  void *scratch;
  size_t scratch_size;
  pp_error error; /* sticky */
};

static pp_status
event_create (pp_context *context, pp_event **event, pp_error *error)
{
  (void) context;
  *event = calloc (1, sizeof **event);
  if (*event == NULL)
    return pp_fail_memory (error, "calloc", sizeof **event);
  pthread_mutex_init (&(*event)->lock, NULL);
  pthread_cond_init (&(*event)->cond, NULL);
  return PP_OK;
}

static void
event_destroy (pp_event **event)
{
  pthread_cond_destroy (&(*event)->cond);
  pthread_mutex_destroy (&(*event)->lock);
  free (*event);
  *event = NULL;
}

static void
event_pass (pp_event *event, uint64_t count, const pp_error *error)
{
  pthread_mutex_lock (&event->lock);
  event->passed = count;
  event->error = *error;
  clock_gettime (CLOCK_MONOTONIC, &event->time);
  pthread_cond_broadcast (&event->cond);
  pthread_mutex_unlock (&event->lock);
}

static void
event_wait_for (pp_event *event, uint64_t count)
{
  pthread_mutex_lock (&event->lock);
  while (event->passed < count)
    pthread_cond_wait (&event->cond, &event->lock);
  pthread_mutex_unlock (&event->lock);
}

static pp_status
event_wait (pp_event *event, bool alone, pp_error *error)
{
  (void) alone;
  pthread_mutex_lock (&event->lock);
  while (event->passed < event->recorded)
    pthread_cond_wait (&event->cond, &event->lock);
  const pp_status status = event->error.status;
  if (status != PP_OK && error != NULL)
    *error = event->error;
  pthread_mutex_unlock (&event->lock);
  return status;
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  (void) error;
  pthread_mutex_lock (&event->lock);
  *passed = event->passed == event->recorded;
  pthread_mutex_unlock (&event->lock);
  return PP_OK;
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  (void) error;
  *microseconds = (double) (to->time.tv_sec - from->time.tv_sec) * 1e6 +
      (double) (to->time.tv_nsec - from->time.tv_nsec) * 1e-3;
  return PP_OK;
}

static void
run_launch (pp_stream *stream, const pp_launch *launch)
{
  const size_t needed = pp_apply_cpu_scratch (launch->plan);

  if (stream->scratch_size < needed) {
    free (stream->scratch);
    const size_t rounded =
        (needed + BLOCK_ALIGNMENT - 1) / BLOCK_ALIGNMENT * BLOCK_ALIGNMENT;
    stream->scratch = aligned_alloc (BLOCK_ALIGNMENT, rounded);
    stream->scratch_size = stream->scratch != NULL ? rounded : 0;
    if (stream->scratch == NULL) {
      pp_fail_memory (&stream->error, "aligned_alloc", rounded);
      return;
    }
  }
  pp_apply_cpu (launch->plan, &launch->source, launch->tensor, launch->first,
      launch->last, stream->scratch);
}

static void
run (pp_stream *stream, const struct operation *operation)
{
  switch (operation->kind) {
    case LAUNCH:
      if (stream->error.status == PP_OK)
        run_launch (stream, &operation->launch);
      break;
    case RECORD:
      event_pass (operation->event, operation->count, &stream->error);
      break;
    case WAIT:
      event_wait_for (operation->event, operation->count);
      break;
  }
}

static void *
worker (void *data)
{
  pp_stream *stream = data;

  pthread_mutex_lock (&stream->lock);
  for (;;) {
    while (stream->length == 0 && !stream->quit)
      pthread_cond_wait (&stream->changed, &stream->lock);
    if (stream->length == 0)
      break;
    const struct operation operation = stream->queue[stream->head];
    pthread_mutex_unlock (&stream->lock);
    run (stream, &operation);
    pthread_mutex_lock (&stream->lock);
    stream->head = (stream->head + 1) % QUEUE_LENGTH;
    stream->length--;
    pthread_cond_broadcast (&stream->changed);
  }
  pthread_mutex_unlock (&stream->lock);
  return NULL;
}

static pp_status
push (pp_stream *stream, const struct operation *operation)
{
  pthread_mutex_lock (&stream->lock);
  while (stream->length == QUEUE_LENGTH)
    pthread_cond_wait (&stream->changed, &stream->lock);
  stream->queue[(stream->head + stream->length) % QUEUE_LENGTH] = *operation;
  stream->length++;
  pthread_cond_broadcast (&stream->changed);
  pthread_mutex_unlock (&stream->lock);
  return PP_OK;
}

static pp_status
stream_create (pp_context *context, pp_stream **address, pp_error *error)
{
  pp_stream *stream = calloc (1, sizeof *stream);

  (void) context;
  if (stream == NULL)
    return pp_fail_memory (error, "calloc", sizeof *stream);
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

static void
stream_destroy (pp_stream **address)
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

static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  pthread_mutex_lock (&stream->lock);
  while (stream->length > 0)
    pthread_cond_wait (&stream->changed, &stream->lock);
  const pp_status status = stream->error.status;
  if (status != PP_OK && error != NULL)
    *error = stream->error;
  pthread_mutex_unlock (&stream->lock);
  return status;
}

static pp_status
launch (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  (void) error;
  return push (
      stream, &(struct operation){ .kind = LAUNCH, .launch = *launch });
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  (void) error;
  pthread_mutex_lock (&event->lock);
  const uint64_t count = ++event->recorded;
  pthread_mutex_unlock (&event->lock);
  return push (stream,
      &(struct operation){ .kind = RECORD, .event = event, .count = count });
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  (void) error;
  pthread_mutex_lock (&event->lock);
  const uint64_t count = event->recorded;
  pthread_mutex_unlock (&event->lock);
  return push (stream,
      &(struct operation){ .kind = WAIT, .event = event, .count = count });
}

static pp_status
open_cpu (int index, pp_context **context, pp_error *error)
{
  if (index > 0)
    return pp_fail (error, PP_NO_DEVICE,
        "device %d does not exist, the CPU is device 0", index);
  *context = calloc (1, sizeof **context);
  if (*context == NULL)
    return pp_fail_memory (error, "calloc", sizeof **context);
  return PP_OK;
}

static void
close_cpu (pp_context **context)
{
  free (*context);
  *context = NULL;
}

static void
describe (const pp_context *context, char *text, size_t size)
{
  (void) context;
  snprintf (text, size, "cpu");
}

static pp_status
enter (pp_context *context, pp_error *error)
{
  (void) context;
  (void) error;
  return PP_OK;
}

static void
leave (pp_context *context)
{
  (void) context;
}

static void *
host_alloc (pp_context *context, size_t size, pp_error *error)
{
  void *memory = NULL;

  (void) context;
  if (posix_memalign (&memory, BLOCK_ALIGNMENT, size) != 0) {
    pp_fail_memory (error, "posix_memalign", size);
    return NULL;
  }
  return memory;
}

static void
host_free (pp_context *context, void *memory)
{
  (void) context;
  free (memory);
}

static pp_status
prepare (pp_context *context, const pp_plan *plan, pp_error *error)
{
  (void) context;
  (void) plan;
  (void) error;
  return PP_OK;
}

const pp_backend pp_backend_cpu = {
  .id = PP_BACKEND_CPU,
  .name = "cpu",
  .unified = true,
  .open = open_cpu,
  .close = close_cpu,
  .describe = describe,
  .enter = enter,
  .leave = leave,
  .attach = enter,
  .detach = leave,
  .host_alloc = host_alloc,
  .host_free = host_free,
  .prepare = prepare,
  .stream_create = stream_create,
  .stream_destroy = stream_destroy,
  .event_create = event_create,
  .event_destroy = event_destroy,
  .launch = launch,
  .record = record,
  .stream_wait = stream_wait,
  .stream_sync = stream_sync,
  .event_wait = event_wait,
  .event_query = event_query,
  .event_elapsed = event_elapsed,
};
