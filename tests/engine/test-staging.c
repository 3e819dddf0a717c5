/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Staging of pageable input, the order of jobs, and automatic streams, on the
 * fake backend, which can be held in the middle of things.
 */
#include "kernels/engine/engine.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fake/backend_fake.h"
#include "engineframe.h"
#include "tests/common/resources.h"

/* Longest that something which must happen may take, milliseconds. */
#define PATIENCE 20000

static pp_device *
open_device (int streams, int staging_threads)
{
  const pp_device_options options = { streams, staging_threads };
  pp_error error = { 0 };
  pp_device *device =
      pp_device_open_backend (&fake_backend, -1, &options, &error);

  EXPECT (device != NULL, "%s", error.text);
  if (device == NULL)
    exit (expect_end ());
  pp_device_time_all (device, true);
  return device;
}

static bool
becomes (const int *counter, int value)
{
  for (int waited = 0; waited < PATIENCE; waited++) {
    if (__atomic_load_n (counter, __ATOMIC_SEQ_CST) == value)
      return true;
    usleep (1000);
  }
  return false;
}

/* An NV12 frame of a size and a stride that differ from frame to frame. */
static void
make_frame (struct frame *frame, pp_device *device, int number)
{
  const int size = number % 7 == 0 ? 700 : 20 + number;
  const pp_spec spec = letterbox_spec (32 + number % 3 * 16, 40);

  frame_init (frame, pp_device_arena (device), &spec,
      nv12_format (size, size / 2 + 1), number % 5, (unsigned) number);
}

/* Large and small, pinned, pageable and half of each: jobs get ready in any
 * order, start on their stream in turn and end in turn. */
static void
test_order (void)
{
  enum {
    FRAMES = 80,
    STREAMS = 3
  };
  static struct frame frame[FRAMES];

  for (int threads = 1; threads <= 5; threads += 2) {
    pp_device *device = open_device (STREAMS, threads);
    frames_ended = 0;
    for (int i = 0; i < FRAMES; i++) {
      make_frame (&frame[i], device, i);
      frame_submit (&frame[i], device, (unsigned) (i % 4));
    }
    EXPECT (pp_device_drain (device, NULL) == PP_OK, "drain");
    for (int i = 0; i < FRAMES; i++) {
      frame_check (&frame[i], "order");
      frame_check_callbacks (&frame[i], "order");
      EXPECT (frame[i].ended_as == i && frame[i].info.stream == i % STREAMS,
          "job %d ended as %d, on stream %d", i, frame[i].ended_as,
          frame[i].info.stream);
      EXPECT ((frame[i].info.bytes_staged == 0) == (i % 4 == 3),
          "job %d: %zu bytes staged", i, frame[i].info.bytes_staged);
      if (i >= STREAMS)
        EXPECT (frame[i].info.times.start >= frame[i - STREAMS].info.times.done,
            "job %d started before job %d was done", i, i - STREAMS);
    }
    for (int i = 0; i < FRAMES; i++)
      frame_clear (&frame[i]);
    pp_device_close (&device);
  }
}

/* The device stands still; the input is free as soon as its rows are copied, but
 * not where a plane of it is still to be uploaded. */
static void
test_released_when_copied (void)
{
  pp_device *device = open_device (2, 2);
  struct frame pageable, half;

  make_frame (&pageable, device, 1);
  make_frame (&half, device, 2);
  fake_hold (true);
  frame_submit (&pageable, device, 0);
  frame_submit (&half, device, 1);
  EXPECT (becomes (&pageable.inputs_done, 1), "input is held");
  usleep (20000);
  EXPECT (pageable.dones == 0 && half.inputs_done == 0,
      "%d done, %d inputs of a pinned plane", pageable.dones, half.inputs_done);
  fake_hold (false);
  frame_check (&pageable, "pageable");
  frame_check (&half, "half");
  frame_clear (&pageable);
  frame_clear (&half);
  pp_device_close (&device);
}

/* Nothing can be copied, since it comes after a job that stands still:
 * submitting goes on, and what is pinned behind it keeps its place. The second
 * frame's input is the first one's tensor. */
