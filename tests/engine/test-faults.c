/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Every call that can fail, failing the first time, the second time and so on
 * until nothing is left that fails, once and from then on. Each job ends once,
 * right or with the call's name; nothing is leaked, closing does not hang, and
 * the next device works. Prints a row for each call.
 */
#include "kernels/engine/engine.h"

#include <unistd.h>

#include "tests/fake/backend_fake.h"
#include "engineframe.h"
#include "tests/common/resources.h"

#define FRAMES 8
/* While the first of them are submitted, the device stands still. */
#define HELD_FRAMES 4
/* These are on one stream, and the tables of the first serve the second, too,
 * unless their upload failed. */
#define FIRST_OF_PLAN 1
#define SECOND_OF_PLAN 3
/* Seconds until one run counts as hanging. */
#define PATIENCE 60

/* Of other memory than the device's, so that only the device's calls count. */
static struct frame frames[FRAMES];
/* What lies on the device, if it has memory. The first two are there when the
 * events of the last are lent, and the last three use their resources again. */
static const unsigned places[FRAMES] = { [1] = TENSOR_ON_DEVICE,
  [2] = SOURCE_ON_DEVICE | TENSOR_ON_DEVICE,
  [5] = SOURCE_ON_DEVICE,
  [6] = SOURCE_ON_DEVICE | TENSOR_ON_DEVICE,
  [7] = TENSOR_ON_DEVICE };
static uint8_t *sources[FRAMES]; /* what is in them before a job */

/* What happens to one device. */
struct scenario {
  const pp_backend *backend;
  fake_call call;
  int nth;
  bool sticky;   /* it fails from then on */
  bool reserved; /* before the first job; else jobs allocate */
};

/* What the failures of one call led to, in runs. */
struct tally {
  int runs, no_device, no_room, refused, failed, unnoticed, lost;
};

/* One that has regions and is pageable, and one that is pinned. */
#define PAGEABLE_REGIONS 4
#define PINNED_REGIONS 7

/* Where the device stands still, nothing waits to be copied. Then pinned,
 * pageable and half of each. */
static unsigned
pinned_planes (int number)
{
  return number < HELD_FRAMES ? 3 : (unsigned) number % 4;
}

/* memory: on the device; NULL where it has none. */
static void
make_frames (pp_arena *arena, pp_arena *memory)
{
  for (int i = 0; i < FRAMES; i++) {
    const pp_spec spec = letterbox_spec (32, 32);
    /* The first kind is gathered, the second is copied. */
    const pp_format format = i % 2 == 0
        ? rgb_format (120, 68)
        : nv12_format (i == SECOND_OF_PLAN ? 45 : 40 + i * 5, 33);

    frame_init (&frames[i], arena, &spec, format, i % 3, (unsigned) i);
    if (i == PAGEABLE_REGIONS || i == PINNED_REGIONS) {
      const pp_rect regions[] = { { 0, 0, 9, 8 }, { 60, 7, 15, 9 },
        { 3, 20, 10, 11 } };
      frame_set_regions (&frames[i], &spec, format, regions, LENGTH (regions));
    }
    /* small as it is */
    frames[i].urgent = frames[i].plan->in_two = i == 0;
    if (i == SECOND_OF_PLAN) {
      pp_plan_unref (&frames[i].plan);
      frames[i].plan = pp_plan_ref (frames[FIRST_OF_PLAN].plan);
    }
    sources[i] = malloc (frames[i].source_size);
    memcpy (sources[i], frames[i].source, frames[i].source_size);
    if (memory != NULL && places[i] != 0)
      frame_place (&frames[i], memory, places[i], 1);
    frames[i].keeps_source = true;
  }
}

static void
free_frames (void)
{
  for (int i = 0; i < FRAMES; i++) {
    frame_clear (&frames[i]);
    free (sources[i]);
  }
}

/* As it was before its job. What is on the device is only the fake one's: written
 * without a call, none of which counts. */
static void
frame_renew (int number)
{
  struct frame *frame = &frames[number];

  memcpy (frame->source, sources[number], frame->source_size);
  memset (frame->tensor, 0xee, frame->tensor_size);
  if (frame->device_tensor != NULL)
    memset (frame->device_tensor, 0xee, frame->tensor_size);
  frame->padding = 0;
  memset (frame->region_padding, 0, sizeof frame->region_padding);
  frame->inputs_done = frame->dones = 0;
  frame->failed = false;
}

static const char *
describe (const struct scenario *s)
{
  static char text[96];

  snprintf (text, sizeof text, "%s, %s, call %d of %d%s%s", s->backend->name,
      s->call == FAKE_MALLOC ? "malloc" : fake_call_name (s->call), s->nth,
      fake_count (s->call), s->sticky ? " and later" : "",
      s->reserved ? "" : ", nothing reserved");
  return text;
}

static void
expect_named (const struct scenario *s, const pp_error *error)
{
  EXPECT (strstr (error->text, fake_call_name (s->call)) != NULL, "%s: %s",
      describe (s), error->text);
}

/* false: one of the plans has no room, which the scenario's call is to blame
 * for. */
