/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchjobs.h"

#include <stdlib.h>
#include <string.h>

#include "gst/caps/inputformat.h"
#include "tests/common/elementspec.h"
#include "tests/common/times.h"

void
bench_require (gboolean condition, const gchar *what, const pp_error *error)
{
  if (condition)
    return;
  g_printerr ("%s: %s\n", what, error != NULL ? error->text : "failed");
  exit (1);
}

gdouble
bench_now (void)
{
  return (gdouble) g_get_monotonic_time ();
}

gboolean
bench_is_wanted (const BenchRun *run, const gchar *name)
{
  return run->only == NULL || strstr (name, run->only) != NULL;
}

void
bench_fill (guint8 *data, gsize size, guint seed)
{
  guint32 state = seed * 2654435761u + 1;

  for (gsize i = 0; i < size; i++) {
    state = state * 1664525u + 1013904223u;
    data[i] = (guint8) (state >> 24);
  }
}

GstVideoRectangle
bench_region (guint64 frame, guint i)
{
  guint32 state = (guint32) (frame * 64 + i) * 2654435761u + 12345;
  gint random[4];

  for (guint r = 0; r < G_N_ELEMENTS (random); r++) {
    state = state * 1664525u + 1013904223u;
    random[r] = (gint) (state >> 16);
  }
  const gint width = 60 + random[0] % 181, height = 120 + random[1] % 241;
  return (GstVideoRectangle){ random[2] % (1920 - width),
    random[3] % (1080 - height), width, height };
}

gint
bench_job_tensors (const BenchJob *job)
{
  return job->one_by_one ? job->regions : 1;
}

gint
bench_job_frames (const BenchJob *job)
{
  return job->regions == 0 ? MAX (job->batch, 1) : 1;
}

gint
bench_job_turns (gboolean on_device, gsize size, gint wanted)
{
  return on_device
      ? MAX (wanted, (gint) ((BENCH_DEVICE_BYTES + size - 1) / size))
      : wanted;
}

gint
bench_job_recycled (const BenchJob *job)
{
  g_autoptr (GstCaps) caps = bench_job_caps (job);
  GstVideoInfo info;

  bench_require (gst_video_info_from_caps (&info, caps), "caps", NULL);
  return bench_job_turns (
      job->on_device, info.size, MAX (job->recycled, BENCH_BUFFERS));
}

gchar *
bench_job_name (const BenchJob *job)
{
  gchar gaussian[32] = "", pictures[64] = "";

  if (job->regions > 0)
    g_snprintf (pictures, sizeof pictures, " %d regions%s", job->regions,
        job->one_by_one ? " one by one" : "");
  else if (job->batch > 0)
    g_snprintf (pictures, sizeof pictures, " batch %d", job->batch);

  if (job->gaussian > 0)
    g_snprintf (gaussian, sizeof gaussian, " gaussian %d", job->gaussian);
  return g_strdup_printf ("%dx%d %s%s -> %d %s %s%s%s%s%s%s%s%s", job->width,
      job->height, job->format, job->on_device ? " on device" : "", job->target,
      job->type, job->fit, gaussian, job->area ? " area" : "",
      job->pageable ? " pageable" : "", pictures,
      job->tensors_stay ? " on device" : "", job->direction != NULL ? " " : "",
      job->direction != NULL ? job->direction : "");
}

void
bench_sort_latencies (gdouble *latencies, gint n, BenchResult *result)
{
  static const gint percents[] = { 50, 95, 99 };

  qsort (latencies, (gsize) n, sizeof *latencies, compare_times);
  for (gsize p = 0; p < G_N_ELEMENTS (percents); p++)
    result->latency[p] = latencies[(n - 1) * percents[p] / 100];
}

void
bench_add_round (BenchResult *result, gdouble time)
{
  result->time = MIN (result->time, time);
  result->mean += time / BENCH_ROUNDS;
}

void
bench_mean_stages (BenchResult *result, gint frames)
{
  result->upload /= frames;
  result->kernel /= frames;
  result->download /= frames;
}

GstCaps *
bench_job_caps (const BenchJob *job)
{
  GstCaps *caps = gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING,
      job->format, "width", G_TYPE_INT, job->width, "height", G_TYPE_INT,
      job->height, "framerate", GST_TYPE_FRACTION, 30, 1, NULL);

  if (job->on_device)
    gst_caps_set_features (
        caps, 0, gst_caps_features_new ("memory:CUDAMemory", NULL));
  return caps;
}

gchar *
bench_job_properties (const BenchJob *job)
{
  g_autofree gchar *denoise = job->gaussian > 0
      ? g_strdup_printf (" denoise=gaussian denoise-size=%d", job->gaussian)
      : g_strdup ("");

  return g_strdup_printf ("width=%d height=%d fit=%s type=%s method=%s "
                          "mean=0.485,0.456,0.406 std=0.229,0.224,0.225 "
                          "batch-size=%d video-direction=%s%s",
      job->target, job->target, job->fit, job->type,
      job->area ? "area" : "bilinear", job->batch,
      job->direction != NULL ? job->direction : "identity", denoise);
}

pp_plan *
bench_job_plan (const BenchJob *job, GstVideoInfo *info)
{
  g_autofree gchar *properties = bench_job_properties (job);
  g_autoptr (GstCaps) caps = bench_job_caps (job);
  g_autofree gchar *reason = NULL;
  pp_spec spec;
  pp_format format;
  pp_error error;

  bench_require (test_spec_from_properties (properties, &spec, &reason) &&
          gst_pp_video_info_from_caps (info, caps) &&
          gst_pp_format_from_video_info (info, &format, &reason),
      reason != NULL ? reason : "caps", NULL);
  pp_plan *plan = pp_plan_new (&spec, &format, NULL, &error);
  bench_require (plan != NULL, "plan", &error);
  return plan;
}