static void
test_after (void)
{
  pp_device *device = open_device (2, 1);
  struct frame first, second, third;
  pp_spec spec = sized_spec (128, 96);

  spec.type = PP_TYPE_UINT8;
  spec.layout = PP_LAYOUT_NHWC;
  frame_init (
      &first, pp_device_arena (device), &spec, rgb_format (300, 200), 0, 1);
  spec = sized_spec (50, 40);
  frame_init (
      &second, pp_device_arena (device), &spec, rgb_format (128, 96), 0, 2);
  make_frame (&third, device, 3);
  const pp_view tensor = { .plane = { first.expected }, .stride = { 128 * 3 } };
  const pp_view view = pp_plan_crop_view (second.plan, &tensor);
  pp_apply_c (second.plan, &view, second.expected);

  frames_ended = 0;
  fake_hold (true);
  frame_submit (&first, device, 1);
  frame_submit_after (&second, device, 0, &first);
  frame_submit (&third, device, 3);
  usleep (20000);
  EXPECT (__atomic_load_n (&second.inputs_done, __ATOMIC_SEQ_CST) == 0,
      "copied before the other job ended");
  fake_hold (false);
  frame_check (&third, "pinned behind");
  frame_check (&second, "after");
  frame_check (&first, "before");
  EXPECT (first.ended_as == 0 && second.ended_as == 1 && third.ended_as == 2,
      "ended as %d, %d, %d", first.ended_as, second.ended_as, third.ended_as);
  frame_clear (&third);
  frame_clear (&second);
  frame_clear (&first);
  pp_device_close (&device);
}

/* Pinned frames take no staging thread to be there. */
static void
test_threads (void)
{
  const int before = count_resources (THREADS);
  pp_device *device = open_device (2, 3);
  const int opened = count_resources (THREADS);
  struct frame frame;

  for (unsigned pinned = 3; pinned <= 3; pinned--) {
    make_frame (&frame, device, 4);
    frame_submit (&frame, device, pinned);
    frame_check (&frame, "threads");
    frame_clear (&frame);
    const int now = count_resources (THREADS);
    EXPECT (now == opened + (pinned == 3 ? 0 : 3),
        "%d threads, %d when opened, planes 0x%x pinned", now, opened, pinned);
  }
  pp_device_close (&device);
  EXPECT (resources_become (THREADS, before), "%d threads, %d before",
      count_resources (THREADS), before);
}

/* Jobs of several pictures, all pinned. One that comes while the device has other
 * work is queued by a staging thread: submitting it, and a frame behind it, goes
 * on while its launch stands still. It takes two threads, and more jobs are of
 * use. */
static void
test_several_pictures (void)
{
  enum {
    FRAMES = 4
  };
  static const pp_rect rects[] = { { 0, 0, 20, 10 }, { 3, 2, 15, 8 } };
  const pp_format format = nv12_format (40, 21);
  const pp_spec spec = letterbox_spec (32, 40);
  pp_device *device = open_device (3, 3);
  const int opened = count_resources (THREADS);
  struct frame frame[FRAMES];

  for (int i = 0; i < FRAMES; i++) {
    frame_init (&frame[i], pp_device_arena (device), &spec, format, 0, 1);
    if (i < 2)
      frame_set_regions (&frame[i], &spec, format, rects, LENGTH (rects));
  }
  frames_ended = 0;
  frame_submit (&frame[0], device, 3);
  EXPECT (pp_device_drain (device, NULL) == PP_OK, "drain");
  EXPECT (count_resources (THREADS) == opened, "%d threads for a job alone",
      count_resources (THREADS) - opened);

  fake_hold (true);
  frame_submit (&frame[2], device, 3);
  fake_stall (FAKE_LAUNCH_PICTURES, 1);
  frame_submit (&frame[1], device, 3);
  frame_submit (&frame[3], device, 3);
  EXPECT (count_resources (THREADS) == opened + 2, "%d threads beside another",
      count_resources (THREADS) - opened);
  EXPECT (pp_device_useful_jobs (device) == 6, "%d jobs",
      pp_device_useful_jobs (device));
  fake_stall (FAKE_LAUNCH_PICTURES, 0);
  fake_hold (false);
  EXPECT (pp_device_drain (device, NULL) == PP_OK, "drain");
  static const int ended[FRAMES] = { 0, 2, 1, 3 };
  for (int i = 0; i < FRAMES; i++) {
    frame_check (&frame[i], "several pictures");
    frame_check_callbacks (&frame[i], "several pictures");
    EXPECT (frame[i].ended_as == ended[i], "job %d ended as %d", i,
        frame[i].ended_as);
    frame_clear (&frame[i]);
  }
  pp_device_close (&device);
}

/* Two frames for each of four threads fit on one stream that stands still, and
 * closing waits for them. */
