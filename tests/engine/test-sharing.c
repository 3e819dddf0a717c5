/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Devices that share a GPU's tracks, on the fake backend, where any call can be
 * made to stand still: no thread that has a frame waits for another's call.
 */
#include "kernels/engine/engine.h"

#include <unistd.h>

#include "tests/fake/backend_fake.h"
#include "engineframe.h"
#include "tests/common/resources.h"

/* Longest that something which must happen may take, milliseconds. */
#define PATIENCE 10000
/* How long what must not happen is given to happen, milliseconds. */
#define CAUTION 50

/* A device with a frame. */
struct sharer {
  pp_device *device;
  struct frame frame;
  pthread_t thread; /* which submits the frame, or reserves for it */
  bool has_thread;
  bool is_through; /* that thread; atomic */
};

/* One stream each: four of them, but no other, are on the first one's track. */
enum {
  FIRST,
  OTHER,
  SECOND = PP_SHARED_TRACKS,
  THIRD = 2 * PP_SHARED_TRACKS,
  LAST = 3 * PP_SHARED_TRACKS,
  SHARERS
};

static struct sharer sharers[SHARERS];

static void
sharer_init (int number)
{
  struct sharer *sharer = &sharers[number];
  const pp_device_options options = { 1, 1 };
  const pp_spec spec = letterbox_spec (32 + number % 3 * 16, 40);
  pp_error error = { 0 };

  *sharer = (struct sharer){ .device = pp_device_open_backend (
                                 &fake_backend, -1, &options, &error) };
  EXPECT (sharer->device != NULL, "%s", error.text);
  if (sharer->device == NULL)
    exit (expect_end ());
  frame_init (&sharer->frame, pp_device_arena (sharer->device), &spec,
      rgb_format (40 + number, 40), 0, (unsigned) number);
  EXPECT (pp_device_reserve (sharer->device, sharer->frame.plan, NULL) == PP_OK,
      "reserve");
}

static void
open_all (void)
{
  for (int d = 0; d < SHARERS; d++)
    sharer_init (d);
  for (int d = 0; d < SHARERS; d++)
    EXPECT ((sharers[d].device->track[0] == sharers[FIRST].device->track[0]) ==
            (d % PP_SHARED_TRACKS == FIRST),
        "device %d is on another track", d);
}

static void
join (struct sharer *sharer)
{
  if (sharer->has_thread)
    pthread_join (sharer->thread, NULL);
  sharer->has_thread = false;
}

/* Checks the frames that were submitted. */
static void
close_all (const char *what)
{
  for (int d = 0; d < SHARERS; d++) {
    struct sharer *sharer = &sharers[d];
    join (sharer);
    if (sharer->frame.job != NULL) {
      frame_check (&sharer->frame, what);
      frame_check_callbacks (&sharer->frame, what);
    }
    frame_clear (&sharer->frame);
    pp_device_close (&sharer->device);
  }
}

static void *
submit (void *data)
{
  struct sharer *sharer = data;

  frame_submit (&sharer->frame, sharer->device, 3);
  __atomic_store_n (&sharer->is_through, true, __ATOMIC_RELEASE);
  return NULL;
}

static void
reserve_for (struct sharer *sharer, const pp_spec *spec)
{
  const pp_format format = rgb_format (300, 200);
  pp_plan *plan = make_plan (spec, &format, NULL);

  EXPECT (pp_device_reserve (sharer->device, plan, NULL) == PP_OK, "reserve");
  pp_plan_unref (&plan);
  __atomic_store_n (&sharer->is_through, true, __ATOMIC_RELEASE);
}

/* For a plan that its track has no room for, but the device has for its tables. */
static void *
reserve (void *data)
{
  const pp_spec spec = letterbox_spec (400, 300);

  reserve_for (data, &spec);
  return NULL;
}

/* For one whose tables the device has no room for, either. */
static void *
reserve_tables (void *data)
{
  const pp_spec spec = sized_spec (16000, 64);

  reserve_for (data, &spec);
  return NULL;
}

static void
start (int number, void *(*function) (void *) )
{
  struct sharer *sharer = &sharers[number];

  join (sharer);
  sharer->is_through = false;
  sharer->has_thread =
      pthread_create (&sharer->thread, NULL, function, sharer) == 0;
  EXPECT (sharer->has_thread, "no thread");
}

