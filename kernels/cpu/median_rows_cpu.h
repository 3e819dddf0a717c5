/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The loops of the CPU's median, each over one row. median_cpu.c includes this
 * file twice, with SAMPLE as the type of a sample; NAME makes the names differ.
 *
 * Values are sorted by networks: minima and maxima of two values, in a fixed
 * order, without branches. A column of the window is sorted once, for all
 * windows that it is part of: rank[k][u] is the k-th smallest value of the
 * column around unit u. What a function writes overlaps nothing that it reads.
 */

/* Swaps the bytes if coding->swap is 8, and does nothing if it is 0. */
PP_INLINE SAMPLE
NAME (swap) (SAMPLE sample, const struct coding *coding)
{
  if (sizeof sample == 1)
    return sample;
  return (SAMPLE) (sample << coding->swap | sample >> coding->swap);
}

PP_INLINE SAMPLE
NAME (load) (const uint8_t *row, int unit, const struct coding *coding)
{
  SAMPLE sample;

  memcpy (&sample, row + (size_t) unit * sizeof sample, sizeof sample);
  return (SAMPLE) (NAME (swap) (sample, coding) & coding->bits);
}

PP_INLINE SAMPLE
NAME (min) (SAMPLE a, SAMPLE b)
{
  return a < b ? a : b;
}

PP_INLINE SAMPLE
NAME (max) (SAMPLE a, SAMPLE b)
{
  return a > b ? a : b;
}

PP_INLINE void
NAME (order) (SAMPLE *a, SAMPLE *b)
{
  const SAMPLE low = NAME (min) (*a, *b);

  *b = NAME (max) (*a, *b);
  *a = low;
}

PP_INLINE void
NAME (sort_3) (SAMPLE v[3])
{
  NAME (order) (&v[0], &v[1]);
  NAME (order) (&v[1], &v[2]);
  NAME (order) (&v[0], &v[1]);
}

/* Nine comparisons, the minimum (Knuth, The Art of Computer Programming, volume
 * 3, 5.3.4). */
PP_INLINE void
NAME (sort_5) (SAMPLE v[5])
{
  NAME (order) (&v[0], &v[1]);
  NAME (order) (&v[3], &v[4]);
  NAME (order) (&v[2], &v[4]);
  NAME (order) (&v[2], &v[3]);
  NAME (order) (&v[1], &v[4]);
  NAME (order) (&v[0], &v[3]);
  NAME (order) (&v[0], &v[2]);
  NAME (order) (&v[1], &v[3]);
  NAME (order) (&v[1], &v[2]);
}

PP_CLONES static void
NAME (rank_3) (void *const *rank, const uint8_t *const *rows, int n,
    const struct coding *coding)
{
  SAMPLE *low = rank[0], *middle = rank[1], *high = rank[2];
  const uint8_t *a = rows[0], *b = rows[1], *c = rows[2];
  const struct coding local = *coding;

  PP_NO_OVERLAP
  for (int u = 0; u < n; u++) {
    SAMPLE v[3] = { NAME (load) (a, u, &local), NAME (load) (b, u, &local),
      NAME (load) (c, u, &local) };

    NAME (sort_3) (v);
    low[u] = v[0];
    middle[u] = v[1];
    high[u] = v[2];
  }
}

/* The median of nine is the median of three values: the highest of the three
 * lowest, the middle one of the three middle ones, and the lowest of the three
 * highest of the columns. */
PP_CLONES static void
NAME (median_3) (
    void *to, void *const *rank, int step, int n, const struct coding *coding)
{
  SAMPLE *median = to;
  const SAMPLE *low = rank[0], *middle = rank[1], *high = rank[2];
  const struct coding local = *coding;

  PP_NO_OVERLAP
  for (int u = 0; u < n; u++) {
    SAMPLE m[3] = { middle[u - step], middle[u], middle[u + step] };

    NAME (sort_3) (m);
    m[0] = NAME (max) (NAME (max) (low[u - step], low[u]), low[u + step]);
    m[2] = NAME (min) (NAME (min) (high[u - step], high[u]), high[u + step]);
    NAME (sort_3) (m);
    median[u] = NAME (swap) (m[1], &local);
  }
}

