/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "checkbatch.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/reference/reference.h"

#include "checkcases.h"

/* Frames of a batch, each with a job; pictures of one; slices without one. */
#define MAX_PARTS 3
#define MAX_UNFILLED 3
/* Bytes before and behind the block, and behind each plane. */
#define GUARD 256
#define POISON 0x5a

/* A frame and its pictures. */
struct part {
  check_case check;
  pp_region_plans *plans;
  uint8_t *block[PP_MAX_PLANES], *pristine[PP_MAX_PLANES];
  size_t size[PP_MAX_PLANES]; /* of the two */
  pp_view view;
  unsigned pinned_planes;
  bool urgent;
  bool on_device;
  uint8_t *device_block[PP_MAX_PLANES]; /* a copy; NULL where not on_device */
  int n;
  pp_picture picture[PP_MAX_PICTURES];
};

struct batch {
  uint64_t seed;
  int number;
  FILE *report;
  check_random random;
  pp_arena *arena, *memory; /* memory: on the device, or NULL */
  bool small;
  /* What the device has of the block, or NULL; and whether slices without a
   * picture become padding there. */
  uint8_t *device_block;
  bool filled;
  int n_parts, n_pictures, n_slices;
  struct part part[MAX_PARTS];
  size_t slice; /* bytes */
  uint8_t *block, *expected;
  size_t size; /* of the two, guards included */
  int slice_of[MAX_PARTS * PP_MAX_PICTURES + MAX_UNFILLED]; /* in any order */
  uint64_t padding[MAX_PARTS * PP_MAX_PICTURES];
};

static void *
must (void *memory)
{
  if (memory == NULL) {
    fprintf (stderr, "checkkern: out of memory\n");
    exit (2);
  }
  return memory;
}

static bool
fail (const struct batch *batch, const char *what)
{
  if (batch->report == NULL)
    return false;
  fprintf (batch->report,
      "batch %d, seed %llu: %s; %d frames, %d pictures, %d slices\n",
      batch->number, (unsigned long long) batch->seed, what, batch->n_parts,
      batch->n_pictures, batch->n_slices);
  for (int p = 0; p < batch->n_parts; p++) {
    fprintf (batch->report, "  %d pictures, pinned planes %x%s, to %s, of\n",
        batch->part[p].n, batch->part[p].pinned_planes,
        batch->part[p].on_device ? ", on the device" : "",
        batch->device_block != NULL ? "the device" : "the host");
    check_case_print (&batch->part[p].check, batch->report);
  }
  return false;
}

/* ---- making a batch ------------------------------------------------------- */

static uint8_t *
copy_to_device (const struct batch *batch, const uint8_t *block, size_t size)
{
  uint8_t *there = must (pp_arena_alloc (batch->memory, size, NULL));

  if (pp_arena_upload (batch->memory, there, block, size, NULL) != PP_OK)
    must (NULL);
  return there;
}

static void
make_frame (struct batch *batch, struct part *part)
{
  const check_case *check = &part->check;
  const bool on_device = check_one_in (&batch->random, 3);

  part->on_device = on_device && batch->memory != NULL;
  for (int p = 0; p < check->n_planes; p++) {
    const size_t lead = check->lead[p];

    part->size[p] = lead + check->stride[p] * check->rows[p] + GUARD;
    part->block[p] = must (pp_arena_alloc (batch->arena, part->size[p], NULL));
    part->pristine[p] = must (malloc (part->size[p]));
    check_fill_random (&batch->random, part->block[p], part->size[p]);
    check_fill_plane (check, p, part->block[p] + lead, &batch->random);
    memcpy (part->pristine[p], part->block[p], part->size[p]);
    part->view.plane[p] = part->block[p] + lead;
    part->view.stride[p] = check->stride[p];
    if (part->on_device)
      part->device_block[p] =
          copy_to_device (batch, part->block[p], part->size[p]);
  }
}

/* Half of the batches have small regions, of which a device gets each on its
 * own, and half have any, of which it gets the rectangle around all. */
static pp_rect
pick_region (check_random *random, const pp_format *format, bool small)
{
  const int part = small ? 6 : 1;
  const int x = check_between (random, 0, format->width - 1);
  const int y = check_between (random, 0, format->height - 1);

  return (pp_rect){ x, y,
    check_between (random, 1, (format->width - x - 1) / part + 1),
    check_between (random, 1, (format->height - y - 1) / part + 1) };
}