static bool
reserve (const struct scenario *s, pp_device *device)
{
  pp_error error = { 0 };

  for (int i = 0; i < FRAMES; i++) {
    const struct frame *frame = &frames[i];
    const int n = frame->n_regions > 0 ? frame->n_regions : 1;
    if (pp_device_reserve_in_place (device, frame->plan, n,
            frame->device_source != NULL, frame->device_tensor != NULL,
            &error) == PP_OK)
      continue;
    expect_named (s, &error);
    return false;
  }
  return true;
}

/* Frame 2 waits for frame 1, which is on the other stream. */
static void
submit (const struct scenario *s, pp_device *device, struct tally *tally)
{
  bool refused = false;

  for (int i = 0; i < FRAMES; i++) {
    pp_task task = frame_task (&frames[i], pinned_planes (i));
    pp_error error = { 0 };

    fake_hold (s->reserved && i < HELD_FRAMES);
    if (i == 2)
      task.after = frames[1].job;
    frames[i].job = pp_submit (device, &task, &error);
    frames[i].submitted = 1;
    if (frames[i].job != NULL) {
      if (frames[i].device_tensor != NULL)
        pp_job_event (frames[i].job);
      continue;
    }
    refused = true;
    expect_named (s, &error);
  }
  tally->refused += refused;
}

/* What reads and writes tensors on the device needs no device, only memory. */
static void
transfer (const struct scenario *s, pp_device *device, struct tally *tally)
{
  enum {
    SIZE = 1000
  };
  pp_arena *memory = pp_device_memory (device);
  uint8_t bytes[SIZE];
  pp_error error = { 0 };

  if (memory == NULL)
    return;
  memset (bytes, 0x3c, SIZE);
  void *block = pp_arena_alloc (memory, SIZE, &error);
  if (block == NULL ||
      pp_arena_upload (memory, block, bytes, SIZE, &error) != PP_OK ||
      (memset (bytes, 0, SIZE),
          pp_arena_download (memory, block, bytes, SIZE, &error)) != PP_OK) {
    tally->refused++;
    expect_named (s, &error);
  } else {
    EXPECT (bytes[0] == 0x3c && memcmp (bytes, bytes + 1, SIZE - 1) == 0,
        "%s: other bytes", describe (s));
  }
  pp_arena_free (memory, block, SIZE);
}

/* What became of the frames; whether a job failed. */
static bool
check (const struct scenario *s)
{
  bool failed = false;

  for (int i = 0; i < FRAMES; i++) {
    struct frame *frame = &frames[i];
    pp_error error = { 0 };

    if (frame->job == NULL) {
      EXPECT (frame->inputs_done == 0 && frame->dones == 0,
          "%s: frame %d was refused, but called back", describe (s), i);
      continue;
    }
    const bool good = pp_job_wait (frame->job, &error) == PP_OK;
    frame_check_callbacks (frame, describe (s));
    /* A tensor is complete before its times are read. */
    EXPECT (frame->failed == !good || (good && s->call == FAKE_EVENT_ELAPSED),
        "%s: frame %d", describe (s), i);
    if (good && frame->device_tensor != NULL)
      memcpy (frame->tensor, frame->device_tensor, frame->tensor_size);
    if (good)
      EXPECT (memcmp (frame->tensor, frame->expected, frame->tensor_size) == 0,
          "%s: tensor %d is wrong", describe (s), i);
    else
      expect_named (s, &error);
    failed |= frame->failed;
  }
  return failed;
}

/* A context that cannot be entered is lost with all that is in it. */
static void
check_leaks (const struct scenario *s, int live, int threads, bool may_lose,
    struct tally *tally)
{
  char text[128];
  const int now = fake_live (text, sizeof text);

  if (may_lose && now != live) {
    tally->lost++;
    return;
  }
  EXPECT (now == live, "%s: there are now %s", describe (s), text);
  EXPECT (resources_become (THREADS, threads), "%s: %d threads, %d before",
      describe (s), count_resources (THREADS), threads);
}

/* Whether the call was made nth times. */
static bool
run (const struct scenario *s, struct tally *tally)
{
  const pp_device_options options = { .streams = 2, .staging_threads = 2 };
  const int threads = count_resources (THREADS);
  struct tally before = *tally;
  char text[128];
  const int live = fake_live (text, sizeof text);
  pp_error error = { 0 };
  bool failed = false;

  fake_reset ();
  for (int i = 0; i < FRAMES; i++)
    frame_renew (i);
  fake_fail (s->call, s->nth, s->sticky);
  alarm (PATIENCE);

  pp_device *device = pp_device_open_backend (s->backend, -1, &options, &error);
  if (device == NULL) {
    expect_named (s, &error);
    tally->no_device++;
  } else if (s->reserved && !reserve (s, device)) {
    tally->no_room++;
  } else {
    submit (s, device, tally);
    pp_device_drain (device, NULL);
    failed = check (s);
    tally->failed += failed;
    transfer (s, device, tally);
  }
  const bool fired = fake_count (s->call) >= s->nth;
  pp_device_close (&device);
  for (int i = 0; i < FRAMES; i++) /* and the events that were lent */
    pp_job_unref (&frames[i].job);
  const bool fired_late = !fired && fake_count (s->call) >= s->nth;
  check_leaks (s, live, threads,
      s->call == FAKE_ENTER && (s->sticky || fired_late), tally);
  alarm (0);

  if (!fired && !fired_late)
    return false;
  tally->runs++;
  before.runs = tally->runs;
  before.lost = tally->lost;
  tally->unnoticed += memcmp (&before, tally, sizeof before) == 0;
  return true;
}

