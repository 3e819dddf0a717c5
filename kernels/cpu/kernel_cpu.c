/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU's kernel. For each output row, one after the other:
 *
 *   resample_row   rows of samples -> resampled components, by vertical and
 *                  horizontal passes (passes_cpu.h)
 *   colour_row     components -> R, G, B or gray
 *   pp_write_row   R, G, B or gray -> elements of the tensor (writer_cpu.h)
 *
 * The loops over a row's samples and columns are in rows_cpu.c, elements_cpu.c
 * and transpose_cpu.c. Each value goes through the same float operations as in the
 * reference, in the same order. Only taps of weight 0 are left out: that may
 * change the sign of a zero, which the clamp removes.
 */
#include "kernel_cpu.h"
#include "min_max_cpu.h"
#include "passes_cpu.h"
#include "rows_cpu.h"
#include "writer_cpu.h"

/* One call of pp_apply_cpu. */
struct work {
  const pp_plan *plan;
  const pp_numbers *numbers;
  int first_row, last_row, columns;
  int step; /* from an output row to the next: 1, or -1 where rows descend */
  pp_passes passes;
  /* the vertical taps of one output row that have a weight */
  const uint8_t **tap_rows;
  float *tap_weights;
  uint32_t *words;                /* sparse passes: of one row */
  float *lanes;                   /* dense passes: PP_LANES sums a column */
  float *colour[PP_MAX_CHANNELS]; /* R, G, B or gray in 0...255 */
  pp_writer writer;
};

/* Output rows are made in the order in which the frame's rows lie in memory, also
 * where the picture is mirrored: processors prefetch upwards. */
static int
find_step (const pp_plan *plan, int first_row, int last_row)
{
  const int32_t *index = plan->index + plan->numbers.y[0].first;

  return index[last_row - 1] < index[first_row] ? -1 : 1;
}

/* Decides the passes and takes the buffers. While scratch only counts, the rows
 * must be all rows. */
static void
work_init (struct work *work, const pp_plan *plan, int first_row, int last_row,
    pp_scratch *scratch)
{
  const pp_numbers *numbers = &plan->numbers;
  const size_t columns = (size_t) numbers->content_width;
  const size_t taps =
      (size_t) max_int (numbers->y[0].n_taps, numbers->y[1].n_taps);

  *work = (struct work){
    .plan = plan,
    .numbers = numbers,
    .first_row = first_row,
    .last_row = last_row,
    .columns = numbers->content_width,
    .step = find_step (plan, first_row, last_row),
  };
  pp_passes_init (&work->passes, plan, first_row, last_row, scratch);
  work->tap_rows = pp_scratch_take (scratch, taps * sizeof (uint8_t *));
  work->tap_weights = pp_scratch_take (scratch, taps * sizeof (float));
  work->words = pp_scratch_take (scratch, columns * sizeof (uint32_t));
  work->lanes = pp_scratch_take (scratch, columns * PP_LANES * sizeof (float));
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    work->colour[c] = pp_scratch_take (scratch, columns * sizeof (float));
  pp_writer_init (
      &work->writer, numbers, first_row, last_row, work->step, scratch);
}

/* Lists the rows that the pass reads for output row y, with their weights.
 * Returns how many; at least 1. */
static int
list_taps (struct work *work, const pp_vertical_pass *vertical, int y)
{
  const pp_axis *axis = &work->numbers->y[vertical->source->axes];
  const float *weight = work->plan->weight + axis->first_weight + y;
  const uint8_t *row = vertical->base +
      (size_t) work->plan->index[axis->first + y] * vertical->stride;
  int n = 0;
  for (int j = 0; j < axis->n_taps; j++) {
    work->tap_rows[n] = row + (size_t) j * vertical->stride;
    work->tap_weights[n] = weight[(int64_t) j * axis->n_out];
    n += work->tap_weights[n] != 0.f;
  }
  return max_int (n, 1);
}

