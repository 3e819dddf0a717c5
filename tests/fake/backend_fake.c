/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each function counts the call, fails if it is to, and leaves the work to the
 * CPU backend or, where that has no copies, to fakestream.c.
 */
#include "backend_fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fakeobjects.h"
#include "fakestream.h"

struct pp_context {
  void *handle;
};

/* The handle of the primary context. */
static char primary;

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool held;
  struct {
    int count, fails_at; /* fails_at 0: never */
    bool sticky;
    int stalls_from, stalls_until; /* counts */
  } call[FAKE_CALLS];
  unsigned pretended[FAKE_UNITS]; /* microseconds */
} control = { .lock = PTHREAD_MUTEX_INITIALIZER,
  .changed = PTHREAD_COND_INITIALIZER };

static _Thread_local bool exempt;

void
fake_reset (void)
{
  pthread_mutex_lock (&control.lock);
  control.held = false;
  memset (control.call, 0, sizeof control.call);
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

void
fake_hold (bool hold)
{
  pthread_mutex_lock (&control.lock);
  control.held = hold;
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

void
fake_stall (fake_call call, int n)
{
  pthread_mutex_lock (&control.lock);
  control.call[call].stalls_from = control.call[call].count + 1;
  control.call[call].stalls_until = control.call[call].count + n;
  pthread_cond_broadcast (&control.changed);
  pthread_mutex_unlock (&control.lock);
}

/* Called by streams before each operation. */
static void
wait_while_held (void)
{
  pthread_mutex_lock (&control.lock);
  while (control.held)
    pthread_cond_wait (&control.changed, &control.lock);
  pthread_mutex_unlock (&control.lock);
}

void
fake_pretend (unsigned up, unsigned kernel, unsigned down)
{
  pthread_mutex_lock (&control.lock);
  control.pretended[FAKE_UP] = up;
  control.pretended[FAKE_KERNEL] = kernel;
  control.pretended[FAKE_DOWN] = down;
  pthread_mutex_unlock (&control.lock);
}

bool
fake_pretends (enum fake_unit unit)
{
  static pthread_mutex_t units[FAKE_UNITS] = { PTHREAD_MUTEX_INITIALIZER,
    PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER };

  pthread_mutex_lock (&control.lock);
  const unsigned microseconds = control.pretended[unit];
  pthread_mutex_unlock (&control.lock);
  if (microseconds == 0)
    return false;

  const struct timespec time = { .tv_nsec = (long) microseconds * 1000 };
  pthread_mutex_lock (&units[unit]);
  nanosleep (&time, NULL);
  pthread_mutex_unlock (&units[unit]);
  return true;
}

void
fake_fail (fake_call call, int nth, bool sticky)
{
  pthread_mutex_lock (&control.lock);
  control.call[call].fails_at = nth > 0 ? control.call[call].count + nth : 0;
  control.call[call].sticky = sticky;
  pthread_mutex_unlock (&control.lock);
}

void
fake_exempt (bool its_own)
{
  exempt = its_own;
}

int
fake_count (fake_call call)
{
  pthread_mutex_lock (&control.lock);
  const int count = control.call[call].count;
  pthread_mutex_unlock (&control.lock);
  return count;
}

static const struct {
  const char *name;
  pp_status status;
} failures[FAKE_CALLS] = {
  [FAKE_OPEN] = { "open", PP_NO_DEVICE },
  [FAKE_ENTER] = { "enter", PP_DEVICE_FAILED },
  [FAKE_HOST_ALLOC] = { "host_alloc", PP_NO_MEMORY },
  [FAKE_DEVICE_ALLOC] = { "device_alloc", PP_NO_MEMORY },
  [FAKE_PREPARE] = { "prepare", PP_DEVICE_FAILED },
  [FAKE_STREAM_CREATE] = { "stream_create", PP_NO_MEMORY },
  [FAKE_EVENT_CREATE] = { "event_create", PP_NO_MEMORY },
  [FAKE_COPY] = { "copy", PP_DEVICE_FAILED },
  [FAKE_TRANSFER] = { "transfer", PP_DEVICE_FAILED },
  [FAKE_GATHER] = { "gather", PP_DEVICE_FAILED },
  [FAKE_LAUNCH] = { "launch", PP_DEVICE_FAILED },
  [FAKE_LAUNCH_PICTURES] = { "launch_pictures", PP_DEVICE_FAILED },
  [FAKE_PAD] = { "pad", PP_DEVICE_FAILED },
  [FAKE_RECORD] = { "record", PP_DEVICE_FAILED },
  [FAKE_STREAM_WAIT] = { "stream_wait", PP_DEVICE_FAILED },
  [FAKE_STREAM_SYNC] = { "stream_sync", PP_DEVICE_FAILED },
  [FAKE_EVENT_WAIT] = { "event_wait", PP_DEVICE_FAILED },
  [FAKE_EVENT_QUERY] = { "event_query", PP_DEVICE_FAILED },
  [FAKE_EVENT_ELAPSED] = { "event_elapsed", PP_DEVICE_FAILED },
  [FAKE_THREAD] = { "pthread_create", PP_NO_MEMORY },
  [FAKE_MALLOC] = { "alloc", PP_NO_MEMORY },
  [FAKE_ALIGNED] = { "bytes", PP_NO_MEMORY },
  [FAKE_DRIVER_SYNC] = { "waited for", PP_DEVICE_FAILED },
};

const char *
fake_call_name (fake_call call)
{
  return failures[call].name;
}

pp_status
fake_call_status (fake_call call)
{
  return failures[call].status;
}

pp_status
fake_enter_call (fake_call call, pp_error *error)
{
  if (exempt)
    return PP_OK;
  pthread_mutex_lock (&control.lock);
  const int count = ++control.call[call].count;
  const int at = control.call[call].fails_at;
  const bool fails =
      at > 0 && (count == at || (count > at && control.call[call].sticky));
  while (count >= control.call[call].stalls_from &&
      count <= control.call[call].stalls_until)
    pthread_cond_wait (&control.changed, &control.lock);
  pthread_mutex_unlock (&control.lock);
  return fails ? pp_fail (error, failures[call].status,
                     "%s %d failed on purpose", failures[call].name, count)
               : PP_OK;
}

static pp_status
open_fake (int index, void *handle, pp_context **address, pp_error *error)
{
  pp_status status = fake_enter_call (FAKE_OPEN, error);

  *address = NULL;
  if (status == PP_OK && index > 0)
    status = pp_fail (error, PP_NO_DEVICE, "there is no fake device %d", index);
  if (status != PP_OK)
    return status;
  pp_context *context = malloc (sizeof *context);
  if (context == NULL)
    return pp_fail_memory (error, "malloc", sizeof *context);
  context->handle = handle != NULL ? handle : &primary;
  *address = context;
  fake_count_live (FAKE_CONTEXTS, 1);
  return PP_OK;
}

static void
close_fake (pp_context **context)
{
  free (*context);
  *context = NULL;
  fake_count_live (FAKE_CONTEXTS, -1);
}

static void
describe (const pp_context *context, char *text, size_t size)
{
  (void) context;
  snprintf (text, size, "fake");
}

static void
identify (const pp_context *context, int *index, void **handle)
{
  *index = 0;
  *handle = context->handle;
}

static pp_status
enter (pp_context *context, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_ENTER, error);

  if (status != PP_OK)
    return status;
  fake_enter_context (context->handle);
  return PP_OK;
}

static void
leave (pp_context *context)
{
  fake_leave_context (context->handle);
}

/* Pinned memory must not die with a context that is not the primary one. */
static void *
host_alloc (pp_context *context, size_t size, pp_error *error)
{
  fake_require_entered (&primary);
  if (fake_enter_call (FAKE_HOST_ALLOC, error) != PP_OK)
    return NULL;
  void *memory = pp_backend_cpu.host_alloc (NULL, size, error);
  if (memory != NULL)
    fake_add_object (FAKE_HOST_BLOCKS, context->handle, memory, size);
  return memory;
}

static void
host_free (pp_context *context, void *memory)
{
  (void) context;
  fake_require_entered (&primary);
  fake_remove_object (FAKE_HOST_BLOCKS, memory);
  pp_backend_cpu.host_free (NULL, memory);
}

static void *
device_alloc (pp_context *context, size_t size, pp_error *error)
{
  fake_require_entered (context->handle);
  if (fake_enter_call (FAKE_DEVICE_ALLOC, error) != PP_OK)
    return NULL;
  void *memory = pp_backend_cpu.host_alloc (NULL, size, error);
  if (memory != NULL)
    fake_add_object (FAKE_DEVICE_BLOCKS, context->handle, memory, size);
  return memory;
}

static void
device_free (pp_context *context, void *memory)
{
  if (memory == NULL)
    return;
  fake_require_entered (context->handle);
  fake_remove_object (FAKE_DEVICE_BLOCKS, memory);
  pp_backend_cpu.host_free (NULL, memory);
}

static size_t
extent (const pp_copy *copy, size_t row, size_t box)
{
  return (copy->boxes - 1) * box + (copy->rows - 1) * row + copy->width;
}

static pp_status
prepare (pp_context *context, const pp_plan *plan, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_PREPARE, error);

  fake_require_entered (context->handle);
  return status == PP_OK ? pp_backend_cpu.prepare (NULL, plan, error) : status;
}

