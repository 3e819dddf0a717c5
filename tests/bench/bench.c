/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a frame takes, beside two limits from the same run: pinned copies of the
 * whole frame up and the whole tensor down, and of the bytes that really moved,
 * no kernel, on the best of 1 to 4 streams. Exits with 77 where there is no
 * device.
 */
#include "benchelements.h"
#include "benchjobs.h"

#define SKIP 77

/* clang-format off */
static const BenchJob jobs[] = {
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "RGB", 1920, 1080, 640, "letterbox", "float16", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float16", 0 },
  { "RGB", 1920, 1080, 224, "letterbox", "float32", 0 },
  { "NV12", 3840, 2160, 640, "letterbox", "float16", 0 },
  { "RGB", 1920, 1080, 1080, "stretch", "float32", 0 },
  { "RGB", 1920, 1080, 640, "letterbox", "uint8", 0 },
  { "RGB", 1920, 1080, 640, "stretch", "float32", 0 },
  { "NV12", 1920, 1080, 224, "letterbox", "float32", 0 },
  { "RGB", 3840, 2160, 640, "letterbox", "float32", 0 },
  { "NV12", 3840, 2160, 224, "letterbox", "uint8", 0 },
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0, TRUE },
  { "RGB", 1920, 1080, 640, "letterbox", "float16", 0, TRUE },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0, TRUE },
  { "RGB", 1920, 1080, 640, "stretch", "float32", 0, TRUE },
  { "NV12", 1920, 1080, 640, "stretch", "float32", 0 },
  { "RGB", 1920, 1080, 224, "stretch", "float32", 0 },
  { "NV12", 1920, 1080, 224, "letterbox", "float16", 0 },
  { "RGB", 3840, 2160, 224, "letterbox", "float32", 0 },
  { "RGB", 3840, 2160, 640, "stretch", "uint8", 0 },
  { "RGB", 1920, 1080, 224, "letterbox", "float32", 0, TRUE },
  { "NV12", 1920, 1080, 640, "letterbox", "float16", 0, TRUE },
  { "NV12", 3840, 2160, 640, "letterbox", "float16", 0, TRUE },
};

static const BenchJob sizes[] = {
  { "NV12", 640, 360, 640, "letterbox", "float32", 0 },
  { "NV12", 1280, 720, 640, "letterbox", "float32", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "NV12", 3840, 2160, 640, "letterbox", "float32", 0 },
  { "NV12", 7680, 4320, 640, "letterbox", "float32", 0 },
};

