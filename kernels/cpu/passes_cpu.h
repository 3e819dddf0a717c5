/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The passes of the CPU's kernel. A component is resampled by a vertical pass,
 * then by a horizontal one. Components that share rows share a vertical pass;
 * those that are interleaved share a horizontal one. So RGB is read once, not
 * three times. kernel_cpu.c asks for the passes once a call and runs them for
 * each output row.
 */
#ifndef PP_PASSES_CPU_H
#define PP_PASSES_CPU_H

#include "kernels/plan/plan.h"
#include "rows_cpu.h"
#include "scratch_cpu.h"

/* Reads rows of a plane, for one component or several. There are two ways:
 * Dense: computes the vertical sums of all samples of a row, used or not. The
 * loop vectorises, since it need not look for samples.
 * Sparse: computes nothing by itself. The horizontal pass fetches the words
 * that its taps are in, and computes vertical sums of these only. */
typedef struct pp_vertical_pass {
  bool sparse;
  const pp_source *source;   /* its first component */
  int first_byte, last_byte; /* where the first and the last component start */
  const uint8_t *base;       /* first_byte of row 0 */
  size_t stride;
  int reach; /* bytes a row, from base on, that may be read */
  /* sparse: words of the columns between these end inside reach */
  int first_whole, end_whole;
  pp_sample_code code; /* dense */
  float *sums;         /* dense: the vertical sums of reach bytes */
} pp_vertical_pass;

/* Resamples rows horizontally, for one component or several: for those whose
 * samples of a pixel are in one word (sparse), or in PP_LANES adjacent vertical
 * sums (dense). */
typedef struct pp_horizontal_pass {
  pp_vertical_pass *vertical;
  const pp_source *source;   /* its first component */
  int first_byte, last_byte; /* where the first and the last component start */
  int n_components;
  int n_taps;
  const float *weight; /* tap j of column x: [j * columns + x] */
  bool unit;           /* one tap, and its weight is 1 in all columns */
  float *pair_weight;  /* weights for pp_sum_pairs, if that can be used; else
                        * NULL */
  int32_t *offset;     /* first tap of each column; dense: samples from sums on,
                        * sparse: bytes from base on */
  int step;            /* from one tap to the next, in the same unit */
} pp_horizontal_pass;

/* A component while it is resampled. */
typedef struct pp_resampled {
  pp_horizontal_pass *horizontal;
  pp_sample_code code; /* sparse: where its value is in a word */
  int lane;            /* dense: which of the adjacent vertical sums it is */
  float *column;       /* sparse: the vertical sums of one horizontal tap */
  float *value;        /* the resampled row */
} pp_resampled;

/* All passes of one call of pp_apply_cpu. */
typedef struct pp_passes {
  const pp_plan *plan;
  const pp_numbers *numbers;
  int first_row, last_row, columns;
  int n_vertical, n_horizontal;
  pp_vertical_pass vertical[PP_MAX_COMPONENTS];
  pp_horizontal_pass horizontal[PP_MAX_COMPONENTS];
  pp_resampled component[PP_MAX_COMPONENTS];
} pp_passes;

/* Decides the passes for rows [first_row, last_row) of the content and takes
 * their buffers. While scratch only counts, the rows must be all rows: with
 * fewer rows, more components may share a pass, but never fewer. */
void pp_passes_init (pp_passes *passes, const pp_plan *plan, int first_row,
    int last_row, pp_scratch *scratch);

/* Completes the passes for a view of the source. */
void pp_passes_prepare (pp_passes *passes, const pp_view *view);

#endif