/* Until one call more was made than before. */
static void
expect_call (fake_call call, int before)
{
  for (int ms = 0; ms < PATIENCE && fake_count (call) == before; ms++)
    usleep (1000);
  EXPECT (fake_count (call) == before + 1, "no call stands still");
}

/* Until the next fake_stall of the call. */
static void
start_and_stall (int number, void *(*function) (void *), fake_call call)
{
  const int before = fake_count (call);

  fake_stall (call, 1);
  start (number, function);
  expect_call (call, before);
}

/* So many that reserve wait for the turn. */
static void
expect_reserving (int number, int n)
{
  pp_tracks *tracks = sharers[number].device->tracks;
  const pp_track *track = sharers[number].device->track[0];
  int reserving = -1;

  for (int ms = 0; ms < PATIENCE && reserving != n; ms++) {
    usleep (1000);
    pthread_mutex_lock (&tracks->lock);
    reserving = track->reserving;
    pthread_mutex_unlock (&tracks->lock);
  }
  EXPECT (reserving == n, "%d wait for the turn", reserving);
}

/* Whether the sharer's thread is, within so many milliseconds. */
static bool
is_through (int number, int patience)
{
  for (int ms = 0; ms < patience; ms++) {
    if (__atomic_load_n (&sharers[number].is_through, __ATOMIC_ACQUIRE))
      return true;
    usleep (1000);
  }
  return false;
}

static bool
ends (int number, int patience)
{
  for (int ms = 0; ms < patience; ms++) {
    if (pp_job_query (sharers[number].frame.job))
      return true;
    usleep (1000);
  }
  return false;
}

/* Those after the first; which of them are on its track is known. */
static void
expect_others_go_on (const char *what)
{
  for (int d = OTHER; d < SHARERS; d++) {
    if (sharers[d].frame.job != NULL)
      continue;
    start (d, submit);
    if (!is_through (d, PATIENCE)) {
      EXPECT (false, "%s: device %d waits", what, d);
      exit (expect_end ()); /* it may be for ever */
    }
    const bool is_behind = d % PP_SHARED_TRACKS == FIRST;
    EXPECT (ends (d, is_behind ? CAUTION : PATIENCE) == !is_behind,
        "%s: device %d's frame", what, d);
  }
}

/* A call of one device's stands still, on its own thread: nobody waits, and those
 * on other tracks end. Then what was left to the tracks' thread, in turn. */
static void
test_call_that_lasts (void)
{
  open_all ();
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  expect_others_go_on ("a call that lasts");
  EXPECT (!is_through (FIRST, 1), "nothing stands still");
  fake_stall (FAKE_LAUNCH, 0);
  close_all ("a call that lasts");
}

/* The same of a call that the tracks' thread makes. */
static void
test_call_that_was_left (void)
{
  open_all ();
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  start (LAST, submit);
  EXPECT (is_through (LAST, PATIENCE), "it waits");
  const int before = fake_count (FAKE_LAUNCH);
  fake_stall (FAKE_LAUNCH, 1);
  EXPECT (is_through (FIRST, PATIENCE) && ends (FIRST, PATIENCE),
      "the first one's goes on");
  expect_call (FAKE_LAUNCH, before);
  EXPECT (!ends (LAST, CAUTION), "the last one's stands still");
  expect_others_go_on ("a call that was left");

  /* the first one's next frame, on the track that is taken */
  frame_check (&sharers[FIRST].frame, "a call that was left");
  frame_clear (&sharers[FIRST].frame);
  const pp_spec spec = letterbox_spec (48, 40);
  frame_init (&sharers[FIRST].frame, pp_device_arena (sharers[FIRST].device),
      &spec, rgb_format (40, 40), 0, 9);
  start (FIRST, submit);
  EXPECT (is_through (FIRST, PATIENCE), "the first one's next frame waits");
  EXPECT (!ends (FIRST, CAUTION), "it is not behind the last one's");
  fake_stall (FAKE_LAUNCH, 0);
  close_all ("a call that was left");
}

/* Who reserves waits for the turn, gets it before those that are listed, and while
 * memory is made nobody waits. */
