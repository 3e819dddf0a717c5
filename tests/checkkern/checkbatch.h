/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Batches: tensors of several pictures that lie in slices of one block. Frames
 * of other formats and sizes, several pictures of each in one job, with plans of
 * their own, and slices that nobody fills.
 */
#ifndef CHECKBATCH_H
#define CHECKBATCH_H

#include <stdio.h>

#include "kernels/preproc.h"

/* What is spoilt behind the back of a batch, which must then not pass. */
typedef enum check_batch_spoilt {
  CHECK_BATCH_NOTHING,
  CHECK_BATCH_SLICE,    /* a byte of a slice that a picture fills */
  CHECK_BATCH_UNFILLED, /* a byte of one that none fills, or of the guards */
  CHECK_BATCH_SOURCE,   /* a byte of a frame */
  CHECK_BATCH_N_SPOILS
} check_batch_spoilt;

/* Makes batch number of seed on the device and compares it with what the
 * reference makes of each picture; whether every byte is as it must be. Says on
 * report, if it is not NULL, what is not. */
bool check_batch (uint64_t seed, int number, pp_device *device,
    check_batch_spoilt spoilt, FILE *report);

#endif
