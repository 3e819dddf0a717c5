/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "plan_pool.h"

#include <stdlib.h>
#include <string.h>

struct pp_plan_pool {
  int32_t references; /* atomic: the owner's and the plans' */
  pp_axis_tables *tables;
  int n_plans, next; /* where the search for a free one begins */
  pp_plan plan[];
};

static void
destroy (pp_plan_pool *pool)
{
  pp_axis_tables_free (&pool->tables);
  free (pool);
}

void
pp_plan_pool_unref (pp_plan_pool **address)
{
  pp_plan_pool *pool = *address;

  *address = NULL;
  if (pool != NULL &&
      __atomic_sub_fetch (&pool->references, 1, __ATOMIC_ACQ_REL) == 0)
    destroy (pool);
}

pp_plan_pool *
pp_plan_pool_new (
    const pp_plan *base, const pp_spec *spec, int side, int n_plans)
{
  const size_t plans = (size_t) n_plans * sizeof (pp_plan);
  pp_plan_pool *pool = malloc (sizeof *pool + plans);
  pp_axis_tables *tables =
      pool != NULL ? pp_axis_tables_new (base, spec, side) : NULL;

  if (tables == NULL) {
    free (pool);
    return NULL;
  }
  *pool = (pp_plan_pool){ 1, tables, n_plans, 0 };

  const pp_axis_arrays arrays = pp_axis_tables_arrays (tables);

  for (int i = 0; i < n_plans; i++) {
    pp_plan *plan = &pool->plan[i];

    *plan = *base;
    plan->index = arrays.index;
    plan->weight = arrays.weight;
    plan->device_index = NULL;
    plan->pool = pool;
    plan->references = 0;
  }
  return pool;
}

pp_plan *
pp_plan_pool_get (pp_plan_pool *pool)
{
  for (int tries = 0; tries < pool->n_plans; tries++) {
    pp_plan *plan = &pool->plan[pool->next];

    pool->next = (pool->next + 1) % pool->n_plans;
    if (__atomic_load_n (&plan->references, __ATOMIC_ACQUIRE) > 0)
      continue;
    __atomic_store_n (&plan->references, 2, __ATOMIC_RELAXED);
    __atomic_fetch_add (&pool->references, 1, __ATOMIC_RELAXED);
    plan->n_entries = 0;
    memset (plan->extent, 0, sizeof plan->extent);
    memset (plan->rows, 0, sizeof plan->rows);
    return plan;
  }
  return NULL;
}

const pp_axis_entry *
pp_plan_pool_get_table (
    pp_plan *plan, const pp_axis_geometry *geometry, bool vertical)
{
  pp_axis_entry *entry =
      pp_axis_tables_get (plan->pool->tables, geometry, vertical);

  if (entry != NULL)
    plan->entry[plan->n_entries++] = entry;
  return entry;
}

/* A plan in use has one reference more than there are holders; without
 * references it is free. */
void
pp_plan_pool_unref_plan (pp_plan *plan)
{
  pp_plan_pool *pool = plan->pool;

  if (__atomic_sub_fetch (&plan->references, 1, __ATOMIC_ACQ_REL) > 1)
    return;
  for (int i = 0; i < plan->n_entries; i++)
    pp_axis_entry_unref (plan->entry[i]);
  __atomic_store_n (&plan->references, 0, __ATOMIC_RELEASE);
  pp_plan_pool_unref (&pool);
}

/* Where each entry's numbers are in a block. The lists of rows are behind all
 * first taps. */
static void
place_entries (
    pp_plan *plan, int32_t first[4], int32_t weight[4], int32_t listed[4])
{
  size_t n_index = 0, n_weight = 0;

  for (int i = 0; i < plan->n_entries; i++) {
    first[i] = (int32_t) n_index;
    weight[i] = (int32_t) n_weight;
    n_index += (size_t) plan->entry[i]->axis.n_out;
    n_weight += plan->entry[i]->n_weight;
  }
  plan->n_index = n_index;
  plan->n_weight = n_weight;
  for (int i = 0; i < plan->n_entries; i++) {
    listed[i] = (int32_t) n_index;
    n_index += (size_t) plan->entry[i]->rows.count;
  }
  plan->n_device_index = n_index;
}

/* The entry of an axis. */
static int
entry_of (const pp_plan *plan, const pp_axis *axis)
{
  int i = 0;

  while (plan->entry[i]->axis.first != axis->first)
    i++;
  return i;
}

void
pp_plan_pool_finish (pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;
  const int32_t *device_index =
      pp_axis_tables_arrays (plan->pool->tables).device_index;
  int32_t first[4], weight[4], listed[4];

  place_entries (plan, first, weight, listed);
  for (int a = 0; a < 2; a++) {
    const int x = entry_of (plan, &n->x[a]), y = entry_of (plan, &n->y[a]);

    plan->block_x[a] =
        (pp_axis){ n->x[a].n_out, n->x[a].n_taps, first[x], weight[x] };
    plan->block_y[a] =
        (pp_axis){ n->y[a].n_out, n->y[a].n_taps, first[y], weight[y] };
    memcpy (plan->span[a], plan->entry[x]->widest, sizeof plan->span[a]);
  }
  for (int c = 0; c < n->n_components; c++) {
    const pp_source *source = &n->source[c];
    const int y = entry_of (plan, &n->y[source->axes]);
    const pp_axis_entry *entry = plan->entry[y];

    plan->rows[source->plane] = entry->rows;
    plan->rows[source->plane].first = listed[y];
    plan->listed[source->plane] =
        device_index + entry->axis.first + entry->axis.n_out;
  }
}

void
pp_plan_pool_write (
    const pp_plan *plan, bool all_rows, int32_t *index, float *weight)
{
  const pp_axis_arrays arrays = pp_axis_tables_arrays (plan->pool->tables);
  const int32_t *from = all_rows ? arrays.index : arrays.device_index;

  for (int i = 0; i < plan->n_entries; i++) {
    const pp_axis_entry *e = plan->entry[i];
    const size_t n_out = (size_t) e->axis.n_out;

    /* Horizontal tables are the same for both. */
    memcpy (index, (e->vertical ? from : arrays.index) + e->axis.first,
        n_out * sizeof *index);
    index += n_out;
    memcpy (weight, arrays.weight + e->axis.first_weight,
        e->n_weight * sizeof *weight);
    weight += e->n_weight;
  }
  for (int i = 0; i < plan->n_entries; i++) {
    const pp_axis_entry *e = plan->entry[i];
    const size_t rows = (size_t) e->rows.count;

    memcpy (index, arrays.device_index + e->axis.first + e->axis.n_out,
        rows * sizeof *index);
    index += rows;
  }
}
