/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The diagnosis: every word from made-up numbers and from pipelines, on the CPU
 * backend or on a device that pretends.
 */
#include <gst/gst.h>
#include <math.h>
#include <string.h>

#include "tests/fake/backend_fake.h"
#include "tests/common/expect.h"
#include "gst/cudapreproc.h"
#include "gst/report/stats.h"
#include "kernels/engine/engine.h"

#define PATIENCE (60 * GST_SECOND)

/* Made-up numbers, for 100 frames: microseconds a frame. An H200 takes 110, 4
 * and 50 for the stages of a 1080p frame. */
typedef struct {
  const gchar *word, *what;
  guint frames, streams, processors;
  gdouble wall, busy;
  gdouble total[GST_PP_N_STAGES], covered[GST_PP_N_STAGES];
  gdouble latency;
  gdouble place[GST_PP_N_PLACES]; /* source, element, consumer */
  gdouble waited;
  gdouble staged; /* share */
} Case;

/* clang-format off */
static const Case cases[] = {
  { "none", "too few frames", 7, 1, 0, 164, 164, { 110, 4, 50 },
    { 110, 4, 50 }, 300, { 10, 140, 10 }, 0, 0 },
  { "none", "many small things", 100, 4, 0, 40, 30, { 10, 4, 8 },
    { 10, 4, 8 }, 60, { 5, 25, 5 }, 0, 0 },
  { "one-stream", "the others idle meanwhile", 100, 1, 0, 165, 164,
    { 110, 4, 50 }, { 110, 4, 50 }, 320, { 5, 150, 10 }, 0, 0 },
  { "one-stream", "although the input is pageable", 100, 1, 0, 165, 160,
    { 110, 4, 50 }, { 110, 4, 50 }, 320, { 5, 150, 10 }, 0, 1 },
  { "one-stream", "a thread, and there are 8 cores", 100, 1, 8, 5000, 4990,
    { 0, 4980, 0 }, { 0, 4980, 0 }, 9900, { 50, 4900, 50 }, 0, 0 },
  { "upload-bound", "one stream is enough", 100, 1, 0, 112, 112,
    { 110, 1, 1 }, { 110, 1, 1 }, 220, { 5, 100, 5 }, 0, 0 },
  { "upload-bound", "queueing for the copy engine", 100, 3, 0, 110, 110,
    { 276, 4, 50 }, { 110, 4, 50 }, 600, { 5, 95, 10 }, 0, 0 },
  { "upload-bound", "whoever waits for it meanwhile", 100, 3, 0, 110, 110,
    { 276, 4, 50 }, { 109, 4, 50 }, 600, { 5, 5, 100 }, 90, 0 },
  { "upload-bound", "nearly", 100, 3, 0, 110, 100, { 100, 4, 50 },
    { 80, 4, 50 }, 600, { 5, 95, 10 }, 0, 0 },
  { "kernel-bound", "a large filter", 100, 3, 0, 400, 400,
    { 110, 900, 50 }, { 110, 400, 50 }, 2000, { 5, 390, 5 }, 0, 0 },
  { "kernel-bound", "all threads work", 100, 2, 2, 2500, 2500,
    { 0, 4800, 0 }, { 0, 2500, 0 }, 9000, { 50, 2400, 50 }, 0, 0 },
  { "download-bound", "a large tensor", 100, 3, 0, 200, 200,
    { 110, 4, 480 }, { 110, 4, 198 }, 1000, { 5, 190, 5 }, 0, 0 },
  { "pageable-input", "copied to pinned memory", 100, 3, 0, 600, 164,
    { 110, 4, 50 }, { 110, 4, 50 }, 900, { 20, 570, 10 }, 0, 1 },
  { "source-too-slow", "a camera", 100, 3, 0, 33333, 164, { 110, 4, 50 },
    { 110, 4, 50 }, 170, { 33200, 50, 50 }, 164, 0 },
  { "source-too-slow", "whatever it sends", 100, 3, 0, 33333, 164,
    { 110, 4, 50 }, { 110, 4, 50 }, 800, { 32600, 600, 50 }, 164, 1 },
  { "source-too-slow", "one thread works at a time", 100, 2, 2, 5000, 4900,
    { 0, 4800, 0 }, { 0, 4800, 0 }, 4900, { 4900, 50, 50 }, 0, 0 },
  { "consumer-too-slow", "tensors lie ready", 100, 3, 0, 2000, 164,
    { 110, 4, 50 }, { 110, 4, 50 }, 164, { 5, 20, 1970 }, 0, 0 },
  { "consumer-waits", "a sink in the same thread", 100, 3, 0, 190, 164,
    { 110, 4, 50 }, { 110, 4, 50 }, 170, { 5, 10, 175 }, 168, 0 },
  { "consumer-waits", "an application sends the next frame then", 100, 3, 0,
    200, 164, { 110, 4, 50 }, { 110, 4, 50 }, 170, { 185, 10, 5 }, 160, 0 },
  { "consumer-waits", "more streams would not help", 100, 1, 8, 5000, 4900,
    { 0, 4800, 0 }, { 0, 4800, 0 }, 4900, { 50, 20, 4900 }, 4850, 0 },
};
/* clang-format on */

