/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Groups components that share rows into vertical passes, and interleaved ones
 * into horizontal passes. pp_passes_init decides and takes the buffers,
 * pp_passes_prepare fills in addresses, offsets and weights.
 */
#include "passes_cpu.h"

#include "min_max_cpu.h"

/* Bytes of a row of the plane's extent, from first_byte on. */
static int
reach_from (const pp_passes *passes, int plane, int first_byte)
{
  return passes->plan->extent[plane].width - first_byte;
}

/* Sparse is faster where few of a row's samples are used. To fetch a word takes
 * as long as to convert six adjacent samples (measured on Zen 5, gcc 12). */
static bool
is_sparse (const pp_passes *passes, const pp_source *source)
{
  enum {
    WORD_COST = 6
  };
  const pp_axis *x = &passes->numbers->x[source->axes];
  const int samples = reach_from (passes, source->plane, source->first_byte) /
      passes->numbers->sample_bytes;
  return WORD_COST * (int64_t) x->n_taps * x->n_out <= samples;
}

/* Whether both axes read the same rows with the same weights. */
static bool
same_rows (const pp_passes *passes, const pp_axis *a, const pp_axis *b)
{
  const pp_plan *plan = passes->plan;
  if (a == b)
    return true;
  if (a->n_taps != b->n_taps)
    return false;
  for (int y = passes->first_row; y < passes->last_row; y++) {
    if (plan->index[a->first + y] != plan->index[b->first + y])
      return false;
    for (int j = 0; j < a->n_taps; j++)
      if (plan->weight[a->first_weight + (int64_t) j * a->n_out + y] !=
          plan->weight[b->first_weight + (int64_t) j * b->n_out + y])
        return false;
  }
  return true;
}

/* Bytes from first_byte to last_byte, once source's first sample is between
 * them, too. */
static int
span_with (const pp_source *source, int first_byte, int last_byte)
{
  return max_int (last_byte, source->first_byte) -
      min_int (first_byte, source->first_byte);
}

/* Whether the component can be read by the pass, with those it has. */
static bool
can_join (const pp_passes *passes, const pp_vertical_pass *vertical,
    const pp_source *source, bool sparse)
{
  const pp_numbers *numbers = passes->numbers;
  const pp_source *other = vertical->source;

  if (sparse != vertical->sparse || source->plane != other->plane ||
      source->first_row != other->first_row)
    return false;
  if (sparse)
    return source->axes == other->axes &&
        source->pixel_stride == other->pixel_stride &&
        span_with (source, vertical->first_byte, vertical->last_byte) +
            numbers->sample_bytes <=
        PP_WORD;
  return source->shift == other->shift && source->mask == other->mask &&
      same_rows (passes, &numbers->y[source->axes], &numbers->y[other->axes]);
}

static pp_vertical_pass *
find_vertical_pass (pp_passes *passes, const pp_source *source)
{
  const bool sparse = is_sparse (passes, source);
  for (int r = 0; r < passes->n_vertical; r++) {
    pp_vertical_pass *vertical = &passes->vertical[r];
    if (can_join (passes, vertical, source, sparse)) {
      vertical->first_byte = min_int (vertical->first_byte, source->first_byte);
      vertical->last_byte = max_int (vertical->last_byte, source->first_byte);
      return vertical;
    }
  }
  pp_vertical_pass *vertical = &passes->vertical[passes->n_vertical++];
  *vertical = (pp_vertical_pass){
    .sparse = sparse,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
  };
  return vertical;
}

/* The horizontal pass that the component can join, or a new one. */
static pp_horizontal_pass *
find_horizontal_pass (pp_passes *passes, const pp_source *source)
{
  pp_vertical_pass *vertical = find_vertical_pass (passes, source);
  const int max_distance = (PP_LANES - 1) * passes->numbers->sample_bytes;
  for (int i = 0; i < passes->n_horizontal; i++) {
    pp_horizontal_pass *horizontal = &passes->horizontal[i];
    if (horizontal->vertical == vertical &&
        horizontal->source->axes == source->axes &&
        horizontal->source->pixel_stride == source->pixel_stride &&
        span_with (source, horizontal->first_byte, horizontal->last_byte) <=
            max_distance) {
      horizontal->first_byte =
          min_int (horizontal->first_byte, source->first_byte);
      horizontal->last_byte =
          max_int (horizontal->last_byte, source->first_byte);
      horizontal->n_components++;
      return horizontal;
    }
  }
  pp_horizontal_pass *horizontal = &passes->horizontal[passes->n_horizontal++];
  *horizontal = (pp_horizontal_pass){
    .vertical = vertical,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
    .n_components = 1,
  };
  return horizontal;
}

/* Whether pp_sum_pairs can be used: pixels are two samples, one of each
 * component, and there are two taps. So it is with NV12's chroma and bilinear.
 */
static bool
is_pair (const pp_passes *passes, const pp_horizontal_pass *horizontal)
{
  const int sample = passes->numbers->sample_bytes;

  return !horizontal->vertical->sparse && horizontal->n_components == 2 &&
      horizontal->last_byte - horizontal->first_byte == sample &&
      horizontal->source->pixel_stride == 2 * sample &&
      passes->numbers->x[horizontal->source->axes].n_taps == 2;
}

