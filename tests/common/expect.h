/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Counting expectations, for tests that need no framework: a failure prints its
 * place and values, and the test goes on. One file a program includes this.
 */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

static unsigned expect_passed, expect_failed;

/* From any thread. */
#define EXPECT_COUNT(counter)                                                  \
  __atomic_fetch_add (&(counter), 1, __ATOMIC_RELAXED)

/* The text, a printf format and its values, says what was found instead. */
#define EXPECT(condition, ...)                                                 \
  do {                                                                         \
    if (condition) {                                                           \
      EXPECT_COUNT (expect_passed);                                            \
    } else {                                                                   \
      EXPECT_COUNT (expect_failed);                                            \
      printf ("%s:%d: %s: ", __FILE__, __LINE__, #condition);                  \
      printf (__VA_ARGS__);                                                    \
      printf ("\n");                                                           \
    }                                                                          \
  } while (0)

/* The larger of two differences. NaN is the largest; fmax would leave it out. */
static inline double
worse_of (double a, double b)
{
  return a >= b || a != a ? a : b;
}

/* Prints the count; main's exit status. */
static int
expect_end (void)
{
  printf ("%u passed, %u failed\n", expect_passed, expect_failed);
  return expect_failed > 0 || expect_passed == 0;
}

#endif
