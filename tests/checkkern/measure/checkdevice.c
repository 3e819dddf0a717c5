/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CUDA backend driven through its table, without the engine. Frames and
 * tensors take turns over more memory than any cache holds. Every time is
 * microseconds a picture of launches back to back, by events, the best round.
 */
#include "checkdevice.h"

#include <stdlib.h>
#include <string.h>

#include "checkbytes.h"
#include "checkplain.h"
#include "checktime.h"
#include "kernels/engine/engine.h"
#include "kernels/plan/recipe.h"

#define BATCH 8
#define MIN_BYTES 256e6 /* read or written before a byte's turn comes again */
#define MAX_TURNS (BATCH * 24)
#define BATCHES 200 /* between two events */
#define ROUNDS 5
/* Of an H200's memory, as its data sheet has it; bytes a microsecond. */
#define BANDWIDTH 4.8e6

struct device_job {
  const char *name;
  const char *format;
  pp_fit fit;
  pp_direction direction;
  pp_type type;
  pp_layout layout;
};

#define STRETCH PP_FIT_STRETCH
#define LETTERBOX PP_FIT_LETTERBOX
#define UPRIGHT PP_DIRECTION_IDENTITY
#define TURNED PP_DIRECTION_90R
#define F32 PP_TYPE_FLOAT32, PP_LAYOUT_NCHW
#define F16 PP_TYPE_FLOAT16, PP_LAYOUT_NCHW
#define U8 PP_TYPE_UINT8, PP_LAYOUT_NCHW

/* 1080p to 640 x 640, bilinear without antialias. */
static const struct device_job jobs[] = {
  { "stretch", "RGB", STRETCH, UPRIGHT, F32 },
  { "stretch", "NV12", STRETCH, UPRIGHT, F32 },
  { "letterbox", "RGB", LETTERBOX, UPRIGHT, F32 },
  { "letterbox", "NV12", LETTERBOX, UPRIGHT, F32 },
  { "stretch 90r", "RGB", STRETCH, TURNED, F32 },
  { "stretch 90r", "NV12", STRETCH, TURNED, F32 },
  { "letterbox 90r", "RGB", LETTERBOX, TURNED, F32 },
  { "letterbox 90r", "NV12", LETTERBOX, TURNED, F32 },
  { "stretch f16", "RGB", STRETCH, UPRIGHT, F16 },
  { "stretch f16", "NV12", STRETCH, UPRIGHT, F16 },
  { "stretch u8", "RGB", STRETCH, UPRIGHT, U8 },
  { "stretch u8", "NV12", STRETCH, UPRIGHT, U8 },
  { "stretch f16 90r", "RGB", STRETCH, TURNED, F16 },
  { "stretch u8 90r", "RGB", STRETCH, TURNED, U8 },
  { "stretch nhwc", "RGB", STRETCH, UPRIGHT, PP_TYPE_FLOAT32, PP_LAYOUT_NHWC },
  { "stretch f16 nhwc", "NV12", STRETCH, UPRIGHT, PP_TYPE_FLOAT16,
      PP_LAYOUT_NHWC },
  { "stretch u8 nhwc", "RGB", STRETCH, UPRIGHT, PP_TYPE_UINT8, PP_LAYOUT_NHWC },
};

struct bench {
  const pp_backend *backend;
  pp_context *context;
  pp_stream *stream[2];
  pp_event *from, *to, *joined;
  void *tables;
  size_t size;     /* bytes of a tensor */
  uint8_t *padded; /* a tensor on the host, without its content */
  int n;           /* pictures */
  pp_view frame[MAX_TURNS];
  pp_launch launch[MAX_TURNS];
  check_plain plain[MAX_TURNS];
};

static void
make_case (check_case *check, const struct device_job *job)
{
  pp_spec *spec = &check->spec;

  *check = (check_case){ .number = 0 };
  check_case_frame (check, job->format, 1920, 1080);
  spec->width = spec->height = 640;
  spec->fit = job->fit;
  spec->method = PP_METHOD_BILINEAR;
  spec->antialias = false;
  spec->type = job->type;
  spec->layout = job->layout;
  spec->direction = job->direction;
  check_case_normalize (check);
}

static void *
allocate (const struct bench *bench, size_t size)
{
  return check_allocate (bench->backend, bench->context, size);
}

static void
copy_now (
    const struct bench *bench, void *to, const void *from, size_t size, bool up)
{
  const pp_copy copy = pp_copy_bytes (to, from, size, up);
  pp_error error;
  check_must (
      bench->backend->transfer (bench->stream[0], &copy, &error), &error);
}

