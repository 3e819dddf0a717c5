/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows that become columns, for tensors whose axes are swapped.
 */
#ifndef PP_TRANSPOSE_CPU_H
#define PP_TRANSPOSE_CPU_H

#include <stddef.h>

/* Bytes of the vectors that are best on this machine, 16 or 64. Any thread. */
int pp_transpose_vector (void);

/* Element x of row k, from + k * pitch + x * size, becomes element k of column x,
 * to + (x * to_stride + k) * size; for x < columns and k < rows. to_stride is
 * in elements, pitch in bytes. size: 1, 2 or 4. to and from do not overlap. vector:
 * 16, or what pp_transpose_vector returns. Any thread. */
void pp_transpose (int vector, void *to, ptrdiff_t to_stride, const void *from,
    size_t pitch, size_t size, int columns, int rows);

#endif
