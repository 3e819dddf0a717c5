/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The golden cases in batches and as regions, through a device: the first, a
 * middle and the last slice of a batch are the single tensor, bit for bit, however
 * they come there, and a region of a larger frame is the frame that the region
 * shows. Arguments: cpu, cuda or fake; cases.tsv.
 */
#include "goldencase.h"

#include "tests/engine/enginesuite.h"

#define SLICES 5
#define POISON 0xee
/* Where the frame is in a larger one: at a chroma sample, in any format. */
#define LEFT 8
#define TOP 4
#define MORE_RIGHT 5
#define MORE_BELOW 3

/* The slices that pictures fill. */
static const int filled[] = { 0, SLICES / 2, SLICES - 1 };
enum {
  N_FILLED = LENGTH (filled)
};

static pp_device *device;

/* What is the same for all ways to fill a batch. */
struct batch {
  const char *name; /* of the case */
  uint8_t *single;  /* the tensor of a job of its own */
  size_t size;      /* of a slice */
  uint8_t *block;   /* SLICES of them, in the device's arena */
  uint64_t padding[SLICES];
};

static void
batch_poison (struct batch *batch)
{
  memset (batch->block, POISON, SLICES * batch->size);
  memset (batch->padding, 0, sizeof batch->padding);
}

static pp_picture
batch_picture (struct batch *batch, pp_plan *plan, int slice)
{
  return (pp_picture){ plan, batch->block + (size_t) slice * batch->size,
    &batch->padding[slice] };
}

/* pinned: as in pp_task. */
static pp_job *
submit (const pp_picture *pictures, int n, const pp_view *view, unsigned pinned)
{
  const pp_task task = { .pictures = pictures,
    .n_pictures = n,
    .view = *view,
    .pinned_planes = pinned };
  pp_error error = { 0 };
  pp_job *job = pp_submit (device, &task, &error);

  EXPECT (job != NULL, "%s", error.text);
  return job;
}

static void
finish (pp_job *job)
{
  pp_error error = { 0 };

  EXPECT (job != NULL && pp_job_wait (job, &error) == PP_OK, "%s", error.text);
  pp_job_unref (&job);
}

static void
batch_check (const struct batch *batch, const char *way)
{
  int next = 0;

  for (int slice = 0; slice < SLICES; slice++) {
    const uint8_t *is = batch->block + (size_t) slice * batch->size;
    size_t same = 0;

    if (next < N_FILLED && filled[next] == slice) {
      next++;
      EXPECT (memcmp (is, batch->single, batch->size) == 0,
          "%s, slice %d of %s: not the single tensor", batch->name, slice, way);
      continue;
    }
    while (same < batch->size && is[same] == POISON)
      same++;
    EXPECT (same == batch->size, "%s, slice %d of %s: byte %zu was written",
        batch->name, slice, way, same);
  }
}

/* A batch of frames: a job for each slice, in another order. */
static void
check_frames (struct batch *batch, pp_plan *plan, const pp_view *view)
{
  pp_job *job[N_FILLED];

  batch_poison (batch);
  for (int i = 0; i < N_FILLED; i++) {
    const pp_picture picture =
        batch_picture (batch, plan, filled[N_FILLED - 1 - i]);

    job[i] = submit (&picture, 1, view, 0);
  }
  for (int i = 0; i < N_FILLED; i++)
    finish (job[i]);
  batch_check (batch, "frames");
}

/* One job with several pictures. */
static void
check_pictures (struct batch *batch, pp_plan *const *plans, const pp_view *view,
    unsigned pinned, const char *way)
{
  pp_picture pictures[N_FILLED];

  batch_poison (batch);
  for (int i = 0; i < N_FILLED; i++)
    pictures[i] = batch_picture (batch, plans[i], filled[i]);
  finish (submit (pictures, N_FILLED, view, pinned));
  batch_check (batch, way);
}

static int
samples (int pixels, int sub)
{
  return (pixels + (1 << sub) - 1) >> sub;
}

struct larger_frame {
  pp_format format;
  pp_view view;
  uint8_t *data; /* in the device's arena */
  uint8_t *plane[PP_MAX_PLANES];
  size_t size;
};

/* Its planes one behind the other. Sets their offsets. */
static void
place_planes (struct larger_frame *larger, size_t offset[PP_MAX_PLANES])
{
  const pp_format *format = &larger->format;
  size_t height[PP_MAX_PLANES] = { 0 };

  for (int c = 0; c < format->n_components; c++) {
    const pp_component *component = &format->component[c];
    const int columns = samples (format->width, component->sub_x);
    const size_t bytes = (size_t) (columns * component->pixel_stride +
        component->offset + format->sample_bytes);
    size_t *stride = &larger->view.stride[component->plane];

    *stride = bytes > *stride ? (bytes + 3) / 4 * 4 : *stride;
    height[component->plane] =
        (size_t) samples (format->height, component->sub_y);
  }
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    offset[p] = larger->size;
    larger->size += larger->view.stride[p] * height[p];
  }
}