static void
upload (const struct bench *bench, void *to, const void *from, size_t size)
{
  copy_now (bench, to, from, size, true);
}

/* The bytes of a picture for a plain read and write: as many whole rows as taps
 * read, at a constant distance. frame: all of it, packed. */
static void
make_plain (check_plain *plain, const pp_launch *launch, const check_run *run,
    const pp_view *frame)
{
  *plain = (check_plain){ .tensor = launch->tensor,
    .written = (int32_t) check_bytes_written (run->plan) };
  for (int p = 0; p < run->check->n_planes; p++) {
    const int rows = check_rows_read (run->plan, p);
    plain->plane[p] = frame->plane[p];
    plain->step[p] = (int64_t) frame->stride[p] *
        (rows > 0 ? (int) run->check->rows[p] / rows : 0);
    plain->row_bytes[p] = (int32_t) run->check->row_bytes[p];
    plain->rows[p] = rows;
  }
}

static void
add_picture (struct bench *bench, const check_run *run)
{
  pp_launch *launch = &bench->launch[bench->n];
  pp_view *frame = &bench->frame[bench->n];

  *frame = (pp_view){ .stride = { 0 } };
  for (int p = 0; p < run->check->n_planes; p++) {
    const size_t size = run->view.stride[p] * run->check->rows[p];
    uint8_t *plane = allocate (bench, size);
    upload (bench, plane, run->view.plane[p], size);
    frame->plane[p] = plane;
    frame->stride[p] = run->view.stride[p];
  }
  *launch = (pp_launch){ .plan = run->plan,
    .last = run->plan->numbers.content_height,
    .source = pp_plan_crop_view (run->plan, frame),
    .tensor = allocate (bench, bench->size),
    .index = bench->tables,
    .weight = (const float *) (const void *) ((uint8_t *) bench->tables +
        pp_tables_weight_offset (run->plan)) };
  upload (bench, launch->tensor, bench->padded, bench->size);
  make_plain (&bench->plain[bench->n], launch, run, frame);
  bench->n++;
}

static void
bench_init (struct bench *bench, const check_run *run, pp_device *device)
{
  const pp_backend *backend = &pp_backend_cuda;
  const double bytes = check_bytes_moved (run->plan);
  const size_t size = pp_tables_size (run->plan);
  void *tables = malloc (size);
  pp_error error;

  *bench = (struct bench){ .backend = backend,
    .size = run->size,
    .padded = malloc (run->size),
    .context = pp_arena_context (pp_device_arena (device)) };
  if (tables == NULL || bench->padded == NULL)
    abort ();
  memset (bench->padded, 0xff, run->size);
  pp_plan_fill_padding (run->plan, bench->padded);
  check_must (backend->enter (bench->context, &error), &error);
  for (int s = 0; s < 2; s++)
    check_must (
        backend->stream_create (bench->context, &bench->stream[s], &error),
        &error);
  check_must (
      backend->event_create (bench->context, true, &bench->from, &error),
      &error);
  check_must (
      backend->event_create (bench->context, true, &bench->to, &error), &error);
  check_must (
      backend->event_create (bench->context, false, &bench->joined, &error),
      &error);
  check_must (backend->prepare (bench->context, run->plan, &error), &error);
  bench->tables = allocate (bench, size);
  pp_tables_write (run->plan, true, tables);
  upload (bench, bench->tables, tables, size);
  free (tables);
  while (bench->n < MAX_TURNS &&
      (bench->n * bytes < MIN_BYTES || bench->n % BATCH != 0))
    add_picture (bench, run);
}

static void
bench_clear (struct bench *bench)
{
  const pp_backend *backend = bench->backend;

  for (int i = 0; i < bench->n; i++) {
    for (int p = 0; p < PP_MAX_PLANES; p++)
      backend->device_free (bench->context, (void *) bench->frame[i].plane[p]);
    backend->device_free (bench->context, bench->launch[i].tensor);
  }
  backend->device_free (bench->context, bench->tables);
  backend->event_destroy (&bench->joined);
  backend->event_destroy (&bench->to);
  backend->event_destroy (&bench->from);
  for (int s = 0; s < 2; s++)
    backend->stream_destroy (&bench->stream[s]);
  backend->leave (bench->context);
  free (bench->padded);
}

