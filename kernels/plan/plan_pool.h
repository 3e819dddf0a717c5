/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans for regions in memory that is there before the first: they share all that
 * does not depend on the region, and take tables from a cache.
 *
 * Threads: one at a time gets and fills plans, any releases them.
 */
#ifndef PP_PLAN_POOL_H
#define PP_PLAN_POOL_H

#include "axis_tables.h"

typedef struct pp_plan_pool pp_plan_pool;

/* For regions of the frames of base, whose sides are at most side pixels, and at
 * most n_plans plans at once. One reference. NULL without memory. */
pp_plan_pool *pp_plan_pool_new (
    const pp_plan *base, const pp_spec *spec, int side, int n_plans);
void pp_plan_pool_unref (pp_plan_pool **pool);

/* A plan with base's numbers, which has no tables yet. One reference, and one to
 * pool. NULL where all are in use. */
pp_plan *pp_plan_pool_get (pp_plan_pool *pool);
/* A table for the plan, which references it until it is released. NULL where there
 * is no room. */
const pp_axis_entry *pp_plan_pool_get_table (
    pp_plan *plan, const pp_axis_geometry *geometry, bool vertical);
/* Sets what follows from the plan's tables: spans, rows and block_x, block_y. */
void pp_plan_pool_finish (pp_plan *plan);
/* As pp_tables_write: index and weight are where the two parts of the block
 * start. */
void pp_plan_pool_write (
    const pp_plan *plan, bool all_rows, int32_t *index, float *weight);
/* As pp_plan_unref, for a plan of a pool. */
void pp_plan_pool_unref_plan (pp_plan *plan);

#endif
