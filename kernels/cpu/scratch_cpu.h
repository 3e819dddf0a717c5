/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Scratch memory of the CPU's kernels. The same code runs twice: first without
 * memory, to add up how much it needs, then to take the pieces.
 */
#ifndef PP_SCRATCH_CPU_H
#define PP_SCRATCH_CPU_H

#include <stddef.h>
#include <stdint.h>

/* Alignment of the memory and of each piece, bytes: a cache line. */
#define PP_SCRATCH_ALIGNMENT 64

typedef struct pp_scratch {
  uint8_t *memory; /* NULL: only count */
  size_t taken;    /* bytes so far */
} pp_scratch;

static inline size_t
pp_scratch_round (size_t size)
{
  return (size + PP_SCRATCH_ALIGNMENT - 1) / PP_SCRATCH_ALIGNMENT *
      PP_SCRATCH_ALIGNMENT;
}

/* Takes the next size bytes; NULL while only counting. */
static inline void *
pp_scratch_take (pp_scratch *scratch, size_t size)
{
  uint8_t *piece = scratch->memory ? scratch->memory + scratch->taken : NULL;

  scratch->taken += pp_scratch_round (size);
  return piece;
}

#endif
