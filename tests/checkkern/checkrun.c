/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One case of checkkern run through the reference and through what is under
 * test, and what comes out compared bit by bit.
 */
#include "checkrun.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

/* Bytes before and behind whatever a kernel reads or writes; keeps the arena's
 * alignment. */
#define GUARD 256
#define GUARD_BYTE 0xc3
/* Scratch memory's alignment. */
#define ALIGNMENT 64

/* Elements that nobody wrote differ: the reference's poison is another one. */
enum {
  POISON_REFERENCE = 0xa5,
  POISON_TESTED = 0x5a
};

static void *
must (void *memory)
{
  if (!memory) {
    fprintf (stderr, "checkkern: out of memory\n");
    exit (2);
  }
  return memory;
}

static uint8_t *
allocate (pp_arena *arena, size_t size)
{
  return must (arena ? pp_arena_alloc (arena, size, NULL) : malloc (size));
}

static void
release (pp_arena *arena, void *block, size_t size)
{
  if (arena)
    pp_arena_free (arena, block, size);
  else
    free (block);
}

static void
make_plane (check_run *run, int p)
{
  const check_case *check = run->check;
  const size_t size = check->stride[p] * check->rows[p];
  run->block_size[p] = GUARD + check->lead[p] + size + GUARD;
  run->block[p] = allocate (run->arena, run->block_size[p]);
  run->pristine[p] = must (malloc (run->block_size[p]));
  check_fill_random (&run->random, run->block[p], run->block_size[p]);
  uint8_t *plane = run->block[p] + GUARD + check->lead[p];
  check_fill_plane (check, p, plane, &run->random);
  memcpy (run->pristine[p], run->block[p], run->block_size[p]);
  run->view.plane[p] = plane;
  run->view.stride[p] = check->stride[p];
}

/* New random bytes everywhere but in the plan's extents: a result that depends
 * on what lies outside, between rows or in the guards, changes. */
static void
disturb_frame (check_run *run)
{
  for (int p = 0; p < run->check->n_planes; p++) {
    const pp_rect extent = pp_plan_plane_extent (run->plan, p);
    const size_t stride = run->view.stride[p];
    const size_t start = (size_t) (run->view.plane[p] - run->block[p]) +
        (size_t) extent.y * stride + (size_t) extent.x;
    uint8_t *old = run->pristine[p];
    check_fill_random (&run->random, run->block[p], run->block_size[p]);
    for (int y = 0; y < extent.height; y++) {
      const size_t at = start + (size_t) y * stride;
      memcpy (run->block[p] + at, old + at, (size_t) extent.width);
    }
    memcpy (old, run->block[p], run->block_size[p]);
  }
}

static bool
frame_is_untouched (const check_run *run)
{
  for (int p = 0; p < run->check->n_planes; p++)
    if (memcmp (run->block[p], run->pristine[p], run->block_size[p]) != 0)
      return false;
  return true;
}

static int
element_size (const check_run *run)
{
  return (int) pp_type_size (run->check->spec.type);
}

/* Element i as bits. */
static uint32_t
element_at (const check_run *run, const uint8_t *tensor, size_t i)
{
  uint32_t bits = 0;
  for (int b = 0; b < element_size (run); b++)
    bits |= (uint32_t) tensor[i * (size_t) element_size (run) + (size_t) b]
        << 8 * b;
  return bits;
}

static bool
is_nan (pp_type type, uint32_t bits)
{
  if (type == PP_TYPE_FLOAT32)
    return (bits & 0x7fffffff) > 0x7f800000;
  return type == PP_TYPE_FLOAT16 && (bits & 0x7fff) > 0x7c00;
}

static void
print_difference (
    const check_run *run, const char *who, const uint8_t *tensor, size_t i)
{
  const pp_spec *spec = &run->check->spec;
  const size_t channels = (size_t) pp_channels_count (spec->channels);
  const size_t width = (size_t) spec->width, height = (size_t) spec->height;
  const bool planar = spec->layout == PP_LAYOUT_NCHW;
  const size_t pixel = planar ? i % (width * height) : i / channels;
  const int digits = 2 * element_size (run);
  if (spec->surface.size > 0) {
    fprintf (run->report,
        "%s: byte %zu is %02" PRIx32 ", must be %02" PRIx32 "\n", who, i,
        element_at (run, tensor, i), element_at (run, run->reference, i));
    return;
  }
  fprintf (run->report,
      "%s: channel %zu, y %zu, x %zu is %0*" PRIx32 ", must be %0*" PRIx32 "\n",
      who, planar ? i / (width * height) : i % channels, pixel / width,
      pixel % width, digits, element_at (run, tensor, i), digits,
      element_at (run, run->reference, i));
}

