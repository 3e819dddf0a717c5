/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a frame takes, through the engine and through a pipeline: serial (one
 * stream, each frame waited for) against 1 to 4 streams, beside the whole-frame
 * limit: pinned copies of the whole frame up and of the whole tensor down, no
 * kernel, on the best of 1 to 4 streams, in the same run.
 *
 * Usage: bench [cpu|cuda] [frames]. Exits with 77 where there is no device.
 */
#include "benchsource.h"

#include <stdlib.h>
#include <string.h>

#include "gst/inputformat.h"
#include "kernels/backend.h"

#define SKIP 77
#define MAX_STREAMS 4
#define ROUNDS 3   /* best of */
#define BUFFERS 8  /* frames taking turns, so that none stays in a cache */
#define WARM_UP 64 /* frames before the clock starts */

typedef struct {
  const gchar *format;
  gint width, height, target;
  const gchar *fit, *type;
} Job;

static const Job jobs[] = {
  { "RGB", 1920, 1080, 640, "letterbox", "float32" },
  { "RGB", 1920, 1080, 640, "letterbox", "float16" },
  { "NV12", 1920, 1080, 640, "letterbox", "float32" },
  { "NV12", 1920, 1080, 640, "letterbox", "float16" },
  { "RGB", 1920, 1080, 224, "letterbox", "float32" },
  { "RGB", 1920, 1080, 640, "stretch", "float32" },
  { "NV12", 3840, 2160, 640, "letterbox", "float16" },
};

static pp_backend_id backend_id;
static const gchar *backend_name;

/* A failure here is a broken machine or build, not a result. */
static void
require (gboolean condition, const gchar *what, const pp_error *error)
{
  if (condition)
    return;
  g_printerr ("%s: %s\n", what, error != NULL ? error->text : "failed");
  exit (1);
}

static gdouble
now (void)
{
  return (gdouble) g_get_monotonic_time ();
}

static GstCaps *
job_caps (const Job *job)
{
  return gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      job->format, "width", G_TYPE_INT, job->width, "height", G_TYPE_INT,
      job->height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);
}

static pp_plan *
job_plan (const Job *job, GstVideoInfo *info)
{
  GstCaps *caps = job_caps (job);
  pp_spec spec;
  pp_format format;
  pp_error error;
  gchar *reason = NULL;

  pp_spec_init (&spec);
  spec.width = spec.height = job->target;
  spec.fit =
      strcmp (job->fit, "letterbox") == 0 ? PP_FIT_LETTERBOX : PP_FIT_STRETCH;
  spec.type =
      strcmp (job->type, "float16") == 0 ? PP_TYPE_FLOAT16 : PP_TYPE_FLOAT32;
  require (gst_video_info_from_caps (info, caps), "caps", NULL);
  require (
      gst_pp_format_from_video_info (info, &format, &reason), "format", NULL);
  pp_plan *plan = pp_plan_new (&spec, &format, NULL, &error);
  require (plan != NULL, "plan", &error);
  gst_caps_unref (caps);
  return plan;
}

/* the limit */

typedef struct {
  pp_stream *stream;
  void *frame, *tensor;
} Lane;

static void
copy_bytes (const pp_backend *backend, pp_stream *stream, void *to,
    const void *from, gsize size, gboolean up)
{
  const pp_copy copy = { .from = from,
    .to = to,
    .from_row = size,
    .to_row = size,
    .from_box = size,
    .to_box = size,
    .width = size,
    .rows = 1,
    .boxes = 1,
    .up = up };
  pp_error error;

  require (backend->copy (stream, &copy, &error) == PP_OK, "copy", &error);
}

/* Microseconds a frame for copies alone. */
static gdouble
measure_copies (const pp_backend *backend, Lane *lanes, gint streams,
    void **frames, void **tensors, gsize frame_size, gsize tensor_size,
    gint n_frames)
{
  gdouble start = 0;

  for (gint i = -WARM_UP; i < n_frames; i++) {
    if (i == 0) {
      for (gint s = 0; s < streams; s++)
        backend->stream_sync (lanes[s].stream, NULL);
      start = now ();
    }
    const Lane *lane = &lanes[(i + WARM_UP) % streams];
    const gint b = (i + WARM_UP) % BUFFERS;
    copy_bytes (
        backend, lane->stream, lane->frame, frames[b], frame_size, TRUE);
    copy_bytes (
        backend, lane->stream, tensors[b], lane->tensor, tensor_size, FALSE);
  }
  for (gint s = 0; s < streams; s++)
    backend->stream_sync (lanes[s].stream, NULL);
  return (now () - start) / n_frames;
}

