/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Streams and events on the host: a stream is a worker thread with a queue of
 * operations, an event a condition. The CPU backend's; the tests' device builds
 * on them, too. Functions may be called by any thread.
 */
#ifndef PP_HOST_STREAM_H
#define PP_HOST_STREAM_H

#include "kernels/engine/backend.h"

/* Largest data of an operation, bytes. */
#define PP_MAX_HOST_DATA 384

/* What a worker does with its copy of the data, which is aligned for any type.
 * PP_OK, or the failure of this operation. */
typedef pp_status (*pp_host_function) (
    pp_stream *stream, const void *data, pp_error *error);

/* before: called by the worker before each operation; may be NULL. */
pp_status pp_host_stream_create (
    pp_stream **stream, void (*before) (void), pp_error *error);
/* Lets the worker finish what is queued. */
void pp_host_stream_destroy (pp_stream **stream);
/* Copies size bytes of data. Waits while 1024 operations are queued. */
void pp_host_stream_push (pp_stream *stream, pp_host_function function,
    const void *data, size_t size);
/* As pp_host_stream_push of a pointer, but never waits: false where the queue is
 * full. Its failure is no event's: function has to tell who asked for it. */
bool pp_host_stream_ask (
    pp_stream *stream, pp_host_function function, void *pointer);
/* Waits for what was queued before the call. */
void pp_host_stream_sync (pp_stream *stream);
/* Memory that the stream's worker keeps from one operation to the next, of at
 * least size bytes, aligned to 256; NULL with PP_NO_MEMORY. By an operation. */
void *pp_host_stream_scratch (pp_stream *stream, size_t size, pp_error *error);

/* As in backend.h. An event that is recorded behind an operation that failed,
 * with no other function but record and wait between, has that failure. */
pp_status pp_host_event_create (pp_event **event, pp_error *error);
void pp_host_event_destroy (pp_event **event);
void pp_host_stream_record (pp_stream *stream, pp_event *event);
void pp_host_stream_wait (pp_stream *stream, pp_event *event);
pp_status pp_host_event_wait (pp_event *event, pp_error *error);
bool pp_host_event_query (pp_event *event);
double pp_host_event_elapsed (const pp_event *from, const pp_event *to);

#endif