/* Says on report what the first difference is; the case after it. */
static bool
compare (const check_run *run, const char *who, const uint8_t *tensor)
{
  const size_t size = (size_t) element_size (run);
  if (memcmp (tensor, run->reference, run->size) == 0)
    return true;
  if (!run->report)
    return false;
  size_t first = run->size / size, different = 0;
  for (size_t i = run->size / size; i-- > 0;)
    if (memcmp (tensor + i * size, run->reference + i * size, size) != 0) {
      first = i;
      different++;
    }
  print_difference (run, who, tensor, first);
  fprintf (run->report, "  %zu of %zu elements differ\n", different,
      run->size / size);
  check_case_print (run->check, run->report);
  return false;
}

static bool
guards_hold (const uint8_t *block, size_t start, size_t end, size_t size)
{
  for (size_t i = 0; i < size; i++)
    if ((i < start || i >= end) && block[i] != GUARD_BYTE)
      return false;
  return true;
}

static bool
check_that (
    const check_run *run, const char *who, bool condition, const char *failure)
{
  if (condition || !run->report)
    return condition;
  fprintf (run->report, "%s: %s\n", who, failure);
  check_case_print (run->check, run->report);
  return false;
}

/* The reference writes every element, and no NaN. */
static bool
make_reference (check_run *run)
{
  const pp_view source = pp_plan_crop_view (run->plan, &run->view);
  run->reference = must (malloc (run->size));
  memset (run->reference, POISON_REFERENCE, run->size);
  if (!pp_apply_c (run->plan, &source, run->reference))
    return check_that (run, "c", false, "no memory");
  bool has_nan = false;
  for (size_t i = 0; i < run->size / (size_t) element_size (run); i++)
    has_nan |=
        is_nan (run->check->spec.type, element_at (run, run->reference, i));
  return check_that (run, "c", !has_nan, "an element is not a number");
}

bool
check_run_init (check_run *run, const check_case *check, check_random random,
    pp_arena *arena, FILE *report)
{
  *run = (check_run){
    .check = check,
    .random = random,
    .arena = arena,
    .report = report,
  };
  pp_error error = { .text = "" };
  run->plan = pp_plan_new (&check->spec, &check->format,
      check->cropped ? &check->source : NULL, &error);
  if (!run->plan)
    return check_that (run, "plan", false, error.text);
  run->size = pp_plan_tensor_size (run->plan);
  for (int p = 0; p < check->n_planes; p++)
    make_plane (run, p);
  return make_reference (run);
}

void
check_run_clear (check_run *run)
{
  free (run->reference);
  for (int p = 0; p < run->check->n_planes; p++) {
    free (run->pristine[p]);
    if (run->block[p])
      release (run->arena, run->block[p], run->block_size[p]);
  }
  pp_plan_unref (&run->plan);
}

/* The content in one call, or in several that come in no order. */
static void
apply_in_bands (
    check_run *run, const pp_view *source, void *tensor, void *scratch)
{
  const int height = run->plan->numbers.content_height;
  if (check_one_in (&run->random, 2)) {
    pp_apply_cpu (run->plan, source, tensor, 0, height, scratch);
    return;
  }
  const int band = check_between (&run->random, 1, height);
  for (int parity = 1; parity >= 0; parity--)
    for (int first = parity * band; first < height; first += 2 * band) {
      const int last = first + band < height ? first + band : height;
      pp_apply_cpu (run->plan, source, tensor, first, last, scratch);
    }
}

