/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The engine on one backend, named by the argument: the same suite for each.
 * Exits with 77 where the backend has no device.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/kernels.h"

#include "formats.h"

#define SKIP 77

static pp_backend_id backend;

/* A frame and the tensors that the engine and the reference make of it. */
struct frame {
  pp_arena *arena;
  pp_plan *plan;
  uint8_t *source, *tensor, *expected;
  size_t source_size, tensor_size;
  uint64_t padding;
  pp_view view;
  pp_job *job;
  /* what the callbacks saw */
  int inputs_done, dones;
  bool input_first, failed;
  pp_job_info info;
};

static void
on_input_done (void *user)
{
  struct frame *frame = user;

  frame->inputs_done++;
  frame->input_first = frame->dones == 0;
  /* The device has let go of it: nothing may read this. */
  memset (frame->source, 0x5a, frame->source_size);
}

static void
on_done (void *user, const pp_job_info *info, const pp_error *error)
{
  struct frame *frame = user;

  frame->dones++;
  frame->failed = error != NULL;
  frame->info = *info;
}

/* A random NV12 or RGB frame of width x height, whose content depends on seed,
 * with rows pad bytes longer than they need. */
static void
frame_init (struct frame *frame, pp_arena *arena, const pp_spec *spec,
    pp_format format, int pad, unsigned seed)
{
  const size_t stride =
      (size_t) format.width * (format.model == PP_MODEL_RGB ? 3 : 1) +
      (size_t) pad;
  const size_t rows = (size_t) format.height +
      (format.model == PP_MODEL_RGB ? 0 : ((size_t) format.height + 1) / 2);

  memset (frame, 0, sizeof *frame);
  frame->arena = pp_arena_ref (arena);
  frame->plan = make_plan (spec, &format, NULL);
  frame->source_size = (stride + 1) * rows;
  frame->tensor_size = pp_plan_tensor_size (frame->plan);
  frame->source = pp_arena_alloc (arena, frame->source_size, NULL);
  frame->tensor = pp_arena_alloc (arena, frame->tensor_size, NULL);
  frame->expected = malloc (frame->tensor_size);
  for (size_t i = 0; i < frame->source_size; i++)
    frame->source[i] = (uint8_t) rand_r (&seed);
  memset (frame->tensor, 0xee, frame->tensor_size);
  frame->view.plane[0] = frame->source;
  frame->view.plane[1] = frame->source + stride * (size_t) format.height;
  frame->view.stride[0] = stride;
  frame->view.stride[1] = stride + (size_t) (format.width & 1);

  const pp_view view = pp_plan_crop_view (frame->plan, &frame->view);
  pp_apply_c (frame->plan, &view, frame->expected);
}

static pp_task
frame_task (struct frame *frame, unsigned pinned)
{
  return (pp_task){ .plan = frame->plan,
    .view = frame->view,
    .pinned_planes = pinned,
    .tensor = frame->tensor,
    .padding = &frame->padding,
    .input_done = on_input_done,
    .done = on_done,
    .user = frame };
}

static void
frame_submit (struct frame *frame, pp_device *device, unsigned pinned)
{
  const pp_task task = frame_task (frame, pinned);
  pp_error error = { 0 };

  frame->job = pp_submit (device, &task, &error);
  EXPECT (frame->job != NULL, "%s", error.text);
}

static void
frame_check (struct frame *frame, const char *what)
{
  pp_error error = { 0 };

  EXPECT (frame->job != NULL && pp_job_wait (frame->job, &error) == PP_OK,
      "%s: %s", what, error.text);
  EXPECT (memcmp (frame->tensor, frame->expected, frame->tensor_size) == 0,
      "%s: tensor differs from the reference's", what);
}

/* Waits for the job first. */
static void
frame_clear (struct frame *frame)
{
  if (frame->job != NULL)
    pp_job_wait (frame->job, NULL);
  pp_job_unref (&frame->job);
  pp_arena_free (frame->arena, frame->source, frame->source_size);
  pp_arena_free (frame->arena, frame->tensor, frame->tensor_size);
  pp_plan_unref (&frame->plan);
  pp_arena_unref (&frame->arena);
  free (frame->expected);
}

