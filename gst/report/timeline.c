/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Keeps the last frames in a ring, and chooses the writer by the file's ending.
 */

#include "timeline.h"

#include "output_file.h"
#include "trace.h"

struct _GstPpTimeline {
  gchar *path;   /* as the user wrote it */
  gchar *target; /* of gst_pp_output_file_find */
  void (*append) (GString *text, const GstPpTrace *trace);
  gboolean written;   /* no frame was added since */
  guint64 frames;     /* added so far */
  gint streams;       /* the highest stream's number + 1 */
  gdouble origin;     /* the first frame's start, in the device's time */
  gboolean new_clock; /* the next frame's time is of another clock */
  /* the end of each stream's last frame, from origin */
  gdouble stream_until[PP_MAX_STREAMS];
  GstPpSpan ring[GST_PP_TIMELINE_FRAMES]; /* by number % size */
};

static const struct {
  const gchar *ending;
  void (*append) (GString *text, const GstPpTrace *trace);
} kinds[] = {
  { ".json", gst_pp_trace_append_json },
  { ".svg", gst_pp_trace_append_svg },
};

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
  g_autofree gchar *why = NULL;
  gchar *target = gst_pp_output_file_find (path, &why);
  if (target == NULL) {
    *fault = GST_PP_FAULT_FILE;
    *reason = g_strdup_printf (
        "timeline-location=%s cannot be written: %s", path, why);
    return NULL;
  }

  GstPpTimeline *timeline = g_new0 (GstPpTimeline, 1);
  timeline->path = g_strdup (path);
  timeline->target = target;
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
gst_pp_timeline_change_clock (GstPpTimeline *timeline)
{
  timeline->new_clock = TRUE;
}

/* When the last of the frames ended, from origin. */
static gdouble
last_end (const GstPpTimeline *timeline)
{
  gdouble end = 0;

  for (gint stream = 0; stream < timeline->streams; stream++)
    end = MAX (end, timeline->stream_until[stream]);
  return end;
}

void
gst_pp_timeline_add (GstPpTimeline *timeline, const pp_job_info *info)
{
  const pp_times *times = &info->times;
  GstPpSpan *span = &timeline->ring[timeline->frames % GST_PP_TIMELINE_FRAMES];
  gdouble *until = &timeline->stream_until[info->stream];

  if (timeline->frames == 0)
    timeline->origin = times->start;
  else if (timeline->new_clock)
    timeline->origin = times->start - last_end (timeline);
  timeline->new_clock = FALSE;
  *span = (GstPpSpan){
    .number = timeline->frames,
    .stream = info->stream,
    .edge = { times->start, times->uploaded, times->computed, times->done },
    .bytes = { [GST_PP_STAGE_UPLOAD] = info->bytes_up,
        [GST_PP_STAGE_DOWNLOAD] = info->bytes_down },
  };
  /* A stream's stages follow each other, but a GPU rounds times to half a
   * microsecond, so that they could seem to overlap. */
  for (guint e = 0; e < G_N_ELEMENTS (span->edge); e++) {
    span->edge[e] = MAX (span->edge[e] - timeline->origin, *until);
    *until = span->edge[e];
  }
  timeline->streams = MAX (timeline->streams, info->stream + 1);
  timeline->frames++;
  timeline->written = FALSE;
}

/* A copy of name that XML 1.0 and JSON can hold; to be freed. Names come from
 * applications and drivers and may have any bytes. */
static gchar *
printable (const gchar *name)
{
  g_autofree gchar *valid = g_utf8_make_valid (name != NULL ? name : "", -1);
  GString *text = g_string_new (NULL);

  for (const gchar *c = valid; *c != '\0'; c = g_utf8_next_char (c)) {
    const gunichar character = g_utf8_get_char (c);
    const gboolean is_control = character < 0x20 || character == 0x7f;
    const gboolean is_noncharacter = (character & 0xfffe) == 0xfffe ||
        (character >= 0xfdd0 && character <= 0xfdef);
    if (is_control || is_noncharacter)
      g_string_append_c (text, '?');
    else
      g_string_append_unichar (text, character);
  }
  return g_string_free (text, FALSE);
}

gboolean
gst_pp_timeline_write (GstPpTimeline *timeline, const gchar *element,
    const gchar *device, const gchar *bottleneck, gchar **reason)
{
  if (timeline->written)
    return TRUE;

  const guint length = (guint) MIN (timeline->frames, GST_PP_TIMELINE_FRAMES);
  const guint64 first = timeline->frames - length;
  g_autofree GstPpSpan *spans = g_new (GstPpSpan, MAX (length, 1));
  for (guint i = 0; i < length; i++)
    spans[i] = timeline->ring[(first + i) % GST_PP_TIMELINE_FRAMES];
  g_autofree gchar *element_name = printable (element);
  g_autofree gchar *device_name = printable (device);
  const GstPpTrace trace = { .labels = { element_name, device_name,
                                 bottleneck },
    .span = spans,
    .length = length,
    .frames = timeline->frames,
    .streams = timeline->streams };

  g_autofree gchar *why = NULL;
  GString *text = g_string_new (NULL);
  timeline->append (text, &trace);
  timeline->written = gst_pp_output_file_write (timeline->target, text, &why);
  g_string_free (text, TRUE);
  if (!timeline->written)
    *reason = g_strdup_printf (
        "timeline-location=%s was not written: %s", timeline->path, why);
  return timeline->written;
}
