/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Entries are in a queue, the oldest first. Their numbers are in arrays, which are
 * used in a circle in the order of the queue. An oldest entry that is to stay
 * becomes the newest one where it is; what is free before it is used again when
 * the circle has come round.
 */
#include "axis_tables.h"

#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* Tables at once, and the lists that find them; powers of two. */
#define MAX_ENTRIES 4096
#define BUCKETS 8192
/* The arrays have room for the tables of so many whole frames, and for at least
 * so many numbers. */
#define FRAMES 128
#define MIN_NUMBERS ((size_t) 512 << 10)
/* So many entries that were used again stay, for each new one; more would be
 * waited for. */
#define MAX_SPARED 4
/* Bytes, or less than those of a page. */
#define PAGE 4096
#define NONE (-1)

/* What is in use is from the oldest entry on to next. */
struct ring {
  size_t size, next;
};

/* An entry's part of the lists, in an array of its own: a search reads no entry
 * but the one that it finds. */
struct link {
  uint32_t hash;
  int32_t next;  /* of the same bucket */
  int32_t newer; /* of the queue, or of those that are not in use */
};

struct pp_axis_tables {
  pp_axis_arrays arrays;
  struct ring indexes, weights;
  pp_spec spec;
  int32_t oldest, newest, unused;
  int n_entries;
  /* scratch memory */
  double *samples;
  bool *touched;
  int *above;
  int32_t bucket[BUCKETS];
  struct link link[MAX_ENTRIES];
  pp_axis_entry entry[MAX_ENTRIES];
};

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

void
pp_axis_tables_free (pp_axis_tables **address)
{
  pp_axis_tables *tables = *address;

  *address = NULL;
  if (tables == NULL)
    return;
  free (tables->arrays.index);
  free (tables->arrays.device_index);
  free (tables->arrays.weight);
  free (tables->samples);
  free (tables->touched);
  free (tables->above);
  free (tables);
}

pp_axis_tables *
pp_axis_tables_new (const pp_plan *base, const pp_spec *spec, int side)
{
  const size_t samples = (size_t) side;
  pp_axis_tables *tables = allocate (1, sizeof *tables);

  if (tables == NULL)
    return NULL;
  tables->spec = *spec;
  tables->indexes.size = at_least (FRAMES * base->n_device_index, MIN_NUMBERS);
  tables->weights.size = at_least (FRAMES * base->n_weight, MIN_NUMBERS);
  tables->arrays = (pp_axis_arrays){
    allocate (tables->indexes.size, sizeof (int32_t)),
    allocate (tables->indexes.size, sizeof (int32_t)),
    allocate (tables->weights.size, sizeof (float)),
  };
  tables->samples = allocate (2 * samples, sizeof *tables->samples);
  tables->touched = allocate (samples, sizeof *tables->touched);
  tables->above = allocate (samples + 1, sizeof *tables->above);
  if (tables->arrays.index == NULL || tables->arrays.device_index == NULL ||
      tables->arrays.weight == NULL || tables->samples == NULL ||
      tables->touched == NULL || tables->above == NULL) {
    pp_axis_tables_free (&tables);
    return NULL;
  }
  memset (tables->bucket, 0xff, sizeof tables->bucket);
  tables->oldest = tables->newest = NONE;
  for (int i = 0; i < MAX_ENTRIES; i++)
    tables->link[i].newer = i + 1 < MAX_ENTRIES ? i + 1 : NONE;
  return tables;
}

pp_axis_arrays
pp_axis_tables_arrays (const pp_axis_tables *tables)
{
  return tables->arrays;
}

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
  return (uint32_t) (h >> 32);
}

/* ---- the queue ------------------------------------------------------------ */

static void
take_oldest (pp_axis_tables *tables)
{
  const int32_t oldest = tables->link[tables->oldest].newer;

  tables->oldest = oldest;
  tables->n_entries--;
  /* The one behind it is looked at soon. */
  if (oldest != NONE && tables->link[oldest].newer != NONE)
    __builtin_prefetch (&tables->entry[tables->link[oldest].newer].references);
}

static void
add_newest (pp_axis_tables *tables, int32_t i)
{
  const pp_axis_entry *entry = &tables->entry[i];

  if (tables->n_entries++ == 0)
    tables->oldest = i;
  else
    tables->link[tables->newest].newer = i;
  tables->newest = i;
  tables->link[i].newer = NONE;
  tables->indexes.next = (size_t) entry->axis.first + entry->n_index;
  tables->weights.next = (size_t) entry->axis.first_weight + entry->n_weight;
}

static void
drop_oldest (pp_axis_tables *tables)
{
  const int32_t oldest = tables->oldest;
  int32_t *at = &tables->bucket[tables->link[oldest].hash % BUCKETS];

  take_oldest (tables);
  while (*at != oldest)
    at = &tables->link[*at].next;
  *at = tables->link[oldest].next;
  tables->link[oldest].newer = tables->unused;
  tables->unused = oldest;
}

/* Where size numbers can be placed behind the newest entry. tail: where the oldest
 * one's begin. */
static bool
find_room (
    const struct ring *ring, bool empty, size_t tail, size_t size, size_t *at)
{
  *at = empty ? 0 : ring->next;
  if (empty)
    return size <= ring->size;
  if (ring->next <= tail)
    return ring->next + size <= tail;
  if (ring->next + size <= ring->size)
    return true;
  *at = 0;
  return size <= tail;
}

