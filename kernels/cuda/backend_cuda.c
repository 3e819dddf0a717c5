/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA backend, on the static CUDA runtime: streams, events, and the copies
 * and launches that are queued on them. engine/backend.h says what each
 * function must do. Contexts and memory are in context_cuda.c, kernels in the
 * .cu files.
 */

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "context_cuda.h"
#include "exit_gate.h"
#include "gather_cuda.h"
#include "kernel_cuda.h"
#include "median_cuda.h"
#include "padding_cuda.h"

/* The pauses of event_wait between two queries of an event, microseconds. */
/* For a frame that is alone. */
#define ALONE_PAUSE 1
/* For any other frame; times the number of opened devices. */
#define SHARED_PAUSE 8
/* At most. */
#define MAX_PAUSE 1000
/* Shorter pauses spin, longer ones sleep. */
#define MIN_SLEEP 20
/* After a wait this long, a pause is at least the time waited over
 * LONG_WAIT_PART. */
#define LONG_WAIT 200
#define LONG_WAIT_PART 8

struct pp_stream {
  pp_context *context;
  cudaStream_t stream;
};

struct pp_event {
  pp_context *context;
  cudaEvent_t event;
};

static pp_status
prepare (pp_context *context, const pp_plan *plan, pp_error *error)
{
  cudaError_t code = pp_cuda_prepare (plan);

  if (code == cudaSuccess)
    code = pp_cuda_prepare_gather ();
  if (code == cudaSuccess)
    code = pp_cuda_prepare_padding ();
  if (code == cudaSuccess && plan->median.size > 0)
    code = pp_cuda_prepare_median (plan);
  return pp_cuda_check (context, code, "loading the kernels", error);
}

static pp_status
stream_create (pp_context *context, pp_stream **address, pp_error *error)
{
  pp_stream *stream = calloc (1, sizeof *stream);

  *address = NULL;
  if (stream == NULL)
    return pp_fail_memory (error, "calloc", sizeof *stream);
  stream->context = context;
  const cudaError_t code =
      cudaStreamCreateWithFlags (&stream->stream, cudaStreamNonBlocking);
  if (code != cudaSuccess) {
    free (stream);
    return pp_cuda_check (context, code, "cudaStreamCreateWithFlags", error);
  }
  *address = stream;
  return PP_OK;
}

static void
stream_destroy (pp_stream **address)
{
  pp_stream *stream = *address;

  *address = NULL;
  if (stream == NULL)
    return;
  if (cudaStreamDestroy (stream->stream) != cudaSuccess)
    cudaGetLastError ();
  free (stream);
}

static pp_status
event_create (
    pp_context *context, bool timed, pp_event **address, pp_error *error)
{
  pp_event *event = calloc (1, sizeof *event);

  *address = NULL;
  if (event == NULL)
    return pp_fail_memory (error, "calloc", sizeof *event);
  event->context = context;
  const cudaError_t code = cudaEventCreateWithFlags (
      &event->event, timed ? cudaEventDefault : cudaEventDisableTiming);
  if (code != cudaSuccess) {
    free (event);
    return pp_cuda_check (context, code, "cudaEventCreateWithFlags", error);
  }
  *address = event;
  return PP_OK;
}

static void
event_destroy (pp_event **address)
{
  pp_event *event = *address;

  *address = NULL;
  if (event == NULL)
    return;
  if (cudaEventDestroy (event->event) != cudaSuccess)
    cudaGetLastError ();
  free (event);
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  return pp_cuda_check (stream->context,
      cudaEventRecord (event->event, stream->stream), "cudaEventRecord", error);
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  return pp_cuda_check (stream->context,
      cudaStreamWaitEvent (stream->stream, event->event, 0),
      "cudaStreamWaitEvent", error);
}

static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  if (!pp_exit_gate_enter ())
    return pp_cuda_fail_ending (error);
  const pp_status status = pp_cuda_check (stream->context,
      cudaStreamSynchronize (stream->stream), "cudaStreamSynchronize", error);
  pp_exit_gate_leave ();
  return status;
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  pp_status status = PP_OK;

  *passed = false;
  if (!pp_exit_gate_enter ())
    return pp_cuda_fail_ending (error);
  const cudaError_t code = cudaEventQuery (event->event);
  if (code == cudaErrorNotReady) {
    cudaGetLastError (); /* it is in the last-error slot, too */
  } else {
    *passed = code == cudaSuccess;
    status = pp_cuda_check (event->context, code, "cudaEventQuery", error);
  }
  pp_exit_gate_leave ();
  return status;
}

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec * 1e6 + (double) time.tv_nsec / 1e3;
}

