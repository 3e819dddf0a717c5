/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What checkkern checks: formats, specs and frames, made from a seed.
 */
#ifndef CHECKCASES_H
#define CHECKCASES_H

#include <stdio.h>

#include "kernels/preproc.h"

/* Random numbers that are the same everywhere. */
typedef struct check_random {
  uint64_t state;
} check_random;

uint64_t check_next (check_random *random);
/* In [low, high]. */
int check_between (check_random *random, int low, int high);
bool check_one_in (check_random *random, int n);
double check_real (check_random *random, double low, double high);
void check_fill_random (check_random *random, void *bytes, size_t size);

typedef enum check_fill {
  CHECK_FILL_RANDOM,
  CHECK_FILL_MIN,
  CHECK_FILL_MAX,
  CHECK_FILL_ALTERNATE, /* neighbours are the minimum and the maximum */
  CHECK_FILL_HOT,       /* the minimum but for one byte */
  CHECK_N_FILLS
} check_fill;

/* One comparison, complete: the same number and seed make the same case. */
typedef struct check_case {
  uint64_t seed;
  int number;
  const char *format_name;
  pp_format format;
  bool cropped; /* source is given to pp_plan_new */
  pp_rect source;
  pp_spec spec;
  check_fill fill;
  /* Plane p: lead[p] bytes before its first row, which is what makes addresses
   * odd; bytes from row to row, of which row_bytes[p] belong to the picture. */
  int n_planes;
  size_t lead[PP_MAX_PLANES], stride[PP_MAX_PLANES];
  size_t row_bytes[PP_MAX_PLANES], rows[PP_MAX_PLANES];
} check_case;

/* The walk's length: cases below it are one for each format, method, type and
 * layout, and from check_first_large on some of 8K, whatever the seed; those
 * from it on are random throughout. */
int check_first_large (void);
int check_walk_length (void);
/* A case, and the random numbers that its frame is to be filled with. */
check_random check_case_init (check_case *check, uint64_t seed, int number);

/* The format of that name, width x height; false if there is none. Limited
 * range BT.709 for YUV. */
bool check_format_init (
    pp_format *format, const char *name, int width, int height);
/* Packed planes for the format. */
void check_case_planes (check_case *check);
/* A whole frame of a format that check_format_init knows, packed, and the default
 * spec. */
void check_case_frame (
    check_case *check, const char *format, int width, int height);
/* ImageNet's mean and std, but for uint8. */
void check_case_normalize (check_case *check);

/* One plane's bytes, stride * rows of them, and what is between the rows. */
void check_fill_plane (
    const check_case *check, int plane, uint8_t *bytes, check_random *random);

void check_case_print (const check_case *check, FILE *to);

#endif
