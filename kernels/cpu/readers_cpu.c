/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who reads what.
 */
#include "readers_cpu.h"

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

/* Bytes of the plane's rectangle from a byte of its rows on. */
static int
reach_from (const pp_readers *readers, int plane, int first_byte)
{
  return readers->plan->extent[plane].width - first_byte;
}

/* Sparse pays where few samples are wanted: a word takes as long as six samples
 * that are converted in a row (measured on Zen 5, gcc 12). */
static bool
is_sparse (const pp_readers *readers, const pp_source *source)
{
  enum {
    WORD_COST = 6
  };
  const pp_axis *x = &readers->numbers->x[source->axes];
  const int samples = reach_from (readers, source->plane, source->first_byte) /
      readers->numbers->sample_bytes;
  return WORD_COST * (int64_t) x->n_taps * x->n_out <= samples;
}

/* Whether both axes read the same rows with the same weights. */
static bool
same_rows (const pp_readers *readers, const pp_axis *a, const pp_axis *b)
{
  const pp_plan *plan = readers->plan;
  if (a == b)
    return true;
  if (a->n_taps != b->n_taps)
    return false;
  for (int y = readers->first_row; y < readers->last_row; y++) {
    if (plan->index[a->first + y] != plan->index[b->first + y])
      return false;
    for (int j = 0; j < a->n_taps; j++)
      if (plan->weight[a->first_weight + (int64_t) j * a->n_out + y] !=
          plan->weight[b->first_weight + (int64_t) j * b->n_out + y])
        return false;
  }
  return true;
}

/* Bytes from the first to the last of first samples, source's included. */
static int
span_with (const pp_source *source, int first_byte, int last_byte)
{
  return max_int (last_byte, source->first_byte) -
      min_int (first_byte, source->first_byte);
}

/* Whether the component can be read together with those of the reader. */
static bool
can_join (const pp_readers *readers, const pp_reader *reader,
    const pp_source *source, bool sparse)
{
  const pp_numbers *numbers = readers->numbers;
  const pp_source *other = reader->source;

  if (sparse != reader->sparse || source->plane != other->plane ||
      source->first_row != other->first_row)
    return false;
  if (sparse)
    return source->axes == other->axes &&
        source->pixel_stride == other->pixel_stride &&
        span_with (source, reader->first_byte, reader->last_byte) +
            numbers->sample_bytes <=
        PP_WORD;
  return source->shift == other->shift && source->mask == other->mask &&
      same_rows (readers, &numbers->y[source->axes], &numbers->y[other->axes]);
}

static pp_reader *
find_reader (pp_readers *readers, const pp_source *source)
{
  const bool sparse = is_sparse (readers, source);
  for (int r = 0; r < readers->n_readers; r++) {
    pp_reader *reader = &readers->reader[r];
    if (can_join (readers, reader, source, sparse)) {
      reader->first_byte = min_int (reader->first_byte, source->first_byte);
      reader->last_byte = max_int (reader->last_byte, source->first_byte);
      return reader;
    }
  }
  pp_reader *reader = &readers->reader[readers->n_readers++];
  *reader = (pp_reader){
    .sparse = sparse,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
  };
  return reader;
}

/* Those of a sparse reader are pixels already. */
static pp_pixels *
find_pixels (pp_readers *readers, const pp_source *source)
{
  pp_reader *reader = find_reader (readers, source);
  const int most = (PP_LANES - 1) * readers->numbers->sample_bytes;
  for (int i = 0; i < readers->n_pixels; i++) {
    pp_pixels *pixels = &readers->pixels[i];
    if (pixels->reader == reader && pixels->source->axes == source->axes &&
        pixels->source->pixel_stride == source->pixel_stride &&
        span_with (source, pixels->first_byte, pixels->last_byte) <= most) {
      pixels->first_byte = min_int (pixels->first_byte, source->first_byte);
      pixels->last_byte = max_int (pixels->last_byte, source->first_byte);
      pixels->n_components++;
      return pixels;
    }
  }
  pp_pixels *pixels = &readers->pixels[readers->n_pixels++];
  *pixels = (pp_pixels){
    .reader = reader,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
    .n_components = 1,
  };
  return pixels;
}

/* As the chroma of NV12 where nothing is antialiased: pixels of two samples, one
 * of each component. */
static bool
is_pair (const pp_readers *readers, const pp_pixels *pixels)
{
  const int sample = readers->numbers->sample_bytes;

  return !pixels->reader->sparse && pixels->n_components == 2 &&
      pixels->last_byte - pixels->first_byte == sample &&
      pixels->source->pixel_stride == 2 * sample &&
      readers->numbers->x[pixels->source->axes].n_taps == 2;
}