/* Polls the event, with pauses. The runtime's own waits do not fit.
 * cudaEventSynchronize spins: 64 elements, each with a thread that waits, would
 * take 64 cores. Blocking events raise an interrupt for every stage of every
 * frame and wake up tens of microseconds late, half of a frame's time.
 *
 * A query takes locks of the driver, which threads that queue frames need, too:
 * with eight elements that queried without pause, the frame rate was a sixth of
 * that of one element. So pauses are short only for a frame that is alone,
 * where they add to its latency. Otherwise being late costs nothing, and pauses
 * grow with the number of devices, so that all together query as often as one.
 */
static pp_status
event_wait (pp_event *event, bool alone, pp_error *error)
{
  const double min_pause =
      alone ? ALONE_PAUSE : SHARED_PAUSE * pp_cuda_attached ();
  const double start = now ();

  for (;;) {
    bool passed;
    const pp_status status = event_query (event, &passed, error);
    if (status != PP_OK || passed)
      return status;

    const double looked = now (), waited = looked - start;
    double pause = min_pause;
    if (waited > LONG_WAIT && pause < waited / LONG_WAIT_PART)
      pause = waited / LONG_WAIT_PART;
    if (pause > MAX_PAUSE)
      pause = MAX_PAUSE;
    if (pause >= MIN_SLEEP) {
      const struct timespec time = { .tv_nsec = (long) (pause * 1e3) };
      nanosleep (&time, NULL);
      continue;
    }
    do
      sched_yield ();
    while (now () - looked < pause);
  }
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  float milliseconds = 0;

  if (!pp_exit_gate_enter ())
    return pp_cuda_fail_ending (error);
  const pp_status status = pp_cuda_check (from->context,
      cudaEventElapsedTime (&milliseconds, from->event, to->event),
      "cudaEventElapsedTime", error);
  pp_exit_gate_leave ();
  *microseconds = (double) milliseconds * 1e3;
  return status;
}

/* The same copy with fewer and longer rows. Rows without gaps on both sides
 * become one row. Boxes of one row each become rows of one box; in the second
 * pass these may be without gaps, too. */
static pp_copy
join_rows (const pp_copy *copy)
{
  pp_copy joined = *copy;

  for (int pass = 0; pass < 2; pass++) {
    if (joined.from_row == joined.width && joined.to_row == joined.width) {
      joined.width *= joined.rows;
      joined.rows = 1;
    }
    if (joined.rows == 1) {
      joined.rows = joined.boxes;
      joined.from_row = joined.from_box;
      joined.to_row = joined.to_box;
      joined.boxes = 1;
    }
  }
  return joined;
}

static pp_status
fail_copy (const pp_context *context, const pp_copy *copy, cudaError_t code,
    const char *call, pp_error *error)
{
  return pp_fail (error, PP_DEVICE_FAILED,
      "%s of %zu rows of %zu bytes %s device %d (%s): %s", call,
      copy->rows * copy->boxes, copy->width, copy->up ? "to" : "from",
      context->index, context->name, pp_cuda_reason (code));
}

static cudaError_t
copy_boxes (
    const pp_stream *stream, const pp_copy *copy, enum cudaMemcpyKind kind)
{
  const struct cudaMemcpy3DParms parameters = {
    .srcPtr = { .ptr = (void *) copy->from,
        .pitch = copy->from_row,
        .xsize = copy->width,
        .ysize = copy->from_box / copy->from_row },
    .dstPtr = { .ptr = copy->to,
        .pitch = copy->to_row,
        .xsize = copy->width,
        .ysize = copy->to_box / copy->to_row },
    .extent = { copy->width, copy->rows, copy->boxes },
    .kind = kind
  };

  return cudaMemcpy3DAsync (&parameters, stream->stream);
}

static pp_status
copy (pp_stream *stream, const pp_copy *wanted, pp_error *error)
{
  const pp_copy copy = join_rows (wanted);
  const enum cudaMemcpyKind kind =
      copy.up ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  const char *call;
  cudaError_t code;

  if (copy.boxes > 1) {
    call = "cudaMemcpy3DAsync";
    code = copy_boxes (stream, &copy, kind);
  } else if (copy.rows > 1) {
    call = "cudaMemcpy2DAsync";
    code = cudaMemcpy2DAsync (copy.to, copy.to_row, copy.from, copy.from_row,
        copy.width, copy.rows, kind, stream->stream);
  } else {
    call = "cudaMemcpyAsync";
    code =
        cudaMemcpyAsync (copy.to, copy.from, copy.width, kind, stream->stream);
  }
  if (code == cudaSuccess)
    return PP_OK;
  return fail_copy (stream->context, wanted, code, call, error);
}