static pp_spec
letterbox_spec (int width, int height)
{
  pp_spec spec = sized_spec (width, height);

  spec.fit = PP_FIT_LETTERBOX;
  for (int c = 0; c < 3; c++) {
    spec.mean[c] = 0.1 * (c + 1);
    spec.std[c] = 0.2 * (c + 1);
  }
  return spec;
}

static pp_device *
open_device (int streams)
{
  pp_error error = { 0 };
  pp_device *device = pp_device_open (backend, -1, streams, &error);

  EXPECT (device != NULL, "%d streams: %s", streams, error.text);
  if (device == NULL)
    exit (expect_end ());
  return device;
}

static void
test_arguments (void)
{
  static const int streams[] = { 0, -1, PP_MAX_STREAMS + 1 };
  pp_error error = { 0 };

  for (int i = 0; i < LENGTH (streams); i++) {
    pp_device *device = pp_device_open (backend, -1, streams[i], &error);
    EXPECT (device == NULL && error.status == PP_BAD_ARGUMENT &&
            strstr (error.text, "streams is "),
        "%d streams: %s", streams[i], error.text);
  }
  pp_device *device = pp_device_open (backend, 99, 1, &error);
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
  task.plan = NULL;
  EXPECT (pp_submit (device, &task, &error) == NULL, "no plan");
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
    for (int i = 0; i < FRAMES; i++) {
      const int size = i % 7 == 0 ? 700 : 20 + i;
      const pp_spec spec = letterbox_spec (32 + i % 3 * 16, 40);
      frame_init (&frame[i], pp_device_arena (device), &spec,
          i % 2 ? rgb_format (size, size / 2 + 1)
                : nv12_format (size, size / 2 + 1),
          i % 5, (unsigned) i);
      frame_submit (&frame[i], device, (unsigned) (i % 4));
    }
    EXPECT (pp_device_drain (device, NULL) == PP_OK, "drain");
    for (int i = 0; i < FRAMES; i++) {
      EXPECT (pp_job_query (frame[i].job), "job %d after drain", i);
      frame_check (&frame[i], "round robin");
      EXPECT (frame[i].inputs_done == 1 && frame[i].dones == 1 &&
              frame[i].input_first && !frame[i].failed,
          "job %d: %d inputs done, %d done", i, frame[i].inputs_done,
          frame[i].dones);
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
    const size_t up = backend == PP_BACKEND_CPU
        ? 0
        : (size_t) extent.width * (size_t) extent.height;
    EXPECT (frame[i].info.bytes_up == up && frame[i].info.bytes_staged == 0,
        "job %d: %zu bytes up, %zu staged", i, frame[i].info.bytes_up,
        frame[i].info.bytes_staged);
    frame_clear (&frame[i]);
  }
  pp_device_close (&device);
}

/* A second job that reads, as its source, the tensor of the first, on another
 * stream: right only if it waits. */
static void
test_after (void)
{
  pp_device *device = open_device (2);

  for (int round = 0; round < 20; round++) {
    struct frame first, second;
    pp_spec spec = sized_spec (512, 512);
    spec.type = PP_TYPE_UINT8;
    spec.layout = PP_LAYOUT_NHWC;
    frame_init (&first, pp_device_arena (device), &spec,
        rgb_format (1500, 1500), 0, (unsigned) round);
    spec = sized_spec (100, 90);
    frame_init (
        &second, pp_device_arena (device), &spec, rgb_format (512, 512), 0, 1);
    /* What the reference makes of the first one's tensor. */
    const pp_view tensor = { .plane = { first.expected },
      .stride = { 512 * 3 } };
    const pp_view view = pp_plan_crop_view (second.plan, &tensor);
    pp_apply_c (second.plan, &view, second.expected);

    frame_submit (&first, device, 1);
    pp_task task = frame_task (&second, 1);
    task.view.plane[0] = first.tensor;
    task.after = first.job;
    second.job = pp_submit (device, &task, NULL);
    frame_check (&second, "after");
    frame_check (&first, "before");
    frame_clear (&second);
    frame_clear (&first);
  }
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
    for (int i = 0; i < FRAMES; i++) {
      EXPECT (pp_job_query (frame[i].job), "job %d after close", i);
      frame_check (&frame[i], "closed");
      frame_clear (&frame[i]);
    }
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
  frame_clear (&frame);
  pp_device_close (&device);
}

