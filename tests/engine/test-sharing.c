/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Devices that share streams, on the fake backend, where any call can be made to
 * stand still: whoever is in a call holds up only those that queue on the same
 * stream, and no one else.
 */
#include "kernels/engine/engine.h"

#include <unistd.h>

#include "engineframe.h"
#include "tests/common/resources.h"
#include "tests/fake/backend_fake.h"

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

/* One stream each: four of them, but no other, are on the first one's. */
enum {
  FIRST,
  OTHER,
  SECOND = PP_SHARED_STREAMS,
  THIRD = 2 * PP_SHARED_STREAMS,
  LAST = 3 * PP_SHARED_STREAMS,
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
    EXPECT (
        (sharers[d].device->stream[0] == sharers[FIRST].device->stream[0]) ==
            (d % PP_SHARED_STREAMS == FIRST),
        "device %d is on another stream", d);
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

/* For a plan that its stream has no room for, but the device has for its tables. */
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

/* Whether device d is on the first one's stream. */
static bool
is_behind (int d)
{
  return d % PP_SHARED_STREAMS == FIRST;
}

/* All but the first one submit. Those on other streams end; those on the first
 * one's wait if they must. */
static void
expect_others (bool wait, const char *what)
{
  for (int d = OTHER; d < SHARERS; d++) {
    if (sharers[d].frame.job != NULL)
      continue;
    start (d, submit);
    const bool waits = wait && is_behind (d);
    const bool through = is_through (d, waits ? CAUTION : PATIENCE);
    EXPECT (through == !waits, "%s: device %d %s", what, d,
        through ? "does not wait" : "waits");
    if (!waits && !through)
      exit (expect_end ()); /* it may be for ever */
    if (!waits)
      EXPECT (ends (d, PATIENCE), "%s: device %d's frame", what, d);
  }
}

/* A call of one device's stands still while it queues a job: those on its stream
 * wait for it to return, all others go on. */
static void
test_call_that_lasts (void)
{
  static const fake_call calls[] = { FAKE_ENTER, FAKE_COPY, FAKE_LAUNCH,
    FAKE_RECORD };

  for (int c = 0; c < LENGTH (calls); c++) {
    fake_reset ();
    open_all ();
    start_and_stall (FIRST, submit, calls[c]);
    expect_others (true, fake_call_name (calls[c]));
    EXPECT (!is_through (FIRST, 1), "nothing stands still");
    fake_stall (calls[c], 0);
    close_all (fake_call_name (calls[c]));
  }
}

/* What is queued ends, and is called back, while another device stands still
 * with the stream's lock held: threads that complete jobs never take it. */
static void
test_completion (void)
{
  open_all ();
  fake_hold (true);
  start (SECOND, submit);
  EXPECT (is_through (SECOND, PATIENCE), "it waits");
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  fake_hold (false);
  EXPECT (ends (SECOND, PATIENCE), "it does not end");
  frame_wait_callbacks (&sharers[SECOND].frame);
  EXPECT (sharers[SECOND].frame.dones == 1, "no callback");
  fake_stall (FAKE_LAUNCH, 0);
  close_all ("completion");
}

/* The same where a job failed: its streams are waited for. */
static void
test_failure (void)
{
  pp_error error = { 0 };

  open_all ();
  fake_hold (true);
  fake_fail (FAKE_LAUNCH, 1, false);
  start (SECOND, submit);
  EXPECT (is_through (SECOND, PATIENCE), "it waits");
  start_and_stall (FIRST, submit, FAKE_LAUNCH);
  fake_hold (false);
  EXPECT (pp_job_wait (sharers[SECOND].frame.job, &error) ==
              fake_call_status (FAKE_LAUNCH) &&
          strstr (error.text, fake_call_name (FAKE_LAUNCH)) != NULL,
      "the launch did not fail: %s", error.text);
  fake_stall (FAKE_LAUNCH, 0);
  EXPECT (is_through (FIRST, PATIENCE), "the first one waits");
  EXPECT (pp_device_error (sharers[SECOND].device, NULL) != PP_OK &&
          pp_device_error (sharers[FIRST].device, NULL) == PP_OK,
      "another device has the error");
  pp_job_unref (&sharers[SECOND].frame.job);
  close_all ("beside a failure");
}

/* A job of two bands failed when its upper one was queued already, on the second
 * stream: the next job on the first one waits for it, since both work in the same
 * buffers. */
static void
test_band_that_is_left (void)
{
  struct frame *failing = &sharers[FIRST].frame;

  open_all ();
  failing->urgent = failing->plan->in_two = true;
  fake_hold (true);
  fake_fail (FAKE_LAUNCH, 2, false);
  start (FIRST, submit);
  EXPECT (is_through (FIRST, PATIENCE), "it waits");
  const int waits = fake_count (FAKE_STREAM_WAIT);
  start (SECOND, submit);
  EXPECT (is_through (SECOND, PATIENCE), "the next one waits");
  EXPECT (fake_count (FAKE_STREAM_WAIT) == waits + 1,
      "its stream waits for %d events", fake_count (FAKE_STREAM_WAIT) - waits);
  fake_hold (false);
  EXPECT (pp_job_wait (failing->job, NULL) != PP_OK, "the launch did not fail");
  frame_wait_callbacks (failing);
  pp_job_unref (&failing->job);
  close_all ("a band that is left");
}

/* Nobody waits while memory is allocated, for buffers or for tables. */
static void
test_reserve (void)
{
  static void *(*const functions[]) (void *) = { reserve, reserve_tables };

  for (int f = 0; f < LENGTH (functions); f++) {
    fake_reset ();
    open_all ();
    start_and_stall (FIRST, functions[f], FAKE_DEVICE_ALLOC);
    expect_others (false, "memory that takes long");
    EXPECT (!is_through (FIRST, 1), "nothing stands still");
    fake_stall (FAKE_DEVICE_ALLOC, 0);
    EXPECT (is_through (FIRST, PATIENCE), "who reserves does not go on");
    close_all ("memory that takes long");
  }
}

/* A buffer that is replaced is freed when the jobs that work in it have ended;
 * meanwhile others go on in the new one. */
static void
test_replaced (void)
{
  open_all ();
  fake_hold (true);
  start (SECOND, submit);
  EXPECT (is_through (SECOND, PATIENCE), "it waits");
  start (FIRST, reserve);
  EXPECT (!is_through (FIRST, CAUTION), "memory is freed under a job");
  start (THIRD, submit);
  EXPECT (is_through (THIRD, PATIENCE), "a third one waits");
  fake_hold (false);
  EXPECT (is_through (FIRST, PATIENCE), "who reserves does not go on");
  close_all ("replaced");
}

/* Two reserve at once: the larger buffers stay, whoever comes first. */
static void
test_two_that_reserve (void)
{
  open_all ();
  start_and_stall (FIRST, reserve, FAKE_DEVICE_ALLOC);
  start (SECOND, reserve);
  EXPECT (is_through (SECOND, PATIENCE), "the second one waits");
  fake_stall (FAKE_DEVICE_ALLOC, 0);
  EXPECT (is_through (FIRST, PATIENCE), "the first one waits");
  expect_others (false, "two that reserve");
  close_all ("two that reserve");
}

static pthread_mutex_t callback = PTHREAD_MUTEX_INITIALIZER;

static void
stand_still (void *user, const pp_job_info *info, const pp_error *error)
{
  on_done (user, info, error);
  pthread_mutex_lock (&callback);
  pthread_mutex_unlock (&callback);
}

/* A device's callback takes its time: others on the stream go on. */
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
  expect_others (false, "a callback that lasts");
  pthread_mutex_unlock (&callback);
  frame_clear (&frame);
  close_all ("a callback that lasts");
}

