/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The image: the rows of a frame that the plan lists (touched_rows.c), as they
 * lie in a device's memory, one plane behind the other. Pure functions; any
 * thread.
 */
#ifndef PP_IMAGE_H
#define PP_IMAGE_H

#include "plan.h"

/* Sizes, offsets and strides are in bytes. staged: bit p says that plane p is
 * copied through staging memory. */

/* The largest image of any frame, whatever its strides. */
size_t pp_image_size (const pp_plan *plan);
/* Staging memory for these planes. */
size_t pp_image_staged_size (const pp_plan *plan, unsigned staged);

/* Where each plane starts in the image, and its row stride there. Staged planes
 * come first: their offsets and strides are those in staging memory, too. */
typedef struct pp_image_layout {
  size_t offset[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
  bool joined[PP_MAX_PLANES]; /* adjacent rows can be copied as one piece */
} pp_image_layout;

/* stride: of the frame's planes; those of staged planes are not read. */
void pp_image_layout_init (pp_image_layout *layout, const pp_plan *plan,
    unsigned staged, const size_t stride[PP_MAX_PLANES]);

/* The image of a whole frame of the format, whatever its strides. */
size_t pp_image_frame_size (const pp_format *format);

/* The pictures of a job. */
typedef struct pp_pictures {
  int32_t n;
  const pp_plan *plan[PP_MAX_PICTURES];
  /* where each one's tensor starts, from the one with the lowest address */
  size_t slice[PP_MAX_PICTURES];
} pp_pictures;

/* Where a plan's rectangle of each plane starts, and its row stride. */
typedef struct pp_picture_layout {
  size_t offset[PP_MAX_PLANES];
  size_t stride[PP_MAX_PLANES];
} pp_picture_layout;

/* Several pictures in a device's memory. Either each has an image of its own,
 * with the rows that its plan lists. Or, where the pictures overlap or cover
 * much of the frame, there is one image of the rectangle that bounds them, with
 * all of its rows. So an image is never larger than the frame. */
typedef struct pp_pictures_layout {
  bool together;                /* one image */
  pp_rect bound[PP_MAX_PLANES]; /* bytes and rows of the frame's planes */
  pp_image_layout frame;        /* where these are in that image */
  pp_picture_layout picture[PP_MAX_PICTURES];
  /* Medians are made of one picture after the other if together, and there is
   * room for the largest; else they lie as the images do. */
  pp_picture_layout medians[PP_MAX_PICTURES];
  size_t size, medians_size, staged_size;
} pp_pictures_layout;

/* n is above 1; the other arguments are those of pp_image_layout_init. */
void pp_pictures_layout_init (pp_pictures_layout *layout,
    const pp_pictures *pictures, unsigned staged,
    const size_t stride[PP_MAX_PLANES]);
/* The same for a frame that is on the device: it is the one image, and only room
 * for medians is laid out. */
void pp_pictures_layout_init_in_place (
    pp_pictures_layout *layout, const pp_pictures *pictures);

#endif