/* Prefetches the rows that the next output row reads and y did not. With many taps
 * it does not pay: the processor itself prefetches long runs of adjacent rows, and
 * so many would evict others from the cache. */
static void
prefetch_next (const struct work *work, const pp_vertical_pass *vertical, int y)
{
  enum {
    MAX_PREFETCHED_TAPS = 4
  };
  const pp_axis *axis = &work->numbers->y[vertical->source->axes];
  const int32_t *index = work->plan->index + axis->first;
  const int next = y + work->step;
  if (next < work->first_row || next >= work->last_row ||
      axis->n_taps > MAX_PREFETCHED_TAPS)
    return;
  const int end = index[next] + axis->n_taps;
  for (int row = max_int (index[next], index[y] + axis->n_taps); row < end;
       row++)
    for (int byte = 0; byte < vertical->reach; byte += PP_SCRATCH_ALIGNMENT)
      __builtin_prefetch (
          vertical->base + (size_t) row * vertical->stride + byte);
}

static void
sum_vertical (struct work *work, const pp_vertical_pass *vertical, int y)
{
  const int n_taps = list_taps (work, vertical, y);
  pp_sum_rows (vertical->sums, work->tap_rows, work->tap_weights, n_taps,
      vertical->reach / vertical->code.bytes, &vertical->code);
}

/* The horizontal taps of a dense pass, over the sums of its vertical one. */
static void
sum_horizontal (struct work *work, const pp_horizontal_pass *horizontal)
{
  const bool alone = horizontal->n_components == 1;
  if (horizontal->pair_weight != NULL) {
    float *value[2] = { NULL, NULL };
    for (int c = 0; c < work->numbers->n_components; c++)
      if (work->passes.component[c].horizontal == horizontal)
        value[work->passes.component[c].lane] = work->passes.component[c].value;
    pp_sum_pairs (value[0], value[1], horizontal->vertical->sums,
        horizontal->offset, horizontal->pair_weight, work->columns);
    return;
  }
  if (!alone)
    pp_sum_lanes (work->lanes, horizontal->vertical->sums, horizontal->offset,
        horizontal->step, horizontal->weight, horizontal->n_taps,
        work->columns);
  for (int c = 0; c < work->numbers->n_components; c++) {
    const pp_resampled *component = &work->passes.component[c];
    if (component->horizontal != horizontal)
      continue;
    if (alone)
      pp_sum_columns (component->value, horizontal->vertical->sums,
          horizontal->offset, horizontal->step, horizontal->weight,
          horizontal->n_taps, work->columns);
    else
      pp_split_lane (
          component->value, work->lanes, component->lane, work->columns);
  }
}

/* Adds one horizontal tap of a sparse pass: computes the vertical sums under
 * the tap, then adds them, weighted. */
static void
add_sparse_tap (struct work *work, const pp_horizontal_pass *horizontal,
    int tap, int n_rows)
{
  const pp_vertical_pass *vertical = horizontal->vertical;
  const int moved = tap * horizontal->step;
  const int n_components = work->numbers->n_components;

  for (int j = 0; j < n_rows; j++) {
    pp_fetch_words (work->words, work->tap_rows[j] + moved, horizontal->offset,
        vertical->first_whole, vertical->end_whole, work->columns,
        vertical->reach - moved);
    for (int c = 0; c < n_components; c++) {
      const pp_resampled *component = &work->passes.component[c];
      if (component->horizontal == horizontal)
        pp_add_words (horizontal->unit ? component->value : component->column,
            work->words, work->tap_weights[j], j == 0, &component->code,
            work->columns);
    }
  }
  for (int c = 0; c < n_components && !horizontal->unit; c++) {
    const pp_resampled *component = &work->passes.component[c];
    if (component->horizontal == horizontal)
      pp_add_weighted (component->value, component->column,
          horizontal->weight + (size_t) tap * (size_t) work->columns, tap == 0,
          work->columns);
  }
}

