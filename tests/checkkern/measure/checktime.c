/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backend driven through its table, without the engine: every frame has its
 * image, its medians and its tensor on the device. Times are by events; the
 * best round counts.
 */
#include "checktime.h"

#include <stdlib.h>

#include "checkcopy.h"
#include "kernels/engine/arena.h"
#include "kernels/plan/image.h"

#define MAX_RUNS 8
/* Launches between two events: the events' own time, about a microsecond and a
 * half, no longer counts. */
#define LAUNCHES 200
#define ROUNDS 5
#define COPIES 5

struct bench {
  const pp_backend *backend;
  pp_context *context;
  pp_stream *stream;
  pp_event *from, *to;
  void *tables;
  int n_launches;
  pp_launch launch[MAX_RUNS];
  void *image[MAX_RUNS], *medians[MAX_RUNS];
};

static void
must (pp_status status, const pp_error *error)
{
  if (status == PP_OK)
    return;
  fprintf (stderr, "checkkern: %s\n", error->text);
  exit (2);
}

static void *
allocate (const struct bench *bench, size_t size)
{
  pp_error error;
  void *memory = bench->backend->device_alloc (bench->context, size, &error);
  if (!memory)
    must (PP_NO_MEMORY, &error);
  return memory;
}

static void
copy (
    const struct bench *bench, void *to, const void *from, size_t size, bool up)
{
  const pp_copy copy = pp_copy_bytes (to, from, size, up);
  pp_error error;
  must (bench->backend->copy (bench->stream, &copy, &error), &error);
}

static void
start (const struct bench *bench)
{
  pp_error error;
  must (bench->backend->record (bench->stream, bench->from, &error), &error);
}

/* Microseconds since start of what was queued. */
static double
stop (const struct bench *bench)
{
  const pp_backend *backend = bench->backend;
  double time;
  pp_error error;
  must (backend->record (bench->stream, bench->to, &error), &error);
  must (backend->event_wait (bench->to, false, &error), &error);
  must (backend->event_elapsed (bench->from, bench->to, &time, &error), &error);
  return time;
}

/* Weights lie behind the indexes, as if those were their number of floats. */
static void
upload_tables (struct bench *bench, const pp_plan *plan)
{
  const size_t index_size = plan->n_device_index * sizeof *plan->device_index;
  const size_t weight_size = plan->n_weight * sizeof *plan->weight;
  bench->tables = allocate (bench, index_size + weight_size);
  copy (bench, bench->tables, plan->device_index, index_size, true);
  copy (bench, (uint8_t *) bench->tables + index_size, plan->weight,
      weight_size, true);
}

/* Medians lie in their memory as the planes of source in image. */
static pp_planes
place_medians (const pp_view *source, const void *image, void *medians)
{
  pp_planes planes = { { NULL }, { 0 } };
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    if (!source->plane[p])
      continue;
    planes.plane[p] =
        (uint8_t *) medians + (source->plane[p] - (const uint8_t *) image);
    planes.stride[p] = source->stride[p];
  }
  return planes;
}

/* Makes the launch of one frame, whose rows it uploads. */
static void
prepare_launch (struct bench *bench, const check_run *run)
{
  const pp_plan *plan = run->plan;
  const int32_t *index = bench->tables;
  const pp_view source = pp_plan_crop_view (plan, &run->view);
  const size_t size = pp_image_size (plan);
  const int i = bench->n_launches++;
  pp_launch *launch = &bench->launch[i];
  pp_image image;
  pp_error error;
  bench->image[i] = allocate (bench, size);
  *launch = (pp_launch){ .plan = plan,
    .last = plan->whole.last,
    .tensor = allocate (bench, run->size),
    .index = index,
    .weight = (const float *) (const void *) (index + plan->n_device_index) };
  pp_image_init (
      &image, plan, &plan->whole, 0, &source, bench->image[i], index);
  launch->source = image.view;
  if (plan->median.size > 0) {
    bench->medians[i] = allocate (bench, size);
    launch->medians =
        place_medians (&image.view, bench->image[i], bench->medians[i]);
  }
  for (int c = 0; c < image.n_copies; c++)
    must (bench->backend->copy (bench->stream, &image.copy[c], &error), &error);
  if (image.gather.n_planes > 0)
    must (
        bench->backend->gather (bench->stream, &image.gather, &error), &error);
}

