/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What follows from the taps of one axis: which samples they read, and which
 * rows are uploaded for them. Pure functions; any thread.
 */
#ifndef PP_AXIS_REACH_H
#define PP_AXIS_REACH_H

#include "plan.h"
#include "taps.h"

/* The samples [first, first + count) of a component that the taps of one axis
 * read. */
typedef struct pp_span {
  int first, count;
} pp_span;

/* From the frame's first sample; with a median, what the medians read. */
pp_span pp_span_of_taps (
    const pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *geometry);
/* For tiles of columns outputs: see pp_plan.span. */
int32_t pp_widest_span (
    const int32_t *first, int n_out, int n_taps, int columns);

/* For tables of taps_linear.c, whose first taps ascend: the same, faster. The span
 * is from the rectangle's first sample. */
pp_span pp_span_of_linear (const pp_taps *taps);
int32_t pp_widest_linear (
    const int32_t *first, int n_out, int n_taps, int columns);

/* A vertical table whose first taps count from the span's first sample, and the
 * rows that are listed for it. */
typedef struct pp_listing {
  const pp_taps *taps;
  int height; /* rows of the span */
  /* The index for the listed rows, then their list. Room for taps->n_out and
   * height numbers, and two more. */
  int32_t *index;
  pp_plane_rows *rows;
  /* scratch: height, and height + 1 */
  bool *touched;
  int *above;
} pp_listing;

/* As touched_rows.c decides it for a plane that is read with this table only. They
 * return how many numbers of index are in use. all: with a median, which reads more
 * rows than taps know of. linear: of taps_linear.c. */
size_t pp_list_all_rows (const pp_listing *listing);
size_t pp_list_rows (const pp_listing *listing);
size_t pp_list_linear_rows (const pp_listing *listing);

#endif