/* A plan of the part's spec, or of one that differs in all but the tensor's
 * size, type and layout. */
static pp_plan *
make_plan (struct batch *batch, struct part *part)
{
  check_random *random = &batch->random;
  const pp_format *format = &part->check.format;
  const pp_rect region = pick_region (random, format, batch->small);
  pp_spec spec = part->check.spec;

  if (check_one_in (random, 2) || batch->small)
    return pp_region_plans_get (part->plans, &region, NULL);
  if (check_one_in (random, 2)) {
    spec.method = (pp_method) check_between (random, 0, PP_N_METHODS - 1);
    spec.antialias = check_one_in (random, 2);
    spec.denoise = PP_DENOISE_NONE;
    spec.pad_value[0] = check_real (random, 0, 255);
  }
  return pp_plan_new (
      &spec, format, check_one_in (random, 4) ? NULL : &region, NULL);
}

/* Many small pictures; sometimes as many as there can be. */
static int
pick_count (check_random *random)
{
  if (check_one_in (random, 40))
    return check_between (random, 17, PP_MAX_PICTURES);
  return check_between (random, 1, check_one_in (random, 3) ? 16 : 5);
}

/* All but the pictures' tensors. */
static void
make_part (struct batch *batch, struct part *part, int case_number)
{
  const int first = case_number % check_first_large ();
  check_random random = check_case_init (&part->check, batch->seed, first);
  pp_spec *spec = &part->check.spec;

  /* Slices are tensors: a buffer of video has one picture. */
  spec->surface = (pp_surface){ .size = 0 };
  /* A GPU's kernel stores four elements at once where rows allow it. */
  if (part == batch->part && check_one_in (&random, 2))
    spec->width = (spec->width + 3) / 4 * 4;
  if (part != batch->part) { /* the tensor of the batch's first spec */
    const pp_spec *other = &batch->part[0].check.spec;
    spec->width = other->width;
    spec->height = other->height;
    spec->resize = 0;
    spec->type = other->type;
    spec->quant_zero_point = other->quant_zero_point;
    spec->layout = other->layout;
    spec->channels = other->channels;
    spec->surface = other->surface;
  }
  make_frame (batch, part);
  part->plans = pp_region_plans_new (spec, &part->check.format,
      check_between (&random, 1, PP_MAX_PICTURES), NULL);
  part->pinned_planes = check_one_in (&random, 2) ? ~0u
      : check_one_in (&random, 2)                 ? 0
                                  : (unsigned) check_next (&random);
  part->urgent = check_one_in (&random, 4);
  const int n = part->plans != NULL ? pick_count (&batch->random) : 0;
  for (int i = 0; i < n; i++) {
    part->picture[part->n].plan = make_plan (batch, part);
    part->n += part->picture[part->n].plan != NULL;
  }
  batch->n_pictures += part->n;
}

/* Mostly in order and without gaps, as an element fills a block; else in any. */
static void
pick_slices (struct batch *batch)
{
  batch->n_slices =
      batch->n_pictures + check_between (&batch->random, 0, MAX_UNFILLED);
  for (int s = 0; s < batch->n_slices; s++)
    batch->slice_of[s] = s;
  if (check_one_in (&batch->random, 2))
    return;
  for (int s = batch->n_slices - 1; s > 0; s--) {
    const int other = check_between (&batch->random, 0, s);
    const int slice = batch->slice_of[s];

    batch->slice_of[s] = batch->slice_of[other];
    batch->slice_of[other] = slice;
  }
}

/* Slices that get no picture. */
static void
expect_padding (struct batch *batch)
{
  const pp_plan *plan = batch->part[0].picture[0].plan;

  for (int s = batch->n_pictures; s < batch->n_slices; s++) {
    uint64_t none = 0;

    pp_plan_fill_tensor (plan,
        batch->expected + GUARD + (size_t) batch->slice_of[s] * batch->slice,
        &none);
  }
}

