/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchchart.h"

/* Pixels. */
#define WIDTH 960
#define MARGIN 24
#define NAMES 380  /* where the bars begin */
#define VALUES 60  /* behind the longest one */
#define LEGEND 290 /* from one entry to the next */
#define BAR 13
#define LEAST_GROUP 2 /* bars that a name and its note are as high as */
#define GAP 14
#define HEAD 108

#define INK "#1c2330"
#define FAINT "#5b6472"

/* Told apart by lightness as well as by hue. */
static const gchar *const colours[BENCH_CHART_BARS] = { "#8a8f98", "#f2a541",
  "#2a6fdb" };

/* The bars that there are, in their order. */
typedef struct {
  gint n;
  gint bar[BENCH_CHART_BARS];
  gdouble most; /* the largest value */
} Shown;

static Shown
find_shown (const GArray *groups)
{
  Shown shown = { 0, { 0 }, 1 };

  for (gint b = 0; b < BENCH_CHART_BARS; b++) {
    gdouble most = 0;
    for (guint g = 0; g < groups->len; g++)
      most = MAX (most, g_array_index (groups, BenchGroup, g).value[b]);
    if (most > 0)
      shown.bar[shown.n++] = b;
    shown.most = MAX (shown.most, most);
  }
  return shown;
}

static gint
group_height (const Shown *shown)
{
  return MAX (shown->n, LEAST_GROUP) * BAR + GAP;
}

static void
append_text (GString *svg, gdouble x, gdouble y, const gchar *anchor, gint size,
    const gchar *colour, const gchar *text)
{
  gchar *escaped = g_markup_escape_text (text, -1);

  g_string_append_printf (svg,
      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\" "
      "fill=\"%s\">%s</text>\n",
      x, y, anchor, size, colour, escaped);
  g_free (escaped);
}

static void
append_head (GString *svg, const BenchChart *chart, const Shown *shown)
{
  append_text (svg, MARGIN, 34, "start", 17, INK, chart->title);
  append_text (svg, MARGIN, 56, "start", 12, FAINT, chart->conditions);
  for (gint i = 0; i < shown->n; i++) {
    const gdouble x = MARGIN + i * LEGEND;
    g_string_append_printf (svg,
        "<rect x=\"%.1f\" y=\"74\" width=\"14\" height=\"14\" "
        "fill=\"%s\"/>\n",
        x, colours[shown->bar[i]]);
    append_text (svg, x + 20, 86, "start", 13, INK, chart->bar[shown->bar[i]]);
  }
}

static void
append_group (
    GString *svg, const BenchGroup *group, const Shown *shown, gdouble y)
{
  const gdouble scale = (WIDTH - NAMES - MARGIN - VALUES) / shown->most;
  const gdouble middle = y + (group_height (shown) - GAP) / 2.0;
  /* Bars are centred beside the two lines of text. */
  const gdouble top = middle - shown->n * BAR / 2.0;

  append_text (svg, NAMES - 10, middle + (group->note != NULL ? -3 : 4), "end",
      12, INK, group->name);
  if (group->note != NULL)
    append_text (svg, NAMES - 10, middle + 13, "end", 11, FAINT, group->note);
  for (gint i = 0; i < shown->n; i++) {
    gchar value[32];
    const gint b = shown->bar[i];
    const gdouble width = group->value[b] * scale, bar = top + i * BAR;

    if (group->value[b] <= 0)
      continue;
    g_string_append_printf (svg,
        "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
        "fill=\"%s\"/>\n",
        NAMES, bar, width, BAR - 2, colours[b]);
    g_snprintf (value, sizeof value, "%.1f", group->value[b]);
    append_text (
        svg, NAMES + width + 5, bar + BAR - 3, "start", 11, INK, value);
  }
}

gboolean
bench_chart_write (const gchar *path, const BenchChart *chart,
    const GArray *groups, GError **error)
{
  const Shown shown = find_shown (groups);
  const gint height =
      HEAD + (gint) groups->len * group_height (&shown) + MARGIN;
  GString *svg = g_string_new (NULL);

  g_string_append_printf (svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      WIDTH, height, WIDTH, height);
  append_head (svg, chart, &shown);
  for (guint g = 0; g < groups->len; g++)
    append_group (svg, &g_array_index (groups, BenchGroup, g), &shown,
        HEAD + (gint) g * group_height (&shown));
  g_string_append (svg, "</svg>\n");

  const gboolean written =
      g_file_set_contents (path, svg->str, (gssize) svg->len, error);
  g_string_free (svg, TRUE);
  return written;
}
