/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The streams that the devices of a process share: on a GPU a few streams and
 * the buffers that their jobs work in, on the CPU its worker threads.
 *
 * Why they share: on a GPU, the buffers of many streams do not fit into the
 * cache together. On an H200, 64 elements with streams and buffers of their own
 * reached 88 % of the rate of one. On the CPU, 16 elements on two cores would
 * make 64 threads.
 *
 * How they share: a mutex per stream is held while the calls of one job are
 * queued, about 15 us, so that no other device's calls come between them. While
 * it is held, nothing is allocated, freed, waited for or called back. Threads
 * that complete jobs never take it. Larger buffers are allocated without it and
 * swapped in with it held.
 */
#ifndef PP_SHARED_STREAMS_H
#define PP_SHARED_STREAMS_H

#include <pthread.h>

#include "arena.h"

/* How many streams the devices of a context share; a device that asks for more gets
 * more. On the CPU, devices share one for each core. */
#define PP_SHARED_STREAMS 4

typedef struct pp_buffer {
  void *memory; /* on the device; NULL while size is 0 */
  size_t size;  /* bytes */
} pp_buffer;

enum pp_stream_buffer {
  PP_BUFFER_IMAGE,
  PP_BUFFER_MEDIANS,
  PP_BUFFER_TENSOR,
  PP_N_BUFFERS
};

typedef struct pp_shared_stream {
  /* Under the lock of the list in shared_streams.c. */
  struct pp_shared_stream *next;
  int users; /* devices */
  /* Keeps the context that the stream belongs to. */
  pp_arena *arena;

  /* Constant from creation on. second and the two events are for jobs in two
   * bands; NULL on a unified backend. */
  pp_stream *stream, *second;
  pp_event *upper_uploaded, *upper_done;

  pthread_mutex_t lock;
  /* Under the lock. */
  pp_buffer buffer[PP_N_BUFFERS];
  /* A job failed while its upper band was on the second stream: the next job
   * waits for it first. */
  bool upper_pending;
} pp_shared_stream;

/* The streams of one context of a GPU, or of the CPU. */
typedef struct pp_shared_streams pp_shared_streams;

/* Takes n streams for a device that works in arena's context. Creates streams
 * until there are PP_SHARED_STREAMS, on the CPU one for each core; after that
 * takes those with the fewest users. On a GPU the n streams are all different;
 * on the CPU some are the same if n is larger than the number of cores. Called
 * between enter and leave of arena's context. After a failure, the streams that
 * were not taken are NULL; give the streams back all the same. */
pp_status pp_shared_streams_take (pp_shared_streams **streams,
    pp_shared_stream **stream, int n, pp_arena *arena,
    const pp_backend *backend, pp_error *error);

/* Gives them back, in the process that took them; the device has no jobs.
 * Returns the streams that no device uses any more, linked by next. Destroy
 * these between enter and leave of arena's context. If the context cannot be
 * entered, skip that: what they hold is lost with the context. Then, after
 * leave, free them. */
pp_shared_stream *pp_shared_streams_give_back (
    pp_shared_streams **streams, pp_shared_stream **stream, int n);
void pp_shared_streams_destroy (
    const pp_backend *backend, pp_shared_stream *unused);
void pp_shared_streams_free (pp_shared_stream *unused);

/* Makes the stream wait for the second one if a failed job left its upper band
 * there. With the stream's lock held, between enter and leave. */
pp_status pp_shared_stream_join_second (
    pp_shared_stream *shared, const pp_backend *backend, pp_error *error);

/* Cores that this process may use. */
int pp_count_cores (void);

#endif
