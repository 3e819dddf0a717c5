/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loops of the CPU's kernel, each over one row. What a function writes
 * overlaps nothing that it reads. Any thread.
 */
#ifndef PP_ROWS_CPU_H
#define PP_ROWS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a word: sparse passes fetch samples in words. */
#define PP_WORD 4
/* How many adjacent sums one vector has, where components are interleaved. */
#define PP_LANES 4

/* How the bytes of a sample, or of a word, become a value. */
typedef struct pp_sample_code {
  int bytes;     /* of a sample, 1 or 2 */
  bool swap;     /* of 2 bytes: swap them first */
  int shift;     /* bits below the value */
  uint32_t mask; /* of the value, after the shift; at most 16 bits */
} pp_sample_code;

/* Dense, vertical: sums[i] = sum over taps j of weights[j] * sample i of
 * rows[j]. Samples are adjacent, and in this machine's byte order unless
 * code->swap. n_taps is at least 1. */
void pp_sum_rows (float *sums, const uint8_t *const *rows, const float *weights,
    int n_taps, int n_samples, const pp_sample_code *code);

/* Dense, horizontal: sums[x] = sum over taps j of
 * weight[j * n + x] * row[offset[x] + j * step]. n_taps is at least 1. */
void pp_sum_columns (float *sums, const float *row, const int32_t *offset,
    int step, const float *weight, int n_taps, int n);

/* As pp_sum_columns, for interleaved components: PP_LANES sums a column at
 * once. Lane k of column x is at lanes[PP_LANES * x + k], and its taps start at
 * row[offset[x] + k]. Reads up to PP_LANES - 1 floats behind the last one that
 * is used. */
void pp_sum_lanes (float *lanes, const float *row, const int32_t *offset,
    int step, const float *weight, int n_taps, int n);
/* As pp_sum_lanes for two components with two taps, which are four adjacent
 * samples: a[x] and b[x] are lanes 0 and 1, and the step is 2. weight has four
 * floats a column: the weight of tap 0 twice, then that of tap 1 twice. */
void pp_sum_pairs (float *a, float *b, const float *row, const int32_t *offset,
    const float *weight, int n);
/* values[x] = lanes[PP_LANES * x + lane] */
void pp_split_lane (float *values, const float *lanes, int lane, int n);

/* Sparse: words[x] = the PP_WORD bytes at row + offset[x], the first one
 * lowest. Only reach bytes of the row may be read. Words [first_whole,
 * end_whole) are inside of them; in the others, bytes behind them are 0. */
void pp_fetch_words (uint32_t *words, const uint8_t *row, const int32_t *offset,
    int first_whole, int end_whole, int n, int reach);

/* Sparse, vertical: sums[x] += weight * the value in words[x]. With first, sums
 * is set instead of added to. code->swap: samples are big endian. */
void pp_add_words (float *sums, const uint32_t *words, float weight, bool first,
    const pp_sample_code *code, int n);

/* Sparse, horizontal: sums[x] += weight[x] * values[x]. With first, sums is set
 * instead of added to. */
void pp_add_weighted (
    float *sums, const float *values, const float *weight, bool first, int n);

/* colour = ((m[0] a + m[1] b) + m[2] c) + m[3], clamped to 0...255 */
void pp_mix (float *colour, const float *a, const float *b, const float *c,
    const float *m, int n);
/* colour = factor a + constant, clamped to 0...255: pp_mix where two of the
 * factors are 0. */
void pp_mix_one (
    float *colour, const float *a, float factor, float constant, int n);
/* r = (f[0] r + f[1] g) + f[2] b */
void pp_mix_gray (
    float *r, const float *g, const float *b, const float *f, int n);

/* Copies n adjacent elements of size bytes (1, 2 or 4) to elements 0, stride,
 * 2 * stride, ... of to. */
void pp_scatter (void *to, const void *from, size_t size, size_t stride, int n);
/* to = a[0], b[0], c[0], a[1], ... with n elements of size bytes each: 1, 2 or
 * 4. Strides are from one of the rows to the next, in elements. */
void pp_interleave (void *to, ptrdiff_t to_stride, const void *a, const void *b,
    const void *c, ptrdiff_t from_stride, size_t size, int n, int rows);
/* The same with a fourth element of a byte behind each three. */
void pp_interleave_four (uint8_t *to, ptrdiff_t to_stride, const uint8_t *a,
    const uint8_t *b, const uint8_t *c, ptrdiff_t from_stride, uint8_t fourth,
    int n, int rows);

#endif
