/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tables of one axis: what a plan needs of its taps. A plan of its own has
 * them in memory of its own. Plans for regions, of which there are new ones for
 * each frame, take them from a cache: what a table holds does not depend on
 * where its region is, so a region of another place, or only as wide or as high
 * as one before, finds it there.
 *
 * The cache has a bounded size and is allocated beforehand. The oldest tables
 * make room for new ones, unless a plan still has them.
 *
 * Threads: one at a time gets tables and plans, any releases them.
 */
#ifndef PP_AXIS_TABLES_H
#define PP_AXIS_TABLES_H

#include "plan.h"
#include "taps.h"

/* The samples [first, first + count) of a component that the taps of one axis
 * read. */
typedef struct pp_span {
  int first, count;
} pp_span;

/* From the frame's first sample; with a median, what the medians read. */
pp_span pp_span_of_taps (
    const pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *geometry);
/* For tiles of columns outputs: see pp_plan.span. */
int32_t pp_widest_span (
    const int32_t *first, int n_out, int n_taps, int columns);

/* A table of the cache. */
typedef struct pp_axis_entry {
  pp_axis_geometry key; /* start is less than a chroma sample */
  bool vertical;
  int32_t references; /* plans; atomic */
  int32_t next;       /* entry of the same bucket, or -1 */
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

/* For regions of the frames of base, whose sides are at most side pixels, and at
 * most n_plans plans at once. One reference. NULL without memory. */
pp_axis_tables *pp_axis_tables_new (
    const pp_plan *base, const pp_spec *spec, int side, int n_plans);
void pp_axis_tables_unref (pp_axis_tables **tables);

/* A plan with base's numbers, which has no tables yet. One reference, and one to
 * tables. NULL where all are in use. */
pp_plan *pp_axis_tables_get_plan (pp_axis_tables *tables);
/* A table for the plan, which references it until it is released: the entry.
 * NULL where there is no room. */
const pp_axis_entry *pp_axis_tables_get (
    pp_plan *plan, const pp_axis_geometry *geometry, bool vertical);
/* Sets what follows from the plan's tables: spans, rows and block_x, block_y. */
void pp_axis_tables_finish (pp_plan *plan);
/* As pp_tables_write: index and weight are where the two parts of the block
 * start. */
void pp_axis_tables_write (
    const pp_plan *plan, bool all_rows, int32_t *index, float *weight);
/* As pp_plan_unref, for a plan of a cache. */
void pp_axis_tables_unref_plan (pp_plan *plan);

#endif
