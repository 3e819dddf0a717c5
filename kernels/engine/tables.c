/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans' tables in pinned memory. They go up with a job, and from pageable
 * memory that would make the host wait.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* Blocks are a multiple of this, bytes, so that those of one plan fit another's
 * and the arena does not allocate. */
#define GRAIN ((size_t) 64 << 10)

static pp_pinned_tables *
create (pp_device *device, const pp_plan *plan, pp_error *error)
{
  const size_t size = (pp_tables_size (plan) + GRAIN - 1) / GRAIN * GRAIN;
  pp_pinned_tables *tables = calloc (1, sizeof *tables);

  if (tables == NULL) {
    pp_fail_memory (error, "calloc", sizeof *tables);
    return NULL;
  }
  uint8_t *block = pp_arena_alloc (device->arena, size, error);
  if (block == NULL) {
    free (tables);
    return NULL;
  }
  memcpy (block, plan->device_index,
      plan->n_device_index * sizeof *plan->device_index);
  memcpy (block + pp_tables_weight_offset (plan), plan->weight,
      plan->n_weight * sizeof *plan->weight);
  *tables = (pp_pinned_tables){ .references = 1,
    .plan = plan->id,
    .arena = device->arena,
    .block = { block, size } };
  return tables;
}

void
pp_pinned_tables_unref (pp_pinned_tables **address)
{
  pp_pinned_tables *tables = *address;

  *address = NULL;
  if (tables == NULL ||
      __atomic_sub_fetch (&tables->references, 1, __ATOMIC_ACQ_REL) > 0)
    return;
  pp_arena_free (tables->arena, tables->block.memory, tables->block.size);
  free (tables);
}

pp_pinned_tables *
pp_pinned_tables_get (pp_device *device, const pp_plan *plan, pp_error *error)
{
  pp_pinned_tables **kept = device->kept_tables;
  pp_pinned_tables *found = NULL;
  int at = 0;

  while (at < PP_MAX_KEPT_TABLES - 1 && kept[at] != NULL &&
      kept[at]->plan != plan->id)
    at++;
  if (kept[at] != NULL && kept[at]->plan == plan->id) {
    found = kept[at];
  } else {
    found = create (device, plan, error);
    if (found == NULL)
      return NULL;
    pp_pinned_tables_unref (&kept[at]);
  }
  memmove (kept + 1, kept, (size_t) at * sizeof *kept);
  kept[0] = found;
  __atomic_fetch_add (&found->references, 1, __ATOMIC_RELAXED);
  return found;
}

void
pp_pinned_tables_clear (pp_device *device)
{
  for (int i = 0; i < PP_MAX_KEPT_TABLES; i++)
    pp_pinned_tables_unref (&device->kept_tables[i]);
}
