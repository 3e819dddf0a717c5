/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --self-test: what checkkern must not let pass.
 */
#ifndef CHECKSELF_H
#define CHECKSELF_H

#include <stdint.h>

/* Breaks kernels, on the host and on a device that is none, and spoils what a
 * job of that device leaves. Prints a line for each, and how many there are.
 * Returns how many were not caught. */
int check_self (uint64_t seed);

#endif
