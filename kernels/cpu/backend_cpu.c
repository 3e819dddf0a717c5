/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU as a device. It is unified: jobs read the frame and write the tensor
 * where they are, so there are no copies.
 */
#include <stdio.h>
#include <stdlib.h>

#include "host_stream.h"
#include "share_cpu.h"

#define BLOCK_ALIGNMENT 256

_Static_assert(
    sizeof (pp_launch) <= PP_MAX_HOST_DATA, "a launch is an operation's data");

struct pp_context {
  int unused; /* the CPU has no state */
};

static pp_status
open_cpu (int index, void *handle, pp_context **context, pp_error *error)
{
  *context = NULL;
  if (handle != NULL)
    return pp_fail (
        error, PP_BAD_ARGUMENT, "context is set, but the CPU has no contexts");
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

static void
identify (const pp_context *context, int *index, void **handle)
{
  (void) context;
  *index = 0;
  *handle = NULL;
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

static pp_status
stream_create (pp_context *context, pp_stream **stream, pp_error *error)
{
  (void) context;
  return pp_host_stream_create (stream, NULL, error);
}

static pp_status
event_create (
    pp_context *context, bool timed, pp_event **event, pp_error *error)
{
  (void) context;
  (void) timed;
  return pp_host_event_create (event, error);
}

static pp_status
run_launch (pp_stream *stream, const void *data, pp_error *error)
{
  return pp_run_launch (stream, data, error);
}

static pp_status
launch (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  (void) error;
  pp_host_stream_push (stream, run_launch, launch, sizeof *launch);
  return PP_OK;
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  (void) error;
  pp_host_stream_record (stream, event);
  return PP_OK;
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  (void) error;
  pp_host_stream_wait (stream, event);
  return PP_OK;
}

static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  (void) error;
  pp_host_stream_sync (stream);
  return PP_OK;
}

static pp_status
event_wait (pp_event *event, bool alone, pp_error *error)
{
  (void) alone;
  return pp_host_event_wait (event, error);
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  (void) error;
  *passed = pp_host_event_query (event);
  return PP_OK;
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  (void) error;
  *microseconds = pp_host_event_elapsed (from, to);
  return PP_OK;
}

const pp_backend pp_backend_cpu = {
  .id = PP_BACKEND_CPU,
  .name = "cpu",
  .unified = true,
  .open = open_cpu,
  .close = close_cpu,
  .describe = describe,
  .identify = identify,
  .enter = enter,
  .leave = leave,
  .attach = enter,
  .detach = leave,
  .host_alloc = host_alloc,
  .host_free = host_free,
  .prepare = prepare,
  .stream_create = stream_create,
  .stream_destroy = pp_host_stream_destroy,
  .event_create = event_create,
  .event_destroy = pp_host_event_destroy,
  .launch = launch,
  .launch_pictures = pp_share_pictures,
  .record = record,
  .stream_wait = stream_wait,
  .stream_sync = stream_sync,
  .event_wait = event_wait,
  .event_query = event_query,
  .event_elapsed = event_elapsed,
};
