/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Computes the tap table of one axis from its geometry and the spec's filter.
 * plan.c asks for one table an axis, and for two more where chroma is
 * subsampled.
 */
#ifndef PP_TAPS_H
#define PP_TAPS_H

#include "kernels/preproc.h"

/* One axis. The source rectangle is resized to resized outputs. The centre of
 * output i is (i + 1/2) * length / resized after start, in pixels of the frame;
 * mirrored, it is as far before start + length.
 * Samples are those of a plane that is subsampled by 2^sub. Sample j covers the
 * pixels [j, j + 1) * 2^sub; if it is cosited, it is (2^sub - 1) / 2 pixels
 * farther to the left. */
typedef struct pp_axis_geometry {
  int start, length;    /* source rectangle, pixels */
  int resized;          /* outputs of the whole rectangle */
  int first_out, n_out; /* the outputs that the table is for */
  int sub;              /* log2 of the subsampling */
  bool cosited;
  bool mirrored;
} pp_axis_geometry;

/* Output i is the sum over taps j of weight[j * n_out + i] times sample
 * first[i] + j, where sample 0 is the rectangle's first, start >> sub. Every
 * output has n_taps taps. All are inside the rectangle, even those of weight
 * 0. */
typedef struct pp_taps {
  int n_out, n_taps;
  int32_t *first; /* n_out */
  float *weight;  /* n_taps * n_out */
} pp_taps;

/* How many samples the rectangle has: from sample start >> sub to the one that
 * covers its last pixel. */
int pp_axis_samples (const pp_axis_geometry *axis);

/* Uses the spec's method, antialias and denoising kernel. The arguments have
 * been checked by spec.c. False if memory is exhausted; taps is then empty.
 * Free taps with pp_taps_clear. */
bool pp_taps_init (
    pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis);
void pp_taps_clear (pp_taps *taps);

/* The same in memory of the caller's, which allocates nothing. No output has
 * more taps than pp_taps_bound. taps->first has room for n_out, taps->weight for
 * that many each. scratch: pp_taps_scratch doubles, all 0, and again 0 when this
 * returns. */
int pp_taps_bound (const pp_spec *spec, const pp_axis_geometry *axis);
size_t pp_taps_scratch (const pp_axis_geometry *axis);
void pp_taps_fill (pp_taps *taps, const pp_spec *spec,
    const pp_axis_geometry *axis, double *scratch);

/* taps_linear.c: the same for bilinear without a denoising kernel, faster.
 * taps->first ascends. taps->weight has room for pp_taps_linear_bound taps each,
 * which is 0 where it cannot be used: for other filters, a mirrored axis, and large
 * numbers. */
int pp_taps_linear_bound (const pp_spec *spec, const pp_axis_geometry *axis);
void pp_taps_fill_linear (
    pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis);

#endif
