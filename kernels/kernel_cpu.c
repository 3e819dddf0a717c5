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
typedef struct reader {
  bool sparse;
  const pp_source *source;   /* of its first component */
  int first_byte, last_byte; /* of its components' first samples */
  const uint8_t *base;       /* first_byte of row 0 */
  size_t stride;
  int reach;   /* bytes a row, from base on, that may be read */
  int n_whole; /* sparse: words before this one are inside reach */
  float *sums; /* dense: the vertical sums of reach bytes */
} reader;

typedef struct component {
  reader *reader;
  pp_sample_code code;
  int n_taps;          /* horizontal */
  const float *weight; /* tap j of column x: [j * columns + x] */
  bool unit;           /* there is one tap and it weighs 1 everywhere */
  int32_t *offset;     /* first tap of each column; dense: in samples from sums,
                        * sparse: in bytes from base */
  int step;            /* from one tap to the next, in the same unit */
  float *column;       /* sparse: the vertical sums of one horizontal tap */
  float *value;        /* the resampled row */
} component;

/* One call of pp_apply_cpu. */
typedef struct work {
  const pp_plan *plan;
  const pp_numbers *numbers;
  int first_row, last_row, columns;
  int n_readers;
  reader readers[PP_MAX_COMPONENTS];
  component components[PP_MAX_COMPONENTS];
  /* the vertical taps of one output row that weigh something */
  const uint8_t **tap_rows;
  float *tap_weights;
  uint32_t *words;               /* sparse: of one row */
  float *shade[PP_MAX_CHANNELS]; /* R, G, B or gray in 0...255 */
  uint8_t *elements[PP_MAX_CHANNELS];
  /* scratch memory: where it starts, or NULL to count, and what is taken */
  uint8_t *scratch;
  size_t taken;
} work;

typedef struct element_type {
  size_t size;
  void (*store) (void *, const float *, const pp_scaling *, int);
} element_type;

static const element_type element_types[] = {
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

/* who reads what */

/* Bytes of the plane's rectangle from a byte of its rows on. */
static int
reach_from (const work *work, int plane, int first_byte)
{
  return work->plan->extent[plane].width - first_byte;
}

/* Finding a sample costs about as much as converting two that are adjacent. */
static bool
is_sparse (const work *work, const pp_source *source)
{
  const pp_axis *x = &work->numbers->x[source->axes];
  const int samples = reach_from (work, source->plane, source->first_byte) /
      work->numbers->sample_bytes;
  return 2 * (int64_t) x->n_taps * x->n_out <= samples;
}

/* Whether both axes read the same rows with the same weights. */
static bool
same_rows (const work *work, const pp_axis *a, const pp_axis *b)
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

/* Whether the component can be read together with those of the reader. */
static bool
can_join (const work *work, const reader *reader, const pp_source *source,
    bool sparse)
{
  const pp_numbers *numbers = work->numbers;
  const pp_source *other = reader->source;
  const int bytes = numbers->sample_bytes;
  const int first = min_int (reader->first_byte, source->first_byte);
  const int last = max_int (reader->last_byte, source->first_byte);

  if (sparse != reader->sparse || source->plane != other->plane ||
      source->first_row != other->first_row)
    return false;
  if (sparse)
    return source->axes == other->axes &&
        source->pixel_stride == other->pixel_stride &&
        last - first + bytes <= PP_WORD;
  return source->shift == other->shift && source->mask == other->mask &&
      same_rows (work, &numbers->y[source->axes], &numbers->y[other->axes]);
}

static reader *
find_reader (work *work, const pp_source *source)
{
  const bool sparse = is_sparse (work, source);
  for (int r = 0; r < work->n_readers; r++) {
    reader *reader = &work->readers[r];
    if (can_join (work, reader, source, sparse)) {
      reader->first_byte = min_int (reader->first_byte, source->first_byte);
      reader->last_byte = max_int (reader->last_byte, source->first_byte);
      return reader;
    }
  }
  reader *reader = &work->readers[work->n_readers++];
  *reader = (struct reader){
    .sparse = sparse,
    .source = source,
    .first_byte = source->first_byte,
    .last_byte = source->first_byte,
  };
  return reader;
}

/* scratch memory */

/* The next size bytes; NULL while they are only counted. */
static void *
take (work *work, size_t size)
{
  void *block = work->scratch ? work->scratch + work->taken : NULL;
  work->taken += (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
  return block;
}

/* Decides who reads what and takes the buffers. scratch NULL: counts them; rows
 * then are all, which needs the most: fewer rows only join more readers. */
static void
work_init (work *work, const pp_plan *plan, int first_row, int last_row,
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
    component *component = &work->components[c];
    component->reader = find_reader (work, &numbers->source[c]);
    component->offset = take (work, columns * sizeof (int32_t));
    component->column = take (work, columns * sizeof (float));
    component->value = take (work, columns * sizeof (float));
  }
  for (int r = 0; r < work->n_readers; r++) {
    reader *reader = &work->readers[r];
    reader->reach =
        reach_from (work, reader->source->plane, reader->first_byte);
    if (!reader->sparse)
      reader->sums = take (work, (size_t) reader->reach * sizeof (float));
  }
  const size_t taps =
      (size_t) max_int (numbers->y[0].n_taps, numbers->y[1].n_taps);
  work->tap_rows = take (work, taps * sizeof (uint8_t *));
  work->tap_weights = take (work, taps * sizeof (float));
  work->words = take (work, columns * sizeof (uint32_t));
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    work->shade[c] = take (work, columns * sizeof (float));
    work->elements[c] = take (work, columns * sizeof (float));
  }
}

