/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A resampling filter and one axis' geometry -> tap table.
 */
#ifndef PP_TAPS_H
#define PP_TAPS_H

#include "kernels/preproc.h"

/* One axis. Output i, counted from the resized image's start, has its centre at
 * start + (i + 1/2) * length / resized in pixels of the frame. The samples are
 * those of a plane subsampled by 2^sub: sample j covers [j, j + 1) * 2^sub
 * pixels, moved by (2^sub - 1) / 2 pixels to the left where it is cosited. */
typedef struct pp_axis_geometry {
  int start, length;    /* source rectangle, pixels */
  int resized;          /* outputs that the source is resized to */
  int first_out, n_out; /* the outputs wanted */
  int sub;              /* log2 of the subsampling */
  bool cosited;
} pp_axis_geometry;

/* first[i] counts samples from the rectangle's first one, start >> sub.
 * weight[j * n_out + i] is tap j of output i; every output has n_taps taps, all
 * inside the rectangle, those that weigh nothing included. */
typedef struct pp_taps {
  int n_out, n_taps;
  int32_t *first; /* n_out */
  float *weight;  /* n_taps * n_out */
} pp_taps;

/* The samples that the rectangle has: those from start >> sub to the one that
 * covers its last pixel. */
int pp_axis_samples (const pp_axis_geometry *axis);

/* Takes the spec's method, antialias and gaussian denoising. Arguments have
 * been checked (spec.c). False when memory is exhausted; taps is then empty.
 * Filled taps are freed by pp_taps_clear. */
bool pp_taps_init (
    pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *axis);
void pp_taps_clear (pp_taps *taps);

#endif
