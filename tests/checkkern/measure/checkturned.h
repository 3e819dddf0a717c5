/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --bench-turned: how long the CPU takes for turned pictures, beside
 * upright ones.
 */
#ifndef CHECKTURNED_H
#define CHECKTURNED_H

/* Prints a table. Returns how many jobs were wrong, which are not timed. */
int check_bench_turned (void);

#endif
