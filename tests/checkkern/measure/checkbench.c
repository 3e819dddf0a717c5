/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --bench: how long the kernels take, once they are right.
 *
 * GB/s counts the bytes of the source rows that taps with a weight read and the
 * bytes of the content that is written, each once. The limit beside it is a
 * copy of 64 MiB by one thread in the same run, which counts both sides too.
 *
 * On the device: the engine's copies; the kernels back to back; what those are
 * to stay under a quarter of, the copy of the whole frame up or of the whole
 * tensor down, whichever takes longer; the kernels' GB/s; and how much that is
 * of what the device's own copy does that reads and writes as many bytes, back
 * to back and in turns as well.
 */
#include "checkbench.h"

#include <stdlib.h>
#include <string.h>

#include "tests/checkkern/checkrun.h"
#include "tests/common/times.h"
#include "checkbytes.h"
#include "checktime.h"
#include "kernels/cpu/kernel_cpu.h"

/* Frames and tensors that take turns, so that the last result is not simply
 * found in a cache. */
#define N_TURNS 4
/* Timed again and again for at least this long; the best turn counts. */
#define SECONDS 0.5
#define COPY_SIZE ((size_t) 64 << 20)

struct bench_job {
  const char *name, *format;
  int in_width, in_height, width, height;
  pp_fit fit;
  pp_method method;
  bool antialias;
  pp_denoise denoise;
  int denoise_size; /* 0: none */
  pp_type type;
  pp_layout layout;
  pp_direction direction;
};

#define HD 1920, 1080
#define STRETCH PP_FIT_STRETCH
#define LETTERBOX PP_FIT_LETTERBOX
#define NEAREST PP_METHOD_NEAREST
#define BILINEAR PP_METHOD_BILINEAR
#define LANCZOS PP_METHOD_LANCZOS
#define AREA PP_METHOD_AREA
#define NO PP_DENOISE_NONE, 0
#define GAUSS(size) PP_DENOISE_GAUSSIAN, size
#define MEDIAN(size) PP_DENOISE_MEDIAN, size
#define F32 PP_TYPE_FLOAT32, PP_LAYOUT_NCHW
#define F16 PP_TYPE_FLOAT16, PP_LAYOUT_NCHW
#define U8 PP_TYPE_UINT8, PP_LAYOUT_NCHW
#define F32_NHWC PP_TYPE_FLOAT32, PP_LAYOUT_NHWC
#define U8_NHWC PP_TYPE_UINT8, PP_LAYOUT_NHWC

