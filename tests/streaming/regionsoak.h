/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A long run with regions of a stand-in for a detector: other ones in each frame,
 * none and hundreds, some empty, some reaching outside.
 */
#ifndef REGIONSOAK_H
#define REGIONSOAK_H

#include <glib.h>

/* Runs frames of source, a launch line's beginning that starts over when it ends,
 * for ten parts of part frames each. Prints what each took. Each region with a pixel
 * must become a picture; after the first part, memory, threads and files must not
 * grow; and the last part must take at most slower times the processor time of the
 * second one, which has as many regions. */
void region_soak (
    gint backend, const gchar *source, guint part, gdouble slower);

#endif
