/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows of R, G, B or gray -> rows or, where its axes are swapped, columns of the
 * tensor.
 */
#ifndef PP_WRITER_CPU_H
#define PP_WRITER_CPU_H

#include "kernels/plan/plan.h"
#include "scratch_cpu.h"

/* Writes rows [first_row, last_row) of the content, in the order of step: 1, or -1
 * from the last one up. One thread. */
typedef struct pp_writer {
  const pp_numbers *numbers;
  int first_row, last_row, step, columns;
  uint8_t *elements[PP_MAX_CHANNELS];
  /* Where the axes are swapped, elements has room for max_kept rows, pitch bytes
   * apart, that wait to be written. transposed: some of their columns, max_kept
   * elements each, for each channel's place in the pixel. vector: of
   * pp_transpose. */
  int max_kept, vector;
  size_t pitch;
  uint8_t *transposed[PP_MAX_CHANNELS];
} pp_writer;

/* Takes the buffers, whose size does not depend on the rows. */
void pp_writer_init (pp_writer *writer, const pp_numbers *numbers,
    int first_row, int last_row, int step, pp_scratch *scratch);
/* colour: of row y, R, G, B or gray in 0...255. Where the axes are swapped, the
 * tensor has a row's elements once all rows of its cache lines, or the last one,
 * were given. */
void pp_write_row (
    const pp_writer *writer, float *const *colour, void *tensor, int y);

#endif
