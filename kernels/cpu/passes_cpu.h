/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who reads what: how the CPU backend's kernel divides the components among
 * readers, so that samples side by side are read together.
 */
#ifndef PP_PASSES_CPU_H
#define PP_PASSES_CPU_H

#include "kernels/plan/plan.h"
#include "rows_cpu.h"
#include "scratch_cpu.h"

/* A part of a plane that is read at once, for one component or several.
 *
 * Dense: the vertical sums of all samples in the row, whether a component uses
 * them or not; no sample has to be found before it is converted.
 * Sparse: only the words that the horizontal taps point to. */
typedef struct pp_vertical_pass {
  bool sparse;
  const pp_source *source;   /* of its first component */
  int first_byte, last_byte; /* of its components' first samples */
  const uint8_t *base;       /* first_byte of row 0 */
  size_t stride;
  int reach;           /* bytes a row, from base on, that may be read */
  int n_whole;         /* sparse: words before this one are inside reach */
  pp_sample_code code; /* dense */
  float *sums;         /* dense: the vertical sums of reach bytes */
} pp_vertical_pass;

/* Components whose samples of one pixel lie within one word, or within
 * PP_LANES vertical sums: they take their horizontal taps together. */
typedef struct pp_horizontal_pass {
  pp_vertical_pass *vertical;
  const pp_source *source;   /* of its first component */
  int first_byte, last_byte; /* of its components' first samples */
  int n_components;
  int n_taps;
  const float *weight; /* tap j of column x: [j * columns + x] */
  bool unit;           /* there is one tap and it weighs 1 everywhere */
  float *pair_weight;  /* of two components' two adjacent taps, as pp_sum_pairs
                        * takes it; else NULL */
  int32_t *offset;     /* first tap of each column; dense: in samples from sums,
                        * sparse: in bytes from base */
  int step;            /* from one tap to the next, in the same unit */
} pp_horizontal_pass;

typedef struct pp_resampled {
  pp_horizontal_pass *horizontal;
  pp_sample_code code; /* sparse: in the word */
  int lane;            /* dense: in the vertical sums */
  float *column;       /* sparse: the vertical sums of one horizontal tap */
  float *value;        /* the resampled row */
} pp_resampled;

/* Of one call of pp_apply_cpu. */
typedef struct pp_passes {
  const pp_plan *plan;
  const pp_numbers *numbers;
  int first_row, last_row, columns;
  int n_vertical, n_horizontal;
  pp_vertical_pass vertical[PP_MAX_COMPONENTS];
  pp_horizontal_pass horizontal[PP_MAX_COMPONENTS];
  pp_resampled component[PP_MAX_COMPONENTS];
} pp_passes;

/* Decides who reads what for rows [first_row, last_row) of the content, and
 * takes the buffers. Where scratch only counts, rows must be all, which needs
 * the most: fewer rows only join more readers. */
void pp_passes_init (pp_passes *passes, const pp_plan *plan, int first_row,
    int last_row, pp_scratch *scratch);

/* Fills what depends on the view. */
void pp_passes_prepare (pp_passes *passes, const pp_view *view);

#endif
