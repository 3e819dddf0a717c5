/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a backend is: one const struct of functions. engine.c drives it; see
 * there for the order of calls. Arguments are right: engine.c has checked them.
 *
 * Threads: one context may be used from several threads at once; one stream
 * only from one at a time. Every function but open runs between enter and
 * leave of its context on the calling thread, except where it says otherwise.
 * Errors: as in preproc.h; the text names the call that failed, the device and
 * the sizes.
 */
#ifndef PP_BACKEND_H
#define PP_BACKEND_H

#include "kernels/plan/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pp_context pp_context; /* a device, as this backend sees it */
typedef struct pp_stream pp_stream;   /* work in order */
typedef struct pp_event pp_event;     /* a place in a stream's work */

/* An asynchronous copy of depth boxes of rows: row (y, z) starts at
 * base + y * row_stride + z * box_stride on both sides. */
typedef struct pp_copy {
  const void *from;
  void *to;
  size_t from_row, to_row; /* row strides, bytes */
  size_t from_box, to_box; /* box strides, bytes: multiples of the row's */
  size_t width;            /* bytes a row */
  size_t rows, boxes;
  bool up; /* host to device, else device to host */
} pp_copy;

/* A copy of size bytes that lie side by side. */
static inline pp_copy
pp_copy_bytes (void *to, const void *from, size_t size, bool up)
{
  const pp_copy copy = { .from = from,
    .to = to,
    .from_row = size,
    .to_row = size,
    .from_box = size,
    .to_box = size,
    .width = size,
    .rows = 1,
    .boxes = 1,
    .up = up };

  return copy;
}

/* Rows of planes, read by the device straight from pinned memory: row i of to
 * is row rows[i] of from. */
typedef struct pp_gather_plane {
  const uint8_t *from;     /* at any address */
  uint8_t *to;             /* to and to_row: multiples of PP_GATHER_ALIGNMENT */
  size_t from_row, to_row; /* row strides, bytes */
  size_t width;            /* bytes a row; what follows them in to is lost */
  const int32_t *rows;     /* on the device */
  int32_t n_rows;
} pp_gather_plane;

#define PP_GATHER_ALIGNMENT 16

typedef struct pp_gather {
  int32_t n_planes;
  pp_gather_plane plane[PP_MAX_PLANES];
} pp_gather;

/* One launch: source and tensor are addresses on the device; tables too, in the
 * order of pp_plan's device_index and weight. On a unified backend they are
 * host addresses, and index is the plan's. */
typedef struct pp_launch {
  const pp_plan *plan; /* referenced until the stream has passed it */
  int32_t first, last; /* rows [first, last) of the content are made */
  pp_view source;
  void *tensor;
  const int32_t *index;
  const float *weight;
  /* Where the plan has a median and the device is not unified: room for it, in
   * planes and strides like those of source. */
  pp_planes medians;
} pp_launch;

typedef struct pp_backend {
  pp_backend_id id;
  const char *name;
  /* The device works on host memory: engine.c then makes no device buffers and
   * no copies, and launches on the host's addresses. */
  bool unified;

  /* index -1: the first device. */
  pp_status (*open) (int index, pp_context **context, pp_error *error);
  void (*close) (pp_context **context); /* outside enter and leave */
  /* One line for people. */
  void (*describe) (const pp_context *context, char *text, size_t size);

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
  pp_status (*event_create) (
      pp_context *context, pp_event **event, pp_error *error);
  void (*event_destroy) (pp_event **event);

  /* Queue on the stream and return. */
  pp_status (*copy) (pp_stream *stream, const pp_copy *copy, pp_error *error);
  pp_status (*gather) (
      pp_stream *stream, const pp_gather *gather, pp_error *error);
  pp_status (*launch) (
      pp_stream *stream, const pp_launch *launch, pp_error *error);
  pp_status (*record) (pp_stream *stream, pp_event *event, pp_error *error);
  /* Later work of the stream waits until the event, recorded before, passed. */
  pp_status (*stream_wait) (
      pp_stream *stream, pp_event *event, pp_error *error);

  /* Wait for all work of the stream, or for an event that has been recorded. */
  pp_status (*stream_sync) (pp_stream *stream, pp_error *error);
  /* alone: nothing else is under way, so the wait is all that a frame's latency
   * is made of; else being late by some microseconds costs nothing. */
  pp_status (*event_wait) (pp_event *event, bool alone, pp_error *error);
  /* Whether a recorded event has passed. */
  pp_status (*event_query) (pp_event *event, bool *passed, pp_error *error);
  /* Microseconds between two events that passed; negative if to was first. */
  pp_status (*event_elapsed) (
      pp_event *from, pp_event *to, double *microseconds, pp_error *error);
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