static bool
has_room (const pp_axis_tables *tables, size_t n_index, size_t n_weight,
    size_t *index_at, size_t *weight_at)
{
  const bool empty = tables->n_entries == 0;
  const pp_axis axis =
      empty ? (pp_axis){ 0 } : tables->entry[tables->oldest].axis;

  return tables->unused != NONE &&
      find_room (
          &tables->indexes, empty, (size_t) axis.first, n_index, index_at) &&
      find_room (&tables->weights, empty, (size_t) axis.first_weight, n_weight,
          weight_at);
}

/* Drops entries until there is room for one with so many numbers. False where
 * those in use leave none. */
static bool
make_room (pp_axis_tables *tables, size_t n_index, size_t n_weight,
    size_t *index_at, size_t *weight_at)
{
  int in_use = 0, spared = 0;

  while (!has_room (tables, n_index, n_weight, index_at, weight_at)) {
    const int32_t oldest = tables->oldest;

    if (tables->n_entries == in_use)
      return false;

    pp_axis_entry *entry = &tables->entry[oldest];
    const bool held =
        __atomic_load_n (&entry->references, __ATOMIC_ACQUIRE) > 0;

    if (held || (entry->used && spared < MAX_SPARED)) {
      in_use += held;
      spared += !held;
      entry->used = false;
      take_oldest (tables);
      add_newest (tables, oldest);
    } else {
      drop_oldest (tables);
    }
  }
  return true;
}

/* ---- entries -------------------------------------------------------------- */

static void
subtract (int32_t *values, int n, int32_t value)
{
  for (int i = 0; i < n; i++)
    values[i] -= value;
}

/* Fills in what follows from the taps, and makes them count from the span's first
 * sample. linear: they are of taps_linear.c. */
static void
measure (
    pp_axis_tables *tables, pp_axis_entry *entry, pp_taps *taps, bool linear)
{
  const pp_spec *spec = &tables->spec;
  const bool median = pp_denoise_median_size (spec) > 0;

  entry->span = linear && !median ? pp_span_of_linear (taps)
                                  : pp_span_of_taps (taps, spec, &entry->key);
  subtract (taps->first, taps->n_out, entry->span.first);
  entry->n_index = (size_t) taps->n_out;
  if (entry->vertical) {
    const pp_listing listing = { taps, entry->span.count,
      tables->arrays.device_index + entry->axis.first, &entry->rows,
      tables->touched, tables->above };

    entry->n_index = median ? pp_list_all_rows (&listing)
        : linear            ? pp_list_linear_rows (&listing)
                            : pp_list_rows (&listing);
    return;
  }
  for (int i = 0; i < PP_N_SPANS; i++) {
    const int columns = 1 << (PP_LOG2_MIN_SPAN + i);

    entry->widest[i] = linear
        ? pp_widest_linear (taps->first, taps->n_out, taps->n_taps, columns)
        : pp_widest_span (taps->first, taps->n_out, taps->n_taps, columns);
  }
}

/* With one reference. key: with a start less than a chroma sample. */
static pp_axis_entry *
add_entry (pp_axis_tables *tables, const pp_axis_geometry *key, bool vertical,
    uint32_t hash_of_key)
{
  const pp_spec *spec = &tables->spec;
  const size_t n_out = (size_t) key->n_out;
  const int linear_bound = pp_taps_linear_bound (spec, key);
  const int bound = linear_bound > 0 ? linear_bound : pp_taps_bound (spec, key);
  /* See pp_listing. */
  const size_t rows = vertical ? (size_t) pp_axis_samples (key) + 2 : 0;
  size_t index_at, weight_at;

  if (!make_room (
          tables, n_out + rows, n_out * (size_t) bound, &index_at, &weight_at))
    return NULL;

  const int32_t i = tables->unused;
  struct link *link = &tables->link[i];
  pp_axis_entry *entry = &tables->entry[i];
  pp_taps taps = { .first = tables->arrays.index + index_at,
    .weight = tables->arrays.weight + weight_at };

  tables->unused = link->newer;
  if (linear_bound > 0)
    pp_taps_fill_linear (&taps, spec, key);
  else
    pp_taps_fill (&taps, spec, key, tables->samples);
  *entry = (pp_axis_entry){ .key = *key,
    .vertical = vertical,
    .references = 1,
    .axis = { taps.n_out, taps.n_taps, (int32_t) index_at,
        (int32_t) weight_at },
    .n_weight = n_out * (size_t) taps.n_taps };
  measure (tables, entry, &taps, linear_bound > 0);
  add_newest (tables, i);

  int32_t *bucket = &tables->bucket[hash_of_key % BUCKETS];

  link->hash = hash_of_key;
  link->next = *bucket;
  *bucket = i;
  return entry;
}

pp_axis_entry *
pp_axis_tables_get (
    pp_axis_tables *tables, const pp_axis_geometry *geometry, bool vertical)
{
  pp_axis_geometry key = *geometry;

  key.start &= (1 << key.sub) - 1;

  const uint32_t hash_of_key = hash (&key, vertical);
  int32_t i = tables->bucket[hash_of_key % BUCKETS];

  while (i != NONE &&
      (tables->link[i].hash != hash_of_key ||
          !same (&tables->entry[i], &key, vertical)))
    i = tables->link[i].next;
  if (i == NONE)
    return add_entry (tables, &key, vertical, hash_of_key);

  pp_axis_entry *entry = &tables->entry[i];

  entry->used = true;
  __atomic_fetch_add (&entry->references, 1, __ATOMIC_RELAXED);
  return entry;
}

void
pp_axis_entry_unref (pp_axis_entry *entry)
{
  __atomic_fetch_sub (&entry->references, 1, __ATOMIC_RELEASE);
}
