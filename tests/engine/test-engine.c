/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A device on every backend: order, times, lifetime, padding, upload methods.
 */
#include "enginesuite.h"
#include "tests/common/resources.h"

/* Two pictures of one surface whose rows have bytes behind them. */
static void
test_surfaces_in_one_job (void)
{
  pp_spec spec = sized_spec (8, 8);
  pp_device *device = open_device (1);
  const pp_format format = rgb_format (16, 16);
  pp_error error = { 0 };
  struct frame frame;

  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 1);
  spec.type = PP_TYPE_UINT8;
  spec.surface = (pp_surface){
    .pixel_stride = 3, .row_stride = 28, .size = 8 * 28, .offset = { 0, 1, 2 }
  };
  pp_plan *plan = make_plan (&spec, &format, NULL);
  uint8_t *tensor = pp_arena_alloc (frame.arena, 2 * plan->tensor_size, NULL);
  const pp_picture pictures[] = { { .plan = plan, .tensor = tensor },
    { .plan = plan, .tensor = tensor + plan->tensor_size } };
  pp_task task = frame_task (&frame, 1);
  task.pictures = pictures;
  task.n_pictures = 2;
  EXPECT (pp_submit (device, &task, &error) == NULL &&
          strstr (error.text, "picture 0 is a surface"),
      "two surfaces: %s", error.text);
  pp_arena_free (frame.arena, tensor, 2 * plan->tensor_size);
  pp_plan_unref (&plan);
  frame_clear (&frame);
  pp_device_close (&device);
}

static void
test_arguments (void)
{
  static const struct {
    pp_device_options options;
    const char *text;
  } bad[] = {
    { { .streams = -1 }, "streams is -1" },
    { { .streams = PP_MAX_STREAMS + 1 }, "streams is 17" },
    { { .staging_threads = -1 }, "staging_threads is -1" },
    { { .staging_threads = PP_MAX_STAGING_THREADS + 1 },
        "staging_threads is 17" },
  };
  pp_error error = { 0 };

  for (int i = 0; i < LENGTH (bad); i++) {
    pp_device *device =
        pp_device_open_backend (backend, -1, &bad[i].options, &error);
    EXPECT (device == NULL && error.status == PP_BAD_ARGUMENT &&
            strstr (error.text, bad[i].text),
        "%s: %s", bad[i].text, error.text);
  }
  pp_device *device = pp_device_open_backend (backend, 99, NULL, &error);
  EXPECT (device == NULL && error.status == PP_NO_DEVICE &&
          strstr (error.text, "99"),
      "device 99: %s", error.text);

  device = open_device (1);
  struct frame frame;
  const pp_spec spec = sized_spec (8, 8);
  frame_init (
      &frame, pp_device_arena (device), &spec, rgb_format (16, 16), 0, 1);
  pp_task task = frame_task (&frame, 1);
  task.view.stride[0] = 47;
  EXPECT (pp_submit (device, &task, &error) == NULL &&
          strstr (error.text, "47") && strstr (error.text, "48"),
      "short stride: %s", error.text);
  task.view.plane[0] = NULL;
  EXPECT (pp_submit (device, &task, &error) == NULL, "no plane");
  frame.picture.plan = NULL;
  EXPECT (pp_submit (device, &task, &error) == NULL &&
          strstr (error.text, "picture 0 has no plan"),
      "no plan: %s", error.text);
  EXPECT (frame.inputs_done == 0 && frame.dones == 0,
      "callbacks of jobs that were never made");
  frame_clear (&frame);
  pp_device_close (&device);
  pp_device_close (&device);
}

/* Jobs of very different sizes on every number of streams: each tensor right,
 * callbacks once and in order, ends in order. */
static void
test_round_robin (void)
{
  enum {
    FRAMES = 48
  };
  static struct frame frame[FRAMES];

  for (int streams = 1; streams <= 8; streams *= 2) {
    pp_device *device = open_device (streams);
    frames_ended = 0;
    for (int i = 0; i < FRAMES; i++) {
      const int size = i % 7 == 0 ? 700 : 20 + i;
      const pp_spec spec = letterbox_spec (32 + i % 3 * 16, 40);
      frame_init (&frame[i], pp_device_arena (device), &spec,
          i % 2 ? rgb_format (size, size / 2 + 1)
                : nv12_format (size, size / 2 + 1),
          i % 5, (unsigned) i);
      frame_submit (&frame[i], device, (unsigned) (i % 4));
    }
    frames_check_order (frame, FRAMES, device, "round robin");
    for (int i = 0; i < FRAMES; i++) {
      EXPECT (frame[i].info.sequence == (uint64_t) i &&
              frame[i].info.stream == i % streams,
          "job %d was %d on stream %d", i, (int) frame[i].info.sequence,
          frame[i].info.stream);
      frame_clear (&frame[i]);
    }
    pp_device_close (&device);
  }
}

