/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stats.h"

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
  stats->recent.processors = pp_device_backend (device) == PP_BACKEND_CPU
      ? g_get_num_processors ()
      : 0;
  gst_pp_stats_restart (stats);
}

void
gst_pp_stats_restart (GstPpStats *stats)
{
  const GstPpLoad empty = { .processors = stats->recent.processors };

  stats->recent = stats->before = stats->load = stats->untimed = empty;
  stats->last_end = GST_CLOCK_TIME_NONE;
}

void
gst_pp_stats_begin_interval (GstPpStats *stats)
{
  stats->at_begin = stats->run;
  stats->load = (GstPpLoad){ .processors = stats->load.processors };
  stats->duration = 0;
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

/* The load of one job, without the stages' times, which only timed jobs have. */
static GstPpLoad
host_load (const GstPpStats *stats, const pp_job_info *info,
    const GstPpSpent *spent, gdouble latency)
{
  GstPpLoad load = { .frames = 1,
    .bytes_up = info->bytes_up,
    .bytes_staged = info->bytes_staged,
    .streams = 1u << info->stream,
    .processors = stats->recent.processors,
    .latency = latency };

  /* Time before the first job belongs to the start and is not counted. */
  if (stats->recent.frames + stats->untimed.frames > 0) {
    memcpy (load.place, spent->place, sizeof load.place);
    load.waited = spent->waited;
  }
  return load;
}

/* Adds the stages' times to load, which is that of a timed job and of the untimed
 * ones before it. All of them are taken to last as long as the timed one. How much
 * they overlapped is not known, but busy and covered are at most the time that
 * passed. */
static void
add_times (GstPpStats *stats, const pp_times *times, const gdouble *edge,
    GstPpLoad *load)
{
  const gdouble frames = (gdouble) load->frames;
  const gboolean first = stats->recent.frames == 0;
  gdouble last_done = stats->last_done;

  load->wall = times->done -
      (first ? MAX (times->start, last_done) : MIN (last_done, times->done));
  load->busy = frames * uncovered (times->start, times->done, &last_done);
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    load->total[s] = frames * (edge[s + 1] - edge[s]);
    load->covered[s] =
        frames * uncovered (edge[s], edge[s + 1], &stats->stage_until[s]);
  }
  if (load->frames > 1) {
    load->busy = MIN (load->busy, load->wall);
    for (gint s = 0; s < GST_PP_N_STAGES; s++)
      load->covered[s] = MIN (load->covered[s], load->wall);
  }
  stats->last_done = MAX (stats->last_done, times->done);
}

static void
add_load (GstPpStats *stats, const GstPpLoad *load)
{
  if (stats->recent.frames >= GST_PP_STATS_RECENT) {
    stats->before = stats->recent;
    stats->recent = (GstPpLoad){ .processors = load->processors };
  }
  gst_pp_load_add (&stats->recent, load);
  gst_pp_load_add (&stats->load, load);
}

/* Adds a timed job to the sums, and its stages' times to the window. load is that
 * of the job and of the untimed ones before it; its times are filled in here. */
static void
add_sample (GstPpStats *stats, const pp_times *times, GstPpLoad *load)
{
  const gdouble edge[] = { times->start, times->uploaded, times->computed,
    times->done };
  GstPpSums *run = &stats->run;

  add_times (stats, times, edge, load);
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    run->total[s] += load->total[s];
    stats->window[s][run->samples % GST_PP_STATS_WINDOW] =
        (gfloat) (edge[s + 1] - edge[s]);
  }
  run->wall += load->wall;
  run->samples++;
  run->represented += load->frames;
}

/* Adds the time since the job before this one ended. If that was before a pause, or
 * there is none, it is the time since this one was submitted. */
static void
add_duration (GstPpStats *stats, GstClockTime submitted, GstClockTime ended)
{
  const GstClockTime from =
      GST_CLOCK_TIME_IS_VALID (stats->last_end) ? stats->last_end : submitted;

  if (ended > from)
    stats->duration += ended - from;
  stats->last_end = ended;
}

void
gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info, gboolean timed,
    const GstPpSpent *spent, GstPpPart part, GstClockTime submitted,
    GstClockTime ended)
{
  const gdouble latency = to_microseconds (ended - submitted);
  GstPpLoad load = host_load (stats, info, spent, latency);
  GstPpSums *run = &stats->run;

  gst_pp_load_add (&stats->untimed, &load);
  if (timed) {
    load = stats->untimed;
    stats->untimed = (GstPpLoad){ .processors = load.processors };
    add_sample (stats, &info->times, &load);
    add_load (stats, &load);
  }
  add_duration (stats, submitted, ended);
  run->total[GST_PP_TIME_LATENCY] += latency;
  stats->window[GST_PP_TIME_LATENCY][run->jobs % GST_PP_STATS_WINDOW] =
      (gfloat) latency;
  stats->streams = info->streams_in_use;
  run->jobs++;
  run->frames += part.ends_frame;
  run->tensors += part.begins_tensor;
  run->bytes_up += info->bytes_up;
  run->bytes_down += info->bytes_down;
  run->bytes_staged += info->bytes_staged;
}

