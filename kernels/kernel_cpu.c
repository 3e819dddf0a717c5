/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The CPU backend's kernel: the bits of pp_apply_c, several times as fast.
 *
 * Every output row is made on its own, without state from the one before:
 *
 *   rows of samples -> vertical sums -> horizontal sums -> colour -> elements
 *
 * Each value goes through the reference's float operations in the reference's
 * order; the loops are in rows_cpu.c. Taps that weigh nothing are left out:
 * that can only change the sign of a zero, which the clamp removes.
 */
#include "kernels.h"
#include "rows_cpu.h"

#define CACHE_LINE 64

/* A part of a plane that is read at once, for one component or several.
 *
 * Dense: the vertical sums of all samples in the row, whether a component uses
 * them or not; no sample has to be found before it is converted.
 * Sparse: only the words that the horizontal taps point to. */
struct reader {
  bool sparse;
  const pp_source *source;   /* of its first component */
  int first_byte, last_byte; /* of its components' first samples */
  const uint8_t *base;       /* first_byte of row 0 */
  size_t stride;
  int reach;           /* bytes a row, from base on, that may be read */
  int n_whole;         /* sparse: words before this one are inside reach */
  pp_sample_code code; /* dense */
  float *sums;         /* dense: the vertical sums of reach bytes */
};

/* Components whose samples of one pixel lie within one word, or within
 * PP_LANES vertical sums: they take their horizontal taps together. */
struct pixels {
  struct reader *reader;
  const pp_source *source;   /* of its first component */
  int first_byte, last_byte; /* of its components' first samples */
  int n_components;
  int n_taps;
  const float *weight; /* tap j of column x: [j * columns + x] */
  bool unit;           /* there is one tap and it weighs 1 everywhere */
  int32_t *offset;     /* first tap of each column; dense: in samples from sums,
                        * sparse: in bytes from base */
  int step;            /* from one tap to the next, in the same unit */
};

struct component {
  struct pixels *pixels;
  pp_sample_code code; /* sparse: in the word */
  int lane;            /* dense: in the vertical sums */
  float *column;       /* sparse: the vertical sums of one horizontal tap */
  float *value;        /* the resampled row */
};

/* One call of pp_apply_cpu. */
struct work {
  const pp_plan *plan;
  const pp_numbers *numbers;
  int first_row, last_row, columns;
  int n_readers, n_pixels;
  struct reader readers[PP_MAX_COMPONENTS];
  struct pixels pixels[PP_MAX_COMPONENTS];
  struct component components[PP_MAX_COMPONENTS];
  /* the vertical taps of one output row that weigh something */
  const uint8_t **tap_rows;
  float *tap_weights;
  uint32_t *words;               /* sparse: of one row */
  float *lanes;                  /* dense: PP_LANES sums a column */
  float *shade[PP_MAX_CHANNELS]; /* R, G, B or gray in 0...255 */
  uint8_t *elements[PP_MAX_CHANNELS];
  /* scratch memory: where it starts, or NULL to count, and what is taken */
  uint8_t *scratch;
  size_t taken;
};

struct element_type {
  size_t size;
  void (*store) (void *, const float *, const pp_scaling *, int);
};