static void
test_times (void)
{
  enum {
    FRAMES = 12
  };
  static struct frame frame[FRAMES];
  pp_device *device = open_device (3);
  const pp_spec spec = letterbox_spec (64, 64);

  for (int i = 0; i < FRAMES; i++) {
    frame_init (&frame[i], pp_device_arena (device), &spec,
        rgb_format (640, 360), 0, (unsigned) i);
    frame_submit (&frame[i], device, 1);
  }
  pp_device_drain (device, NULL);
  for (int i = 0; i < FRAMES; i++) {
    const pp_times *t = &frame[i].info.times;
    EXPECT (t->start <= t->uploaded && t->uploaded <= t->computed &&
            t->computed <= t->done,
        "job %d: %g %g %g %g", i, t->start, t->uploaded, t->computed, t->done);
    if (i >= 3)
      EXPECT (t->start >= frame[i - 3].info.times.done,
          "job %d starts at %g, before the one before it on its stream ends, "
          "%g",
          i, t->start, frame[i - 3].info.times.done);
    const pp_rect extent = pp_plan_plane_extent (frame[i].plan, 0);
    const size_t most = (size_t) extent.width * (size_t) extent.height;
    EXPECT ((backend->unified ? frame[i].info.bytes_up == 0
                              : frame[i].info.bytes_up > 0 &&
                        frame[i].info.bytes_up <= most) &&
            frame[i].info.bytes_staged == 0,
        "job %d: %zu bytes up, %zu staged", i, frame[i].info.bytes_up,
        frame[i].info.bytes_staged);
    frame_clear (&frame[i]);
  }
  pp_device_close (&device);
}

/* A second job that reads, as its source, the tensor of the first: right only
 * if it waits. */
static void
check_after (pp_device *first_device, pp_device *second_device)
{
  for (int round = 0; round < 20; round++) {
    struct frame first, second;
    const pp_spec spec = sized_spec (100, 90);

    frame_init_first (
        &first, pp_device_arena (first_device), 512, (unsigned) round);
    frame_init (&second, pp_device_arena (second_device), &spec,
        rgb_format (512, 512), 0, 1);
    /* What the reference makes of the first one's tensor. */
    const pp_view tensor = { .plane = { first.expected },
      .stride = { 512 * 3 } };
    const pp_view view = pp_plan_crop_view (second.plan, &tensor);
    pp_apply_c (second.plan, &view, second.expected);

    frame_submit (&first, first_device, 1);
    frame_submit_after (&second, second_device, 1, &first);
    frame_check (&second, "after");
    frame_check (&first, "before");
    frame_clear (&second);
    frame_clear (&first);
  }
}

/* On another stream, and on another device. */
static void
test_after (void)
{
  pp_device *device = open_device (2), *other = open_device (1);

  check_after (device, device);
  check_after (device, other);
  pp_device_close (&other);
  pp_device_close (&device);
}

struct last_words {
  pp_job *job; /* atomic */
  bool had_ended;
};

static void
on_last_words (void *user, const pp_job_info *info, const pp_error *error)
{
  struct last_words *words = user;
  pp_job *job;

  (void) info;
  (void) error;
  while ((job = __atomic_load_n (&words->job, __ATOMIC_ACQUIRE)) == NULL)
    sched_yield ();
  words->had_ended = pp_job_query (job);
}

/* Who waits for a tensor does not wait for what is said about it. */
static void
test_ended_before_done (void)
{
  pp_device *device = open_device (1);
  const pp_spec spec = letterbox_spec (64, 64);
  struct frame frame;
  struct last_words words = { 0 };

  frame_init (
      &frame, pp_device_arena (device), &spec, rgb_format (64, 32), 0, 3);
  pp_task task = frame_task (&frame, 1);
  task.done = on_last_words;
  task.input_done = NULL;
  task.user = &words;
  pp_job *job = pp_submit (device, &task, NULL);
  __atomic_store_n (&words.job, job, __ATOMIC_RELEASE);
  EXPECT (pp_device_drain (device, NULL) == PP_OK && words.had_ended,
      "done came before the job ended");
  pp_job_unref (&job);
  frame_clear (&frame);
  pp_device_close (&device);
}

