/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows that become columns, for tensors whose axes are swapped.
 */
#ifndef PP_TRANSPOSE_CPU_H
#define PP_TRANSPOSE_CPU_H

#include <stddef.h>

/* Element k of column x, to + (x * to_stride + k) * size, becomes element x of
 * row k, from + k * pitch + x * size; for x < columns and k < rows. to_stride is
 * in elements, pitch in bytes. size: 1, 2 or 4. to and from do not overlap. Any
 * thread. */
void pp_transpose (void *to, ptrdiff_t to_stride, const void *from,
    size_t pitch, size_t size, int columns, int rows);

#endif