/* The whole-frame limit; which number of streams gave it. */
static gdouble
measure_limit (gsize frame_size, gsize tensor_size, gint n_frames, gint *best)
{
  const pp_backend *backend = &pp_backend_cuda;
  pp_context *context;
  pp_error error;
  Lane lanes[MAX_STREAMS] = { { 0 } };
  void *frames[BUFFERS], *tensors[BUFFERS];
  gdouble limit = G_MAXDOUBLE;

  require (backend->open (-1, &context, &error) == PP_OK, "open", &error);
  require (backend->enter (context, &error) == PP_OK, "enter", &error);
  for (gint b = 0; b < BUFFERS; b++) {
    frames[b] = backend->host_alloc (context, frame_size, &error);
    tensors[b] = backend->host_alloc (context, tensor_size, &error);
    require (frames[b] != NULL && tensors[b] != NULL, "memory", &error);
    memset (frames[b], b, frame_size);
  }
  for (gint s = 0; s < MAX_STREAMS; s++) {
    require (
        backend->stream_create (context, &lanes[s].stream, &error) == PP_OK,
        "stream", &error);
    lanes[s].frame = backend->device_alloc (context, frame_size, &error);
    lanes[s].tensor = backend->device_alloc (context, tensor_size, &error);
    require (
        lanes[s].frame != NULL && lanes[s].tensor != NULL, "memory", &error);
  }
  for (gint round = 0; round < ROUNDS; round++)
    for (gint streams = 1; streams <= MAX_STREAMS; streams++) {
      const gdouble time = measure_copies (backend, lanes, streams, frames,
          tensors, frame_size, tensor_size, n_frames);
      if (time < limit) {
        limit = time;
        *best = streams;
      }
    }
  for (gint s = 0; s < MAX_STREAMS; s++) {
    backend->stream_destroy (&lanes[s].stream);
    backend->device_free (context, lanes[s].frame);
    backend->device_free (context, lanes[s].tensor);
  }
  for (gint b = 0; b < BUFFERS; b++) {
    backend->host_free (context, frames[b]);
    backend->host_free (context, tensors[b]);
  }
  backend->leave (context);
  backend->close (&context);
  return limit;
}

/* the engine */

static void
fill (guint8 *data, gsize size, guint seed)
{
  guint32 state = seed * 2654435761u + 1;

  for (gsize i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    data[i] = (guint8) (state >> 24);
  }
}

static gdouble
run_engine (pp_device *device, pp_plan *plan, const GstVideoInfo *info,
    guint8 **frames, void **tensors, gint n_frames, gboolean serial)
{
  const gint in_flight = 2 * MAX_STREAMS;
  guint64 padding[2 * MAX_STREAMS] = { 0 };
  pp_job *queued[2 * MAX_STREAMS] = { NULL };
  pp_error error;
  gdouble start = 0;

  for (gint i = -WARM_UP; i < n_frames; i++) {
    const gint slot = (i + WARM_UP) % in_flight;
    guint8 *frame = frames[(i + WARM_UP) % BUFFERS];
    pp_task task = { .plan = plan,
      .pinned_planes = ~0u,
      .tensor = tensors[slot],
      .padding = &padding[slot] };

    if (i == 0) {
      pp_device_drain (device, NULL);
      start = now ();
    }
    for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
      task.view.plane[p] = frame + GST_VIDEO_INFO_PLANE_OFFSET (info, p);
      task.view.stride[p] = (gsize) GST_VIDEO_INFO_PLANE_STRIDE (info, p);
    }
    if (queued[slot] != NULL)
      pp_job_wait (queued[slot], NULL);
    pp_job_unref (&queued[slot]);
    queued[slot] = pp_submit (device, &task, &error);
    require (queued[slot] != NULL, "submit", &error);
    if (serial)
      pp_job_wait (queued[slot], NULL);
  }
  require (pp_device_drain (device, &error) == PP_OK, "drain", &error);
  for (gint slot = 0; slot < in_flight; slot++)
    pp_job_unref (&queued[slot]);
  return (now () - start) / n_frames;
}

/* Best of the rounds, microseconds a frame. */
static gdouble
measure_engine (const Job *job, gint streams, gint n_frames, gboolean serial)
{
  GstVideoInfo info;
  pp_plan *plan = job_plan (job, &info);
  const gsize size = pp_plan_tensor_size (plan);
  pp_error error;
  pp_device *device = pp_device_open (backend_id, -1, streams, &error);
  guint8 *frames[BUFFERS];
  void *tensors[2 * MAX_STREAMS];
  gdouble best = G_MAXDOUBLE;

  require (device != NULL, "open", &error);
  pp_arena *arena = pp_device_arena (device);
  for (gint b = 0; b < BUFFERS; b++) {
    frames[b] = pp_arena_alloc (arena, info.size, &error);
    require (frames[b] != NULL, "memory", &error);
    fill (frames[b], info.size, (guint) b);
  }
  for (gint b = 0; b < 2 * MAX_STREAMS; b++) {
    tensors[b] = pp_arena_alloc (arena, size, &error);
    require (tensors[b] != NULL, "memory", &error);
  }
  require (
      pp_device_reserve (device, plan, &error) == PP_OK, "reserve", &error);
  for (gint round = 0; round < ROUNDS; round++)
    best = MIN (best,
        run_engine (device, plan, &info, frames, tensors, n_frames, serial));
  for (gint b = 0; b < BUFFERS; b++)
    pp_arena_free (arena, frames[b], info.size);
  for (gint b = 0; b < 2 * MAX_STREAMS; b++)
    pp_arena_free (arena, tensors[b], size);
  pp_device_close (&device);
  pp_plan_unref (&plan);
  return best;
}

