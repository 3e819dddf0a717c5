/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA backend, on the static CUDA runtime.
 *
 * The application's current context and device stay as they are: a context is
 * the device's primary one, as every other runtime user's, made current by the
 * driver's push and pop. The runtime then works on whatever is current, so
 * cudaSetDevice is never called. The driver's functions come from the runtime;
 * libcuda is not linked, and a machine without a driver loads this code.
 */

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "backend.h"
#include "gather_cuda.h"
#include "kernel_cuda.h"
#include "median_cuda.h"

/* event_wait: polls for this long before it sleeps, microseconds. */
#define POLL_TIME 200
/* with this pause between polls, microseconds, */
#define POLL_PAUSE 2
/* and then sleeps for this part of the time waited so far, but never longer. */
#define SLEEP_PART 8
#define LONGEST_SLEEP 1000

struct driver {
  CUresult (CUDAAPI *get_device) (CUdevice *, int);
  CUresult (CUDAAPI *retain) (CUcontext *, CUdevice);
  CUresult (CUDAAPI *release) (CUdevice);
  CUresult (CUDAAPI *push) (CUcontext);
  CUresult (CUDAAPI *pop) (CUcontext *);
  CUresult (CUDAAPI *get_error_string) (CUresult, const char **);
};

struct pp_context {
  struct driver driver;
  int index;
  char name[64];
  int multiprocessors;
  CUdevice device;
  CUcontext primary;
  pid_t pid; /* of the process that opened it */
};

struct pp_stream {
  pp_context *context;
  cudaStream_t stream;
};

struct pp_event {
  pp_context *context;
  cudaEvent_t event;
};

/* What the runtime says, and nothing left in the thread's last-error slot,
 * which the next check of a launch would find. */
static const char *
reason (cudaError_t error)
{
  cudaGetLastError ();
  return cudaGetErrorString (error);
}

static pp_status
fail (const pp_context *context, cudaError_t code, const char *call,
    pp_error *error)
{
  return pp_fail (error,
      code == cudaErrorMemoryAllocation ? PP_NO_MEMORY : PP_DEVICE_FAILED,
      "%s on device %d (%s): %s", call, context->index, context->name,
      reason (code));
}

static pp_status
check (const pp_context *context, cudaError_t code, const char *call,
    pp_error *error)
{
  return code == cudaSuccess ? PP_OK : fail (context, code, call, error);
}

static const char *
driver_reason (const struct driver *driver, CUresult code)
{
  const char *text = NULL;

  if (driver->get_error_string (code, &text) != CUDA_SUCCESS || text == NULL)
    text = "unknown driver error";
  return text;
}

/* version: of the function's signature, as in cudaTypedefs.h. */
static cudaError_t
get_entry_point (const char *symbol, void **function, unsigned version)
{
  enum cudaDriverEntryPointQueryResult found;
#if CUDART_VERSION >= 12050
  const cudaError_t code = cudaGetDriverEntryPointByVersion (
      symbol, function, version, cudaEnableDefault, &found);
#else
  (void) version;
  const cudaError_t code =
      cudaGetDriverEntryPoint (symbol, function, cudaEnableDefault, &found);
#endif

  if (code == cudaSuccess && found != cudaDriverEntryPointSuccess)
    return cudaErrorSymbolNotFound;
  return code;
}

static pp_status
load_driver (struct driver *driver, pp_error *error)
{
  const struct {
    const char *symbol;
    void *pointer; /* to the function pointer */
    unsigned version;
  } entries[] = {
    { "cuDeviceGet", &driver->get_device, 2000 },
    { "cuDevicePrimaryCtxRetain", &driver->retain, 7000 },
    { "cuDevicePrimaryCtxRelease", &driver->release, 11000 },
    { "cuCtxPushCurrent", &driver->push, 4000 },
    { "cuCtxPopCurrent", &driver->pop, 4000 },
    { "cuGetErrorString", &driver->get_error_string, 6000 },
  };

  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    void *function = NULL;
    const cudaError_t code =
        get_entry_point (entries[i].symbol, &function, entries[i].version);
    if (code != cudaSuccess)
      return pp_fail (error, PP_NO_DEVICE, "the CUDA driver's %s: %s",
          entries[i].symbol, reason (code));
    memcpy (entries[i].pointer, &function, sizeof function);
  }
  return PP_OK;
}

