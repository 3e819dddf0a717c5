/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A cache of the tables of one axis, for plans for regions, of which there are new
 * ones for each frame: what a table holds does not depend on where its region is,
 * so a region of another place, or only as wide or as high as one before, finds it
 * there.
 *
 * The cache has a bounded size and is allocated beforehand. The oldest tables make
 * room for new ones, unless a plan still has them.
 *
 * Threads: one at a time gets tables, any releases them.
 */
#ifndef PP_AXIS_TABLES_H
#define PP_AXIS_TABLES_H

#include "axis_reach.h"

/* A table of the cache. */
typedef struct pp_axis_entry {
  pp_axis_geometry key; /* start is less than a chroma sample */
  bool vertical;
  bool used;          /* again, since it was made or was last the oldest */
  int32_t references; /* plans; atomic */
  pp_axis axis;       /* in the cache's arrays */
  pp_span span;       /* from the rectangle's first sample */
  /* horizontal: see pp_plan.span */
  int32_t widest[PP_N_SPANS];
  /* vertical: the listed rows, which follow the index, and the index for these
   */
  pp_plane_rows rows;
  size_t n_index, n_weight; /* room in the arrays */
} pp_axis_entry;

typedef struct pp_axis_tables pp_axis_tables;

/* Where entries' numbers are. index: first taps. device_index: first taps for the
 * listed rows, at the same places, and then the list. */
typedef struct pp_axis_arrays {
  int32_t *index, *device_index;
  float *weight;
} pp_axis_arrays;

/* For regions of the frames of base, whose sides are at most side pixels. NULL
 * without memory. */
pp_axis_tables *pp_axis_tables_new (
    const pp_plan *base, const pp_spec *spec, int side);
/* When no entry is referenced. */
void pp_axis_tables_free (pp_axis_tables **tables);
/* They stay where they are. */
pp_axis_arrays pp_axis_tables_arrays (const pp_axis_tables *tables);

/* A reference to an entry, for pp_axis_entry_unref. NULL where there is no room.
 */
pp_axis_entry *pp_axis_tables_get (
    pp_axis_tables *tables, const pp_axis_geometry *geometry, bool vertical);
void pp_axis_entry_unref (pp_axis_entry *entry);

#endif