static const struct bench_job jobs[] = {
  { "letterbox 640", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false, NO, F32 },
  { "letterbox 640", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F32 },
  { "letterbox 640 f16", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F16 },
  { "letterbox 640 f16", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F16 },
  { "letterbox 640 u8", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      U8 },
  { "letterbox 640 nhwc", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F32_NHWC },
  { "letterbox 640 u8 nhwc", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      NO, U8_NHWC },
  { "stretch 640", "RGB", HD, 640, 640, STRETCH, BILINEAR, false, NO, F32 },
  { "stretch 640", "NV12", HD, 640, 640, STRETCH, BILINEAR, false, NO, F32 },
  { "letterbox 512", "RGB", HD, 512, 512, LETTERBOX, BILINEAR, false, NO, F32 },
  { "letterbox 512", "NV12", HD, 512, 512, LETTERBOX, BILINEAR, false, NO,
      F32 },
  { "letterbox 224", "RGB", HD, 224, 224, LETTERBOX, BILINEAR, false, NO, F32 },
  { "nearest stretch 640", "RGB", HD, 640, 640, STRETCH, NEAREST, false, NO,
      F32 },
  { "area stretch 640", "RGB", HD, 640, 640, STRETCH, AREA, false, NO, F32 },
  { "area stretch 640", "NV12", HD, 640, 640, STRETCH, AREA, false, NO, F32 },
  { "lanczos aa letterbox 640", "RGB", HD, 640, 640, LETTERBOX, LANCZOS, true,
      NO, F32 },
  { "lanczos aa letterbox 640", "NV12", HD, 640, 640, LETTERBOX, LANCZOS, true,
      NO, F32 },
  { "gaussian 5 letterbox 640", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      GAUSS (5), F32 },
  { "gaussian 5 letterbox 640", "NV12", HD, 640, 640, LETTERBOX, BILINEAR,
      false, GAUSS (5), F32 },
  { "gaussian 5 stretch 640", "RGB", HD, 640, 640, STRETCH, BILINEAR, false,
      GAUSS (5), F32 },
  { "gaussian 5 stretch 640", "NV12", HD, 640, 640, STRETCH, BILINEAR, false,
      GAUSS (5), F32 },
  { "median 3 letterbox 640", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      MEDIAN (3), F32 },
  { "median 3 letterbox 640", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false,
      MEDIAN (3), F32 },
  { "median 3 stretch 640", "RGB", HD, 640, 640, STRETCH, BILINEAR, false,
      MEDIAN (3), F32 },
  { "median 5 letterbox 640", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      MEDIAN (5), F32 },
  { "4K aa stretch 224", "RGB", 3840, 2160, 224, 224, STRETCH, BILINEAR, true,
      NO, F32 },
  { "4K aa stretch 224", "NV12", 3840, 2160, 224, 224, STRETCH, BILINEAR, true,
      NO, F32 },
  { "same size", "NV12", HD, 1920, 1080, STRETCH, BILINEAR, false, NO, F32 },
  /* beside the upright jobs of these names */
  { "letterbox 640, 90r", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F32, PP_DIRECTION_90R },
  { "letterbox 640, 90r", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F32, PP_DIRECTION_90R },
  { "letterbox 640, 180", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false, NO,
      F32, PP_DIRECTION_180 },
  { "letterbox 640 f16, 90r", "NV12", HD, 640, 640, LETTERBOX, BILINEAR, false,
      NO, F16, PP_DIRECTION_90R },
  { "letterbox 640 u8, 90r", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      NO, U8, PP_DIRECTION_90R },
  { "letterbox 640 nhwc, 90r", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      NO, F32_NHWC, PP_DIRECTION_90R },
  { "stretch 640, 90r", "RGB", HD, 640, 640, STRETCH, BILINEAR, false, NO, F32,
      PP_DIRECTION_90R },
  { "stretch 640, 90r", "NV12", HD, 640, 640, STRETCH, BILINEAR, false, NO, F32,
      PP_DIRECTION_90R },
  { "lanczos aa letterbox, 90r", "NV12", HD, 640, 640, LETTERBOX, LANCZOS, true,
      NO, F32, PP_DIRECTION_90R },
  { "median 3 letterbox, 90r", "RGB", HD, 640, 640, LETTERBOX, BILINEAR, false,
      MEDIAN (3), F32, PP_DIRECTION_90R },
};

#define N_JOBS (sizeof jobs / sizeof *jobs)

/* GB/s, both sides counted. */
static double
measure_copy (void)
{
  uint8_t *from = malloc (COPY_SIZE), *to = malloc (COPY_SIZE);
  double best = 1e9;
  if (!from || !to)
    abort ();
  memset (from, 1, COPY_SIZE);
  memset (to, 2, COPY_SIZE);
  for (int i = 0; i < 20; i++) {
    const double start = monotonic_time ();
    memcpy (to, from, COPY_SIZE);
    /* The copy must happen although nobody reads it. */
    __asm__ volatile("" : : "r"(to) : "memory");
    const double took = monotonic_time () - start;
    best = took < best ? took : best;
  }
  free (from);
  free (to);
  return 2 * (double) COPY_SIZE / best * 1e-3;
}

static void
make_case (check_case *check, const struct bench_job *job)
{
  pp_spec *spec = &check->spec;

  *check = (check_case){ .number = 0 };
  check_case_frame (check, job->format, job->in_width, job->in_height);
  spec->width = job->width;
  spec->height = job->height;
  spec->fit = job->fit;
  spec->method = job->method;
  spec->antialias = job->antialias;
  spec->denoise = job->denoise;
  spec->denoise_size = job->denoise_size;
  spec->type = job->type;
  spec->layout = job->layout;
  spec->direction = job->direction;
  check_case_normalize (check);
}

/* Microseconds of the best of many calls. */
static double
time_cpu (check_run *const runs)
{
  const pp_plan *plan = runs[0].plan;
  void *scratch = aligned_alloc (64, pp_apply_cpu_scratch (plan));
  void *tensors[N_TURNS];
  pp_view views[N_TURNS];
  for (int t = 0; t < N_TURNS; t++) {
    views[t] = pp_plan_crop_view (plan, &runs[t].view);
    tensors[t] = malloc (runs[t].size);
    if (!tensors[t] || !scratch)
      abort ();
    pp_plan_fill_padding (plan, tensors[t]);
  }
  double best = 1e9;
  const double end = monotonic_time () + SECONDS * 1e6;
  for (int t = 0; monotonic_time () < end; t = (t + 1) % N_TURNS) {
    const double start = monotonic_time ();
    pp_apply_cpu (
        plan, &views[t], tensors[t], 0, plan->numbers.content_height, scratch);
    const double took = monotonic_time () - start;
    best = took < best ? took : best;
  }
  for (int t = 0; t < N_TURNS; t++)
    free (tensors[t]);
  free (scratch);
  return best;
}

