/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a backend is: one const struct of functions that the engine calls. Their
 * arguments are right: the engine has checked them.
 *
 * Threads: a context may be used by several threads at once. Work is queued on a
 * stream by one thread at a time; stream_sync may come beside that from another.
 * Every function runs between enter and leave, or attach and detach, of its
 * context on the calling thread, except where it says otherwise.
 * Errors: as in preproc.h; the text names the call that failed, the device and
 * the sizes.
 */
#ifndef PP_BACKEND_H
#define PP_BACKEND_H

#include "kernels/plan/operations.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pp_context pp_context; /* a device, as this backend sees it */
typedef struct pp_stream pp_stream;   /* work in order */
typedef struct pp_event pp_event;     /* a place in a stream's work */

/* The other streams of a device, which a stream that is a worker thread may
 * share its work with; none where the device is not unified. */
typedef struct pp_team {
  int n;
  pp_stream *stream[PP_MAX_STREAMS];
} pp_team;

typedef struct pp_backend {
  pp_backend_id id;
  const char *name;
  /* The device works on host memory: there are no device buffers and no copies,
   * and launches get the host's addresses. device_alloc, device_free, copy,
   * transfer, gather, pad and event_handle may be NULL then; no other function
   * may. */
  bool unified;

  /* index -1: the first device, or that of handle. handle: the CUcontext to work
   * in; NULL: the device's own, which is kept for as long as this one is open.
   * Outside of enter and leave. */
  pp_status (*open) (
      int index, void *handle, pp_context **context, pp_error *error);
  void (*close) (pp_context **context); /* outside enter and leave */
  /* One line for people. */
  void (*describe) (const pp_context *context, char *text, size_t size);
  /* The device's number, and the CUcontext that this works in, or NULL. */
  void (*identify) (const pp_context *context, int *index, void **handle);

  /* Make the context current on this thread; put back what was. Nest. Where the
   * process is ending, enter fails, and the end waits for those inside. */
  pp_status (*enter) (pp_context *context, pp_error *error);
  void (*leave) (pp_context *context);
  /* The same for the life of a thread that only waits for events and streams and
   * asks for times: each of these calls is on its own for the process' end. */
  pp_status (*attach) (pp_context *context, pp_error *error);
  void (*detach) (pp_context *context);

  void *(*host_alloc) (pp_context *context, size_t size, pp_error *error);
  void (*host_free) (pp_context *context, void *memory);
  void *(*device_alloc) (pp_context *context, size_t size, pp_error *error);
  void (*device_free) (pp_context *context, void *memory);
  /* Loads what a launch of plan will run. */
  pp_status (*prepare) (
      pp_context *context, const pp_plan *plan, pp_error *error);

  pp_status (*stream_create) (
      pp_context *context, pp_stream **stream, pp_error *error);
  void (*stream_destroy) (pp_stream **stream);
  /* timed: event_elapsed will be asked about it. */
  pp_status (*event_create) (
      pp_context *context, bool timed, pp_event **event, pp_error *error);
  void (*event_destroy) (pp_event **event);

  /* Queue on the stream and return. */
  pp_status (*copy) (pp_stream *stream, const pp_copy *copy, pp_error *error);
  /* As copy, but it has ended on return, and the host's memory need not be
   * pinned. */
  pp_status (*transfer) (
      pp_stream *stream, const pp_copy *copy, pp_error *error);
  pp_status (*gather) (
      pp_stream *stream, const pp_gather *gather, pp_error *error);
  pp_status (*launch) (
      pp_stream *stream, const pp_launch *launch, pp_error *error);
  /* Several pictures, all rows of their content; padding: and what is around
   * it. launches is read before it returns; the plans are referenced until the
   * stream has passed. */
  pp_status (*launch_pictures) (pp_stream *stream, const pp_team *team,
      const pp_launch *launches, int n, bool padding, pp_error *error);
  /* Writes the tensors' padding; content: and padding in place of the content. Of
   * launches only plan and tensor are read, as above; the tensors have one size,
   * type and layout. */
  pp_status (*pad) (pp_stream *stream, const pp_launch *launches, int n,
      bool content, pp_error *error);
  pp_status (*record) (pp_stream *stream, pp_event *event, pp_error *error);
  /* Later work of the stream waits until the event, recorded before, passed. */
  pp_status (*stream_wait) (
      pp_stream *stream, pp_event *event, pp_error *error);

  /* Wait for all work that was queued on the stream before the call, or for an
   * event that has been recorded. */
  pp_status (*stream_sync) (pp_stream *stream, pp_error *error);
  /* alone: nothing else is under way, so the wait is all that a frame's latency
   * is made of; else being late by some microseconds costs nothing. */
  pp_status (*event_wait) (pp_event *event, bool alone, pp_error *error);
  /* Whether a recorded event has passed. */
  pp_status (*event_query) (pp_event *event, bool *passed, pp_error *error);
  /* Microseconds between two events that passed; negative if to was first. */
  pp_status (*event_elapsed) (
      pp_event *from, pp_event *to, double *microseconds, pp_error *error);
  /* The CUevent. Any thread, outside of enter and leave, too. */
  void *(*event_handle) (pp_event *event);
} pp_backend;

/* The stub of a backend that is not built opens nothing and says why. */
extern const pp_backend pp_backend_cuda;
extern const pp_backend pp_backend_cpu;

/* Fills *error, if it is not NULL, and returns status. */
#ifdef __GNUC__
__attribute__ ((format (printf, 3, 4)))
#endif
pp_status
pp_fail (pp_error *error, pp_status status, const char *format, ...);
/* PP_NO_MEMORY, with what was asked of a call and what the machine has left. */
pp_status pp_fail_memory (pp_error *error, const char *call, size_t size);
/* What programs could still get, and where this one has a limit, that: as text,
 * for an error. Both are 0 where they are not known. */
typedef struct {
  char text[96];
} pp_memory_left;
pp_memory_left pp_describe_memory_left (void);

#ifdef __cplusplus
}
#endif

#endif
