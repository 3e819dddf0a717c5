/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernel for at most two taps an axis, few_taps: a thread has all loads
 * of its pixels in flight at once. choose_few_taps, at the end, chooses its
 * variant on the host.
 */
#ifndef PP_FEW_TAPS_CUDA_CUH
#define PP_FEW_TAPS_CUDA_CUH

#include "taps_cuda.cuh"

/* Which pixels a thread makes, as a template parameter: one, or FOUR, one below the
 * other or side by side. In a launch of many pictures there are threads enough; a
 * thread's pixels share what belongs to their column or row, and it has more loads
 * in flight. If the tensor's are adjacent elements, ACROSS stores them at once. */
enum {
  ALONE,
  DOWN,
  ACROSS
};

template <int SHAPE> struct thread_shape {
  static constexpr int rows = SHAPE == DOWN ? FOUR : 1;
  static constexpr int columns = SHAPE == ACROSS ? FOUR : 1;
  static constexpr int pictures = SHAPE == ALONE ? 1 : MANY;
  /* of the largest block */
  static constexpr int threads =
      SHAPE == ACROSS ? BLOCK_COLUMNS * BLOCK_ROWS : BLOCK_THREADS;
};

/* The adjacent components that are loaded together, as a template parameter:
 * none, 1 and 2, or all three. */
enum {
  APART = 1,
  PAIR = 2,
  TRIPLE = 3
};

/* Blocks that a multiprocessor should have at once: threads of FOUR pixels need
 * more registers. With 2048 threads they have up to 64; ACROSS has up to 40 for
 * few samples a pixel, and 80 for many. Template parameters: as of few_taps. */
template <int X, int Y, int CHROMA, int ADJACENT, int SHAPE>
static __host__ __device__ constexpr int
few_taps_blocks ()
{
  constexpr int chroma = CHROMA > 0 ? CHROMA * CHROMA : X * Y;

  if (SHAPE != ACROSS)
    return SHAPE == ALONE ? BLOCKS : BLOCKS / 2;
  if (ADJACENT == APART && X * Y + 2 * chroma >= 10)
    return BLOCKS * 3 / 4;
  return X * Y + CHROMA > 2 ? BLOCKS : BLOCKS * 3 / 2;
}

/* The taps of one output on one axis. If the table has fewer than TAPS, the
 * others have weight 0 and change no bit. */
template <int TAPS> struct tap_set {
  unsigned at[TAPS];
  float weight[TAPS];
};

template <int TAPS>
static __device__ __forceinline__ tap_set<TAPS>
load_taps (const tap_table &table, unsigned output)
{
  const unsigned first = __ldg (table.first + output);
  tap_set<TAPS> taps;

#pragma unroll
  for (int j = 0; j < TAPS; j++) {
    const bool there = j == 0 || j < table.n_taps;
    taps.at[j] = there ? first + j : first;
    taps.weight[j] =
        there ? __ldg (table.weight + (output + j * table.n_out)) : 0.f;
  }
  return taps;
}

/* The same for N adjacent outputs from output on. Those beside the n_content that
 * there are have the taps of the first or the last one. */
template <int TAPS, int N>
static __device__ __forceinline__ void
load_taps (
    tap_set<TAPS> (&taps)[N], const tap_table &table, int output, int n_content)
{
  if constexpr (N == FOUR) {
    const uintptr_t places = (uintptr_t) (table.first + output) |
        (uintptr_t) (table.weight + output) | table.n_out * sizeof (float);
    if (output >= 0 && output + N <= n_content &&
        places % sizeof (float4) == 0) {
      const int4 first = __ldg ((const int4 *) (table.first + output));
#pragma unroll
      for (int j = 0; j < TAPS; j++) {
        const bool there = j == 0 || j < table.n_taps;
        const int step = there ? j : 0;
        const float4 weight = there
            ? __ldg ((const float4 *) (table.weight + output + j * table.n_out))
            : make_float4 (0.f, 0.f, 0.f, 0.f);
        taps[0].at[j] = first.x + step;
        taps[1].at[j] = first.y + step;
        taps[2].at[j] = first.z + step;
        taps[3].at[j] = first.w + step;
        taps[0].weight[j] = weight.x;
        taps[1].weight[j] = weight.y;
        taps[2].weight[j] = weight.z;
        taps[3].weight[j] = weight.w;
      }
      return;
    }
  }
#pragma unroll
  for (int k = 0; k < N; k++)
    taps[k] = load_taps<TAPS> (table, min (max (output + k, 0), n_content - 1));
}

