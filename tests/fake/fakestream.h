/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the fake device's streams do, which are the CPU backend's worker threads:
 * they copy, and launch with the tables that were uploaded. Nothing here fails on
 * purpose.
 */
#ifndef FAKESTREAM_H
#define FAKESTREAM_H

#include "kernels/cpu/host_stream.h"

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

void fake_stream_copy (pp_stream *stream, const pp_copy *copy);
void fake_stream_gather (pp_stream *stream, const pp_gather *gather);
void fake_stream_pad (pp_stream *stream, const pp_launch *launch, bool content);
void fake_stream_launch (pp_stream *stream, const pp_launch *launch);

#endif