static void
test_reserve (void)
{
  open_all ();
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  start (LAST, submit);
  EXPECT (is_through (LAST, PATIENCE), "it waits");
  start (SECOND, reserve);
  expect_reserving (SECOND, 1);
  EXPECT (!is_through (SECOND, CAUTION), "memory is changed under a job");
  const int before = fake_count (FAKE_DEVICE_ALLOC);
  fake_stall (FAKE_DEVICE_ALLOC, 1);
  fake_stall (FAKE_LAUNCH, 0);
  expect_call (FAKE_DEVICE_ALLOC, before);
  EXPECT (!is_through (SECOND, 1) && !ends (LAST, CAUTION),
      "who reserves does not come first");
  fake_stall (FAKE_DEVICE_ALLOC, 0);
  EXPECT (is_through (SECOND, PATIENCE), "the turn does not come");
  close_all ("before a reservation");

  open_all ();
  start_and_stall (FIRST, reserve, FAKE_DEVICE_ALLOC);
  expect_others_go_on ("memory that takes long");
  fake_stall (FAKE_DEVICE_ALLOC, 0);
  close_all ("memory that takes long");
}

/* Tables are a device's own: whoever makes them does not have the turn, and frames
 * end on its track meanwhile. */
static void
test_reserve_tables (void)
{
  open_all ();
  start_and_stall (FIRST, reserve_tables, FAKE_DEVICE_ALLOC);
  for (int d = SECOND; d < SHARERS; d += PP_SHARED_TRACKS) {
    start (d, submit);
    EXPECT (is_through (d, PATIENCE), "device %d waits", d);
    EXPECT (ends (d, PATIENCE), "device %d's frame waits", d);
  }
  EXPECT (!is_through (FIRST, 1), "nothing stands still");
  fake_stall (FAKE_DEVICE_ALLOC, 0);
  EXPECT (is_through (FIRST, PATIENCE), "who reserves does not go on");
  close_all ("beside tables");
}

/* Two that reserve have the turn one after the other, and a job that is listed
 * comes between them. */
static void
test_two_that_reserve (void)
{
  open_all ();
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  start (LAST, submit);
  EXPECT (is_through (LAST, PATIENCE), "it waits");
  start (SECOND, reserve);
  start (THIRD, reserve);
  expect_reserving (SECOND, 2);
  const int allocations = fake_count (FAKE_DEVICE_ALLOC);
  fake_stall (FAKE_DEVICE_ALLOC, 1);
  fake_stall (FAKE_LAUNCH, 0);
  expect_call (FAKE_DEVICE_ALLOC, allocations);
  EXPECT (!is_through (SECOND, CAUTION) && !is_through (THIRD, CAUTION),
      "two have one turn");
  const int launches = fake_count (FAKE_LAUNCH);
  fake_stall (FAKE_LAUNCH, 1);
  fake_stall (FAKE_DEVICE_ALLOC, 0);
  expect_call (FAKE_LAUNCH, launches);
  expect_reserving (SECOND, 1);
  EXPECT (is_through (SECOND, CAUTION) + is_through (THIRD, CAUTION) <= 1,
      "no job comes between them");
  fake_stall (FAKE_LAUNCH, 0);
  EXPECT (is_through (SECOND, PATIENCE) && is_through (THIRD, PATIENCE),
      "the turn does not come");
  close_all ("two that reserve");
}

/* Who reserves is told of its own track's turn, whoever else waits for another's,
 * and longer. */
static void
test_two_tracks (void)
{
  const int neighbour = OTHER + PP_SHARED_TRACKS;

  open_all ();
  start_and_stall (OTHER, submit, FAKE_LAUNCH);
  start (neighbour, reserve);
  expect_reserving (neighbour, 1);
  start_and_stall (FIRST, submit, FAKE_RECORD);
  start (SECOND, reserve);
  expect_reserving (SECOND, 1);
  fake_stall (FAKE_RECORD, 0);
  EXPECT (is_through (SECOND, PATIENCE), "the turn does not come");
  EXPECT (!is_through (neighbour, CAUTION), "another track's turn is taken");
  fake_stall (FAKE_LAUNCH, 0);
  EXPECT (is_through (neighbour, PATIENCE), "the other track's does not come");
  close_all ("two tracks");
}