/* Those that tests/bench/bench_opencv.py compares. */
static const BenchJob opencv_jobs[] = {
  { "RGB", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
  { "RGB", 1920, 1080, 640, "stretch", "float32", 0 },
  { "NV12", 1920, 1080, 640, "stretch", "float32", 0 },
  { "RGB", 1920, 1080, 640, "stretch", "float32", 0, FALSE, TRUE },
  { "NV12", 1920, 1080, 640, "stretch", "float32", 0, FALSE, TRUE },
};

static const BenchJob opencv_regions[] = {
  { "NV12", 1920, 1080, 112, "stretch", "float32", 0, FALSE, FALSE, 0, 16, 16 },
  { "NV12", 1920, 1080, 112, "letterbox", "float32", 0, FALSE, FALSE, 0, 16, 16 },
};

static const BenchJob classic =
  { "RGB", 1920, 1080, 640, "stretch", "float32", 3 };
/* clang-format on */

typedef struct {
  BenchLimit whole, moved;
} Limits;

static Limits
get_limits (const BenchRun *run, const BenchJob *job, const BenchResult *result)
{
  Limits limits = { { 0 }, { 0 } };
  GstVideoInfo info;
  pp_plan *plan = bench_job_plan (job, &info);

  if (run->backend == PP_BACKEND_CUDA) {
    limits.whole = bench_limit (run, info.size, pp_plan_tensor_size (plan));
    limits.moved = bench_limit (run, result->bytes_up, result->bytes_down);
  }
  pp_plan_unref (&plan);
  return limits;
}

/* Without a limit: a dash. */
static void
print_limit (gdouble limit)
{
  if (limit > 0)
    g_print (" %8.1f", limit);
  else
    g_print (" %8s", "-");
}

static void
print_ratio (gdouble time, gdouble limit)
{
  if (limit > 0)
    g_print (" %8.2f", time / limit);
  else
    g_print (" %8s", "-");
}

static void
print_ratios (gdouble time, const Limits *limits)
{
  print_ratio (time, limits->whole.time);
  print_ratio (time, limits->moved.time);
}

static void
print_row (
    const gchar *name, gdouble time, gdouble serial, const Limits *limits)
{
  g_print ("  %-22s %9.1f %8.2f", name, time, serial / time);
  print_ratios (time, limits);
  g_print ("\n");
}

/* Serial against 1 to 4 streams. */
static void
bench_streams (const BenchRun *run)
{
  const BenchJob *job = &jobs[0];
  gchar *title = bench_job_name (job);
  const BenchResult serial = bench_engine (run, job, 1, BENCH_SERIAL);
  const BenchResult serial_pipeline = bench_pipeline (run, job, 1, TRUE, 1);
  const Limits limits = get_limits (run, job, &serial);

  g_print ("\n%s\n  %-22s %9s %8s %8s %8s\n", title, "", "us/frame", "x serial",
      "/ whole", "/ moved");
  if (limits.whole.time > 0) {
    print_row ("whole-frame limit", limits.whole.time, serial.time, &limits);
    print_row ("moved-bytes limit", limits.moved.time, serial.time, &limits);
  }
  print_row ("engine serial", serial.time, serial.time, &limits);
  for (gint streams = 1; streams <= BENCH_MAX_STREAMS; streams++) {
    gchar *name = g_strdup_printf ("engine %d", streams);
    print_row (name, bench_engine (run, job, streams, BENCH_OVERLAPPED).time,
        serial.time, &limits);
    g_free (name);
  }
  print_row (
      "pipeline serial", serial_pipeline.time, serial_pipeline.time, &limits);
  for (gint streams = 0; streams <= BENCH_MAX_STREAMS; streams++) {
    gchar *name = streams == 0 ? g_strdup ("pipeline automatic")
                               : g_strdup_printf ("pipeline %d", streams);
    print_row (name, bench_pipeline (run, job, streams, FALSE, 1).time,
        serial_pipeline.time, &limits);
    g_free (name);
  }
  g_free (title);
}

/* stages: its stage times are known; NULL: a limit, which has none. */
static void
print_classic (const gchar *name, gdouble time, gdouble serial, gdouble ideal,
    const Limits *limits, const BenchResult *stages)
{
  g_print (
      "  %-22s %9.1f %8.2f %8.2f", name, time, serial / time, time / ideal);
  print_ratios (time, limits);
  if (stages != NULL)
    g_print (" %8.1f %8.1f %8.1f %8.2f", stages->upload, stages->kernel,
        stages->download,
        (stages->upload + stages->kernel + stages->download) / stages->mean);
  g_print ("\n");
}

/* Eight 1080p frames, gaussian 3, resize, (x / 255 - mean) / std: a wait after
 * each stage against streams. ideal: the longest stage, or the bus. overlap: the
 * stages together, over the time. */
static void
bench_classic (const BenchRun *run)
{
  gchar *title = bench_job_name (&classic);
  const BenchResult serial = run->backend == PP_BACKEND_CUDA
      ? bench_stage_by_stage (run, &classic)
      : bench_engine (run, &classic, 1, BENCH_SERIAL);
  const BenchResult one = bench_engine (run, &classic, 1, BENCH_OVERLAPPED);
  const Limits limits = get_limits (run, &classic, &one);
  gdouble ideal = MAX (MAX (serial.upload, serial.kernel), serial.download);

  ideal = MAX (ideal, limits.whole.time);
  g_print ("\nclassic: %s\n  %-22s %9s %8s %8s %8s %8s %8s %8s %8s %8s\n",
      title, "", "us/frame", "x serial", "/ ideal", "/ whole", "/ moved",
      "upload", "kernel", "download", "overlap");
  if (limits.whole.time > 0) {
    print_classic ("whole-frame limit", limits.whole.time, serial.time, ideal,
        &limits, NULL);
    print_classic ("moved-bytes limit", limits.moved.time, serial.time, ideal,
        &limits, NULL);
  }
  print_classic ("ideal", ideal, serial.time, ideal, &limits, NULL);
  print_classic ("serial, stage by stage", serial.time, serial.time, ideal,
      &limits, &serial);
  print_classic ("1 stream", one.time, serial.time, ideal, &limits, &one);
  for (gint streams = 2; streams <= BENCH_MAX_STREAMS; streams++) {
    gchar *name = g_strdup_printf ("%d streams", streams);
    const BenchResult result =
        bench_engine (run, &classic, streams, BENCH_OVERLAPPED);
    print_classic (name, result.time, serial.time, ideal, &limits, &result);
    g_free (name);
  }
  g_free (title);
}

static void
bench_list (
    const BenchRun *run, const gchar *title, const BenchJob *list, guint length)
{
  g_print ("\n%s\n  %-50s %8s %8s %8s %8s %8s %8s\n", title, "", "whole",
      "moved", "engine", "pipeline", "/ whole", "/ moved");
  for (guint j = 0; j < length; j++) {
    g_autofree gchar *name = bench_job_name (&list[j]);

    if (!bench_is_wanted (run, name))
      continue;
    const BenchResult engine =
        bench_engine (run, &list[j], BENCH_MAX_STREAMS, BENCH_OVERLAPPED);
    const BenchResult pipeline = bench_pipeline (run, &list[j], 0, FALSE, 1);
    const Limits limits = get_limits (run, &list[j], &engine);

    g_print ("  %-50s", name);
    print_limit (limits.whole.time);
    print_limit (limits.moved.time);
    g_print (" %8.1f %8.1f", engine.time, pipeline.time);
    print_ratios (pipeline.time, &limits);
    g_print ("\n");
  }
}

static void
bench_jobs (const BenchRun *run)
{
  bench_list (run, "jobs", jobs, G_N_ELEMENTS (jobs));
}

static void
bench_sizes (const BenchRun *run)
{
  bench_list (run, "sizes", sizes, G_N_ELEMENTS (sizes));
}

/* Turned pictures beside upright ones of the same tensor. */
static void
bench_turned (const BenchRun *run)
{
  static const gchar *const directions[] = { NULL, "90r", "180" };
  static const guint some[] = { 0, 1, 2, 8, 16 };

  g_print ("\nturned\n  %-50s %8s %8s %8s %8s\n", "", "engine", "/ upr.",
      "pipeline", "/ upr.");
  for (guint j = 0; j < G_N_ELEMENTS (some); j++) {
    gdouble engine = 0, pipeline = 0;
    for (guint d = 0; d < G_N_ELEMENTS (directions); d++) {
      BenchJob job = jobs[some[j]];
      job.direction = directions[d];
      g_autofree gchar *name = bench_job_name (&job);
      const gdouble by_engine =
          bench_engine (run, &job, BENCH_MAX_STREAMS, BENCH_OVERLAPPED).time;
      const gdouble by_pipeline = bench_pipeline (run, &job, 0, FALSE, 1).time;

      if (d == 0) {
        engine = by_engine;
        pipeline = by_pipeline;
      }
      g_print ("  %-50s %8.1f %8.2f %8.1f %8.2f\n", name, by_engine,
          by_engine / engine, by_pipeline, by_pipeline / pipeline);
    }
  }
}

/* One frame at a time, beside one waited-for pass of copies, whole frames and
 * moved bytes: by the engine, one stage behind the other and in two bands, and
 * through a pipeline. */
static void
bench_latency (const BenchRun *run)
{
  g_print ("\nlatency\n  %-50s %8s %8s %8s %8s %8s %8s %8s %8s %8s\n", "",
      "whole", "moved", "serial", "bands", "p50", "p95", "p99", "/ whole",
      "/ moved");
  for (guint j = 0; j < 4; j++) {
    gchar *name = bench_job_name (&jobs[j]);
    const BenchResult serial = bench_engine (run, &jobs[j], 1, BENCH_SERIAL);
    const BenchResult urgent = bench_engine (run, &jobs[j], 1, BENCH_URGENT);
    const BenchResult result = bench_pipeline (run, &jobs[j], 1, TRUE, 1);
    const Limits limits = get_limits (run, &jobs[j], &urgent);

    g_print ("  %-50s", name);
    print_limit (limits.whole.latency);
    print_limit (limits.moved.latency);
    g_print (" %8.1f %8.1f %8.1f %8.1f %8.1f", serial.latency[0],
        urgent.latency[0], result.latency[0], result.latency[1],
        result.latency[2]);
    print_ratio (result.latency[0], limits.whole.latency);
    print_ratio (result.latency[0], limits.moved.latency);
    g_print ("\n");
    g_free (name);
  }
}

/* Elements in one process; the rate of all of them, beside the limits of one. And
 * beside that of one element with as many frames taking turns: what is the
 * memory's doing, not theirs. Of more frames than elsewhere, so that it does not
 * matter how many of many elements' frames end just before the clock stops. */
static void
bench_elements (const BenchRun *usual)
{
  BenchRun longer = *usual;
  const BenchRun *run = &longer;

  longer.frames *= 5;
  const BenchResult one = bench_pipeline (run, &jobs[0], 0, FALSE, 1);
  const Limits limits = get_limits (run, &jobs[0], &one);

  g_print ("\nelements in one process: 1080p RGB -> 640 float32\n"
           "  %-9s %8s %8s %9s %9s %9s %8s %8s %12s\n",
      "elements", "whole", "moved", "us/frame", "frames/s", "/ one", "/ whole",
      "/ moved", "one, frames");
  for (gint n = 1; n <= 64; n *= 2) {
    BenchJob job = jobs[0];
    const gdouble time =
        n == 1 ? one.time : bench_pipeline (run, &job, 0, FALSE, n).time;
    job.recycled = n * BENCH_BUFFERS;
    const gdouble alone = bench_pipeline (run, &job, 0, FALSE, 1).time;

    g_print ("  %-9d", n);
    print_limit (limits.whole.time);
    print_limit (limits.moved.time);
    g_print (" %9.1f %9.0f %9.2f", time, 1e6 / time, one.time / time);
    print_ratios (time, &limits);
    g_print (" %12.1f\n", alone);
  }
}

/* For bench_opencv.py: with one stream and with two. */
static void
bench_opencv (const BenchRun *run)
{
  for (guint j = 0; j < G_N_ELEMENTS (opencv_regions); j++)
    g_print ("%s %s regions %.1f %.1f\n", opencv_regions[j].format,
        opencv_regions[j].fit,
        bench_pipeline (run, &opencv_regions[j], 1, FALSE, 1).time,
        bench_pipeline (run, &opencv_regions[j], 2, FALSE, 1).time);
  for (guint j = 0; j < G_N_ELEMENTS (opencv_jobs); j++)
    g_print ("%s %s %s %.1f %.1f\n", opencv_jobs[j].format, opencv_jobs[j].fit,
        opencv_jobs[j].area ? "area" : "bilinear",
        bench_engine (run, &opencv_jobs[j], 1, BENCH_OVERLAPPED).time,
        bench_engine (run, &opencv_jobs[j], 2, BENCH_OVERLAPPED).time);
}

typedef struct {
  const gchar *name;
  void (*bench) (const BenchRun *run);
  gboolean in_all;
} Set;

/* In the order in which they run. */
static const Set known_sets[] = {
  { "streams", bench_streams, TRUE },
  { "classic", bench_classic, TRUE },
  { "jobs", bench_jobs, TRUE },
  { "sizes", bench_sizes, TRUE },
  { "turned", bench_turned, TRUE },
  { "latency", bench_latency, TRUE },
  { "elements", bench_elements, TRUE },
  { "batches", bench_batches, TRUE },
  { "regions", bench_regions, TRUE },
  { "cameras", bench_cameras, TRUE },
  { "device", bench_device, TRUE },
  { "decoders", bench_decoders, TRUE },
  { "opencv", bench_opencv, FALSE },
};

static gboolean
is_wanted (const Set *set, const gchar *const *wanted)
{
  return g_strv_contains (wanted, set->name) ||
      (set->in_all && g_strv_contains (wanted, "all"));
}

static gboolean
is_known (const gchar *name)
{
  for (guint s = 0; s < G_N_ELEMENTS (known_sets); s++)
    if (g_str_equal (name, known_sets[s].name))
      return TRUE;
  return g_str_equal (name, "all");
}

static gboolean
check_sets (const gchar *const *wanted)
{
  guint w = 0;

  while (wanted[w] != NULL && is_known (wanted[w]))
    w++;
  if (w > 0 && wanted[w] == NULL)
    return TRUE;
  g_printerr (
      "--sets: there is no \"%s\", but", wanted[w] != NULL ? wanted[w] : "");
  for (guint s = 0; s < G_N_ELEMENTS (known_sets); s++)
    g_printerr (" %s,", known_sets[s].name);
  g_printerr (" and all, which is all of them but opencv\n");
  return FALSE;
}

static gboolean
check_backend (const gchar *name)
{
  if (g_str_equal (name, "cuda") || g_str_equal (name, "cpu"))
    return TRUE;
  g_printerr ("--backend: there is no \"%s\", but cuda and cpu\n", name);
  return FALSE;
}

/* Returns the program's exit status. */
static int
bench (const BenchRun *run, const gchar *const *wanted)
{
  pp_error failure;
  pp_device *device = pp_device_open (
      run->backend, -1, &(pp_device_options){ .streams = 1 }, &failure);

  if (device == NULL) {
    g_print ("SKIP: %s\n", failure.text);
    return SKIP;
  }
  g_print ("%s; %d frames, best of %d rounds, %d prefilled frames in turns, "
           "every tensor in host memory mapped; microseconds a frame\n",
      pp_device_name (device), run->frames, BENCH_ROUNDS, BENCH_BUFFERS);
  pp_device_close (&device);
  bench_register_elements ();
  for (guint s = 0; s < G_N_ELEMENTS (known_sets); s++)
    if (is_wanted (&known_sets[s], wanted))
      known_sets[s].bench (run);
  return 0;
}

int
main (int argc, char **argv)
{
  g_autofree gchar *backend = g_strdup ("cuda"), *only = NULL;
  g_autofree gchar *sets = g_strdup ("streams,jobs");
  gint frames = 1000;
  const GOptionEntry entries[] = {
    { "backend", 0, 0, G_OPTION_ARG_STRING, &backend, "cuda (default) or cpu",
        "NAME" },
    { "frames", 0, 0, G_OPTION_ARG_INT, &frames, "frames a measurement", "N" },
    { "sets", 0, 0, G_OPTION_ARG_STRING, &sets,
        "of streams, classic, jobs, sizes, turned, latency, elements, batches, regions, "
        "cameras, device, decoders, or all; or opencv",
        "A,B" },
    { "only", 0, 0, G_OPTION_ARG_STRING, &only,
        "jobs, sizes, batches and regions with this in their names", "TEXT" },
    { NULL, 0, 0, 0, NULL, NULL, NULL },
  };
  GOptionContext *context = g_option_context_new (NULL);
  GError *error = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, gst_init_get_option_group ());
  if (!g_option_context_parse (context, &argc, &argv, &error) || frames < 1) {
    g_printerr ("%s\n", error != NULL ? error->message : "frames is below 1");
    return 2;
  }
  g_option_context_free (context);

  g_auto (GStrv) split = g_strsplit (sets, ",", -1);
  const gchar *const *wanted = (const gchar *const *) split;
  if (!check_backend (backend) || !check_sets (wanted))
    return 2;
  const BenchRun run = {
    .backend = g_str_equal (backend, "cpu") ? PP_BACKEND_CPU : PP_BACKEND_CUDA,
    .backend_name = backend,
    .frames = frames,
    .only = only,
  };

  return bench (&run, wanted);
}