static const struct element_type element_types[] = {
  [PP_TYPE_FLOAT32] = { 4, pp_store_float32 },
  [PP_TYPE_FLOAT16] = { 2, pp_store_float16 },
  [PP_TYPE_UINT8] = { 1, pp_store_integer },
  [PP_TYPE_INT8] = { 1, pp_store_integer },
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

/* Bytes of the plane's rectangle from a byte of its rows on. */
static int
reach_from (const struct work *work, int plane, int first_byte)
{
  return work->plan->extent[plane].width - first_byte;
}

/* Sparse pays where few samples are wanted: a word takes as long as six samples
 * that are converted in a row (measured on Zen 5, gcc 12). */
static bool
is_sparse (const struct work *work, const pp_source *source)
{
  enum {
    WORD_COST = 6
  };
  const pp_axis *x = &work->numbers->x[source->axes];
  const int samples = reach_from (work, source->plane, source->first_byte) /
      work->numbers->sample_bytes;
  return WORD_COST * (int64_t) x->n_taps * x->n_out <= samples;
}

/* Whether both axes read the same rows with the same weights. */
static bool
same_rows (const struct work *work, const pp_axis *a, const pp_axis *b)
{
  const pp_plan *plan = work->plan;
  if (a == b)
    return true;
  if (a->n_taps != b->n_taps)
    return false;
  for (int y = work->first_row; y < work->last_row; y++) {
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
can_join (const struct work *work, const struct reader *reader,
    const pp_source *source, bool sparse)
{
  const pp_numbers *numbers = work->numbers;
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
      same_rows (work, &numbers->y[source->axes], &numbers->y[other->axes]);
}

static struct reader *
find_reader (struct work *work, const pp_source *source)
{
  const bool sparse = is_sparse (work, source);
  for (int r = 0; r < work->n_readers; r++) {
    struct reader *reader = &work->readers[r];
    if (can_join (work, reader, source, sparse)) {
      reader->first_byte = min_int (reader->first_byte, source->first_byte);
      reader->last_byte = max_int (reader->last_byte, source->first_byte);
      return reader;
    }
  }
  struct reader *reader = &work->readers[work->n_readers++];
  *reader = (struct reader){
    .sparse = sparse,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
  };
  return reader;
}

/* Those of a sparse reader are pixels already. */
static struct pixels *
find_pixels (struct work *work, const pp_source *source)
{
  struct reader *reader = find_reader (work, source);
  const int most = (PP_LANES - 1) * work->numbers->sample_bytes;
  for (int i = 0; i < work->n_pixels; i++) {
    struct pixels *pixels = &work->pixels[i];
    if (pixels->reader == reader && pixels->source->axes == source->axes &&
        pixels->source->pixel_stride == source->pixel_stride &&
        span_with (source, pixels->first_byte, pixels->last_byte) <= most) {
      pixels->first_byte = min_int (pixels->first_byte, source->first_byte);
      pixels->last_byte = max_int (pixels->last_byte, source->first_byte);
      pixels->n_components++;
      return pixels;
    }
  }
  struct pixels *pixels = &work->pixels[work->n_pixels++];
  *pixels = (struct pixels){
    .reader = reader,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
    .n_components = 1,
  };
  return pixels;
}

/* The next size bytes; NULL while they are only counted. */
static void *
take (struct work *work, size_t size)
{
  void *block = work->scratch ? work->scratch + work->taken : NULL;
  work->taken += (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  return block;
}

/* Decides who reads what and takes the buffers. scratch NULL: counts them; rows
 * then are all, which needs the most: fewer rows only join more readers. */
static void
work_init (struct work *work, const pp_plan *plan, int first_row, int last_row,
    uint8_t *scratch)
{
  const pp_numbers *numbers = &plan->numbers;
  const size_t columns = (size_t) numbers->content_width;

  *work = (struct work){
    .plan = plan,
    .numbers = numbers,
    .first_row = first_row,
    .last_row = last_row,
    .columns = numbers->content_width,
    .scratch = scratch,
  };
  for (int c = 0; c < numbers->n_components; c++) {
    struct component *component = &work->components[c];
    component->pixels = find_pixels (work, &numbers->source[c]);
    component->column = take (work, columns * sizeof (float));
    component->value = take (work, columns * sizeof (float));
  }
  for (int r = 0; r < work->n_readers; r++) {
    struct reader *reader = &work->readers[r];
    reader->reach =
        reach_from (work, reader->source->plane, reader->first_byte);
    if (!reader->sparse)
      reader->sums =
          take (work, ((size_t) reader->reach + PP_LANES - 1) * sizeof (float));
  }
  for (int i = 0; i < work->n_pixels; i++)
    work->pixels[i].offset = take (work, columns * sizeof (int32_t));
  const size_t taps =
      (size_t) max_int (numbers->y[0].n_taps, numbers->y[1].n_taps);
  work->tap_rows = take (work, taps * sizeof (uint8_t *));
  work->tap_weights = take (work, taps * sizeof (float));
  work->words = take (work, columns * sizeof (uint32_t));
  work->lanes = take (work, columns * PP_LANES * sizeof (float));
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    work->shade[c] = take (work, columns * sizeof (float));
    work->elements[c] = take (work, columns * sizeof (float));
  }
}

static pp_sample_code
sample_code (const struct work *work, const pp_source *source)
{
  const pp_numbers *numbers = work->numbers;
  if (numbers->sample_bytes == 1)
    return (pp_sample_code){ 1, false, 0, 0xff };
  return (pp_sample_code){ 2, numbers->big_endian != 0, source->shift,
    (uint32_t) source->mask };
}

static void
reader_prepare (
    const struct work *work, struct reader *reader, const pp_view *view)
{
  const pp_source *source = reader->source;
  const bool machine_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  const int n_sums = reader->reach / work->numbers->sample_bytes;

  reader->stride = view->stride[source->plane];
  reader->base = view->plane[source->plane] + reader->first_byte +
      (size_t) source->first_row * reader->stride;
  if (reader->sparse)
    return;
  reader->code = sample_code (work, source);
  reader->code.swap = work->numbers->sample_bytes == 2 &&
      (work->numbers->big_endian != 0) != machine_is_big;
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
pixels_prepare (const struct work *work, struct pixels *pixels)
{
  const pp_source *source = pixels->source;
  const pp_axis *x = &work->numbers->x[source->axes];
  const int32_t *index = work->plan->index + x->first;
  struct reader *reader = pixels->reader;
  const int unit = reader->sparse ? 1 : work->numbers->sample_bytes;
  const int start = (pixels->first_byte - reader->first_byte) / unit;

  pixels->n_taps = x->n_taps;
  pixels->weight = work->plan->weight + x->first_weight;
  pixels->unit = x->n_taps == 1 && all_one (pixels->weight, x->n_out);
  pixels->step = source->pixel_stride / unit;
  for (int i = 0; i < x->n_out; i++)
    pixels->offset[i] = start + index[i] * pixels->step;
  if (!reader->sparse)
    return;
  const int last = (x->n_taps - 1) * pixels->step;
  while (reader->n_whole < x->n_out &&
      pixels->offset[reader->n_whole] + last + PP_WORD <= reader->reach)
    reader->n_whole++;
}

static void
component_prepare (const struct work *work, struct component *component, int c)
{
  const pp_source *source = &work->numbers->source[c];
  const int moved = source->first_byte - component->pixels->first_byte;

  component->lane = moved / work->numbers->sample_bytes;
  component->code = sample_code (work, source);
  component->code.shift += 8 * moved; /* words have the first byte lowest */
}

/* Lists the reader's rows for output row y. A tap of weight 0 is no tap. */
static int
list_taps (struct work *work, const struct reader *reader, int y)
{
  const pp_axis *axis = &work->numbers->y[reader->source->axes];
  const float *weight = work->plan->weight + axis->first_weight + y;
  const uint8_t *row = reader->base +
      (size_t) work->plan->index[axis->first + y] * reader->stride;
  int n = 0;
  for (int j = 0; j < axis->n_taps; j++) {
    work->tap_rows[n] = row + (size_t) j * reader->stride;
    work->tap_weights[n] = weight[(int64_t) j * axis->n_out];
    n += work->tap_weights[n] != 0.f;
  }
  return max_int (n, 1);
}

/* Asks for the rows that y + 1 needs and y did not. The processor follows long
 * runs of adjacent rows by itself, and many rows would only displace others. */
static void
prefetch_next (const struct work *work, const struct reader *reader, int y)
{
  enum {
    MOST_TAPS = 4
  };
  const pp_axis *axis = &work->numbers->y[reader->source->axes];
  if (y + 1 >= work->last_row || axis->n_taps > MOST_TAPS)
    return;
  const int32_t *index = work->plan->index + axis->first + y;
  const int end = index[1] + axis->n_taps;
  for (int row = max_int (index[1], index[0] + axis->n_taps); row < end; row++)
    for (int byte = 0; byte < reader->reach; byte += CACHE_LINE)
      __builtin_prefetch (reader->base + (size_t) row * reader->stride + byte);
}

static void
read_dense (struct work *work, const struct reader *reader, int y)
{
  const int n_taps = list_taps (work, reader, y);
  pp_sum_rows (reader->sums, work->tap_rows, work->tap_weights, n_taps,
      reader->reach / reader->code.bytes, &reader->code);
}

/* The horizontal taps over what read_dense made. */
static void
sum_dense (struct work *work, const struct pixels *pixels)
{
  const bool alone = pixels->n_components == 1;
  if (!alone)
    pp_sum_lanes (work->lanes, pixels->reader->sums, pixels->offset,
        pixels->step, pixels->weight, pixels->n_taps, work->columns);
  for (int c = 0; c < work->numbers->n_components; c++) {
    const struct component *component = &work->components[c];
    if (component->pixels != pixels)
      continue;
    if (alone)
      pp_sum_columns (component->value, pixels->reader->sums, pixels->offset,
          pixels->step, pixels->weight, pixels->n_taps, work->columns);
    else
      pp_split_lane (
          component->value, work->lanes, component->lane, work->columns);
  }
}

/* Adds one horizontal tap of each component: its vertical sums, weighted. */
static void
add_sparse_tap (
    struct work *work, const struct pixels *pixels, int tap, int n_rows)
{
  const struct reader *reader = pixels->reader;
  const int moved = tap * pixels->step;
  const int n_components = work->numbers->n_components;

  for (int j = 0; j < n_rows; j++) {
    pp_fetch_words (work->words, work->tap_rows[j] + moved, pixels->offset,
        reader->n_whole, work->columns, reader->reach - moved);
    for (int c = 0; c < n_components; c++) {
      const struct component *component = &work->components[c];
      if (component->pixels == pixels)
        pp_add_words (pixels->unit ? component->value : component->column,
            work->words, work->tap_weights[j], j == 0, &component->code,
            work->columns);
    }
  }
  for (int c = 0; c < n_components && !pixels->unit; c++) {
    const struct component *component = &work->components[c];
    if (component->pixels == pixels)
      pp_add_weighted (component->value, component->column,
          pixels->weight + (size_t) tap * (size_t) work->columns, tap == 0,
          work->columns);
  }
}

/* Resamples all components. */
static void
read_row (struct work *work, int y)
{
  for (int r = 0; r < work->n_readers; r++) {
    const struct reader *reader = &work->readers[r];
    prefetch_next (work, reader, y);
    if (!reader->sparse)
      read_dense (work, reader, y);
  }
  for (int i = 0; i < work->n_pixels; i++) {
    const struct pixels *pixels = &work->pixels[i];
    if (!pixels->reader->sparse) {
      sum_dense (work, pixels);
      continue;
    }
    const int n_rows = list_taps (work, pixels->reader, y);
    for (int tap = 0; tap < pixels->n_taps; tap++)
      add_sparse_tap (work, pixels, tap, n_rows);
  }
}

/* The resampled components' colour, in work->shade. */
static void
colour_row (struct work *work)
{
  const pp_numbers *numbers = work->numbers;
  const struct component *a = work->components;
  if (numbers->n_components == 1) {
    pp_mix_one (work->shade[0], a->value, numbers->matrix[0][0],
        numbers->matrix[0][3], work->columns);
    return;
  }
  for (int r = 0; r < 3; r++) {
    const float *m = numbers->matrix[r];
    const int others = (r + 1) % 3, last = (r + 2) % 3;
    if (m[others] == 0.f && m[last] == 0.f)
      pp_mix_one (work->shade[r], a[r].value, m[r], m[3], work->columns);
    else
      pp_mix (
          work->shade[r], a[0].value, a[1].value, a[2].value, m, work->columns);
  }
  if (numbers->to_gray)
    pp_mix_gray (work->shade[0], work->shade[1], work->shade[2], numbers->gray,
        work->columns);
}

/* Row y of the content, from work->shade to the tensor. */
static void
store_row (struct work *work, void *tensor, int y)
{
  const pp_numbers *numbers = work->numbers;
  const struct element_type *type = &element_types[numbers->type];
  const int64_t start =
      (numbers->content_y + (int64_t) y) * numbers->row_stride +
      numbers->content_x * numbers->pixel_stride;
  uint8_t *to[PP_MAX_CHANNELS];
  uint8_t *packed[PP_MAX_CHANNELS] = { NULL }; /* by place in the pixel */

  for (int c = 0; c < numbers->n_channels; c++) {
    const pp_scaling scaling = { numbers->mul[c], numbers->add[c], numbers->lo,
      numbers->hi, numbers->zero_point };
    const int64_t place = numbers->channel[c];
    to[c] = (uint8_t *) tensor + (start + place) * (int64_t) type->size;
    uint8_t *elements = numbers->pixel_stride == 1 ? to[c] : work->elements[c];
    type->store (elements, work->shade[numbers->n_components == 1 ? 0 : c],
        &scaling, work->columns);
    if (place < PP_MAX_CHANNELS)
      packed[place] = elements;
  }
  if (numbers->pixel_stride == 1)
    return;
  if (numbers->pixel_stride == 3 && packed[0] && packed[1] && packed[2]) {
    pp_interleave ((uint8_t *) tensor + start * (int64_t) type->size, packed[0],
        packed[1], packed[2], type->size, work->columns);
    return;
  }
  for (int c = 0; c < numbers->n_channels; c++)
    pp_scatter (to[c], work->elements[c], type->size,
        (size_t) numbers->pixel_stride, work->columns);
}

size_t
pp_apply_cpu_scratch (const pp_plan *plan)
{
  struct work work;
  work_init (&work, plan, 0, plan->numbers.content_height, NULL);
  return work.taken;
}

void
pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch)
{
  struct work work;
  work_init (&work, plan, first_row, last_row, scratch);
  for (int r = 0; r < work.n_readers; r++)
    reader_prepare (&work, &work.readers[r], source);
  for (int i = 0; i < work.n_pixels; i++)
    pixels_prepare (&work, &work.pixels[i]);
  for (int c = 0; c < plan->numbers.n_components; c++)
    component_prepare (&work, &work.components[c], c);

  for (int y = first_row; y < last_row; y++) {
    read_row (&work, y);
    colour_row (&work);
    store_row (&work, tensor, y);
  }
}
