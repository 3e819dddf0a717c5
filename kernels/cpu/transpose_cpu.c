/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Transposes squares of as many rows and columns as 16 bytes have elements. A
 * step interleaves row i with row i + half; the rows' numbers are then rotated
 * by one bit, and after as many steps as they have bits, rows are columns.
 *
 * Vectors of 64 bytes hold four squares, one below the other, side by side in their
 * lanes of 16 bytes: the steps are the same, and what is stored of a column is a
 * cache line. Those of 32 bytes were no faster than those of 16.
 */
#include "transpose_cpu.h"

#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "clones_cpu.h"

/* How many columns ahead the tensor's memory is prefetched. More would compete for
 * the same lines of the first-level cache where columns are a power of two apart. */
#define AHEAD 12

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

/* Transposes all columns and rows by squares of n columns, n_rows rows and elements
 * of size bytes; at least one square. The last squares overlap those before them. */
#define DEFINE_TRANSPOSE(name, square, size, n, n_rows)                        \
  static void name (uint8_t *restrict to, ptrdiff_t to_pitch,                  \
      const uint8_t *restrict from, size_t pitch, int columns, int rows)       \
  {                                                                            \
    for (int i = 0; i < columns; i += n) {                                     \
      const int x = i + n <= columns ? i : columns - n;                        \
      prefetch_columns (                                                       \
          to, to_pitch, x + AHEAD, n, columns, (size_t) rows * size);          \
      for (int j = 0; j < rows; j += n_rows) {                                 \
        const int k = j + n_rows <= rows ? j : rows - n_rows;                  \
        square (to + x * to_pitch + k * size, to_pitch,                        \
            from + (size_t) k * pitch + (size_t) x * size, pitch);             \
      }                                                                        \
    }                                                                          \
  }

#define DEFINE_SQUARE(size)                                                    \
  PP_INLINE void square_##size (uint8_t *restrict to, ptrdiff_t to_pitch,      \
      const uint8_t *restrict from, size_t pitch)                              \
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
  DEFINE_TRANSPOSE (transpose_##size, square_##size, size, 16 / size, 16 / size)

DEFINE_SQUARE (1)
DEFINE_SQUARE (2)
DEFINE_SQUARE (4)

#ifdef __x86_64__

#define AVX512 __attribute__ ((target ("avx512f,avx512bw")))

PP_INLINE __m128i
load_128 (const uint8_t *from)
{
  return _mm_loadu_si128 ((const __m128i *) (const void *) from);
}

/* 16 bytes of rows that are far apart, one in each lane. */
AVX512 PP_INLINE __m512i
load_512 (const uint8_t *from, size_t far)
{
  __m512i row = _mm512_castsi128_si512 (load_128 (from));
  row = _mm512_inserti32x4 (row, load_128 (from + far), 1);
  row = _mm512_inserti32x4 (row, load_128 (from + 2 * far), 2);
  return _mm512_inserti32x4 (row, load_128 (from + 3 * far), 3);
}

/* The same steps in each lane. */
#define DEFINE_LANES(size, bits)                                               \
  AVX512 PP_INLINE void lanes_##size (uint8_t *restrict to,                    \
      ptrdiff_t to_pitch, const uint8_t *restrict from, size_t pitch)          \
  {                                                                            \
    enum {                                                                     \
      N = 16 / size                                                            \
    };                                                                         \
    __m512i row[N], next[N];                                                   \
    for (int i = 0; i < N; i++)                                                \
      row[i] = load_512 (from + (size_t) i * pitch, N * pitch);                \
    for (int step = 1; step < N; step *= 2) {                                  \
      for (int i = 0; i < N / 2; i++) {                                        \
        const __m512i a = row[i], b = row[i + N / 2];                          \
        next[2 * i] = _mm512_unpacklo_epi##bits (a, b);                        \
        next[2 * i + 1] = _mm512_unpackhi_epi##bits (a, b);                    \
      }                                                                        \
      memcpy (row, next, sizeof row);                                          \
    }                                                                          \
    for (int i = 0; i < N; i++)                                                \
      memcpy (to + i * to_pitch, &row[i], sizeof row[i]);                      \
  }                                                                            \
  AVX512 DEFINE_TRANSPOSE (                                                    \
      transpose_lanes_##size, lanes_##size, size, 16 / size, 64 / size)

DEFINE_LANES (1, 8)
DEFINE_LANES (2, 16)
DEFINE_LANES (4, 32)

#endif

typedef void (*transpose_function) (uint8_t *restrict to, ptrdiff_t to_pitch,
    const uint8_t *restrict from, size_t pitch, int columns, int rows);

/* For elements of 1, 2 and 4 bytes, by vectors of 16 bytes and of 64. */
static const transpose_function by_squares[] = { transpose_1, transpose_2,
  transpose_4 };
#ifdef __x86_64__
static const transpose_function by_lanes[] = { transpose_lanes_1,
  transpose_lanes_2, transpose_lanes_4 };
#else
#define by_lanes by_squares
#endif

int
pp_transpose_vector (void)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw"))
    return 64;
#endif
  return 16;
}

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
pp_transpose (int vector, void *to, ptrdiff_t to_stride, const void *from,
    size_t pitch, size_t size, int columns, int rows)
{
  const ptrdiff_t to_pitch = to_stride * (ptrdiff_t) size;
  const int square = (int) (16 / size), lanes = (int) (64 / size);

  if (columns < square || rows < square)
    copy_elements (to, to_pitch, from, pitch, size, columns, rows);
  else if (vector == 64 && rows >= lanes)
    by_lanes[size / 2](to, to_pitch, from, pitch, columns, rows);
  else
    by_squares[size / 2](to, to_pitch, from, pitch, columns, rows);
}
