/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Events of jobs for other streams, contexts that the caller has, and memory on the
 * device that outlives what it was allocated for, on every backend that has them.
 */
#include "enginesuite.h"

#include "kernels/cpu/host_stream.h"

#define ON_DEVICE (SOURCE_ON_DEVICE | TENSOR_ON_DEVICE)

static void
init_on_device (struct frame *frame, pp_device *device, unsigned seed)
{
  const pp_spec spec = letterbox_spec (48, 40);

  frame_init (
      frame, pp_device_arena (device), &spec, nv12_format (120, 80), 0, seed);
  frame_place (frame, pp_device_memory (device), ON_DEVICE, 0);
}

static int
live (void)
{
  char text[128];

  return fake_live (text, sizeof text);
}

/* The job's own, however many jobs come after it. */
static void
test_event (void)
{
  enum {
    LATER = 40
  };
  struct frame first;
  static struct frame later[LATER];
  pp_device *device = open_device (2);

  if (backend != &fake_backend) { /* nothing can be held */
    pp_device_close (&device);
    return;
  }
  init_on_device (&first, device, 0);
  for (unsigned i = 0; i < LATER; i++)
    init_on_device (&later[i], device, i);
  fake_hold (true);
  frame_submit (&first, device, 0);
  pp_event *event = pp_job_event (first.job);
  EXPECT (event != NULL && pp_job_event (first.job) == event,
      "a job that runs has no event");
  EXPECT (!pp_host_event_query (event), "passed before the job");
  fake_hold (false);
  pp_host_event_wait (event, NULL);
  frame_check (&first, "first");
  for (int i = 0; i < LATER; i++) {
    frame_submit (&later[i], device, 0);
    EXPECT (pp_job_event (later[i].job) != event, "job %d has it, too", i);
    EXPECT (pp_host_event_query (event), "job %d uses the event again", i);
  }
  EXPECT (pp_job_event (first.job) == event, "not that of the first time");
  for (int i = 0; i < LATER; i++)
    frame_check (&later[i], "later");
  for (int i = 0; i < LATER; i++)
    frame_clear (&later[i]);
  pp_device_close (&device);
  const int before = live ();
  EXPECT (pp_host_event_query (event), "not there after the device");
  pp_job_unref (&first.job);
  EXPECT (live () == before - 1, "%d objects, %d before", live (), before);
  frame_clear (&first);
}

/* A frame that is being staged has no event yet: it is waited for. One that ended,
 * or could not be queued, has none. */
static void
test_no_event (void)
{
  pp_device *device = open_device (2);
  const pp_spec spec = letterbox_spec (64, 64);
  struct frame frame[3];

  for (unsigned i = 0; i < LENGTH (frame); i++)
    frame_init (&frame[i], pp_device_arena (device), &spec,
        rgb_format (1200, 800), 0, i);
  fake_hold (backend == &fake_backend);
  frame_submit (&frame[0], device, 0);
  void *event = pp_job_event (frame[0].job);
  EXPECT (event != NULL || backend != &fake_backend, "a staged frame has none");
  fake_hold (false);
  frame_check (&frame[0], "staged");
  frame_submit (&frame[1], device, 1);
  EXPECT (pp_job_wait (frame[1].job, NULL) == PP_OK, "wait");
  EXPECT (pp_job_event (frame[1].job) == NULL, "a job that ended has one");
  if (backend == &fake_backend) {
    fake_fail (FAKE_LAUNCH, 1, false);
    frame_submit (&frame[2], device, 1);
    EXPECT (pp_job_event (frame[2].job) == NULL, "a job that failed has one");
    EXPECT (pp_job_wait (frame[2].job, NULL) == PP_DEVICE_FAILED, "no failure");
    fake_reset ();
  }
  for (int i = 0; i < LENGTH (frame); i++)
    frame_clear (&frame[i]);
  pp_device_close (&device);
}

struct asker {
  struct frame *frame;
  int n;
};

static void *
ask (void *data)
{
  struct asker *asker = data;

  for (int i = 0; i < asker->n; i++) {
    struct frame *frame = &asker->frame[i];
    pp_job *job;

    while ((job = __atomic_load_n (&frame->job, __ATOMIC_ACQUIRE)) == NULL)
      sched_yield ();
    pp_job_event (job);
    pp_job_event (job);
  }
  return NULL;
}

