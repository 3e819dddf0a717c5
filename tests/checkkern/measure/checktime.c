/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The backend driven through its table, without the engine: every frame has its
 * image, its medians and its tensor on the device. Times are by events; the
 * best round counts.
 */
#include "checktime.h"

#include <stdlib.h>
#include <string.h>

#include "checkcopy.h"
#include "kernels/engine/engine.h"
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
  uint8_t *pinned_tables;
  void *output; /* pinned; of all frames */
  int n_launches;
  pp_launch launch[MAX_RUNS];
  void *image[MAX_RUNS], *medians[MAX_RUNS];
};

void
check_must (pp_status status, const pp_error *error)
{
  if (status == PP_OK)
    return;
  fprintf (stderr, "checkkern: %s\n", error->text);
  exit (2);
}

void *
check_allocate (const pp_backend *backend, pp_context *context, size_t size)
{
  pp_error error;
  void *memory = backend->device_alloc (context, size, &error);
  if (!memory)
    check_must (PP_NO_MEMORY, &error);
  return memory;
}

static void *
allocate (const struct bench *bench, size_t size)
{
  return check_allocate (bench->backend, bench->context, size);
}

static void
copy (
    const struct bench *bench, void *to, const void *from, size_t size, bool up)
{
  const pp_copy copy = pp_copy_bytes (to, from, size, up);
  pp_error error;
  check_must (bench->backend->copy (bench->stream, &copy, &error), &error);
}

static void
start (const struct bench *bench)
{
  pp_error error;
  check_must (
      bench->backend->record (bench->stream, bench->from, &error), &error);
}

/* Microseconds since start of what was queued. */
static double
stop (const struct bench *bench)
{
  const pp_backend *backend = bench->backend;
  double time;
  pp_error error;
  check_must (backend->record (bench->stream, bench->to, &error), &error);
  check_must (backend->event_wait (bench->to, false, &error), &error);
  check_must (
      backend->event_elapsed (bench->from, bench->to, &time, &error), &error);
  return time;
}

/* Makes the launch of one frame and runs its recipe, which uploads the tables
 * and the frame's rows. */
static void
prepare_launch (struct bench *bench, const check_run *run)
{
  const pp_plan *plan = run->plan;
  const size_t size = pp_image_size (plan);
  const int i = bench->n_launches++;
  pp_facts facts = { .plan = plan->id };
  const pp_pictures pictures = { .n = 1, .plan = { plan } };
  pp_bindings bindings = { .plan = pictures.plan,
    .stream = { bench->stream, bench->stream } };
  pp_recipe *recipe = pp_recipe_new (1);
  pp_error error;
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    bindings.base[PP_BASE_PLANE + p] = (uint8_t *) run->view.plane[p];
    facts.stride[p] = plan->rows[p].count > 0 ? run->view.stride[p] : 0;
  }
  for (int m = 0; m < PP_N_MARKS; m++)
    bindings.event[m] = bench->to;
  bindings.base[PP_BASE_PINNED_TABLES] = bench->pinned_tables;
  bindings.base[PP_BASE_INDEX] = bench->tables;
  bindings.base[PP_BASE_WEIGHT] =
      (uint8_t *) bench->tables + pp_tables_weight_offset (plan);
  bindings.base[PP_BASE_IMAGE] = bench->image[i] = allocate (bench, size);
  if (plan->median.size > 0)
    bench->medians[i] = allocate (bench, size);
  bindings.base[PP_BASE_MEDIANS] = bench->medians[i];
  bindings.base[PP_BASE_TENSOR] = allocate (bench, run->size);
  bindings.base[PP_BASE_OUTPUT] = bench->output;
  if (recipe == NULL)
    abort ();
  pp_recipe_init (recipe, &pictures, &facts);
  check_must (
      pp_recipe_run (recipe, bench->backend, &bindings, &error), &error);
  bench->launch[i] = pp_recipe_launch (recipe, 0, &bindings);
  free (recipe);
}

/* Of all runs, which have one plan. */
static void
make_tables (struct bench *bench, const check_run *run)
{
  const pp_plan *plan = run->plan;
  const size_t size = pp_tables_size (plan);
  pp_error error;
  bench->tables = allocate (bench, size);
  bench->pinned_tables =
      bench->backend->host_alloc (bench->context, size, &error);
  bench->output =
      bench->backend->host_alloc (bench->context, run->size, &error);
  if (bench->pinned_tables == NULL || bench->output == NULL)
    check_must (PP_NO_MEMORY, &error);
  pp_tables_write (plan, false, bench->pinned_tables);
}

static void
bench_init (
    struct bench *bench, const check_run *runs, int n_runs, pp_device *device)
{
  const pp_backend *backend = &pp_backend_cuda;
  pp_error error;
  *bench = (struct bench){ .backend = backend,
    .context = pp_arena_context (pp_device_arena (device)) };
  check_must (backend->enter (bench->context, &error), &error);
  check_must (
      backend->stream_create (bench->context, &bench->stream, &error), &error);
  check_must (
      backend->event_create (bench->context, true, &bench->from, &error),
      &error);
  check_must (
      backend->event_create (bench->context, true, &bench->to, &error), &error);
  check_must (backend->prepare (bench->context, runs[0].plan, &error), &error);
  make_tables (bench, &runs[0]);
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
  backend->host_free (bench->context, bench->pinned_tables);
  backend->host_free (bench->context, bench->output);
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
      check_must (bench->backend->launch (bench->stream,
                      &bench->launch[i % bench->n_launches], &error),
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
    check_must (PP_NO_MEMORY, &error);
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