static void
bench_init (
    struct bench *bench, const check_run *runs, int n_runs, pp_device *device)
{
  const pp_backend *backend = &pp_backend_cuda;
  pp_error error;
  *bench = (struct bench){ .backend = backend,
    .context = pp_arena_context (pp_device_arena (device)) };
  must (backend->enter (bench->context, &error), &error);
  must (
      backend->stream_create (bench->context, &bench->stream, &error), &error);
  must (backend->event_create (bench->context, &bench->from, &error), &error);
  must (backend->event_create (bench->context, &bench->to, &error), &error);
  must (backend->prepare (bench->context, runs[0].plan, &error), &error);
  upload_tables (bench, runs[0].plan);
  for (int i = 0; i < n_runs; i++)
    prepare_launch (bench, &runs[i]);
}

static void
bench_clear (struct bench *bench)
{
  const pp_backend *backend = bench->backend;
  for (int i = 0; i < bench->n_launches; i++) {
    backend->device_free (bench->context, bench->launch[i].tensor);
    backend->device_free (bench->context, bench->medians[i]);
    backend->device_free (bench->context, bench->image[i]);
  }
  backend->device_free (bench->context, bench->tables);
  backend->event_destroy (&bench->to);
  backend->event_destroy (&bench->from);
  backend->stream_destroy (&bench->stream);
  backend->leave (bench->context);
}

static double
time_launches (const struct bench *bench)
{
  double best = 1e9;
  /* the first round only warms up */
  for (int round = 0; round <= ROUNDS; round++) {
    pp_error error;
    start (bench);
    for (int i = 0; i < LAUNCHES; i++)
      must (bench->backend->launch (
                bench->stream, &bench->launch[i % bench->n_launches], &error),
          &error);
    const double time = stop (bench) / LAUNCHES;
    best = round > 0 && time < best ? time : best;
  }
  return best;
}

/* One copy between pinned memory and the device. */
static double
time_copy (const struct bench *bench, size_t size, bool up)
{
  pp_error error;
  double best = 1e9;
  void *device = allocate (bench, size);
  void *host = bench->backend->host_alloc (bench->context, size, &error);
  if (!host)
    must (PP_NO_MEMORY, &error);
  for (int i = 0; i <= COPIES; i++) {
    start (bench);
    copy (bench, up ? device : host, up ? host : device, size, up);
    const double time = stop (bench);
    best = i > 0 && time < best ? time : best;
  }
  bench->backend->host_free (bench->context, host);
  bench->backend->device_free (bench->context, device);
  return best;
}

static size_t
frame_size (const check_run *run)
{
  size_t size = 0;
  for (int p = 0; p < run->check->n_planes; p++)
    size += run->check->stride[p] * (size_t) run->check->rows[p];
  return size;
}

check_times
check_time_kernel (
    const check_run *runs, int n_runs, double moved, pp_device *device)
{
  struct bench bench;
  bench_init (&bench, runs, n_runs, device);
  /* a copy moves each byte twice: it reads it and writes it */
  const size_t half = (size_t) (moved / 2) + 1;
  const check_times times = {
    .kernel = time_launches (&bench),
    .upload = time_copy (&bench, frame_size (&runs[0]), true),
    .download = time_copy (&bench, runs[0].size, false),
    .copy = check_time_device_copy (half, n_runs, LAUNCHES, ROUNDS),
  };
  bench_clear (&bench);
  return times;
}
