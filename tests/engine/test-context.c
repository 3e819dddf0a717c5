/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The application's CUDA stays as it was: whatever the engine is asked for, the
 * calling thread has the same context, device and last error as before, be it a
 * context of its own, the device's primary one, or none; so has another thread.
 * The engine works in a context that it is given, whose streams may wait for its
 * events.
 * In a fork's child, which has no CUDA, the error says so.
 * Exits with 77 where no device opens.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/engine/engine.h"

#include "engineframe.h"

#define SKIP 77

/* The driver's functions, as the runtime finds them. */
static CUresult (CUDAAPI *get_current) (CUcontext *context);
static CUresult (CUDAAPI *create) (
    CUcontext *context, unsigned flags, CUdevice device);
static CUresult (CUDAAPI *destroy) (CUcontext context);

/* version: of the function's signature, as in cudaTypedefs.h. */
static void *
driver_function (const char *symbol, unsigned version)
{
  enum cudaDriverEntryPointQueryResult found;
  void *function = NULL;

#if CUDART_VERSION >= 12050
  cudaGetDriverEntryPointByVersion (
      symbol, &function, version, cudaEnableDefault, &found);
#else
  /* That of the toolkit, which need not be the one asked for. */
  if (version == 4000)
    cudaGetDriverEntryPoint (symbol, &function, cudaEnableDefault, &found);
#endif
  return function;
}

static void
load_driver (void)
{
  get_current = driver_function ("cuCtxGetCurrent", 4000);
  create = driver_function ("cuCtxCreate", 3020);
  destroy = driver_function ("cuCtxDestroy", 4000);
}

/* What the calling thread has. */
struct current {
  CUcontext context;
  int device;
};

static struct current
current (void)
{
  struct current now = { NULL, -1 };

  EXPECT (get_current (&now.context) == CUDA_SUCCESS, "no context's answer");
  EXPECT (cudaGetDevice (&now.device) == cudaSuccess, "no device's answer");
  return now;
}

static void
expect_untouched (struct current before, const char *whose, const char *after)
{
  const cudaError_t last = cudaPeekAtLastError ();
  const struct current now = current ();

  EXPECT (now.context == before.context, "%s: %p after %s, not %p", whose,
      (void *) now.context, after, (void *) before.context);
  EXPECT (now.device == before.device, "%s: device %d after %s, not %d", whose,
      now.device, after, before.device);
  EXPECT (last == cudaSuccess, "%s: %s after %s", whose,
      cudaGetErrorString (last), after);
}

/* Everything that an application's thread may call. */
static void
run_engine (const char *whose)
{
  const struct current before = current ();
  const pp_spec spec = letterbox_spec (32, 32);
  pp_error error = { 0 };
  struct frame frame;

  EXPECT (
      pp_device_open (PP_BACKEND_CUDA, 99, NULL, &error) == NULL, "device 99");
  expect_untouched (before, whose, "a device that does not open");
  pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &error);
  EXPECT (device != NULL, "%s: %s", whose, error.text);
  if (device == NULL)
    return;
  expect_untouched (before, whose, "opening");
  for (unsigned pinned = 0; pinned < 4; pinned++) {
    frame_init (&frame, pp_device_arena (device), &spec, nv12_format (100, 60),
        3, pinned);
    expect_untouched (before, whose, "allocating");
    pp_device_reserve (device, frame.plan, NULL);
    expect_untouched (before, whose, "reserving");
    frame_submit (&frame, device, pinned);
    expect_untouched (before, whose, "submitting");
    pp_job_query (frame.job);
    frame_check (&frame, whose);
    expect_untouched (before, whose, "waiting");
    frame_clear (&frame);
  }
  pp_device_close (&device);
  expect_untouched (before, whose, "closing");
}

static void
count_done (void *user)
{
  ++*(int *) user;
}

/* Reads the tensor as soon as its event has passed, on a stream of the thread's
 * own. */
static void
read_behind_event (struct frame *frame, const char *whose)
{
  cudaEvent_t event = pp_job_event (frame->job);
  cudaStream_t stream = NULL;

  if (event == NULL) /* the job was faster */
    pp_job_wait (frame->job, NULL);
  memset (frame->tensor, 0x11, frame->tensor_size);
  EXPECT (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking) ==
              cudaSuccess &&
          (event == NULL ||
              cudaStreamWaitEvent (stream, event, 0) == cudaSuccess) &&
          cudaMemcpyAsync (frame->tensor, frame->device_tensor,
              frame->tensor_size, cudaMemcpyDeviceToHost,
              stream) == cudaSuccess &&
          cudaStreamSynchronize (stream) == cudaSuccess,
      "%s: %s", whose, cudaGetErrorString (cudaGetLastError ()));
  EXPECT (memcmp (frame->tensor, frame->expected, frame->tensor_size) == 0,
      "%s: the tensor is not complete behind its event", whose);
  cudaStreamDestroy (stream);
}

