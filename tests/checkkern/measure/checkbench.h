/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --bench: how long the kernels take, once they are right.
 */
#ifndef CHECKBENCH_H
#define CHECKBENCH_H

#include "kernels/preproc.h"

/* Prints a table. device: NULL if there is none. Returns how many jobs were
 * wrong, which are not timed. */
int check_bench (pp_device *device);

#endif
