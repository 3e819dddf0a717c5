/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several pictures of a tensor: batches of a stream's frames, regions of a frame,
 * frames of several streams. All through GStreamer.
 */
#include "benchjobs.h"

#define REGIONS(n, type, one_by_one)                                           \
  {                                                                            \
    "NV12", 1920, 1080, 112, "stretch", type, 0, FALSE, FALSE, 0,              \
        one_by_one ? 1 : n, n, one_by_one                                      \
  }

static void
print_ratio (gdouble time, gdouble limit)
{
  if (limit > 0)
    g_print (" %9.1f %9.2f", limit, time / limit);
  else
    g_print (" %9s %9s", "-", "-");
}

/* The time of pinned copies of what the job moved for a frame; 0 on the CPU. */
static gdouble
get_moved (const BenchRun *run, const BenchResult *result)
{
  return run->backend == PP_BACKEND_CUDA && result->bytes_up > 0
      ? bench_limit (run, result->bytes_up, result->bytes_down).time
      : 0;
}

void
bench_batches (const BenchRun *run)
{
  static const BenchJob jobs[] = {
    { "NV12", 1920, 1080, 640, "letterbox", "float32", 0 },
    { "RGB", 1920, 1080, 224, "letterbox", "float32", 0 },
    { "RGB", 1920, 1080, 224, "letterbox", "float16", 0 },
  };

  g_print ("\nbatches of a stream's frames\n  %-46s %9s %9s %9s %9s\n", "",
      "us/frame", "/ batch 1", "moved", "/ moved");
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    gdouble single = 0;
    for (gint batch = 1; batch <= 32; batch *= batch == 1 ? 8 : 4) {
      BenchJob job = jobs[j];
      job.batch = batch;
      g_autofree gchar *name = bench_job_name (&job);
      if (!bench_is_wanted (run, name))
        continue;
      const BenchResult result = bench_pipeline (run, &job, 0, FALSE, 1);
      if (batch == 1)
        single = result.time;
      g_print ("  %-46s %9.1f %9.2f", name, result.time, result.time / single);
      print_ratio (result.time, get_moved (run, &result));
      g_print ("\n");
    }
  }
}

/* Bytes of the rows that bound a frame's regions, of NV12: the mean of frames. */
static gsize
count_bounding_bytes (const BenchJob *job)
{
  const gint frames = 100;
  gsize rows = 0;

  for (gint f = 0; f < frames; f++) {
    gint top = job->height, bottom = 0;
    for (gint i = 0; i < job->regions; i++) {
      const GstVideoRectangle region = bench_region ((guint64) f, (guint) i);
      top = MIN (top, region.y);
      bottom = MAX (bottom, region.y + region.h);
    }
    rows += (gsize) (bottom - top);
  }
  return rows * (gsize) job->width * 3 / 2 / (gsize) frames;
}

void
bench_regions (const BenchRun *run)
{
  static const BenchJob jobs[] = {
    REGIONS (16, "float32", TRUE),
    REGIONS (16, "float32", FALSE),
    REGIONS (16, "float16", FALSE),
    REGIONS (64, "float32", FALSE),
    REGIONS (64, "float16", FALSE),
  };
  gdouble one_by_one = 0;

  g_print ("\nregions, other ones in each frame; x one by one: of 16 float32\n"
           "  %-46s %9s %9s %9s %9s %9s %9s\n",
      "", "us/frame", "x 1 by 1", "moved", "/ moved", "bounding", "/ bound.");
  for (guint j = 0; j < G_N_ELEMENTS (jobs); j++) {
    g_autofree gchar *name = bench_job_name (&jobs[j]);
    if (!bench_is_wanted (run, name))
      continue;
    const BenchResult result = bench_pipeline (run, &jobs[j], 0, FALSE, 1);
    if (jobs[j].one_by_one)
      one_by_one = result.time;
    g_print ("  %-46s %9.1f", name, result.time);
    if (jobs[j].one_by_one) {
      g_print ("\n");
      continue;
    }
    g_print (" %9.2f", one_by_one * jobs[j].regions / 16 / result.time);
    print_ratio (result.time, get_moved (run, &result));
    const BenchResult bounding = { .bytes_up = count_bounding_bytes (&jobs[j]),
      .bytes_down = result.bytes_down };
    print_ratio (result.time, get_moved (run, &bounding));
    g_print ("\n");
  }
}

void
bench_cameras (const BenchRun *run)
{
  static const BenchJob job = { "NV12", 1920, 1080, 640, "letterbox", "float32",
    0 };
  const gdouble one = bench_pipeline (run, &job, 0, FALSE, 1).time;
  g_autofree gchar *name = bench_job_name (&job);
  gdouble of_eight = 0;

  g_print ("\ncudapreprocmux: %s\n  %-9s %9s %9s %9s\n", name, "streams",
      "us/frame", "/ one", "rate / 8");
  g_print ("  %-9s %9.1f\n", "one alone", one);
  for (gint streams = 1; streams <= 64; streams *= 8) {
    const gdouble time = bench_mux (run, &job, streams).time;
    if (streams == 8)
      of_eight = time;
    g_print ("  %-9d %9.1f %9.2f", streams, time, time / one);
    if (of_eight > 0)
      g_print (" %9.2f", of_eight / time);
    g_print ("\n");
  }
}