/* How adjacent components are loaded, as a template parameter: each sample, or, of
 * three bytes, the two aligned words that they are in, which may be the same. */
enum {
  SAMPLES,
  WORDS
};

/* The samples of N adjacent components under the taps of one pixel, as they are
 * loaded: two at once if N is 2; with WORDS, two words and how many bits of them are
 * before the first sample. */
template <int N, int X, int Y> struct tap_samples {
  unsigned sample[Y][X][N == 3 ? 3 : 1];
};

/* component: the one at the lowest address. */
template <int BYTES, int LOADS, int N, int X, int Y>
static __device__ __forceinline__ void
load_samples (tap_samples<N, X, Y> &samples, const picture_args &picture,
    const pp_numbers &n, int component, const tap_set<X> &x,
    const tap_set<Y> &y)
{
#pragma unroll
  for (int j = 0; j < Y; j++) {
    const uint8_t *row = picture.first[component] +
        (size_t) y.at[j] * (unsigned) picture.stride[component];
#pragma unroll
    for (int i = 0; i < X; i++) {
      const uint8_t *at =
          row + x.at[i] * (unsigned) n.source[component].pixel_stride;
      unsigned (&sample)[N == 3 ? 3 : 1] = samples.sample[j][i];
      if constexpr (N == 2) {
        sample[0] = BYTES == 1 ? __ldg ((const unsigned short *) at)
                               : __ldg ((const unsigned *) at);
      } else if constexpr (LOADS == WORDS) {
        /* A row's bytes are as far from a word as those of the first one. */
        const unsigned phase = (uintptr_t) picture.first[component] % 4;
        const unsigned from = at - row + phase;
        const uint8_t *words = row - phase;
        sample[0] = __ldg ((const unsigned *) (words + (from & ~3u)));
        sample[1] = __ldg ((const unsigned *) (words + ((from + 2) & ~3u)));
        sample[2] = from * 8;
      } else {
#pragma unroll
        for (int c = 0; c < N; c++)
          sample[c] = BYTES == 1 ? __ldg (at + c)
                                 : __ldg ((const unsigned short *) at + c);
      }
    }
  }
}

/* The values of N samples that were loaded. */
template <int BYTES, int LOADS, int N>
static __device__ __forceinline__ void
decode_samples (float (&value)[N], const pp_numbers &n, const pp_source &source,
    const unsigned (&sample)[N == 3 ? 3 : 1])
{
  if constexpr (N == 2) {
    const float2 pair = decode_pair<BYTES> (n, source, sample[0]);
    value[0] = pair.x;
    value[1] = pair.y;
  } else if constexpr (LOADS == WORDS) {
    const unsigned bytes = __funnelshift_r (sample[0], sample[1], sample[2]);
#pragma unroll
    for (int c = 0; c < N; c++)
      value[c] = (float) (int) (bytes >> 8 * c & 0xff);
  } else {
#pragma unroll
    for (int c = 0; c < N; c++)
      value[c] = decode_sample<BYTES> (n, source, sample[c]);
  }
}

