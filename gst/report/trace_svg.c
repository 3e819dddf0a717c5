/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The picture: one lane for each stream, with its frames' stages side by side,
 * over a time short enough to show single frames. It has a background of its own
 * and so looks the same on light and dark pages.
 */

#include "trace.h"

#include <string.h>

/* How many frames of each stream are shown, on average. */
#define FRAMES_PER_LANE 6
/* Lengths in user units, which are pixels at the picture's nominal size. */
#define WIDTH 1000
#define MARGIN 24
#define LEFT 104 /* edge of the lanes; their names stand left of it */
#define RIGHT (WIDTH - MARGIN)
#define TOP 122
#define LANE_HEIGHT 30
#define LANE_STRIDE 42
#define BELOW 88 /* height of axis and footer */
/* Shorter stages are drawn as wide as this, to be visible. */
#define MIN_WIDTH 1.5
/* Wider frames get a line where they begin. */
#define MARKED_WIDTH 8
#define DIGIT_WIDTH 7.5 /* in a frame's number */
#define MAX_TICKS 10
/* Characters that fit into the heading. */
#define MAX_ELEMENT 24
#define MAX_DEVICE 52

#define INK "#1b1f24"
#define FAINT_INK "#57606a"
#define GRID "#d0d7de"
#define LANE "#eaeef2"
#define PAPER "#ffffff"

/* These colours can be told apart with any kind of colour vision, and white text
 * can be read on them. */
static const struct {
  const gchar *name, *colour;
} stages[] = {
  [GST_PP_STAGE_UPLOAD] = { "upload", "#0072b2" },
  [GST_PP_STAGE_KERNEL] = { "kernel", "#c24e00" },
  [GST_PP_STAGE_DOWNLOAD] = { "download", "#00795a" },
};
G_STATIC_ASSERT (G_N_ELEMENTS (stages) == GST_PP_N_STAGES);

static const struct {
  const gchar *name;
  gdouble microseconds;
} units[] = { { "µs", 1 }, { "ms", 1e3 }, { "s", 1e6 } };

/* The part of the trace that is shown. */
typedef struct {
  const GstPpTrace *trace;
  guint first, length; /* spans that begin in it */
  gdouble begin, end;  /* microseconds from the run's start */
  gint lanes;
} Stretch;

/* Takes the middle of the trace: at the start and at the end of a run little
 * overlaps. */
static Stretch
choose_stretch (const GstPpTrace *trace)
{
  const guint most = FRAMES_PER_LANE * (guint) MAX (trace->streams, 1);
  Stretch stretch = {
    .trace = trace, .length = MIN (trace->length, most), .lanes = 1
  };

  stretch.first = (trace->length - stretch.length) / 2;
  const guint behind = stretch.first + stretch.length;
  if (trace->length > 0)
    stretch.begin = trace->span[stretch.first].edge[0];
  stretch.end = stretch.begin + 1;
  for (guint i = stretch.first; i < behind; i++) {
    const GstPpSpan *span = &trace->span[i];
    stretch.lanes = MAX (stretch.lanes, span->stream + 1);
    if (behind == trace->length)
      stretch.end = MAX (stretch.end, span->edge[GST_PP_N_STAGES]);
  }
  if (behind < trace->length)
    stretch.end = MAX (stretch.end, trace->span[behind].edge[0]);
  return stretch;
}

/* The sum of all stage times in the stretch over its length. */
static gdouble
overlap_of (const Stretch *stretch)
{
  gdouble sum = 0;

  for (guint i = 0; i < stretch->trace->length; i++) {
    const gdouble *edge = stretch->trace->span[i].edge;
    const gdouble begin = MAX (edge[0], stretch->begin);
    const gdouble end = MIN (edge[GST_PP_N_STAGES], stretch->end);
    sum += MAX (end - begin, 0);
  }
  return sum / (stretch->end - stretch->begin);
}

static guint
unit_for (gdouble microseconds)
{
  guint unit = 0;

  while (unit + 1 < G_N_ELEMENTS (units) &&
      microseconds >= 10 * units[unit + 1].microseconds)
    unit++;
  return unit;
}

/* Appends a number in the C locale, which SVG demands; at most 6 decimals. */
static void
append_decimal (GString *text, gdouble value, gint decimals)
{
  gchar format[] = "%.0f", number[G_ASCII_DTOSTR_BUF_SIZE];

  format[2] = (gchar) ('0' + decimals);
  g_string_append (
      text, g_ascii_formatd (number, sizeof number, format, value));
}

/* Appends the time with three digits or more, and its unit. */
static void
append_time (GString *text, gdouble microseconds)
{
  const guint unit = unit_for (microseconds);
  const gdouble value = microseconds / units[unit].microseconds;

  append_decimal (text, value, value >= 100 ? 0 : (value >= 10 ? 1 : 2));
  g_string_append_printf (text, " %s", units[unit].name);
}