static GstPpLoad
load_of (const Case *c)
{
  const gdouble n = c->frames;
  GstPpLoad load = { .frames = c->frames,
    .bytes_up = 1000 * c->frames,
    .bytes_staged = (guint64) (c->staged * 1000 * n),
    .streams = (1u << c->streams) - 1,
    .processors = c->processors,
    .wall = c->wall * n,
    .busy = c->busy * n,
    .latency = c->latency * n,
    .waited = c->waited * n };

  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    load.total[s] = c->total[s] * n;
    load.covered[s] = c->covered[s] * n;
  }
  for (gint p = 0; p < GST_PP_N_PLACES; p++)
    load.place[p] = c->place[p] * n;
  return load;
}

static void
test_rules (void)
{
  gboolean said[GST_PP_N_BOTTLENECKS] = { FALSE };
  const GstPpLoad nothing = { 0 };

  EXPECT (gst_pp_diagnose (&nothing) == GST_PP_BOTTLENECK_NONE, "not none");
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstPpLoad load = load_of (&cases[i]);
    const GstPpBottleneck found = gst_pp_diagnose (&load);
    said[found] = TRUE;
    EXPECT (strcmp (gst_pp_bottleneck_name (found), cases[i].word) == 0,
        "%s, %s: %s", cases[i].word, cases[i].what,
        gst_pp_bottleneck_name (found));
  }
  for (gint b = 0; b < GST_PP_N_BOTTLENECKS; b++)
    EXPECT (said[b], "no case for %s",
        gst_pp_bottleneck_name ((GstPpBottleneck) b));
}

/* A job that is all of its frame and of its tensor. */
static const GstPpPart whole = { TRUE, TRUE };

/* latency in microseconds. On the host a job ends when it does on the device. */
static void
add_job (GstPpStats *stats, const pp_job_info *info, const GstPpSpent *spent,
    GstPpPart part, gdouble latency)
{
  const GstClockTime ended = (GstClockTime) (info->times.done * 1000);

  gst_pp_stats_add (stats, info, TRUE, spent, part,
      ended - (GstClockTime) (latency * 1000), ended);
}

/* What the statistics make of jobs' times, on a device that is no CPU. */
static void
test_recent (void)
{
  static GstPpStats stats;
  pp_error error;
  pp_device *device = pp_device_open (PP_BACKEND_CPU, -1, NULL, &error);
  GstPpSpent spent = { .place = { [GST_PP_PLACE_ELEMENT] = 100 } };
  gdouble time = 1e6;

  gst_pp_stats_init (&stats, device);
  pp_device_close (&device);
  stats.recent.processors = 0;
  /* Three streams queue for the upload. */
  for (guint i = 0; i < 3 * GST_PP_STATS_RECENT; i++, time += 110) {
    const pp_job_info info = { .stream = (int) (i % 3),
      .streams_in_use = 3,
      .bytes_up = 1000,
      .times = { time - 200, time + 110, time + 114, time + 164 } };
    add_job (&stats, &info, &spent, whole, 600);
  }
  GstPpLoad load = stats.before;
  gst_pp_load_add (&load, &stats.recent);
  EXPECT (load.frames >= GST_PP_STATS_RECENT &&
          load.frames <= 2 * GST_PP_STATS_RECENT,
      "%" G_GUINT64_FORMAT " recent frames", load.frames);
  EXPECT (ABS (load.wall / (gdouble) load.frames - 110) < 2 &&
          ABS (load.busy - load.wall) < 1 &&
          ABS (load.covered[GST_PP_STAGE_UPLOAD] - load.wall) < 300 &&
          ABS (load.covered[GST_PP_STAGE_DOWNLOAD] / load.wall - 50 / 110.) <
              0.01,
      "wall %g busy %g upload %g download %g", load.wall, load.busy,
      load.covered[GST_PP_STAGE_UPLOAD], load.covered[GST_PP_STAGE_DOWNLOAD]);
  EXPECT (gst_pp_stats_diagnose (&stats) == GST_PP_BOTTLENECK_UPLOAD, "%s",
      gst_pp_bottleneck_name (gst_pp_stats_diagnose (&stats)));

  /* Then the source gets slow: what was before is forgotten. */
  spent.place[GST_PP_PLACE_SOURCE] = 33000;
  for (guint i = 0; i < 3 * GST_PP_STATS_RECENT; i++, time += 33333) {
    const pp_job_info info = { .stream = (int) (i % 3),
      .streams_in_use = 3,
      .bytes_up = 1000,
      .times = { time, time + 110, time + 114, time + 164 } };
    add_job (&stats, &info, &spent, whole, 170);
  }
  EXPECT (gst_pp_stats_diagnose (&stats) == GST_PP_BOTTLENECK_SOURCE_TOO_SLOW,
      "%s", gst_pp_bottleneck_name (gst_pp_stats_diagnose (&stats)));
  gst_pp_stats_restart (&stats);
  EXPECT (gst_pp_stats_diagnose (&stats) == GST_PP_BOTTLENECK_NONE, "%s",
      gst_pp_bottleneck_name (gst_pp_stats_diagnose (&stats)));
}

