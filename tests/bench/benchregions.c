/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "benchjobs.h"

#include "gst/caps/inputformat.h"
#include "tests/common/elementspec.h"

#define REGIONS 16
#define IN_FLIGHT 4

/* Regions as detectors find them: other ones in each frame. */
static void
pick_regions (GRand *random, const pp_format *format, pp_rect *regions)
{
  for (gint i = 0; i < REGIONS; i++) {
    pp_rect *r = &regions[i];

    r->width = g_rand_int_range (random, 60, 241);
    r->height = g_rand_int_range (random, 120, 361);
    r->x = g_rand_int_range (random, 0, format->width - r->width + 1);
    r->y = g_rand_int_range (random, 0, format->height - r->height + 1);
  }
}

typedef struct {
  pp_device *device;
  pp_format format;
  pp_region_plans *plans;
  GRand *random;
  gsize frame_size, slice; /* bytes */
  guint8 *frame[BENCH_BUFFERS];
  guint8 *tensor[IN_FLIGHT];
  guint64 padding[IN_FLIGHT][REGIONS];
  pp_job *job[IN_FLIGHT];
} Regions;

static void *
allocate (Regions *regions, gsize size)
{
  pp_error error;
  void *memory =
      pp_arena_alloc (pp_device_arena (regions->device), size, &error);

  bench_require (memory != NULL, "memory", &error);
  return memory;
}

static void
regions_init (Regions *regions, const BenchRun *run, const gchar *properties,
    gint streams)
{
  g_autoptr (GstCaps) caps = gst_caps_from_string (
      "video/x-raw,format=NV12,width=1920,height=1080,framerate=30/1");
  g_autofree gchar *reason = NULL;
  GstVideoInfo info;
  pp_spec spec;
  pp_error error;

  *regions = (Regions){ .random = g_rand_new_with_seed (1) };
  bench_require (test_spec_from_properties (properties, &spec, &reason) &&
          gst_pp_video_info_from_caps (&info, caps) &&
          gst_pp_format_from_video_info (&info, &regions->format, &reason),
      reason != NULL ? reason : "caps", NULL);
  regions->device = pp_device_open (
      run->backend, -1, &(pp_device_options){ .streams = streams }, &error);
  bench_require (regions->device != NULL, "open", &error);
  regions->plans = pp_region_plans_new (
      &spec, &regions->format, IN_FLIGHT * 2 * REGIONS, &error);
  bench_require (regions->plans != NULL, "plans", &error);
  pp_plan *whole = pp_plan_new (&spec, &regions->format, NULL, &error);
  bench_require (whole != NULL &&
          pp_device_reserve_pictures (
              regions->device, whole, REGIONS, &error) == PP_OK,
      "reserve", &error);
  regions->slice = pp_plan_tensor_size (whole);
  pp_plan_unref (&whole);
  regions->frame_size = info.size;
  for (gint b = 0; b < BENCH_BUFFERS; b++) {
    regions->frame[b] = allocate (regions, info.size);
    bench_fill (regions->frame[b], info.size, (guint) b);
  }
  for (gint b = 0; b < IN_FLIGHT; b++)
    regions->tensor[b] = allocate (regions, REGIONS * regions->slice);
}

static void
regions_clear (Regions *regions)
{
  pp_arena *arena = pp_device_arena (regions->device);

  for (gint b = 0; b < IN_FLIGHT; b++) {
    pp_job_unref (&regions->job[b]);
    pp_arena_free (arena, regions->tensor[b], REGIONS * regions->slice);
  }
  for (gint b = 0; b < BENCH_BUFFERS; b++)
    pp_arena_free (arena, regions->frame[b], regions->frame_size);
  pp_region_plans_free (&regions->plans);
  pp_device_close (&regions->device);
  g_rand_free (regions->random);
}

/* One frame, its plans included. */
static void
submit (Regions *regions, gint i)
{
  const gint slot = i % IN_FLIGHT;
  guint8 *frame = regions->frame[i % BENCH_BUFFERS];
  const gsize width = (gsize) regions->format.width;
  pp_picture pictures[REGIONS];
  pp_rect rects[REGIONS];
  pp_error error;
  const pp_task task = { .pictures = pictures,
    .n_pictures = REGIONS,
    .view = { .plane = { frame, frame + width * regions->format.height },
        .stride = { width, width } },
    .pinned_planes = ~0u };

  pick_regions (regions->random, &regions->format, rects);
  for (gint r = 0; r < REGIONS; r++) {
    pictures[r] = (pp_picture){
      pp_region_plans_get (regions->plans, &rects[r], &error),
      regions->tensor[slot] + (gsize) r * regions->slice,
      &regions->padding[slot][r],
    };
    bench_require (pictures[r].plan != NULL, "plan", &error);
  }
  if (regions->job[slot] != NULL)
    pp_job_wait (regions->job[slot], NULL);
  pp_job_unref (&regions->job[slot]);
  regions->job[slot] = pp_submit (regions->device, &task, &error);
  bench_require (regions->job[slot] != NULL, "submit", &error);
  for (gint r = 0; r < REGIONS; r++)
    pp_plan_unref (&pictures[r].plan);
}

gdouble
bench_regions (const BenchRun *run, const gchar *properties, gint streams)
{
  gdouble best = G_MAXDOUBLE, start = 0;
  Regions regions;

  regions_init (&regions, run, properties, streams);
  for (gint round = 0; round < BENCH_ROUNDS; round++) {
    for (gint i = 0; i < BENCH_WARM_UP + run->frames; i++) {
      if (i == BENCH_WARM_UP) {
        pp_device_drain (regions.device, NULL);
        start = bench_now ();
      }
      submit (&regions, i);
    }
    pp_device_drain (regions.device, NULL);
    best = MIN (best, (bench_now () - start) / run->frames);
  }
  regions_clear (&regions);
  return best;
}
