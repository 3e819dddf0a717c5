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
  gdouble value[BENCH_CHART_BARS];
} BenchGroup;

/* groups: of BenchGroup. bars: what each value is. */
gboolean bench_chart_write (const gchar *path, const gchar *title,
    const gchar *const bars[BENCH_CHART_BARS], const GArray *groups,
    GError **error);

#endif
