/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchjobs.h"

#include <stdlib.h>

#include "benchsink.h"

/* One pipeline's way through its frames. */
typedef struct {
  GstElement *pipeline;
  gint warm_up;       /* frames, until all that take turns are filled */
  gint seen;          /* atomic */
  gdouble start, end; /* of the frames behind the warm-up */
  gdouble arrived;    /* when the frame came to the element */
  gdouble *latencies; /* of the frames behind the warm-up; NULL: not asked */
} Clock;

static GstPadProbeReturn
on_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Clock *clock = data;

  (void) pad;
  (void) info;
  clock->arrived = bench_now ();
  return GST_PAD_PROBE_OK;
}

/* Maps every buffer: waits until the tensor is there. */
static void
on_tensor (GstBuffer *buffer, gpointer data)
{
  Clock *clock = data;
  GstMapInfo map;

  bench_require (gst_buffer_map (buffer, &map, GST_MAP_READ), "map", NULL);
  const gdouble now = bench_now ();
  gst_buffer_unmap (buffer, &map);
  const gint seen = g_atomic_int_add (&clock->seen, 1);
  if (seen + 1 == clock->warm_up)
    clock->start = now;
  else if (seen >= clock->warm_up && clock->latencies != NULL)
    clock->latencies[seen - clock->warm_up] = now - clock->arrived;
  clock->end = now;
}

static void
start_pipeline (Clock *clock, const BenchRun *run, const BenchJob *job,
    gint streams, gboolean serial, gint frames)
{
  GstCaps *caps = bench_job_caps (job);
  gchar *gaussian = job->gaussian > 0
      ? g_strdup_printf ("denoise=gaussian denoise-size=%d", job->gaussian)
      : g_strdup ("");
  gchar *launch = g_strdup_printf (
      "benchsource name=source pageable=%d recycled=%d num-buffers=%d ! "
      "cudapreproc "
      "name=preproc backend=%s streams=%d async-depth=%d width=%d height=%d "
      "fit=%s type=%s mean=0.485,0.456,0.406 std=0.229,0.224,0.225 %s ! "
      "benchsink name=sink",
      job->pageable, MAX (job->recycled, BENCH_BUFFERS), frames,
      run->backend_name, streams, serial ? 0 : -1, job->target, job->target,
      job->fit, job->type, gaussian);

  clock->warm_up = BENCH_WARM_UP + job->recycled;
  clock->pipeline = gst_parse_launch (launch, NULL);
  bench_require (clock->pipeline != NULL, launch, NULL);
  GstElement *source =
      gst_bin_get_by_name (GST_BIN (clock->pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (clock->pipeline), "sink");
  g_object_set (source, "caps", caps, NULL);
  bench_sink_set_render (sink, on_tensor, clock);
  if (clock->latencies != NULL) {
    GstElement *element =
        gst_bin_get_by_name (GST_BIN (clock->pipeline), "preproc");
    GstPad *in = gst_element_get_static_pad (element, "sink");
    gst_pad_add_probe (in, GST_PAD_PROBE_TYPE_BUFFER, on_arrival, clock, NULL);
    gst_object_unref (in);
    gst_object_unref (element);
  }
  gst_element_set_state (clock->pipeline, GST_STATE_PLAYING);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_caps_unref (caps);
  g_free (launch);
  g_free (gaussian);
}

static void
finish_pipeline (Clock *clock, BenchResult *result)
{
  GstBus *bus = gst_element_get_bus (clock->pipeline);
  GstElement *element =
      gst_bin_get_by_name (GST_BIN (clock->pipeline), "preproc");
  GstStructure *stats = NULL;
  guint64 frames = 1, up = 0, down = 0;
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s\n", error->message);
    exit (1);
  }
  gst_message_unref (message);
  g_object_get (element, "stats", &stats, NULL);
  gst_structure_get_uint64 (stats, "frames", &frames);
  gst_structure_get_uint64 (stats, "bytes-up", &up);
  gst_structure_get_uint64 (stats, "bytes-down", &down);
  gst_structure_get_double (stats, "upload-mean", &result->upload);
  gst_structure_get_double (stats, "kernel-mean", &result->kernel);
  gst_structure_get_double (stats, "download-mean", &result->download);
  result->bytes_up = (gsize) (up / MAX (frames, 1));
  result->bytes_down = (gsize) (down / MAX (frames, 1));
  gst_structure_free (stats);
  gst_element_set_state (clock->pipeline, GST_STATE_NULL);
  gst_object_unref (element);
  gst_object_unref (bus);
  gst_object_unref (clock->pipeline);
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

static BenchResult
run_one (
    const BenchRun *run, const BenchJob *job, gint streams, gboolean serial)
{
  BenchResult result = { 0 };
  Clock clock = { 0 };

  if (serial)
    clock.latencies = g_new0 (gdouble, run->frames);
  start_pipeline (&clock, run, job, streams, serial,
      BENCH_WARM_UP + job->recycled + run->frames);
  finish_pipeline (&clock, &result);
  result.time = (clock.end - clock.start) / run->frames;
  if (serial)
    bench_sort_latencies (clock.latencies, run->frames, &result);
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
