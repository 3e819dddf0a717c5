/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long a device takes for the kernels of a job alone, and for the copies
 * that they are compared with.
 */
#ifndef CHECKTIME_H
#define CHECKTIME_H

#include "kernels/engine/backend.h"
#include "tests/checkkern/checkrun.h"

/* Microseconds. */
typedef struct check_times {
  double kernel;   /* of a frame, launches back to back */
  double upload;   /* of the whole frame */
  double download; /* of the whole tensor */
  double copy;     /* on the device, that moves as many bytes as the kernel */
} check_times;

/* runs: n_runs frames of one plan, which take turns; their planes are the
 * device's pinned memory. moved: bytes that the kernel reads and writes. Exits
 * where a call fails. */
check_times check_time_kernel (
    const check_run *runs, int n_runs, double moved, pp_device *device);

/* Exits with the error's text unless the status is PP_OK. */
void check_must (pp_status status, const pp_error *error);
/* Device memory, given back by backend->device_free; exits where there is none. */
void *check_allocate (
    const pp_backend *backend, pp_context *context, size_t size);

#endif
