/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loops of the CPU's kernel, each over one row, written so that the
 * compiler vectorises them. In the order in which kernel_cpu.c calls them:
 * vertical sums, horizontal sums, colour, and interleaving of elements.
 *
 * Float operations are in the same order as in the reference. Only, a sum
 * starts with its first product instead of +0. That may change the sign of a
 * zero, which the clamp removes.
 */
#include "rows_cpu.h"

#include <string.h>

#include "clones_cpu.h"

/* Samples of a row whose vertical sums are computed at a time. Their sums stay
 * in the first-level cache while all taps are added. */
#define TILE 2048

PP_INLINE float
load_sample (const uint8_t *at, int bytes, const pp_sample_code *code)
{
  if (bytes == 1)
    return (float) *at;
  uint16_t sample;
  memcpy (&sample, at, sizeof sample);
  if (code->swap)
    sample = (uint16_t) (sample << 8 | sample >> 8);
  return (float) (int32_t) ((uint32_t) sample >> code->shift & code->mask);
}

/* Adds up to 4 weighted rows to n sums. n_taps is a constant where this is
 * inlined. With first, sums is set instead of added to. */
PP_INLINE void
add_rows (float *restrict sums, const uint8_t *const *rows,
    const float *weights, int n_taps, bool first, size_t start, int n,
    int bytes, const pp_sample_code *code)
{
  const uint8_t *row[4];
  float weight[4];
  for (int j = 0; j < n_taps; j++) {
    row[j] = rows[j] + start * (size_t) bytes;
    weight[j] = weights[j];
  }
  const pp_sample_code local = *code;
  for (int i = 0; i < n; i++) {
    float sum = weight[0] * load_sample (row[0] + i * bytes, bytes, &local);
    if (!first)
      sum = sums[i] + sum;
    for (int j = 1; j < n_taps; j++)
      sum = sum + weight[j] * load_sample (row[j] + i * bytes, bytes, &local);
    sums[i] = sum;
  }
}

/* First the n_taps modulo 4 taps, then all others by fours. */
PP_INLINE void
sum_rows (float *restrict sums, const uint8_t *const *rows,
    const float *weights, int n_taps, int n_samples, int bytes,
    const pp_sample_code *code)
{
  for (int start = 0; start < n_samples; start += TILE) {
    const int n = n_samples - start < TILE ? n_samples - start : TILE;
    float *tile = sums + start;
    int j = (n_taps - 1) % 4 + 1;
    if (j == 1)
      add_rows (tile, rows, weights, 1, true, start, n, bytes, code);
    else if (j == 2)
      add_rows (tile, rows, weights, 2, true, start, n, bytes, code);
    else if (j == 3)
      add_rows (tile, rows, weights, 3, true, start, n, bytes, code);
    else
      add_rows (tile, rows, weights, 4, true, start, n, bytes, code);
    for (; j < n_taps; j += 4)
      add_rows (tile, rows + j, weights + j, 4, false, start, n, bytes, code);
  }
}

PP_CLONES static void
sum_rows_1 (float *restrict sums, const uint8_t *const *rows,
    const float *weights, int n_taps, int n_samples, const pp_sample_code *code)
{
  sum_rows (sums, rows, weights, n_taps, n_samples, 1, code);
}

PP_CLONES static void
sum_rows_2 (float *restrict sums, const uint8_t *const *rows,
    const float *weights, int n_taps, int n_samples, const pp_sample_code *code)
{
  sum_rows (sums, rows, weights, n_taps, n_samples, 2, code);
}

void
pp_sum_rows (float *sums, const uint8_t *const *rows, const float *weights,
    int n_taps, int n_samples, const pp_sample_code *code)
{
  if (code->bytes == 1)
    sum_rows_1 (sums, rows, weights, n_taps, n_samples, code);
  else
    sum_rows_2 (sums, rows, weights, n_taps, n_samples, code);
}