static void
append_escaped (GString *text, const gchar *value, glong most)
{
  const glong length = g_utf8_strlen (value, -1);
  g_autofree gchar *head = g_utf8_substring (value, 0, MIN (length, most));
  g_autofree gchar *escaped = g_markup_escape_text (head, -1);

  g_string_append_printf (text, "%s%s", escaped, length > most ? "…" : "");
}

/* Begins a text element; its content and "</text>" follow. x is where the text
 * begins, or its middle if an attribute says so. */
static void
open_text (GString *text, gdouble x, gdouble y, gint size, const gchar *colour,
    const gchar *attributes)
{
  g_string_append (text, "<text x=\"");
  append_decimal (text, x, 1);
  g_string_append (text, "\" y=\"");
  append_decimal (text, y, 1);
  g_string_append_printf (
      text, "\" font-size=\"%d\" fill=\"%s\"%s>", size, colour, attributes);
}

static void
append_box (GString *text, gdouble x, gdouble y, gdouble width, gdouble height,
    const gchar *attributes)
{
  g_string_append (text, "<rect x=\"");
  append_decimal (text, x, 2);
  g_string_append (text, "\" y=\"");
  append_decimal (text, y, 1);
  g_string_append (text, "\" width=\"");
  append_decimal (text, width, 2);
  g_string_append (text, "\" height=\"");
  append_decimal (text, height, 1);
  g_string_append_printf (text, "\" %s/>\n", attributes);
}

static gdouble
x_of (const Stretch *stretch, gdouble time)
{
  return LEFT +
      (RIGHT - LEFT) * (time - stretch->begin) /
      (stretch->end - stretch->begin);
}

static void
append_heading (GString *text, const Stretch *stretch)
{
  const GstPpTraceLabels *labels = &stretch->trace->labels;

  open_text (text, MARGIN, 36, 18, INK, " font-weight=\"bold\"");
  append_escaped (text, labels->element, MAX_ELEMENT);
  g_string_append (text, " on ");
  append_escaped (text, labels->device, MAX_DEVICE);
  g_string_append (text, "</text>\n");

  open_text (text, MARGIN, 62, 14, INK, "");
  g_string_append (text, "<tspan font-weight=\"bold\">overlap ");
  append_decimal (text, overlap_of (stretch), 2);
  g_string_append_printf (text,
      "</tspan> (sum of stage times / time shown) · %d %s · bottleneck: %s"
      "</text>\n",
      stretch->lanes, stretch->lanes == 1 ? "stream" : "streams",
      labels->bottleneck);
}

static void
append_legend (GString *text, const Stretch *stretch)
{
  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    const gdouble x = MARGIN + 180 * s;
    g_autofree gchar *fill =
        g_strdup_printf ("rx=\"3\" fill=\"%s\"", stages[s].colour);
    gdouble sum = 0;
    gsize bytes = 0;

    for (guint i = 0; i < stretch->length; i++) {
      const GstPpSpan *span = &stretch->trace->span[stretch->first + i];
      sum += span->edge[s + 1] - span->edge[s];
      bytes += span->bytes[s];
    }
    append_box (text, x, 82, 16, 16, fill);
    open_text (text, x + 24, 95, 14, INK, "");
    g_string_append_printf (text, "%s ", stages[s].name);
    if (s == GST_PP_STAGE_KERNEL || bytes > 0)
      append_time (text, stretch->length > 0 ? sum / stretch->length : 0);
    else
      g_string_append (text, "(no copies)");
    g_string_append (text, "</text>\n");
  }
  open_text (text, MARGIN + 180 * GST_PP_N_STAGES, 95, 14, FAINT_INK, "");
  g_string_append (
      text, "mean times with queueing; numbers are frames</text>\n");
}

/* The smallest of 1, 2 and 5 times a power of ten that makes at most MAX_TICKS
 * steps. */
static gdouble
tick_step (gdouble length)
{
  static const gdouble factors[] = { 1, 2, 5 };

  for (gdouble decade = 0.001;; decade *= 10)
    for (guint f = 0; f < G_N_ELEMENTS (factors); f++)
      if (length <= MAX_TICKS * decade * factors[f])
        return decade * factors[f];
}

static void
append_axis (GString *text, const Stretch *stretch)
{
  const gdouble length = stretch->end - stretch->begin;
  const guint unit = unit_for (length);
  const gdouble step = tick_step (length);
  const gint bottom = TOP + LANE_STRIDE * stretch->lanes;

  for (gint i = 0; i * step <= length; i++) {
    const gdouble value = i * step / units[unit].microseconds;
    const gdouble x = x_of (stretch, stretch->begin + i * step);
    append_box (
        text, x - 0.5, TOP - 6, 1, bottom - TOP + 6, "fill=\"" GRID "\"");
    open_text (text, x, bottom + 18, 13, FAINT_INK, " text-anchor=\"middle\"");
    append_decimal (text, value, step >= units[unit].microseconds ? 0 : 1);
    g_string_append (text, "</text>\n");
  }
  open_text (text, (LEFT + RIGHT) / 2, bottom + 40, 13, INK,
      " text-anchor=\"middle\"");
  g_string_append_printf (text, "time in %s</text>\n", units[unit].name);
}