void
pp_passes_init (pp_passes *passes, const pp_plan *plan, int first_row,
    int last_row, pp_scratch *scratch)
{
  const pp_numbers *numbers = &plan->numbers;
  const size_t columns = (size_t) numbers->content_width;

  *passes = (pp_passes){
    .plan = plan,
    .numbers = numbers,
    .first_row = first_row,
    .last_row = last_row,
    .columns = numbers->content_width,
  };
  for (int c = 0; c < numbers->n_components; c++) {
    pp_resampled *component = &passes->component[c];
    component->horizontal = find_horizontal_pass (passes, &numbers->source[c]);
    component->column = pp_scratch_take (scratch, columns * sizeof (float));
    component->value = pp_scratch_take (scratch, columns * sizeof (float));
  }
  for (int r = 0; r < passes->n_vertical; r++) {
    pp_vertical_pass *vertical = &passes->vertical[r];
    vertical->reach =
        reach_from (passes, vertical->source->plane, vertical->first_byte);
    if (!vertical->sparse)
      vertical->sums = pp_scratch_take (
          scratch, ((size_t) vertical->reach + PP_LANES - 1) * sizeof (float));
  }
  for (int i = 0; i < passes->n_horizontal; i++) {
    pp_horizontal_pass *horizontal = &passes->horizontal[i];
    horizontal->offset = pp_scratch_take (scratch, columns * sizeof (int32_t));
    if (is_pair (passes, horizontal))
      horizontal->pair_weight =
          pp_scratch_take (scratch, 4 * columns * sizeof (float));
  }
}

static pp_sample_code
sample_code (const pp_passes *passes, const pp_source *source)
{
  const pp_numbers *numbers = passes->numbers;
  if (numbers->sample_bytes == 1)
    return (pp_sample_code){ 1, false, 0, 0xff };
  return (pp_sample_code){ 2, numbers->big_endian != 0, source->shift,
    (uint32_t) source->mask };
}

static void
prepare_vertical_pass (
    const pp_passes *passes, pp_vertical_pass *vertical, const pp_view *view)
{
  const pp_source *source = vertical->source;
  const bool machine_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  const int n_sums = vertical->reach / passes->numbers->sample_bytes;

  vertical->stride = view->stride[source->plane];
  vertical->base = view->plane[source->plane] + vertical->first_byte +
      (size_t) source->first_row * vertical->stride;
  if (vertical->sparse)
    return;
  vertical->code = sample_code (passes, source);
  vertical->code.swap = passes->numbers->sample_bytes == 2 &&
      (passes->numbers->big_endian != 0) != machine_is_big;
  /* The last column's vector reads beyond the sums, in lanes that no component
   * uses. */
  for (int i = 0; i < PP_LANES - 1; i++)
    vertical->sums[n_sums + i] = 0.f;
}

static bool
all_one (const float *weight, int n)
{
  for (int i = 0; i < n; i++)
    if (weight[i] != 1.f)
      return false;
  return true;
}

/* Words that end beyond reach are in the last columns, or, where the frame is
 * mirrored, in the first ones. */
static void
find_whole_words (pp_vertical_pass *vertical,
    const pp_horizontal_pass *horizontal, const pp_axis *x)
{
  const int last = (x->n_taps - 1) * horizontal->step + PP_WORD;
  const int32_t *offset = horizontal->offset;
  int first = 0, end;

  while (first < x->n_out && offset[first] + last > vertical->reach)
    first++;
  for (end = first; end < x->n_out && offset[end] + last <= vertical->reach;)
    end++;
  vertical->first_whole = first;
  vertical->end_whole = end;
}

static void
prepare_horizontal_pass (
    const pp_passes *passes, pp_horizontal_pass *horizontal)
{
  const pp_source *source = horizontal->source;
  const pp_axis *x = &passes->numbers->x[source->axes];
  const int32_t *index = passes->plan->index + x->first;
  pp_vertical_pass *vertical = horizontal->vertical;
  const int unit = vertical->sparse ? 1 : passes->numbers->sample_bytes;
  const int start = (horizontal->first_byte - vertical->first_byte) / unit;

  horizontal->n_taps = x->n_taps;
  horizontal->weight = passes->plan->weight + x->first_weight;
  horizontal->unit = x->n_taps == 1 && all_one (horizontal->weight, x->n_out);
  horizontal->step = source->pixel_stride / unit;
  for (int i = 0; i < x->n_out; i++)
    horizontal->offset[i] = start + index[i] * horizontal->step;
  for (int i = 0; i < x->n_out && horizontal->pair_weight != NULL; i++)
    for (int k = 0; k < 4; k++)
      horizontal->pair_weight[4 * i + k] =
          horizontal->weight[k / 2 * x->n_out + i];
  if (!vertical->sparse)
    return;
  find_whole_words (vertical, horizontal, x);
}

static void
prepare_component (const pp_passes *passes, pp_resampled *component, int c)
{
  const pp_source *source = &passes->numbers->source[c];
  const int moved = source->first_byte - component->horizontal->first_byte;

  component->lane = moved / passes->numbers->sample_bytes;
  component->code = sample_code (passes, source);
  component->code.shift +=
      8 * moved; /* the first byte of a word is its lowest */
}

void
pp_passes_prepare (pp_passes *passes, const pp_view *view)
{
  for (int r = 0; r < passes->n_vertical; r++)
    prepare_vertical_pass (passes, &passes->vertical[r], view);
  for (int i = 0; i < passes->n_horizontal; i++)
    prepare_horizontal_pass (passes, &passes->horizontal[i]);
  for (int c = 0; c < passes->numbers->n_components; c++)
    prepare_component (passes, &passes->component[c], c);
}