/* Adds up to 4 taps to n columns. n_taps is a constant where this is inlined.
 */
PP_INLINE void
add_columns (float *restrict sums, const float *restrict row,
    const int32_t *restrict offset, int step, const float *restrict weight,
    int n_taps, bool first, int n)
{
  for (int x = 0; x < n; x++) {
    float sum = weight[x] * row[offset[x]];
    if (!first)
      sum = sums[x] + sum;
    for (int j = 1; j < n_taps; j++)
      sum = sum + weight[(size_t) j * n + x] * (row + j * step)[offset[x]];
    sums[x] = sum;
  }
}

PP_CLONES void
pp_sum_columns (float *restrict sums, const float *restrict row,
    const int32_t *restrict offset, int step, const float *restrict weight,
    int n_taps, int n)
{
  int j = (n_taps - 1) % 4 + 1;
  if (j == 1)
    add_columns (sums, row, offset, step, weight, 1, true, n);
  else if (j == 2)
    add_columns (sums, row, offset, step, weight, 2, true, n);
  else if (j == 3)
    add_columns (sums, row, offset, step, weight, 3, true, n);
  else
    add_columns (sums, row, offset, step, weight, 4, true, n);
  for (; j < n_taps; j += 4)
    add_columns (sums, row + (size_t) j * step, offset, step,
        weight + (size_t) j * n, 4, false, n);
}

/* Operations on it are those on four single floats. */
typedef float four_floats __attribute__ ((vector_size (16)));

PP_INLINE four_floats
load_four (const float *from)
{
  four_floats values;
  memcpy (&values, from, sizeof values);
  return values;
}

/* As add_columns, for four lanes a column. */
PP_INLINE void
add_lanes (float *restrict lanes, const float *restrict row,
    const int32_t *restrict offset, int step, const float *restrict weight,
    int n_taps, bool first, int n)
{
  for (int x = 0; x < n; x++) {
    const float *from = row + offset[x];
    four_floats sum = weight[x] * load_four (from);
    if (!first)
      sum = load_four (lanes + PP_LANES * x) + sum;
    for (int j = 1; j < n_taps; j++)
      sum = sum + weight[(size_t) j * n + x] * load_four (from + j * step);
    memcpy (lanes + PP_LANES * x, &sum, sizeof sum);
  }
}

PP_CLONES void
pp_sum_lanes (float *restrict lanes, const float *restrict row,
    const int32_t *restrict offset, int step, const float *restrict weight,
    int n_taps, int n)
{
  int j = (n_taps - 1) % 4 + 1;
  if (j == 1)
    add_lanes (lanes, row, offset, step, weight, 1, true, n);
  else if (j == 2)
    add_lanes (lanes, row, offset, step, weight, 2, true, n);
  else if (j == 3)
    add_lanes (lanes, row, offset, step, weight, 3, true, n);
  else
    add_lanes (lanes, row, offset, step, weight, 4, true, n);
  for (; j < n_taps; j += 4)
    add_lanes (lanes, row + (size_t) j * step, offset, step,
        weight + (size_t) j * n, 4, false, n);
}

/* a and b each have both taps of a column, for two components. Returns the sums
 * of both columns. */
PP_INLINE four_floats
add_taps (four_floats a, four_floats b)
{
  const four_floats first = { a[0], a[1], b[0], b[1] };
  const four_floats second = { a[2], a[3], b[2], b[3] };

  return first + second;
}

PP_INLINE four_floats
weigh_taps (const float *row, int32_t offset, const float *weight)
{
  return load_four (weight) * load_four (row + offset);
}

