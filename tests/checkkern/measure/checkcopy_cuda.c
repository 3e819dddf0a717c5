/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Copies on the device, timed by events as the kernels in checktime.c are.
 */
#include "checkcopy.h"

#include "checkcuda.h"

#define MAX_TURNS 8

struct copies {
  cudaStream_t stream;
  cudaEvent_t from, to;
  size_t size;
  int n_turns;
  void *source[MAX_TURNS], *target[MAX_TURNS];
};

static void
copies_init (struct copies *copies, size_t size, int n_turns)
{
  *copies = (struct copies){ .size = size, .n_turns = n_turns };
  must (cudaStreamCreateWithFlags (&copies->stream, cudaStreamNonBlocking),
      "cudaStreamCreateWithFlags");
  must (cudaEventCreate (&copies->from), "cudaEventCreate");
  must (cudaEventCreate (&copies->to), "cudaEventCreate");
  for (int t = 0; t < n_turns; t++) {
    must (cudaMalloc (&copies->source[t], size), "cudaMalloc");
    must (cudaMalloc (&copies->target[t], size), "cudaMalloc");
    must (cudaMemsetAsync (copies->source[t], t + 1, size, copies->stream),
        "cudaMemsetAsync");
  }
}

static void
copies_clear (struct copies *copies)
{
  for (int t = 0; t < copies->n_turns; t++) {
    must (cudaFree (copies->target[t]), "cudaFree");
    must (cudaFree (copies->source[t]), "cudaFree");
  }
  must (cudaEventDestroy (copies->to), "cudaEventDestroy");
  must (cudaEventDestroy (copies->from), "cudaEventDestroy");
  must (cudaStreamDestroy (copies->stream), "cudaStreamDestroy");
}

/* Microseconds of n copies. */
static double
time_round (const struct copies *copies, int n)
{
  float milliseconds;
  must (cudaEventRecord (copies->from, copies->stream), "cudaEventRecord");
  for (int i = 0; i < n; i++) {
    const int t = i % copies->n_turns;
    must (cudaMemcpyAsync (copies->target[t], copies->source[t], copies->size,
              cudaMemcpyDeviceToDevice, copies->stream),
        "cudaMemcpyAsync");
  }
  must (cudaEventRecord (copies->to, copies->stream), "cudaEventRecord");
  must (cudaEventSynchronize (copies->to), "cudaEventSynchronize");
  must (cudaEventElapsedTime (&milliseconds, copies->from, copies->to),
      "cudaEventElapsedTime");
  return (double) milliseconds * 1e3;
}

double
check_time_device_copy (size_t size, int n_turns, int n_copies, int rounds)
{
  struct copies copies;
  double best = 1e9;
  copies_init (&copies, size, n_turns < MAX_TURNS ? n_turns : MAX_TURNS);
  for (int round = 0; round <= rounds; round++) {
    const double time = time_round (&copies, n_copies) / n_copies;
    best = round > 0 && time < best ? time : best;
  }
  copies_clear (&copies);
  return best;
}