void
pp_readers_init (pp_readers *readers, const pp_plan *plan, int first_row,
    int last_row, pp_scratch *scratch)
{
  const pp_numbers *numbers = &plan->numbers;
  const size_t columns = (size_t) numbers->content_width;

  *readers = (pp_readers){
    .plan = plan,
    .numbers = numbers,
    .first_row = first_row,
    .last_row = last_row,
    .columns = numbers->content_width,
  };
  for (int c = 0; c < numbers->n_components; c++) {
    pp_resampled *component = &readers->component[c];
    component->pixels = find_pixels (readers, &numbers->source[c]);
    component->column = pp_scratch_take (scratch, columns * sizeof (float));
    component->value = pp_scratch_take (scratch, columns * sizeof (float));
  }
  for (int r = 0; r < readers->n_readers; r++) {
    pp_reader *reader = &readers->reader[r];
    reader->reach =
        reach_from (readers, reader->source->plane, reader->first_byte);
    if (!reader->sparse)
      reader->sums = pp_scratch_take (
          scratch, ((size_t) reader->reach + PP_LANES - 1) * sizeof (float));
  }
  for (int i = 0; i < readers->n_pixels; i++) {
    pp_pixels *pixels = &readers->pixels[i];
    pixels->offset = pp_scratch_take (scratch, columns * sizeof (int32_t));
    if (is_pair (readers, pixels))
      pixels->pair_weight =
          pp_scratch_take (scratch, 4 * columns * sizeof (float));
  }
}

static pp_sample_code
sample_code (const pp_readers *readers, const pp_source *source)
{
  const pp_numbers *numbers = readers->numbers;
  if (numbers->sample_bytes == 1)
    return (pp_sample_code){ 1, false, 0, 0xff };
  return (pp_sample_code){ 2, numbers->big_endian != 0, source->shift,
    (uint32_t) source->mask };
}

static void
prepare_reader (
    const pp_readers *readers, pp_reader *reader, const pp_view *view)
{
  const pp_source *source = reader->source;
  const bool machine_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  const int n_sums = reader->reach / readers->numbers->sample_bytes;

  reader->stride = view->stride[source->plane];
  reader->base = view->plane[source->plane] + reader->first_byte +
      (size_t) source->first_row * reader->stride;
  if (reader->sparse)
    return;
  reader->code = sample_code (readers, source);
  reader->code.swap = readers->numbers->sample_bytes == 2 &&
      (readers->numbers->big_endian != 0) != machine_is_big;
  /* Lanes that no component looks at, but arithmetic does. */
  for (int i = 0; i < PP_LANES - 1; i++)
    reader->sums[n_sums + i] = 0.f;
}

static bool
all_one (const float *weight, int n)
{
  for (int i = 0; i < n; i++)
    if (weight[i] != 1.f)
      return false;
  return true;
}

static void
prepare_pixels (const pp_readers *readers, pp_pixels *pixels)
{
  const pp_source *source = pixels->source;
  const pp_axis *x = &readers->numbers->x[source->axes];
  const int32_t *index = readers->plan->index + x->first;
  pp_reader *reader = pixels->reader;
  const int unit = reader->sparse ? 1 : readers->numbers->sample_bytes;
  const int start = (pixels->first_byte - reader->first_byte) / unit;

  pixels->n_taps = x->n_taps;
  pixels->weight = readers->plan->weight + x->first_weight;
  pixels->unit = x->n_taps == 1 && all_one (pixels->weight, x->n_out);
  pixels->step = source->pixel_stride / unit;
  for (int i = 0; i < x->n_out; i++)
    pixels->offset[i] = start + index[i] * pixels->step;
  for (int i = 0; i < x->n_out && pixels->pair_weight != NULL; i++)
    for (int k = 0; k < 4; k++)
      pixels->pair_weight[4 * i + k] = pixels->weight[k / 2 * x->n_out + i];
  if (!reader->sparse)
    return;
  const int last = (x->n_taps - 1) * pixels->step;
  while (reader->n_whole < x->n_out &&
      pixels->offset[reader->n_whole] + last + PP_WORD <= reader->reach)
    reader->n_whole++;
}

static void
prepare_component (const pp_readers *readers, pp_resampled *component, int c)
{
  const pp_source *source = &readers->numbers->source[c];
  const int moved = source->first_byte - component->pixels->first_byte;

  component->lane = moved / readers->numbers->sample_bytes;
  component->code = sample_code (readers, source);
  component->code.shift += 8 * moved; /* words have the first byte lowest */
}

void
pp_readers_prepare (pp_readers *readers, const pp_view *view)
{
  for (int r = 0; r < readers->n_readers; r++)
    prepare_reader (readers, &readers->reader[r], view);
  for (int i = 0; i < readers->n_pixels; i++)
    prepare_pixels (readers, &readers->pixels[i]);
  for (int c = 0; c < readers->numbers->n_components; c++)
    prepare_component (readers, &readers->component[c], c);
}
