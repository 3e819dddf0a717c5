/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The plan: every number that kernels apply. These are plain structs, which the
 * C compiler and nvcc both include. The numbers are computed once, on the host,
 * in double, and then rounded to float. plan.c makes a plan from its parts:
 * geometry.c places the picture in the tensor, taps.c computes filter weights,
 * colour.c the colour matrix, output.c normalisation, type, layout and padding.
 */
#ifndef PP_PLAN_H
#define PP_PLAN_H

#include "kernels/preproc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The resampling filter of one axis: a tap table in the plan's arrays index and
 * weight. Output i is a weighted sum of n_taps adjacent samples. The first of
 * them is sample index[first + i] of the component's rectangle. Sample j of
 * them has the weight weight[first_weight + j * n_out + i]. All n_taps samples
 * are inside the rectangle, even those of weight 0. */
typedef struct pp_axis {
  int32_t n_out;        /* columns or rows of the content */
  int32_t n_taps;       /* at least 1 */
  int32_t first;        /* where the table starts in pp_plan.index */
  int32_t first_weight; /* and in pp_plan.weight */
} pp_axis;

/* Where one component's samples are. Its rectangle is the part of the component
 * that is read; first_row and first_byte place it in the plane's rectangle,
 * pp_plan.extent. */
typedef struct pp_source {
  int32_t plane;
  int32_t first_row;     /* rows */
  int32_t first_byte;    /* bytes into the row */
  int32_t pixel_stride;  /* bytes */
  int32_t axes;          /* x[axes] and y[axes] resample it */
  int32_t columns, rows; /* samples of the rectangle */
  int32_t shift;         /* of 2-byte samples: the value is */
  int32_t mask;          /* (sample >> shift) & mask */
} pp_source;

/* Components whose medians are computed together, because they are interleaved
 * in one plane and have their values at the same bits. A row of the group is a
 * sequence of units, each as large as a sample, from the first sample of any
 * component on. Some units may be samples of no component, or of one in another
 * group: RGBx has four units a pixel, of which three are samples. */
typedef struct pp_median_group {
  int32_t plane;
  int32_t axes;                  /* x[axes] and y[axes] resample them */
  int32_t first_row, first_byte; /* of unit 0, in the plane's rectangle */
  int32_t rows, columns;         /* samples of each component */
  int32_t units;                 /* of a row, to the last sample */
  int32_t step;     /* units from one sample of a component to the next */
  uint64_t samples; /* bit u is set if unit u of a pixel is a sample */
  int32_t bits;     /* mask of the value's bits in a sample, which is in this
                     * machine's byte order */
  int32_t alone;    /* no other group is in its plane */
} pp_median_group;

/* Denoising by the median: every sample becomes the median of the size x size
 * samples around it. Outside of the component's rectangle, the nearest sample
 * inside counts. The result is an image of the same layout as the source, and
 * the taps then read that one. */
typedef struct pp_median {
  int32_t size; /* 3 or 5; 0: no median, and nothing else is set */
  int32_t n_groups;
  pp_median_group group[PP_MAX_COMPONENTS];
} pp_median;

/* The part of a plan that a GPU kernel gets by value. */
typedef struct pp_numbers {
  /* source */
  int32_t n_components; /* 1 or 3 */
  int32_t sample_bytes; /* 1 or 2 */
  int32_t big_endian;   /* byte order of 2-byte samples */
  pp_source source[PP_MAX_COMPONENTS];
  pp_axis x[2], y[2]; /* [0]: full size, [1]: subsampled chroma */
  /* colour: R, G and B are each three factors of the components, and a
   * constant. Then they are clamped to 0...255. With one component all three
   * are matrix[0][0] times it plus matrix[0][3]. */
  float matrix[3][4];
  /* gray tensors: gray = (gray[0] R + gray[1] G) + gray[2] B, after the clamp
   */
  int32_t to_gray;
  float gray[3];
  /* normalisation: colour * mul + add, for R, G, B; gray uses [0] */
  float mul[PP_MAX_CHANNELS];
  float add[PP_MAX_CHANNELS];
  /* integer types: clamp to [lo, hi], round half to even, then add zero_point
   */
  float lo, hi;
  int32_t zero_point;
  /* tensor: pixel (x, y) of R, G or B, c = 0, 1, 2, is the element
   * channel[c] + y * row_stride + x * pixel_stride. For bgr in nhwc, channel is
   * { 2, 1, 0 }.
   * Kernels take x along the frame's rows and y down its columns, however the
   * picture is turned. With swapped, the tensor's rows lie along y: row_stride
   * is from one of its pixels to the next, and pixel_stride from one of its
   * rows to the next; width and height, and those of the content, are swapped,
   * too. Where the picture is mirrored, outputs read descending samples. */
  int32_t type;       /* pp_type */
  int32_t n_channels; /* 1 or 3 */
  int32_t swapped;    /* 0 or 1 */
  int32_t width, height;
  int64_t channel[PP_MAX_CHANNELS];
  int64_t row_stride;
  int64_t pixel_stride;
  int32_t
      fourth; /* pixels have a fourth byte, PP_GAP_BYTE, behind the others */
  /* the content: the tensor without its padding, in pixels. Output 0 of x[] and
   * y[] is its first column and row. */
  int32_t content_x, content_y, content_width, content_height;
  /* the padding's element of R, G and B, as pp_element_bits gives it */
  uint32_t pad[PP_MAX_CHANNELS];
} pp_numbers;

