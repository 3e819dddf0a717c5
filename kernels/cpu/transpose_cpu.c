/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Transposes squares of as many rows and columns as a vector has elements. A
 * step interleaves row i with row i + half; the rows' numbers are then rotated
 * by one bit, and after as many steps as they have bits, rows are columns.
 */
#include "transpose_cpu.h"

#include <stdint.h>
#include <string.h>

#include "clones_cpu.h"

/* How many columns ahead the tensor's memory is prefetched. */
#define AHEAD 32

typedef uint32_t vector4 __attribute__ ((vector_size (16)));
typedef uint16_t vector2 __attribute__ ((vector_size (16)));
typedef uint8_t vector1 __attribute__ ((vector_size (16)));

#define LOW_4(a, b)                                                            \
  {                                                                            \
    a[0], b[0], a[1], b[1]                                                     \
  }
#define HIGH_4(a, b)                                                           \
  {                                                                            \
    a[2], b[2], a[3], b[3]                                                     \
  }
#define LOW_2(a, b)                                                            \
  {                                                                            \
    a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3]                             \
  }
#define HIGH_2(a, b)                                                           \
  {                                                                            \
    a[4], b[4], a[5], b[5], a[6], b[6], a[7], b[7]                             \
  }
#define LOW_1(a, b)                                                            \
  {                                                                            \
    a[0], b[0], a[1], b[1], a[2], b[2], a[3], b[3], a[4], b[4], a[5], b[5],    \
        a[6], b[6], a[7], b[7]                                                 \
  }
#define HIGH_1(a, b)                                                           \
  {                                                                            \
    a[8], b[8], a[9], b[9], a[10], b[10], a[11], b[11], a[12], b[12], a[13],   \
        b[13], a[14], b[14], a[15], b[15]                                      \
  }

/* Columns are far apart: no processor prefetches the next one by itself. */
PP_INLINE void
prefetch_columns (const uint8_t *to, ptrdiff_t to_pitch, int first, int n,
    int columns, size_t bytes)
{
  for (int x = first; x < first + n && x < columns; x++)
    for (size_t byte = 0; byte < bytes; byte += 64)
      __builtin_prefetch (to + x * to_pitch + byte, 1);
}

/* For elements of size bytes; at least one square. The last squares overlap
 * those before them. */
#define DEFINE_TRANSPOSE(size)                                                 \
  PP_INLINE void transpose_square_##size (uint8_t *restrict to,                \
      ptrdiff_t to_pitch, const uint8_t *restrict from, size_t pitch)          \
  {                                                                            \
    enum {                                                                     \
      N = 16 / size                                                            \
    };                                                                         \
    vector##size row[N], next[N];                                              \
    for (int i = 0; i < N; i++)                                                \
      memcpy (&row[i], from + (size_t) i * pitch, sizeof row[i]);              \
    for (int step = 1; step < N; step *= 2) {                                  \
      for (int i = 0; i < N / 2; i++) {                                        \
        const vector##size a = row[i], b = row[i + N / 2];                     \
        next[2 * i] = (vector##size) LOW_##size (a, b);                        \
        next[2 * i + 1] = (vector##size) HIGH_##size (a, b);                   \
      }                                                                        \
      memcpy (row, next, sizeof row);                                          \
    }                                                                          \
    for (int i = 0; i < N; i++)                                                \
      memcpy (to + i * to_pitch, &row[i], sizeof row[i]);                      \
  }                                                                            \
                                                                               \
  static void transpose_##size (uint8_t *restrict to, ptrdiff_t to_pitch,      \
      const uint8_t *restrict from, size_t pitch, int columns, int rows)       \
  {                                                                            \
    const int n = 16 / size;                                                   \
    for (int i = 0; i < columns; i += n) {                                     \
      const int x = i + n <= columns ? i : columns - n;                        \
      prefetch_columns (                                                       \
          to, to_pitch, x + AHEAD, n, columns, (size_t) rows * size);          \
      for (int j = 0; j < rows; j += n) {                                      \
        const int k = j + n <= rows ? j : rows - n;                            \
        transpose_square_##size (to + x * to_pitch + k * size, to_pitch,       \
            from + (size_t) k * pitch + (size_t) x * size, pitch);             \
      }                                                                        \
    }                                                                          \
  }

DEFINE_TRANSPOSE (1)
DEFINE_TRANSPOSE (2)
DEFINE_TRANSPOSE (4)

/* One by one. */
static void
copy_elements (uint8_t *to, ptrdiff_t to_pitch, const uint8_t *from,
    size_t pitch, size_t size, int columns, int rows)
{
  for (int x = 0; x < columns; x++)
    for (int k = 0; k < rows; k++)
      memcpy (to + x * to_pitch + (size_t) k * size,
          from + (size_t) k * pitch + (size_t) x * size, size);
}

void
pp_transpose (void *to, ptrdiff_t to_stride, const void *from, size_t pitch,
    size_t size, int columns, int rows)
{
  const ptrdiff_t to_pitch = to_stride * (ptrdiff_t) size;
  const int square = (int) (16 / size);

  if (columns < square || rows < square)
    copy_elements (to, to_pitch, from, pitch, size, columns, rows);
  else if (size == 1)
    transpose_1 (to, to_pitch, from, pitch, columns, rows);
  else if (size == 2)
    transpose_2 (to, to_pitch, from, pitch, columns, rows);
  else
    transpose_4 (to, to_pitch, from, pitch, columns, rows);
}