/* Writes the frame's number into the widest stage shown, if it fits. */
static void
append_number (
    GString *text, const Stretch *stretch, const GstPpSpan *span, gdouble y)
{
  g_autofree gchar *number =
      g_strdup_printf ("%" G_GUINT64_FORMAT, span->number);
  gdouble middle = 0, widest = 0;

  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    const gdouble x = x_of (stretch, MAX (span->edge[s], stretch->begin));
    const gdouble to = x_of (stretch, MIN (span->edge[s + 1], stretch->end));
    if (to - x > widest) {
      widest = to - x;
      middle = (x + to) / 2;
    }
  }
  if (widest < DIGIT_WIDTH * (gdouble) (strlen (number) + 1))
    return;
  open_text (text, middle, y + 20, 12, PAPER, " text-anchor=\"middle\"");
  g_string_append_printf (text, "%s</text>\n", number);
}

static void
append_span (GString *text, const Stretch *stretch, const GstPpSpan *span)
{
  const gdouble y = TOP + LANE_STRIDE * span->stream;
  gdouble from = LEFT;

  for (gint s = 0; s < GST_PP_N_STAGES; s++) {
    const gdouble begin = MAX (span->edge[s], stretch->begin);
    const gdouble end = MIN (span->edge[s + 1], stretch->end);
    /* On the CPU nothing is copied: these stages are empty. */
    if (end < begin || (s != GST_PP_STAGE_KERNEL && span->bytes[s] == 0))
      continue;
    const gdouble x = MAX (x_of (stretch, begin), from);
    const gdouble to = MAX (x_of (stretch, end), x + MIN_WIDTH);
    g_autofree gchar *fill = g_strdup_printf ("fill=\"%s\"", stages[s].colour);
    from = MIN (to, RIGHT);
    if (from > x)
      append_box (text, x, y, from - x, LANE_HEIGHT, fill);
  }
  /* A line shows where the frame begins: the one before may end just there. */
  if (span->edge[0] > stretch->begin &&
      from - x_of (stretch, span->edge[0]) > MARKED_WIDTH)
    append_box (text, x_of (stretch, span->edge[0]) - 0.5, y, 1, LANE_HEIGHT,
        "fill=\"" PAPER "\" fill-opacity=\"0.6\"");
  append_number (text, stretch, span, y);
}

static void
append_lanes (GString *text, const Stretch *stretch)
{
  for (gint lane = 0; lane < stretch->lanes; lane++) {
    const gdouble y = TOP + LANE_STRIDE * lane;
    append_box (text, LEFT, y, RIGHT - LEFT, LANE_HEIGHT, "fill=\"" LANE "\"");
    open_text (text, MARGIN, y + 20, 14, INK, "");
    g_string_append_printf (text, "stream %d</text>\n", lane);
  }
}

static void
append_footer (GString *text, const Stretch *stretch)
{
  const GstPpTrace *trace = stretch->trace;
  const gint y = TOP + LANE_STRIDE * stretch->lanes + 66;

  open_text (text, MARGIN, y, 13, FAINT_INK, "");
  if (trace->length == 0) {
    g_string_append (text, "no frames</text>\n");
    return;
  }
  const guint64 first = trace->span[stretch->first].number;
  g_string_append_printf (text,
      "frames %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT
      " of %" G_GUINT64_FORMAT,
      first, first + stretch->length - 1, trace->frames);
  if (trace->length < trace->frames)
    g_string_append_printf (text, ", the middle of the last %u", trace->length);
  else if (stretch->length < trace->length)
    g_string_append (text, ", the middle of the run");
  else
    g_string_append (text, ", the whole run");
  g_string_append (text, "; time 0 is ");
  append_time (text, stretch->begin);
  g_string_append (text, " after the first frame's start</text>\n");
}

void
gst_pp_trace_append_svg (GString *text, const GstPpTrace *trace)
{
  const Stretch stretch = choose_stretch (trace);
  const gint height = TOP + LANE_STRIDE * stretch.lanes + BELOW;

  g_string_append_printf (text,
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" role=\"img\" "
      "font-family=\"system-ui, 'DejaVu Sans', Arial, sans-serif\">\n"
      "<title>Timeline of uploads, kernels and downloads</title>\n",
      WIDTH, height, WIDTH, height);
  append_box (text, 0.5, 0.5, WIDTH - 1, height - 1,
      "rx=\"8\" fill=\"" PAPER "\" stroke=\"" GRID "\"");
  append_heading (text, &stretch);
  append_legend (text, &stretch);
  append_lanes (text, &stretch);
  append_axis (text, &stretch);
  for (guint i = 0; i < trace->length; i++) {
    const GstPpSpan *span = &trace->span[i];
    if (span->edge[GST_PP_N_STAGES] > stretch.begin &&
        span->edge[0] < stretch.end && span->stream < stretch.lanes)
      append_span (text, &stretch, span);
  }
  append_footer (text, &stretch);
  g_string_append (text, "</svg>\n");
}
