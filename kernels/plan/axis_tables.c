/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "axis_tables.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/clones_cpu.h"
#include "parts.h"

/* Tables at once, and the lists that find them; powers of two. */
#define MAX_ENTRIES 4096
#define BUCKETS 8192
/* The arrays have room for the tables of so many whole frames, and for at least
 * so many numbers. */
#define FRAMES 128
#define MIN_NUMBERS ((size_t) 512 << 10)
/* Bytes, or less than those of a page. */
#define PAGE 4096

/* A ring: what is in use is from the oldest entry on to the newest one. */
struct ring {
  size_t size, next;
};

struct pp_axis_tables {
  int32_t references; /* atomic: the owner's and the plans' */
  pp_spec spec;
  bool linear; /* bilinear, and nothing else */
  /* Plans; next is where the search for a free one begins. */
  pp_plan *plan;
  int n_plans, next_plan;
  /* Entries from oldest on, in a circle. */
  pp_axis_entry *entry;
  int oldest, n_entries;
  int32_t bucket[BUCKETS];
  /* index: first taps, then the list of rows. device_index: first taps for the
   * listed rows, at the same places. */
  int32_t *index, *device_index;
  float *weight;
  struct ring indexes, weights;
  /* scratch memory */
  double *samples;
  size_t n_samples;
  bool *touched;
  int *above;
};

/* ---- what a table's taps read --------------------------------------------- */

/* What a median of each sample of span reads: more on both sides, but nothing
 * outside of the source rectangle. */
static pp_span
span_of_medians (
    const pp_spec *spec, const pp_axis_geometry *geometry, const pp_span span)
{
  const int radius = pp_denoise_median_size (spec) / 2;
  const int start = geometry->start >> geometry->sub;
  const int end = start + pp_axis_samples (geometry);
  const int first = span.first - radius;
  const int behind = span.first + span.count + radius;
  const int first_inside = first > start ? first : start;

  return (
      pp_span){ first_inside, (behind < end ? behind : end) - first_inside };
}

pp_span
pp_span_of_taps (
    const pp_taps *taps, const pp_spec *spec, const pp_axis_geometry *geometry)
{
  int first = taps->first[0], last = first;

  for (int i = 1; i < taps->n_out; i++) {
    first = taps->first[i] < first ? taps->first[i] : first;
    last = taps->first[i] > last ? taps->first[i] : last;
  }

  const pp_span span = { (geometry->start >> geometry->sub) + first,
    last - first + taps->n_taps };

  return span_of_medians (spec, geometry, span);
}

int32_t
pp_widest_span (const int32_t *first, int n_out, int n_taps, int columns)
{
  int32_t widest = 0;

  for (int start = 0; start < n_out; start += columns) {
    int32_t low = first[start], high = low;

    for (int x = start + 1; x < start + columns && x < n_out; x++) {
      low = first[x] < low ? first[x] : low;
      high = first[x] > high ? first[x] : high;
    }
    widest = high - low > widest ? high - low : widest;
  }
  return widest + n_taps;
}

/* The same where no first tap is before that of the output before. */
static int32_t
widest_ascending (const int32_t *first, int n_out, int n_taps, int columns)
{
  int32_t widest = 0;

  for (int start = 0; start < n_out; start += columns) {
    const int last = (start + columns < n_out ? start + columns : n_out) - 1;
    const int32_t span = first[last] - first[start];

    widest = span > widest ? span : widest;
  }
  return widest + n_taps;
}

/* ---- the cache ------------------------------------------------------------ */

static size_t
at_least (size_t size, size_t least)
{
  return size > least ? size : least;
}

/* Zeros, in pages that are there: no frame pays for them. */
static void *
allocate (size_t n, size_t size)
{
  volatile uint8_t *memory = calloc (n, size);

  for (size_t at = 0; memory != NULL && at < n * size; at += PAGE)
    memory[at] = 0;
  return (void *) memory;
}

static void
destroy (pp_axis_tables *tables)
{
  free (tables->plan);
  free (tables->entry);
  free (tables->index);
  free (tables->device_index);
  free (tables->weight);
  free (tables->samples);
  free (tables->touched);
  free (tables->above);
  free (tables);
}

