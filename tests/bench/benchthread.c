/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU time that GStreamer and the element take of the streaming thread, besides
 * calls to the device and waiting for it: a pipeline at full rate, source, element
 * and sink on one thread, each tensor mapped. The element is linked in, so that its
 * backend can be one that stands before the real one.
 *
 *   bench-thread [cpu|cuda [frames]]
 *
 * without: of source and sink alone, which is in the rest too.
 *
 * Reading a thread's CPU time around every call would cost about as much as what is
 * to be measured. So the calls of one frame in some are timed, and what the readings
 * take is measured and taken off. Exits with 77 where there is no device.
 */
#include <stdlib.h>
#include <string.h>

#include "benchelements.h"
#include "benchjobs.h"
#include "gst/cudapreproc.h"
#include "gst/device.h"
#include "kernels/engine/engine.h"
#include "tests/common/times.h"

#define SKIP 77
/* More than elsewhere, and shorter ones: a thread's few microseconds double while
 * somebody else uses the core's other half. */
#define ROUNDS 12
#define READINGS 100000
/* The calls of one frame in so many are; another number than of frames and of
 * streams that take turns, or it were always the same one's. */
#define TIMED 7

static const BenchJob jobs[] = {
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
};

/* The calling thread's CPU time, microseconds. */
static gdouble
now (void)
{
  return clock_time (CLOCK_THREAD_CPUTIME_ID);
}

/* What one reading of it takes, microseconds. */
static gdouble
reading_time (void)
{
  const gdouble start = now ();

  for (gint i = 1; i < READINGS; i++)
    now ();
  return (now () - start) / READINGS;
}

/* the backend */

static const pp_backend *real;
static pp_backend timed;

/* What the calling thread spent in something, readings included. */
typedef struct {
  gdouble time;
  gint n;      /* pairs of readings */
  gint frames; /* that they are of */
} Spent;
static __thread Spent in_calls;
static __thread gint frames_entered;

/* Whether this frame's calls are. */
static gboolean
is_timed (void)
{
  return frames_entered % TIMED == 0;
}

static gdouble
start_call (void)
{
  return is_timed () ? now () : 0;
}

static void
add_since (Spent *spent, gdouble start)
{
  spent->time += now () - start;
  spent->n++;
}

static void
end_call (gdouble start)
{
  if (is_timed ())
    add_since (&in_calls, start);
}

/* Once a frame, first. */
static pp_status
enter (pp_context *context, pp_error *error)
{
  frames_entered++;
  if (is_timed ())
    in_calls.frames++;
  const gdouble start = start_call ();
  const pp_status status = real->enter (context, error);

  end_call (start);
  return status;
}

static void
leave (pp_context *context)
{
  const gdouble start = start_call ();

  real->leave (context);
  end_call (start);
}

static pp_status
copy (pp_stream *stream, const pp_copy *wanted, pp_error *error)
{
  const gdouble start = start_call ();
  const pp_status status = real->copy (stream, wanted, error);

  end_call (start);
  return status;
}

static pp_status
gather (pp_stream *stream, const pp_gather *planes, pp_error *error)
{
  const gdouble start = start_call ();
  const pp_status status = real->gather (stream, planes, error);

  end_call (start);
  return status;
}

static pp_status
launch (pp_stream *stream, const pp_launch *job, pp_error *error)
{
  const gdouble start = start_call ();
  const pp_status status = real->launch (stream, job, error);

  end_call (start);
  return status;
}

static pp_status
record (pp_stream *stream, pp_event *event, pp_error *error)
{
  const gdouble start = start_call ();
  const pp_status status = real->record (stream, event, error);