static gdouble
stat_of (const GstStructure *structure, const gchar *name)
{
  const GValue *value = gst_structure_get_value (structure, name);

  return G_VALUE_HOLDS_UINT64 (value) ? (gdouble) g_value_get_uint64 (value)
                                      : g_value_get_double (value);
}

static void
expect_stat (const GstStructure *structure, const gchar *name, gdouble expected)
{
  const gdouble got = stat_of (structure, name);

  EXPECT (ABS (got - expected) < 1e-6, "%s is %g, not %g", name, got, expected);
}

/* Four jobs, one after the other; every field is its own. */
static void
test_fields (void)
{
  static const struct {
    const gchar *name;
    gdouble value;
  } expected[] = {
    { "frames", 3 },
    { "tensors", 1 },
    { "dropped", 2 },
    { "samples", 4 },
    { "bytes-up", 4000 },
    { "bytes-down", 400 },
    { "bytes-staged", 40 },
    { "overlap", 1 },
    { "upload-mean", 25 },
    { "upload-p50", 20 },
    { "upload-p99", 40 },
    { "kernel-mean", 3 },
    { "kernel-p95", 3 },
    { "download-mean", 7 },
    { "download-p50", 7 },
    { "latency-mean", 250 },
    { "latency-p50", 200 },
    { "latency-p95", 400 },
  };
  static GstPpStats stats;
  const GstPpSpent spent = { .waited = 0 };
  gdouble time = 100;

  for (guint i = 1; i <= 4; i++) {
    const gdouble uploaded = time + 10 * i, computed = uploaded + 3;
    if (i <= 2)
      gst_pp_stats_add_dropped (&stats);
    const pp_job_info info = { .bytes_up = 1000,
      .bytes_down = 100,
      .bytes_staged = 10,
      .times = { time, uploaded, computed, computed + 7 } };
    add_job (&stats, &info, &spent, (GstPpPart){ i != 2, i == 3 }, 100 * i);
    time = computed + 7;
  }
  GstStructure *structure = gst_pp_stats_to_structure (&stats);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    expect_stat (structure, expected[i].name, expected[i].value);
  gst_structure_free (structure);
}

/* More jobs than percentiles are taken of, in an order that is not theirs. */
static void
test_percentiles (void)
{
  static const guint numbers[] = { 1, 2, 3, 50, 99, 100, 101, 4095, 4096, 4097,
    10000 };
  static const gint percents[] = { 50, 95, 99 };
  static GstPpStats stats;
  const GstPpSpent spent = { .waited = 0 };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++) {
    const guint n = numbers[i], last = MIN (n, GST_PP_STATS_WINDOW);

    memset (&stats, 0, sizeof stats);
    for (guint j = 0; j < n; j++) {
      /* The last ones are 1 to last, shuffled by a prime, some of them twice. */
      const guint from_last = n - 1 - j;
      const gdouble upload =
          from_last < last ? 1 + (from_last * 7919u) % last / 2 * 2 : 1e6;
      const pp_job_info info = { .times = { 0, upload, upload, upload } };
      gst_pp_stats_add (&stats, &info, TRUE, &spent, whole, 0, 1);
    }
    GstStructure *structure = gst_pp_stats_to_structure (&stats);
    for (guint p = 0; p < G_N_ELEMENTS (percents); p++) {
      g_autofree gchar *name = g_strdup_printf ("upload-p%d", percents[p]);
      const guint rank = (last * (guint) percents[p] + 99) / 100;
      expect_stat (structure, name, 1 + (rank - 1) / 2 * 2);
    }
    gst_structure_free (structure);
  }
}