/* Without the reference's addend 0: see convert_colour. */
template <int BYTES, int LOADS, int N, int X, int Y>
static __device__ __forceinline__ void
sum_samples (float (&sum)[N], const pp_numbers &n, const pp_source &source,
    const tap_samples<N, X, Y> &samples, const tap_set<X> &x,
    const tap_set<Y> &y)
{
#pragma unroll
  for (int c = 0; c < N; c++)
    sum[c] = 0.f;
#pragma unroll
  for (int i = 0; i < X; i++) {
    float column[N] = {};
#pragma unroll
    for (int j = 0; j < Y; j++) {
      float value[N];
      decode_samples<BYTES, LOADS> (value, n, source, samples.sample[j][i]);
#pragma unroll
      for (int c = 0; c < N; c++)
        column[c] = j == 0 ? __fmul_rn (y.weight[j], value[c])
                           : add_product (column[c], y.weight[j], value[c]);
    }
#pragma unroll
    for (int c = 0; c < N; c++)
      sum[c] = i == 0 ? __fmul_rn (x.weight[i], column[c])
                      : add_product (sum[c], x.weight[i], column[c]);
  }
}

/* All that a thread loads of a pixel. Template parameters: X, Y are taps of
 * component 0; CHROMA is taps of components 1 and 2 on both axes, or 0 if all
 * components have the same tables. */
template <int X, int Y, int CHROMA, int ADJACENT> struct pixel_samples {
  static constexpr int cx = CHROMA > 0 ? CHROMA : X;
  static constexpr int cy = CHROMA > 0 ? CHROMA : Y;
  tap_samples<ADJACENT == TRIPLE ? 3 : 1, X, Y> first;
  tap_samples<ADJACENT == PAIR ? 2 : 1, cx, cy> second;
  tap_samples<1, cx, cy> third;
};

/* The taps of N columns or rows, and those of components 1 and 2 there. */
template <int TAPS, int CHROMA, int N> struct all_taps {
  tap_set<TAPS> first[N];
  tap_set<(CHROMA > 0 ? CHROMA : TAPS)> others[N];
};

template <int TAPS, int CHROMA, int N>
static __device__ __forceinline__ void
load_all_taps (all_taps<TAPS, CHROMA, N> &taps, const tap_table (&table)[2],
    int output, int n_content)
{
  load_taps (taps.first, table[0], output, n_content);
  if constexpr (CHROMA > 0) {
    load_taps (taps.others, table[1], output, n_content);
  } else {
#pragma unroll
    for (int k = 0; k < N; k++)
      taps.others[k] = taps.first[k];
  }
}

/* The pixel in the thread's column k and row r. */
template <int BYTES, int COMPONENTS, int LOADS, int X, int Y, int CHROMA,
    int ADJACENT, int COLUMNS, int ROWS>
static __device__ __forceinline__ void
load_pixel (pixel_samples<X, Y, CHROMA, ADJACENT> &pixel,
    const picture_args &picture, const pp_numbers &n, bool descending,
    const all_taps<X, CHROMA, COLUMNS> &x, int k,
    const all_taps<Y, CHROMA, ROWS> &y, int r)
{
  load_samples<BYTES, LOADS> (pixel.first, picture, n,
      ADJACENT == TRIPLE && descending ? 2 : 0, x.first[k], y.first[r]);
  if constexpr (COMPONENTS == 3 && ADJACENT != TRIPLE)
    load_samples<BYTES, SAMPLES> (pixel.second, picture, n,
        ADJACENT == PAIR && descending ? 2 : 1, x.others[k], y.others[r]);
  if constexpr (COMPONENTS == 3 && ADJACENT == APART)
    load_samples<BYTES, SAMPLES> (
        pixel.third, picture, n, 2, x.others[k], y.others[r]);
}

template <int BYTES, int COMPONENTS, int LOADS, int X, int Y, int CHROMA,
    int ADJACENT, int COLUMNS, int ROWS>
