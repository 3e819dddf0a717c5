/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans' tables in pinned memory. Jobs upload them, and an upload from
 * pageable memory would block the host.
 */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* Blocks are a multiple of this, bytes. */
#define GRAIN ((size_t) 16 << 10)

/* The size of a block for the plan's tables. All blocks have one size, so that
 * the arena can reuse a freed one for the next plan. */
static size_t
block_size (pp_device *device, const pp_plan *plan)
{
  const size_t size = pp_tables_size (plan);

  if (device->pinned_tables_size < size)
    device->pinned_tables_size = (size + GRAIN - 1) / GRAIN * GRAIN;
  return device->pinned_tables_size;
}

static pp_pinned_tables *
create (pp_device *device, const pp_plan *plan, pp_error *error)
{
  const size_t size = block_size (device, plan);
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

/* Reserves twice what the plan needs, since a crop of the same frames may fill
 * more of the tensor and so need larger tables. The arena keeps the blocks that
 * are freed here. */
pp_status
pp_pinned_tables_reserve (
    pp_device *device, const pp_plan *plan, pp_error *error)
{
  const size_t wanted = 2 * pp_tables_size (plan);
  void *block[PP_MAX_KEPT_TABLES + 1];
  int n = 0;

  if (device->pinned_tables_size >= pp_tables_size (plan))
    return PP_OK;
  device->pinned_tables_size = (wanted + GRAIN - 1) / GRAIN * GRAIN;
  while (n < PP_MAX_KEPT_TABLES + 1) {
    block[n] =
        pp_arena_alloc (device->arena, device->pinned_tables_size, error);
    if (block[n] == NULL)
      break;
    n++;
  }
  const pp_status status = n == PP_MAX_KEPT_TABLES + 1 ? PP_OK : PP_NO_MEMORY;
  while (n > 0)
    pp_arena_free (device->arena, block[--n], device->pinned_tables_size);
  return status;
}

void
pp_pinned_tables_clear (pp_device *device)
{
  for (int i = 0; i < PP_MAX_KEPT_TABLES; i++)
    pp_pinned_tables_unref (&device->kept_tables[i]);
}
