/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchcalls.h"

#include "benchjobs.h"

typedef struct {
  enum {
    COPY,
    GATHER,
    LAUNCH,
    RECORD,
    STREAM_WAIT
  } kind;
  pp_stream *stream;
  union {
    pp_copy copy;
    pp_gather gather;
    pp_launch launch;
    pp_event *event;
  };
} Call;

struct BenchCalls {
  pp_context *context;
  GArray *list; /* of Call */
};

static const pp_backend *real;
static pp_backend remembering;
static BenchCalls *current; /* between start and stop */

static void
remember (Call call)
{
  if (current != NULL)
    g_array_append_val (current->list, call);
}

static pp_status
enter (pp_context *context, pp_error *error)
{
  if (current != NULL)
    current->context = context;
  return real->enter (context, error);
}

static pp_status
copy (pp_stream *stream, const pp_copy *wanted, pp_error *error)
{
  remember ((Call){ .kind = COPY, .stream = stream, .copy = *wanted });
  return real->copy (stream, wanted, error);
}

static pp_status
gather (pp_stream *stream, const pp_gather *planes, pp_error *error)
{
  remember ((Call){ .kind = GATHER, .stream = stream, .gather = *planes });
  return real->gather (stream, planes, error);
}

static pp_status
launch (pp_stream *stream, const pp_launch *job, pp_error *error)
{
  remember ((Call){ .kind = LAUNCH, .stream = stream, .launch = *job });
  return real->launch (stream, job, error);
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  remember ((Call){ .kind = RECORD, .stream = stream, .event = event });
  return real->record (stream, event, error);
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  remember ((Call){ .kind = STREAM_WAIT, .stream = stream, .event = event });
  return real->stream_wait (stream, event, error);
}

const pp_backend *
bench_calls_backend (const pp_backend *backend)
{
  real = backend;
  remembering = *backend;
  remembering.enter = enter;
  remembering.copy = copy;
  remembering.gather = gather;
  remembering.launch = launch;
  remembering.record = record;
  remembering.stream_wait = stream_wait;
  return &remembering;
}

void
bench_calls_start (void)
{
  current = g_new0 (BenchCalls, 1);
  current->list = g_array_new (FALSE, FALSE, sizeof (Call));
}

BenchCalls *
bench_calls_stop (void)
{
  return g_steal_pointer (&current);
}

void
bench_calls_free (BenchCalls *calls)
{
  g_array_unref (calls->list);
  g_free (calls);
}

static pp_status
make (const Call *call, pp_error *error)
{
  switch (call->kind) {
    case COPY:
      return real->copy (call->stream, &call->copy, error);
    case GATHER:
      return real->gather (call->stream, &call->gather, error);
    case LAUNCH:
      return real->launch (call->stream, &call->launch, error);
    case RECORD:
      return real->record (call->stream, call->event, error);
    default:
      return real->stream_wait (call->stream, call->event, error);
  }
}

/* All of a frame that is not urgent is on one stream. */
static void
wait_for_frame (const BenchCalls *calls)
{
  const Call *last = &g_array_index (calls->list, Call, calls->list->len - 1);
  pp_error error;

  bench_require (
      real->enter (calls->context, &error) == PP_OK, "enter", &error);
  bench_require (
      real->stream_sync (last->stream, &error) == PP_OK, "sync", &error);
  real->leave (calls->context);
}

gdouble
bench_calls_repeat (const BenchCalls *calls)
{
  const guint n = calls->list->len;
  pp_status status = PP_OK;
  pp_error error;
  const gdouble start = bench_thread_now ();

  bench_require (
      real->enter (calls->context, &error) == PP_OK, "enter", &error);
  for (guint c = 0; c < n && status == PP_OK; c++)
    status = make (&g_array_index (calls->list, Call, c), &error);
  real->leave (calls->context);
  const gdouble end = bench_thread_now ();
  bench_require (status == PP_OK, "call", &error);
  wait_for_frame (calls);
  return end - start;
}
