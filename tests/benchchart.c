/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchchart.h"

#define WIDTH 960
#define MARGIN 24
#define NAMES 330 /* where the bars begin */
#define BAR 13
#define GROUP (BENCH_CHART_BARS * BAR + 14)
#define HEAD 84

/* Told apart by lightness as well as by hue. */
static const gchar *const colours[BENCH_CHART_BARS] = { "#8a8f98", "#f2a541",
  "#2a6fdb" };

static void
append_text (GString *svg, gdouble x, gdouble y, const gchar *anchor, gint size,
    const gchar *text)
{
  gchar *escaped = g_markup_escape_text (text, -1);

  g_string_append_printf (svg,
      "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" font-size=\"%d\">%s"
      "</text>\n",
      x, y, anchor, size, escaped);
  g_free (escaped);
}

static void
append_head (GString *svg, const gchar *title, const gchar *const *bars)
{
  gdouble x = MARGIN;

  append_text (svg, MARGIN, 34, "start", 17, title);
  for (gint b = 0; b < BENCH_CHART_BARS; b++) {
    g_string_append_printf (svg,
        "<rect x=\"%.1f\" y=\"52\" width=\"14\" height=\"14\" "
        "fill=\"%s\"/>\n",
        x, colours[b]);
    append_text (svg, x + 20, 64, "start", 13, bars[b]);
    x += 290;
  }
}

static void
append_group (GString *svg, const BenchGroup *group, gdouble y, gdouble scale)
{
  append_text (svg, NAMES - 10, y + GROUP / 2.0 - 2, "end", 12, group->name);
  for (gint b = 0; b < BENCH_CHART_BARS; b++) {
    gchar value[32];
    const gdouble width = group->value[b] * scale;

    if (group->value[b] <= 0)
      continue;
    g_string_append_printf (svg,
        "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
        "fill=\"%s\"/>\n",
        NAMES, y + b * BAR, width, BAR - 2, colours[b]);
    g_snprintf (value, sizeof value, "%.1f", group->value[b]);
    append_text (
        svg, NAMES + width + 5, y + b * BAR + BAR - 3, "start", 11, value);
  }
}

gboolean
bench_chart_write (const gchar *path, const gchar *title,
    const gchar *const bars[BENCH_CHART_BARS], const GArray *groups,
    GError **error)
{
  const gint height = HEAD + (gint) groups->len * GROUP + MARGIN;
  GString *svg = g_string_new (NULL);
  gdouble most = 1;

  for (guint g = 0; g < groups->len; g++)
    for (gint b = 0; b < BENCH_CHART_BARS; b++)
      most = MAX (most, g_array_index (groups, BenchGroup, g).value[b]);

  g_string_append_printf (svg,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
      "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" fill=\"#1c2330\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      WIDTH, height, WIDTH, height);
  append_head (svg, title, bars);
  for (guint g = 0; g < groups->len; g++)
    append_group (svg, &g_array_index (groups, BenchGroup, g),
        HEAD + (gint) g * GROUP, (WIDTH - NAMES - MARGIN - 50) / most);
  g_string_append (svg, "</svg>\n");

  const gboolean written =
      g_file_set_contents (path, svg->str, (gssize) svg->len, error);
  g_string_free (svg, TRUE);
  return written;
}
