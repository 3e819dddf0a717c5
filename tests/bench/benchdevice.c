/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames and tensors that stay on the GPU, and either of them: through the engine,
 * and through a pipeline whose source hands out prefilled frames in CUDA memory and
 * whose sink takes the tensors. What stays there takes turns over
 * BENCH_DEVICE_BYTES, frames and tensors each, so that no cache holds them.
 */
#include "benchjobs.h"

#include "gst/buffers/cuda_memory.h"

/* Of one frame at a time, from device to device, microseconds. */
#define MOST 10.0

/* clang-format off */
static const BenchJob jobs[] = {
  { "RGB", 1920, 1080, 640, "stretch", "float32", 0 },
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "NV12", 1920, 1080, 640, "stretch", "float32", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
};
/* clang-format on */

/* A row: the engine on each number of streams and the kernel on one, then the
 * pipeline. Returns the engine's best time. */
static gdouble
print_row (const BenchRun *run, const BenchJob *job)
{
  g_autofree gchar *name = bench_job_name (job);
  gdouble best = G_MAXDOUBLE, kernel = 0;

  g_print ("  %-58s", name);
  for (gint streams = 1; streams <= BENCH_MAX_STREAMS; streams++) {
    const BenchResult result =
        bench_engine (run, job, streams, BENCH_OVERLAPPED);
    best = MIN (best, result.time);
    if (streams == 1)
      kernel = result.kernel;
    bench_require (result.bytes_up == 0 && result.bytes_down == 0,
        "something crossed the bus", NULL);
    g_print (" %7.1f", result.time);
  }
  g_print (" %7.1f", kernel);
  const BenchResult pipeline = bench_pipeline (run, job, 0, FALSE, 1);
  bench_require (pipeline.bytes_up == 0 && pipeline.bytes_down == 0,
      "something crossed the bus", NULL);
  g_print (" %9.1f\n", pipeline.time);
  return best;
}

static void
bench_staying (const BenchRun *run)
{
  gdouble worst = 0;

  g_print ("\nframes and tensors on the device, each over %" G_GSIZE_FORMAT
           " MiB; us/frame; kernel: sampled, on 1 stream\n"
           "  %-58s %7s %7s %7s %7s %7s %9s\n",
      BENCH_DEVICE_BYTES >> 20, "", "1", "2", "3", "4", "kernel", "pipeline");
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++)
    for (gint batch = 0; batch <= 8; batch += 8) {
      BenchJob job = jobs[j];
      job.on_device = job.tensors_stay = TRUE;
      job.batch = batch;
      const gdouble best = print_row (run, &job);
      worst = batch == 0 ? MAX (worst, best) : worst;
    }
  g_print ("  one frame a job, the slowest job on its best number of streams: "
           "%.1f us of at most %.0f: %s\n",
      worst, MOST, worst <= MOST ? "reached" : "MISSED");
}

/* One of them crosses the bus: beside copies of these bytes alone. */
static void
bench_crossing (const BenchRun *run)
{
  g_print ("\nframes or tensors on the device\n"
           "  %-58s %9s %9s %9s %9s\n",
      "", "copies", "engine", "pipeline", "/ copies");
  for (gint down = 0; down <= 1; down++)
    for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
      BenchJob job = jobs[j];
      job.on_device = down;
      job.tensors_stay = !down;
      g_autofree gchar *name = bench_job_name (&job);
      const BenchResult engine =
          bench_engine (run, &job, BENCH_MAX_STREAMS, BENCH_OVERLAPPED);
      const BenchResult pipeline = bench_pipeline (run, &job, 0, FALSE, 1);
      const gdouble copies =
          bench_limit (run, engine.bytes_up, engine.bytes_down).time;
      g_print ("  %-58s %9.1f %9.1f %9.1f %9.2f\n", name, copies, engine.time,
          pipeline.time, pipeline.time / copies);
    }
}

void
bench_device (const BenchRun *run)
{
  if (run->backend != PP_BACKEND_CUDA || !gst_pp_cuda_takes_frames ()) {
    g_print ("\nSKIP device: %s\n",
        run->backend != PP_BACKEND_CUDA
            ? "the CPU has no memory of its own"
            : "built without GStreamer's CUDA library");
    return;
  }
  bench_staying (run);
  bench_crossing (run);
}