/* Nothing fails any more. */
static void
check_next_device (const pp_backend *backend)
{
  const struct scenario none = { .backend = backend };
  struct tally tally = { 0 };

  run (&none, &tally);
  EXPECT (tally.runs == 1 && tally.unnoticed == 1,
      "%s: %d refused, %d failed with nothing wrong", backend->name,
      tally.refused, tally.failed);
}

/* These can be done without: the next wait tells of a device that is lost; fewer
 * staging threads do; a context is entered to give back what is in it. */
static bool
may_go_unnoticed (fake_call call)
{
  return call == FAKE_EVENT_QUERY || call == FAKE_THREAD || call == FAKE_ENTER;
}

static void
fail_each (const pp_backend *backend, fake_call call, int step)
{
  struct tally tally = { 0 };

  for (int way = 0; way < 4; way++) {
    struct scenario s = { .backend = backend,
      .call = call,
      .nth = 1 + way % step,
      .sticky = way % 2 != 0,
      .reserved = way / 2 != 0 };
    for (; run (&s, &tally); s.nth += step)
      check_next_device (backend);
  }
  EXPECT (tally.unnoticed == 0 || may_go_unnoticed (call),
      "%s: %d failures of %s had no effect", backend->name, tally.unnoticed,
      fake_call_name (call));
  /* Streams are waited for only where something else has failed. */
  EXPECT (tally.runs > 0 || call == FAKE_STREAM_SYNC, "%s: never called",
      fake_call_name (call));
  printf ("%-5s %-14s %5d %7d %7d %7d %7d %9d %5d\n", backend->name,
      call == FAKE_MALLOC        ? "malloc"
          : call == FAKE_ALIGNED ? "aligned_alloc"
                                 : fake_call_name (call),
      tally.runs, tally.no_device, tally.no_room, tally.refused, tally.failed,
      tally.unnoticed, tally.lost);
}

static void *
do_nothing (void *data)
{
  return data;
}

/* A sanitizer makes one of its own with the first thread. */
static void
make_first_thread (void)
{
  pthread_t thread;

  if (pthread_create (&thread, NULL, do_nothing, NULL) == 0)
    pthread_join (thread, NULL);
}

/* Argument: of how many one is failed, 1 if there is none. */
/* The second of three staging threads cannot be made: no later frame tries to. */
static void
check_fewer_threads (void)
{
  enum {
    PAGEABLE = 4
  };
  const pp_device_options options = { .streams = 2, .staging_threads = 3 };
  const pp_spec spec = letterbox_spec (32, 32);
  pp_error error = { 0 };
  struct frame frame[PAGEABLE];

  fake_reset ();
  pp_device *device =
      pp_device_open_backend (&fake_backend, -1, &options, &error);
  EXPECT (device != NULL, "%s", error.text);
  if (device == NULL)
    return;
  for (unsigned i = 0; i < PAGEABLE; i++)
    frame_init (
        &frame[i], pp_device_arena (device), &spec, nv12_format (40, 33), 0, i);
  const int opened = fake_count (FAKE_THREAD);
  fake_fail (FAKE_THREAD, 2, true);
  for (int i = 0; i < PAGEABLE; i++) {
    frame_submit (&frame[i], device, 0);
    frame_check (&frame[i], "fewer threads");
    frame_clear (&frame[i]);
  }
  EXPECT (fake_count (FAKE_THREAD) == opened + 2, "%d threads were tried",
      fake_count (FAKE_THREAD) - opened);
  pp_device_close (&device);
  fake_reset ();
}

int
main (int argc, char **argv)
{
  const int step = argc > 1 ? atoi (argv[1]) : 1;
  static const fake_call cpu_calls[] = { FAKE_THREAD, FAKE_MALLOC,
    FAKE_ALIGNED };
  pp_error error = { 0 };
  pp_arena *arena = pp_arena_new (&fake_backend, -1, NULL, false, &error);
  pp_arena *memory = pp_arena_new_beside (arena, &error);

  setvbuf (stdout, NULL, _IOLBF, 0);
  make_first_thread ();
  make_frames (arena, memory);
  printf ("      call           runs  device    room refused  failed  "
          "unnoticed  lost\n");
  for (int call = 0; call <= FAKE_MALLOC; call++)
    fail_each (&fake_backend, (fake_call) call, step);
  fake_reset ();
  free_frames ();
  make_frames (arena, NULL);
  for (int c = 0; c < LENGTH (cpu_calls); c++)
    fail_each (&pp_backend_cpu, cpu_calls[c], step);
  fake_reset ();
  free_frames ();
  check_fewer_threads ();
  pp_arena_unref (&memory);
  pp_arena_unref (&arena);
  return expect_end ();
}