static void
test_room (void)
{
  enum {
    FRAMES = 8
  };
  struct frame frame[FRAMES];
  pp_device *device = open_device (1, 4);

  for (int i = 0; i < FRAMES; i++)
    make_frame (&frame[i], device, i);
  /* The first one makes the threads. */
  frame_submit (&frame[0], device, 0);
  frame_check (&frame[0], "room");
  frame_clear (&frame[0]);
  make_frame (&frame[0], device, 0);
  fake_hold (true);
  for (int i = 0; i < FRAMES; i++)
    frame_submit (&frame[i], device, 0);
  for (int i = 0; i < FRAMES; i++)
    EXPECT (becomes (&frame[i].inputs_done, 1), "frame %d is not copied", i);
  fake_hold (false);
  pp_device_close (&device);
  frames_check_closed (frame, FRAMES);
}

/* No pinned memory for a staged frame: its job fails, those ahead do not, and
 * later ones are refused. */
static void
test_no_memory (void)
{
  pp_device *device = open_device (2, 2);
  struct frame pinned, staged, late;
  pp_error error = { 0 };

  make_frame (&pinned, device, 1);
  make_frame (&staged, device, 2);
  make_frame (&late, device, 3);
  frame_submit (&pinned, device, 3);
  fake_fail (FAKE_HOST_ALLOC, 1, true);
  frame_submit (&staged, device, 0);
  EXPECT (pp_job_wait (staged.job, &error) == PP_NO_MEMORY &&
          strstr (error.text, "host_alloc") != NULL,
      "status %d: %s", (int) error.status, error.text);
  frame_check (&pinned, "pinned");
  frame_check_callbacks (&staged, "staged");
  EXPECT (staged.failed && fake_count (FAKE_LAUNCH) == 1,
      "the callback saw %s, %d launches", staged.failed ? "an error" : "none",
      fake_count (FAKE_LAUNCH));

  const pp_task task = frame_task (&late, 0);
  error = (pp_error){ 0 };
  EXPECT (
      pp_submit (device, &task, &error) == NULL && error.status == PP_NO_MEMORY,
      "late: %s", error.text);
  EXPECT (pp_device_drain (device, NULL) == PP_NO_MEMORY, "drain");
  fake_reset ();
  frame_clear (&pinned);
  frame_clear (&staged);
  frame_clear (&late);
  pp_device_close (&device);
}

/* Of two jobs that fail, the device remembers the first. */
static void
test_first_error (void)
{
  pp_device *device = open_device (2, 1);
  struct frame first, second;
  pp_error error = { 0 };

  make_frame (&first, device, 1);
  make_frame (&second, device, 2);
  fake_fail (FAKE_LAUNCH, 1, true);
  fake_hold (true);
  frame_submit (&first, device, 3);
  frame_submit (&second, device, 3);
  fake_hold (false);
  EXPECT (pp_device_drain (device, &error) == PP_DEVICE_FAILED &&
          strstr (error.text, "launch 1 ") != NULL,
      "%s", error.text);
  frame_clear (&first);
  frame_clear (&second);
  pp_device_close (&device);
}

/* Room for a larger plan: the tables that were there are not any more. */
static void
test_reserve_between_jobs (void)
{
  pp_device *device = open_device (1, 1);
  pp_spec spec = sized_spec (16000, 64);
  const pp_format format = rgb_format (300, 200);
  struct frame first, second;

  spec.type = PP_TYPE_UINT8;
  pp_plan *large = make_plan (&spec, &format, NULL);
  make_frame (&first, device, 1);
  make_frame (&second, device, 1);
  frame_submit (&first, device, 3);
  frame_check (&first, "first");
  const size_t before = device->tables[0].block.size;
  EXPECT (pp_device_reserve (device, large, NULL) == PP_OK, "reserve");
  EXPECT (device->tables[0].block.size > before, "its tables are no larger");
  pp_task task = frame_task (&second, 3);
  second.picture.plan = first.plan;
  second.job = pp_submit (device, &task, NULL);
  frame_check (&second, "second");
  frame_clear (&first);
  frame_clear (&second);
  pp_plan_unref (&large);
  pp_device_close (&device);
}

/* Where there is room for a frame there is for a part of it, of which more of the
 * tensor's rows have taps. */
