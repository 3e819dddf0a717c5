/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Bars, as an SVG picture.
 */
#ifndef BENCH_CHART_H
#define BENCH_CHART_H

#include <glib.h>

#define BENCH_CHART_BARS 3

/* One group of bars, values in microseconds; 0: no bar. */
typedef struct {
  gchar *name; /* owned */
  gchar *note; /* under the name; owned; NULL: none */
  gdouble value[BENCH_CHART_BARS];
} BenchGroup;

/* What the picture says of itself. A bar that no group has is left out. */
typedef struct {
  const gchar *title, *conditions;
  const gchar *bar[BENCH_CHART_BARS]; /* what each value is */
} BenchChart;

/* groups: of BenchGroup. */
gboolean bench_chart_write (const gchar *path, const BenchChart *chart,
    const GArray *groups, GError **error);

#endif
