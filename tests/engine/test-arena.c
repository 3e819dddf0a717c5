/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The arena: freed blocks are handed out again, and memory stays within what was
 * ever in use, also when sizes change or the backend has none left.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/engine/arena.h"

#include "tests/common/expect.h"
#include "tests/common/times.h"
#include "tests/fake/backend_fake.h"

#define MIB ((size_t) 1 << 20)
/* More than the arena keeps in any case. */
#define BLOCKS 80

static void *block[2 * BLOCKS];

static pp_arena *
new_arena (void)
{
  pp_error error = { 0 };

  fake_reset ();
  pp_arena *arena = pp_arena_new (&fake_backend, -1, NULL, false, &error);
  EXPECT (arena != NULL, "%s", error.text);
  if (arena == NULL)
    exit (expect_end ());
  return arena;
}

static void
alloc (pp_arena *arena, int from, int to, size_t size)
{
  pp_error error = { 0 };

  for (int i = from; i < to; i++) {
    block[i] = pp_arena_alloc (arena, size, &error);
    EXPECT (block[i] != NULL, "%s", error.text);
  }
}

static void
give_back (pp_arena *arena, int from, int to, size_t size)
{
  for (int i = from; i < to; i++)
    pp_arena_free (arena, block[i], size);
}

/* Blocks that the backend has given and not got back. */
static int
count_live (void)
{
  char text[200];
  int live = 0;

  fake_live (text, sizeof text);
  const char *blocks = strstr (text, " host blocks");
  while (blocks != NULL && blocks > text && blocks[-1] != ' ')
    blocks--;
  if (blocks != NULL)
    live = atoi (blocks);
  return live;
}

static void
end (pp_arena **arena)
{
  pp_arena_unref (arena);
  EXPECT (count_live () == 0, "%d blocks are left", count_live ());
}

/* The last one freed comes first; one of another size does not come, also where
 * both are in one bucket. */
static void
test_blocks_come_again (void)
{
  pp_arena *arena = new_arena ();

  for (size_t size = 1; size < 300000; size = size * 5 + 3) {
    alloc (arena, 0, 3, size);
    void *last = block[1];
    give_back (arena, 0, 2, size);
    alloc (arena, 4, 5, size + 64 * 256);
    memset (block[4], 1, size + 64 * 256);
    const int calls = fake_count (FAKE_HOST_ALLOC);
    alloc (arena, 0, 2, size);
    EXPECT (block[0] == last, "size %zu: another block", size);
    EXPECT (fake_count (FAKE_HOST_ALLOC) == calls, "size %zu: %d calls", size,
        fake_count (FAKE_HOST_ALLOC) - calls);
    give_back (arena, 0, 3, size);
    give_back (arena, 4, 5, size + 64 * 256);
  }
  end (&arena);
}

/* Blocks of another size replace those that are kept. */
static void
test_sizes_change (void)
{
  pp_arena *arena = new_arena ();

  alloc (arena, 0, BLOCKS, MIB);
  give_back (arena, 0, BLOCKS, MIB);
  EXPECT (count_live () == BLOCKS, "%d blocks are kept", count_live ());
  alloc (arena, 0, BLOCKS / 2, 2 * MIB);
  EXPECT (count_live () == BLOCKS / 2, "%d blocks", count_live ());
  alloc (arena, BLOCKS, BLOCKS + 5, MIB);
  EXPECT (count_live () == BLOCKS / 2 + 5, "%d blocks", count_live ());
  give_back (arena, BLOCKS, BLOCKS + 5, MIB);
  give_back (arena, 0, BLOCKS / 2, 2 * MIB);
  /* The ones freed first go first. */
  const int calls = fake_count (FAKE_HOST_ALLOC);
  alloc (arena, 0, BLOCKS / 2, 2 * MIB);
  EXPECT (fake_count (FAKE_HOST_ALLOC) == calls, "the last ones are gone");
  give_back (arena, 0, BLOCKS / 2, 2 * MIB);
  end (&arena);
}

/* What the backend could not give is neither in use nor was it ever. */
static void
test_failures_do_not_count (void)
{
  pp_arena *arena = new_arena ();
  pp_error error = { 0 };

  fake_fail (FAKE_HOST_ALLOC, 1, true);
  for (int i = 0; i < 3; i++)
    EXPECT (pp_arena_alloc (arena, 200 * MIB, &error) == NULL &&
            error.status == PP_NO_MEMORY,
        "a block came");
  fake_fail (FAKE_HOST_ALLOC, 0, false);
  alloc (arena, 0, BLOCKS, MIB);
  give_back (arena, 0, BLOCKS, MIB);
  EXPECT (count_live () == BLOCKS, "%d blocks are kept", count_live ());
  alloc (arena, 0, BLOCKS / 2, 2 * MIB);
  EXPECT (count_live () == BLOCKS / 2, "%d blocks", count_live ());
  give_back (arena, 0, BLOCKS / 2, 2 * MIB);

  /* Each makes room for itself, no more than the first. */
  fake_fail (FAKE_HOST_ALLOC, 1, true);
  for (int i = 0; i < BLOCKS / 2; i++)
    pp_arena_alloc (arena, 3 * MIB, NULL);
  fake_fail (FAKE_HOST_ALLOC, 0, false);
  EXPECT (count_live () == BLOCKS / 2 - 2, "%d blocks", count_live ());
  end (&arena);
}

/* Sizes that cannot be rounded up. */
static void
test_huge_sizes (void)
{
  static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 254, SIZE_MAX - 255,
    SIZE_MAX / 2 + 1 };
  pp_arena *arena = new_arena ();

  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    pp_error error = { 0 };
    EXPECT (pp_arena_alloc (arena, sizes[i], &error) == NULL &&
            error.status == PP_NO_MEMORY,
        "size %zu: a block came", sizes[i]);
  }
  EXPECT (fake_count (FAKE_HOST_ALLOC) == 0, "the backend was asked");
  end (&arena);
}

/* A consumer kept many tensors and frees them after a change of caps, while new
 * ones are made. Walking the kept blocks each time would take minutes. */
static void
test_many_blocks (void)
{
  enum {
    MANY = 100000
  };
  static void *many[MANY];
  pp_arena *arena = new_arena ();

  for (int i = 0; i < MANY; i++)
    many[i] = pp_arena_alloc (arena, 256, NULL);
  const double begin = monotonic_time ();
  for (int i = 0; i < MANY; i++) {
    pp_arena_free (arena, many[i], 256);
    many[i] = i % 4 == 0 ? pp_arena_alloc (arena, 512, NULL) : NULL;
  }
  const double took = (monotonic_time () - begin) * 1e-6;
  EXPECT (took < 5, "%d blocks took %.1f s", MANY, took);
  for (int i = 0; i < MANY; i++)
    pp_arena_free (arena, many[i], 512);
  end (&arena);
}

int
main (void)
{
  test_blocks_come_again ();
  test_sizes_change ();
  test_failures_do_not_count ();
  test_huge_sizes ();
  test_many_blocks ();
  return expect_end ();
}
