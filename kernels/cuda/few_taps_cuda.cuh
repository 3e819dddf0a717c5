/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The GPU's kernel for at most two taps an axis, few_taps: a thread has all loads
 * of its pixels in flight at once. choose_few_taps, at the end, chooses its
 * variant on the host.
 */
#ifndef PP_FEW_TAPS_CUDA_CUH
#define PP_FEW_TAPS_CUDA_CUH

#include "taps_cuda.cuh"

/* Pixels that a thread makes, one below the other. In a launch of many pictures
 * there are threads enough; they share what belongs to their column, and have more
 * loads in flight. */
#define FEW_TAPS_ROWS(pictures) ((pictures) > 1 ? 4 : 1)
/* They need more registers: a thread of the former has up to 64. */
#define FEW_TAPS_BLOCKS(pictures) ((pictures) > 1 ? BLOCKS / 2 : BLOCKS)

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

/* The samples of N adjacent components under the taps of one pixel, as they are
 * loaded: two at once if N is 2. */
template <int N, int X, int Y> struct tap_samples {
  unsigned sample[Y][X][N == 3 ? 3 : 1];
};

/* component: the one at the lowest address. */
template <int BYTES, int N, int X, int Y>
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
template <int BYTES, int N>
static __device__ __forceinline__ void
decode_samples (float (&value)[N], const pp_numbers &n, const pp_source &source,
    const unsigned (&sample)[N == 3 ? 3 : 1])
{
  if constexpr (N == 2) {
    const float2 pair = decode_pair<BYTES> (n, source, sample[0]);
    value[0] = pair.x;
    value[1] = pair.y;
  } else {
#pragma unroll
    for (int c = 0; c < N; c++)
      value[c] = decode_sample<BYTES> (n, source, sample[c]);
  }
}

template <int BYTES, int N, int X, int Y>
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
      decode_samples<BYTES, N> (value, n, source, samples.sample[j][i]);
#pragma unroll
      for (int c = 0; c < N; c++)
        column[c] = add_product (column[c], y.weight[j], value[c]);
    }
#pragma unroll
    for (int c = 0; c < N; c++)
      sum[c] = add_product (sum[c], x.weight[i], column[c]);
  }
}

/* The adjacent components that are loaded together, as a template parameter:
 * none, 1 and 2, or all three. */
enum {
  APART = 1,
  PAIR = 2,
  TRIPLE = 3
};

/* All that a thread loads of a pixel. */
template <int COMPONENTS, int X, int Y, int CHROMA, int ADJACENT>
struct pixel_samples {
  static constexpr int cx = CHROMA > 0 ? CHROMA : X;
  static constexpr int cy = CHROMA > 0 ? CHROMA : Y;
  tap_set<Y> y;
  tap_set<cy> chroma_y;
  tap_samples<ADJACENT == TRIPLE ? 3 : 1, X, Y> first;
  tap_samples<ADJACENT == PAIR ? 2 : 1, cx, cy> second;
  tap_samples<1, cx, cy> third;
};

/* Template parameters: X, Y are taps of component 0; CHROMA is taps of components
 * 1 and 2 on both axes, or 0 if all components have the same tables. */
template <int BYTES, int COMPONENTS, int X, int Y, int CHROMA, int ADJACENT>
static __device__ __forceinline__ void
load_pixel (pixel_samples<COMPONENTS, X, Y, CHROMA, ADJACENT> &pixel,
    const picture_args &picture, const pp_numbers &n, bool descending,
    const tap_set<X> &x,
    const tap_set<pixel_samples<COMPONENTS, X, Y, CHROMA, ADJACENT>::cx>
        &chroma_x)
{
  load_samples<BYTES> (pixel.first, picture, n,
      ADJACENT == TRIPLE && descending ? 2 : 0, x, pixel.y);
  if constexpr (COMPONENTS == 3 && ADJACENT != TRIPLE)
    load_samples<BYTES> (pixel.second, picture, n,
        ADJACENT == PAIR && descending ? 2 : 1, chroma_x, pixel.chroma_y);
  if constexpr (COMPONENTS == 3 && ADJACENT == APART)
    load_samples<BYTES> (pixel.third, picture, n, 2, chroma_x, pixel.chroma_y);
}