/* Of one device fails what the tracks' thread does for it; others go on. */
static void
test_failure (void)
{
  pp_error error = { 0 };

  open_all ();
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  start (LAST, submit);
  EXPECT (is_through (LAST, PATIENCE), "it waits");
  fake_fail (FAKE_LAUNCH, 1, false);
  fake_stall (FAKE_LAUNCH, 0);
  EXPECT (pp_job_wait (sharers[LAST].frame.job, &error) ==
              fake_call_status (FAKE_LAUNCH) &&
          strstr (error.text, fake_call_name (FAKE_LAUNCH)) != NULL,
      "the launch did not fail: %s", error.text);
  EXPECT (pp_device_error (sharers[LAST].device, NULL) != PP_OK &&
          pp_device_error (sharers[FIRST].device, NULL) == PP_OK,
      "another device has the error");
  pp_job_unref (&sharers[LAST].frame.job);
  close_all ("beside a failure");
}

static pthread_mutex_t callback = PTHREAD_MUTEX_INITIALIZER;

static void
stand_still (void *user, const pp_job_info *info, const pp_error *error)
{
  on_done (user, info, error);
  pthread_mutex_lock (&callback);
  pthread_mutex_unlock (&callback);
}

/* A device's callback takes its time: what another one left is queued meanwhile. */
static void
test_callback_that_lasts (void)
{
  const pp_spec spec = letterbox_spec (48, 40);
  struct frame frame;

  open_all ();
  pp_device *first = sharers[FIRST].device;
  frame_init (
      &frame, pp_device_arena (first), &spec, rgb_format (40, 40), 0, 9);
  pp_task task = frame_task (&frame, 3);
  task.done = stand_still;
  pthread_mutex_lock (&callback);
  frame.job = pp_submit (first, &task, NULL);
  frame.submitted = 1;
  frame_check (&frame, "before a callback that lasts");

  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  start (LAST, submit);
  EXPECT (is_through (LAST, PATIENCE), "it waits");
  fake_stall (FAKE_LAUNCH, 0);
  EXPECT (ends (LAST, PATIENCE), "a frame waits for another's callback");
  EXPECT (is_through (FIRST, PATIENCE) && frame.dones == 1 &&
          sharers[FIRST].frame.dones == 0,
      "the callback has returned");
  pthread_mutex_unlock (&callback);
  frame_clear (&frame);
  close_all ("a callback that lasts");
}

/* One thread for all but a device alone. */
static void
test_thread (void)
{
  const pp_device_options options = { PP_SHARED_TRACKS, 1 };
  const int none = count_resources (THREADS);
  pp_device *device[3] = { NULL };
  pp_error error = { 0 };
  int threads[3];

  for (int d = 0; d < 3; d++) {
    device[d] = pp_device_open_backend (&fake_backend, -1, &options, NULL);
    threads[d] = count_resources (THREADS);
  }
  /* each has its completion thread */
  EXPECT (threads[1] == threads[0] + 2 && threads[2] == threads[1] + 1,
      "%d, %d and %d threads", threads[0], threads[1], threads[2]);
  for (int d = 0; d < 3; d++)
    pp_device_close (&device[d]);
  EXPECT (resources_become (THREADS, none), "%d threads, %d before",
      count_resources (THREADS), none);

  device[0] = pp_device_open_backend (&fake_backend, -1, &options, NULL);
  fake_fail (FAKE_THREAD, 1, false);
  device[1] = pp_device_open_backend (&fake_backend, -1, &options, &error);
  EXPECT (device[1] == NULL && error.status == PP_NO_MEMORY &&
          strstr (error.text, fake_call_name (FAKE_THREAD)) != NULL,
      "without a thread: %s", error.text);
  pp_device_close (&device[1]);
  device[1] = pp_device_open_backend (&fake_backend, -1, &options, NULL);
  EXPECT (device[1] != NULL, "the next one does not open");
  pp_device_close (&device[1]);
  pp_device_close (&device[0]);
}

int
main (void)
{
  static void (*const tests[]) (void) = { test_call_that_lasts,
    test_call_that_was_left, test_reserve, test_reserve_tables,
    test_two_that_reserve, test_two_tracks, test_failure,
    test_callback_that_lasts, test_thread };
  char text[200];

  setvbuf (stdout, NULL, _IOLBF, 0);
  for (int t = 0; t < LENGTH (tests); t++) {
    fake_reset ();
    tests[t]();
    EXPECT (fake_live (text, sizeof text) == 0, "test %d left %s", t, text);
  }
  return expect_end ();
}