  end_call (start);
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
gst_pp_device_open (GstElement *element,
    const GstPpDeviceConstraints *constraints, pp_error *error)
{
  (void) element;
  return pp_device_open_backend (
      &timed, constraints->index, &constraints->options, error);
}

/* a pipeline */

/* The streaming thread's, at some frame. */
typedef struct {
  gdouble time;
  Spent calls, waits;
} Moment;

typedef struct {
  gint frames, seen;
  Spent waits;
  Moment first, last; /* at the end of the warm-up, and of the frames */
} Clock;

static void
on_tensor (GstBuffer *buffer, gpointer data)
{
  Clock *clock = data;
  GstMapInfo map;
  const gdouble start = now ();

  bench_require (gst_buffer_map (buffer, &map, GST_MAP_READ), "map", NULL);
  add_since (&clock->waits, start);
  clock->waits.frames++;
  gst_buffer_unmap (buffer, &map);
  clock->seen++;
  if (clock->seen == BENCH_WARM_UP)
    clock->first = (Moment){ now (), in_calls, clock->waits };
  else if (clock->seen == BENCH_WARM_UP + clock->frames)
    clock->last = (Moment){ now (), in_calls, clock->waits };
}

static void
run (const BenchJob *job, gboolean with_element, Clock *clock)
{
  g_autofree gchar *of_job = bench_job_properties (job);
  g_autofree gchar *properties = g_strdup_printf ("%s !", of_job);
  /* The last tensors leave at the end, without frames that push them out. */
  GstElement *pipeline =
      bench_make_pipeline (job, BENCH_WARM_UP + clock->frames + BENCH_WARM_UP,
          with_element ? properties : NULL, on_tensor, clock);

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  bench_wait_for_end (pipeline);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
}

/* Of a frame: one reading of each pair lies between the two. */
static gdouble
spent (const Spent *first, const Spent *last, gdouble reading)
{
  return (last->time - first->time - (last->n - first->n) * reading) /
      MAX (last->frames - first->frames, 1);
}

/* Of a frame, microseconds. */
typedef struct {
  gdouble calls, waits, rest;
} Times;

static Times
run_round (const BenchJob *job, gint frames, gboolean with_element)
{
  const gdouble reading = reading_time ();
  Clock clock = { .frames = frames };

  run (job, with_element, &clock);
  const Moment *first = &clock.first, *last = &clock.last;
  const gint readings =
      2 * (last->calls.n - first->calls.n + last->waits.n - first->waits.n);
  Times times = { .calls = spent (&first->calls, &last->calls, reading),
    .waits = spent (&first->waits, &last->waits, reading) };

  times.rest = (last->time - first->time - readings * reading) / frames -
      times.calls - times.waits;
  return times;
}

/* The round with the least rest: others were disturbed. */
static Times
run_rounds (const BenchJob *job, gint frames, gboolean with_element)
{
  Times best = run_round (job, frames, with_element);

  for (gint round = 1; round < ROUNDS; round++) {
    const Times times = run_round (job, frames, with_element);
    if (times.rest < best.rest)
      best = times;
  }
  return best;
}

static void
print_job (const BenchJob *job, gint frames)
{
  const Times times = run_rounds (job, frames, TRUE);
  const gdouble without = run_rounds (job, frames, FALSE).rest;
  gchar *name = bench_job_name (job);

  g_print ("  %-45s %8.2f %8.2f %8.2f %8.2f\n", name, times.calls, times.waits,
      times.rest, without);
  g_free (name);
}

int
main (int argc, char **argv)
{
  pp_error error;

  gst_init (&argc, &argv);
  stand_before (argc > 1 && strcmp (argv[1], "cpu") == 0 ? &pp_backend_cpu
                                                         : &pp_backend_cuda);
  const gint frames = argc > 2 ? MAX (atoi (argv[2]), 1) : 2500;
  pp_device *device = pp_device_open_backend (real, -1, NULL, &error);
  if (device == NULL) {
    g_print ("SKIP: %s\n", error.text);
    return SKIP;
  }
  g_print ("%s; %d frames, best of %d rounds; microseconds of CPU time a frame "
           "of the streaming thread\n\n  %-45s %8s %8s %8s %8s\n",
      pp_device_name (device), frames, ROUNDS, "", "calls", "waits", "rest",
      "without");
  pp_device_close (&device);
  bench_register_elements ();
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++)
    print_job (&jobs[j], frames);
  return 0;
}
