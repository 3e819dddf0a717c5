/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A fuzzer's bytes, taken one value after the other. Behind the end there are
 * zeros, so that every input is whole.
 */
#ifndef INPUT_H
#define INPUT_H

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((int) (sizeof (array) / sizeof *(array)))

/* What must hold of any input; the fuzzer keeps the one of which it does not. */
#define MUST(condition, ...)                                                   \
  do {                                                                         \
    if (!(condition)) {                                                        \
      printf ("%s:%d: %s: ", __FILE__, __LINE__, #condition);                  \
      printf (__VA_ARGS__);                                                    \
      printf ("\n");                                                           \
      fflush (stdout);                                                         \
      abort ();                                                                \
    }                                                                          \
  } while (0)

/* What libFuzzer calls, and replay.c. */
int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const uint8_t *data, size_t size);

typedef struct input {
  const uint8_t *data;
  size_t size; /* of what is left */
} input;

static inline void
take_bytes (input *in, void *to, size_t size)
{
  const size_t taken = size < in->size ? size : in->size;

  memset (to, 0, size);
  if (taken > 0)
    memcpy (to, in->data, taken);
  in->data += taken;
  in->size -= taken;
}

static inline unsigned
take_byte (input *in)
{
  uint8_t value;

  take_bytes (in, &value, sizeof value);
  return value;
}

static inline bool
take_bool (input *in)
{
  return take_byte (in) & 1;
}

/* 0 to n - 1. */
static inline int
take_index (input *in, int n)
{
  return (int) take_byte (in) % n;
}

static inline uint32_t
take_word (input *in)
{
  uint32_t value;

  take_bytes (in, &value, sizeof value);
  return value;
}

/* Small in most cases, else one at a limit, else any. */
static inline int
take_int (input *in)
{
  static const int limits[] = { 0, -1, 1, 255, 256, 32767, 32768, 32769, 65535,
    131072, 131073, 1 << 30, INT_MAX, INT_MIN };
  const int first = (int) take_byte (in);

  if (first < 224)
    return first;
  if (first - 224 < LENGTH (limits))
    return limits[first - 224];
  return (int) take_word (in);
}

/* A value at a limit or a usual one, else any bits. */
static inline double
take_real (input *in)
{
  static const double values[] = { 0, 1, 1. / 255, 0.5, 2, 114, 255, 0.299,
    0.114, -0., -1, 1e-6, 1e-30, 1e30, DBL_MIN, DBL_MAX, -DBL_MAX, FLT_MAX,
    0x1p-1074, INFINITY, -INFINITY, NAN };
  const int first = (int) take_byte (in);
  double value;

  if (first < LENGTH (values))
    return values[first];
  if (first < 128)
    return first / 64.;
  take_bytes (in, &value, sizeof value);
  return value;
}

/* In most cases low to high, which are less than 224 apart; else any. */
static inline int
take_mostly (input *in, int low, int high)
{
  const int value = take_int (in);

  return value >= 0 && value < 224 ? low + value % (high - low + 1) : value;
}

#endif
