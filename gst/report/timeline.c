/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The ring of frames, and the file. What is in the file is timelinejson.c's and
 * timelinesvg.c's.
 */

#include "timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>

/* More lead in a circle. */
#define MAX_LINKS 40

struct _GstPpTimeline {
  gchar *path;   /* as the user wrote it */
  gchar *target; /* where links lead */
  void (*append) (GString *text, const GstPpTrace *trace);
  gboolean written; /* with all frames */
  guint64 frames;   /* added so far */
  gint streams;
  gdouble origin; /* the first frame's start, in the device's time */
  /* of each stream's last frame, from origin */
  gdouble stream_until[PP_MAX_STREAMS];
  GstPpSpan ring[GST_PP_TIMELINE_FRAMES]; /* by number % size */
};

static const struct {
  const gchar *ending;
  void (*append) (GString *text, const GstPpTrace *trace);
} kinds[] = {
  { ".json", gst_pp_timeline_append_json },
  { ".svg", gst_pp_timeline_append_svg },
};

/* Whether g_file_set_contents will be able to do its work: make a file beside
 * target, which is where path leads, and rename it. */
static gboolean
check_place (const gchar *path, const gchar *target, gchar **reason)
{
  if (g_file_test (target, G_FILE_TEST_EXISTS) &&
      !g_file_test (target, G_FILE_TEST_IS_REGULAR)) {
    *reason = g_strdup_printf (
        "timeline-location=%s cannot be written: it is %s", path,
        g_file_test (target, G_FILE_TEST_IS_DIR) ? "a folder"
                                                 : "no regular file");
    return FALSE;
  }

  g_autofree gchar *beside = g_strconcat (target, ".XXXXXX", NULL);
  const gint file = g_mkstemp_full (beside, O_WRONLY, 0600);
  if (file < 0) {
    *reason = g_strdup_printf (
        "timeline-location=%s cannot be written: %s", path, g_strerror (errno));
    return FALSE;
  }
  g_close (file, NULL);
  g_unlink (beside);
  return TRUE;
}

/* Where path leads, to a file that may not be there yet; to be freed. A link is
 * to stay one: it is what it leads to that is replaced. */
static gchar *
follow_links (const gchar *path)
{
  gchar *target = g_strdup (path);

  for (gint links = 0; links < MAX_LINKS; links++) {
    g_autofree gchar *link = g_file_read_link (target, NULL);
    if (link == NULL)
      break;
    g_autofree gchar *folder = g_path_get_dirname (target);
    g_free (target);
    target = g_path_is_absolute (link) ? g_strdup (link)
                                       : g_build_filename (folder, link, NULL);
  }
  return target;
}

GstPpTimeline *
gst_pp_timeline_new (const gchar *path, GstPpFault *fault, gchar **reason)
{
  guint kind = 0;

  while (kind < G_N_ELEMENTS (kinds) &&
      !g_str_has_suffix (path, kinds[kind].ending))
    kind++;
  if (kind == G_N_ELEMENTS (kinds)) {
    *fault = GST_PP_FAULT_SETTINGS;
    *reason = g_strdup_printf (
        "timeline-location=%s does not end in .json or .svg", path);
    return NULL;
  }
  *fault = GST_PP_FAULT_FILE;
  g_autofree gchar *target = follow_links (path);
  if (!check_place (path, target, reason))
    return NULL;

  GstPpTimeline *timeline = g_new0 (GstPpTimeline, 1);
  timeline->path = g_strdup (path);
  timeline->target = g_steal_pointer (&target);
  timeline->append = kinds[kind].append;
  return timeline;
}

void
gst_pp_timeline_free (GstPpTimeline *timeline)
{
  g_free (timeline->path);
  g_free (timeline->target);
  g_free (timeline);
}

void
gst_pp_timeline_add (GstPpTimeline *timeline, const pp_job_info *info)
{
  const pp_times *times = &info->times;
  GstPpSpan *span = &timeline->ring[timeline->frames % GST_PP_TIMELINE_FRAMES];
  gdouble *until = &timeline->stream_until[info->stream];

  if (timeline->frames == 0)
    timeline->origin = times->start;
  *span = (GstPpSpan){
    .number = timeline->frames,
    .stream = info->stream,
    .edge = { times->start, times->uploaded, times->computed, times->done },
    .bytes = { [GST_PP_STAGE_UPLOAD] = info->bytes_up,
        [GST_PP_STAGE_DOWNLOAD] = info->bytes_down },
  };
  /* A stream is in order, but a GPU rounds its times to half a microsecond. */
  for (guint e = 0; e < G_N_ELEMENTS (span->edge); e++) {
    span->edge[e] = MAX (span->edge[e] - timeline->origin, *until);
    *until = span->edge[e];
  }
  timeline->streams = MAX (timeline->streams, info->stream + 1);
  timeline->frames++;
  timeline->written = FALSE;
}

gboolean
gst_pp_timeline_write (
    GstPpTimeline *timeline, const GstPpTimelineLabels *labels, gchar **reason)
{
  if (timeline->written)
    return TRUE;

  const guint length = (guint) MIN (timeline->frames, GST_PP_TIMELINE_FRAMES);
  g_autofree GstPpSpan *spans = g_new (GstPpSpan, MAX (length, 1));
  for (guint i = 0; i < length; i++)
    spans[i] =
        timeline
            ->ring[(timeline->frames - length + i) % GST_PP_TIMELINE_FRAMES];
  const GstPpTrace trace = { labels, spans, length, timeline->frames,
    timeline->streams };

  GString *text = g_string_new (NULL);
  timeline->append (text, &trace);
  /* Writes a file beside it and renames that. */
  GError *error = NULL;
  timeline->written = g_file_set_contents (
      timeline->target, text->str, (gssize) text->len, &error);
  g_string_free (text, TRUE);
  if (!timeline->written) {
    *reason = g_strdup_printf ("timeline-location=%s was not written: %s",
        timeline->path, error->message);
    g_error_free (error);
  }
  return timeline->written;
}

void
gst_pp_timeline_append_number (GString *text, gdouble value, gint decimals)
{
  gchar format[] = "%.0f", number[G_ASCII_DTOSTR_BUF_SIZE];

  format[2] = (gchar) ('0' + decimals);
  g_string_append (
      text, g_ascii_formatd (number, sizeof number, format, value));
}
