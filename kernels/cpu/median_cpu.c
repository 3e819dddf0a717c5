/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU's median: the same values as pp_median_c. For each row of a group, it
 * sorts each column of the window (rank), continues the sorted rows beyond both
 * ends (extend), and finds the medians (median). These loops are in
 * median_rows_cpu.h, and the compiler vectorises them.
 */
#include <string.h>

#include "clones_cpu.h"
#include "kernel_cpu.h"
#include "scratch_cpu.h"

#define MAX_RANKS 5

/* How the bytes of a sample become a value. */
struct coding {
  int swap;     /* 8 if the bytes must be swapped, else 0: a shift */
  int32_t bits; /* mask of the value */
};

#define SAMPLE uint8_t
#define NAME(name) name##_of_1
#include "median_rows_cpu.h"
#undef SAMPLE
#undef NAME

#define SAMPLE uint16_t
#define NAME(name) name##_of_2
#include "median_rows_cpu.h"
#undef SAMPLE
#undef NAME

/* The loops for one size of samples and one of the median. */
struct loops {
  void (*rank) (void *const *rank, const uint8_t *const *rows, int n,
      const struct coding *coding);
  void (*median) (void *to, void *const *rank, int step, int n,
      const struct coding *coding);
  void (*extend) (void *rank, int n, int step, int margin);
};

/* By bytes of a sample, 1 or 2, and by size of the median, 3 or 5. */
static const struct loops loops[2][2] = {
  { { rank_3_of_1, median_3_of_1, extend_of_1 },
      { rank_5_of_1, median_5_of_1, extend_of_1 } },
  { { rank_3_of_2, median_3_of_2, extend_of_2 },
      { rank_5_of_2, median_5_of_2, extend_of_2 } },
};

/* One call of pp_median_cpu. */
struct work {
  const pp_plan *plan;
  const struct loops *loops;
  int radius, sample_bytes;
  struct coding coding;    /* of the group */
  bool *needed;            /* which rows of the group are made */
  void *rank[MAX_RANKS];   /* sorted rows, at unit 0; both ends have a margin */
  uint8_t *line, *pattern; /* a row of medians; ones at the group's samples */
};

static int
clamp (int value, int high)
{
  return value < 0 ? 0 : value > high ? high : value;
}

static void
work_init (struct work *work, const pp_plan *plan, pp_scratch *scratch)
{
  const pp_median *median = &plan->median;
  const int bytes = plan->numbers.sample_bytes;
  const int radius = median->size / 2;
  size_t rows = 0, units = 0, margin = 0;

  for (int g = 0; g < median->n_groups; g++) {
    const pp_median_group *group = &median->group[g];
    const size_t reach = (size_t) radius * (size_t) group->step;

    rows = (size_t) group->rows > rows ? (size_t) group->rows : rows;
    units = (size_t) group->units > units ? (size_t) group->units : units;
    margin = reach > margin ? reach : margin;
  }
  *work = (struct work){
    .plan = plan,
    .loops = &loops[bytes - 1][median->size / 2 - 1],
    .radius = radius,
    .sample_bytes = bytes,
    .needed = pp_scratch_take (scratch, rows * sizeof (bool)),
    .line = pp_scratch_take (scratch, units * (size_t) bytes),
    .pattern = pp_scratch_take (scratch, units * (size_t) bytes),
  };

  const size_t before = pp_scratch_round (margin * (size_t) bytes);

  for (int r = 0; r < median->size; r++) {
    uint8_t *rank =
        pp_scratch_take (scratch, before + (units + margin) * (size_t) bytes);

    work->rank[r] = rank ? rank + before : NULL;
  }
}

/* Marks the group's rows that rows [first_row, last_row) of the content depend
 * on: taps with a weight read them. */
static void
mark_rows (struct work *work, const pp_median_group *group, int first_row,
    int last_row)
{
  const pp_plan *plan = work->plan;
  const pp_axis *axis = &plan->numbers.y[group->axes];

  memset (work->needed, 0, (size_t) group->rows * sizeof *work->needed);
  for (int y = first_row; y < last_row; y++) {
    const float *weight = plan->weight + axis->first_weight + y;
    bool *needed = work->needed + plan->index[axis->first + y];

    for (int j = 0; j < axis->n_taps; j++)
      needed[j] |= weight[(ptrdiff_t) j * axis->n_out] != 0;
  }
}

static void
make_pattern (struct work *work, const pp_median_group *group)
{
  const size_t bytes = (size_t) work->sample_bytes;

  for (int u = 0; u < group->units; u++)
    memset (work->pattern + (size_t) u * bytes,
        group->samples >> u % group->step & 1 ? 0xff : 0, bytes);
}

/* Copies the bytes of line for which pattern has ones. */
PP_CLONES static void
merge (uint8_t *restrict to, const uint8_t *restrict line,
    const uint8_t *restrict pattern, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = (uint8_t) ((to[i] & ~pattern[i]) | (line[i] & pattern[i]));
}

/* Makes row y of the group. plane and to are at the group's first byte, in its
 * first row and in row y. */
static void
make_row (struct work *work, const pp_median_group *group, int y,
    const uint8_t *plane, size_t stride, uint8_t *to)
{
  const struct loops *loops = work->loops;
  const int n_ranks = 2 * work->radius + 1, step = group->step;
  const uint8_t *rows[MAX_RANKS];

  for (int j = 0; j < n_ranks; j++)
    rows[j] =
        plane + (size_t) clamp (y + j - work->radius, group->rows - 1) * stride;
  loops->rank (work->rank, rows, group->units, &work->coding);
  for (int r = 0; r < n_ranks; r++)
    loops->extend (work->rank[r], group->units, step, work->radius * step);
  loops->median (group->alone ? to : work->line, work->rank, step, group->units,
      &work->coding);
  if (!group->alone)
    merge (to, work->line, work->pattern, group->units * work->sample_bytes);
}

static void
make_group (struct work *work, const pp_median_group *group,
    const pp_view *source, const pp_planes *to)
{
  const int p = group->plane;
  const bool machine_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  const bool big = work->plan->numbers.big_endian != 0;
  const uint8_t *from = source->plane[p] +
      (size_t) group->first_row * source->stride[p] + group->first_byte;
  uint8_t *row = to->plane[p] + (size_t) group->first_row * to->stride[p] +
      group->first_byte;

  work->coding.bits = group->bits;
  work->coding.swap = work->sample_bytes == 2 && big != machine_is_big ? 8 : 0;
  if (!group->alone)
    make_pattern (work, group);
  for (int y = 0; y < group->rows; y++, row += to->stride[p])
    if (work->needed[y])
      make_row (work, group, y, from, source->stride[p], row);
}

size_t
pp_median_cpu_scratch (const pp_plan *plan)
{
  pp_scratch scratch = { NULL, 0 };
  struct work work;

  work_init (&work, plan, &scratch);
  return scratch.taken;
}

void
pp_median_cpu (const pp_plan *plan, const pp_view *source, const pp_planes *to,
    int first_row, int last_row, void *memory)
{
  pp_scratch scratch = { memory, 0 };
  struct work work;

  work_init (&work, plan, &scratch);
  for (int g = 0; g < plan->median.n_groups; g++) {
    mark_rows (&work, &plan->median.group[g], first_row, last_row);
    make_group (&work, &plan->median.group[g], source, to);
  }
}
