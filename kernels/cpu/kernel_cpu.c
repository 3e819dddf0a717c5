/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU's kernel. For each output row, one after the other:
 *
 *   resample_row   rows of samples -> resampled components, by vertical and
 *                  horizontal passes (passes_cpu.h)
 *   colour_row     components -> R, G, B or gray
 *   store_row      R, G, B or gray -> elements of the tensor
 *
 * Where the tensor's axes are swapped, keep_row takes the place of store_row. It
 * collects some rows of elements, which store_columns writes as columns.
 *
 * The loops over a row's samples and columns are in rows_cpu.c, elements_cpu.c
 * and transpose_cpu.c. Each value goes through the same float operations as in the
 * reference, in the same order. Only taps of weight 0 are left out: that may
 * change the sign of a zero, which the clamp removes.
 */
#include "kernel_cpu.h"
#include "elements_cpu.h"
#include "passes_cpu.h"
#include "rows_cpu.h"
#include "transpose_cpu.h"

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
  uint8_t *elements[PP_MAX_CHANNELS];
  /* Where the axes are swapped, elements has room for max_kept rows, pitch bytes
   * apart, that wait to be stored. transposed: PACKED_COLUMNS of them, max_kept
   * elements each, for each channel's place in the pixel. vector: of pp_transpose. */
  int max_kept, vector;
  size_t pitch;
  uint8_t *transposed[PP_MAX_CHANNELS];
};

static int
max_int (int a, int b)
{
  return a > b ? a : b;
}

static int
min_int (int a, int b)
{
  return a < b ? a : b;
}

/* Cache lines of a column that kept rows fill. One is 10 % slower: processors fetch
 * lines in pairs. */
#define KEPT_LINES 2
#define KEPT_BYTES (KEPT_LINES * PP_SCRATCH_ALIGNMENT)
/* Columns whose channels are interleaved at a time: few enough for their elements,
 * and the tensor's memory that is prefetched for the next ones, to stay in the
 * first-level cache. */
#define PACKED_COLUMNS 16

/* Takes the buffers of keep_row and store_columns. As many rows are kept as fill
 * KEPT_LINES with elements of one column. Their pitch is an odd number of cache
 * lines: with a power of two, they would all compete for the same lines. */
static void
take_kept_rows (struct work *work, pp_scratch *scratch)
{
  const size_t size = pp_type_size ((pp_type) work->numbers->type);
  const size_t columns = (size_t) work->columns;

  work->vector = pp_transpose_vector ();
  work->max_kept = KEPT_BYTES / (int) size;
  work->pitch = pp_scratch_round (columns * size);
  if (work->pitch / PP_SCRATCH_ALIGNMENT % 2 == 0)
    work->pitch += PP_SCRATCH_ALIGNMENT;
  for (int c = 0; c < work->numbers->n_channels; c++)
    work->elements[c] =
        pp_scratch_take (scratch, work->pitch * (size_t) work->max_kept);
  for (int c = 0; c < work->numbers->n_channels; c++)
    if (work->numbers->row_stride != 1)
      work->transposed[c] =
          pp_scratch_take (scratch, PACKED_COLUMNS * KEPT_BYTES);
}

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
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    work->colour[c] = pp_scratch_take (scratch, columns * sizeof (float));
    if (!numbers->swapped)
      work->elements[c] = pp_scratch_take (scratch, columns * sizeof (float));
  }
  if (numbers->swapped)
    take_kept_rows (work, scratch);
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

/* work->colour -> elements of channel c. */
static void
make_elements (const struct work *work, uint8_t *elements, int c)
{
  const pp_numbers *numbers = work->numbers;
  const pp_store_cpu store = pp_find_store_cpu ((pp_type) numbers->type);
  const pp_scaling scaling = { numbers->mul[c], numbers->add[c], numbers->lo,
    numbers->hi, numbers->zero_point };

  store (elements, work->colour[numbers->n_components == 1 ? 0 : c], &scaling,
      work->columns);
}

