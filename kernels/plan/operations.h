/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The operations that a job consists of: copy, gather, launch. Recipes have them
 * without addresses, backends get them with.
 */
#ifndef PP_OPERATIONS_H
#define PP_OPERATIONS_H

#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy between host and device of depth boxes of rows: row (y, z) starts at
 * base + y * row_stride + z * box_stride on both sides. */
typedef struct pp_copy {
  const void *from;
  void *to;
  size_t from_row, to_row; /* row strides, bytes */
  size_t from_box, to_box; /* box strides, bytes: multiples of the row's */
  size_t width;            /* bytes a row */
  size_t rows, boxes;
  bool up; /* host to device, else device to host */
} pp_copy;

/* The copy of size adjacent bytes. */
static inline pp_copy
pp_copy_bytes (void *to, const void *from, size_t size, bool up)
{
  const pp_copy copy = { .from = from,
    .to = to,
    .from_row = size,
    .to_row = size,
    .from_box = size,
    .to_box = size,
    .width = size,
    .rows = 1,
    .boxes = 1,
    .up = up };

  return copy;
}

/* Rows of planes that the device reads from pinned memory itself: row i of to
 * is row rows[i] of from. */
typedef struct pp_gather_plane {
  const uint8_t *from;     /* at any address */
  uint8_t *to;             /* to and to_row: multiples of PP_GATHER_ALIGNMENT */
  size_t from_row, to_row; /* row strides, bytes */
  size_t width;            /* bytes a row; what follows them in to is lost */
  const int32_t *rows;     /* on the device */
  int32_t n_rows;
} pp_gather_plane;

#define PP_GATHER_ALIGNMENT 16

/* Planes of one gather: as many as a launch's parameters have room for. */
#define PP_MAX_GATHERED 64

typedef struct pp_gather {
  int32_t n_planes;
  pp_gather_plane plane[PP_MAX_GATHERED];
} pp_gather;

/* One launch. source, tensor, index and weight are addresses that the device
 * reads: its own, or on a unified backend the host's. */
typedef struct pp_launch {
  const pp_plan *plan; /* referenced until the stream has passed it */
  int32_t first, last; /* rows [first, last) of the content are made */
  pp_view source;
  void *tensor;
  /* A block of pp_tables_write; on a unified backend the plan's own tables. */
  const int32_t *index;
  const float *weight;
  /* Where the plan has a median and the device is not unified: room for it, in
   * planes and strides like those of source. */
  pp_planes medians;
} pp_launch;

#ifdef __cplusplus
}
#endif

#endif
