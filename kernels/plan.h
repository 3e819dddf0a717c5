/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan: every number a kernel applies, in plain structs that both compilers
 * include. Decided once on the host, in double, and rounded once (plan.c).
 */
#ifndef PP_PLAN_H
#define PP_PLAN_H

#include "preproc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A tap table of one axis, in the plan's arrays. Output i is the weighted sum
 * of n_taps samples from index[first + i] on, where tap j weighs
 * weight[first_weight + j * n_out + i]. Indexes count samples of the component's
 * rectangle; all n_taps samples are inside it, also those that weigh nothing. */
typedef struct pp_axis {
  int32_t n_out;        /* columns or rows of the content */
  int32_t n_taps;       /* at least 1 */
  int32_t first;        /* into pp_plan.index */
  int32_t first_weight; /* into pp_plan.weight */
} pp_axis;

/* Where a component's rectangle starts inside its plane's rectangle. */
typedef struct pp_source {
  int32_t plane;
  int32_t first_row;    /* rows */
  int32_t first_byte;   /* bytes into the row */
  int32_t pixel_stride; /* bytes */
  int32_t axes;         /* which of x[] and y[] resample it */
  int32_t shift;        /* 2-byte samples: (sample >> shift) & mask; */
  int32_t mask;         /* 1-byte samples are taken as they are */
} pp_source;

/* What a kernel gets by value. */
typedef struct pp_numbers {
  /* source */
  int32_t n_components; /* 1 or 3 */
  int32_t sample_bytes; /* 1 or 2 */
  int32_t big_endian;   /* swap the bytes of 2-byte samples */
  pp_source source[PP_MAX_COMPONENTS];
  pp_axis x[2], y[2]; /* [0] full size, [1] subsampled chroma */
  /* colour: rows R, G, B; 3 factors and a constant. One component uses
   * matrix[0][0] and matrix[0][3] for all three. Result in 0...255, clamped. */
  float matrix[3][4];
  /* gray tensors: gray = (g0 R + g1 G) + g2 B, of clamped values */
  int32_t to_gray;
  float gray[3];
  /* normalisation, for R, G, B, or [0] alone for gray */
  float mul[PP_MAX_CHANNELS];
  float add[PP_MAX_CHANNELS];
  /* integer types: clamp to [lo, hi], round half to even, add zero_point */
  float lo, hi;
  int32_t zero_point;
  /* tensor, in elements: element (x, y) of R is at
   * channel[0] + y * row_stride + x * pixel_stride */
  int32_t type;       /* pp_type */
  int32_t n_channels; /* 1 or 3 */
  int32_t width, height;
  int64_t channel[PP_MAX_CHANNELS];
  int64_t row_stride;
  int64_t pixel_stride;
  /* the content: what is not padding. Outputs of x[] and y[] count from here */
  int32_t content_x, content_y, content_width, content_height;
  /* the padding's element of R, G, B, as the type's bits */
  uint32_t pad[PP_MAX_CHANNELS];
} pp_numbers;

struct pp_plan {
  uint64_t id; /* unique in the process, never 0 */
  pp_numbers numbers;
  /* tables; owned, one block each */
  int32_t *index;
  float *weight;
  size_t n_index, n_weight;
  /* each plane's rectangle that the taps can reach; bytes and rows */
  pp_rect extent[PP_MAX_PLANES];
  size_t tensor_size; /* bytes */
  pp_geometry geometry;
  int32_t references; /* atomic */
};

/* The view of the plan's plane rectangles in a frame: what kernels take. */
pp_view pp_plan_crop_view (const pp_plan *plan, const pp_view *frame);

/* Writes the padding of a whole tensor on the host: all but the content. */
void pp_plan_fill_padding (const pp_plan *plan, void *tensor);

/* float32 to the bits of float16: nearest even, overflow to infinity. */
uint16_t pp_float16 (float value);

#ifdef __cplusplus
}
#endif

#endif
