/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchjobs.h"

#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 16 /* enough for staging too */

/* A tensor, which may be a slice of a batch, and the last job that wrote it. */
typedef struct {
  guint8 *tensor;
  guint64 padding;
  pp_job *job;
} Slot;

/* A device with what jobs need. */
typedef struct {
  pp_device *device;
  pp_plan *plan;
  GstVideoInfo info;
  gboolean pageable, on_device, tensors_stay, urgent;
  gsize tensor_size;
  gint n_frames, n_slots, batch;        /* slots: whole batches */
  pp_arena *frame_arena, *tensor_arena; /* frames may be in ordinary memory */
  guint8 **frame;
  Slot *slot;
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

static guint8 *
alloc_block (pp_arena *arena, gsize size)
{
  pp_error error;
  guint8 *block = pp_arena_alloc (arena, size, &error);

  bench_require (block != NULL, "memory", &error);
  return block;
}

static void
make_frames (Bench *bench)
{
  const gsize size = bench->info.size;
  guint8 *host = bench->on_device ? g_malloc (size) : NULL;
  pp_error error;

  bench->frame = g_new0 (guint8 *, bench->n_frames);
  for (gint f = 0; f < bench->n_frames; f++) {
    bench->frame[f] = bench->pageable ? g_malloc (size)
                                      : alloc_block (bench->frame_arena, size);
    bench_fill (host != NULL ? host : bench->frame[f], size, (guint) f);
    if (host != NULL)
      bench_require (pp_arena_upload (bench->frame_arena, bench->frame[f], host,
                         size, &error) == PP_OK,
          "upload", &error);
  }
  g_free (host);
}

static void
make_slots (Bench *bench)
{
  bench->slot = g_new0 (Slot, bench->n_slots);
  for (gint s = 0; s < bench->n_slots; s++)
    bench->slot[s].tensor = s % bench->batch == 0
        ? alloc_block (
              bench->tensor_arena, bench->tensor_size * (gsize) bench->batch)
        : bench->slot[s - 1].tensor + bench->tensor_size;
}

static void
bench_init (
    Bench *bench, const BenchRun *run, const BenchJob *job, gint streams)
{
  pp_error error;

  memset (bench, 0, sizeof *bench);
  bench->plan = bench_job_plan (job, &bench->info);
  bench->pageable = job->pageable;
  bench->on_device = job->on_device;
  bench->tensors_stay = job->tensors_stay;
  bench->batch = MAX (job->batch, 1);
  bench->tensor_size = pp_plan_tensor_size (bench->plan);
  bench->n_frames =
      bench_job_turns (job->on_device, bench->info.size, BENCH_BUFFERS);
  const gint slots =
      bench_job_turns (job->tensors_stay, bench->tensor_size, IN_FLIGHT);
  bench->n_slots = (slots + bench->batch - 1) / bench->batch * bench->batch;
  bench->device = pp_device_open (
      run->backend, -1, &(pp_device_options){ .streams = streams }, &error);
  bench_require (bench->device != NULL, "open", &error);
  bench->frame_arena = job->on_device ? pp_device_memory (bench->device)
                                      : pp_device_arena (bench->device);
  bench->tensor_arena = job->tensors_stay ? pp_device_memory (bench->device)
                                          : pp_device_arena (bench->device);
  make_frames (bench);
  make_slots (bench);
  bench_require (pp_device_reserve_in_place (bench->device, bench->plan, 1,
                     job->on_device, job->tensors_stay, &error) == PP_OK,
      "reserve", &error);
}

static void
bench_clear (Bench *bench)
{
  pp_device_drain (bench->device, NULL);
  for (gint s = 0; s < bench->n_slots; s++) {
    pp_job_unref (&bench->slot[s].job);
    if (s % bench->batch == 0)
      pp_arena_free (bench->tensor_arena, bench->slot[s].tensor,
          bench->tensor_size * (gsize) bench->batch);
  }
  for (gint f = 0; f < bench->n_frames; f++) {
    if (bench->pageable)
      g_free (bench->frame[f]);
    else
      pp_arena_free (bench->frame_arena, bench->frame[f], bench->info.size);
  }
  g_free (bench->frame);
  g_free (bench->slot);
  pp_device_close (&bench->device);
  pp_plan_unref (&bench->plan);
}

static pp_job *
submit (Bench *bench, gint i)
{
  Slot *slot = &bench->slot[i % bench->n_slots];
  guint8 *frame = bench->frame[i % bench->n_frames];
  const pp_picture picture = { bench->plan, slot->tensor, &slot->padding };
  pp_task task = { .pictures = &picture,
    .n_pictures = 1,
    .on_device = bench->on_device,
    .tensors_on_device = bench->tensors_stay,
    .pinned_planes = bench->pageable ? 0 : ~0u,
    .urgent = bench->urgent,
    .done = on_done,
    .user = bench };
  pp_error error;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&bench->info); p++) {
    task.view.plane[p] = frame + GST_VIDEO_INFO_PLANE_OFFSET (&bench->info, p);
    task.view.stride[p] = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&bench->info, p);
  }
  if (slot->job != NULL)
    pp_job_wait (slot->job, NULL);
  pp_job_unref (&slot->job);
  slot->job = pp_submit (bench->device, &task, &error);
  bench_require (slot->job != NULL, "submit", &error);
  return slot->job;
}

/* Adds the stages of the frames behind the warm-up to stages, and how many of them
 * were timed to timed. */
static gdouble
run_once (Bench *bench, gint frames, gboolean serial, gdouble *latencies,
    BenchResult *stages, gint *timed)
{
  const gint warm_up =
      MAX (BENCH_WARM_UP, MAX (bench->n_frames, bench->n_slots));
  gdouble start = 0;

  for (gint i = 0; i < warm_up + frames; i++) {
    if (i == warm_up) {
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
    if (i >= warm_up)
      latencies[i - warm_up] = bench_now () - submitted;
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
