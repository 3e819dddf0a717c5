/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How long a device takes to read a frame's bytes and to write a tensor's
 * without computing anything: what a kernel that resamples is compared with.
 */
#ifndef CHECKPLAIN_H
#define CHECKPLAIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CHECK_PLAIN_PLANES 2
/* Pictures of a launch, at most. */
#define CHECK_PLAIN_BATCH 16

/* The bytes of a picture, in device memory. Addresses, row_bytes, step and
 * written are multiples of 16. */
typedef struct check_plain {
  const uint8_t *plane[CHECK_PLAIN_PLANES];
  int64_t step[CHECK_PLAIN_PLANES];      /* bytes from a row to the next */
  int32_t row_bytes[CHECK_PLAIN_PLANES]; /* read of each row */
  int32_t rows[CHECK_PLAIN_PLANES];      /* 0: there is no such plane */
  uint8_t *tensor;
  int32_t written; /* bytes */
} check_plain;

/* Microseconds a picture. The n pictures, which have one shape, take turns in
 * launches of batch, which divides n; these take turns on n_streams streams, 1
 * or 2; the best of rounds, before which one warms up. On the thread's current
 * device; exits where a call fails. */
double check_time_plain (const check_plain *pictures, int n, int batch,
    int n_streams, int launches, int rounds);

#ifdef __cplusplus
}
#endif

#endif