void
pp_axis_tables_unref (pp_axis_tables **address)
{
  pp_axis_tables *tables = *address;

  *address = NULL;
  if (tables != NULL &&
      __atomic_sub_fetch (&tables->references, 1, __ATOMIC_ACQ_REL) == 0)
    destroy (tables);
}

pp_axis_tables *
pp_axis_tables_new (
    const pp_plan *base, const pp_spec *spec, int side, int n_plans)
{
  const size_t samples = (size_t) side;
  pp_axis_tables *tables = calloc (1, sizeof *tables);

  if (tables == NULL)
    return NULL;
  tables->references = 1;
  tables->spec = *spec;
  tables->linear = spec->method == PP_METHOD_BILINEAR && !spec->antialias &&
      pp_denoise_kernel_size (spec) == 1;
  tables->n_plans = n_plans;
  tables->indexes.size = at_least (FRAMES * base->n_device_index, MIN_NUMBERS);
  tables->weights.size = at_least (FRAMES * base->n_weight, MIN_NUMBERS);
  tables->plan = allocate ((size_t) n_plans, sizeof *tables->plan);
  tables->entry = allocate (MAX_ENTRIES, sizeof *tables->entry);
  tables->index = allocate (tables->indexes.size, sizeof *tables->index);
  tables->device_index =
      allocate (tables->indexes.size, sizeof *tables->device_index);
  tables->weight = allocate (tables->weights.size, sizeof *tables->weight);
  tables->samples = allocate (2 * samples, sizeof *tables->samples);
  tables->touched = allocate (samples, sizeof *tables->touched);
  tables->above = allocate (samples + 1, sizeof *tables->above);
  if (tables->plan == NULL || tables->entry == NULL || tables->index == NULL ||
      tables->device_index == NULL || tables->weight == NULL ||
      tables->samples == NULL || tables->touched == NULL ||
      tables->above == NULL) {
    destroy (tables);
    return NULL;
  }
  memset (tables->bucket, 0xff, sizeof tables->bucket);
  for (int i = 0; i < n_plans; i++) {
    pp_plan *plan = &tables->plan[i];

    *plan = *base;
    plan->index = tables->index;
    plan->weight = tables->weight;
    plan->device_index = NULL;
    plan->cache = tables;
    plan->references = 0;
  }
  return tables;
}

/* ---- entries -------------------------------------------------------------- */

/* A field more, and same and hash need it, too. */
_Static_assert(
    offsetof (pp_axis_geometry, mirrored) == 6 * sizeof (int) + sizeof (bool) &&
        sizeof (pp_axis_geometry) == 7 * sizeof (int),
    "same, hash");

static bool
same (const pp_axis_entry *entry, const pp_axis_geometry *g, bool vertical)
{
  const pp_axis_geometry *key = &entry->key;

  return key->start == g->start && key->length == g->length &&
      key->resized == g->resized && key->first_out == g->first_out &&
      key->n_out == g->n_out && key->sub == g->sub &&
      key->cosited == g->cosited && key->mirrored == g->mirrored &&
      entry->vertical == vertical;
}

/* Each field is multiplied by an odd number, and the upper bits are used. */
static uint32_t
hash (const pp_axis_geometry *g, bool vertical)
{
  uint64_t h = (uint64_t) g->length * 0x9e3779b97f4a7c15;

  h = (h ^ (uint64_t) g->resized) * 0xbf58476d1ce4e5b9;
  h = (h ^ (uint64_t) (g->first_out + g->start)) * 0x94d049bb133111eb;
  h = (h ^
          (uint64_t) (g->n_out << 5 | g->sub << 3 | g->mirrored << 2 |
              g->cosited << 1 | vertical)) *
      0x2545f4914f6cdd1d;
  return (uint32_t) (h >> 32) % BUCKETS;
}

/* Where size numbers can be placed behind the newest entry. tail: where the
 * oldest begins. */
static bool
find_room (
    const struct ring *ring, bool empty, size_t tail, size_t size, size_t *at)
{
  *at = empty ? 0 : ring->next;
  if (empty)
    return size <= ring->size;
  if (ring->next < tail)
    return ring->next + size < tail;
  if (ring->next + size <= ring->size)
    return true;
  *at = 0;
  return size < tail;
}

