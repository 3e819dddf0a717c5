/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchjobs.h"

#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 16 /* enough for staging too */

/* A device with what jobs need. */
typedef struct {
  pp_device *device;
  pp_arena *arena;
  pp_plan *plan;
  GstVideoInfo info;
  gboolean pageable, urgent;
  gsize tensor_size;
  guint8 *frame[BENCH_BUFFERS];
  void *tensor[IN_FLIGHT];
  guint64 padding[IN_FLIGHT];
  pp_job *job[IN_FLIGHT];
  /* over the timed jobs that ended, on the completion thread; the stages: sums */
  BenchResult sums;
  gint timed;
} Bench;

static void
on_done (void *user, const pp_job_info *info, const pp_error *error)
{
  Bench *bench = user;
  const pp_times *times = &info->times;

  bench_require (error == NULL, "job", error);
  bench->sums.bytes_up = info->bytes_up;
  bench->sums.bytes_down = info->bytes_down;
  if (!info->timed)
    return;
  bench->timed++;
  bench->sums.upload += times->uploaded - times->start;
  bench->sums.kernel += times->computed - times->uploaded;
  bench->sums.download += times->done - times->computed;
}

static void
bench_init (
    Bench *bench, const BenchRun *run, const BenchJob *job, gint streams)
{
  pp_error error;

  memset (bench, 0, sizeof *bench);
  bench->plan = bench_job_plan (job, &bench->info);
  bench->pageable = job->pageable;
  bench->tensor_size = pp_plan_tensor_size (bench->plan);
  bench->device = pp_device_open (
      run->backend, -1, &(pp_device_options){ .streams = streams }, &error);
  bench_require (bench->device != NULL, "open", &error);
  bench->arena = pp_device_arena (bench->device);
  for (gint b = 0; b < BENCH_BUFFERS; b++) {
    bench->frame[b] = job->pageable
        ? g_malloc (bench->info.size)
        : pp_arena_alloc (bench->arena, bench->info.size, &error);
    bench_require (bench->frame[b] != NULL, "memory", &error);
    bench_fill (bench->frame[b], bench->info.size, (guint) b);
  }
  for (gint b = 0; b < IN_FLIGHT; b++) {
    bench->tensor[b] =
        pp_arena_alloc (bench->arena, bench->tensor_size, &error);
    bench_require (bench->tensor[b] != NULL, "memory", &error);
  }
  bench_require (
      pp_device_reserve (bench->device, bench->plan, &error) == PP_OK,
      "reserve", &error);
}

static void
bench_clear (Bench *bench)
{
  pp_device_drain (bench->device, NULL);
  for (gint b = 0; b < IN_FLIGHT; b++) {
    pp_job_unref (&bench->job[b]);
    pp_arena_free (bench->arena, bench->tensor[b], bench->tensor_size);
  }
  for (gint b = 0; b < BENCH_BUFFERS; b++) {
    if (bench->pageable)
      g_free (bench->frame[b]);
    else
      pp_arena_free (bench->arena, bench->frame[b], bench->info.size);
  }
  pp_device_close (&bench->device);
  pp_plan_unref (&bench->plan);
}

static pp_job *
submit (Bench *bench, gint i)
{
  const gint slot = i % IN_FLIGHT;
  guint8 *frame = bench->frame[i % BENCH_BUFFERS];
  const pp_picture picture = { bench->plan, bench->tensor[slot],
    &bench->padding[slot] };
  pp_task task = { .pictures = &picture,
    .n_pictures = 1,
    .pinned_planes = bench->pageable ? 0 : ~0u,
    .urgent = bench->urgent,
    .done = on_done,
    .user = bench };
  pp_error error;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&bench->info); p++) {
    task.view.plane[p] = frame + GST_VIDEO_INFO_PLANE_OFFSET (&bench->info, p);
    task.view.stride[p] = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&bench->info, p);
  }
  if (bench->job[slot] != NULL)
    pp_job_wait (bench->job[slot], NULL);
  pp_job_unref (&bench->job[slot]);
  bench->job[slot] = pp_submit (bench->device, &task, &error);
  bench_require (bench->job[slot] != NULL, "submit", &error);
  return bench->job[slot];
}

/* Adds the stages of the frames behind the warm-up to stages, and how many of them
 * were timed to timed. */
static gdouble
run_once (Bench *bench, gint frames, gboolean serial, gdouble *latencies,
    BenchResult *stages, gint *timed)
{
  gdouble start = 0;

  for (gint i = 0; i < BENCH_WARM_UP + frames; i++) {
    if (i == BENCH_WARM_UP) {
      pp_device_drain (bench->device, NULL);
      bench->sums = *stages;
      bench->timed = *timed;
      start = bench_now ();
    }
    const gdouble submitted = bench_now ();
    pp_job *job = submit (bench, i);
    if (!serial)
      continue;
    pp_job_wait (job, NULL);
    if (i >= BENCH_WARM_UP)
      latencies[i - BENCH_WARM_UP] = bench_now () - submitted;
  }
  pp_device_drain (bench->device, NULL);
  const gdouble end = bench_now ();
  *stages = bench->sums;
  *timed = bench->timed;
  return (end - start) / frames;
}

BenchResult
bench_engine (
    const BenchRun *run, const BenchJob *job, gint streams, BenchMode mode)
{
  BenchResult result = { .time = G_MAXDOUBLE };
  gdouble *latencies = g_new0 (gdouble, run->frames);
  gint timed = 0;
  Bench bench;

  bench_init (&bench, run, job, streams);
  bench.urgent = mode == BENCH_URGENT;
  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    const gdouble time = run_once (&bench, run->frames,
        mode != BENCH_OVERLAPPED, latencies, &result, &timed);
    bench_add_round (&result, time);
    if (time == result.time)
      bench_sort_latencies (latencies, run->frames, &result);
  }
  bench_mean_stages (&result, MAX (timed, 1));
  bench_clear (&bench);
  g_free (latencies);
  return result;
}