static void
test_reserve_for_a_part (void)
{
  const pp_spec spec = letterbox_spec (1280, 1280);
  const pp_format format = nv12_format (1920, 1080);
  const pp_rect rect = { 650, 10, 988, 994 };
  pp_device *device = open_device (1, 1);
  pp_plan *part = make_plan (&spec, &format, &rect);
  struct frame frame;

  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 1);
  EXPECT (pp_device_reserve (device, frame.plan, NULL) == PP_OK, "reserve");
  const int before = fake_count (FAKE_DEVICE_ALLOC);
  pp_task task = frame_task (&frame, 3);
  frame.picture.plan = part;
  frame.job = pp_submit (device, &task, NULL);
  frame.submitted = 1;
  EXPECT (pp_job_wait (frame.job, NULL) == PP_OK, "a part");
  EXPECT (fake_count (FAKE_DEVICE_ALLOC) == before, "%d allocations",
      fake_count (FAKE_DEVICE_ALLOC) - before);
  frame_clear (&frame);
  pp_plan_unref (&part);
  pp_device_close (&device);
}

/* More jobs are of use once frames are staged. */
static void
test_useful_jobs (void)
{
  pp_device *device = open_device (2, 3);
  struct frame frame;

  EXPECT (pp_device_useful_jobs (device) == 2, "%d before",
      pp_device_useful_jobs (device));
  make_frame (&frame, device, 1);
  frame_submit (&frame, device, 0);
  frame_check (&frame, "useful");
  EXPECT (pp_device_useful_jobs (device) == 6, "%d with staging",
      pp_device_useful_jobs (device));
  frame_clear (&frame);
  pp_device_close (&device);
}

/* fork, and what runs none of its handlers, as _Fork does. */
static pid_t
fork_somehow (bool bare)
{
  return bare ? (pid_t) syscall (SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL)
              : fork ();
}

/* A fork's child waits for nothing that only its parent's threads can end. */
static void
check_fork (bool bare)
{
  pp_device *device = open_device (2, 1);
  struct frame frame;
  int status = -1;

  make_frame (&frame, device, 1);
  fake_hold (true);
  frame_submit (&frame, device, 3);
  const pid_t child = fork_somehow (bare);
  if (child == 0) {
    alarm (PATIENCE / 1000);
    _exit (pp_job_wait (frame.job, NULL) != PP_DEVICE_FAILED ||
        pp_device_drain (device, NULL) != PP_DEVICE_FAILED);
  }
  EXPECT (waitpid (child, &status, 0) == child && status == 0,
      "the child's status is %d", status);
  fake_hold (false);
  frame_check (&frame, "fork");
  frame_clear (&frame);
  pp_device_close (&device);
}

static void
test_fork (void)
{
  check_fork (false);
  check_fork (true);
}

static void
test_choice (void)
{
  static const struct {
    double upload, kernel, download;
    int most, expected;
  } cases[] = {
    /* one stage is nearly all there is */
    { 100, 1, 1, 4, 2 },
    { 1, 100, 1, 4, 2 },
    /* 1080p RGB to 640 float32: both ways alike, the kernel between */
    { 41, 4, 54, 4, 3 },
    /* three stages alike need one stream each, and slack */
    { 50, 50, 50, 4, 4 },
    { 50, 50, 50, 3, 3 },
    /* 1080p RGB to 224: what is between the stages counts, too */
    { 35, 4, 9, 4, 3 },
    /* it is all there is */
    { 0, 0, 0, 4, 4 },
  };

  for (int i = 0; i < LENGTH (cases); i++) {
    const double length[PP_N_STAGES] = {
      [PP_STAGE_UPLOAD] = cases[i].upload,
      [PP_STAGE_KERNEL] = cases[i].kernel,
      [PP_STAGE_DOWNLOAD] = cases[i].download,
    };
    const int chosen = pp_stream_choice_rule (length, cases[i].most);
    EXPECT (chosen == cases[i].expected, "case %d: %d, not %d", i, chosen,
        cases[i].expected);
  }
}

/* Four streams are made; some of them are used when enough jobs have been seen,
 * and all again after a reservation. The tensors do not notice. */
static void
test_automatic_streams (void)
{
  enum {
    FRAMES = 120
  };
  pp_device *device = open_device (0, 0);
  int last = 4;

  EXPECT (
      pp_device_streams (device) == 4 && pp_device_streams_in_use (device) == 4,
      "%d streams, %d in use", pp_device_streams (device),
      pp_device_streams_in_use (device));
  for (int i = 0; i < FRAMES; i++) {
    struct frame frame;
    make_frame (&frame, device, i);
    frame_submit (&frame, device, i % 2 ? 3 : 0);
    frame_check (&frame, "automatic");
    last = frame.info.streams_in_use;
    EXPECT (frame.info.stream < last && (i >= 64 || last == 4),
        "job %d on stream %d of %d", i, frame.info.stream, last);
    frame_clear (&frame);
  }
  EXPECT (last >= 2 && last <= 4 && last == pp_device_streams_in_use (device),
      "%d in use, %d by the last job", pp_device_streams_in_use (device), last);

  struct frame frame;
  make_frame (&frame, device, 1);
  EXPECT (pp_device_reserve (device, frame.plan, NULL) == PP_OK &&
          pp_device_streams_in_use (device) == 4,
      "%d in use after a reservation", pp_device_streams_in_use (device));
  frame_clear (&frame);
  pp_device_close (&device);
}