/* What the reference makes of each picture, in a copy of the block. */
static void
make_blocks (struct batch *batch)
{
  int next = 0;

  batch->size = GUARD + (size_t) batch->n_slices * batch->slice + GUARD;
  batch->block = must (pp_arena_alloc (batch->arena, batch->size, NULL));
  batch->expected = must (malloc (batch->size));
  memset (batch->block, POISON, batch->size);
  memset (batch->expected, POISON, batch->size);
  const bool on_device = check_one_in (&batch->random, 2);
  if (on_device && batch->memory != NULL)
    batch->device_block = copy_to_device (batch, batch->block, batch->size);
  batch->filled = batch->device_block != NULL && batch->part[0].n > 0 &&
      batch->n_slices > batch->n_pictures && check_one_in (&batch->random, 2);
  if (batch->filled)
    expect_padding (batch);
  uint8_t *block =
      batch->device_block != NULL ? batch->device_block : batch->block;
  for (int p = 0; p < batch->n_parts; p++)
    for (int i = 0; i < batch->part[p].n; i++, next++) {
      pp_picture *picture = &batch->part[p].picture[i];
      const size_t at = GUARD + (size_t) batch->slice_of[next] * batch->slice;
      const pp_view source =
          pp_plan_crop_view (picture->plan, &batch->part[p].view);

      picture->tensor = block + at;
      picture->padding =
          check_one_in (&batch->random, 4) ? NULL : &batch->padding[next];
      if (!pp_apply_c (picture->plan, &source, batch->expected + at))
        must (NULL);
    }
}

static void
make_batch (struct batch *batch)
{
  const int n = check_one_in (&batch->random, 3)
      ? check_between (&batch->random, 2, MAX_PARTS)
      : 1;

  batch->small = check_one_in (&batch->random, 2);
  for (int p = 0; p < n; p++) {
    batch->n_parts++;
    make_part (batch, &batch->part[p],
        batch->number + p * check_between (&batch->random, 1, 1000));
  }
  for (int p = 0; p < n && batch->slice == 0; p++)
    if (batch->part[p].n > 0)
      batch->slice = pp_plan_tensor_size (batch->part[p].picture[0].plan);
  pick_slices (batch);
  make_blocks (batch);
}

static void
clear_batch (struct batch *batch)
{
  pp_arena_free (batch->arena, batch->block, batch->size);
  if (batch->device_block != NULL)
    pp_arena_free (batch->memory, batch->device_block, batch->size);
  free (batch->expected);
  for (int p = 0; p < batch->n_parts; p++) {
    struct part *part = &batch->part[p];

    for (int i = 0; i < part->n; i++)
      pp_plan_unref (&part->picture[i].plan);
    pp_region_plans_free (&part->plans);
    for (int plane = 0; plane < part->check.n_planes; plane++) {
      pp_arena_free (batch->arena, part->block[plane], part->size[plane]);
      if (part->device_block[plane] != NULL)
        pp_arena_free (
            batch->memory, part->device_block[plane], part->size[plane]);
      free (part->pristine[plane]);
    }
  }
}

/* ---- running it ----------------------------------------------------------- */

/* The job for slices without a picture. */
static pp_job *
submit_padding (const struct batch *batch, pp_device *device, pp_error *error)
{
  pp_picture pictures[MAX_UNFILLED];
  pp_task task = {
    .pictures = pictures, .tensors_on_device = true, .padding_only = true
  };

  for (int s = batch->n_pictures; s < batch->n_slices; s++)
    pictures[task.n_pictures++] =
        (pp_picture){ .plan = batch->part[0].picture[0].plan,
          .tensor = batch->device_block + GUARD +
              (size_t) batch->slice_of[s] * batch->slice };
  return pp_submit (device, &task, error);
}

/* What the device has of the frames and the block, to the host. */
static bool
copy_from_device (struct batch *batch, pp_error *error)
{
  bool good = true;

  if (batch->device_block != NULL)
    good = pp_arena_download (batch->memory, batch->device_block, batch->block,
               batch->size, error) == PP_OK;
  for (int p = 0; p < batch->n_parts; p++)
    for (int plane = 0; plane < PP_MAX_PLANES && good; plane++)
      if (batch->part[p].device_block[plane] != NULL)
        good =
            pp_arena_download (batch->memory,
                batch->part[p].device_block[plane], batch->part[p].block[plane],
                batch->part[p].size[plane], error) == PP_OK;
  return good;
}