static __device__ __forceinline__ void
sum_pixel (float (&value)[COMPONENTS], const pp_numbers &n,
    const pixel_samples<X, Y, CHROMA, ADJACENT> &pixel, bool descending,
    const all_taps<X, CHROMA, COLUMNS> &x, int k,
    const all_taps<Y, CHROMA, ROWS> &y, int r)
{
  const pp_source *source = n.source;

  if constexpr (ADJACENT == TRIPLE) {
    float sum[3];
    sum_samples<BYTES, LOADS> (
        sum, n, source[0], pixel.first, x.first[k], y.first[r]);
    value[0] = descending ? sum[2] : sum[0];
    value[1] = sum[1];
    value[2] = descending ? sum[0] : sum[2];
  } else {
    float sum[1];
    sum_samples<BYTES, LOADS> (
        sum, n, source[0], pixel.first, x.first[k], y.first[r]);
    value[0] = sum[0];
    if constexpr (ADJACENT == PAIR) {
      float pair[2];
      sum_samples<BYTES, SAMPLES> (
          pair, n, source[1], pixel.second, x.others[k], y.others[r]);
      value[1] = descending ? pair[1] : pair[0];
      value[2] = descending ? pair[0] : pair[1];
    } else if constexpr (COMPONENTS == 3) {
      sum_samples<BYTES, SAMPLES> (
          sum, n, source[1], pixel.second, x.others[k], y.others[r]);
      value[1] = sum[0];
      sum_samples<BYTES, SAMPLES> (
          sum, n, source[2], pixel.third, x.others[k], y.others[r]);
      value[2] = sum[0];
    }
  }
}

/* The first pixel of a thread that makes FOUR side by side; it may be to the left
 * of the content. */
static __device__ __forceinline__ pixel_place
find_four (const picture_args &picture)
{
  const int x = (blockIdx.x * BLOCK_COLUMNS + threadIdx.x) * FOUR -
      (unsigned) picture.lead;
  const int y = blockIdx.y * BLOCK_ROWS + threadIdx.y;

  return { (unsigned) x, (unsigned) y,
    x < picture.width && y < picture.height };
}

template <int BYTES, int COMPONENTS, int X, int Y, int CHROMA, int ADJACENT,
    int SHAPE>
static __global__ void
__launch_bounds__ (thread_shape<SHAPE>::threads,
    few_taps_blocks<X, Y, CHROMA, ADJACENT, SHAPE> ())
    few_taps (
        const __grid_constant__ kernel_args<thread_shape<SHAPE>::pictures> all)
{
  constexpr int rows = thread_shape<SHAPE>::rows;
  constexpr int columns = thread_shape<SHAPE>::columns;
  constexpr int loads =
      ADJACENT == TRIPLE && BYTES == 1 && SHAPE != ALONE ? WORDS : SAMPLES;
  const kernel_view args = find_picture (all);
  const picture_args &picture = args.picture;
  const pp_numbers &n = args.common.numbers;
  const pixel_place place =
      SHAPE == ACROSS ? find_four (picture) : find_pixels (picture, rows);
  /* of adjacent components, whether the first one is at the highest address */
  const bool descending =
      ADJACENT != APART && picture.first[2] < picture.first[1];
  all_taps<X, CHROMA, columns> x;
  all_taps<Y, CHROMA, rows> y;
  pixel_samples<X, Y, CHROMA, ADJACENT> pixel[rows * columns];
  float value[rows * columns][COMPONENTS];

  if (!place.inside && (SHAPE == ACROSS || !n.swapped))
    return;
  load_all_taps (x, picture.x, (int) place.x, picture.width);
  load_all_taps (y, picture.y, (int) place.y, picture.height);
#pragma unroll
  for (int i = 0; i < rows * columns; i++)
    load_pixel<BYTES, COMPONENTS, loads> (
        pixel[i], picture, n, descending, x, i % columns, y, i / columns);
#pragma unroll
  for (int i = 0; i < rows * columns; i++)
    sum_pixel<BYTES, COMPONENTS, loads> (
        value[i], n, pixel[i], descending, x, i % columns, y, i / columns);
  if constexpr (SHAPE == ACROSS)
    finish_four<COMPONENTS, ADJACENT == TRIPLE> (
        args, value, (int) place.x, (int) place.y);
  else
    store_pixels<COMPONENTS, rows> (args, value, place);
}

/* Which of the components are adjacent, at a multiple of a sample's size or, for
 * two, of their common size. */
