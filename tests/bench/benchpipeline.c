/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchelements.h"
#include "benchjobs.h"

#include "gst/buffers/cuda_memory.h"

/* One pipeline's way through its frames. */
typedef struct {
  GstElement *pipeline;
  gint warm_up;       /* frames, until all that take turns are filled */
  gint seen;          /* atomic */
  gdouble start, end; /* of the frames behind the warm-up */
  gdouble arrived;    /* when the frame came to the element */
  gdouble *latencies; /* of the frames behind the warm-up; NULL: not asked */
  /* Of tensors that stay on the device: the last ones, which take turns, and which
   * one ends the measurement; 0: none does. */
  GPtrArray *kept;
  gint last;
} Clock;

/* Tensors are done in the order in which they come. */
static void
keep_tensor (Clock *clock, GstBuffer *buffer, gint number)
{
  gpointer *place = &clock->kept->pdata[(guint) number % clock->kept->len];

  gst_buffer_replace ((GstBuffer **) place, buffer);
  if (number == clock->warm_up || number == clock->last ||
      clock->latencies != NULL)
    bench_wait_for_tensor (buffer, GST_PP_MAP_CUDA);
}

/* Maps every buffer in host memory: waits until the tensor is there. */
static void
on_tensor (GstBuffer *buffer, gpointer data)
{
  Clock *clock = data;
  const gint seen = g_atomic_int_get (&clock->seen);

  if (clock->kept != NULL)
    keep_tensor (clock, buffer, seen + 1);
  else
    bench_wait_for_tensor (buffer, 0);
  const gdouble now = bench_now ();
  g_atomic_int_inc (&clock->seen);
  if (seen + 1 == clock->warm_up)
    clock->start = now;
  else if (seen >= clock->warm_up && clock->latencies != NULL)
    clock->latencies[seen - clock->warm_up] = now - clock->arrived;
  clock->end = now;
}

static void
free_tensor (gpointer tensor)
{
  if (tensor != NULL)
    gst_buffer_unref (tensor);
}

static GPtrArray *
keep_tensors (const BenchJob *job)
{
  GstVideoInfo info;
  pp_plan *plan = bench_job_plan (job, &info);
  const gint tensors = bench_job_turns (
      TRUE, pp_plan_tensor_size (plan) * (gsize) bench_job_frames (job), 2);
  GPtrArray *kept = g_ptr_array_new_with_free_func (free_tensor);

  g_ptr_array_set_size (kept, tensors);
  pp_plan_unref (&plan);
  return kept;
}

/* In tensors. */
static gint
count_warm_up (const BenchJob *job)
{
  return (BENCH_WARM_UP + bench_job_recycled (job)) / bench_job_frames (job) *
      bench_job_tensors (job);
}

static void
start_pipeline (Clock *clock, const BenchRun *run, const BenchJob *job,
    gint streams, gboolean serial, gint frames)
{
  g_autofree gchar *of_job = bench_job_properties (job);
  g_autofree gchar *properties =
      g_strdup_printf ("backend=%s streams=%d async-depth=%d %s%s !%s",
          run->backend_name, streams, serial ? 0 : -1, of_job,
          job->regions > 0 && !job->one_by_one ? " regions=meta" : "",
          job->tensors_stay ? " other/tensors(memory:CUDAMemory) !" : "");

  clock->warm_up = count_warm_up (job);
  clock->kept = job->tensors_stay ? keep_tensors (job) : NULL;
  clock->pipeline =
      bench_make_pipeline (job, frames, properties, on_tensor, clock);
  if (clock->latencies != NULL)
    bench_note_arrivals (clock->pipeline, &clock->arrived);
  gst_element_set_state (clock->pipeline, GST_STATE_PLAYING);
}