/* A device adds its completion thread, and no other. */
static void
test_threads (void)
{
  const pp_device_options options = { PP_SHARED_STREAMS, 1 };
  const int none = count_resources (THREADS);
  pp_device *device[3] = { NULL };
  int threads[3];

  for (int d = 0; d < 3; d++) {
    device[d] = pp_device_open_backend (&fake_backend, -1, &options, NULL);
    threads[d] = count_resources (THREADS);
  }
  EXPECT (threads[1] == threads[0] + 1 && threads[2] == threads[1] + 1,
      "%d, %d and %d threads", threads[0], threads[1], threads[2]);
  for (int d = 0; d < 3; d++)
    pp_device_close (&device[d]);
  EXPECT (resources_become (THREADS, none), "%d threads, %d before",
      count_resources (THREADS), none);
}

/* Whoever waits polls while every device could have two cores and leave as many;
 * a device that was there first stops, too, when others are opened. */
static void
test_polling (void)
{
  const pp_device_options options = { 1, 1 };
  const pp_spec spec = letterbox_spec (48, 40);
  pp_device *device[3] = { NULL };
  struct frame frame;

  for (int d = 0; d < LENGTH (device); d++) {
    device[d] = pp_device_open_backend (&fake_backend, -1, &options, NULL);
    device[0]->n_cores = 8; /* of any machine */
    frame_init (
        &frame, pp_device_arena (device[0]), &spec, rgb_format (40, 40), 0, 1);
    frame_submit (&frame, device[0], 3);
    EXPECT (frame.job->worth_polling == (d < 2), "%d devices on 8 cores: %s",
        d + 1, frame.job->worth_polling ? "polls" : "does not poll");
    frame_check (&frame, "polling");
    frame_clear (&frame);
  }
  for (int d = 0; d < LENGTH (device); d++)
    pp_device_close (&device[d]);
}

/* ---- workers of the CPU ---- */

enum {
  ELEMENTS = 16,
  JOBS = 3200 /* of all together */
};

