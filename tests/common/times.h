/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reading a clock, and sorting what was measured.
 */
#ifndef TESTS_TIMES_H
#define TESTS_TIMES_H

#include <time.h>

/* What the clock shows, microseconds. */
static inline double
clock_time (clockid_t clock)
{
  struct timespec now;

  clock_gettime (clock, &now);
  return (double) now.tv_sec * 1e6 + (double) now.tv_nsec * 1e-3;
}

/* Of the clock that only goes forward. */
static inline double
monotonic_time (void)
{
  return clock_time (CLOCK_MONOTONIC);
}

/* For qsort: doubles, ascending. */
static inline int
compare_times (const void *a, const void *b)
{
  const double x = *(const double *) a, y = *(const double *) b;

  return (x > y) - (x < y);
}

#endif
