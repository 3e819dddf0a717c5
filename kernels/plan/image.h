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

#endif
