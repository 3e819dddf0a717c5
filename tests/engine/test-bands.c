/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Urgent frames that go in two bands, on every backend.
 */
#include "enginesuite.h"

struct bands_case {
  const char *name;
  pp_format (*format) (int width, int height);
  int width, height, out;
  bool urgent, busy;
  unsigned pinned;
  int launches;
  pp_direction direction;
};

/* One frame, alone or behind another one. Only the fake device counts launches:
 * two are two bands. */
static void
check_bands (pp_device *device, const struct bands_case *c, unsigned seed)
{
  pp_spec spec = letterbox_spec (c->out, c->out);

  spec.direction = c->direction;

  struct frame before, frame;

  frame_init (&before, pp_device_arena (device), &spec,
      c->format (c->width, c->height), 0, seed);
  frame_init (&frame, pp_device_arena (device), &spec,
      c->format (c->width, c->height), 0, seed + 1);
  frame.urgent = c->urgent;
  if (c->busy)
    frame_submit (&before, device, 3);
  const int launches = fake_count (FAKE_LAUNCH);
  frame_submit (&frame, device, c->pinned);
  if (backend == &fake_backend)
    fake_hold (false);
  frame_check (&frame, c->name);
  frame_check_callbacks (&frame, c->name);
  EXPECT (backend != &fake_backend ||
          fake_count (FAKE_LAUNCH) - launches == c->launches,
      "%s: %d launches", c->name, fake_count (FAKE_LAUNCH) - launches);

  /* As a whole it moves as much. */
  if (!c->busy)
    frame_submit (&before, device, c->pinned);
  frame_check (&before, c->name);
  EXPECT (frame.info.bytes_up == before.info.bytes_up &&
          frame.info.bytes_down == before.info.bytes_down,
      "%s: %zu bytes up and %zu down, not %zu and %zu", c->name,
      frame.info.bytes_up, frame.info.bytes_down, before.info.bytes_up,
      before.info.bytes_down);
  frame_clear (&before);
  frame_clear (&frame);
}

static void
wait_for_flag (void *user, const pp_job_info *info, const pp_error *error)
{
  (void) info;
  (void) error;
  while (!__atomic_load_n ((bool *) user, __ATOMIC_ACQUIRE))
    sched_yield ();
}

/* Who waited for a tensor may send the next frame before all is said about the
 * last one: it is alone. */
static void
test_alone_again (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  pp_device *device = open_device (2);
  struct frame last, next;
  bool go_on = false;

  frame_init (
      &last, pp_device_arena (device), &spec, rgb_format (64, 64), 0, 1);
  frame_init (
      &next, pp_device_arena (device), &spec, rgb_format (64, 64), 0, 2);
  next.urgent = next.plan->in_two = true;
  pp_task task = frame_task (&last, 3);
  task.done = wait_for_flag;
  task.input_done = NULL;
  task.user = &go_on;
  pp_job *job = pp_submit (device, &task, NULL);
  pp_job_wait (job, NULL);
  const int launches = fake_count (FAKE_LAUNCH);
  frame_submit (&next, device, 3);
  EXPECT (backend != &fake_backend || fake_count (FAKE_LAUNCH) == launches + 2,
      "%d launches", fake_count (FAKE_LAUNCH) - launches);
  __atomic_store_n (&go_on, true, __ATOMIC_RELEASE);
  frame_check (&next, "alone again");
  pp_job_unref (&job);
  frame_clear (&next);
  frame_clear (&last);
  pp_device_close (&device);
}

/* An urgent frame that is alone and not too small goes in two bands. */
static void
test_bands (void)
{
  static const struct bands_case cases[] = {
    { "copied", rgb_format, 1920, 1080, 640, true, false, 3, 2, 0 },
    { "two planes", nv12_format, 1920, 1080, 640, true, false, 3, 2, 0 },
    { "groups", rgb_format, 1920, 1080, 576, true, false, 3, 2, 0 },
    { "gathered", rgb_format, 1920, 1080, 512, true, false, 3, 2, 0 },
    { "all rows", nv12_format, 1280, 720, 640, true, false, 3, 2, 0 },
    { "not urgent", rgb_format, 1920, 1080, 640, false, false, 3, 1, 0 },
    { "not alone", rgb_format, 1920, 1080, 640, true, true, 3, 1, 0 },
    { "pageable", rgb_format, 1920, 1080, 640, true, false, 0, 1, 0 },
    { "half pageable", nv12_format, 1920, 1080, 640, true, false, 1, 1, 0 },
    { "little to bring down", rgb_format, 1920, 1080, 224, true, false, 3, 1,
        0 },
    { "little to bring up", rgb_format, 480, 270, 640, true, false, 3, 1, 0 },
    { "left and right", nv12_format, 1920, 1080, 640, true, false, 3, 2,
        PP_DIRECTION_UL_LR },
    { "from the last row", rgb_format, 1920, 1080, 640, true, false, 3, 2,
        PP_DIRECTION_180 },
    { "groups from the last row", rgb_format, 1920, 1080, 576, true, false, 3,
        2, PP_DIRECTION_90R },
    { "gathered from the last row", rgb_format, 1920, 1080, 512, true, false, 3,
        2, PP_DIRECTION_UR_LL },
  };
  pp_device *device = open_device (3);

  for (unsigned round = 0; round < 4; round++)
    for (int i = 0; i < LENGTH (cases); i++) {
      if (backend == &fake_backend)
        fake_hold (cases[i].busy);
      check_bands (device, &cases[i], 100 * round + (unsigned) i);
    }
  pp_device_close (&device);
}

/* Their stages are not those of frames that overlap: automatic streams are chosen
 * by others. */
static void
test_not_measured (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  pp_device *device = open_device (0);

  for (unsigned i = 0; i < 100; i++) {
    struct frame frame;
    frame_init (
        &frame, pp_device_arena (device), &spec, rgb_format (64, 64), 0, i);
    frame.urgent = frame.plan->in_two = true;
    frame_submit (&frame, device, 3);
    frame_check (&frame, "not measured");
    EXPECT (!frame.info.streams_decided, "decided by job %u", i);
    frame_clear (&frame);
  }
  pp_device_close (&device);
}

static const struct suite_test tests[] = {
  { "bands", test_bands },
  { "alone_again", test_alone_again },
  { "not_measured", test_not_measured },
};

int
main (int argc, char **argv)
{
  return suite_main (tests, LENGTH (tests), argc, argv);
}