/* work->colour -> row y of the content in the tensor. */
static void
store_row (struct work *work, void *tensor, int y)
{
  const pp_numbers *numbers = work->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  const int64_t start =
      (numbers->content_y + (int64_t) y) * numbers->row_stride +
      numbers->content_x * numbers->pixel_stride;
  uint8_t *to[PP_MAX_CHANNELS];
  uint8_t *packed[PP_MAX_CHANNELS] = { NULL }; /* by place in the pixel */

  for (int c = 0; c < numbers->n_channels; c++) {
    const int64_t place = numbers->channel[c];
    to[c] = (uint8_t *) tensor + (start + place) * (int64_t) size;
    uint8_t *elements = numbers->pixel_stride == 1 ? to[c] : work->elements[c];
    make_elements (work, elements, c);
    if (place < PP_MAX_CHANNELS)
      packed[place] = elements;
  }
  if (numbers->pixel_stride == 1)
    return;
  if (numbers->fourth) {
    pp_interleave_four ((uint8_t *) tensor + start, 0, packed[0], packed[1],
        packed[2], 0, PP_GAP_BYTE, work->columns, 1);
    return;
  }
  if (numbers->pixel_stride == 3 && packed[0] && packed[1] && packed[2]) {
    pp_interleave ((uint8_t *) tensor + start * (int64_t) size, 0, packed[0],
        packed[1], packed[2], 0, size, work->columns, 1);
    return;
  }
  for (int c = 0; c < numbers->n_channels; c++)
    pp_scatter (to[c], work->elements[c], size, (size_t) numbers->pixel_stride,
        work->columns);
}

/* Bytes of each of n columns, pitch bytes apart. No processor prefetches the next
 * column by itself. */
static void
prefetch_columns (const uint8_t *to, ptrdiff_t pitch, int n, size_t bytes)
{
  for (int x = 0; x < n; x++)
    for (size_t byte = 0; byte < bytes; byte += PP_SCRATCH_ALIGNMENT)
      __builtin_prefetch (to + x * pitch + byte, 1);
}

/* n_rows kept rows of all channels, columns [first, first + n) -> n rows of pixels,
 * stride elements apart. */
static void
store_packed (const struct work *work, uint8_t *to, ptrdiff_t stride, int first,
    int n, int n_rows)
{
  const pp_numbers *numbers = work->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  uint8_t *const *from = work->transposed;

  for (int c = 0; c < numbers->n_channels; c++)
    pp_transpose (work->vector, work->transposed[numbers->channel[c]],
        work->max_kept, work->elements[c] + (size_t) first * size, work->pitch,
        size, n, n_rows);
  if (numbers->fourth)
    pp_interleave_four (to, stride, from[0], from[1], from[2], work->max_kept,
        PP_GAP_BYTE, n_rows, n);
  else
    pp_interleave (
        to, stride, from[0], from[1], from[2], work->max_kept, size, n_rows, n);
}

/* The kept rows, which are n_rows of the content from row first on -> columns of
 * the tensor. The last packed columns overlap those before them. */
static void
store_columns (const struct work *work, void *tensor, int first, int n_rows)
{
  const pp_numbers *numbers = work->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  const int64_t start =
      (numbers->content_y + (int64_t) first) * numbers->row_stride +
      numbers->content_x * numbers->pixel_stride;
  const ptrdiff_t stride = (ptrdiff_t) numbers->pixel_stride;
  const ptrdiff_t pitch = stride * (ptrdiff_t) size;
  const int n = min_int (PACKED_COLUMNS, work->columns);
  uint8_t *to = (uint8_t *) tensor + start * (int64_t) size;

  if (numbers->row_stride == 1) {
    for (int c = 0; c < numbers->n_channels; c++)
      pp_transpose (work->vector,
          to + (int64_t) numbers->channel[c] * (int64_t) size, stride,
          work->elements[c], work->pitch, size, work->columns, n_rows);
    return;
  }
  for (int i = 0; i < work->columns; i += n) {
    const int x = min_int (i, work->columns - n);

    prefetch_columns (to + (x + n) * pitch, pitch,
        min_int (n, work->columns - x - n),
        (size_t) (n_rows * numbers->row_stride) * size);
    store_packed (work, to + x * pitch, stride, x, n, n_rows);
  }
}

/* work->colour -> one more row of elements, row y of the content. Stores all rows
 * that share KEPT_LINES of the tensor with the last one of them. */
static void
keep_row (const struct work *work, void *tensor, int y)
{
  const int start = y - (work->numbers->content_y + y) % work->max_kept;
  const int first = max_int (start, work->first_row);
  const int last = min_int (start + work->max_kept, work->last_row) - 1;

  for (int c = 0; c < work->numbers->n_channels; c++)
    make_elements (
        work, work->elements[c] + (size_t) (y - first) * work->pitch, c);
  if (y == (work->step > 0 ? last : first))
    store_columns (work, tensor, first, last - first + 1);
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
    if (work.numbers->swapped)
      keep_row (&work, tensor, y);
    else
      store_row (&work, tensor, y);
  }
}