/* Closing waits for the jobs; what they hold outlives the device. */
static void
test_close_in_flight (void)
{
  enum {
    FRAMES = 6
  };
  static struct frame frame[FRAMES];

  for (int round = 0; round < 10; round++) {
    pp_device *device = open_device (3);
    const pp_spec spec = letterbox_spec (200, 200);
    for (int i = 0; i < FRAMES; i++) {
      frame_init (&frame[i], pp_device_arena (device), &spec,
          nv12_format (801, 601), 3, (unsigned) i);
      frame_submit (&frame[i], device, i % 2 ? 3 : 0);
    }
    pp_device_close (&device);
    frames_check_closed (frame, FRAMES);
  }
}

/* A block given up while the job still writes to it is freed later, and not
 * handed out before. */
static void
test_free_after (void)
{
  pp_device *device = open_device (1);
  pp_arena *arena = pp_device_arena (device);
  const pp_spec spec = letterbox_spec (300, 300);

  for (int round = 0; round < 20; round++) {
    struct frame frame;
    frame_init (&frame, arena, &spec, rgb_format (1200, 900), 0, 7);
    frame_submit (&frame, device, 1);
    uint8_t *tensor = frame.tensor;
    pp_job_free_block_after (frame.job, arena, tensor, frame.tensor_size);
    void *other = pp_arena_alloc (arena, frame.tensor_size, NULL);
    EXPECT (other != tensor || pp_job_query (frame.job),
        "block handed out while a job writes to it");
    frame.tensor = other;
    frame_clear (&frame);
  }
  pp_device_close (&device);
}

/* The padding is written once a block, and again after the record is reset. */
static void
test_padding (void)
{
  pp_device *device = open_device (1);
  struct frame frame;
  const pp_spec spec = letterbox_spec (64, 64);

  frame_init (
      &frame, pp_device_arena (device), &spec, rgb_format (64, 32), 0, 3);
  frame_submit (&frame, device, 1);
  frame_check (&frame, "first");
  EXPECT (frame.padding != 0, "no record of the padding");

  /* Someone wrote to the tensor without telling: it stays as it is. */
  memset (frame.tensor, 0x77, 4);
  pp_job_unref (&frame.job);
  frame_submit (&frame, device, 0);
  pp_job_wait (frame.job, NULL);
  EXPECT (frame.tensor[0] == 0x77, "padding was written again");

  frame.padding = 0;
  pp_job_unref (&frame.job);
  frame_submit (&frame, device, 0);
  pp_job_wait (frame.job, NULL);
  EXPECT (memcmp (frame.tensor, frame.expected, 64) == 0,
      "padding was not written again");

  /* Padding from end to end is this plan's, too, but is written only once. */
  pp_plan_fill_tensor (frame.plan, frame.tensor, &frame.padding);
  EXPECT (frame.tensor[frame.tensor_size / 2] == frame.tensor[0],
      "the content is not padding");
  frame.tensor[0] ^= 1;
  pp_plan_fill_tensor (frame.plan, frame.tensor, &frame.padding);
  EXPECT (frame.tensor[0] != frame.expected[0], "it was written again");
  pp_job_unref (&frame.job);
  frame_submit (&frame, device, 0);
  pp_job_wait (frame.job, NULL);
  EXPECT (frame.tensor[0] != frame.expected[0], "padding was written again");
  pp_plan_fill_tensor (frame.plan, frame.tensor, &frame.padding);
  EXPECT (memcmp (frame.tensor, frame.expected, 64) == 0,
      "the content was taken for padding");
  frame_clear (&frame);
  pp_device_close (&device);
}

/* Jobs whose tensors are the slices of one block, which end at any byte: other
 * frames, other plans, one slice that no job fills. */