void
gst_pp_stats_add_dropped (GstPpStats *stats)
{
  stats->run.dropped++;
}

/* The value that would be at index rank if all were sorted. Reorders them, so that
 * smaller ones are before it and larger ones behind it. */
static gfloat
select_rank (gfloat *value, gint n, gint rank)
{
  gint low = 0, high = n - 1;

  while (low < high) {
    const gfloat pivot = value[rank];
    gint i = low, j = high;

    while (i <= j) {
      while (value[i] < pivot)
        i++;
      while (value[j] > pivot)
        j--;
      if (i > j)
        break;
      const gfloat swapped = value[i];
      value[i++] = value[j];
      value[j--] = swapped;
    }
    if (j < rank)
      low = i;
    if (i > rank)
      high = j;
  }
  return value[rank];
}

/* The mean, and the percentiles of the last measurements. */
static void
set_times (GstStructure *structure, const GstPpStats *stats,
    const GstPpSums *begin, GstPpTime time)
{
  const GstPpSums *run = &stats->run;
  const gboolean is_latency = time == GST_PP_TIME_LATENCY;
  const guint64 end = is_latency ? run->jobs : run->samples;
  const guint64 measured = end - (is_latency ? begin->jobs : begin->samples);
  const guint64 jobs =
      is_latency ? measured : run->represented - begin->represented;
  const gint length = (gint) MIN (measured, GST_PP_STATS_WINDOW);
  g_autofree gfloat *value = g_new (gfloat, MAX (length, 1));
  g_autofree gchar *mean = g_strdup_printf ("%s-mean", time_names[time]);

  gst_structure_set (structure, mean, G_TYPE_DOUBLE,
      jobs > 0 ? (run->total[time] - begin->total[time]) / (gdouble) jobs : 0.0,
      NULL);
  for (gint i = 0; i < length; i++)
    value[i] = stats->window[time][(end - 1 - (guint) i) % GST_PP_STATS_WINDOW];
  for (gsize p = 0; p < G_N_ELEMENTS (percents); p++) {
    g_autofree gchar *name =
        g_strdup_printf ("%s-p%d", time_names[time], percents[p]);
    /* nearest rank, from 1 */
    const gint rank = (length * percents[p] + 99) / 100;
    gst_structure_set (structure, name, G_TYPE_DOUBLE,
        length > 0 ? (gdouble) select_rank (value, length, rank - 1) : 0.0,
        NULL);
  }
}

/* The statistics of the jobs after those in begin. */
static GstStructure *
to_structure (const GstPpStats *stats, const gchar *name,
    const GstPpSums *begin, GstPpBottleneck bottleneck)
{
  const GstPpSums *run = &stats->run;
  const gdouble wall = run->wall - begin->wall;
  gdouble busy = 0;

  for (gint s = 0; s < GST_PP_N_STAGES; s++)
    busy += run->total[s] - begin->total[s];

  GstStructure *structure = gst_structure_new (name, "frames", G_TYPE_UINT64,
      run->frames - begin->frames, "tensors", G_TYPE_UINT64,
      run->tensors - begin->tensors, "dropped", G_TYPE_UINT64,
      run->dropped - begin->dropped, "bytes-up", G_TYPE_UINT64,
      run->bytes_up - begin->bytes_up, "bytes-down", G_TYPE_UINT64,
      run->bytes_down - begin->bytes_down, "bytes-staged", G_TYPE_UINT64,
      run->bytes_staged - begin->bytes_staged, "samples", G_TYPE_UINT64,
      run->samples - begin->samples, "streams", G_TYPE_INT, stats->streams,
      "overlap", G_TYPE_DOUBLE, wall > 0 ? busy / wall : 0.0, "bottleneck",
      G_TYPE_STRING, gst_pp_bottleneck_name (bottleneck), NULL);
  for (gint t = 0; t < GST_PP_N_TIMES; t++)
    set_times (structure, stats, begin, (GstPpTime) t);
  return structure;
}

GstStructure *
gst_pp_stats_to_structure (const GstPpStats *stats)
{
  const GstPpSums start = { .frames = 0 };

  return to_structure (
      stats, "GstCudaPreprocStats", &start, gst_pp_stats_diagnose (stats));
}

GstStructure *
gst_pp_stats_interval_to_structure (const GstPpStats *stats)
{
  GstStructure *structure = to_structure (stats, GST_PP_STATS_MESSAGE,
      &stats->at_begin, gst_pp_diagnose (&stats->load));
  GstStructure *total = gst_pp_stats_to_structure (stats);

  gst_structure_set (structure, "duration", G_TYPE_UINT64, stats->duration,
      "total", GST_TYPE_STRUCTURE, total, NULL);
  gst_structure_free (total);
  return structure;
}