/* An interval has its own numbers, and those since the start beside them. */
static void
test_interval (void)
{
  static GstPpStats stats;
  const GstPpSpent spent = { .waited = 0 };
  gdouble time = 1000;

  gst_pp_stats_restart (&stats);
  for (guint i = 0; i < 12; i++) {
    if (i == 4) {
      gst_pp_stats_begin_interval (&stats);
      gst_pp_stats_add_dropped (&stats);
    }
    /* One stage at a time, then two jobs at once, then a pause. */
    const gdouble length = i < 4 ? 100 : 40;
    if (i == 8) {
      gst_pp_stats_restart (&stats);
      time += 1e6;
    }
    const pp_job_info info = { .bytes_up = 1000,
      .streams_in_use = 2,
      .times = { time, time + length, time + length, time + length } };
    add_job (&stats, &info, &spent, whole, length);
    time += i < 4 ? length : length / 2;
  }
  GstStructure *structure = gst_pp_stats_interval_to_structure (&stats);
  expect_stat (structure, "frames", 8);
  expect_stat (structure, "dropped", 1);
  expect_stat (structure, "bytes-up", 8000);
  expect_stat (structure, "upload-mean", 40);
  expect_stat (structure, "upload-p99", 40);
  expect_stat (structure, "latency-p50", 40);
  /* From 1400 to 1500, and 100 after the pause. */
  expect_stat (structure, "duration", 1000 * (100 + 100));
  expect_stat (structure, "overlap", 8 * 40 / 200.0);
  EXPECT (gst_structure_has_name (structure, "cudapreproc-stats"), "%s",
      gst_structure_get_name (structure));

  GstStructure *total = NULL;
  gst_structure_get (structure, "total", GST_TYPE_STRUCTURE, &total, NULL);
  expect_stat (total, "frames", 12);
  expect_stat (total, "bytes-up", 12000);
  expect_stat (total, "upload-mean", (4 * 100 + 8 * 40) / 12.0);
  expect_stat (total, "upload-p99", 100);
  gst_structure_free (total);
  gst_structure_free (structure);

  /* Nothing came. */
  gst_pp_stats_begin_interval (&stats);
  structure = gst_pp_stats_interval_to_structure (&stats);
  expect_stat (structure, "frames", 0);
  expect_stat (structure, "upload-mean", 0);
  expect_stat (structure, "upload-p50", 0);
  expect_stat (structure, "overlap", 0);
  expect_stat (structure, "duration", 0);
  gst_structure_free (structure);
}

/* Where only some jobs are timed, their stages stand for the others', and the
 * latency is that of all. The estimates are near what timing all gives. */