template <int BYTES, int COMPONENTS, int X, int Y, int CHROMA, int ADJACENT>
static __device__ __forceinline__ void
sum_pixel (float (&value)[COMPONENTS], const pp_numbers &n,
    const pixel_samples<COMPONENTS, X, Y, CHROMA, ADJACENT> &pixel,
    bool descending, const tap_set<X> &x,
    const tap_set<pixel_samples<COMPONENTS, X, Y, CHROMA, ADJACENT>::cx>
        &chroma_x)
{
  const pp_source *source = n.source;

  if constexpr (ADJACENT == TRIPLE) {
    float sum[3];
    sum_samples<BYTES> (sum, n, source[0], pixel.first, x, pixel.y);
    value[0] = descending ? sum[2] : sum[0];
    value[1] = sum[1];
    value[2] = descending ? sum[0] : sum[2];
  } else {
    float sum[1];
    sum_samples<BYTES> (sum, n, source[0], pixel.first, x, pixel.y);
    value[0] = sum[0];
    if constexpr (ADJACENT == PAIR) {
      float pair[2];
      sum_samples<BYTES> (
          pair, n, source[1], pixel.second, chroma_x, pixel.chroma_y);
      value[1] = descending ? pair[1] : pair[0];
      value[2] = descending ? pair[0] : pair[1];
    } else if constexpr (COMPONENTS == 3) {
      sum_samples<BYTES> (
          sum, n, source[1], pixel.second, chroma_x, pixel.chroma_y);
      value[1] = sum[0];
      sum_samples<BYTES> (
          sum, n, source[2], pixel.third, chroma_x, pixel.chroma_y);
      value[2] = sum[0];
    }
  }
}

template <int BYTES, int COMPONENTS, int X, int Y, int CHROMA, int ADJACENT,
    int PICTURES>
static __global__ void
__launch_bounds__ (BLOCK_THREADS, FEW_TAPS_BLOCKS (PICTURES))
    few_taps (const __grid_constant__ kernel_args<PICTURES> all)
{
  typedef pixel_samples<COMPONENTS, X, Y, CHROMA, ADJACENT> samples;
  constexpr int rows = FEW_TAPS_ROWS (PICTURES);
  const kernel_view args = find_picture (all);
  const picture_args &picture = args.picture;
  const pp_numbers &n = args.common.numbers;
  const pixel_place place = find_pixels (picture, rows);
  /* of adjacent components, whether the first one is at the highest address */
  const bool descending =
      ADJACENT != APART && picture.first[2] < picture.first[1];
  samples pixel[rows];
  float value[rows][COMPONENTS];

  if (!place.inside && !n.swapped)
    return;
  const tap_set<X> x = load_taps<X> (picture.x[0], place.x);
  const tap_set<samples::cx> chroma_x =
      load_taps<samples::cx> (picture.x[CHROMA > 0], place.x);
#pragma unroll
  for (int r = 0; r < rows; r++) {
    const unsigned y = min (place.y + r, picture.height - 1u);
    pixel[r].y = load_taps<Y> (picture.y[0], y);
    pixel[r].chroma_y = load_taps<samples::cy> (picture.y[CHROMA > 0], y);
  }
#pragma unroll
  for (int r = 0; r < rows; r++)
    load_pixel<BYTES> (pixel[r], picture, n, descending, x, chroma_x);
#pragma unroll
  for (int r = 0; r < rows; r++)
    sum_pixel<BYTES> (value[r], n, pixel[r], descending, x, chroma_x);
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

/* Chooses the first kernel of the table with enough taps. False if an axis has
 * more than two. many: the launch's kernel is the one for many pictures. */
static bool
choose_few_taps (kernel_launch &launch, const pp_numbers &n, bool many)
{
#define KERNELS(bytes, components, x, y, chroma, adjacent)                     \
  {                                                                            \
    (const void *) few_taps<bytes, components, x, y, chroma, adjacent, 1>,     \
        (const void *)                                                         \
            few_taps<bytes, components, x, y, chroma, adjacent, MANY>          \
  }
#define ROW(components, x, y, chroma, adjacent)                                \
  {                                                                            \
    components, x, y, chroma, adjacent,                                        \
    {                                                                          \
      KERNELS (1, components, x, y, chroma, adjacent),                         \
          KERNELS (2, components, x, y, chroma, adjacent)                      \
    }                                                                          \
  }
#define ROWS(components, chroma, adjacent)                                     \
  ROW (components, 1, 1, chroma, adjacent),                                    \
      ROW (components, 1, 2, chroma, adjacent),                                \
      ROW (components, 2, 1, chroma, adjacent),                                \
      ROW (components, 2, 2, chroma, adjacent)
  static const struct {
    int components, x, y, chroma, adjacent;
    kernel_pair kernel[2]; /* for samples of 1 and 2 bytes */
  } rows[] = { ROWS (1, 0, APART), ROWS (3, 0, APART), ROWS (3, 0, TRIPLE),
    ROW (3, 1, 1, 1, APART), ROW (3, 2, 2, 1, APART), ROWS (3, 2, APART),
    ROW (3, 1, 1, 1, PAIR), ROW (3, 2, 2, 1, PAIR), ROWS (3, 2, PAIR) };
#undef ROWS
#undef ROW
#undef KERNELS
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
  for (const auto &row : rows) {
    if (row.components == n.n_components && row.x >= n.x[axes].n_taps &&
        row.y >= n.y[axes].n_taps && row.chroma >= chroma_taps &&
        (row.chroma > 0) == (chroma_taps > 0) && row.adjacent == adjacent) {
      launch_by_pixel (launch, n, row.kernel[n.sample_bytes - 1],
          many ? FEW_TAPS_ROWS (MANY) : 1);
      return true;
    }
  }
  return false;
}

#endif