/* The samples of a component, to where they are in the larger frame. */
static void
copy_component (struct larger_frame *larger, const GoldenCase *golden, int c)
{
  const pp_component *component = &golden->format.component[c];
  const int p = component->plane, step = component->pixel_stride;
  const pp_view *from = &golden->frame.view, *to = &larger->view;
  const size_t size = (size_t) golden->format.sample_bytes;
  const int columns = samples (golden->format.width, component->sub_x);
  const int rows = samples (golden->format.height, component->sub_y);
  const int left = LEFT >> component->sub_x, top = TOP >> component->sub_y;

  for (int y = 0; y < rows; y++)
    for (int x = 0; x < columns; x++) {
      const size_t there = (size_t) (y + top) * to->stride[p] +
          (size_t) (component->offset + (x + left) * step);
      const size_t here = (size_t) y * from->stride[p] +
          (size_t) (component->offset + x * step);

      memcpy (larger->plane[p] + there, from->plane[p] + here, size);
    }
}

/* The frame, with noise around it. */
static void
larger_init (struct larger_frame *larger, const GoldenCase *golden)
{
  size_t offset[PP_MAX_PLANES];
  unsigned seed = 1;

  *larger = (struct larger_frame){ .format = golden->format };
  larger->format.width += LEFT + MORE_RIGHT;
  larger->format.height += TOP + MORE_BELOW;
  place_planes (larger, offset);
  larger->data = pp_arena_alloc (pp_device_arena (device), larger->size, NULL);
  for (size_t i = 0; i < larger->size; i++)
    larger->data[i] = (uint8_t) rand_r (&seed);
  for (int p = 0; p < PP_MAX_PLANES; p++)
    larger->view.plane[p] = larger->plane[p] = larger->data + offset[p];
  for (int c = 0; c < golden->format.n_components; c++)
    copy_component (larger, golden, c);
}

/* As a region and as a crop of the larger frame, from memory that the device reads
 * and from memory that it does not. */
static void
check_regions (struct batch *batch, const GoldenCase *golden)
{
  const pp_rect region = { LEFT, TOP, golden->format.width,
    golden->format.height };
  struct larger_frame larger;
  pp_error error = { 0 };

  larger_init (&larger, golden);
  pp_region_plans *regions =
      pp_region_plans_new (&golden->spec, &larger.format, 2, &error);
  EXPECT (regions != NULL, "%s: %s", batch->name, error.text);
  pp_plan *plans[N_FILLED] = {
    pp_region_plans_get (regions, &region, &error),
    pp_plan_new (&golden->spec, &larger.format, &region, &error),
    pp_region_plans_get (regions, &region, &error),
  };
  check_pictures (batch, plans, &larger.view, ~0u, "regions");
  check_pictures (batch, plans, &larger.view, 0, "staged regions");
  for (int i = 0; i < N_FILLED; i++)
    pp_plan_unref (&plans[i]);
  pp_region_plans_free (&regions);
  pp_arena_free (pp_device_arena (device), larger.data, larger.size);
}

static void
check_case (const GoldenCase *golden)
{
  pp_arena *arena = pp_device_arena (device);
  const pp_view *view = &golden->frame.view;
  pp_error error = { 0 };
  pp_plan *plan = pp_plan_new (&golden->spec, &golden->format, NULL, &error);
  struct batch batch = { .name = golden->columns[NAME] };

  EXPECT (plan != NULL, "%s: %s", batch.name, error.text);
  if (plan == NULL)
    return;
  batch.size = pp_plan_tensor_size (plan);
  batch.single = pp_arena_alloc (arena, batch.size, NULL);
  batch.block = pp_arena_alloc (arena, SLICES * batch.size, NULL);

  const pp_picture single = { .plan = plan, .tensor = batch.single };
  pp_plan *const same[N_FILLED] = { plan, plan, plan };

  finish (submit (&single, 1, view, 0));
  check_frames (&batch, plan, view);
  check_pictures (&batch, same, view, 0, "pictures of one job");
  check_regions (&batch, golden);
  pp_plan_unref (&plan);
  pp_arena_free (arena, batch.block, SLICES * batch.size);
  pp_arena_free (arena, batch.single, batch.size);
}

int
main (int argc, char **argv)
{
  gst_init (NULL, NULL);
  if (argc != 3 || !suite_select (argv[1])) {
    g_printerr ("usage: %s cpu|cuda|fake cases.tsv\n", argv[0]);
    return 2;
  }

  const int unusable = suite_check_device ();

  if (unusable != 0)
    return unusable;

  g_auto (GStrv) lines = golden_read (argv[2]);
  g_autofree gchar *folder = g_path_get_dirname (argv[2]);

  if (lines == NULL)
    return 1;
  device = open_device (2);
  for (guint i = 0; lines[i] != NULL; i++) {
    GoldenCase golden;

    if (golden_case_init (&golden, lines[i], folder))
      check_case (&golden);
    else
      expect_failed++;
    golden_case_clear (&golden);
  }
  pp_device_close (&device);
  return expect_end ();
}