static void
test_samples (void)
{
  static GstPpStats all, some;
  const GstPpSpent spent = { .place = { [GST_PP_PLACE_ELEMENT] = 100 } };
  static const gchar *const same[] = { "frames", "bytes-up", "latency-mean",
    "latency-p50", "latency-p99" };
  static const gchar *const near[] = { "overlap", "upload-mean", "upload-p50",
    "kernel-mean", "download-mean", "download-p95" };
  gdouble time = 1e6;

  gst_pp_stats_restart (&all);
  gst_pp_stats_restart (&some);
  for (guint i = 0; i < 1000; i++, time += 110) {
    /* The first ones are slower, and all are timed. */
    const gdouble upload = i < 64 ? 300 : 110;
    const pp_job_info info = { .stream = (int) (i % 3),
      .streams_in_use = 3,
      .bytes_up = 1000,
      .times = { time - 200, time - 200 + upload, time + 114, time + 164 } };
    /* What is not known is never read. */
    pp_job_info untimed = info;
    untimed.times = (pp_times){ -1e9, 1e9, NAN, NAN };
    const gboolean timed = i < 64 || i % 8 == 0;
    const GstClockTime ended = (GstClockTime) (info.times.done * 1000);
    const GstClockTime submitted = ended - (i + 1) * GST_USECOND;

    gst_pp_stats_add (&all, &info, TRUE, &spent, whole, submitted, ended);
    gst_pp_stats_add (&some, timed ? &info : &untimed, timed, &spent, whole,
        submitted, ended);
  }
  GstStructure *expected = gst_pp_stats_to_structure (&all);
  GstStructure *structure = gst_pp_stats_to_structure (&some);
  expect_stat (expected, "samples", 1000);
  expect_stat (structure, "samples", 64 + (1000 - 64) / 8);
  for (guint i = 0; i < G_N_ELEMENTS (same); i++)
    expect_stat (structure, same[i], stat_of (expected, same[i]));
  for (guint i = 0; i < G_N_ELEMENTS (near); i++) {
    const gdouble got = stat_of (structure, near[i]);
    const gdouble want = stat_of (expected, near[i]);
    EXPECT (
        ABS (got - want) < 0.01 * want, "%s is %g, not %g", near[i], got, want);
  }
  EXPECT (gst_pp_stats_diagnose (&some) == gst_pp_stats_diagnose (&all),
      "%s, not %s", gst_pp_bottleneck_name (gst_pp_stats_diagnose (&some)),
      gst_pp_bottleneck_name (gst_pp_stats_diagnose (&all)));
  gst_structure_free (expected);
  gst_structure_free (structure);

  /* None since the interval began: nothing is known of the stages. */
  const pp_job_info untimed = { .times = { NAN, NAN, NAN, NAN } };
  gst_pp_stats_begin_interval (&some);
  gst_pp_stats_add (&some, &untimed, FALSE, &spent, whole, GST_SECOND * 10,
      GST_SECOND * 10 + 50 * GST_USECOND);
  structure = gst_pp_stats_interval_to_structure (&some);
  expect_stat (structure, "frames", 1);
  expect_stat (structure, "samples", 0);
  expect_stat (structure, "upload-mean", 0);
  expect_stat (structure, "upload-p50", 0);
  expect_stat (structure, "overlap", 0);
  expect_stat (structure, "latency-p50", 50);
  gst_structure_free (structure);
}

/* Time in PAUSED is not time in which stages could have overlapped. */
static void
test_standing_still (void)
{
  static GstPpStats stats;
  const GstPpSpent spent = { .waited = 0 };
  gdouble time = 100;

  for (guint i = 0; i < 8; i++, time += 20) {
    if (i == 4) {
      gst_pp_stats_restart (&stats);
      time += 1e6;
    }
    const pp_job_info info = { .stream = (int) (i % 2),
      .times = { time, time + 20, time + 30, time + 40 } };
    add_job (&stats, &info, &spent, whole, 40);
  }
  GstStructure *structure = gst_pp_stats_to_structure (&stats);
  /* twice four jobs, two at a time, in 100 us */
  expect_stat (structure, "overlap", 8 * 40 / 200.0);
  gst_structure_free (structure);
}

/* pipelines */

/* A consumer that reads every tensor when it comes. */
static GstPadProbeReturn
map_tensor (GstPad *pad, GstPadProbeInfo *info, gpointer user)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  GstMapInfo map;

  (void) pad;
  (void) user;
  EXPECT (gst_buffer_map (buffer, &map, GST_MAP_READ), "no map");
  gst_buffer_unmap (buffer, &map);
  return GST_PAD_PROBE_OK;
}

/* Small frames, which cost the source nothing, and large tensors; and what
 * takes milliseconds by itself. */
#define SOURCE                                                                 \
  "videotestsrc pattern=black num-buffers=40 ! "                               \
  "video/x-raw,format=RGB,width=64,height=64,framerate=30/1 ! "
#define LARGE "width=1280 height=1280 method=bicubic "
#define SMALL "width=16 height=16 "
#define SLOW "identity sleep-time=4000 ! "
/* One large frame again and again, not in our memory; few of its columns, but
 * all rows, are read. */
#define PAGEABLE_SOURCE                                                        \
  "videotestsrc pattern=black num-buffers=1 ! "                                \
  "video/x-raw,format=RGB,width=2048,height=4096 ! imagefreeze num-buffers=40 ! "
#define PAGEABLE "width=8 height=4096 method=nearest staging-threads=1 "