PP_CLONES static void
NAME (rank_5) (void *const *rank, const uint8_t *const *rows, int n,
    const struct coding *coding)
{
  SAMPLE *rank_0 = rank[0], *rank_1 = rank[1], *rank_2 = rank[2];
  SAMPLE *rank_3 = rank[3], *rank_4 = rank[4];
  const uint8_t *a = rows[0], *b = rows[1], *c = rows[2];
  const uint8_t *d = rows[3], *e = rows[4];
  const struct coding local = *coding;

  PP_NO_OVERLAP
  for (int u = 0; u < n; u++) {
    SAMPLE v[5] = { NAME (load) (a, u, &local), NAME (load) (b, u, &local),
      NAME (load) (c, u, &local), NAME (load) (d, u, &local),
      NAME (load) (e, u, &local) };

    NAME (sort_5) (v);
    rank_0[u] = v[0];
    rank_1[u] = v[1];
    rank_2[u] = v[2];
    rank_3[u] = v[3];
    rank_4[u] = v[4];
  }
}

/* The five values of a rank around unit u, in ascending order. */
PP_INLINE void
NAME (sort_around) (SAMPLE v[5], const SAMPLE *rank, int u, int step)
{
  v[0] = rank[u - 2 * step];
  v[1] = rank[u - step];
  v[2] = rank[u];
  v[3] = rank[u + step];
  v[4] = rank[u + 2 * step];
  NAME (sort_5) (v);
}

/* After columns are sorted, rows of the window, the ranks, are sorted; columns
 * stay sorted. So value [r][c] is not below (r + 1) (c + 1) - 1 others and not
 * above (5 - r) (5 - c) - 1 others. If either number is more than 12, the value
 * is not the median, the 13th of 25. These values remain:
 *
 *   . . . l m      r = 0
 *   . . l m h
 *   . l m h .
 *   l m h . .
 *   m h . . .      r = 4
 *
 * Six of the values that are left out are not above the median and six not
 * below it, so that it is the 7th of these 13. An l that is not the highest l
 * is not above that one, three m and three h, so it cannot be the 7th; nor can
 * an h that is not the lowest. There remain the highest l, the lowest h and
 * five m. The median is the 4th of these 7, and so neither the first nor the
 * last m. */
PP_CLONES static void
NAME (median_5) (
    void *to, void *const *rank, int step, int n, const struct coding *coding)
{
  SAMPLE *median = to;
  const SAMPLE *rank_0 = rank[0], *rank_1 = rank[1], *rank_2 = rank[2];
  const SAMPLE *rank_3 = rank[3], *rank_4 = rank[4];
  const struct coding local = *coding;

  PP_NO_OVERLAP
  for (int u = 0; u < n; u++) {
    SAMPLE a[5], b[5], c[5], d[5], e[5];

    NAME (sort_around) (a, rank_0, u, step);
    NAME (sort_around) (b, rank_1, u, step);
    NAME (sort_around) (c, rank_2, u, step);
    NAME (sort_around) (d, rank_3, u, step);
    NAME (sort_around) (e, rank_4, u, step);

    SAMPLE m[5] = { a[4], b[3], c[2], d[1], e[0] };
    SAMPLE l = NAME (max) (NAME (max) (a[3], b[2]), NAME (max) (c[1], d[0]));
    SAMPLE h = NAME (min) (NAME (min) (b[4], c[3]), NAME (min) (d[2], e[1]));

    NAME (sort_5) (m);
    NAME (order) (&l, &h);
    /* the third of m[1] <= m[2] <= m[3] and l <= h */
    l = NAME (max) (m[2], l);
    h = NAME (max) (m[1], h);
    median[u] = NAME (swap) (NAME (min) (m[3], NAME (min) (l, h)), &local);
  }
}

/* Continues a rank of n units by margin units on both sides. Each is a copy of
 * the unit step units farther inside: the same component of the nearest pixel.
 */
static void
NAME (extend) (void *rank, int n, int step, int margin)
{
  SAMPLE *value = rank;

  for (int u = -1; u >= -margin; u--)
    value[u] = value[u + step];
  for (int u = n; u < n + margin; u++)
    value[u] = value[u - step];
}