/* Scratch memory is full of NaN: what is read before it is written shows. */
static bool
run_cpu (check_run *run, const pp_view *source, uint8_t *tensor)
{
  const size_t used = pp_apply_cpu_scratch (run->plan);
  const size_t size = (used + GUARD + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  uint8_t *scratch = must (aligned_alloc (ALIGNMENT, size));
  memset (scratch, 0xff, used);
  memset (scratch + used, GUARD_BYTE, size - used);
  pp_plan_fill_padding (run->plan, tensor);
  apply_in_bands (run, source, tensor, scratch);
  const bool held = guards_hold (scratch, 0, used, size);
  free (scratch);
  return check_that (run, "cpu", held, "wrote behind its scratch memory");
}

/* fault: N_BROKEN for the CPU kernel. */
static bool
check_host (check_run *run, const char *who, broken_fault fault)
{
  const size_t size = GUARD + run->size + GUARD;
  uint8_t *block = must (malloc (size));
  /* Elements are aligned, rows and tensors need not be. */
  const size_t start = GUARD / 2 +
      (size_t) element_size (run) *
          (size_t) check_between (&run->random, 0, 15);
  uint8_t *tensor = block + start;
  const pp_view source = pp_plan_crop_view (run->plan, &run->view);

  disturb_frame (run);
  memset (block, GUARD_BYTE, size);
  memset (tensor, POISON_TESTED, run->size);
  bool good = true;
  if (fault == N_BROKEN)
    good = run_cpu (run, &source, tensor);
  else
    broken_apply (run->plan, &source, tensor, fault);
  good = good && compare (run, who, tensor) &&
      check_that (run, who, guards_hold (block, start, start + run->size, size),
          "wrote outside the tensor") &&
      check_that (run, who, frame_is_untouched (run), "wrote to the source");
  free (block);
  return good;
}

bool
check_cpu (check_run *run)
{
  return check_host (run, "cpu", N_BROKEN);
}

bool
check_broken (check_run *run, broken_fault fault)
{
  return check_host (run, broken_name (fault), fault);
}

static void
ignore_input (void *user)
{
  (void) user;
}

static void
ignore_done (void *user, const pp_job_info *info, const pp_error *error)
{
  (void) user;
  (void) info;
  (void) error;
}

/* Which planes are pinned, whether the job is urgent, what is on the device. */
struct way {
  unsigned pinned_planes;
  bool urgent;
  bool on_device, tensor_on_device;
};

/* The planes' blocks and the tensor's in the device's memory, where the way says
 * so. Memory is asked for in powers of two, so that the next case finds it. */
struct mirror {
  pp_device *device;
  struct way way;
  uint8_t *plane[PP_MAX_PLANES], *tensor;
  size_t tensor_size;
};

static size_t
mirror_size (size_t size)
{
  size_t power = 1;
  while (power < size)
    power *= 2;
  return power;
}

static uint8_t *
mirror_block (const struct mirror *mirror, const uint8_t *block, size_t size)
{
  pp_arena *memory = pp_device_memory (mirror->device);
  uint8_t *there = must (pp_arena_alloc (memory, mirror_size (size), NULL));
  if (pp_arena_upload (memory, there, block, size, NULL) != PP_OK)
    must (NULL);
  return there;
}

static void
unmirror_block (
    const struct mirror *mirror, uint8_t *there, uint8_t *block, size_t size)
{
  pp_arena *memory = pp_device_memory (mirror->device);
  if (there && pp_arena_download (memory, there, block, size, NULL) != PP_OK)
    must (NULL);
  pp_arena_free (memory, there, mirror_size (size));
}

/* block: the tensor's, of size bytes with its guards. */
static void
mirror_init (struct mirror *mirror, const check_run *run, pp_device *device,
    struct way way, const uint8_t *block, size_t size)
{
  *mirror =
      (struct mirror){ .device = device, .way = way, .tensor_size = size };
  for (int p = 0; way.on_device && p < run->check->n_planes; p++)
    mirror->plane[p] = mirror_block (mirror, run->block[p], run->block_size[p]);
  if (way.tensor_on_device)
    mirror->tensor = mirror_block (mirror, block, size);
}

/* Copies back whatever the device has written, wherever. */
static void
mirror_clear (struct mirror *mirror, check_run *run, uint8_t *block)
{
  for (int p = 0; mirror->way.on_device && p < run->check->n_planes; p++)
    unmirror_block (
        mirror, mirror->plane[p], run->block[p], run->block_size[p]);
  if (mirror->way.tensor_on_device)
    unmirror_block (mirror, mirror->tensor, block, mirror->tensor_size);
}

static bool
run_task (check_run *run, pp_device *device, const pp_task *task)
{
  const char *who = pp_device_name (device);
  pp_error error = { .text = "" };
  pp_job *job = pp_submit (device, task, &error);
  if (!job)
    return check_that (run, who, false, error.text);
  const pp_status status = pp_job_wait (job, &error);
  pp_job_unref (&job);
  return check_that (run, who, status == PP_OK, error.text);
}

/* Runs one job to its end; block: of the tensor with its guards, size bytes.
 * padding as in pp_picture. */
static bool
run_job (check_run *run, pp_device *device, uint8_t *block, size_t size,
    struct way way, uint64_t *padding)
{
  struct mirror mirror;
  mirror_init (&mirror, run, device, way, block, size);
  const pp_picture picture = { run->plan,
    (way.tensor_on_device ? mirror.tensor : block) + GUARD, padding };
  pp_task task = {
    .pictures = &picture,
    .n_pictures = 1,
    .view = run->view,
    .on_device = way.on_device,
    .tensors_on_device = way.tensor_on_device,
    .pinned_planes = way.pinned_planes,
    .urgent = way.urgent,
    .input_done = ignore_input,
    .done = ignore_done,
  };
  for (int p = 0; way.on_device && p < run->check->n_planes; p++)
    task.view.plane[p] = mirror.plane[p] + (run->view.plane[p] - run->block[p]);
  const bool good = run_task (run, device, &task);
  mirror_clear (&mirror, run, block);
  return good;
}

static void
spoil_byte (check_run *run, uint8_t *tensor, check_spoilt what)
{
  switch (what) {
    case CHECK_SPOIL_TENSOR:
      tensor[check_next (&run->random) % run->size] ^= 1;
      break;
    case CHECK_SPOIL_BEFORE:
      tensor[-1] ^= 1;
      break;
    case CHECK_SPOIL_BEHIND:
      tensor[run->size] ^= 1;
      break;
    case CHECK_SPOIL_SOURCE:
      run->block[0][check_next (&run->random) % run->block_size[0]] ^= 1;
      break;
    case CHECK_SPOIL_NOTHING:
    case CHECK_N_SPOILS:
      break;
  }
}

/* From pinned memory, from pageable memory, from some of each, and in two bands,
 * however small; then, on devices that have memory, from there, to there and both:
 * as a new block, and as one that holds the padding already. */
bool
check_device_spoilt (check_run *run, pp_device *device, check_spoil spoil)
{
  const char *who = pp_device_name (device);
  const size_t size = GUARD + run->size + GUARD;
  uint8_t *block = allocate (run->arena, size);
  uint8_t *tensor = block + GUARD;
  const unsigned some = (unsigned) check_next (&run->random);
  const struct way ways[CHECK_DEVICE_JOBS] = { { .pinned_planes = ~0u },
    { .pinned_planes = 0 }, { .pinned_planes = some },
    { .pinned_planes = ~0u, .urgent = true }, { .on_device = true },
    { .on_device = true, .tensor_on_device = true },
    { .on_device = true, .tensor_on_device = true },
    { .pinned_planes = some, .tensor_on_device = true } };
  const int n = pp_device_memory (device) != NULL ? CHECK_DEVICE_JOBS : 4;
  uint64_t paddings[2] = { 0, 0 }; /* of the host's and the device's memory */
  bool good = true;

  memset (block, GUARD_BYTE, size);
  run->plan->in_two = run->plan->can_be_two;
  for (int i = 0; good && i < n; i++) {
    uint64_t *padding = &paddings[ways[i].tensor_on_device];

    disturb_frame (run);
    memset (tensor, POISON_TESTED, run->size);
    if (*padding != 0)
      pp_plan_fill_padding (run->plan, tensor);
    good = run_job (run, device, block, size, ways[i], padding);
    if (i == spoil.job)
      spoil_byte (run, tensor, spoil.what);
    good = good && compare (run, who, tensor) &&
        check_that (run, who, frame_is_untouched (run), "wrote to the source");
  }
  good = good &&
      check_that (run, who, guards_hold (block, GUARD, GUARD + run->size, size),
          "wrote outside the tensor");
  release (run->arena, block, size);
  return good;
}

bool
check_device (check_run *run, pp_device *device)
{
  return check_device_spoilt (
      run, device, (check_spoil){ CHECK_SPOIL_NOTHING, 0 });
}
