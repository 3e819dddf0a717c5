/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One case of checkkern run through the reference and through what is under
 * test, and what comes out compared bit by bit.
 */
#ifndef CHECKRUN_H
#define CHECKRUN_H

#include "broken.h"
#include "checkcases.h"

/* A case with its frame and what the reference makes of it. */
typedef struct check_run {
  const check_case *check;
  check_random random;
  pp_plan *plan;
  pp_arena *arena; /* planes and tensors come from here; NULL: from malloc */
  pp_view view;    /* of the whole frame */
  /* Plane p lies between two guards in block[p]; pristine[p] is its copy. */
  uint8_t *block[PP_MAX_PLANES], *pristine[PP_MAX_PLANES];
  size_t block_size[PP_MAX_PLANES];
  uint8_t *reference; /* the tensor of pp_apply_c */
  size_t size;        /* bytes of the tensor */
  FILE *report;       /* mismatches go here; NULL: nowhere */
} check_run;

/* False when there is no plan for the case or the reference itself is wrong;
 * says why on report. Cleared by check_run_clear in either case. */
bool check_run_init (check_run *run, const check_case *check,
    check_random random, pp_arena *arena, FILE *report);
void check_run_clear (check_run *run);

/* Whether every byte is as it must be: the tensor equal to the reference's, its
 * guards and the source untouched. */
bool check_cpu (check_run *run);
bool check_broken (check_run *run, broken_fault fault);
/* Needs the device's arena. */
bool check_device (check_run *run, pp_device *device);

/* check_device, with one byte changed behind the back of one of its jobs: that
 * must not pass. */
#define CHECK_DEVICE_JOBS 8

typedef enum check_spoilt {
  CHECK_SPOIL_NOTHING,
  CHECK_SPOIL_TENSOR,
  CHECK_SPOIL_BEFORE, /* the last byte of the guard before the tensor */
  CHECK_SPOIL_BEHIND, /* the first byte of the guard behind it */
  CHECK_SPOIL_SOURCE,
  CHECK_N_SPOILS
} check_spoilt;

typedef struct check_spoil {
  check_spoilt what;
  int job; /* when it has ended; below CHECK_DEVICE_JOBS */
} check_spoil;

bool check_device_spoilt (check_run *run, pp_device *device, check_spoil spoil);

#endif