static bool
drop_oldest (pp_axis_tables *tables)
{
  const int oldest = tables->oldest;
  pp_axis_entry *entry = &tables->entry[oldest];
  int32_t *link = &tables->bucket[hash (&entry->key, entry->vertical)];

  if (__atomic_load_n (&entry->references, __ATOMIC_ACQUIRE) > 0)
    return false;
  while (*link != oldest)
    link = &tables->entry[*link].next;
  *link = entry->next;
  tables->oldest = (oldest + 1) % MAX_ENTRIES;
  tables->n_entries--;
  return true;
}

/* Drops entries until there is room for one with so many numbers. */
static bool
make_room (pp_axis_tables *tables, size_t n_index, size_t n_weight,
    size_t *index_at, size_t *weight_at)
{
  for (;;) {
    const pp_axis_entry *oldest = &tables->entry[tables->oldest];
    const bool empty = tables->n_entries == 0;

    if (tables->n_entries < MAX_ENTRIES &&
        find_room (&tables->indexes, empty, (size_t) oldest->axis.first,
            n_index, index_at) &&
        find_room (&tables->weights, empty, (size_t) oldest->axis.first_weight,
            n_weight, weight_at))
      return true;
    if (empty || !drop_oldest (tables))
      return false;
  }
}

/* All rows, which are listed in place of most: see touched_rows.c. */
static void
list_all (pp_axis_tables *tables, pp_axis_entry *entry)
{
  const int height = entry->span.count;
  const size_t n_out = (size_t) entry->axis.n_out;
  int32_t *index = tables->device_index + entry->axis.first;
  int32_t *list = index + n_out;

  memcpy (index, tables->index + entry->axis.first, n_out * sizeof *index);
  for (int row = 0; row < height; row++)
    list[row] = row;
  entry->rows = (pp_plane_rows){ .count = height,
    .n_groups = 1,
    .group = { { .rows = height, .groups = 1, .to_step = height } } };
  entry->n_index = n_out + (size_t) height;
}

/* Twice the row behind the last one that an output touches, plus 1 if it does
 * not touch its first. */
PP_CLONES static void
find_ends (int32_t *restrict ends, const int32_t *restrict first,
    const float *restrict weight_0, const float *restrict weight_1, int n)
{
  for (int i = 0; i < n; i++)
    ends[i] = 2 * (first[i] + 1 + (weight_1[i] != 0)) + (weight_0[i] == 0);
}

/* The rows that taps_linear.c's table touches, and the index for these, as
 * touched_rows.c finds them for any table; without branches, which would be
 * mispredicted. False where touched_rows.c has to do it. */
static bool
list_linear (pp_axis_tables *tables, pp_axis_entry *entry)
{
  const int n_out = entry->axis.n_out, n_taps = entry->axis.n_taps;
  const int32_t *first = tables->index + entry->axis.first;
  const float *weight = tables->weight + entry->axis.first_weight;
  int32_t *index = tables->device_index + entry->axis.first;
  int32_t *list = index + n_out;
  int count = 0, end = 0; /* of the list, of the rows in it */

  if (n_taps < 2)
    return false;
  find_ends (index, first, weight, weight + n_out, n_out);
  for (int i = 0; i < n_out; i++) {
    const int skipped = index[i] & 1, to = index[i] >> 1;
    const int from = first[i] + skipped;
    const int start = from > end ? from : end; /* of at most two new rows */

    /* Rows from the first of an output to the end are all in the list. */
    index[i] = count - (start - from) - skipped;
    list[count] = start;
    list[count + 1] = start + 1;
    count += to > start ? to - start : 0;
    end = to > end ? to : end;
  }
  if (10 * count > PP_MAX_LISTED_TENTHS * entry->span.count) {
    list_all (tables, entry);
    return true;
  }
  for (int i = 0; i < n_out; i++)
    if (index[i] < 0 || index[i] + n_taps > count)
      return false;
  entry->rows = (pp_plane_rows){ .count = count };
  pp_rows_group (list, &entry->rows);
  entry->rows.first = n_out;
  entry->n_index = (size_t) (n_out + count);
  return true;
}

