/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Nobody waits for a worker that is busy with something else: the worker of the
 * job's stream only waits for pictures that others have begun. So workers that
 * share with each other cannot wait in a circle.
 *
 * Others are asked when the job's turn on its stream has come, not when it is
 * queued: it may come after another job. They may find that nothing is left to
 * do, or even that the job has ended, so they hold a reference.
 */
#include "share_cpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "host_stream.h"
#include "kernel_cpu.h"

struct share {
  pthread_mutex_t lock;
  pthread_cond_t ended;
  int references;
  int taken, done; /* pictures */
  pp_error error;  /* of the first picture that failed */
  /* constant */
  pp_team team;
  bool padding;
  int n;
  pp_launch launch[];
};

static void
unref (struct share *share)
{
  pthread_mutex_lock (&share->lock);
  const bool last = --share->references == 0;
  pthread_mutex_unlock (&share->lock);
  if (!last)
    return;
  pthread_cond_destroy (&share->ended);
  pthread_mutex_destroy (&share->lock);
  free (share);
}

pp_status
pp_run_launch (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  void *scratch = pp_host_stream_scratch (
      stream, pp_apply_cpu_scratch (launch->plan), error);

  if (scratch == NULL)
    return PP_NO_MEMORY;
  pp_apply_cpu (launch->plan, &launch->source, launch->tensor, launch->first,
      launch->last, scratch);
  return PP_OK;
}

/* Makes pictures until none is left to take. */
static void
work (pp_stream *stream, struct share *share)
{
  pthread_mutex_lock (&share->lock);
  while (share->taken < share->n) {
    const pp_launch *launch = &share->launch[share->taken++];
    pp_error error = { 0 };

    pthread_mutex_unlock (&share->lock);
    if (share->padding)
      pp_plan_fill_padding (launch->plan, launch->tensor);
    pp_run_launch (stream, launch, &error);
    pthread_mutex_lock (&share->lock);
    if (share->error.status == PP_OK)
      share->error = error;
    if (++share->done == share->n)
      pthread_cond_signal (&share->ended);
  }
  pthread_mutex_unlock (&share->lock);
}

/* On a worker that was asked. The plans may be gone where nothing is left. */
static pp_status
help (pp_stream *stream, const void *data, pp_error *error)
{
  struct share *share;

  (void) error;
  memcpy (&share, data, sizeof share);
  work (stream, share);
  unref (share);
  return PP_OK;
}

static void
ask (struct share *share)
{
  for (int i = 0; i < share->team.n && i < share->n - 1; i++) {
    pthread_mutex_lock (&share->lock);
    share->references++;
    pthread_mutex_unlock (&share->lock);
    if (!pp_host_stream_ask (share->team.stream[i], help, share))
      unref (share);
  }
}

/* On the worker of the job's stream. */
static pp_status
run (pp_stream *stream, const void *data, pp_error *error)
{
  struct share *share;

  memcpy (&share, data, sizeof share);
  ask (share);
  work (stream, share);
  pthread_mutex_lock (&share->lock);
  while (share->done < share->n)
    pthread_cond_wait (&share->ended, &share->lock);
  const pp_status status = share->error.status;
  if (status != PP_OK)
    *error = share->error;
  pthread_mutex_unlock (&share->lock);
  unref (share);
  return status;
}

pp_status
pp_share_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error)
{
  const size_t size = (size_t) n * sizeof *launches;
  struct share *share = malloc (sizeof *share + size);

  if (share == NULL)
    return pp_fail_memory (error, "malloc", sizeof *share + size);
  *share = (struct share){
    .references = 1, .team = *team, .padding = padding, .n = n
  };
  memcpy (share->launch, launches, size);
  pthread_mutex_init (&share->lock, NULL);
  pthread_cond_init (&share->ended, NULL);
  pp_host_stream_push (stream, run, &share, sizeof share);
  return PP_OK;
}