PP_CLONES void
pp_sum_pairs (float *restrict a, float *restrict b, const float *restrict row,
    const int32_t *restrict offset, const float *restrict weight, int n)
{
  int x = 0;
  for (; x + 4 <= n; x += 4) {
    const float *w = weight + (size_t) 4 * x;
    const four_floats left = add_taps (
        weigh_taps (row, offset[x], w), weigh_taps (row, offset[x + 1], w + 4));
    const four_floats right = add_taps (weigh_taps (row, offset[x + 2], w + 8),
        weigh_taps (row, offset[x + 3], w + 12));
    const four_floats firsts = { left[0], left[2], right[0], right[2] };
    const four_floats seconds = { left[1], left[3], right[1], right[3] };
    memcpy (a + x, &firsts, sizeof firsts);
    memcpy (b + x, &seconds, sizeof seconds);
  }
  for (; x < n; x++) {
    const float *w = weight + (size_t) 4 * x, *from = row + offset[x];
    a[x] = w[0] * from[0] + w[2] * from[2];
    b[x] = w[1] * from[1] + w[3] * from[3];
  }
}

PP_CLONES void
pp_split_lane (
    float *restrict values, const float *restrict lanes, int lane, int n)
{
  for (int x = 0; x < n; x++)
    values[x] = lanes[PP_LANES * x + lane];
}

PP_INLINE uint32_t
load_word (const uint8_t *from)
{
  return (uint32_t) from[0] | (uint32_t) from[1] << 8 |
      (uint32_t) from[2] << 16 | (uint32_t) from[3] << 24;
}

/* Words of columns [first, last) that may end beyond the reach. */
static void
fetch_partial_words (uint32_t *restrict words, const uint8_t *row,
    const int32_t *restrict offset, int first, int last, int reach)
{
  for (int x = first; x < last; x++) {
    words[x] = 0;
    for (int i = 0; i < PP_WORD && offset[x] + i < reach; i++)
      words[x] |= (uint32_t) row[offset[x] + i] << 8 * i;
  }
}

/* Without clones: with them, the compiler would use gather instructions, which
 * are slower here. */
void
pp_fetch_words (uint32_t *restrict words, const uint8_t *row,
    const int32_t *restrict offset, int first_whole, int end_whole, int n,
    int reach)
{
  fetch_partial_words (words, row, offset, 0, first_whole, reach);
  for (int x = first_whole; x < end_whole; x++)
    words[x] = load_word (row + offset[x]);
  fetch_partial_words (words, row, offset, end_whole, n, reach);
}

PP_INLINE void
add_words (float *restrict sums, const uint32_t *restrict words, float weight,
    bool first, bool swap, int shift, uint32_t mask, int n)
{
  for (int x = 0; x < n; x++) {
    uint32_t word = words[x];
    if (swap)
      word = (word >> 8 & 0x00ff00ff) | (word << 8 & 0xff00ff00);
    const float product = weight * (float) (int32_t) (word >> shift & mask);
    sums[x] = first ? product : sums[x] + product;
  }
}

PP_CLONES void
pp_add_words (float *restrict sums, const uint32_t *restrict words,
    float weight, bool first, const pp_sample_code *code, int n)
{
  const int shift = code->shift;
  const uint32_t mask = code->mask;
  if (code->swap && first)
    add_words (sums, words, weight, true, true, shift, mask, n);
  else if (code->swap)
    add_words (sums, words, weight, false, true, shift, mask, n);
  else if (first)
    add_words (sums, words, weight, true, false, shift, mask, n);
  else
    add_words (sums, words, weight, false, false, shift, mask, n);
}

PP_CLONES void
pp_add_weighted (float *restrict sums, const float *restrict values,
    const float *restrict weight, bool first, int n)
{
  if (first)
    for (int x = 0; x < n; x++)
      sums[x] = weight[x] * values[x];
  else
    for (int x = 0; x < n; x++)
      sums[x] = sums[x] + weight[x] * values[x];
}

PP_INLINE float
clamp (float value, float low, float high)
{
  value = value > low ? value : low;
  return value < high ? value : high;
}

