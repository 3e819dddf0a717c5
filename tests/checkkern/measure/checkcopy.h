/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long a device takes for copies of its own memory, which is the most that
 * any kernel could do. No backend has such copies, so the runtime is asked.
 */
#ifndef CHECKCOPY_H
#define CHECKCOPY_H

#include <stddef.h>

/* Microseconds of one of n_copies copies of size bytes, back to back, between
 * n_turns pairs of blocks, at most 8, in turns; the best of rounds, before which
 * one warms up. On the thread's current device; exits where a call fails. */
double check_time_device_copy (
    size_t size, int n_turns, int n_copies, int rounds);

#endif
