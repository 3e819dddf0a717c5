/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans' tables in pinned memory. Jobs upload them, and an upload from
 * pageable memory would block the host.
 */
#include <string.h>

#include "engine.h"

/* Blocks are a multiple of this, bytes. */
#define GRAIN ((size_t) 16 << 10)

/* The size of a block for tables of size bytes. All blocks have one size, so
 * that the arena can reuse a freed one for the next tables. */
static size_t
block_size (pp_device *device, size_t size)
{
  const size_t larger = (size + GRAIN - 1) / GRAIN * GRAIN;
  size_t now = __atomic_load_n (&device->pinned_tables_size, __ATOMIC_RELAXED);

  while (now < larger &&
      !__atomic_compare_exchange_n (&device->pinned_tables_size, &now, larger,
          false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
  return now < larger ? larger : now;
}

/* Takes one that nobody holds: there are enough. */
static pp_pinned_tables *
take_free (pp_device *device)
{
  for (int i = 0;; i = (i + 1) % PP_MAX_PINNED_TABLES) {
    pp_pinned_tables *tables = &device->pinned_tables[i];
    int32_t nobody = 0;

    if (__atomic_compare_exchange_n (&tables->references, &nobody, 1, false,
            __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
      return tables;
  }
}

pp_pinned_tables *
pp_pinned_tables_new (pp_device *device, const pp_pictures *pictures,
    bool all_rows, pp_error *error)
{
  const size_t size = block_size (device, pp_tables_size_of_all (pictures));
  uint8_t *block = pp_arena_alloc (device->arena, size, error);

  if (block == NULL)
    return NULL;
  pp_pinned_tables *tables = take_free (device);
  tables->id = __atomic_add_fetch (&device->last_tables, 1, __ATOMIC_RELAXED);
  tables->n = pictures->n;
  tables->all_rows = all_rows;
  tables->arena = device->arena;
  tables->block = (pp_buffer){ block, size };
  size_t offset = 0;
  for (int i = 0; i < pictures->n; i++) {
    const pp_plan *plan = pictures->plan[i];

    tables->plan[i] = plan->id;
    pp_tables_write (plan, all_rows, block + offset);
    offset = pp_tables_next (plan, offset);
  }
  return tables;
}

void
pp_pinned_tables_unref (pp_pinned_tables **address)
{
  pp_pinned_tables *tables = *address;

  *address = NULL;
  if (tables == NULL)
    return;
  /* The last holder gives the block back before anyone can take the struct. */
  const pp_buffer block = tables->block;
  pp_arena *arena = tables->arena;
  if (__atomic_sub_fetch (&tables->references, 1, __ATOMIC_ACQ_REL) == 0)
    pp_arena_free (arena, block.memory, block.size);
}

static bool
are_of (
    const pp_pinned_tables *tables, const pp_pictures *pictures, bool all_rows)
{
  if (tables->n != pictures->n || tables->all_rows != all_rows)
    return false;
  for (int i = 0; i < pictures->n; i++)
    if (tables->plan[i] != pictures->plan[i]->id)
      return false;
  return true;
}

pp_pinned_tables *
pp_pinned_tables_get (pp_device *device, const pp_pictures *pictures,
    bool all_rows, pp_error *error)
{
  pp_pinned_tables **kept = device->kept_tables;
  pp_pinned_tables *found = NULL;
  int at = 0;

  /* Plans for one frame do not come again. Without their tables, those of the next
   * frame are written to memory that is still in the cache. */
  if (pictures->plan[0]->pool != NULL)
    return pp_pinned_tables_new (device, pictures, all_rows, error);
  while (at < PP_MAX_KEPT_TABLES - 1 && kept[at] != NULL &&
      !are_of (kept[at], pictures, all_rows))
    at++;
  if (kept[at] != NULL && are_of (kept[at], pictures, all_rows)) {
    found = kept[at];
  } else {
    found = pp_pinned_tables_new (device, pictures, all_rows, error);
    if (found == NULL)
      return NULL;
    pp_pinned_tables_unref (&kept[at]);
  }
  memmove (kept + 1, kept, (size_t) at * sizeof *kept);
  kept[0] = found;
  __atomic_fetch_add (&found->references, 1, __ATOMIC_RELAXED);
  return found;
}

/* Reserves twice the size, since a crop of the same frames may fill more of the
 * tensor and so need larger tables. The arena keeps the blocks that are freed
 * here. */
pp_status
pp_pinned_tables_reserve (pp_device *device, size_t size, pp_error *error)
{
  void *block[PP_MAX_KEPT_TABLES + 1];
  int n = 0;

  if (device->pinned_tables_size >= size)
    return PP_OK;
  block_size (device, 2 * size);
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