static int
find_adjacent (const pp_numbers &n, bool same_taps)
{
  const pp_source *s = n.source;
  const int size = n.sample_bytes;

  if (n.n_components == 1 || !interleaved (s[1], s[2]) ||
      abs (s[1].first_byte - s[2].first_byte) != size)
    return APART;
  if (same_taps)
    return interleaved (s[0], s[1]) && interleaved (s[0], s[2]) &&
            s[1].first_byte - s[0].first_byte ==
                s[2].first_byte - s[1].first_byte
        ? TRIPLE
        : APART;
  return min (s[1].first_byte, s[2].first_byte) % (2 * size) == 0 &&
          s[1].pixel_stride % (2 * size) == 0
      ? PAIR
      : APART;
}

/* Whether each row of each channel has adjacent elements, and all of them begin at
 * the same distance from a multiple of FOUR. */
static bool
in_fours (const pp_numbers &n)
{
  bool fours = n.pixel_stride == 1 && !n.swapped && n.row_stride % FOUR == 0;

  for (int c = 0; c < n.n_channels; c++)
    fours = fours && n.channel[c] % FOUR == 0;
  return fours;
}

/* Chooses the first kernel of the table with enough taps. False if an axis has
 * more than two. many: the launch's kernel is the one for many pictures. */
static bool
choose_few_taps (kernel_launch &launch, const pp_numbers &n,
    const picture_args &picture, bool many)
{
#define FEW_TAPS(...) (const void *) few_taps<__VA_ARGS__>
#define KERNELS(...) FEW_TAPS (__VA_ARGS__, ALONE), FEW_TAPS (__VA_ARGS__, DOWN)
#define ROW(...)                                                               \
  {                                                                            \
    __VA_ARGS__,                                                               \
    {                                                                          \
      { KERNELS (1, __VA_ARGS__), FEW_TAPS (1, __VA_ARGS__, ACROSS) },         \
      {                                                                        \
        KERNELS (2, __VA_ARGS__)                                               \
      }                                                                        \
    }                                                                          \
  }
#define ROWS(components, chroma, adjacent)                                     \
  ROW (components, 1, 1, chroma, adjacent),                                    \
      ROW (components, 1, 2, chroma, adjacent),                                \
      ROW (components, 2, 1, chroma, adjacent),                                \
      ROW (components, 2, 2, chroma, adjacent)
  static const struct {
    int components, x, y, chroma, adjacent;
    /* for samples of 1 and 2 bytes, by shape; ACROSS for 1 only, since all of
     * them take minutes to compile */
    const void *kernel[2][3];
  } rows[] = { ROWS (1, 0, APART), ROWS (3, 0, APART), ROWS (3, 0, TRIPLE),
    ROW (3, 1, 1, 1, APART), ROW (3, 2, 2, 1, APART), ROWS (3, 2, APART),
    ROW (3, 1, 1, 1, PAIR), ROW (3, 2, 2, 1, PAIR), ROWS (3, 2, PAIR) };
#undef ROWS
#undef ROW
#undef KERNELS
#undef FEW_TAPS
  const int axes = n.source[0].axes;
  int chroma_taps = 0;

  if (n.n_components == 3) {
    const int chroma = n.source[1].axes;
    if (n.source[2].axes != chroma)
      return false;
    if (chroma != axes)
      chroma_taps = max (n.x[chroma].n_taps, n.y[chroma].n_taps);
  }

  const int adjacent = find_adjacent (n, chroma_taps == 0);
  const int shape = n.sample_bytes == 1 && in_fours (n) ? ACROSS : DOWN;
  for (const auto &row : rows) {
    if (row.components == n.n_components && row.x >= n.x[axes].n_taps &&
        row.y >= n.y[axes].n_taps && row.chroma >= chroma_taps &&
        (row.chroma > 0) == (chroma_taps > 0) && row.adjacent == adjacent) {
      const auto &kernel = row.kernel[n.sample_bytes - 1];
      launch_by_pixel (launch, n, { kernel[ALONE], kernel[shape] },
          many && shape == DOWN ? FOUR : 1);
      if (many && shape == ACROSS)
        launch.grid.x =
            div_up (picture.lead + n.content_width, BLOCK_COLUMNS * FOUR);
      return true;
    }
  }
  return false;
}

#endif
