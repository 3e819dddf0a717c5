/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loops of the CPU backend's kernel, each over one row. Pointers that are
 * written to overlap nothing else. Any thread.
 */
#ifndef PP_ROWS_CPU_H
#define PP_ROWS_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a word, the unit in which single samples are fetched. */
#define PP_WORD 4
/* Horizontal sums that are made at once where components are interleaved. */
#define PP_LANES 4

/* How the bytes of a sample, or of the samples in a word, become a value. */
typedef struct pp_sample_code {
  int bytes;     /* of a sample, 1 or 2 */
  bool swap;     /* 2 bytes: they are not in the order expected */
  int shift;     /* bits below the value */
  uint32_t mask; /* of the value, after the shift; at most 16 bits */
} pp_sample_code;

/* sums[i] = sum over taps of weights[j] * sample i of rows[j]. Samples are
 * adjacent and in this machine's byte order unless swap. n_taps >= 1. */
void pp_sum_rows (float *sums, const uint8_t *const *rows, const float *weights,
    int n_taps, int n_samples, const pp_sample_code *code);

/* sums[x] = sum over taps of weight[j * n + x] * row[offset[x] + j * step].
 * n_taps >= 1. */
void pp_sum_columns (float *sums, const float *row, const int32_t *offset,
    int step, const float *weight, int n_taps, int n);

/* As pp_sum_columns for PP_LANES sums of adjacent samples at once: lane k of
 * column x is at lanes[PP_LANES * x + k] and starts at row[offset[x] + k].
 * Reads up to PP_LANES - 1 floats behind the last lane that is wanted. */
void pp_sum_lanes (float *lanes, const float *row, const int32_t *offset,
    int step, const float *weight, int n_taps, int n);
/* Two components' two taps that are four adjacent samples: a[x] and b[x] are what
 * pp_sum_lanes puts into lanes 0 and 1, for steps of 2. weight: for each column
 * that of tap 0 twice, then that of tap 1 twice. */
void pp_sum_pairs (float *a, float *b, const float *row, const int32_t *offset,
    const float *weight, int n);
/* values[x] = lane of column x. */
void pp_split_lane (float *values, const float *lanes, int lane, int n);

/* words[x] = the bytes at row + offset[x], the first one lowest. Words from
 * n_whole on may end behind the row's reach bytes: those read as zero. */
void pp_fetch_words (uint32_t *words, const uint8_t *row, const int32_t *offset,
    int n_whole, int n, int reach);

/* sums[x] += weight * value in words[x]; first: sums holds nothing yet. swap:
 * samples are big endian. */
void pp_add_words (float *sums, const uint32_t *words, float weight, bool first,
    const pp_sample_code *code, int n);

/* sums[x] += weight[x] * values[x]; first: sums holds nothing yet. */
void pp_add_weighted (
    float *sums, const float *values, const float *weight, bool first, int n);

/* colour = ((m[0] a + m[1] b) + m[2] c) + m[3], clamped to 0...255. */
void pp_mix (float *colour, const float *a, const float *b, const float *c,
    const float *m, int n);
/* colour = factor a + constant, clamped: pp_mix where only one factor is not
 * zero. */
void pp_mix_one (
    float *colour, const float *a, float factor, float constant, int n);
/* r = (f[0] r + f[1] g) + f[2] b */
void pp_mix_gray (
    float *r, const float *g, const float *b, const float *f, int n);

/* Element x of n goes to to + x * stride elements of size bytes. */
void pp_scatter (void *to, const void *from, size_t size, size_t stride, int n);
/* to = a[0], b[0], c[0], a[1], ... of elements of size 1, 2 or 4 bytes. */
void pp_interleave (
    void *to, const void *a, const void *b, const void *c, size_t size, int n);

#endif
