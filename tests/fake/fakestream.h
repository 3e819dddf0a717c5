/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The fake backend's streams and events: as the CPU backend's, a thread with a
 * queue of operations and a condition, but they copy, and launch with the tables
 * that were uploaded. Nothing here fails on purpose.
 */
#ifndef FAKESTREAM_H
#define FAKESTREAM_H

#include "kernels/engine/backend.h"

/* Called by streams before each operation; from backend_fake.c. */
void fake_wait_while_held (void);
/* What a device has one of. */
enum fake_unit {
  FAKE_UP,
  FAKE_KERNEL,
  FAKE_DOWN,
  FAKE_UNITS
};
/* Whether work is only pretended, and takes its time then; from backend_fake.c.
 */
bool fake_pretends (enum fake_unit unit);

pp_status fake_stream_create (pp_stream **stream, pp_error *error);
void fake_stream_destroy (pp_stream **stream);
pp_status fake_event_create (pp_event **event, pp_error *error);
void fake_event_destroy (pp_event **event);

void fake_stream_copy (pp_stream *stream, const pp_copy *copy);
void fake_stream_gather (pp_stream *stream, const pp_gather *gather);
void fake_stream_launch (pp_stream *stream, const pp_launch *launch);
void fake_stream_record (pp_stream *stream, pp_event *event);
void fake_stream_wait (pp_stream *stream, pp_event *event);
void fake_stream_sync (pp_stream *stream);

void fake_event_wait (pp_event *event);
bool fake_event_query (pp_event *event);
/* Microseconds. */
double fake_event_elapsed (const pp_event *from, const pp_event *to);

#endif