/* Asked by another thread, of jobs that are staged, under way and over. */
static void
test_asked_meanwhile (void)
{
  enum {
    FRAMES = 60
  };
  const pp_spec spec = letterbox_spec (40, 32);
  pp_device *device = open_device (2);
  static struct frame frame[FRAMES];
  struct asker asker = { frame, FRAMES };
  pthread_t thread;

  for (unsigned i = 0; i < FRAMES; i++) {
    frame_init (&frame[i], pp_device_arena (device), &spec,
        i % 2 ? rgb_format (200, 150) : nv12_format (200, 150), 0, i);
    frame_place (&frame[i], pp_device_memory (device), i % 4, i % 3);
  }
  pthread_create (&thread, NULL, ask, &asker);
  for (unsigned i = 0; i < FRAMES; i++) {
    const pp_task task = frame_task (&frame[i], i / 4 % 4);

    frame[i].submitted = 1;
    __atomic_store_n (
        &frame[i].job, pp_submit (device, &task, NULL), __ATOMIC_RELEASE);
  }
  pthread_join (thread, NULL);
  for (int i = 0; i < FRAMES; i++)
    frame_check (&frame[i], "asked meanwhile");
  pp_device_close (&device);
  for (int i = 0; i < FRAMES; i++)
    frame_clear (&frame[i]);
}

/* Blocks are readable after their device, and let go of its context. */
static void
test_outlive (void)
{
  pp_device *device = open_device (2);
  struct frame frame, freed;
  const int before = live ();
  const uint8_t written = 0x33;
  char text[128];
  pp_error error = { 0 };

  init_on_device (&frame, device, 7);
  init_on_device (&freed, device, 8);
  fake_hold (backend == &fake_backend);
  frame_submit (&freed, device, 0);
  frame_submit (&frame, device, 0);
  /* its last owner lets go while the device writes to it */
  pp_job_free_block_after (
      freed.job, freed.memory, freed.device_tensor, freed.tensor_size);
  freed.device_tensor = NULL;
  fake_hold (false);
  void *unused = pp_arena_alloc (frame.memory, 77777, &error);
  pp_arena_free (frame.memory, unused, 77777);
  pp_device_close (&device);
  fake_live (text, sizeof text);
  /* those of the frames, but for the tensor that is freed */
  EXPECT (backend != &fake_backend || strstr (text, "3 device blocks") != NULL,
      "there are %s", text);
  frame_check (&frame, "after the device");
  EXPECT (pp_arena_upload (
              frame.memory, frame.device_tensor, &written, 1, &error) == PP_OK,
      "%s", error.text);
  frame_download (&frame);
  EXPECT (frame.tensor[0] == written &&
          memcmp (frame.tensor + 1, frame.expected + 1, 100) == 0,
      "written after the device: %d", frame.tensor[0]);
  frame_clear (&freed);
  frame_clear (&frame);
  EXPECT (backend != &fake_backend || live () < before, "%d objects, %d before",
      live (), before);
}

static void *
transfer (void *data)
{
  enum {
    SIZE = 5000
  };
  pp_arena *memory = pp_arena_ref (data);
  uint8_t out[SIZE], back[SIZE];

  for (int round = 0; round < 50; round++) {
    uint8_t *block = pp_arena_alloc (memory, SIZE, NULL);

    memset (out, round, SIZE);
    EXPECT (pp_arena_upload (memory, block, out, SIZE, NULL) == PP_OK &&
            pp_arena_download (memory, block + 1, back, SIZE - 1, NULL) ==
                PP_OK &&
            pp_arena_download (memory, block, NULL, 0, NULL) == PP_OK &&
            memcmp (out, back, SIZE - 1) == 0,
        "round %d", round);
    pp_arena_free (memory, block, SIZE);
  }
  pp_arena_unref (&memory);
  return NULL;
}

/* By several threads at the same time, beside jobs, and on when the device is
 * closed. */
