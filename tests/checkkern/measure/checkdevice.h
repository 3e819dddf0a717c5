/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --bench-device: how long the kernels take where frames and tensors
 * stay on the device, once they are right.
 */
#ifndef CHECKDEVICE_H
#define CHECKDEVICE_H

#include "kernels/preproc.h"

/* Prints a table. Returns how many jobs were wrong, which are not timed. */
int check_bench_device (pp_device *device);

#endif