/* The rows of a plane that is read with this table. */
static void
list_rows (pp_axis_tables *tables, pp_axis_entry *entry)
{
  const pp_axis axis = { .n_out = entry->axis.n_out,
    .n_taps = entry->axis.n_taps };
  pp_plan plane = { .numbers = { .n_components = 1, .y = { axis, axis } },
    .index = tables->index + entry->axis.first,
    .weight = tables->weight + entry->axis.first_weight,
    .device_index = tables->device_index + entry->axis.first,
    .n_index = (size_t) axis.n_out,
    .extent = { { .width = 1, .height = entry->span.count } } };

  pp_rows_fill (&plane, tables->touched, tables->above);
  entry->rows = plane.rows[0];
  entry->n_index = plane.n_device_index;
}

/* key: with a start less than a chroma sample. */
static pp_axis_entry *
add_entry (pp_axis_tables *tables, const pp_axis_geometry *key, bool vertical)
{
  const size_t n_out = (size_t) key->n_out;
  const bool linear = tables->linear && pp_taps_are_linear (key);
  const int taps_bound = linear ? 2 : pp_taps_bound (&tables->spec, key);
  /* list_linear writes up to two rows too many. */
  const size_t rows = vertical ? (size_t) pp_axis_samples (key) + 2 : 0;
  size_t index_at, weight_at;

  if (!make_room (tables, n_out + rows, n_out * (size_t) taps_bound, &index_at,
          &weight_at))
    return NULL;

  const int newest = (tables->oldest + tables->n_entries) % MAX_ENTRIES;
  pp_axis_entry *entry = &tables->entry[newest];
  int32_t *first = tables->index + index_at;
  pp_taps taps = { .first = first, .weight = tables->weight + weight_at };

  const bool median = pp_denoise_median_size (&tables->spec) > 0;

  if (linear)
    pp_taps_fill_linear (&taps, key);
  else
    pp_taps_fill (&taps, &tables->spec, key, tables->samples);
  *entry = (pp_axis_entry){ .key = *key,
    .vertical = vertical,
    .axis = { taps.n_out, taps.n_taps, (int32_t) index_at,
        (int32_t) weight_at },
    .span = linear && !median
        ? (pp_span){ first[0], first[n_out - 1] - first[0] + taps.n_taps }
        : pp_span_of_taps (&taps, &tables->spec, key),
    .n_index = n_out,
    .n_weight = n_out * (size_t) taps.n_taps };
  for (size_t i = 0; i < n_out; i++)
    first[i] -= entry->span.first;
  if (vertical && median)
    list_all (tables, entry);
  else if (vertical && (!linear || !list_linear (tables, entry)))
    list_rows (tables, entry);
  for (int i = 0; i < PP_N_SPANS && !vertical; i++) {
    const int columns = 1 << (PP_LOG2_MIN_SPAN + i);

    entry->widest[i] = linear
        ? widest_ascending (first, taps.n_out, taps.n_taps, columns)
        : pp_widest_span (first, taps.n_out, taps.n_taps, columns);
  }
  tables->indexes.next = index_at + entry->n_index;
  tables->weights.next = weight_at + entry->n_weight;
  tables->n_entries++;

  int32_t *bucket = &tables->bucket[hash (key, vertical)];

  entry->next = *bucket;
  *bucket = newest;
  return entry;
}

const pp_axis_entry *
pp_axis_tables_get (
    pp_plan *plan, const pp_axis_geometry *geometry, bool vertical)
{
  pp_axis_tables *tables = plan->cache;
  pp_axis_geometry key = *geometry;

  key.start &= (1 << key.sub) - 1;

  int32_t i = tables->bucket[hash (&key, vertical)];

  while (i >= 0 && !same (&tables->entry[i], &key, vertical))
    i = tables->entry[i].next;

  pp_axis_entry *entry =
      i >= 0 ? &tables->entry[i] : add_entry (tables, &key, vertical);

  if (entry == NULL)
    return NULL;
  __atomic_fetch_add (&entry->references, 1, __ATOMIC_RELAXED);
  plan->entry[plan->n_entries++] = entry;
  return entry;
}

/* ---- plans ---------------------------------------------------------------- */

