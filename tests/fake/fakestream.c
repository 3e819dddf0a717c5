/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "fakestream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cpu/kernel_cpu.h"

/* More than the jobs of a stream queue, so that no test waits for room. */
#define QUEUE_LENGTH 256
#define SCRATCH_ALIGNMENT 64

struct pp_event {
  pthread_mutex_t lock;
  pthread_cond_t cond;
  uint64_t recorded, passed; /* how often */
  struct timespec time;      /* of the last pass */
};

struct operation {
  enum {
    COPY,
    GATHER,
    LAUNCH,
    RECORD,
    WAIT
  } kind;
  pp_copy copy;
  pp_gather gather;
  pp_launch launch;
  pp_event *event;
  uint64_t count; /* the event's recorded */
};

struct pp_stream {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  struct operation queue[QUEUE_LENGTH];
  unsigned head, length; /* the thread works on queue[head] */
  bool quit;
};

pp_status
fake_event_create (pp_event **event, pp_error *error)
{
  *event = calloc (1, sizeof **event);
  if (*event == NULL)
    return pp_fail_memory (error, "calloc", sizeof **event);
  pthread_mutex_init (&(*event)->lock, NULL);
  pthread_cond_init (&(*event)->cond, NULL);
  return PP_OK;
}

void
fake_event_destroy (pp_event **event)
{
  pthread_cond_destroy (&(*event)->cond);
  pthread_mutex_destroy (&(*event)->lock);
  free (*event);
  *event = NULL;
}

static void
event_pass (pp_event *event, uint64_t count)
{
  pthread_mutex_lock (&event->lock);
  event->passed = count;
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

static uint64_t
event_recorded (pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const uint64_t recorded = event->recorded;
  pthread_mutex_unlock (&event->lock);
  return recorded;
}

void
fake_event_wait (pp_event *event)
{
  event_wait_for (event, event_recorded (event));
}

bool
fake_event_query (pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const bool passed = event->passed == event->recorded;
  pthread_mutex_unlock (&event->lock);
  return passed;
}

double
fake_event_elapsed (const pp_event *from, const pp_event *to)
{
  return (double) (to->time.tv_sec - from->time.tv_sec) * 1e6 +
      (double) (to->time.tv_nsec - from->time.tv_nsec) * 1e-3;
}

static void
run_copy (const pp_copy *copy)
{
  for (size_t box = 0; box < copy->boxes; box++)
    for (size_t row = 0; row < copy->rows; row++)
      memcpy ((uint8_t *) copy->to + box * copy->to_box + row * copy->to_row,
          (const uint8_t *) copy->from + box * copy->from_box +
              row * copy->from_row,
          copy->width);
}

/* What follows a row is lost. */
static void
run_gather (const pp_gather *gather)
{
  for (int p = 0; p < gather->n_planes; p++) {
    const pp_gather_plane *plane = &gather->plane[p];
    const size_t rest =
        (PP_GATHER_ALIGNMENT - plane->width % PP_GATHER_ALIGNMENT) %
        PP_GATHER_ALIGNMENT;
    for (int i = 0; i < plane->n_rows; i++) {
      uint8_t *to = plane->to + (size_t) i * plane->to_row;
      memcpy (to, plane->from + (size_t) plane->rows[i] * plane->from_row,
          plane->width);
      memset (to + plane->width, 0xa5, rest);
    }
  }
}

/* With the tables that were uploaded, not the plan's own. */
static void
run_launch (const pp_launch *launch)
{
  pp_plan plan = *launch->plan;
  const size_t size = pp_apply_cpu_scratch (&plan);
  void *scratch = aligned_alloc (SCRATCH_ALIGNMENT,
      (size + SCRATCH_ALIGNMENT - 1) / SCRATCH_ALIGNMENT * SCRATCH_ALIGNMENT);

  if (scratch == NULL)
    abort ();
  plan.index = (int32_t *) launch->index;
  plan.weight = (float *) launch->weight;
  pp_apply_cpu (&plan, &launch->source, launch->tensor, launch->first,
      launch->last, scratch);
  free (scratch);
}

static void
run (const struct operation *operation)
{
  fake_wait_while_held ();
  switch (operation->kind) {
    case COPY:
      if (!fake_pretends (operation->copy.up ? FAKE_UP : FAKE_DOWN))
        run_copy (&operation->copy);
      break;
    case GATHER:
      if (!fake_pretends (FAKE_UP))
        run_gather (&operation->gather);
      break;
    case LAUNCH:
      if (!fake_pretends (FAKE_KERNEL))
        run_launch (&operation->launch);
      break;
    case RECORD:
      event_pass (operation->event, operation->count);
      break;
    case WAIT:
      event_wait_for (operation->event, operation->count);
      break;
  }
}

static void *
stream_thread (void *data)
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
    run (&operation);
    pthread_mutex_lock (&stream->lock);
    stream->head = (stream->head + 1) % QUEUE_LENGTH;
    stream->length--;
    pthread_cond_broadcast (&stream->changed);
  }
  pthread_mutex_unlock (&stream->lock);
  return NULL;
}