/* A job that fails when all but its last event is queued, and one after it that
 * writes the same tensor: that must not look well. */
static void
test_after_one_that_fails (void)
{
  enum {
    RECORDS = 4 /* of a job */
  };
  const pp_spec spec = letterbox_spec (600, 600);

  for (int round = 0; round < 50; round++) {
    pp_device *device = open_device (2, 0);
    struct frame first, second;
    frame_init (
        &first, pp_device_arena (device), &spec, rgb_format (16, 16), 0, 1);
    frame_init (
        &second, pp_device_arena (device), &spec, rgb_format (16, 16), 0, 2);
    pp_device_reserve (device, first.plan, NULL);
    pp_task task = frame_task (&second, 3);
    second.picture.tensor = first.tensor;
    fake_hold (true);
    fake_fail (FAKE_RECORD, RECORDS, false);
    frame_submit (&first, device, 3);
    task.after = first.job;
    second.job = pp_submit (device, &task, NULL);
    second.submitted++;
    fake_hold (false);
    const bool good =
        second.job != NULL && pp_job_wait (second.job, NULL) == PP_OK;
    pp_device_drain (device, NULL);
    EXPECT (!good ||
            memcmp (first.tensor, second.expected, second.tensor_size) == 0,
        "round %d: the job after one that failed is wrong", round);
    frame_clear (&second);
    frame_clear (&first);
    pp_device_close (&device);
  }
}

/* What the nth allocation of device memory and all later ones fail for. */
static void
check_room (int streams, int nth, int wanted)
{
  pp_device *device = open_device (streams, 0);
  pp_error error = { 0 };
  struct frame frame;

  make_frame (&frame, device, 1);
  fake_fail (FAKE_DEVICE_ALLOC, nth, true);
  const pp_status status = pp_device_reserve (device, frame.plan, &error);
  const int in_use = pp_device_streams_in_use (device);
  EXPECT (
      wanted > 0 ? status == PP_OK && in_use == wanted : status == PP_NO_MEMORY,
      "%d streams, allocation %d: status %d, %d in use: %s", streams, nth,
      (int) status, in_use, error.text);
  for (int i = 0; i < 100 && wanted > 0; i++) {
    struct frame next;
    make_frame (&next, device, 1);
    frame_submit (&next, device, 3);
    frame_check (&next, "fewer streams");
    EXPECT (next.info.stream < wanted, "job %d on stream %d of %d", i,
        next.info.stream, wanted);
    frame_clear (&next);
  }
  fake_fail (FAKE_DEVICE_ALLOC, 0, false);
  /* none is lost for good */
  EXPECT (pp_device_reserve (device, frame.plan, NULL) == PP_OK &&
          pp_device_streams_in_use (device) == pp_device_streams (device),
      "%d in use with memory", pp_device_streams_in_use (device));
  frame_clear (&frame);
  pp_device_close (&device);
}

/* Where device memory ends, automatic streams are those that have room; streams
 * that were asked for are not given up in silence. */
static void
test_fewer_streams (void)
{
  enum {
    BLOCKS = 3 /* of a stream: source, tensor, tables */
  };

  for (int nth = 1; nth <= 4 * BLOCKS; nth++) {
    check_room (0, nth, (nth - 1) / BLOCKS);
    check_room (4, nth, 0);
  }
  check_room (0, 4 * BLOCKS + 1, 4);
  check_room (4, 4 * BLOCKS + 1, 4);
}

int
main (void)
{
  static void (*const tests[]) (void) = { test_order, test_released_when_copied,
    test_after, test_threads, test_several_pictures, test_room, test_no_memory,
    test_first_error, test_useful_jobs, test_reserve_between_jobs,
    test_reserve_for_a_part, test_fork, test_choice, test_automatic_streams,
    test_fewer_streams, test_after_one_that_fails };

  for (int t = 0; t < LENGTH (tests); t++) {
    fake_reset ();
    tests[t]();
  }
  return expect_end ();
}
