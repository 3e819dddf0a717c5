/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A device that is none, for what only devices with memory of their own need:
 * uploads, tables, downloads, staging. Streams are threads, "device" memory is
 * host memory that copies alone may cross into; kernels are the CPU's. Any address
 * is the handle of a context. Every call is checked: the context that it needs is
 * current, and memory on the device is of the stream's context.
 *
 * It can be held, so that a test decides what has happened when, any call can be
 * made to fail, and it counts what there is. This state is the process' and
 * belongs to one test at a time; fake_reset between them.
 */
#ifndef BACKEND_FAKE_H
#define BACKEND_FAKE_H

#include "kernels/engine/backend.h"

extern const pp_backend fake_backend;

/* The calls that can fail. */
typedef enum fake_call {
  FAKE_OPEN,
  FAKE_ENTER,
  FAKE_HOST_ALLOC,
  FAKE_DEVICE_ALLOC,
  FAKE_PREPARE,
  FAKE_STREAM_CREATE,
  FAKE_EVENT_CREATE,
  FAKE_COPY,
  FAKE_TRANSFER,
  FAKE_GATHER,
  FAKE_LAUNCH,
  FAKE_LAUNCH_PICTURES,
  FAKE_PAD,
  FAKE_RECORD,
  FAKE_STREAM_WAIT,
  FAKE_STREAM_SYNC,
  FAKE_EVENT_WAIT,
  FAKE_EVENT_QUERY,
  FAKE_EVENT_ELAPSED,
  /* Of the C library, by any backend, in programs that link fakelibc.c. */
  FAKE_THREAD,  /* pthread_create */
  FAKE_MALLOC,  /* malloc, calloc, realloc */
  FAKE_ALIGNED, /* aligned_alloc, posix_memalign */
  /* Of the fake driver, by GStreamer's CUDA library. */
  FAKE_DRIVER_SYNC, /* cuStreamSynchronize */
  FAKE_CALLS
} fake_call;

/* Nothing held, nothing fails, calls counted from 0. */
void fake_reset (void);
/* Whether streams wait before the next thing they do. */
void fake_hold (bool hold);
/* The next n calls of a kind stand still, until the next fake_stall of it. */
void fake_stall (fake_call call, int n);
/* Only pretends to copy and to compute, one thing of a kind at a time, each for
 * so many microseconds: as a device does that is busy. 0: does the work again. */
void fake_pretend (unsigned up, unsigned kernel, unsigned down);
/* The nth call from now, 1 is the next, fails; and all after it if sticky. 0:
 * none fails. */
void fake_fail (fake_call call, int nth, bool sticky);
/* Whether calls of this thread are the test's own: not counted, and none fails. */
void fake_exempt (bool exempt);
/* How often it was called since fake_reset. */
int fake_count (fake_call call);
/* Counts the call; an error that names it if it is to fail, else PP_OK. */
pp_status fake_enter_call (fake_call call, pp_error *error);
/* What an error text must have to tell it. */
const char *fake_call_name (fake_call call);
/* What it returns then. */
pp_status fake_call_status (fake_call call);

/* How many contexts, blocks, streams, events and enters without their leave
 * there are, and which, in words. Not reset. */
int fake_live (char *text, size_t size);

#endif
