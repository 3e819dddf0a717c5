/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A kernel that uploads rows by reading them over the bus, for rows that would
 * take too many copies. A warp moves a segment of a row at a time. A thread
 * waits for the bus only, so it has several words in flight. Each word is read
 * once: where a row does not start at a multiple of a word, each word that is
 * written is made of two that were read, and a thread gets the second one from
 * its neighbour.
 */
#include "gather_cuda.h"

#include "div_up_cuda.cuh"

#define WORD PP_GATHER_ALIGNMENT
#define WARP 32
/* Words that a thread has in flight; bytes of a segment. */
#define WORDS 4
#define SEGMENT (WORDS * WARP * WORD)
#define THREADS 256
#define WARPS (THREADS / WARP)
/* Bytes in flight that keep the bus busy. More hold up downloads, which go the
 * other way: with 1080p RGB -> 224x224 float32 on an H200, 1 MiB took 37.6 us a
 * frame, a quarter of it 34.4, copies of these bytes alone 30.6. */
#define IN_FLIGHT (256 << 10)
/* The same for all planes of several pictures, blocks: their rows are narrow, and a
 * warp waits for the list of rows, too. */
#define MAX_BLOCKS_OF_MANY 512

/* Planes of one picture, or of several: a small argument is faster to launch. */
#define FEW PP_MAX_PLANES
#define SOME (PP_MAX_GATHERED / 2)
#define MANY PP_MAX_GATHERED

template <int PLANES> struct gather_args {
  pp_gather_plane plane[PLANES];
};
static_assert (sizeof (gather_args<MANY>) <= 4096, "the limit of parameters");

/* 16 of the 32 bytes of low and high, from byte phase on. */
static __device__ __forceinline__ uint4
join_words (uint4 low, uint4 high, int phase)
{
  unsigned part[8] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z,
    high.w };

  if (phase & 8) {
#pragma unroll
    for (int i = 0; i < 6; i++)
      part[i] = part[i + 2];
  }
  if (phase & 4) {
#pragma unroll
    for (int i = 0; i < 5; i++)
      part[i] = part[i + 1];
  }
  const int bits = (phase & 3) * 8;
  return make_uint4 (__funnelshift_r (part[0], part[1], bits),
      __funnelshift_r (part[1], part[2], bits),
      __funnelshift_r (part[2], part[3], bits),
      __funnelshift_r (part[3], part[4], bits));
}

static __device__ __forceinline__ uint4
shuffle (uint4 word, int lane)
{
  return make_uint4 (__shfl_sync (~0u, word.x, lane),
      __shfl_sync (~0u, word.y, lane), __shfl_sync (~0u, word.z, lane),
      __shfl_sync (~0u, word.w, lane));
}

/* Copies bytes bytes, at most a segment; all threads of a warp call it. to is a
 * multiple of a word and is written in whole words. */
static __device__ __forceinline__ void
copy_segment (const uint8_t *from, uint8_t *to, int bytes)
{
  const int lane = threadIdx.x % WARP;
  const int phase = (int) ((uintptr_t) from % WORD);
  const uint4 *source = (const uint4 *) (from - phase);
  uint4 *target = (uint4 *) to;
  const int n_read = (phase + bytes + WORD - 1) / WORD;
  const int n_written = (bytes + WORD - 1) / WORD;
  /* One more: the last thread's neighbour is the first thread's next word. */
  uint4 word[WORDS + 1];

#pragma unroll
  for (int i = 0; i <= WORDS; i++) {
    const int at = i * WARP + lane;
    word[i] = make_uint4 (0, 0, 0, 0);
    if (at < n_read)
      word[i] = __ldcs (source + at);
  }
#pragma unroll
  for (int i = 0; i < WORDS; i++) {
    const int at = i * WARP + lane;
    if (phase != 0) {
      const uint4 next =
          shuffle (lane == 0 ? word[i + 1] : word[i], (lane + 1) % WARP);
      word[i] = join_words (word[i], next, phase);
    }
    if (at < n_written)
      target[at] = word[i];
  }
}

/* blockIdx.y is the plane. */
template <int PLANES>
static __global__ void
__launch_bounds__ (THREADS)
    gather (const __grid_constant__ gather_args<PLANES> args)
{
  const pp_gather_plane &plane = args.plane[blockIdx.y];
  const unsigned width = plane.width;
  const unsigned segments = (width + SEGMENT - 1) / SEGMENT;
  const unsigned end = segments * plane.n_rows;
  const unsigned warps = gridDim.x * WARPS;

  for (unsigned i = blockIdx.x * WARPS + threadIdx.x / WARP; i < end;
       i += warps) {
    const unsigned row = i / segments;
    const unsigned start = i % segments * SEGMENT;
    const unsigned left = width - start;
    copy_segment (
        plane.from + __ldg (plane.rows + row) * plane.from_row + start,
        plane.to + row * plane.to_row + start,
        left < SEGMENT ? (int) left : SEGMENT);
  }
}

extern "C" cudaError_t
pp_cuda_prepare_gather (void)
{
  cudaFuncAttributes attributes;
  cudaError_t error =
      cudaFuncGetAttributes (&attributes, (const void *) gather<FEW>);

  if (error == cudaSuccess)
    error = cudaFuncGetAttributes (&attributes, (const void *) gather<SOME>);
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes (&attributes, (const void *) gather<MANY>);
  return error;
}

/* Blocks that have IN_FLIGHT bytes of the planes in flight together. */
static int
count_blocks (const pp_gather *planes)
{
  size_t bytes = 0; /* that a warp of each plane has */

  for (int p = 0; p < planes->n_planes; p++)
    bytes +=
        planes->plane[p].width < SEGMENT ? planes->plane[p].width : SEGMENT;
  return div_up (IN_FLIGHT / WARPS * planes->n_planes, (int) bytes);
}

/* max_blocks: of all planes together. */
template <int PLANES>
static cudaError_t
launch (const pp_gather *planes, int max_blocks, cudaStream_t stream)
{
  const size_t share = div_up (max_blocks, planes->n_planes);
  size_t blocks = 0; /* that the largest plane keeps busy */
  gather_args<PLANES> args;

  for (int p = 0; p < planes->n_planes; p++) {
    const pp_gather_plane &plane = planes->plane[p];
    const size_t segments =
        (plane.width + SEGMENT - 1) / SEGMENT * (size_t) plane.n_rows;
    const size_t busy = (segments + WARPS - 1) / WARPS;
    blocks = busy > blocks ? busy : blocks;
    args.plane[p] = plane;
  }

  const dim3 grid (
      (unsigned) (blocks < share ? blocks : share), planes->n_planes);
  void *parameters[] = { &args };
  return cudaLaunchKernel ((const void *) gather<PLANES>, grid, dim3 (THREADS),
      parameters, 0, stream);
}

extern "C" cudaError_t
pp_cuda_gather (const pp_gather *planes, cudaStream_t stream)
{
  if (planes->n_planes <= FEW)
    return launch<FEW> (planes, count_blocks (planes), stream);
  if (planes->n_planes <= SOME)
    return launch<SOME> (planes, MAX_BLOCKS_OF_MANY, stream);
  return launch<MANY> (planes, MAX_BLOCKS_OF_MANY, stream);
}