static void
finish_pipeline (Clock *clock, BenchResult *result)
{
  GstElement *element =
      gst_bin_get_by_name (GST_BIN (clock->pipeline), "preproc");
  GstStructure *stats = NULL;
  guint64 frames = 1, up = 0, down = 0;

  bench_wait_for_end (clock->pipeline);
  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_get_uint64 (stats, "bytes-up", &up);
  gst_structure_get_uint64 (stats, "bytes-down", &down);
  result->bytes_up = (gsize) (up / MAX (frames, 1));
  result->bytes_down = (gsize) (down / MAX (frames, 1));
  gst_structure_free (stats);
  gst_element_set_state (clock->pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (clock->pipeline);
  g_clear_pointer (&clock->kept, g_ptr_array_unref);
}

static gint
count_frames (Clock *clocks, gint pipelines)
{
  gint frames = 0;

  for (gint p = 0; p < pipelines; p++)
    frames += g_atomic_int_get (&clocks[p].seen);
  return frames;
}

static gboolean
are_warm (Clock *clocks, gint pipelines)
{
  for (gint p = 0; p < pipelines; p++)
    if (g_atomic_int_get (&clocks[p].seen) < clocks[p].warm_up)
      return FALSE;
  return TRUE;
}

/* The rate of all pipelines while all of them run. */
static BenchResult
run_together (const BenchRun *run, const BenchJob *job, gint streams,
    gboolean serial, gint pipelines)
{
  Clock *clocks = g_new0 (Clock, pipelines);
  BenchResult result = { 0 };

  for (gint p = 0; p < pipelines; p++)
    start_pipeline (&clocks[p], run, job, streams, serial, -1);
  while (!are_warm (clocks, pipelines))
    g_usleep (1000);
  const gint before = count_frames (clocks, pipelines);
  const gdouble start = bench_now ();
  while (count_frames (clocks, pipelines) - before < run->frames * 4)
    g_usleep (1000);
  result.time =
      (bench_now () - start) / (count_frames (clocks, pipelines) - before);
  for (gint p = 0; p < pipelines; p++)
    gst_element_send_event (clocks[p].pipeline, gst_event_new_eos ());
  for (gint p = 0; p < pipelines; p++)
    finish_pipeline (&clocks[p], &result);
  g_free (clocks);
  return result;
}

/* How many tensors are measured. */
static gint
count_tensors (const BenchRun *run, const BenchJob *job)
{
  return MAX (run->frames / bench_job_frames (job), 16) *
      bench_job_tensors (job);
}

static BenchResult
run_one (
    const BenchRun *run, const BenchJob *job, gint streams, gboolean serial)
{
  const gint tensors = count_tensors (run, job);
  BenchResult result = { 0 };
  Clock clock = { 0 };

  if (serial)
    clock.latencies = g_new0 (gdouble, tensors);
  clock.last = count_warm_up (job) + tensors;
  start_pipeline (&clock, run, job, streams, serial,
      (count_warm_up (job) + tensors) * bench_job_frames (job));
  finish_pipeline (&clock, &result);
  result.time = (clock.end - clock.start) / tensors * bench_job_tensors (job) /
      bench_job_frames (job);
  if (serial)
    bench_sort_latencies (clock.latencies, tensors, &result);
  g_free (clock.latencies);
  return result;
}

BenchResult
bench_pipeline (const BenchRun *run, const BenchJob *job, gint streams,
    gboolean serial, gint pipelines)
{
  BenchResult best = { .time = G_MAXDOUBLE };

  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    const BenchResult result = pipelines > 1
        ? run_together (run, job, streams, serial, pipelines)
        : run_one (run, job, streams, serial);
    if (result.time < best.time)
      best = result;
  }
  return best;
}

static BenchResult
run_mux (const BenchRun *run, const BenchJob *job, gint sources)
{
  g_autofree gchar *of_job = bench_job_properties (job);
  g_autofree gchar *properties =
      g_strdup_printf ("backend=%s %s !", run->backend_name, of_job);
  const gint warm_up = MAX (count_warm_up (job) / sources, 8);
  const gint batches = MAX (run->frames / sources, 16);
  Clock clock = { .warm_up = warm_up };
  BenchResult result = { 0 };

  clock.pipeline = bench_make_mux (
      job, sources, warm_up + batches, properties, on_tensor, &clock);
  gst_element_set_state (clock.pipeline, GST_STATE_PLAYING);
  finish_pipeline (&clock, &result);
  result.time = (clock.end - clock.start) / batches / sources;
  return result;
}

BenchResult
bench_mux (const BenchRun *run, const BenchJob *job, gint sources)
{
  BenchResult best = { .time = G_MAXDOUBLE };

  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    const BenchResult result = run_mux (run, job, sources);
    if (result.time < best.time)
      best = result;
  }
  return best;
}