static void
run_places (pp_device *device, const char *whose)
{
  const struct current before = current ();
  pp_spec spec = letterbox_spec (320, 320);

  for (unsigned place = 0; place < 8; place++) {
    struct frame frame;

    spec.denoise = place < 4 ? PP_DENOISE_NONE : PP_DENOISE_MEDIAN;
    frame_init (&frame, pp_device_arena (device), &spec, nv12_format (641, 360),
        3, place);
    frame_place (&frame, pp_device_memory (device), place % 4, place);
    expect_untouched (before, whose, "uploading");
    frame_submit (&frame, device, place);
    if (frame.device_tensor != NULL)
      read_behind_event (&frame, whose);
    expect_untouched (before, whose, "asking for an event");
    frame_check (&frame, whose);
    expect_untouched (before, whose, "downloading");
    frame_clear (&frame);
    expect_untouched (before, whose, "freeing");
  }
}

/* The engine in the thread's own context, from which pinned memory is
 * independent. Destroys it. */
static void
run_in_own (CUcontext own)
{
  int done = 0;
  const pp_device_options options = { .streams = 2,
    .context = own,
    .context_done = count_done,
    .context_user = &done };
  pp_error error = { 0 };

  EXPECT (pp_device_open (PP_BACKEND_CUDA, 99, &options, &error) == NULL &&
          error.status == PP_BAD_ARGUMENT && done == 1,
      "device 99 in device 0's context: %s, done %d", error.text, done);
  pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, &options, &error);
  pp_device *primary = pp_device_open (PP_BACKEND_CUDA, 0, NULL, &error);
  EXPECT (device != NULL && primary != NULL, "%s", error.text);
  if (device == NULL || primary == NULL)
    return;
  EXPECT (pp_device_context (device) == own &&
          pp_device_context (primary) != own &&
          device->shared != primary->shared,
      "the engine is in another context");
  run_places (device, "its own");
  run_places (primary, "its own, beside the primary");

  pp_arena *arena = pp_arena_ref (pp_device_arena (device));
  uint8_t *pinned = pp_arena_alloc (arena, 100, NULL);
  pp_device_close (&device);
  EXPECT (done == 2, "done with %d times", done);
  destroy (own);
  memset (pinned, 1, 100);
  pp_arena_free (arena, pinned, 100);
  pp_arena_unref (&arena);
  const cudaError_t last = cudaPeekAtLastError ();
  EXPECT (last == cudaSuccess, "pinned memory behind its device's context: %s",
      cudaGetErrorString (last));
  pp_device_close (&primary);
}

/* With no context, with one of the thread's own, and with the primary one of the
 * last device, which is another than the engine's where there are several. A
 * thread begins without. */
static void *
run_thread (void *unused)
{
  CUcontext own = NULL;
  int devices = 0;

  (void) unused;
  EXPECT (current ().context == NULL, "a context is left");
  run_engine ("none");
  if (create != NULL && destroy != NULL) {
    EXPECT (create (&own, 0, 0) == CUDA_SUCCESS, "no context");
    run_engine ("its own");
    run_in_own (own);
  }
  EXPECT (cudaGetDeviceCount (&devices) == cudaSuccess &&
          cudaSetDevice (devices - 1) == cudaSuccess &&
          cudaFree (NULL) == cudaSuccess,
      "no primary context");
  run_engine ("the primary");
  pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, NULL);
  EXPECT (device != NULL, "no device");
  if (device != NULL && devices == 1) /* its memory, on this thread's streams */
    run_places (device, "the primary");
  pp_device_close (&device);
  return NULL;
}

/* The caller keeps what it has, meanwhile. */
static void
run_other_thread (void)
{
  const struct current before = current ();
  pthread_t thread;

  EXPECT (pthread_create (&thread, NULL, run_thread, NULL) == 0, "no thread");
  pthread_join (thread, NULL);
  expect_untouched (before, "the first thread's", "another thread's work");
}

/* The driver would say that there is no device. */
static void
expect_fork_named (void)
{
  const pid_t process = fork ();
  int status = -1;

  if (process == 0) {
    pp_error error = { 0 };
    pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &error);

    _exit (device == NULL && strstr (error.text, "does not survive a fork")
            ? 0
            : 1);
  }
  EXPECT (waitpid (process, &status, 0) == process && status == 0,
      "the child ended as %d", status);
}

int
main (void)
{
  pp_error error = { 0 };
  pp_device *device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &error);

  if (device == NULL) {
    printf ("SKIP: %s\n", error.text);
    return SKIP;
  }
  pp_device_close (&device);
  load_driver ();
  run_other_thread ();
  run_thread (NULL);
  run_other_thread ();
  expect_fork_named ();
  return expect_end ();
}