pp_plan *
pp_axis_tables_get_plan (pp_axis_tables *tables)
{
  for (int tries = 0; tries < tables->n_plans; tries++) {
    pp_plan *plan = &tables->plan[tables->next_plan];

    tables->next_plan = (tables->next_plan + 1) % tables->n_plans;
    if (__atomic_load_n (&plan->references, __ATOMIC_ACQUIRE) > 0)
      continue;
    __atomic_store_n (&plan->references, 2, __ATOMIC_RELAXED);
    __atomic_fetch_add (&tables->references, 1, __ATOMIC_RELAXED);
    plan->n_entries = 0;
    memset (plan->extent, 0, sizeof plan->extent);
    memset (plan->rows, 0, sizeof plan->rows);
    return plan;
  }
  return NULL;
}

/* A plan in use has one reference more than there are holders; without
 * references it is free. */
void
pp_axis_tables_unref_plan (pp_plan *plan)
{
  pp_axis_tables *tables = plan->cache;

  if (__atomic_sub_fetch (&plan->references, 1, __ATOMIC_ACQ_REL) > 1)
    return;
  for (int i = 0; i < plan->n_entries; i++)
    __atomic_fetch_sub (&plan->entry[i]->references, 1, __ATOMIC_RELEASE);
  __atomic_store_n (&plan->references, 0, __ATOMIC_RELEASE);
  pp_axis_tables_unref (&tables);
}

/* Where each entry's numbers are in a block. The lists of rows are behind all
 * first taps. */
static void
place_entries (
    pp_plan *plan, int32_t first[4], int32_t weight[4], int32_t listed[4])
{
  size_t n_index = 0, n_weight = 0;

  for (int i = 0; i < plan->n_entries; i++) {
    first[i] = (int32_t) n_index;
    weight[i] = (int32_t) n_weight;
    n_index += (size_t) plan->entry[i]->axis.n_out;
    n_weight += plan->entry[i]->n_weight;
  }
  plan->n_index = n_index;
  plan->n_weight = n_weight;
  for (int i = 0; i < plan->n_entries; i++) {
    listed[i] = (int32_t) n_index;
    n_index += (size_t) plan->entry[i]->rows.count;
  }
  plan->n_device_index = n_index;
}

/* The entry of an axis. */
static int
entry_of (const pp_plan *plan, const pp_axis *axis)
{
  int i = 0;

  while (plan->entry[i]->axis.first != axis->first)
    i++;
  return i;
}

void
pp_axis_tables_finish (pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;
  int32_t first[4], weight[4], listed[4];

  place_entries (plan, first, weight, listed);
  for (int a = 0; a < 2; a++) {
    const int x = entry_of (plan, &n->x[a]), y = entry_of (plan, &n->y[a]);

    plan->block_x[a] =
        (pp_axis){ n->x[a].n_out, n->x[a].n_taps, first[x], weight[x] };
    plan->block_y[a] =
        (pp_axis){ n->y[a].n_out, n->y[a].n_taps, first[y], weight[y] };
    memcpy (plan->span[a], plan->entry[x]->widest, sizeof plan->span[a]);
  }
  for (int c = 0; c < n->n_components; c++) {
    const pp_source *source = &n->source[c];
    const int y = entry_of (plan, &n->y[source->axes]);
    const pp_axis_entry *entry = plan->entry[y];

    plan->rows[source->plane] = entry->rows;
    plan->rows[source->plane].first = listed[y];
    plan->listed[source->plane] =
        plan->cache->device_index + entry->axis.first + entry->axis.n_out;
  }
}

void
pp_axis_tables_write (
    const pp_plan *plan, bool all_rows, int32_t *index, float *weight)
{
  const pp_axis_tables *tables = plan->cache;
  const int32_t *from = all_rows ? tables->index : tables->device_index;

  for (int i = 0; i < plan->n_entries; i++) {
    const pp_axis_entry *e = plan->entry[i];
    const size_t n_out = (size_t) e->axis.n_out;

    /* Horizontal tables are the same for both. */
    memcpy (index, (e->vertical ? from : tables->index) + e->axis.first,
        n_out * sizeof *index);
    index += n_out;
    memcpy (weight, tables->weight + e->axis.first_weight,
        e->n_weight * sizeof *weight);
    weight += e->n_weight;
  }
  for (int i = 0; i < plan->n_entries; i++) {
    const pp_axis_entry *e = plan->entry[i];
    const size_t rows = (size_t) e->rows.count;

    memcpy (index, tables->device_index + e->axis.first + e->axis.n_out,
        rows * sizeof *index);
    index += rows;
  }
}