/* Resamples all components for output row y. */
static void
resample_row (struct work *work, int y)
{
  for (int r = 0; r < work->passes.n_vertical; r++) {
    const pp_vertical_pass *vertical = &work->passes.vertical[r];
    prefetch_next (work, vertical, y);
    if (!vertical->sparse)
      sum_vertical (work, vertical, y);
  }
  for (int i = 0; i < work->passes.n_horizontal; i++) {
    const pp_horizontal_pass *horizontal = &work->passes.horizontal[i];
    if (!horizontal->vertical->sparse) {
      sum_horizontal (work, horizontal);
      continue;
    }
    const int n_rows = list_taps (work, horizontal->vertical, y);
    for (int tap = 0; tap < horizontal->n_taps; tap++)
      add_sparse_tap (work, horizontal, tap, n_rows);
  }
}

/* The resampled components -> work->colour. A factor of 0 is left out where two
 * of three are 0, as with RGB. */
static void
colour_row (struct work *work)
{
  const pp_numbers *numbers = work->numbers;
  const pp_resampled *a = work->passes.component;
  if (numbers->n_components == 1) {
    pp_mix_one (work->colour[0], a->value, numbers->matrix[0][0],
        numbers->matrix[0][3], work->columns);
    return;
  }
  for (int r = 0; r < 3; r++) {
    const float *m = numbers->matrix[r];
    const int others = (r + 1) % 3, last = (r + 2) % 3;
    if (m[others] == 0.f && m[last] == 0.f)
      pp_mix_one (work->colour[r], a[r].value, m[r], m[3], work->columns);
    else
      pp_mix (work->colour[r], a[0].value, a[1].value, a[2].value, m,
          work->columns);
  }
  if (numbers->to_gray)
    pp_mix_gray (work->colour[0], work->colour[1], work->colour[2],
        numbers->gray, work->columns);
}

/* The image of medians, and the scratch memory of pp_median_cpu. */
struct medians {
  pp_planes image;
  void *scratch;
};

static void
medians_init (struct medians *medians, const pp_plan *plan, pp_scratch *scratch)
{
  *medians = (struct medians){ 0 };
  if (plan->median.size == 0)
    return;
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect *extent = &plan->extent[p];
    const size_t stride = pp_scratch_round ((size_t) extent->width);

    medians->image.stride[p] = stride;
    medians->image.plane[p] =
        pp_scratch_take (scratch, stride * (size_t) extent->height);
  }
  medians->scratch = pp_scratch_take (scratch, pp_median_cpu_scratch (plan));
}

/* Makes the medians, if the plan has one. Returns what the taps read. */
static pp_view
make_medians (const struct medians *medians, const pp_plan *plan,
    const pp_view *source, int first_row, int last_row)
{
  pp_view view = *source;

  if (plan->median.size == 0)
    return view;
  pp_median_cpu (
      plan, source, &medians->image, first_row, last_row, medians->scratch);
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    view.plane[p] = medians->image.plane[p];
    view.stride[p] = medians->image.stride[p];
  }
  return view;
}

size_t
pp_apply_cpu_scratch (const pp_plan *plan)
{
  pp_scratch scratch = { NULL, 0 };
  struct medians medians;
  struct work work;

  medians_init (&medians, plan, &scratch);
  work_init (&work, plan, 0, plan->numbers.content_height, &scratch);
  return scratch.taken;
}

void
pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *memory)
{
  pp_scratch scratch = { memory, 0 };
  struct medians medians;
  struct work work;

  medians_init (&medians, plan, &scratch);
  work_init (&work, plan, first_row, last_row, &scratch);

  const pp_view view =
      make_medians (&medians, plan, source, first_row, last_row);

  pp_passes_prepare (&work.passes, &view);
  for (int i = 0; i < last_row - first_row; i++) {
    const int y = work.step > 0 ? first_row + i : last_row - 1 - i;
    resample_row (&work, y);
    colour_row (&work);
    pp_write_row (&work.writer, work.colour, tensor, y);
  }
}