static void
launch (const struct bench *bench, pp_stream *stream, int first, int batch)
{
  const pp_team team = { .n = 0 };
  const pp_launch *launches = &bench->launch[first];
  pp_error error;

  check_must (batch > 1 ? bench->backend->launch_pictures (
                              stream, &team, launches, batch, false, &error)
                        : bench->backend->launch (stream, launches, &error),
      &error);
}

static double
time_round (const struct bench *bench, int batch, int n_streams, int launches)
{
  const pp_backend *backend = bench->backend;
  pp_stream *const *stream = bench->stream;
  double time;
  pp_error error;

  check_must (backend->record (stream[0], bench->from, &error), &error);
  check_must (backend->stream_wait (stream[1], bench->from, &error), &error);
  for (int i = 0; i < launches; i++)
    launch (bench, stream[i % n_streams], i * batch % bench->n, batch);
  check_must (backend->record (stream[1], bench->joined, &error), &error);
  check_must (backend->stream_wait (stream[0], bench->joined, &error), &error);
  check_must (backend->record (stream[0], bench->to, &error), &error);
  check_must (backend->event_wait (bench->to, false, &error), &error);
  check_must (
      backend->event_elapsed (bench->from, bench->to, &time, &error), &error);
  return time;
}

/* Microseconds a picture. */
static double
time_launches (const struct bench *bench, int batch, int n_streams)
{
  const int launches = BATCHES * BATCH / batch;
  double best = 1e9;

  /* the first round only warms up */
  for (int round = 0; round <= ROUNDS; round++) {
    const double time =
        time_round (bench, batch, n_streams, launches) / (launches * batch);
    best = round > 0 && time < best ? time : best;
  }
  return best;
}

/* Whether the tensors of a batch are the reference's; resets them. */
static bool
check_tensors (const struct bench *bench, const check_run *run)
{
  uint8_t *tensor = malloc (bench->size);
  bool good = true;

  if (tensor == NULL)
    abort ();
  for (int i = 0; i < BATCH; i++) {
    copy_now (bench, tensor, bench->launch[i].tensor, bench->size, false);
    good &= memcmp (tensor, run->reference, bench->size) == 0;
    upload (bench, bench->launch[i].tensor, bench->padded, bench->size);
  }
  free (tensor);
  return good;
}

/* False if a tensor was wrong. */
static bool
print_times (const struct bench *bench, const struct device_job *job,
    const check_run *run)
{
  const double bytes = check_bytes_moved (run->plan);
  double many[2], one[2], plain[2];
  bool good = true;

  for (int s = 0; s < 2; s++) {
    many[s] = time_launches (bench, BATCH, s + 1);
    good &= check_tensors (bench, run);
    one[s] = time_launches (bench, 1, s + 1);
    good &= check_tensors (bench, run);
  }
  for (int s = 0; s < 2; s++)
    plain[s] = check_time_plain (
        bench->plain, bench->n, BATCH, s + 1, BATCHES, ROUNDS);
  printf ("%-18s %-5s", job->name, job->format);
  if (good)
    printf (" %8.2f %8.2f %8.2f %8.2f %6.1f%% %8.2f %8.2f %8.2f\n", many[0],
        many[1], plain[0], plain[1], 100 * plain[1] / many[1],
        bytes / BANDWIDTH, one[0], one[1]);
  else
    printf (" wrong in a launch of several pictures or of one\n");
  return good;
}

static bool
bench_job (const struct device_job *job, pp_device *device)
{
  const check_random random = { 0 };
  struct bench *bench = malloc (sizeof *bench);
  check_case check;
  check_run run;

  if (bench == NULL)
    abort ();
  make_case (&check, job);
  bool good =
      check_run_init (&run, &check, random, pp_device_arena (device), stdout);
  if (good) {
    bench_init (bench, &run, device);
    good = print_times (bench, job, &run);
    bench_clear (bench);
  }
  check_run_clear (&run);
  free (bench);
  return good;
}

int
check_bench_device (pp_device *device)
{
  int wrong = 0;

  printf ("1920 x 1080 on the device to 640 x 640 there; us a picture, best of "
          "%d; %d pictures a launch on 1 and 2 streams; a plain read and write "
          "of the bytes; the bytes at 4.8 TB/s; one picture a launch\n",
      ROUNDS, BATCH);
  printf ("%-18s %-5s %8s %8s %8s %8s %7s %8s %8s %8s\n", "job", "in", "many 1",
      "many 2", "plain 1", "plain 2", "of it", "4.8 TB/s", "one 1", "one 2");
  for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
    wrong += !bench_job (&jobs[i], device);
    fflush (stdout);
  }
  return wrong;
}