static pp_status
transfer (pp_stream *stream, const pp_copy *wanted, pp_error *error)
{
  const pp_status status = copy (stream, wanted, error);

  if (status != PP_OK)
    return status;
  return pp_cuda_check (stream->context, cudaStreamSynchronize (stream->stream),
      "cudaStreamSynchronize", error);
}

static pp_status
gather (pp_stream *stream, const pp_gather *planes, pp_error *error)
{
  return pp_cuda_check (stream->context,
      pp_cuda_gather (planes, stream->stream),
      "launching the kernel that gathers rows", error);
}

/* Makes the medians, if the plan has any, which the taps then read. */
static cudaError_t
make_medians (const pp_stream *stream, pp_launch *job)
{
  const pp_launch whole = *job;

  if (job->plan->median.size == 0)
    return cudaSuccess;
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    job->source.plane[p] = job->medians.plane[p];
    job->source.stride[p] = job->medians.stride[p];
  }
  return pp_cuda_median (&whole, stream->stream);
}

static pp_status
check_launch (const pp_context *context, const pp_launch *job, int n,
    cudaError_t code, pp_error *error)
{
  if (code == cudaSuccess)
    return PP_OK;
  return pp_fail (error, PP_DEVICE_FAILED,
      "launching the kernel for %d x %d pixels%s on device %d (%s): %s",
      job->plan->numbers.content_width, job->plan->numbers.content_height,
      n > 1 ? " and other pictures" : "", context->index, context->name,
      pp_cuda_reason (code));
}

static pp_status
launch (pp_stream *stream, const pp_launch *job, pp_error *error)
{
  const pp_context *context = stream->context;
  pp_launch taps = *job;
  cudaError_t code = make_medians (stream, &taps);

  if (code == cudaSuccess)
    code = pp_cuda_launch (&taps, context->multiprocessors, stream->stream);
  return check_launch (context, job, 1, code, error);
}

static pp_status
launch_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error)
{
  const pp_context *context = stream->context;
  pp_launch taps[PP_MAX_PICTURES];
  cudaError_t code = cudaSuccess;

  (void) team;
  if (padding)
    code = pp_cuda_fill_padding (launches, n, false, stream->stream);
  memcpy (taps, launches, (size_t) n * sizeof *taps);
  for (int i = 0; i < n && code == cudaSuccess; i++)
    code = make_medians (stream, &taps[i]);
  if (code == cudaSuccess)
    code = pp_cuda_launch_pictures (
        taps, n, context->multiprocessors, stream->stream);
  return check_launch (context, launches, n, code, error);
}

/* Where a tensor has bytes that are no elements, all bytes are set first. */
static pp_status
pad (pp_stream *stream, const pp_launch *launches, int n, bool content,
    pp_error *error)
{
  const pp_context *context = stream->context;
  cudaError_t code = cudaSuccess;

  for (int i = 0; i < n && code == cudaSuccess; i++)
    if (launches[i].plan->gaps)
      code = cudaMemsetAsync (launches[i].tensor, PP_GAP_BYTE,
          launches[i].plan->tensor_size, stream->stream);
  if (code == cudaSuccess)
    code = pp_cuda_fill_padding (launches, n, content, stream->stream);
  return pp_cuda_check (
      context, code, "launching the kernel that writes padding", error);
}

static void *
event_handle (pp_event *event)
{
  return event->event;
}

const pp_backend pp_backend_cuda = {
  .id = PP_BACKEND_CUDA,
  .name = "cuda",
  .unified = false,
  .open = pp_cuda_open,
  .close = pp_cuda_close,
  .describe = pp_cuda_describe,
  .identify = pp_cuda_identify,
  .enter = pp_cuda_enter,
  .leave = pp_cuda_leave,
  .attach = pp_cuda_attach,
  .detach = pp_cuda_detach,
  .host_alloc = pp_cuda_host_alloc,
  .host_free = pp_cuda_host_free,
  .device_alloc = pp_cuda_device_alloc,
  .device_free = pp_cuda_device_free,
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
