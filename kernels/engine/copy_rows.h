/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies rows of a frame from pageable to pinned memory. Any thread.
 */
#ifndef PP_COPYROWS_H
#define PP_COPYROWS_H

#include "kernels/plan/image.h"

/* What to and to_stride are multiples of, bytes; of a cache line at best. */
#define PP_COPY_ALIGNMENT 16

/* Row i of to becomes row rows[i] of from; widths and strides in bytes. What was
 * written is there for other threads and for devices when this returns. */
void pp_copy_rows (uint8_t *to, size_t to_stride, const uint8_t *from,
    size_t from_stride, const int32_t *rows, int n_rows, size_t width);

/* Copies the listed rows of the staged planes (bit p: plane p) as they will lie
 * in the image, see plan/image.h. view: of the whole frame. staging: aligned to
 * 256, of pp_image_staged_size bytes. Returns the bytes copied. */
size_t pp_stage_planes (
    const pp_plan *plan, unsigned staged, const pp_view *view, void *staging);
/* The same for several pictures, in layout->staged_size bytes. */
size_t pp_stage_pictures (const pp_pictures *pictures,
    const pp_pictures_layout *layout, unsigned staged, const pp_view *view,
    void *staging);

#endif
