/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes the tensor. Where its axes are not swapped, a row is written as it comes.
 * Else keep_row collects some rows of elements, which write_columns writes as
 * columns.
 */
#include "writer_cpu.h"

#include "elements_cpu.h"
#include "kernels/preproc.h"
#include "min_max_cpu.h"
#include "rows_cpu.h"
#include "transpose_cpu.h"

/* Cache lines of a column that kept rows fill. One is 10 % slower: processors fetch
 * lines in pairs. */
#define KEPT_LINES 2
#define KEPT_BYTES (KEPT_LINES * PP_SCRATCH_ALIGNMENT)
/* Columns whose channels are interleaved at a time: few enough for their elements,
 * and the tensor's memory that is prefetched for the next ones, to stay in the
 * first-level cache. */
#define PACKED_COLUMNS 16

/* Takes the buffers of keep_row and write_columns. As many rows are kept as fill
 * KEPT_LINES with elements of one column. Their pitch is an odd number of cache
 * lines: with a power of two, they would all compete for the same lines. */
static void
take_kept_rows (pp_writer *writer, pp_scratch *scratch)
{
  const size_t size = pp_type_size ((pp_type) writer->numbers->type);
  const size_t columns = (size_t) writer->columns;

  writer->vector = pp_transpose_vector ();
  writer->max_kept = KEPT_BYTES / (int) size;
  writer->pitch = pp_scratch_round (columns * size);
  if (writer->pitch / PP_SCRATCH_ALIGNMENT % 2 == 0)
    writer->pitch += PP_SCRATCH_ALIGNMENT;
  for (int c = 0; c < writer->numbers->n_channels; c++)
    writer->elements[c] =
        pp_scratch_take (scratch, writer->pitch * (size_t) writer->max_kept);
  for (int c = 0; c < writer->numbers->n_channels; c++)
    if (writer->numbers->row_stride != 1)
      writer->transposed[c] =
          pp_scratch_take (scratch, PACKED_COLUMNS * KEPT_BYTES);
}

/* colour -> elements of channel c. */
static void
make_elements (
    const pp_writer *writer, float *const *colour, uint8_t *elements, int c)
{
  const pp_numbers *numbers = writer->numbers;
  const pp_store_cpu store = pp_find_store_cpu ((pp_type) numbers->type);
  const pp_scaling scaling = { numbers->mul[c], numbers->add[c], numbers->lo,
    numbers->hi, numbers->zero_point };

  store (elements, colour[numbers->n_components == 1 ? 0 : c], &scaling,
      writer->columns);
}