/* the pipeline */

typedef struct {
  gint seen, n_frames;
  gdouble start, end;
} Clock;

/* Maps every buffer: waits until the tensor is there. */
static void
on_handoff (GstElement *sink, GstBuffer *buffer, GstPad *pad, gpointer data)
{
  Clock *clock = data;
  GstMapInfo map;

  (void) sink;
  (void) pad;
  require (gst_buffer_map (buffer, &map, GST_MAP_READ), "map", NULL);
  gst_buffer_unmap (buffer, &map);
  if (++clock->seen == WARM_UP)
    clock->start = now ();
  clock->end = now ();
}

static gdouble
run_pipeline (const Job *job, gint streams, gint n_frames, gboolean serial)
{
  Clock clock = { 0, n_frames, 0, 0 };
  GstCaps *caps = job_caps (job);
  gchar *launch = g_strdup_printf (
      "benchsource name=source num-buffers=%d ! cudapreproc backend=%s "
      "streams=%d async-depth=%d width=%d height=%d fit=%s type=%s ! "
      "fakesink name=sink sync=false signal-handoffs=true",
      WARM_UP + n_frames, backend_name, streams, serial ? 0 : streams,
      job->target, job->target, job->fit, job->type);
  GstElement *pipeline = gst_parse_launch (launch, NULL);

  require (pipeline != NULL, launch, NULL);
  GstElement *source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (source, "caps", caps, NULL);
  g_signal_connect (sink, "handoff", G_CALLBACK (on_handoff), &clock);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);

  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    gst_message_parse_error (message, &error, NULL);
    g_printerr ("%s: %s\n", launch, error->message);
    exit (1);
  }
  gst_message_unref (message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (pipeline);
  gst_caps_unref (caps);
  g_free (launch);
  return (clock.end - clock.start) / n_frames;
}

static gdouble
measure_pipeline (const Job *job, gint streams, gint n_frames, gboolean serial)
{
  gdouble best = G_MAXDOUBLE;

  for (gint round = 0; round < ROUNDS; round++)
    best = MIN (best, run_pipeline (job, streams, n_frames, serial));
  return best;
}

typedef gdouble (*MeasureFunc) (
    const Job *job, gint streams, gint n_frames, gboolean serial);

static void
print_rows (const gchar *what, MeasureFunc measure, const Job *job,
    gint n_frames, gdouble limit)
{
  const gdouble serial = measure (job, 1, n_frames, TRUE);

  for (gint streams = 0; streams <= MAX_STREAMS; streams++) {
    const gdouble time =
        streams == 0 ? serial : measure (job, streams, n_frames, FALSE);
    gchar *name = streams == 0
        ? g_strdup ("serial")
        : g_strdup_printf ("%d stream%s", streams, streams == 1 ? "" : "s");
    g_print ("  %-9s %-10s %9.1f %9.2f", what, name, time, serial / time);
    if (limit > 0)
      g_print (" %9.2f", time / limit);
    g_print ("\n");
    g_free (name);
  }
}

static void
bench (const Job *job, gint n_frames)
{
  GstVideoInfo info;
  pp_plan *plan = job_plan (job, &info);
  const gsize tensor_size = pp_plan_tensor_size (plan);
  gdouble limit = 0;
  gint best = 0;

  pp_plan_unref (&plan);
  g_print ("%s %dx%d -> %dx%d %s %s\n", job->format, job->width, job->height,
      job->target, job->target, job->type, job->fit);
  g_print ("  %-20s %9s %9s %9s\n", "", "us/frame", "x serial", "/ limit");
  if (backend_id == PP_BACKEND_CUDA) {
    limit = measure_limit (info.size, tensor_size, n_frames, &best);
    g_print ("  whole-frame limit    %9.1f %9s %9.2f  (%d streams)\n", limit,
        "", 1.0, best);
  }
  print_rows ("engine", measure_engine, job, n_frames, limit);
  print_rows ("pipeline", measure_pipeline, job, n_frames, limit);
}

int
main (int argc, char **argv)
{
  pp_error error;

  gst_init (&argc, &argv);
  backend_name = argc > 1 ? argv[1] : "cuda";
  backend_id =
      strcmp (backend_name, "cpu") == 0 ? PP_BACKEND_CPU : PP_BACKEND_CUDA;
  const gint n_frames = argc > 2 ? atoi (argv[2]) : 1000;
  if (n_frames < 1) {
    g_printerr ("usage: %s [cpu|cuda] [frames]\n", argv[0]);
    return 2;
  }

  pp_device *device = pp_device_open (backend_id, -1, 1, &error);
  if (device == NULL) {
    g_print ("SKIP: %s\n", error.text);
    return SKIP;
  }
  g_print ("%s, %d frames, best of %d rounds, %d prefilled pinned frames in "
           "turns, every tensor mapped\n",
      pp_device_name (device), n_frames, ROUNDS, BUFFERS);
  pp_device_close (&device);
  bench_source_register ();
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++)
    bench (&jobs[j], n_frames);
  return 0;
}
