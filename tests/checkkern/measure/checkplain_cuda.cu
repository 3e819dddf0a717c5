/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A thread reads and writes WORDS words of 16 bytes. What it writes depends on
 * what it has read, so that the compiler leaves nothing out.
 */
#include "checkplain.h"

#include <cuda_runtime.h>

#include "checkcuda.h"

#define THREADS 256
#define WORDS 4
#define WORD 16

struct plain_args {
  check_plain picture[CHECK_PLAIN_BATCH];
};
static_assert (sizeof (plain_args) <= 4096, "the limit of parameters");

static __device__ __forceinline__ uint4
read_word (const check_plain &picture, int p, int word)
{
  const int words = picture.row_bytes[p] / WORD;
  const int row = word / words;

  return __ldcs ((const uint4 *) (picture.plane[p] + row * picture.step[p]) +
      (word - row * words));
}

/* blockIdx.y is the picture. */
static __global__ void
__launch_bounds__ (THREADS)
    read_and_write (const __grid_constant__ plain_args args)
{
  const check_plain &picture = args.picture[blockIdx.y];
  const int n_first = picture.row_bytes[0] / WORD * picture.rows[0];
  const int n_read = n_first + picture.row_bytes[1] / WORD * picture.rows[1];
  const int n_written = picture.written / WORD;
  const int first = blockIdx.x * (THREADS * WORDS) + threadIdx.x;
  uint4 word[WORDS];

#pragma unroll
  for (int k = 0; k < WORDS; k++) {
    const int i = first + k * THREADS;
    word[k] = make_uint4 (0, 0, 0, 0);
    if (i < n_first)
      word[k] = read_word (picture, 0, i);
    else if (i < n_read)
      word[k] = read_word (picture, 1, i - n_first);
  }
#pragma unroll
  for (int k = 0; k < WORDS; k++) {
    const int i = first + k * THREADS;
    if (i < n_written)
      __stcs ((uint4 *) picture.tensor + i, word[k]);
    else if ((word[k].x & word[k].y & word[k].z & word[k].w) == 0x5bd1e995)
      __stcs ((uint4 *) picture.tensor, word[k]); /* hardly ever */
  }
}

struct streams {
  int n;
  cudaStream_t stream[2];
  cudaEvent_t from, to, joined;
};

static void
launch (cudaStream_t stream, const check_plain *pictures, int batch)
{
  const check_plain &p = pictures[0];
  const int read = p.row_bytes[0] * p.rows[0] + p.row_bytes[1] * p.rows[1];
  const int words = (read > p.written ? read : p.written) / WORD;
  const int part = THREADS * WORDS;
  plain_args args = {};

  for (int i = 0; i < batch; i++)
    args.picture[i] = pictures[i];
  read_and_write<<<dim3 ((words + part - 1) / part, batch), THREADS, 0,
      stream>>> (args);
  must (cudaGetLastError (), "launching a plain read and write");
}

/* Microseconds. */
static double
time_round (const streams &s, const check_plain *pictures, int n, int batch,
    int launches)
{
  float milliseconds;

  must (cudaEventRecord (s.from, s.stream[0]), "cudaEventRecord");
  must (cudaStreamWaitEvent (s.stream[1], s.from, 0), "cudaStreamWaitEvent");
  for (int i = 0; i < launches; i++)
    launch (s.stream[i % s.n], pictures + i * batch % n, batch);
  must (cudaEventRecord (s.joined, s.stream[1]), "cudaEventRecord");
  must (cudaStreamWaitEvent (s.stream[0], s.joined, 0), "cudaStreamWaitEvent");
  must (cudaEventRecord (s.to, s.stream[0]), "cudaEventRecord");
  must (cudaEventSynchronize (s.to), "cudaEventSynchronize");
  must (cudaEventElapsedTime (&milliseconds, s.from, s.to),
      "cudaEventElapsedTime");
  return (double) milliseconds * 1e3;
}

extern "C" double
check_time_plain (const check_plain *pictures, int n, int batch, int n_streams,
    int launches, int rounds)
{
  streams s = {};
  double best = 1e9;

  s.n = n_streams;
  for (cudaStream_t &stream : s.stream)
    must (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking),
        "cudaStreamCreateWithFlags");
  for (cudaEvent_t *event : { &s.from, &s.to, &s.joined })
    must (cudaEventCreate (event), "cudaEventCreate");
  for (int round = 0; round <= rounds; round++) {
    const double time =
        time_round (s, pictures, n, batch, launches) / (launches * batch);
    best = round > 0 && time < best ? time : best;
  }
  for (cudaEvent_t event : { s.from, s.to, s.joined })
    must (cudaEventDestroy (event), "cudaEventDestroy");
  for (cudaStream_t stream : s.stream)
    must (cudaStreamDestroy (stream), "cudaStreamDestroy");
  return best;
}