static bool
run (struct batch *batch, pp_device *device)
{
  pp_job *job[MAX_PARTS + 1] = { NULL };
  pp_error error = { .text = "" };
  bool good = true;

  for (int p = 0; p < batch->n_parts && good; p++) {
    const struct part *part = &batch->part[p];
    pp_task task = { .pictures = part->picture,
      .n_pictures = part->n,
      .view = part->view,
      .on_device = part->on_device,
      .tensors_on_device = batch->device_block != NULL,
      .pinned_planes = part->pinned_planes,
      .urgent = part->urgent };

    if (part->n == 0)
      continue;
    for (int plane = 0; part->on_device && plane < part->check.n_planes;
         plane++)
      task.view.plane[plane] =
          part->device_block[plane] + part->check.lead[plane];
    job[p] = pp_submit (device, &task, &error);
    good = job[p] != NULL;
  }
  if (good && batch->filled) {
    job[MAX_PARTS] = submit_padding (batch, device, &error);
    good = job[MAX_PARTS] != NULL;
  }
  for (int j = 0; j <= MAX_PARTS; j++) {
    good = (job[j] == NULL || pp_job_wait (job[j], &error) == PP_OK) && good;
    pp_job_unref (&job[j]);
  }
  good = good && copy_from_device (batch, &error);
  return good || fail (batch, error.text);
}

/* In a slice that nobody fills, or in front of the first where there is none. */
static size_t
unfilled_byte (const struct batch *batch)
{
  if (batch->n_slices == batch->n_pictures)
    return GUARD - 1;
  return GUARD + (size_t) batch->slice_of[batch->n_pictures] * batch->slice;
}

static void
spoil (struct batch *batch, check_batch_spoilt what)
{
  const int slice = batch->slice_of[check_next (&batch->random) %
      (uint64_t) batch->n_pictures];

  switch (what) {
    case CHECK_BATCH_SLICE:
      batch->block[GUARD + (size_t) slice * batch->slice +
          check_next (&batch->random) % batch->slice] ^= 1;
      break;
    case CHECK_BATCH_UNFILLED:
      batch->block[unfilled_byte (batch)] ^= 1;
      break;
    case CHECK_BATCH_SOURCE:
      batch->part[0]
          .block[0][check_next (&batch->random) % batch->part[0].size[0]] ^= 1;
      break;
    case CHECK_BATCH_NOTHING:
    case CHECK_BATCH_N_SPOILS:
      break;
  }
}

static bool
compare (const struct batch *batch)
{
  char text[96];

  for (size_t i = 0; i < batch->size; i++) {
    if (batch->block[i] == batch->expected[i])
      continue;
    const size_t slice = (i - GUARD) / batch->slice;
    snprintf (text, sizeof text, "slice %zu, byte %zu is %02x, must be %02x",
        i < GUARD ? 0 : slice, (i - GUARD) % batch->slice, batch->block[i],
        batch->expected[i]);
    return fail (batch, text);
  }
  for (int p = 0; p < batch->n_parts; p++)
    for (int plane = 0; plane < batch->part[p].check.n_planes; plane++)
      if (memcmp (batch->part[p].block[plane], batch->part[p].pristine[plane],
              batch->part[p].size[plane]) != 0)
        return fail (batch, "wrote to the source");
  return true;
}

bool
check_batch (uint64_t seed, int number, pp_device *device,
    check_batch_spoilt spoilt, FILE *report)
{
  struct batch *batch = must (calloc (1, sizeof *batch));
  bool good = true;

  batch->seed = seed;
  batch->number = number;
  batch->report = report;
  batch->random.state = seed ^ (uint64_t) number * 0x9fb21c651e98df25;
  batch->arena = pp_device_arena (device);
  batch->memory = pp_device_memory (device);
  make_batch (batch);
  const bool empty = batch->n_pictures == 0;
  if (!empty) {
    good = run (batch, device);
    spoil (batch, spoilt);
    good = good && compare (batch);
  }
  clear_batch (batch);
  free (batch);
  /* Few specs have no plan for any region: another one in its place. */
  return empty ? check_batch (seed, number + 100003, device, spoilt, report)
               : good;
}
