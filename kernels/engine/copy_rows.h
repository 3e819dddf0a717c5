/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of a frame in pageable memory -> a compact image in pinned memory.
 */
#ifndef PP_COPYROWS_H
#define PP_COPYROWS_H

#include <stddef.h>
#include <stdint.h>

/* What to and to_stride are multiples of, bytes; of a cache line at best. */
#define PP_COPY_ALIGNMENT 16

/* Row i of to becomes row rows[i] of from; widths and strides in bytes. What was
 * written is there for other threads and for devices when this returns. */
void pp_copy_rows (uint8_t *to, size_t to_stride, const uint8_t *from,
    size_t from_stride, const int32_t *rows, int n_rows, size_t width);

#endif
