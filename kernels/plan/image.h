/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame as a device with memory of its own has it: the rows that the plan
 * lists (rows.c), the planes one behind the other. How it gets there is decided
 * here, and done by transfer.c. Pure functions; any thread.
 */
#ifndef PP_IMAGE_H
#define PP_IMAGE_H

#include "kernels/engine/backend.h"

/* All staged planes together, and each of the others. */
#define PP_MAX_IMAGE_COPIES (1 + PP_MAX_PLANES * PP_MAX_ROW_GROUPS)

/* What makes a band of the image of one frame; copies and gather in any order.
 */
typedef struct pp_image {
  pp_view view; /* the source that the kernels take */
  size_t bytes; /* that all of it moves */
  int n_copies;
  pp_copy copy[PP_MAX_IMAGE_COPIES];
  pp_gather gather; /* n_planes 0: nothing to gather */
} pp_image;

/* Bytes that the image of any frame has room in. */
size_t pp_image_size (const pp_plan *plan);

/* Bytes of staging memory for these planes; bit p: plane p. */
size_t pp_image_staged_size (const pp_plan *plan, unsigned planes);

/* Copies the listed rows of these planes to staging memory, as they will lie on
 * the device. source is a view from pp_plan_crop_view; then it names the
 * copies. Returns the bytes copied. */
size_t pp_image_stage (
    const pp_plan *plan, unsigned planes, void *staging, pp_view *source);

/* band: of the plan; the view is that of the whole image in any case, and what is
 * staged goes with every band. source: where pp_image_stage left the staged
 * planes, and the pinned others. memory, index: on the device; of pp_image_size
 * bytes, at a multiple of 256, and the plan's device_index. */
void pp_image_init (pp_image *image, const pp_plan *plan, const pp_band *band,
    unsigned staged, const pp_view *source, void *memory, const int32_t *index);

#endif
