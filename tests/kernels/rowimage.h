/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rows a device gets and how, checked without one: what the engine would
 * queue is done by memcpy. Functions that check print a line about what is wrong
 * and return whether all is right.
 */
#ifndef ROWIMAGE_H
#define ROWIMAGE_H

#include "kernels/plan/image.h"

/* The listed rows are ascending, inside the extents, and what their groups say.
 */
bool rows_are_listed (const pp_plan *plan);
/* Every tap reads a row of the image, and if it weighs something, the right
 * one. */
bool rows_are_indexed (const pp_plan *plan);

/* Row i of those that are listed, counted in the plane's extent. */
int listed_row (const pp_plan *plan, int plane, int i);

/* A frame as a simulated device has it, in memory of pp_image_size bytes, no
 * byte more. */
typedef struct row_image {
  uint8_t *memory;
  size_t size;
  pp_image image;
} row_image;

/* Brings the frame there. staged: bit p for plane p; source: a view from
 * pp_plan_crop_view. Cleared in either case. */
bool row_image_init (
    row_image *to, const pp_plan *plan, unsigned staged, const pp_view *source);
void row_image_clear (row_image *image);

/* The whole tensor as a device makes it of its image, by the reference or, with
 * cpu, by the CPU's kernel. */
void row_image_apply (
    const row_image *image, const pp_plan *plan, bool cpu, void *tensor);

/* The tensor in two bands by the CPU's kernel, the upper one before the lower
 * one's rows are there. Not with a median. */
bool row_image_apply_bands (
    const pp_plan *plan, const pp_view *source, void *tensor);

#endif