static void *
run_alone (void *data)
{
  pp_spec spec = letterbox_spec (96, 96);
  const int number = *(const int *) data;
  pp_device *device = open_device (2);

  for (int c = 0; c < 3; c++)
    spec.mean[c] = number;
  for (int i = 0; i < 30; i++) {
    struct frame frame;
    frame_init (&frame, pp_device_arena (device), &spec, rgb_format (320, 240),
        0, (unsigned) i);
    frame_submit (&frame, device, 1);
    frame_check (&frame, "alone");
    frame_clear (&frame);
  }
  pp_device_close (&device);
  return NULL;
}

/* Devices with other parameters at the same time share no state. */
static void
test_several_devices (void)
{
  static int number[] = { 0, 1, 2 };
  pthread_t thread[LENGTH (number)];

  for (int i = 0; i < LENGTH (number); i++)
    pthread_create (&thread[i], NULL, run_alone, &number[i]);
  for (int i = 0; i < LENGTH (number); i++)
    pthread_join (thread[i], NULL);
}

static int
count_entries (const char *command)
{
  FILE *pipe = popen (command, "r");
  int count = -1;

  if (pipe == NULL || fscanf (pipe, "%d", &count) != 1)
    count = -1;
  if (pipe != NULL)
    pclose (pipe);
  return count;
}

/* Threads and descriptors of this process. */
static void
count_resources (int *threads, int *descriptors)
{
  char command[64];

  snprintf (command, sizeof command, "ls /proc/%d/task | wc -l", getpid ());
  *threads = count_entries (command);
  snprintf (command, sizeof command, "ls /proc/%d/fd | wc -l", getpid ());
  *descriptors = count_entries (command);
}

static void
test_cycles (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  int threads[2], descriptors[2];

  for (int cycle = 0; cycle < 60; cycle++) {
    pp_device *device = open_device (2);
    struct frame frame;
    frame_init (
        &frame, pp_device_arena (device), &spec, rgb_format (64, 64), 0, 3);
    frame_submit (&frame, device, (unsigned) cycle % 2);
    frame_check (&frame, "cycle");
    frame_clear (&frame);
    pp_device_close (&device);
    if (cycle == 9)
      count_resources (&threads[0], &descriptors[0]);
  }
  count_resources (&threads[1], &descriptors[1]);
  EXPECT (threads[0] == threads[1], "threads grew from %d to %d", threads[0],
      threads[1]);
  EXPECT (descriptors[0] == descriptors[1], "descriptors grew from %d to %d",
      descriptors[0], descriptors[1]);
}

int
main (int argc, char **argv)
{
  static const struct {
    const char *name;
    pp_backend_id id;
  } backends[] = { { "cpu", PP_BACKEND_CPU }, { "cuda", PP_BACKEND_CUDA } };
  static void (*const tests[]) (void) = { test_arguments, test_round_robin,
    test_times, test_after, test_close_in_flight, test_free_after, test_padding,
    test_several_devices, test_cycles };
  pp_error error = { 0 };
  int which = -1;

  for (int b = 0; b < LENGTH (backends); b++)
    if (argc == 2 && strcmp (argv[1], backends[b].name) == 0)
      which = b;
  if (which < 0) {
    fprintf (stderr, "usage: %s cpu|cuda\n", argv[0]);
    return 2;
  }
  backend = backends[which].id;

  pp_device *device = pp_device_open (backend, -1, 1, &error);
  if (device == NULL) {
    printf ("SKIP: %s\n", error.text);
    return error.status == PP_NO_DEVICE ? SKIP : 1;
  }
  printf ("%s\n", pp_device_name (device));
  pp_device_close (&device);
  for (int t = 0; t < LENGTH (tests); t++)
    tests[t]();
  return expect_end ();
}
