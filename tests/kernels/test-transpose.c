/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pp_transpose beside two plain loops: every vector that the machine has, every size
 * of elements, whole squares and what is left of them. Nothing else is written.
 */
#include <stdint.h>
#include <string.h>

#include "kernels/cpu/transpose_cpu.h"
#include "tests/common/expect.h"

/* Squares have 4 to 16 columns and up to 64 rows. */
#define MAX_COLUMNS 40
#define MAX_ROWS 140
/* Bytes from column to column and from row to row, with gaps. */
#define TO_PITCH (4 * (MAX_ROWS + 3))
#define PITCH (4 * MAX_COLUMNS + 5)
#define UNWRITTEN 0xa5

/* Rows and columns that are not given, before the first one. */
#define GUARD_ROWS 64
#define GUARD TO_PITCH

static uint8_t rows_memory[PITCH * (GUARD_ROWS + MAX_ROWS)];
static const uint8_t *const from = rows_memory + PITCH * GUARD_ROWS;
static uint8_t is[GUARD + TO_PITCH * MAX_COLUMNS], should[sizeof is];

static void
test_one (int vector, size_t size, int columns, int rows)
{
  memset (is, UNWRITTEN, sizeof is);
  memset (should, UNWRITTEN, sizeof should);
  for (int x = 0; x < columns; x++)
    for (int k = 0; k < rows; k++)
      memcpy (should + GUARD + (size_t) x * TO_PITCH + (size_t) k * size,
          from + (size_t) k * PITCH + (size_t) x * size, size);
  pp_transpose (vector, is + GUARD, (ptrdiff_t) (TO_PITCH / size), from, PITCH,
      size, columns, rows);
  EXPECT (memcmp (is, should, sizeof is) == 0,
      "vectors of %d, elements of %zu bytes, %d columns, %d rows", vector, size,
      columns, rows);
}

int
main (void)
{
  uint32_t random = 1;

  for (size_t i = 0; i < sizeof rows_memory; i++) {
    random = random * 1664525u + 1013904223u;
    rows_memory[i] = (uint8_t) (random >> 24);
  }
  for (int vector = 16; vector <= pp_transpose_vector (); vector *= 4)
    for (size_t size = 1; size <= 4; size *= 2)
      for (int columns = 1; columns <= MAX_COLUMNS; columns++)
        for (int rows = 1; rows <= MAX_ROWS; rows++)
          test_one (vector, size, columns, rows);
  return expect_end ();
}