static void
test_transfers (void)
{
  pp_device *device = open_device (2);
  pthread_t thread[4];
  struct frame frame;

  init_on_device (&frame, device, 3);
  frame_submit (&frame, device, 0);
  for (int i = 0; i < LENGTH (thread); i++)
    pthread_create (&thread[i], NULL, transfer, pp_device_memory (device));
  frame_check (&frame, "beside");
  frame_clear (&frame);
  for (int i = 0; i < LENGTH (thread); i++)
    pthread_join (thread[i], NULL);
  pp_device_close (&device);
}

/* One of several devices that are used at the same time. */
struct sharer {
  pthread_t thread;
  pp_device *device;
  unsigned number;
};

static void *
run_sharer (void *data)
{
  enum {
    FRAMES = 32
  };
  const struct sharer *sharer = data;
  struct frame *frames = calloc (FRAMES, sizeof *frames);

  for (unsigned i = 0; i < FRAMES; i++) {
    const int size = 32 + 20 * (int) sharer->number + (int) i / 8 * 30;
    const pp_spec spec = letterbox_spec (size, size / 2);

    frame_init (&frames[i], pp_device_arena (sharer->device), &spec,
        nv12_format (2 * size, size), 0, 100 * sharer->number + i);
    frame_place (&frames[i], pp_device_memory (sharer->device),
        (i + sharer->number) % 4, i % 2);
    frame_submit (&frames[i], sharer->device, i / 4 % 4);
  }
  for (int i = 0; i < FRAMES; i++) {
    frame_check (&frames[i], "shared");
    frame_check_callbacks (&frames[i], "shared");
    frame_clear (&frames[i]);
  }
  free (frames);
  return NULL;
}

static void
test_sharers (void)
{
  struct sharer sharer[3];

  for (unsigned i = 0; i < LENGTH (sharer); i++)
    sharer[i] = (struct sharer){ .device = open_device (2), .number = i };
  for (int i = 0; i < LENGTH (sharer); i++)
    pthread_create (&sharer[i].thread, NULL, run_sharer, &sharer[i]);
  for (int i = 0; i < LENGTH (sharer); i++)
    pthread_join (sharer[i].thread, NULL);
  for (int i = 0; i < LENGTH (sharer); i++)
    pp_device_close (&sharer[i].device);
}

static void
count_done (void *user)
{
  __atomic_fetch_add ((int *) user, 1, __ATOMIC_SEQ_CST);
}

static pp_device *
open_in (void *context, int *done, pp_error *error)
{
  return pp_device_open_backend (backend, -1,
      &(pp_device_options){ .streams = 2,
          .context = context,
          .context_done = count_done,
          .context_user = done },
      error);
}

static void
run_in (pp_device *device, const char *what)
{
  for (unsigned place = 0; place < 4; place++) {
    const pp_spec spec = letterbox_spec (32, 24);
    struct frame frame;

    frame_init (
        &frame, pp_device_arena (device), &spec, rgb_format (90, 70), 0, place);
    frame_place (&frame, pp_device_memory (device), place, 0);
    frame_submit (&frame, device, place % 2 ? 0 : 1);
    frame_check (&frame, what);
    frame_clear (&frame);
  }
}

/* Devices in one context share its streams; who gave the context hears once of its
 * end. The fake device checks that nothing is done in another one. */
