/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stats.h"

#include <stdlib.h>
#include <string.h>

static const gchar *const stage_names[GST_PP_N_STAGES] = {
  [GST_PP_STAGE_UPLOAD] = "upload",
  [GST_PP_STAGE_KERNEL] = "kernel",
  [GST_PP_STAGE_DOWNLOAD] = "download",
};

static const gint percents[] = { 50, 95, 99 };

void
gst_pp_stats_init (GstPpStats *stats)
{
  memset (stats, 0, sizeof *stats);
}

void
gst_pp_stats_add (GstPpStats *stats, const pp_job_info *info)
{
  const pp_times *times = &info->times;
  const gdouble length[GST_PP_N_STAGES] = {
    [GST_PP_STAGE_UPLOAD] = times->uploaded - times->start,
    [GST_PP_STAGE_KERNEL] = times->computed - times->uploaded,
    [GST_PP_STAGE_DOWNLOAD] = times->done - times->computed,
  };

  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    stats->total[s] += length[s];
    stats->window[s][stats->frames % GST_PP_STATS_WINDOW] = (gfloat) length[s];
  }
  if (stats->frames == 0)
    stats->first_start = times->start;
  stats->last_done = times->done;
  stats->frames++;
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
set_stage (GstStructure *structure, const GstPpStats *stats, GstPpStage stage)
{
  const gsize n = MIN (stats->frames, GST_PP_STATS_WINDOW);
  g_autofree gfloat *sorted =
      g_memdup2 (stats->window[stage], n * sizeof (gfloat));
  g_autofree gchar *mean = g_strdup_printf ("%s-mean", stage_names[stage]);

  if (n > 0)
    qsort (sorted, n, sizeof *sorted, compare_floats);
  gst_structure_set (structure, mean, G_TYPE_DOUBLE,
      n > 0 ? stats->total[stage] / (gdouble) stats->frames : 0.0, NULL);
  for (gsize p = 0; p < G_N_ELEMENTS (percents); p++) {
    g_autofree gchar *name =
        g_strdup_printf ("%s-p%d", stage_names[stage], percents[p]);
    /* nearest rank */
    const gsize rank = (n * (gsize) percents[p] + 99) / 100;
    gst_structure_set (structure, name, G_TYPE_DOUBLE,
        n > 0 ? (gdouble) sorted[rank - 1] : 0.0, NULL);
  }
}

GstStructure *
gst_pp_stats_to_structure (const GstPpStats *stats)
{
  const gdouble wall = stats->last_done - stats->first_start;
  gdouble busy = 0;

  for (gint s = 0; s < GST_PP_N_STAGES; s++)
    busy += stats->total[s];

  GstStructure *structure = gst_structure_new ("GstCudaPreprocStats", "frames",
      G_TYPE_UINT64, stats->frames, "bytes-up", G_TYPE_UINT64, stats->bytes_up,
      "bytes-down", G_TYPE_UINT64, stats->bytes_down, "bytes-staged",
      G_TYPE_UINT64, stats->bytes_staged, "overlap", G_TYPE_DOUBLE,
      wall > 0 ? busy / wall : 0.0, NULL);
  for (gint s = 0; s < GST_PP_N_STAGES; s++)
    set_stage (structure, stats, (GstPpStage) s);
  return structure;
}
