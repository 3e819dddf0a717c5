/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stats.h"

#include <stdlib.h>
#include <string.h>

static const gchar *const time_names[] = {
  [GST_PP_TIME_UPLOAD] = "upload",
  [GST_PP_TIME_KERNEL] = "kernel",
  [GST_PP_TIME_DOWNLOAD] = "download",
  [GST_PP_TIME_LATENCY] = "latency",
};
G_STATIC_ASSERT (G_N_ELEMENTS (time_names) == GST_PP_N_TIMES);

static const gint percents[] = { 50, 95, 99 };

static gdouble
to_microseconds (GstClockTime time)
{
  return (gdouble) time / (gdouble) GST_USECOND;
}

void
gst_pp_thread_time_init (GstPpThreadTime *time)
{
  memset (time, 0, sizeof *time);
  time->since = GST_CLOCK_TIME_NONE;
}

void
gst_pp_thread_time_count (GstPpThreadTime *time, GstPpPlace place)
{
  const GstClockTime now = gst_util_get_timestamp ();

  if (GST_CLOCK_TIME_IS_VALID (time->since))
    time->spent.place[place] += to_microseconds (now - time->since);
  time->since = now;
}

void
gst_pp_thread_time_skip (GstPpThreadTime *time)
{
  time->since = GST_CLOCK_TIME_NONE;
}

void
gst_pp_thread_time_take (
    GstPpThreadTime *time, GstClockTime waited, GstPpSpent *spent)
{
  const GstClockTime before = waited >= time->waited ? time->waited : 0;

  *spent = time->spent;
  spent->waited = to_microseconds (waited - before);
  time->waited = waited;
  memset (&time->spent, 0, sizeof time->spent);
}

void
gst_pp_stats_init (GstPpStats *stats, pp_device *device)
{
  memset (stats, 0, sizeof *stats);
  stats->streams = pp_device_streams_in_use (device);
  stats->recent.processors = stats->before.processors =
      pp_device_backend (device) == PP_BACKEND_CPU ? g_get_num_processors ()
                                                   : 0;
}

void
gst_pp_stats_restart (GstPpStats *stats)
{
  const GstPpLoad empty = { .processors = stats->recent.processors };

  stats->recent = stats->before = empty;
}

GstPpBottleneck
gst_pp_stats_diagnose (const GstPpStats *stats)
{
  GstPpLoad load = stats->before;

  gst_pp_load_add (&load, &stats->recent);
  return gst_pp_diagnose (&load);
}

/* The length of the part of [begin, end] that is after *until. *until becomes end
 * if that is later. Summed over intervals in the order of their beginnings, this
 * is the length of their union. Jobs are in that order; their later stages can
 * be slightly out of it, and the sum is then slightly too small. */
static gdouble
uncovered (gdouble begin, gdouble end, gdouble *until)
{
  const gdouble from = MAX (begin, *until);

  if (end <= from)
    return 0;
  *until = end;
  return end - from;
}

/* Uses last_done as the job before left it. */
static void
add_load (GstPpStats *stats, const pp_job_info *info, const gdouble *edge,
    const GstPpSpent *spent, gdouble latency)
{
  const gdouble done = info->times.done;
  GstPpLoad load = { .frames = 1,
    .bytes_up = info->bytes_up,
    .bytes_staged = info->bytes_staged,
    .streams = 1u << info->stream,
    .processors = stats->recent.processors,
    .latency = latency };
  gdouble last_done = stats->last_done;

  /* The time before the first job belongs to no place. */
  if (stats->recent.frames + stats->before.frames > 0) {
    load.wall = MAX (done - last_done, 0);
    memcpy (load.place, spent->place, sizeof load.place);
    load.waited = spent->waited;
  } else {
    load.wall = done - MAX (info->times.start, last_done);
  }
  stats->wall += load.wall;
  load.busy = uncovered (info->times.start, done, &last_done);
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    load.total[s] = edge[s + 1] - edge[s];
    load.covered[s] = uncovered (edge[s], edge[s + 1], &stats->stage_until[s]);
  }

  if (stats->recent.frames >= GST_PP_STATS_RECENT) {
    stats->before = stats->recent;
    stats->recent = (GstPpLoad){ .processors = load.processors };
  }
  gst_pp_load_add (&stats->recent, &load);
}

void
gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info,
    const GstPpSpent *spent, gdouble latency)
{
  const pp_times *times = &info->times;
  const gdouble edge[] = { times->start, times->uploaded, times->computed,
    times->done };

  for (gint t = 0; t < GST_PP_N_TIMES; t++) {
    const gdouble length =
        t == GST_PP_TIME_LATENCY ? latency : edge[t + 1] - edge[t];
    stats->total[t] += length;
    stats->window[t][stats->frames % GST_PP_STATS_WINDOW] = (gfloat) length;
  }
  add_load (stats, info, edge, spent, latency);
  stats->last_done = MAX (stats->last_done, times->done);
  stats->frames++;
  stats->streams = info->streams_in_use;
  stats->bytes_up += info->bytes_up;
  stats->bytes_down += info->bytes_down;
  stats->bytes_staged += info->bytes_staged;
}

static int
compare_floats (const void *a, const void *b)
{
  const gfloat x = *(const gfloat *) a, y = *(const gfloat *) b;

  return (x > y) - (x < y);
}

static void
set_times (GstStructure *structure, const GstPpStats *stats, gint time)
{
  const gsize n = MIN (stats->frames, GST_PP_STATS_WINDOW);
  g_autofree gfloat *sorted =
      g_memdup2 (stats->window[time], n * sizeof (gfloat));
  g_autofree gchar *mean = g_strdup_printf ("%s-mean", time_names[time]);

  if (n > 0)
    qsort (sorted, n, sizeof *sorted, compare_floats);
  gst_structure_set (structure, mean, G_TYPE_DOUBLE,
      n > 0 ? stats->total[time] / (gdouble) stats->frames : 0.0, NULL);
  for (gsize p = 0; p < G_N_ELEMENTS (percents); p++) {
    g_autofree gchar *name =
        g_strdup_printf ("%s-p%d", time_names[time], percents[p]);
    /* nearest rank */
    const gsize rank = (n * (gsize) percents[p] + 99) / 100;
    gst_structure_set (structure, name, G_TYPE_DOUBLE,
        n > 0 ? (gdouble) sorted[rank - 1] : 0.0, NULL);
  }
}

GstStructure *
gst_pp_stats_to_structure (const GstPpStats *stats)
{
  gdouble busy = 0;

  for (gint s = 0; s < GST_PP_N_STAGES; s++)
    busy += stats->total[s];

  GstStructure *structure = gst_structure_new ("GstCudaPreprocStats", "frames",
      G_TYPE_UINT64, stats->frames, "bytes-up", G_TYPE_UINT64, stats->bytes_up,
      "bytes-down", G_TYPE_UINT64, stats->bytes_down, "bytes-staged",
      G_TYPE_UINT64, stats->bytes_staged, "streams", G_TYPE_INT, stats->streams,
      "overlap", G_TYPE_DOUBLE, stats->wall > 0 ? busy / stats->wall : 0.0,
      "bottleneck", G_TYPE_STRING,
      gst_pp_bottleneck_name (gst_pp_stats_diagnose (stats)), NULL);
  for (gint t = 0; t < GST_PP_N_TIMES; t++)
    set_times (structure, stats, t);
  return structure;
}