static void
test_contexts (void)
{
  static char one, other;
  int done[5] = { 0 };
  pp_error error = { 0 };

  if (backend != &fake_backend)
    return;
  const int before = live ();
  pp_device *first = open_in (&one, &done[0], &error);
  pp_device *second = open_in (&one, &done[1], &error);
  pp_device *apart = open_in (&other, &done[2], &error);
  pp_device *primary = open_in (NULL, &done[3], &error);
  EXPECT (pp_device_context (first) == &one &&
          pp_device_context (second) == &one &&
          pp_device_context (apart) == &other,
      "contexts");
  pp_device *same = open_in (pp_device_context (primary), &done[4], &error);
  EXPECT (first->shared == second->shared && same->shared == primary->shared &&
          first->shared != apart->shared && first->shared != primary->shared &&
          apart->shared != primary->shared,
      "streams are not those of the contexts");
  pp_device *const all[] = { first, second, apart, primary, same };
  for (int i = 0; i < LENGTH (all); i++)
    run_in (all[i], "in its context");

  pp_arena *memory = pp_arena_ref (pp_device_memory (second));
  void *block = pp_arena_alloc (memory, 100, NULL);
  void *pinned = pp_arena_alloc (pp_device_arena (apart), 100, NULL);
  pp_arena *arena = pp_arena_ref (pp_device_arena (apart));
  pp_device_close (&first);
  run_in (second, "beside one that was closed");
  pp_device_close (&second);
  pp_device_close (&apart);
  EXPECT (done[0] == 1 && done[1] == 0 && done[2] == 1,
      "%d, %d and %d contexts are done with", done[0], done[1], done[2]);
  pp_arena_free (memory, block, 100);
  pp_arena_unref (&memory);
  EXPECT (done[1] == 1, "a context is done with %d times", done[1]);
  pp_arena_free (arena, pinned, 100);
  pp_arena_unref (&arena);
  pp_device_close (&same);
  pp_device_close (&primary);
  for (int i = 0; i < LENGTH (done); i++)
    EXPECT (done[i] == 1, "device %d: %d times", i, done[i]);
  EXPECT (live () == before, "%d objects, %d before", live (), before);
}

/* Where opening fails, the context is done with, too, once, whatever fails. */
static void
test_open_fails (void)
{
  static char context;
  static const fake_call calls[] = { FAKE_OPEN, FAKE_ENTER, FAKE_STREAM_CREATE,
    FAKE_EVENT_CREATE };

  for (int c = 0; c < LENGTH (calls) && backend == &fake_backend; c++)
    for (int nth = 1; nth <= 2; nth++) {
      int done = 0;
      pp_error error = { 0 };

      fake_reset ();
      fake_fail (calls[c], nth, false);
      pp_device *device = open_in (&context, &done, &error);
      EXPECT ((device == NULL) == (done == 1), "%s: done with %d times",
          fake_call_name (calls[c]), done);
      pp_device_close (&device);
      EXPECT (
          done == 1, "%s: done with %d times", fake_call_name (calls[c]), done);
    }
  fake_reset ();
}

static void
test_options_are_refused (void)
{
  static char context;
  int done = 0;
  pp_error error = { 0 };
  pp_device *device = pp_device_open_backend (backend, -1,
      &(pp_device_options){
          .streams = -1, .context_done = count_done, .context_user = &done },
      &error);

  EXPECT (device == NULL && error.status == PP_BAD_ARGUMENT && done == 1,
      "%s, done with %d times", error.text, done);
  if (!backend->unified)
    return;
  device = open_in (&context, &done, &error);
  EXPECT (device == NULL && error.status == PP_BAD_ARGUMENT && done == 2 &&
          strstr (error.text, "context is set, but the CPU") != NULL,
      "%s, done with %d times", error.text, done);
  device = open_in (NULL, &done, &error);
  EXPECT (device != NULL && done == 2, "%s", error.text);
  struct frame frame;
  const pp_spec spec = letterbox_spec (32, 24);
  frame_init (
      &frame, pp_device_arena (device), &spec, rgb_format (90, 70), 0, 1);
  frame_submit (&frame, device, 1);
  EXPECT (pp_job_event (frame.job) == NULL, "the CPU has an event");
  frame_check (&frame, "cpu");
  frame_clear (&frame);
  pp_device_close (&device);
  EXPECT (done == 3, "done with %d times", done);
}

static const struct suite_test tests[] = {
  { "event", test_event },
  { "no_event", test_no_event },
  { "asked_meanwhile", test_asked_meanwhile },
  { "outlive", test_outlive },
  { "transfers", test_transfers },
  { "sharers", test_sharers },
  { "contexts", test_contexts },
  { "open_fails", test_open_fails },
  { "options_are_refused", test_options_are_refused },
};

/* The CPU, which has no memory of its own, runs only the last one. */
int
main (int argc, char **argv)
{
  const bool cpu = argc >= 2 && strcmp (argv[1], pp_backend_cpu.name) == 0;
  const int skipped = cpu ? LENGTH (tests) - 1 : 0;

  return suite_main (tests + skipped, LENGTH (tests) - skipped, argc, argv);
}
