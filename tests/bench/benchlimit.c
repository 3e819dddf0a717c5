/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The limits: copies through the backend itself, without engine or kernel; and
 * the job done stage by stage, which is what overlap is measured against.
 */
#include "benchjobs.h"

#include <string.h>

#include "kernels/engine/backend.h"

typedef struct {
  pp_stream *stream;
  void *frame, *tensor; /* on the device */
} Lane;

typedef struct {
  const pp_backend *backend;
  pp_context *context;
  gsize up, down;
  Lane lane[BENCH_MAX_STREAMS];
  void *frame[BENCH_BUFFERS], *tensor[BENCH_BUFFERS]; /* pinned */
} Copies;

static void
copies_init (Copies *copies, gsize up, gsize down)
{
  const pp_backend *backend = &pp_backend_cuda;
  pp_error error;

  memset (copies, 0, sizeof *copies);
  copies->backend = backend;
  copies->up = up;
  copies->down = down;
  bench_require (backend->open (-1, NULL, &copies->context, &error) == PP_OK,
      "open", &error);
  bench_require (
      backend->enter (copies->context, &error) == PP_OK, "enter", &error);
  for (gint b = 0; b < BENCH_BUFFERS; b++) {
    copies->frame[b] =
        backend->host_alloc (copies->context, MAX (up, 1), &error);
    copies->tensor[b] =
        backend->host_alloc (copies->context, MAX (down, 1), &error);
    bench_require (copies->frame[b] != NULL && copies->tensor[b] != NULL,
        "memory", &error);
    bench_fill (copies->frame[b], up, (guint) b);
  }
  for (gint s = 0; s < BENCH_MAX_STREAMS; s++) {
    Lane *lane = &copies->lane[s];
    bench_require (backend->stream_create (
                       copies->context, &lane->stream, &error) == PP_OK,
        "stream", &error);
    lane->frame = backend->device_alloc (copies->context, MAX (up, 1), &error);
    lane->tensor =
        backend->device_alloc (copies->context, MAX (down, 1), &error);
    bench_require (
        lane->frame != NULL && lane->tensor != NULL, "memory", &error);
  }
}

static void
copies_clear (Copies *copies)
{
  const pp_backend *backend = copies->backend;

  for (gint s = 0; s < BENCH_MAX_STREAMS; s++) {
    Lane *lane = &copies->lane[s];
    backend->stream_destroy (&lane->stream);
    backend->device_free (copies->context, lane->frame);
    backend->device_free (copies->context, lane->tensor);
  }
  for (gint b = 0; b < BENCH_BUFFERS; b++) {
    backend->host_free (copies->context, copies->frame[b]);
    backend->host_free (copies->context, copies->tensor[b]);
  }
  backend->leave (copies->context);
  backend->close (&copies->context);
}

static void
copy_bytes (const pp_backend *backend, pp_stream *stream, void *to,
    const void *from, gsize size, gboolean up)
{
  const pp_copy copy = pp_copy_bytes (to, from, size, up);
  pp_error error;

  bench_require (
      backend->copy (stream, &copy, &error) == PP_OK, "copy", &error);
}

static void
queue_copies (const Copies *copies, const Lane *lane, gint buffer)
{
  if (copies->up > 0)
    copy_bytes (copies->backend, lane->stream, lane->frame,
        copies->frame[buffer], copies->up, TRUE);
  if (copies->down > 0)
    copy_bytes (copies->backend, lane->stream, copies->tensor[buffer],
        lane->tensor, copies->down, FALSE);
}

static void
sync_lanes (const Copies *copies, gint streams)
{
  for (gint s = 0; s < streams; s++)
    copies->backend->stream_sync (copies->lane[s].stream, NULL);
}

static gdouble
time_copies (const Copies *copies, gint streams, gint frames)
{
  gdouble start = 0;

  for (gint i = 0; i < BENCH_WARM_UP + frames; i++) {
    if (i == BENCH_WARM_UP) {
      sync_lanes (copies, streams);
      start = bench_now ();
    }
    queue_copies (copies, &copies->lane[i % streams], i % BENCH_BUFFERS);
  }
  sync_lanes (copies, streams);
  return (bench_now () - start) / frames;
}