static pp_status
stream_create (pp_context *context, pp_stream **stream, pp_error *error)
{
  fake_require_entered (context->handle);
  pp_status status = fake_enter_call (FAKE_STREAM_CREATE, error);

  if (status == PP_OK)
    status = pp_host_stream_create (stream, wait_while_held, error);
  if (status == PP_OK)
    fake_add_object (FAKE_STREAMS, context->handle, *stream, 0);
  return status;
}

static void
stream_destroy (pp_stream **stream)
{
  fake_require_entered (fake_context_of (*stream));
  fake_remove_object (FAKE_STREAMS, *stream);
  pp_host_stream_destroy (stream);
}

static pp_status
event_create (
    pp_context *context, bool timed, pp_event **event, pp_error *error)
{
  fake_require_entered (context->handle);
  pp_status status = fake_enter_call (FAKE_EVENT_CREATE, error);

  (void) timed;
  if (status == PP_OK)
    status = pp_host_event_create (event, error);
  if (status == PP_OK)
    fake_add_object (FAKE_EVENTS, context->handle, *event, 0);
  return status;
}

static void
event_destroy (pp_event **event)
{
  fake_remove_object (FAKE_EVENTS, *event);
  pp_host_event_destroy (event);
}

static pp_status
copy (pp_stream *stream, const pp_copy *copy, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_COPY, error);
  const size_t from = extent (copy, copy->from_row, copy->from_box);
  const size_t to = extent (copy, copy->to_row, copy->to_box);

  fake_require_entered (fake_context_of (stream));
  if (copy->up) {
    fake_require_pinned (copy->from, from);
    fake_require_on_device (stream, copy->to, to);
  } else {
    fake_require_on_device (stream, copy->from, from);
    fake_require_pinned (copy->to, to);
  }
  if (status == PP_OK)
    fake_stream_copy (stream, copy);
  return status;
}