/* colour -> row y of the content in the tensor. */
static void
write_row (const pp_writer *writer, float *const *colour, void *tensor, int y)
{
  const pp_numbers *numbers = writer->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  const int64_t start =
      (numbers->content_y + (int64_t) y) * numbers->row_stride +
      numbers->content_x * numbers->pixel_stride;
  uint8_t *to[PP_MAX_CHANNELS];
  uint8_t *packed[PP_MAX_CHANNELS] = { NULL }; /* by place in the pixel */

  for (int c = 0; c < numbers->n_channels; c++) {
    const int64_t place = numbers->channel[c];
    to[c] = (uint8_t *) tensor + (start + place) * (int64_t) size;
    uint8_t *elements =
        numbers->pixel_stride == 1 ? to[c] : writer->elements[c];
    make_elements (writer, colour, elements, c);
    if (place < PP_MAX_CHANNELS)
      packed[place] = elements;
  }
  if (numbers->pixel_stride == 1)
    return;
  if (numbers->fourth) {
    pp_interleave_four ((uint8_t *) tensor + start, 0, packed[0], packed[1],
        packed[2], 0, PP_GAP_BYTE, writer->columns, 1);
    return;
  }
  if (numbers->pixel_stride == 3 && packed[0] && packed[1] && packed[2]) {
    pp_interleave ((uint8_t *) tensor + start * (int64_t) size, 0, packed[0],
        packed[1], packed[2], 0, size, writer->columns, 1);
    return;
  }
  for (int c = 0; c < numbers->n_channels; c++)
    pp_scatter (to[c], writer->elements[c], size,
        (size_t) numbers->pixel_stride, writer->columns);
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
write_packed (const pp_writer *writer, uint8_t *to, ptrdiff_t stride, int first,
    int n, int n_rows)
{
  const pp_numbers *numbers = writer->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  uint8_t *const *from = writer->transposed;

  for (int c = 0; c < numbers->n_channels; c++)
    pp_transpose (writer->vector, writer->transposed[numbers->channel[c]],
        writer->max_kept, writer->elements[c] + (size_t) first * size,
        writer->pitch, size, n, n_rows);
  if (numbers->fourth)
    pp_interleave_four (to, stride, from[0], from[1], from[2], writer->max_kept,
        PP_GAP_BYTE, n_rows, n);
  else
    pp_interleave (to, stride, from[0], from[1], from[2], writer->max_kept,
        size, n_rows, n);
}

/* The kept rows, which are n_rows of the content from row first on -> columns of
 * the tensor. The last packed columns overlap those before them. */
static void
write_columns (const pp_writer *writer, void *tensor, int first, int n_rows)
{
  const pp_numbers *numbers = writer->numbers;
  const size_t size = pp_type_size ((pp_type) numbers->type);
  const int64_t start =
      (numbers->content_y + (int64_t) first) * numbers->row_stride +
      numbers->content_x * numbers->pixel_stride;
  const ptrdiff_t stride = (ptrdiff_t) numbers->pixel_stride;
  const ptrdiff_t pitch = stride * (ptrdiff_t) size;
  const int n = min_int (PACKED_COLUMNS, writer->columns);
  uint8_t *to = (uint8_t *) tensor + start * (int64_t) size;

  if (numbers->row_stride == 1) {
    for (int c = 0; c < numbers->n_channels; c++)
      pp_transpose (writer->vector,
          to + (int64_t) numbers->channel[c] * (int64_t) size, stride,
          writer->elements[c], writer->pitch, size, writer->columns, n_rows);
    return;
  }
  for (int i = 0; i < writer->columns; i += n) {
    const int x = min_int (i, writer->columns - n);

    prefetch_columns (to + (x + n) * pitch, pitch,
        min_int (n, writer->columns - x - n),
        (size_t) (n_rows * numbers->row_stride) * size);
    write_packed (writer, to + x * pitch, stride, x, n, n_rows);
  }
}

/* colour -> one more row of elements, row y of the content. The last one of those
 * that share KEPT_LINES of the tensor writes them all. */
static void
keep_row (const pp_writer *writer, float *const *colour, void *tensor, int y)
{
  const int start = y - (writer->numbers->content_y + y) % writer->max_kept;
  const int first = max_int (start, writer->first_row);
  const int last = min_int (start + writer->max_kept, writer->last_row) - 1;

  for (int c = 0; c < writer->numbers->n_channels; c++)
    make_elements (writer, colour,
        writer->elements[c] + (size_t) (y - first) * writer->pitch, c);
  if (y == (writer->step > 0 ? last : first))
    write_columns (writer, tensor, first, last - first + 1);
}

void
pp_writer_init (pp_writer *writer, const pp_numbers *numbers, int first_row,
    int last_row, int step, pp_scratch *scratch)
{
  *writer = (pp_writer){
    .numbers = numbers,
    .first_row = first_row,
    .last_row = last_row,
    .step = step,
    .columns = numbers->content_width,
  };
  if (numbers->swapped) {
    take_kept_rows (writer, scratch);
    return;
  }
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    writer->elements[c] =
        pp_scratch_take (scratch, (size_t) writer->columns * sizeof (float));
}

void
pp_write_row (
    const pp_writer *writer, float *const *colour, void *tensor, int y)
{
  if (writer->numbers->swapped)
    keep_row (writer, colour, tensor, y);
  else
    write_row (writer, colour, tensor, y);
}