static const struct {
  const gchar *word, *before, *properties, *after;
  gboolean maps;
  guint pretended[3]; /* up, kernel, down; 0: on the CPU */
} runs[] = {
  { "one-stream", "", LARGE "streams=1", "", FALSE },
  { "kernel-bound", "", LARGE "streams=2", "", FALSE },
  { "source-too-slow", SLOW, SMALL "streams=2", "", FALSE },
  { "source-too-slow", SLOW, SMALL "streams=2", "", TRUE },
  { "source-too-slow", SLOW, SMALL "streams=2", "queue max-size-buffers=2 ! ",
      TRUE },
  { "consumer-too-slow", "", SMALL "streams=2", SLOW, FALSE },
  { "consumer-too-slow", "", SMALL "streams=2",
      "queue max-size-buffers=2 ! " SLOW, TRUE },
  { "consumer-waits", "", LARGE "streams=2 async-depth=0", "", TRUE },
  { "upload-bound", "", SMALL, "", FALSE, { 3000, 100, 1000 } },
  { "download-bound", "", SMALL, "", FALSE, { 1000, 100, 3000 } },
  { "kernel-bound", "", SMALL, "", FALSE, { 1000, 3000, 100 } },
  { "one-stream", "", SMALL "streams=1", "", FALSE, { 2000, 100, 1500 } },
  { "pageable-input", NULL, PAGEABLE, "", FALSE, { 100, 100, 100 } },
};

static gchar *
word_of (GstElement *preproc)
{
  GstStructure *stats = NULL;

  g_object_get (preproc, "stats", &stats, NULL);
  gchar *word = g_strdup (gst_structure_get_string (stats, "bottleneck"));
  gst_structure_free (stats);
  return word;
}

/* The word that it says at EOS; free it. */
static gchar *
run (guint i)
{
  const guint *pretended = runs[i].pretended;
  g_autofree gchar *line =
      g_strdup_printf ("%s%s cudapreproc name=preproc backend=%s %s ! %s"
                       "fakesink name=sink sync=false",
          runs[i].before != NULL ? SOURCE : PAGEABLE_SOURCE,
          runs[i].before != NULL ? runs[i].before : "",
          pretended[0] > 0 ? "cuda" : "cpu", runs[i].properties, runs[i].after);
  GError *error = NULL;

  fake_pretend (pretended[0], pretended[1], pretended[2]);
  GstElement *pipeline = gst_parse_launch (line, &error);

  if (error != NULL)
    g_error ("%s: %s", line, error->message);
  GstElement *preproc = gst_bin_get_by_name (GST_BIN (pipeline), "preproc");
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  if (runs[i].maps) {
    GstPad *pad = gst_element_get_static_pad (sink, "sink");
    gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, map_tensor, NULL, NULL);
    gst_object_unref (pad);
  }
  /* Standing still is nobody's fault. */
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, PATIENCE);
  g_usleep (500000);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);

  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered (
      bus, PATIENCE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  EXPECT (message != NULL && GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS,
      "%s: no EOS", line);
  gchar *word = word_of (preproc);

  gst_clear_message (&message);
  gst_object_unref (bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (sink);
  gst_object_unref (preproc);
  gst_object_unref (pipeline);
  return word;
}

/* A machine that is busy with other things may make it look otherwise. */
static void
test_pipelines (void)
{
  for (guint i = 0; i < G_N_ELEMENTS (runs); i++) {
    g_autofree gchar *word = NULL;
    for (gint tries = 0; tries < 5 && g_strcmp0 (word, runs[i].word) != 0;
         tries++) {
      g_free (word);
      word = run (i);
    }
    EXPECT (strcmp (word, runs[i].word) == 0, "%s, not %s: %s", word,
        runs[i].word, runs[i].properties);
  }
}

int
main (int argc, char **argv)
{
  gst_init (&argc, &argv);
  gst_element_register (
      NULL, "cudapreproc", GST_RANK_NONE, GST_TYPE_CUDA_PREPROC);
  /* Makes the debug category. */
  g_type_class_unref (g_type_class_ref (GST_TYPE_CUDA_PREPROC));

  test_rules ();
  test_recent ();
  test_fields ();
  test_percentiles ();
  test_interval ();
  test_samples ();
  test_standing_still ();
  if (g_get_num_processors () < 2) {
    g_print ("SKIP pipelines: one processor overlaps nothing\n");
    return expect_end ();
  }
  test_pipelines ();
  return expect_end ();
}
