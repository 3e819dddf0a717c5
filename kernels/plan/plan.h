/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan: every number a kernel applies, in plain structs that both compilers
 * include. Decided once on the host, in double, and rounded once: where the
 * picture goes by geometry.c, weights by taps.c, colour by colour.c,
 * normalisation, type and order by output.c; plan.c puts them together.
 */
#ifndef PP_PLAN_H
#define PP_PLAN_H

#include "kernels/preproc.h"

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
  int32_t first_row;     /* rows */
  int32_t first_byte;    /* bytes into the row */
  int32_t pixel_stride;  /* bytes */
  int32_t axes;          /* which of x[] and y[] resample it */
  int32_t columns, rows; /* samples of the rectangle */
  int32_t shift;         /* 2-byte samples: (sample >> shift) & mask; */
  int32_t mask;          /* 1-byte samples are taken as they are */
} pp_source;

/* Components whose medians are taken together: their samples are interleaved in
 * one plane and have their values at the same bits. A row is counted in units,
 * samples side by side, from the first one of any component on. Units between
 * the samples, of no component or of another group's, mean nothing. */
typedef struct pp_median_group {
  int32_t plane;
  int32_t axes;                  /* which of x[] and y[] resample them */
  int32_t first_row, first_byte; /* of unit 0, in the plane's rectangle */
  int32_t rows, columns;         /* samples of each component */
  int32_t units;                 /* of a row, to the last sample */
  int32_t step;     /* units from one sample of a component to the next */
  uint64_t samples; /* bit u: unit u of the first pixel is a sample */
  int32_t bits;     /* of the value in a sample, which is in byte order */
  int32_t alone;    /* no other group is in its plane */
} pp_median_group;

/* Denoising by the median: every sample becomes the middle one of the size x
 * size values around it, where those outside of its component's rectangle are
 * the nearest ones inside. The result is an image like the source, which the
 * taps then read. */
typedef struct pp_median {
  int32_t size; /* 3 or 5; 0: no median, and nothing else is set */
  int32_t n_groups;
  pp_median_group group[PP_MAX_COMPONENTS];
} pp_median;

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
  /* tensor, in elements: element (x, y) of R, G, B is at
   * channel[c] + y * row_stride + x * pixel_stride; for bgr nhwc channel is
   * 2, 1, 0 */
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

/* Groups of adjacent rows at a constant distance: group g is rows
 * from + g * from_step on of a plane's extent, and rows to + g * to_step on of
 * its image on the device. */
typedef struct pp_row_groups {
  int32_t rows, groups; /* of a group, and how many */
  int32_t from, from_step;
  int32_t to, to_step;
} pp_row_groups;

/* As many as are worth a copy each; 0 groups stand for more than that. */
#define PP_MAX_ROW_GROUPS 3

/* The rows of a plane's extent that a device with memory of its own gets, and
 * its image of the plane consists of: those that taps touch, or all of them. */
typedef struct pp_plane_rows {
  int32_t count; /* 0 for a plane that is not read */
  int32_t first; /* into pp_plan.device_index: which rows, ascending */
  int32_t n_groups;
  pp_row_groups group[PP_MAX_ROW_GROUPS]; /* the same rows */
} pp_plane_rows;

/* Some rows of the tensor's content, and what they take. */
typedef struct pp_band {
  int32_t first, last; /* rows [first, last) of the content */
  /* rows [first_row[p], last_row[p]) of plane p's image on the device: with
   * those of the band above, all that the band's taps read */
  int32_t first_row[PP_MAX_PLANES], last_row[PP_MAX_PLANES];
} pp_band;

/* Runs of adjacent columns that a kernel may make together: 8 << i. */
#define PP_N_SPANS 4
#define PP_LOG2_LEAST_SPAN 3

struct pp_plan {
  uint64_t id; /* unique in the process, never 0 */
  pp_numbers numbers;
  /* tables; owned, one block each */
  int32_t *index;
  float *weight;
  size_t n_index, n_weight;
  /* the most samples that taps of x[] reach from 8 << i adjacent outputs, which
   * start at a multiple of that */
  int32_t span[2][PP_N_SPANS];
  /* of a device with memory of its own: index, but rows count those of the
   * image, and behind it the rows of each plane; owned */
  int32_t *device_index;
  size_t n_device_index;
  /* each plane's rectangle that the taps, or the median before them, can reach;
   * bytes and rows */
  pp_rect extent[PP_MAX_PLANES];
  pp_plane_rows rows[PP_MAX_PLANES];
  bool all_rows;               /* more is read than taps touch */
  pp_band whole, upper, lower; /* whole is upper and lower */
  bool can_be_two; /* a frame can be made in two bands: neither is empty */
  bool in_two;     /* and one that is alone is sooner ready that way */
  pp_median median;
  size_t tensor_size; /* bytes */
  pp_geometry geometry;
  int32_t references; /* atomic */
};

/* Planes that are written to; otherwise as pp_view. */
typedef struct pp_planes {
  uint8_t *plane[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
} pp_planes;

/* The view of the plan's plane rectangles in a frame: what kernels take. */
pp_view pp_plan_crop_view (const pp_plan *plan, const pp_view *frame);

/* Writes the padding of a whole tensor on the host: all but the content. */
void pp_plan_fill_padding (const pp_plan *plan, void *tensor);

/* The bits of the element that a normalised value becomes, in the low bytes. */
uint32_t pp_element_bits (const pp_numbers *numbers, float value);

/* float32 to the bits of float16: nearest even, overflow to infinity. */
uint16_t pp_float16 (float value);

#ifdef __cplusplus
}
#endif

#endif