static void
push (pp_stream *stream, const struct operation *operation)
{
  pthread_mutex_lock (&stream->lock);
  while (stream->length == QUEUE_LENGTH)
    pthread_cond_wait (&stream->changed, &stream->lock);
  stream->queue[(stream->head + stream->length) % QUEUE_LENGTH] = *operation;
  stream->length++;
  pthread_cond_broadcast (&stream->changed);
  pthread_mutex_unlock (&stream->lock);
}

pp_status
fake_stream_create (pp_stream **address, pp_error *error)
{
  pp_stream *stream = calloc (1, sizeof *stream);

  if (stream == NULL)
    return pp_fail_memory (error, "calloc", sizeof *stream);
  pthread_mutex_init (&stream->lock, NULL);
  pthread_cond_init (&stream->changed, NULL);
  const int code =
      pthread_create (&stream->thread, NULL, stream_thread, stream);
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
fake_stream_destroy (pp_stream **address)
{
  pp_stream *stream = *address;

  pthread_mutex_lock (&stream->lock);
  stream->quit = true;
  pthread_cond_broadcast (&stream->changed);
  pthread_mutex_unlock (&stream->lock);
  pthread_join (stream->thread, NULL);
  pthread_cond_destroy (&stream->changed);
  pthread_mutex_destroy (&stream->lock);
  free (stream);
  *address = NULL;
}

void
fake_stream_sync (pp_stream *stream)
{
  pthread_mutex_lock (&stream->lock);
  while (stream->length > 0)
    pthread_cond_wait (&stream->changed, &stream->lock);
  pthread_mutex_unlock (&stream->lock);
}

void
fake_stream_copy (pp_stream *stream, const pp_copy *copy)
{
  push (stream, &(struct operation){ .kind = COPY, .copy = *copy });
}

void
fake_stream_gather (pp_stream *stream, const pp_gather *gather)
{
  push (stream, &(struct operation){ .kind = GATHER, .gather = *gather });
}

void
fake_stream_launch (pp_stream *stream, const pp_launch *launch)
{
  push (stream, &(struct operation){ .kind = LAUNCH, .launch = *launch });
}

void
fake_stream_record (pp_stream *stream, pp_event *event)
{
  pthread_mutex_lock (&event->lock);
  const uint64_t count = ++event->recorded;
  pthread_mutex_unlock (&event->lock);
  push (stream,
      &(struct operation){ .kind = RECORD, .event = event, .count = count });
}

void
fake_stream_wait (pp_stream *stream, pp_event *event)
{
  const struct operation operation = {
    .kind = WAIT, .event = event, .count = event_recorded (event)
  };

  push (stream, &operation);
}