static pp_status
transfer (pp_stream *stream, const pp_copy *copy, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_TRANSFER, error);

  fake_require_entered (fake_context_of (stream));
  if (copy->up)
    fake_require_on_device (
        stream, copy->to, extent (copy, copy->to_row, copy->to_box));
  else
    fake_require_on_device (
        stream, copy->from, extent (copy, copy->from_row, copy->from_box));
  if (status != PP_OK)
    return status;
  fake_stream_copy (stream, copy);
  pp_host_stream_sync (stream);
  return PP_OK;
}

static pp_status
gather (pp_stream *stream, const pp_gather *gather, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_GATHER, error);

  fake_require_entered (fake_context_of (stream));
  for (int p = 0; p < gather->n_planes; p++) {
    const pp_gather_plane *plane = &gather->plane[p];
    const size_t rows = (size_t) plane->n_rows;
    fake_require_pinned (plane->from, plane->width);
    fake_require_on_device (stream, plane->to,
        (rows - 1) * plane->to_row +
            (plane->width + PP_GATHER_ALIGNMENT - 1) / PP_GATHER_ALIGNMENT *
                PP_GATHER_ALIGNMENT);
    fake_require_on_device (stream, plane->rows, rows * sizeof *plane->rows);
  }
  if (status == PP_OK)
    fake_stream_gather (stream, gather);
  return status;
}