static void
test_slices (void)
{
  enum {
    SLICES = 5,
    EMPTY = 3
  };
  static struct frame frame[SLICES];
  pp_device *device = open_device (3);
  pp_arena *arena = pp_device_arena (device);
  pp_spec spec = letterbox_spec (37, 23);
  uint8_t *block = NULL;

  spec.type = PP_TYPE_UINT8;
  for (int i = 0; i < SLICES; i++) {
    spec.pad_value[0] = 10 * i;
    frame_init (&frame[i], arena, &spec, nv12_format (64 + 10 * i, 48), i,
        (unsigned) i);
    const size_t size = frame[i].tensor_size;
    if (i == 0)
      block = pp_arena_alloc (arena, SLICES * size, NULL);
    pp_arena_free (arena, frame[i].tensor, size);
    frame[i].tensor = block + (size_t) i * size;
    memset (frame[i].tensor, 0xee, size);
  }
  for (int i = SLICES - 1; i >= 0; i--)
    if (i != EMPTY)
      frame_submit (&frame[i], device, i % 2 ? 3 : 0);
  for (int i = 0; i < SLICES; i++)
    if (i != EMPTY)
      frame_check (&frame[i], "slice");

  size_t kept = 0;
  while (kept < frame[EMPTY].tensor_size && frame[EMPTY].tensor[kept] == 0xee)
    kept++;
  EXPECT (kept == frame[EMPTY].tensor_size,
      "byte %zu of the empty slice was written", kept);
  for (int i = 0; i < SLICES; i++) {
    frame[i].tensor = NULL;
    frame_clear (&frame[i]);
  }
  pp_arena_free (arena, block, SLICES * frame[0].tensor_size);
  pp_device_close (&device);
}

/* Moves the frame's planes by some bytes, so that they start anywhere. */
static void
frame_shift (struct frame *frame, size_t shift)
{
  memmove (frame->source + shift, frame->source, frame->source_size - shift);
  frame->view.plane[0] += shift;
  frame->view.plane[1] += shift;
}

/* Every upload method, with strides and addresses that suit it and that do not;
 * planes that are pinned, staged, and one of each. */
static void
test_upload_methods (void)
{
  static const struct {
    const char *name;
    pp_format (*format) (int width, int height);
    int width, height, out;
    int percent; /* of the extents that is moved, alignment included */
  } ways[] = {
    { "one group", rgb_format, 480, 270, 160, 36 },
    { "two groups of two rows", rgb_format, 480, 270, 64, 40 },
    { "gathered", rgb_format, 480, 270, 128, 58 },
    { "whole", rgb_format, 240, 135, 240, 107 },
    { "groups in both planes", nv12_format, 960, 540, 160, 54 },
    { "group and whole", nv12_format, 480, 270, 160, 62 },
    { "both gathered", nv12_format, 960, 540, 128, 60 },
  };
  static const int pads[] = { 0, 4, 16, 21 };
  static const size_t shifts[] = { 0, 1, 8, 15 };
  pp_device *device = open_device (2);

  for (int i = 0; i < LENGTH (ways) * LENGTH (pads) * LENGTH (shifts); i++) {
    const int way = i / LENGTH (pads) / LENGTH (shifts);
    const int pad = pads[i / LENGTH (shifts) % LENGTH (pads)];
    const pp_spec spec = letterbox_spec (ways[way].out, ways[way].out);
    struct frame frame[4]; /* by pinned planes */
    size_t extents = 0;

    for (unsigned pinned = 0; pinned < 4; pinned++) {
      struct frame *f = &frame[pinned];
      frame_init (f, pp_device_arena (device), &spec,
          ways[way].format (ways[way].width, ways[way].height), pad,
          (unsigned) i * 4 + pinned);
      frame_shift (f, shifts[i % LENGTH (shifts)]);
      frame_submit (f, device, pinned);
    }
    for (int p = 0; p < 2; p++) {
      const pp_rect extent = pp_plan_plane_extent (frame[0].plan, p);
      extents += (size_t) extent.width * (size_t) extent.height;
    }
    for (int pinned = 0; pinned < 4; pinned++) {
      struct frame *f = &frame[pinned];
      frame_check (f, ways[way].name);
      pp_device_drain (device, NULL);
      EXPECT (backend->unified ||
              f->info.bytes_up * 100 <= extents * (size_t) ways[way].percent,
          "%s, pad %d, pinned %d: %zu of %zu bytes", ways[way].name, pad,
          pinned, f->info.bytes_up, extents);
      EXPECT (backend->unified || f->info.bytes_staged <= f->info.bytes_up,
          "%s, pinned %d: %zu bytes staged", ways[way].name, pinned,
          f->info.bytes_staged);
      frame_clear (f);
    }
  }
  pp_device_close (&device);
}