static gdouble
time_waited_copies (const Copies *copies, gint frames)
{
  gdouble start = 0;

  for (gint i = 0; i < BENCH_WARM_UP + frames; i++) {
    if (i == BENCH_WARM_UP)
      start = bench_now ();
    queue_copies (copies, &copies->lane[0], i % BENCH_BUFFERS);
    sync_lanes (copies, 1);
  }
  return (bench_now () - start) / frames;
}

BenchLimit
bench_limit (const BenchRun *run, gsize up, gsize down)
{
  BenchLimit limit = { G_MAXDOUBLE, 0, G_MAXDOUBLE };
  Copies copies;

  copies_init (&copies, up, down);
  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    for (gint streams = 1; streams <= BENCH_MAX_STREAMS; streams++) {
      const gdouble time = time_copies (&copies, streams, run->frames);
      if (time < limit.time) {
        limit.time = time;
        limit.streams = streams;
      }
    }
    limit.latency =
        MIN (limit.latency, time_waited_copies (&copies, run->frames));
  }
  copies_clear (&copies);
  return limit;
}

/* One frame, stage by stage; adds each stage's time. Returns the frame's. */
static gdouble
run_stages (const Copies *copies, const pp_launch *launch, gint buffer,
    BenchResult *result)
{
  const Lane *lane = &copies->lane[0];
  pp_error error;
  const gdouble start = bench_now ();

  copy_bytes (copies->backend, lane->stream, lane->frame, copies->frame[buffer],
      copies->up, TRUE);
  sync_lanes (copies, 1);
  const gdouble uploaded = bench_now ();
  bench_require (
      copies->backend->launch (lane->stream, launch, &error) == PP_OK, "launch",
      &error);
  sync_lanes (copies, 1);
  const gdouble computed = bench_now ();
  copy_bytes (copies->backend, lane->stream, copies->tensor[buffer],
      lane->tensor, copies->down, FALSE);
  sync_lanes (copies, 1);
  const gdouble done = bench_now ();

  result->upload += uploaded - start;
  result->kernel += computed - uploaded;
  result->download += done - computed;
  return done - start;
}

/* Rounds, as the engine's are. */
static void
time_stages (const Copies *copies, const pp_launch *launch, gint frames,
    BenchResult *result)
{
  BenchResult warm_up = { 0 };

  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    gdouble time = 0;
    for (gint i = 0; i < BENCH_WARM_UP; i++)
      run_stages (copies, launch, i % BENCH_BUFFERS, &warm_up);
    for (gint i = 0; i < frames; i++)
      time += run_stages (copies, launch, i % BENCH_BUFFERS, result);
    bench_add_round (result, time / frames);
  }
  bench_mean_stages (result, frames * BENCH_ROUNDS);
}

BenchResult
bench_stage_by_stage (const BenchRun *run, const BenchJob *job)
{
  GstVideoInfo info;
  pp_plan *plan = bench_job_plan (job, &info);
  const gsize index_size = plan->n_index * sizeof *plan->index;
  const gsize weight_size = plan->n_weight * sizeof *plan->weight;
  BenchResult result = { .time = G_MAXDOUBLE,
    .bytes_up = info.size,
    .bytes_down = pp_plan_tensor_size (plan) };
  pp_view view = { { NULL }, { 0 } };
  pp_error error;
  Copies copies;

  copies_init (&copies, info.size, result.bytes_down);
  const Lane *lane = &copies.lane[0];
  guint8 *tables = copies.backend->device_alloc (
      copies.context, index_size + weight_size, &error);
  bench_require (tables != NULL, "memory", &error);
  copy_bytes (
      copies.backend, lane->stream, tables, plan->index, index_size, TRUE);
  copy_bytes (copies.backend, lane->stream, tables + index_size, plan->weight,
      weight_size, TRUE);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (&info); p++) {
    view.plane[p] =
        (const guint8 *) lane->frame + GST_VIDEO_INFO_PLANE_OFFSET (&info, p);
    view.stride[p] = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (&info, p);
  }
  const pp_launch launch = { .plan = plan,
    .last = plan->whole.last,
    .source = pp_plan_crop_view (plan, &view),
    .tensor = lane->tensor,
    .index = (const int32_t *) (gconstpointer) tables,
    .weight = (const float *) (gconstpointer) (tables + index_size) };
  time_stages (&copies, &launch, run->frames, &result);
  copies.backend->device_free (copies.context, tables);
  copies_clear (&copies);
  pp_plan_unref (&plan);
  return result;
}
