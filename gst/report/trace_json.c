/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Chrome's trace event format: one process, one thread for each stream and
 * stage, which viewers show as tracks; times in microseconds.
 */

#include "trace.h"

/* The process; any number will do. */
#define PROCESS 1

static const gchar *const stage_names[] = {
  [GST_PP_STAGE_UPLOAD] = "upload",
  [GST_PP_STAGE_KERNEL] = "kernel",
  [GST_PP_STAGE_DOWNLOAD] = "download",
};
G_STATIC_ASSERT (G_N_ELEMENTS (stage_names) == GST_PP_N_STAGES);

/* Appends a label as a JSON string, quotes included. */
static void
append_string (GString *text, const gchar *label)
{
  g_string_append_c (text, '"');
  for (const gchar *c = label; *c != '\0'; c++) {
    if (*c == '"' || *c == '\\')
      g_string_append_c (text, '\\');
    g_string_append_c (text, *c);
  }
  g_string_append_c (text, '"');
}

/* Times are whole nanoseconds, so that a stage ends exactly where the next one
 * begins. */
static void
append_microseconds (GString *text, gint64 nanoseconds)
{
  g_string_append_printf (text, "%" G_GINT64_FORMAT ".%03d", nanoseconds / 1000,
      (gint) (nanoseconds % 1000));
}

static gint
track_of (gint stream, gint stage)
{
  return stream * GST_PP_N_STAGES + stage + 1;
}

static gboolean
has_track (const GstPpTrace *trace, gint stream, gint stage)
{
  for (guint i = 0; i < trace->length; i++)
    if (trace->span[i].stream == stream &&
        gst_pp_span_has_stage (&trace->span[i], stage))
      return TRUE;
  return FALSE;
}

static void
append_names (GString *text, const GstPpTrace *trace)
{
  g_string_append_printf (text,
      "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":",
      PROCESS);
  append_string (text, trace->labels.element);
  g_string_append (text, "}}");
  for (gint stream = 0; stream < trace->streams; stream++) {
    for (gint s = 0; s < GST_PP_N_STAGES; s++) {
      const gint track = track_of (stream, s);
      if (!has_track (trace, stream, s))
        continue;
      g_string_append_printf (text,
          ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":%d,\"tid\":%d,"
          "\"args\":{\"name\":\"stream %d %s\"}}",
          PROCESS, track, stream, stage_names[s]);
      g_string_append_printf (text,
          ",\n{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,"
          "\"tid\":%d,\"args\":{\"sort_index\":%d}}",
          PROCESS, track, track);
    }
  }
}

static void
append_span (GString *text, const GstPpSpan *span)
{
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    const gint64 begin = (gint64) (span->edge[s] * 1000 + 0.5);
    const gint64 end = (gint64) (span->edge[s + 1] * 1000 + 0.5);

    if (!gst_pp_span_has_stage (span, s))
      continue;
    g_string_append_printf (text,
        ",\n{\"ph\":\"X\",\"name\":\"%s %" G_GUINT64_FORMAT "\",\"cat\":\"%s\","
        "\"pid\":%d,\"tid\":%d,\"ts\":",
        stage_names[s], span->number, stage_names[s], PROCESS,
        track_of (span->stream, s));
    append_microseconds (text, begin);
    g_string_append (text, ",\"dur\":");
    append_microseconds (text, end - begin);
    g_string_append_printf (text,
        ",\"args\":{\"frame\":%" G_GUINT64_FORMAT ",\"stream\":%d,"
        "\"bytes\":%" G_GSIZE_FORMAT "}}",
        span->number, span->stream, span->bytes[s]);
  }
}

void
gst_pp_trace_append_json (GString *text, const GstPpTrace *trace)
{
  g_string_append (text, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{");
  g_string_append (text, "\"element\":");
  append_string (text, trace->labels.element);
  g_string_append (text, ",\"device\":");
  append_string (text, trace->labels.device);
  g_string_append (text, ",\"bottleneck\":");
  append_string (text, trace->labels.bottleneck);
  g_string_append_printf (text,
      ",\"frames\":%" G_GUINT64_FORMAT
      ",\"recorded\":%u},\n\"traceEvents\":[\n",
      trace->frames, trace->length);
  append_names (text, trace);
  for (guint i = 0; i < trace->length; i++)
    append_span (text, &trace->span[i]);
  g_string_append (text, "\n]}\n");
}