/* what a call needs to know */

static void
reader_prepare (reader *reader, const pp_view *view)
{
  const int plane = reader->source->plane;
  reader->stride = view->stride[plane];
  reader->base = view->plane[plane] + reader->first_byte +
      (size_t) reader->source->first_row * reader->stride;
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
component_prepare (const work *work, component *component, int c)
{
  const pp_numbers *numbers = work->numbers;
  const pp_source *source = &numbers->source[c];
  const pp_axis *x = &numbers->x[source->axes];
  const int32_t *index = work->plan->index + x->first;
  reader *reader = component->reader;
  const int bytes = numbers->sample_bytes;
  const int from_base = source->first_byte - reader->first_byte;
  const int machine_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

  component->n_taps = x->n_taps;
  component->weight = work->plan->weight + x->first_weight;
  component->unit = x->n_taps == 1 && all_one (component->weight, x->n_out);
  component->code = (pp_sample_code){ bytes, false, 0, 0xff };
  if (bytes == 2) {
    component->code.swap =
        (numbers->big_endian != 0) != (!reader->sparse && machine_is_big);
    component->code.shift = source->shift;
    component->code.mask = (uint32_t) source->mask;
  }
  const int unit = reader->sparse ? 1 : bytes;
  const int start = reader->sparse ? 0 : from_base / bytes;
  component->step = source->pixel_stride / unit;
  for (int i = 0; i < x->n_out; i++)
    component->offset[i] = start + index[i] * component->step;
  if (!reader->sparse)
    return;
  component->code.shift += 8 * from_base; /* words have the first byte lowest */
  const int last_tap = (x->n_taps - 1) * component->step;
  reader->n_whole = 0;
  while (reader->n_whole < x->n_out &&
      component->offset[reader->n_whole] + last_tap + PP_WORD <= reader->reach)
    reader->n_whole++;
}

/* one output row */

/* Lists the reader's rows for output row y. A tap of weight 0 is no tap. */
static int
list_taps (work *work, const reader *reader, int y)
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
prefetch_next (const work *work, const reader *reader, int y)
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
read_dense (work *work, reader *reader, int y)
{
  const int n_taps = list_taps (work, reader, y);
  const component *any = NULL;
  for (int c = 0; c < work->numbers->n_components; c++)
    if (work->components[c].reader == reader)
      any = &work->components[c];
  pp_sum_rows (reader->sums, work->tap_rows, work->tap_weights, n_taps,
      reader->reach / any->code.bytes, &any->code);
  for (int c = 0; c < work->numbers->n_components; c++) {
    const component *component = &work->components[c];
    if (component->reader == reader)
      pp_sum_columns (component->value, reader->sums, component->offset,
          component->step, component->weight, component->n_taps, work->columns);
  }
}

static void
read_sparse (work *work, reader *reader, int y)
{
  const int n_taps = list_taps (work, reader, y);
  const pp_source *source = reader->source;
  const component *first = &work->components[source - work->numbers->source];
  for (int i = 0; i < first->n_taps; i++) {
    const int moved = i * first->step;
    for (int j = 0; j < n_taps; j++) {
      pp_fetch_words (work->words, work->tap_rows[j] + moved, first->offset,
          reader->n_whole, work->columns, reader->reach - moved);
      for (int c = 0; c < work->numbers->n_components; c++) {
        const component *component = &work->components[c];
        if (component->reader == reader)
          pp_add_words (component->unit ? component->value : component->column,
              work->words, work->tap_weights[j], j == 0, &component->code,
              work->columns);
      }
    }
    for (int c = 0; c < work->numbers->n_components; c++) {
      const component *component = &work->components[c];
      if (component->reader == reader && !component->unit)
        pp_add_weighted (component->value, component->column,
            component->weight + (size_t) i * work->columns, i == 0,
            work->columns);
    }
  }
}

/* The resampled components' colour, in work->shade. */
static void
colour_row (work *work)
{
  const pp_numbers *numbers = work->numbers;
  const component *a = work->components;
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
store_row (work *work, void *tensor, int y)
{
  const pp_numbers *numbers = work->numbers;
  const element_type *type = &element_types[numbers->type];
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

/* the door */

size_t
pp_apply_cpu_scratch (const pp_plan *plan)
{
  work work;
  work_init (&work, plan, 0, plan->numbers.content_height, NULL);
  return work.taken;
}

void
pp_apply_cpu (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, void *scratch)
{
  work work;
  work_init (&work, plan, first_row, last_row, scratch);
  for (int r = 0; r < work.n_readers; r++)
    reader_prepare (&work.readers[r], source);
  for (int c = 0; c < plan->numbers.n_components; c++)
    component_prepare (&work, &work.components[c], c);

  for (int y = first_row; y < last_row; y++) {
    for (int r = 0; r < work.n_readers; r++) {
      reader *reader = &work.readers[r];
      prefetch_next (&work, reader, y);
      if (reader->sparse)
        read_sparse (&work, reader, y);
      else
        read_dense (&work, reader, y);
    }
    colour_row (&work);
    store_row (&work, tensor, y);
  }
}