/* Versions are 1000 * major + 10 * minor; 0 is no driver at all. */
static pp_status
count_devices (int *count, pp_error *error)
{
  int driver = 0, runtime = 0;
  const cudaError_t code = cudaGetDeviceCount (count);

  if (code == cudaSuccess && *count > 0)
    return PP_OK;
  cudaDriverGetVersion (&driver);
  cudaRuntimeGetVersion (&runtime);
  const char *why = reason (code == cudaSuccess ? cudaErrorNoDevice : code);
  if (driver == 0)
    return pp_fail (error, PP_NO_DEVICE,
        "cudaGetDeviceCount: %s (no CUDA driver found, runtime %d.%d)", why,
        runtime / 1000, runtime % 1000 / 10);
  return pp_fail (error, PP_NO_DEVICE,
      "cudaGetDeviceCount: %s (driver for CUDA %d.%d, runtime %d.%d)", why,
      driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

static pp_status
retain_primary (pp_context *context, pp_error *error)
{
  const struct driver *driver = &context->driver;
  CUresult code = driver->get_device (&context->device, context->index);

  if (code == CUDA_SUCCESS)
    code = driver->retain (&context->primary, context->device);
  if (code == CUDA_SUCCESS)
    return PP_OK;
  context->primary = NULL;
  return pp_fail (error,
      code == CUDA_ERROR_OUT_OF_MEMORY ? PP_NO_MEMORY : PP_NO_DEVICE,
      "cuDevicePrimaryCtxRetain of device %d (%s): %s", context->index,
      context->name, driver_reason (driver, code));
}

static pp_status
find_device (pp_context *context, int index, pp_error *error)
{
  struct cudaDeviceProp properties;
  int count = 0;
  const pp_status status = count_devices (&count, error);

  if (status != PP_OK)
    return status;
  context->index = index < 0 ? 0 : index;
  if (context->index >= count)
    return pp_fail (error, PP_NO_DEVICE,
        "there is no CUDA device %d: %d found, counted from 0", context->index,
        count);
  const cudaError_t code =
      cudaGetDeviceProperties (&properties, context->index);
  if (code != cudaSuccess)
    return pp_fail (error, PP_NO_DEVICE,
        "cudaGetDeviceProperties of device %d: %s", context->index,
        reason (code));
  snprintf (context->name, sizeof context->name, "%.*s",
      (int) sizeof context->name - 1, properties.name);
  context->multiprocessors = properties.multiProcessorCount;
  return PP_OK;
}

static pp_status
enter (pp_context *context, pp_error *error)
{
  if (getpid () != context->pid)
    return pp_fail (error, PP_DEVICE_FAILED,
        "device %d (%s) was opened by process %ld: CUDA does not survive a "
        "fork",
        context->index, context->name, (long) context->pid);
  const CUresult code = context->driver.push (context->primary);
  if (code != CUDA_SUCCESS)
    return pp_fail (error, PP_DEVICE_FAILED,
        "cuCtxPushCurrent on device %d (%s): %s", context->index, context->name,
        driver_reason (&context->driver, code));
  return PP_OK;
}

static void
leave (pp_context *context)
{
  CUcontext popped;

  context->driver.pop (&popped);
}

/* Whether the kernels run there: a device may be older than all of them. */
static pp_status
probe (pp_context *context, pp_error *error)
{
  pp_status status = enter (context, error);

  if (status != PP_OK)
    return status;
  status = check (context, pp_cuda_probe (), "loading the kernels", error);
  leave (context);
  if (status == PP_DEVICE_FAILED) {
    status = PP_NO_DEVICE;
    if (error != NULL)
      error->status = status;
  }
  return status;
}

static void
close_context (pp_context **address)
{
  pp_context *context = *address;

  *address = NULL;
  if (context == NULL)
    return;
  if (context->primary != NULL && getpid () == context->pid)
    context->driver.release (context->device);
  free (context);
}

static pp_status
open_context (int index, pp_context **address, pp_error *error)
{
  pp_context *context = calloc (1, sizeof *context);

  *address = NULL;
  if (context == NULL)
    return pp_fail (
        error, PP_NO_MEMORY, "calloc of %zu bytes failed", sizeof *context);
  context->pid = getpid ();
  pp_status status = find_device (context, index, error);
  if (status == PP_OK)
    status = load_driver (&context->driver, error);
  if (status == PP_OK)
    status = retain_primary (context, error);
  if (status == PP_OK)
    status = probe (context, error);
  if (status == PP_OK)
    *address = context;
  else
    close_context (&context);
  return status;
}

static void
describe (const pp_context *context, char *text, size_t size)
{
  snprintf (text, size, "cuda: %s (device %d)", context->name, context->index);
}

/* Cacheable, never write-combined: frames and tensors are read by the CPU.
 * Portable, so that every context of the process copies from it directly. */
static void *
host_alloc (pp_context *context, size_t size, pp_error *error)
{
  void *memory = NULL;
  const cudaError_t code = cudaHostAlloc (&memory, size, cudaHostAllocPortable);

  if (code == cudaSuccess)
    return memory;
  pp_fail (error, PP_NO_MEMORY,
      "cudaHostAlloc of %zu bytes for device %d (%s): %s", size, context->index,
      context->name, reason (code));
  return NULL;
}

static void
host_free (pp_context *context, void *memory)
{
  (void) context;
  if (cudaFreeHost (memory) != cudaSuccess)
    cudaGetLastError ();
}

static void *
device_alloc (pp_context *context, size_t size, pp_error *error)
{
  void *memory = NULL;
  size_t free_size = 0, total = 0;
  const cudaError_t code = cudaMalloc (&memory, size);

  if (code == cudaSuccess)
    return memory;
  const char *why = reason (code);
  if (cudaMemGetInfo (&free_size, &total) != cudaSuccess)
    cudaGetLastError ();
  pp_fail (error, PP_NO_MEMORY,
      "cudaMalloc of %zu bytes on device %d (%s), %zu of %zu bytes free: %s",
      size, context->index, context->name, free_size, total, why);
  return NULL;
}

static void
device_free (pp_context *context, void *memory)
{
  (void) context;
  if (cudaFree (memory) != cudaSuccess)
    cudaGetLastError ();
}

static pp_status
prepare (pp_context *context, const pp_plan *plan, pp_error *error)
{
  cudaError_t code = pp_cuda_prepare (plan);

  if (code == cudaSuccess)
    code = pp_cuda_prepare_gather ();
  if (code == cudaSuccess && plan->median.size > 0)
    code = pp_cuda_prepare_median (plan);
  return check (context, code, "loading the kernels", error);
}

static pp_status
stream_create (pp_context *context, pp_stream **address, pp_error *error)
{
  pp_stream *stream = calloc (1, sizeof *stream);

  *address = NULL;
  if (stream == NULL)
    return pp_fail (
        error, PP_NO_MEMORY, "calloc of %zu bytes failed", sizeof *stream);
  stream->context = context;
  const cudaError_t code =
      cudaStreamCreateWithFlags (&stream->stream, cudaStreamNonBlocking);
  if (code != cudaSuccess) {
    free (stream);
    return fail (context, code, "cudaStreamCreateWithFlags", error);
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

/* With timing: the stages' times are always on. */
static pp_status
event_create (pp_context *context, pp_event **address, pp_error *error)
{
  pp_event *event = calloc (1, sizeof *event);

  *address = NULL;
  if (event == NULL)
    return pp_fail (
        error, PP_NO_MEMORY, "calloc of %zu bytes failed", sizeof *event);
  event->context = context;
  const cudaError_t code =
      cudaEventCreateWithFlags (&event->event, cudaEventDefault);
  if (code != cudaSuccess) {
    free (event);
    return fail (context, code, "cudaEventCreateWithFlags", error);
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
  return check (stream->context, cudaEventRecord (event->event, stream->stream),
      "cudaEventRecord", error);
}

static pp_status
stream_wait (pp_stream *stream, pp_event *event, pp_error *error)
{
  return check (stream->context,
      cudaStreamWaitEvent (stream->stream, event->event, 0),
      "cudaStreamWaitEvent", error);
}

static pp_status
stream_sync (pp_stream *stream, pp_error *error)
{
  return check (stream->context, cudaStreamSynchronize (stream->stream),
      "cudaStreamSynchronize", error);
}

static pp_status
event_query (pp_event *event, bool *passed, pp_error *error)
{
  const cudaError_t code = cudaEventQuery (event->event);

  *passed = code == cudaSuccess;
  if (code == cudaErrorNotReady) {
    cudaGetLastError (); /* it counts as an error there */
    return PP_OK;
  }
  return check (event->context, code, "cudaEventQuery", error);
}

static double
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (double) time.tv_sec * 1e6 + (double) time.tv_nsec / 1e3;
}

/* Neither of the runtime's own waits fits. cudaEventSynchronize spins: 64
 * elements, each with a thread that waits all the time, would take 64 cores.
 * Blocking events put an interrupt behind every stage of every frame and wake
 * up tens of microseconds late, as long as half a frame's way.
 *
 * So: polling, giving way to other threads in between, for about the time that
 * one frame takes on a device that does nothing else; that keeps its latency.
 * Not without pause: each query takes locks of the driver that whoever queues
 * the next frame needs too. Then sleeping for a part of the time waited so far:
 * who waits that long waits behind other frames, and a wait that is longer by an
 * eighth, after which a number of events have passed, costs no throughput. */
static pp_status
event_wait (pp_event *event, pp_error *error)
{
  const double start = now ();

  for (;;) {
    bool passed;
    const pp_status status = event_query (event, &passed, error);
    if (status != PP_OK || passed)
      return status;
    const double asked = now ();
    const double waited = asked - start;
    if (waited < POLL_TIME) {
      do
        sched_yield ();
      while (now () - asked < POLL_PAUSE);
      continue;
    }
    double sleep = waited / SLEEP_PART;
    if (sleep > LONGEST_SLEEP)
      sleep = LONGEST_SLEEP;
    const struct timespec time = { .tv_nsec = (long) (sleep * 1e3) };
    nanosleep (&time, NULL);
  }
}

static pp_status
event_elapsed (
    pp_event *from, pp_event *to, double *microseconds, pp_error *error)
{
  float milliseconds = 0;
  const cudaError_t code =
      cudaEventElapsedTime (&milliseconds, from->event, to->event);

  *microseconds = (double) milliseconds * 1e3;
  return check (from->context, code, "cudaEventElapsedTime", error);
}

/* The same bytes in fewer, longer rows: where rows follow each other without a
 * gap on both sides, a box is one row; where boxes are one row, they are the
 * rows of one box, which may in turn have no gaps. */
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
      context->index, context->name, reason (code));
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
gather (pp_stream *stream, const pp_gather *planes, pp_error *error)
{
  return check (stream->context, pp_cuda_gather (planes, stream->stream),
      "launching the kernel that gathers rows", error);
}

static pp_status
launch (pp_stream *stream, const pp_launch *job, pp_error *error)
{
  const pp_context *context = stream->context;
  pp_launch taps = *job;
  cudaError_t code = cudaSuccess;

  if (job->plan->median.size > 0) {
    code = pp_cuda_median (job, stream->stream);
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      taps.source.plane[p] = job->medians.plane[p];
      taps.source.stride[p] = job->medians.stride[p];
    }
  }
  if (code == cudaSuccess)
    code = pp_cuda_launch (&taps, context->multiprocessors, stream->stream);
  if (code == cudaSuccess)
    return PP_OK;
  return pp_fail (error, PP_DEVICE_FAILED,
      "launching the kernel for %d x %d outputs on device %d (%s): %s",
      job->plan->numbers.content_width, job->plan->numbers.content_height,
      context->index, context->name, reason (code));
}

const pp_backend pp_backend_cuda = {
  .id = PP_BACKEND_CUDA,
  .name = "cuda",
  .unified = false,
  .open = open_context,
  .close = close_context,
  .describe = describe,
  .enter = enter,
  .leave = leave,
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
  .gather = gather,
  .launch = launch,
  .record = record,
  .stream_wait = stream_wait,
  .stream_sync = stream_sync,
  .event_wait = event_wait,
  .event_query = event_query,
  .event_elapsed = event_elapsed,
};