/* What is freed before the device is closed or after is not kept for anyone:
 * the arena lives as long as its last block. */
static void
test_close_keeps_nothing (void)
{
  char text[128];
  const int before = fake_live (text, sizeof text);
  pp_device *device = open_device (2);
  pp_arena *arena = pp_device_arena (device);
  void *blocks[3];

  for (int b = 0; b < LENGTH (blocks); b++)
    blocks[b] = pp_arena_alloc (arena, 4096, NULL);
  pp_arena_free (arena, blocks[0], 4096);
  pp_device_close (&device);
  /* the others and their context */
  EXPECT (
      backend != &fake_backend || fake_live (text, sizeof text) == before + 3,
      "there are %s", text);
  pp_arena_free (arena, blocks[1], 4096);
  EXPECT (
      backend != &fake_backend || fake_live (text, sizeof text) == before + 2,
      "there are %s", text);
  pp_arena_free (arena, blocks[2], 4096);
  EXPECT (backend != &fake_backend || fake_live (text, sizeof text) == before,
      "there are %s", text);
}

static void
test_cycles (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  int threads = 0, descriptors = 0;

  for (int cycle = 0; cycle < 60; cycle++) {
    pp_device *device = open_device (2);
    struct frame frame;
    frame_init (
        &frame, pp_device_arena (device), &spec, rgb_format (64, 64), 0, 3);
    frame_submit (&frame, device, (unsigned) cycle % 2);
    frame_check (&frame, "cycle");
    frame_clear (&frame);
    pp_device_close (&device);
    if (cycle == 9) {
      threads = count_resources (THREADS);
      descriptors = count_resources (DESCRIPTORS);
    }
  }
  EXPECT (resources_become (THREADS, threads), "threads went from %d to %d",
      threads, count_resources (THREADS));
  EXPECT (resources_become (DESCRIPTORS, descriptors),
      "descriptors went from %d to %d", descriptors,
      count_resources (DESCRIPTORS));
}

/* The stages of the first 64 jobs are timed, and of one in eight after them; with
 * pp_device_time_all those of every job. After a reservation it begins anew. */
static void
test_timed_jobs (void)
{
  enum {
    FIRST = 64,
    PART = 8,
    JOBS = FIRST + 4 * PART
  };
  const pp_spec spec = letterbox_spec (48, 48);
  pp_device *device = open_device (2);
  struct frame frame;

  frame_init (
      &frame, pp_device_arena (device), &spec, rgb_format (32, 32), 0, 5);
  for (int round = 0; round < 3; round++) {
    int timed = 0, late = 0;

    pp_device_time_all (device, round == 1);
    EXPECT (pp_device_reserve (device, frame.plan, NULL) == PP_OK, "reserve");
    for (int i = 0; i < JOBS; i++) {
      frame_submit (&frame, device, 3);
      EXPECT (pp_job_wait (frame.job, NULL) == PP_OK, "job %d failed", i);
      frame_wait_callbacks (&frame);
      pp_job_unref (&frame.job);
      timed += frame.info.timed;
      late += frame.info.timed && i >= FIRST;
      EXPECT (frame.info.timed || frame.info.times.done == 0,
          "job %d has times that nobody took", i);
    }
    EXPECT (timed - late == FIRST, "round %d: %d of the first %d jobs", round,
        timed - late, FIRST);
    EXPECT (late == (round == 1 ? JOBS - FIRST : (JOBS - FIRST) / PART),
        "round %d: %d of the next %d jobs", round, late, JOBS - FIRST);
  }
  frame_clear (&frame);
  pp_device_close (&device);
}

static const struct suite_test tests[] = {
  { "arguments", test_arguments },
  { "surfaces_in_one_job", test_surfaces_in_one_job },
  { "round_robin", test_round_robin },
  { "times", test_times },
  { "timed_jobs", test_timed_jobs },
  { "after", test_after },
  { "ended_before_done", test_ended_before_done },
  { "close_in_flight", test_close_in_flight },
  { "free_after", test_free_after },
  { "padding", test_padding },
  { "slices", test_slices },
  { "upload_methods", test_upload_methods },
  { "close_keeps_nothing", test_close_keeps_nothing },
  { "cycles", test_cycles },
};

int
main (int argc, char **argv)
{
  return suite_main (tests, LENGTH (tests), argc, argv);
}