/* Best times of the engine's copies: rows that matter up, the content down. */
struct stages {
  double upload, download;
};

static void
ignore_input (void *user)
{
  (void) user;
}

static void
keep_times (void *user, const pp_job_info *info, const pp_error *error)
{
  struct stages *best = user;
  const pp_times *t = &info->times;
  if (error)
    return;
  const struct stages took = { t->uploaded - t->start, t->done - t->computed };
  best->upload = took.upload < best->upload ? took.upload : best->upload;
  best->download =
      took.download < best->download ? took.download : best->download;
}

static struct stages
time_device (check_run *const runs, pp_device *device)
{
  pp_arena *arena = pp_device_arena (device);
  const size_t size = runs[0].size;
  struct stages best = { 1e9, 1e9 };
  uint64_t padding = 0;
  void *tensor = pp_arena_alloc (arena, size, NULL);
  const double end = monotonic_time () + SECONDS * 1e6;
  for (int t = 0; monotonic_time () < end; t = (t + 1) % N_TURNS) {
    const pp_picture picture = { runs[0].plan, tensor, &padding };
    const pp_task task = {
      .pictures = &picture,
      .n_pictures = 1,
      .view = runs[t].view,
      .pinned_planes = ~0u,
      .input_done = ignore_input,
      .done = keep_times,
      .user = &best,
    };
    pp_error error;
    pp_job *job = pp_submit (device, &task, &error);
    if (!job || pp_job_wait (job, &error) != PP_OK) {
      fprintf (stderr, "checkkern: %s\n", error.text);
      abort ();
    }
    pp_job_unref (&job);
  }
  pp_arena_free (arena, tensor, size);
  return best;
}

static bool
bench (const struct bench_job *job, pp_device *device, double copy)
{
  pp_arena *arena = device ? pp_device_arena (device) : NULL;
  check_case check;
  check_run runs[N_TURNS];
  bool good = true;
  make_case (&check, job);
  for (int t = 0; t < N_TURNS; t++) {
    const check_random random = { (uint64_t) t };
    good &= check_run_init (&runs[t], &check, random, arena, stdout);
  }
  good = good && check_cpu (&runs[0]) &&
      (!device || check_device (&runs[0], device));
  if (good) {
    const double bytes = check_bytes_moved (runs[0].plan);
    const double took = time_cpu (runs);
    const double speed = bytes / took * 1e-3;
    printf ("%-26s %-5s %9.1f %7.2f %6.1f%%", job->name, job->format, took,
        speed, 100 * speed / copy);
    if (device) {
      const struct stages s = time_device (runs, device);
      const check_times t = check_time_kernel (runs, N_TURNS, bytes, device);
      const double whole = t.upload > t.download ? t.upload : t.download;
      printf (" %9.1f %9.1f %9.2f %9.1f %6.1f%% %7.1f %6.1f%%", s.upload,
          s.download, t.kernel, whole, 100 * t.kernel / whole,
          bytes / t.kernel * 1e-3, 100 * t.copy / t.kernel);
    }
    printf ("\n");
  }
  for (int t = 0; t < N_TURNS; t++)
    check_run_clear (&runs[t]);
  return good;
}

int
check_bench (pp_device *device)
{
  const double copy = measure_copy ();
  int wrong = 0;
  printf ("one thread, best of %.1f s, %d frames in turns; memcpy %.1f GB/s\n",
      SECONDS, N_TURNS, copy);
  printf ("%-26s %-5s %9s %7s %7s", "job", "in", "cpu us", "GB/s", "of copy");
  if (device)
    printf (" %9s %9s %9s %9s %7s %7s %7s", "up us", "down us", "kernel us",
        "whole us", "of it", "GB/s", "of copy");
  printf ("\n");
  for (size_t i = 0; i < N_JOBS; i++) {
    wrong += !bench (&jobs[i], device, copy);
    fflush (stdout);
  }
  return wrong;
}