static struct element {
  pp_device *device;
  pthread_t thread;
  int jobs; /* submitted */
} elements[ELEMENTS];

static int jobs_left; /* atomic */
static pthread_barrier_t all_ready;

/* The frame again and again: without callbacks, which spoil its source. */
static void
submit_again (struct frame *frame, pp_device *device)
{
  pp_task task = frame_task (frame, 3);

  task.input_done = NULL;
  task.done = NULL;
  if (frame->job != NULL)
    pp_job_wait (frame->job, NULL);
  pp_job_unref (&frame->job);
  frame->job = pp_submit (device, &task, NULL);
}

static void *
submit_in_turn (void *data)
{
  struct element *element = data;
  const pp_spec spec = letterbox_spec (160, 160);
  struct frame frame[4];

  for (int f = 0; f < LENGTH (frame); f++)
    frame_init (&frame[f], pp_device_arena (element->device), &spec,
        rgb_format (320, 200), 0, (unsigned) f);
  pthread_barrier_wait (&all_ready);
  for (int f = 0; __atomic_fetch_sub (&jobs_left, 1, __ATOMIC_RELAXED) > 0;
       f = (f + 1) % LENGTH (frame)) {
    submit_again (&frame[f], element->device);
    element->jobs++;
  }
  for (int f = 0; f < LENGTH (frame); f++) {
    submit_again (&frame[f], element->device);
    frame_check (&frame[f], "an element of many");
    frame_clear (&frame[f]);
  }
  return NULL;
}

/* The slowest element's part of the mean. */
static double
slowest_part (void)
{
  int least = JOBS;

  jobs_left = JOBS;
  pthread_barrier_init (&all_ready, NULL, ELEMENTS);
  for (int e = 0; e < ELEMENTS; e++) {
    elements[e].jobs = 0;
    pthread_create (&elements[e].thread, NULL, submit_in_turn, &elements[e]);
  }
  for (int e = 0; e < ELEMENTS; e++) {
    pthread_join (elements[e].thread, NULL);
    least = elements[e].jobs < least ? elements[e].jobs : least;
  }
  pthread_barrier_destroy (&all_ready);
  return (double) least * ELEMENTS / JOBS;
}

/* Elements on the CPU share as many workers as it has cores, and none of them
 * starves. */
static void
test_workers (void)
{
  const pp_device_options options = { .streams = 4 };
  const int none = count_resources (THREADS);
  const int cores = pp_count_cores ();
  const int workers = cores < 4 * ELEMENTS ? cores : 4 * ELEMENTS;
  double part = 0;

  for (int e = 0; e < ELEMENTS; e++) {
    elements[e].device =
        pp_device_open_backend (&pp_backend_cpu, -1, &options, NULL);
    EXPECT (elements[e].device != NULL, "element %d does not open", e);
  }
  EXPECT (count_resources (THREADS) == none + ELEMENTS + workers,
      "%d threads for %d elements on %d cores",
      count_resources (THREADS) - none, ELEMENTS, cores);
  /* On a machine with other work, the scheduler decides. */
  for (int attempt = 0; attempt < 5 && part < 0.8; attempt++)
    part = slowest_part ();
  EXPECT (
      part >= 0.8, "the slowest of %d has %.2f of the mean", ELEMENTS, part);
  for (int e = 0; e < ELEMENTS; e++)
    pp_device_close (&elements[e].device);
  EXPECT (resources_become (THREADS, none), "%d threads, %d before",
      count_resources (THREADS), none);
}

/* As many workers as are asked for, as long as there are cores. */
static void
test_few_workers (void)
{
  const pp_device_options options = { .streams = 1 };
  const int none = count_resources (THREADS);
  const int cores = pp_count_cores ();
  pp_device *device[3];

  for (int d = 0; d < LENGTH (device); d++) {
    const int workers = d + 1 < cores ? d + 1 : cores;
    device[d] = pp_device_open_backend (&pp_backend_cpu, -1, &options, NULL);
    EXPECT (count_resources (THREADS) == none + d + 1 + workers,
        "%d threads for %d elements", count_resources (THREADS) - none, d + 1);
  }
  for (int d = 0; d < LENGTH (device); d++)
    pp_device_close (&device[d]);
}

int
main (void)
{
  static void (*const tests[]) (void) = { test_call_that_lasts, test_completion,
    test_failure, test_band_that_is_left, test_reserve, test_replaced,
    test_two_that_reserve, test_callback_that_lasts, test_threads, test_polling,
    test_workers, test_few_workers };
  char text[200];

  setvbuf (stdout, NULL, _IOLBF, 0);
  for (int t = 0; t < LENGTH (tests); t++) {
    fake_reset ();
    tests[t]();
    EXPECT (fake_live (text, sizeof text) == 0, "test %d left %s", t, text);
  }
  return expect_end ();
}