PP_CLONES void
pp_mix (float *restrict colour, const float *restrict a,
    const float *restrict b, const float *restrict c, const float *restrict m,
    int n)
{
  const float m0 = m[0], m1 = m[1], m2 = m[2], m3 = m[3];
  for (int x = 0; x < n; x++)
    colour[x] = clamp (((m0 * a[x] + m1 * b[x]) + m2 * c[x]) + m3, 0.f, 255.f);
}

/* The same as pp_mix where two of its factors are 0. */
PP_CLONES void
pp_mix_one (float *restrict colour, const float *restrict a, float factor,
    float constant, int n)
{
  for (int x = 0; x < n; x++)
    colour[x] = clamp (factor * a[x] + constant, 0.f, 255.f);
}

PP_CLONES void
pp_mix_gray (float *restrict r, const float *restrict g,
    const float *restrict b, const float *restrict factor, int n)
{
  const float f0 = factor[0], f1 = factor[1], f2 = factor[2];
  for (int x = 0; x < n; x++)
    r[x] = (f0 * r[x] + f1 * g[x]) + f2 * b[x];
}

/* size is a constant where this is inlined. */
PP_INLINE void
scatter (uint8_t *restrict to, const uint8_t *restrict from, size_t size,
    size_t stride, int n)
{
  for (size_t x = 0; x < (size_t) n; x++)
    memcpy (to + x * stride * size, from + x * size, size);
}

void
pp_scatter (void *to, const void *from, size_t size, size_t stride, int n)
{
  if (size == 1)
    scatter (to, from, 1, stride, n);
  else if (size == 2)
    scatter (to, from, 2, stride, n);
  else
    scatter (to, from, 4, stride, n);
}

#define DEFINE_INTERLEAVE(type)                                                \
  PP_CLONES static void interleave_##type (type *restrict to,                  \
      ptrdiff_t to_stride, const type *restrict a, const type *restrict b,     \
      const type *restrict c, ptrdiff_t from_stride, int n, int rows)          \
  {                                                                            \
    for (int y = 0; y < rows; y++) {                                           \
      for (int x = 0; x < n; x++) {                                            \
        to[3 * x] = a[x];                                                      \
        to[3 * x + 1] = b[x];                                                  \
        to[3 * x + 2] = c[x];                                                  \
      }                                                                        \
      to += to_stride;                                                         \
      a += from_stride;                                                        \
      b += from_stride;                                                        \
      c += from_stride;                                                        \
    }                                                                          \
  }

DEFINE_INTERLEAVE (uint8_t)
DEFINE_INTERLEAVE (uint16_t)
DEFINE_INTERLEAVE (uint32_t)

void
pp_interleave (void *to, ptrdiff_t to_stride, const void *a, const void *b,
    const void *c, ptrdiff_t from_stride, size_t size, int n, int rows)
{
  if (size == 1)
    interleave_uint8_t (to, to_stride, a, b, c, from_stride, n, rows);
  else if (size == 2)
    interleave_uint16_t (to, to_stride, a, b, c, from_stride, n, rows);
  else
    interleave_uint32_t (to, to_stride, a, b, c, from_stride, n, rows);
}

/* A pixel is written as a word: compilers make poor code of four bytes. */
PP_CLONES void
pp_interleave_four (uint8_t *restrict to, ptrdiff_t to_stride,
    const uint8_t *restrict a, const uint8_t *restrict b,
    const uint8_t *restrict c, ptrdiff_t from_stride, uint8_t fourth, int n,
    int rows)
{
  const bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < n; x++) {
      const uint32_t first = a[x], second = b[x], third = c[x];
      const uint32_t pixel = big
          ? first << 24 | second << 16 | third << 8 | fourth
          : first | second << 8 | third << 16 | (uint32_t) fourth << 24;
      memcpy (to + 4 * x, &pixel, sizeof pixel);
    }
    to += to_stride;
    a += from_stride;
    b += from_stride;
    c += from_stride;
  }
}
