/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a process has during a long run, and whether it grows.
 */
#ifndef FIGURES_H
#define FIGURES_H

#include <gst/gst.h>

typedef struct {
  guint threads, files;
  gsize memory;
  gsize mapped; /* pinned memory, too, which is not resident */
  gsize device; /* memory of the GPU */
} Figures;

/* Prints it after n units, with the time since begin. The GPU's memory is that of all
 * programs, and is counted where the program is built with HAVE_CUDA. */
Figures figures_take (gint backend, const gchar *unit, guint n, gint64 begin);
/* Fails if there is more now than when it was warm. */
void figures_expect_flat (const Figures *warm, const Figures *now);

#endif
