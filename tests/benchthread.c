/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element and GStreamer take of the streaming thread, besides the calls
 * to the device: a pipeline at full rate, source, element and sink on one thread,
 * each tensor mapped. The element is linked in, on a backend that stands before
 * the real one and times what this thread calls.
 *
 *   bench-thread [cpu|cuda [frames]]
 *
 * All times are the wall's: a frame's, without what passes in calls and in waiting
 * for tensors. Nothing else waits on that thread, so the rest is at least its CPU
 * time. Reading the clock is in it. Exits with 77 where there is no device.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "benchjobs.h"
#include "benchsource.h"
#include "gst/cudapreproc.h"
#include "gst/device.h"
#include "kernels/engine.h"

#define SKIP 77

static const BenchJob jobs[] = {
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0, FALSE },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0, FALSE },
};

/* Microseconds, of a frame or of all of them. */
typedef struct {
  gdouble time, calls, waits;
} Times;

static gdouble
now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (gdouble) time.tv_sec * 1e6 + (gdouble) time.tv_nsec * 1e-3;
}

/* the backend */

static const pp_backend *real;
static pp_backend timed;
/* Of the calling thread, so far. */
static __thread gdouble in_calls;

static pp_status
enter (pp_context *context, pp_error *error)
{
  const gdouble start = now ();
  const pp_status status = real->enter (context, error);

  in_calls += now () - start;
  return status;
}

static void
leave (pp_context *context)
{
  const gdouble start = now ();

  real->leave (context);
  in_calls += now () - start;
}

static pp_status
copy (pp_stream *stream, const pp_copy *wanted, pp_error *error)
{
  const gdouble start = now ();
  const pp_status status = real->copy (stream, wanted, error);

  in_calls += now () - start;
  return status;
}

static pp_status
gather (pp_stream *stream, const pp_gather *planes, pp_error *error)
{
  const gdouble start = now ();
  const pp_status status = real->gather (stream, planes, error);

  in_calls += now () - start;
  return status;
}

static pp_status
launch (pp_stream *stream, const pp_launch *job, pp_error *error)
{
  const gdouble start = now ();
  const pp_status status = real->launch (stream, job, error);

  in_calls += now () - start;
  return status;
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  const gdouble start = now ();
  const pp_status status = real->record (stream, event, error);

  in_calls += now () - start;
  return status;
}

static void
stand_before (const pp_backend *backend)
{
  real = backend;
  timed = *backend;
  timed.enter = enter;
  timed.leave = leave;
  timed.launch = launch;
  timed.record = record;
  if (!backend->unified) {
    timed.copy = copy;
    timed.gather = gather;
  }
}

/* Instead of gst/device.c. */
pp_device *
gst_pp_device_open (GstElement *element, gint backend, gint index,
    const pp_device_options *options, pp_error *error)
{
  (void) element;
  (void) backend;
  return pp_device_open_backend (&timed, index, options, error);
}

/* a pipeline */

typedef struct {
  gint frames, seen;
  gdouble waits;
  Times first, last; /* at the end of the warm-up, and of the frames */
} Clock;

static void
on_handoff (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Clock *clock = data;
  GstMapInfo map;
  const gdouble start = now ();

  (void) sink;
  (void) pad;
  bench_require (gst_buffer_map (buffer, &map, GST_MAP_READ), "map", NULL);
  clock->waits += now () - start;
  gst_buffer_unmap (buffer, &map);
  clock->seen++;
  if (clock->seen == BENCH_WARM_UP)
    clock->first = (Times){ now (), in_calls, clock->waits };
  else if (clock->seen == BENCH_WARM_UP + clock->frames)
    clock->last = (Times){ now (), in_calls, clock->waits };
}

static GstElement *
make_pipeline (const BenchJob *job, const gchar *element, Clock *clock)
{
  GstCaps *caps = bench_job_caps (job);
  /* The last tensors leave at the end, without frames that push them out. */
  gchar *launch = g_strdup_printf (
      "benchsource name=source recycled=%d num-buffers=%d ! %s fakesink "
      "name=sink sync=false signal-handoffs=true",
      BENCH_BUFFERS, BENCH_WARM_UP + clock->frames + BENCH_WARM_UP, element);
  GstElement *pipeline = gst_parse_launch (launch, NULL);

  bench_require (pipeline != NULL, launch, NULL);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (source, "caps", caps, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (on_handoff), clock);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_caps_unref (caps);
  g_free (launch);
  return pipeline;
}

static Times
run (const BenchJob *job, gint frames)
{
  gchar *element =
      g_strdup_printf ("cudapreproc width=%d height=%d fit=%s type=%s "
                       "mean=0.485,0.456,0.406 std=0.229,0.224,0.225 !",
          job->target, job->target, job->fit, job->type);
  Clock clock = { .frames = frames };
  GstElement *pipeline = make_pipeline (job, element, &clock);
  GstBus *bus = gst_element_get_bus (pipeline);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  bench_require (
      GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS, "pipeline", NULL);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
  g_free (element);
  return (Times){ (clock.last.time - clock.first.time) / frames,
    (clock.last.calls - clock.first.calls) / frames,
    (clock.last.waits - clock.first.waits) / frames };
}

static gdouble
rest (const Times *times)
{
  return times->time - times->calls - times->waits;
}

/* The round with the least rest: others were disturbed. */
static void
print_job (const BenchJob *job, gint frames)
{
  Times best = { G_MAXDOUBLE, 0, 0 };
  gchar *name = bench_job_name (job);

  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    const Times times = run (job, frames);
    if (rest (&times) < rest (&best))
      best = times;
  }
  g_print ("  %-45s %8.1f %8.1f %8.1f %8.2f\n", name, best.time, best.calls,
      best.waits, rest (&best));
  g_free (name);
}

int
main (int argc, char **argv)
{
  pp_error error;

  gst_init (&argc, &argv);
  stand_before (argc > 1 && strcmp (argv[1], "cpu") == 0 ? &pp_backend_cpu
                                                         : &pp_backend_cuda);
  const gint frames = argc > 2 ? MAX (atoi (argv[2]), 1) : 1000;
  pp_device *device = pp_device_open_backend (&timed, -1, NULL, &error);
  if (device == NULL) {
    g_print ("SKIP: %s\n", error.text);
    return SKIP;
  }
  g_print ("%s; %d frames, best of %d rounds; microseconds a frame of the "
           "streaming thread\n\n  %-45s %8s %8s %8s %8s\n",
      pp_device_name (device), frames, BENCH_ROUNDS, "", "time", "calls",
      "waits", "rest");
  pp_device_close (&device);
  bench_source_register ();
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++)
    print_job (&jobs[j], frames);
  return 0;
}