/* Groups of adjacent rows, at a constant distance from each other: one 2D copy.
 * Group g has rows rows; they start at row from + g * from_step of the plane's
 * extent, and are row to + g * to_step and on of its image on the device. */
typedef struct pp_row_groups {
  int32_t rows, groups; /* rows of each group; how many groups */
  int32_t from, from_step;
  int32_t to, to_step;
} pp_row_groups;

/* With more copies than this for a plane, a kernel that gathers rows is faster;
 * n_groups is then 0. */
#define PP_MAX_ROW_GROUPS 3

/* The rows of a plane's extent that are uploaded to a device with memory of its
 * own: those that taps read, or all. They are the plane's image there. */
typedef struct pp_plane_rows {
  int32_t count; /* 0 for a plane that is not read */
  int32_t first; /* where they are listed in a block of pp_tables_write,
                  * ascending */
  int32_t n_groups;
  pp_row_groups group[PP_MAX_ROW_GROUPS]; /* the same rows, as copies */
} pp_plane_rows;

/* A band of the tensor's content, and what it needs to be uploaded. */
typedef struct pp_band {
  int32_t first, last; /* rows [first, last) of the content */
  /* Rows [first_row[p], last_row[p]) of plane p's image on the device. With
   * those of the upper band, they are all that the band's taps read. */
  int32_t first_row[PP_MAX_PLANES], last_row[PP_MAX_PLANES];
} pp_band;

/* Widths of the tiles that a GPU kernel may choose: 8 << i columns. */
#define PP_N_SPANS 4
#define PP_LOG2_MIN_SPAN 3

struct pp_plan {
  uint64_t id; /* unique in the process, never 0 */
  pp_numbers numbers;
  /* the tap tables of x[] and y[]; owned by the plan */
  int32_t *index;
  float *weight;
  size_t n_index, n_weight;
  /* for x[a] and tiles of 8 << i columns: the most samples of a row that the
   * taps of a tile read */
  int32_t span[2][PP_N_SPANS];
  /* index for a device with memory of its own, where y[] counts rows of the
   * plane's image; behind it, the list of each plane's rows; owned */
  int32_t *device_index;
  size_t n_device_index;
  /* x[] and y[] in the block that pp_tables_write makes, and where each plane's
   * rows are listed on the host */
  pp_axis block_x[2], block_y[2];
  const int32_t *listed[PP_MAX_PLANES];
  /* the part of each plane that is read: x and width in bytes, y and height in
   * rows */
  pp_rect extent[PP_MAX_PLANES];
  pp_plane_rows rows[PP_MAX_PLANES];
  bool all_rows;               /* more rows are read than taps know of */
  pp_band whole, upper, lower; /* upper and lower make up whole */
  bool can_be_two;             /* neither upper nor lower is empty */
  bool in_two; /* splitting a frame that is alone lowers its latency */
  pp_median median;
  size_t tensor_size; /* bytes */
  bool gaps;          /* some bytes are no elements: they are PP_GAP_BYTE */
  /* bytes of the image of a whole frame, see image.h */
  size_t frame_size;
  pp_geometry geometry;
  int32_t references; /* atomic */
  /* The pool that the plan is of, or NULL, and its tables; see plan_pool.h. */
  struct pp_plan_pool *pool;
  struct pp_axis_entry *entry[4];
  int n_entries;
};

/* What is in a surface's bytes that are no pixel's: opaque, as alpha. Padding has
 * them, and kernels write the fourth byte of a pixel, since it is downloaded with
 * the others. */
#define PP_GAP_BYTE 255

/* As pp_view, for planes that are written. */
typedef struct pp_planes {
  uint8_t *plane[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
} pp_planes;

/* A view of the plan's extents in a frame. Kernels take such a view. */
pp_view pp_plan_crop_view (const pp_plan *plan, const pp_view *frame);

/* Whether the content leaves a part of the tensor free. */
bool pp_plan_has_padding (const pp_plan *plan);
/* Writes the padding of a tensor in host memory: everything but the content. */
void pp_plan_fill_padding (const pp_plan *plan, void *tensor);
/* Set in a record of padding, beside the plan's id: the content is padding, too. */
#define PP_PADDING_ONLY (UINT64_C (1) << 63)

/* The element that a normalised value becomes, as bits in the low bytes. */
uint32_t pp_element_bits (const pp_numbers *numbers, float value);

/* The bits of a float32 as float16: rounded half to even, overflow is infinity.
 */
uint16_t pp_float16 (float value);

#ifdef __cplusplus
}
#endif

#endif
