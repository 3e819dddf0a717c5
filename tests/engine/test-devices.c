/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several devices at the same time, which share streams, on every backend.
 */
#include "enginesuite.h"

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

/* One of several devices that are used at the same time. */
struct sharer {
  pthread_t thread;
  pp_device *device;
  int number;
};

/* Frames as fast as they go, each sharer's of another size, some urgent, some
 * larger than any before: the buffers grow under the others. */
static void *
run_sharer (void *data)
{
  struct sharer *sharer = data;
  enum {
    FRAMES = 40
  };
  struct frame *frames = calloc (FRAMES, sizeof *frames);

  for (int i = 0; i < FRAMES; i++) {
    const int size = 40 + 30 * sharer->number + i / 10 * 50;
    const pp_spec spec = letterbox_spec (size, size / 2);
    frame_init (&frames[i], pp_device_arena (sharer->device), &spec,
        i % 2 ? rgb_format (2 * size, size) : nv12_format (2 * size, size), 0,
        (unsigned) (100 * sharer->number + i));
    frames[i].urgent = i % 3 == 0;
    frames[i].plan->in_two = frames[i].plan->can_be_two;
    frame_submit (&frames[i], sharer->device, (unsigned) i % 4);
  }
  for (int i = 0; i < FRAMES; i++) {
    frame_check (&frames[i], "shared");
    frame_check_callbacks (&frames[i], "shared");
    const int before = i - pp_device_streams (sharer->device);
    if (before >= 0) /* sums of differences: not to the last digit */
      EXPECT (frames[i].info.times.start > frames[before].info.times.done - 0.1,
          "sharer %d: job %d starts at %g, job %d on its stream ends at %g",
          sharer->number, i, frames[i].info.times.start, before,
          frames[before].info.times.done);
  }
  for (int i = 0; i < FRAMES; i++)
    frame_clear (&frames[i]);
  free (frames);
  return NULL;
}

static int
count_created (void)
{
  return backend == &fake_backend ? fake_count (FAKE_STREAM_CREATE) : 0;
}

/* Devices of one GPU take turns on the same streams and buffers, in either order
 * of closing; each one's streams keep their order. */
static void
test_shared_streams (void)
{
  enum {
    SHARERS = 6
  };
  struct sharer sharers[SHARERS];

  for (int round = 0; round < 4; round++) {
    const int before = count_created ();
    for (int i = 0; i < SHARERS; i++)
      sharers[i] =
          (struct sharer){ .number = i, .device = open_device (1 + i % 4) };
    /* a stream and one for upper bands */
    EXPECT (backend != &fake_backend ||
            count_created () - before == 2 * PP_SHARED_STREAMS,
        "%d streams", count_created () - before);
    for (int i = 0; i < SHARERS; i++)
      pthread_create (&sharers[i].thread, NULL, run_sharer, &sharers[i]);
    for (int i = 0; i < SHARERS; i++) {
      pthread_join (sharers[i].thread, NULL);
      if (round % 2 == 0) /* while the others work */
        pp_device_close (&sharers[i].device);
    }
    for (int i = SHARERS - 1; i >= 0; i--)
      pp_device_close (&sharers[i].device);
  }
}

/* What one device cannot get does not cost the others what they have. */
static void
test_failed_reservation (void)
{
  const pp_spec small = letterbox_spec (64, 64),
                large = letterbox_spec (640, 640);
  pp_device *device = open_device (4), *greedy = open_device (4);
  struct frame frames[4], huge;

  frame_init (
      &huge, pp_device_arena (greedy), &large, rgb_format (640, 640), 0, 1);
  for (int i = 0; i < LENGTH (frames); i++)
    frame_init (&frames[i], pp_device_arena (device), &small,
        rgb_format (64, 64), 0, (unsigned) i);
  EXPECT (pp_device_reserve (device, frames[0].plan, NULL) == PP_OK, "reserve");
  fake_fail (FAKE_DEVICE_ALLOC, 1, true);
  EXPECT (backend != &fake_backend ||
          pp_device_reserve (greedy, huge.plan, NULL) == PP_NO_MEMORY,
      "memory that is not there was reserved");
  for (int i = 0; i < LENGTH (frames); i++) {
    frame_submit (&frames[i], device, 3);
    frame_check (&frames[i], "beside a failed reservation");
  }
  fake_fail (FAKE_DEVICE_ALLOC, 0, false);
  for (int i = 0; i < LENGTH (frames); i++)
    frame_clear (&frames[i]);
  frame_clear (&huge);
  pp_device_close (&device);
  pp_device_close (&greedy);
}

/* task.after may be a job of another device on the same stream, even one that
 * is still being staged. */
static void
test_after_on_one_stream (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  pp_device *devices[PP_SHARED_STREAMS + 1];

  /* the last one's only stream is the first one's */
  for (int d = 0; d <= PP_SHARED_STREAMS; d++)
    devices[d] = open_device (1);
  for (int round = 0; round < 20; round++) {
    struct frame first, second;
    frame_init (&first, pp_device_arena (devices[0]), &spec,
        rgb_format (600, 400), 0, (unsigned) round);
    frame_init (&second, pp_device_arena (devices[PP_SHARED_STREAMS]), &spec,
        rgb_format (300, 200), 0, (unsigned) round + 50);
    frame_submit (&first, devices[0], round % 2 ? 3 : 0);
    pp_task task = frame_task (&second, round % 4 < 2 ? 3 : 0);
    task.after = first.job;
    second.job = pp_submit (devices[PP_SHARED_STREAMS], &task, NULL);
    second.submitted++;
    frame_check (&second, "after");
    EXPECT (pp_job_query (first.job), "the job before it has not ended");
    frame_check (&first, "before");
    frame_clear (&first);
    frame_clear (&second);
  }
  for (int d = 0; d <= PP_SHARED_STREAMS; d++)
    pp_device_close (&devices[d]);
}

static const struct suite_test tests[] = {
  { "several_devices", test_several_devices },
  { "shared_streams", test_shared_streams },
  { "failed_reservation", test_failed_reservation },
  { "after_on_one_stream", test_after_on_one_stream },
};

int
main (int argc, char **argv)
{
  return suite_main (tests, LENGTH (tests), argc, argv);
}