/* The rows that taps read are known only when the tables are there, see
 * fakestream.c. */
static void
require_launch (const pp_stream *stream, const pp_launch *launch)
{
  const pp_plan *plan = launch->plan;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const size_t stride = launch->source.stride[p];
    const size_t rows = (size_t) plan->rows[p].count;
    const size_t width = (size_t) plan->extent[p].width;
    if (rows == 0)
      continue;
    fake_require_on_device (
        stream, launch->source.plane[p], (rows - 1) * stride + width);
    if (plan->median.size > 0)
      fake_require_on_device (stream, launch->medians.plane[p],
          (rows - 1) * launch->medians.stride[p] + width);
  }
  fake_require_on_device (stream, launch->tensor, plan->tensor_size);
  fake_require_on_device (
      stream, launch->index, plan->n_device_index * sizeof *plan->device_index);
  fake_require_on_device (
      stream, launch->weight, plan->n_weight * sizeof *plan->weight);
}

static pp_status
launch (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_LAUNCH, error);

  fake_require_entered (fake_context_of (stream));
  require_launch (stream, launch);
  if (status == PP_OK)
    fake_stream_launch (stream, launch);
  return status;
}

static pp_status
launch_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_LAUNCH_PICTURES, error);

  (void) team;
  fake_require_entered (fake_context_of (stream));
  for (int i = 0; i < n; i++)
    require_launch (stream, &launches[i]);
  for (int i = 0; i < n && status == PP_OK; i++) {
    if (padding)
      fake_stream_pad (stream, &launches[i], false);
    fake_stream_launch (stream, &launches[i]);
  }
  return status;
}

static pp_status
pad (pp_stream *stream, const pp_launch *launches, int n, bool content,
    pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_PAD, error);

  fake_require_entered (fake_context_of (stream));
  for (int i = 0; i < n; i++)
    fake_require_on_device (
        stream, launches[i].tensor, launches[i].plan->tensor_size);
  for (int i = 0; i < n && status == PP_OK; i++)
    fake_stream_pad (stream, &launches[i], content);
  return status;
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_RECORD, error);

  if (status == PP_OK)
    pp_host_stream_record (stream, event);
  return status;
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_STREAM_WAIT, error);

  if (status == PP_OK)
    pp_host_stream_wait (stream, event);
  return status;
}

/* The engine relies on it also where it reports a failure. */
static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_STREAM_SYNC, error);

  pp_host_stream_sync (stream);
  return status;
}

static pp_status
event_wait (pp_event *event, bool alone, pp_error *error)
{
  (void) alone;
  const pp_status status = fake_enter_call (FAKE_EVENT_WAIT, error);

  if (status == PP_OK)
    pp_host_event_wait (event, NULL);
  return status;
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_EVENT_QUERY, error);

  if (status == PP_OK)
    *passed = pp_host_event_query (event);
  return status;
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  const pp_status status = fake_enter_call (FAKE_EVENT_ELAPSED, error);

  if (status == PP_OK)
    *microseconds = pp_host_event_elapsed (from, to);
  return status;
}

static void *
event_handle (pp_event *event)
{
  return event;
}

/* It stands for CUDA wherever the engine asks. */
const pp_backend fake_backend = {
  .id = PP_BACKEND_CUDA,
  .name = "fake",
  .unified = false,
  .open = open_fake,
  .close = close_fake,
  .describe = describe,
  .identify = identify,
  .enter = enter,
  .leave = leave,
  .attach = enter,
  .detach = leave,
  .host_alloc = host_alloc,
  .host_free = host_free,
  .device_alloc = device_alloc,
  .device_free = device_free,
  .prepare = prepare,
  .stream_create = stream_create,
  .stream_destroy = stream_destroy,
  .event_create = event_create,
  .event_destroy = event_destroy,
  .copy = copy,
  .transfer = transfer,
  .gather = gather,
  .launch = launch,
  .launch_pictures = launch_pictures,
  .pad = pad,
  .record = record,
  .stream_wait = stream_wait,
  .stream_sync = stream_sync,
  .event_wait = event_wait,
  .event_query = event_query,
  .event_elapsed = event_elapsed,
  .event_handle = event_handle,
};
