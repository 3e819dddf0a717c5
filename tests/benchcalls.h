/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA calls of one frame, as the engine makes them: remembered while it
 * queues a frame, and made again without it.
 */
#ifndef BENCH_CALLS_H
#define BENCH_CALLS_H

#include <glib.h>

#include "kernels/backend.h"

typedef struct BenchCalls BenchCalls;

/* backend, which also remembers between start and stop what it is asked to
 * queue. There is one in a process. */
const pp_backend *bench_calls_backend (const pp_backend *backend);

/* Between these, the frame is queued by the calling thread: pinned, and with
 * nothing of other frames under way. */
void bench_calls_start (void);
BenchCalls *bench_calls_stop (void);
void bench_calls_free (BenchCalls *calls);

/* Makes them again and waits for what they queue, while the engine's device is
 * open and at rest. Returns the CPU time of the calls on the calling thread,
 * microseconds: entering the context, what queues copies, launches and event
 * records, and leaving it; not the wait. */
gdouble bench_calls_repeat (const BenchCalls *calls);

#endif
