/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Jobs of several pictures of one frame, on every backend: slices of one block,
 * what is copied and launched for them, who shares the work.
 */
#include "enginesuite.h"

#include <dirent.h>
#include <stdio.h>

#define MAX_THREADS 64

/* As detectors find them: 60 to 240 pixels wide, 120 to 360 high. */
static void
pick_regions (pp_rect *rects, int n, const pp_format *format, unsigned seed)
{
  const int wide = format->width / 8, high = format->height / 6;

  for (int i = 0; i < n; i++) {
    const int width = wide / 4 + rand_r (&seed) % (wide * 3 / 4);
    const int height = high / 3 + rand_r (&seed) % (high * 2 / 3);

    rects[i] = (pp_rect){ rand_r (&seed) % (format->width - width),
      rand_r (&seed) % (format->height - height), width, height };
  }
}

struct counts {
  int copies, gathers, launches;
};

static struct counts
count_calls (void)
{
  return (struct counts){ fake_count (FAKE_COPY), fake_count (FAKE_GATHER),
    fake_count (FAKE_LAUNCH_PICTURES) };
}

/* What a device does for a job: one gather or one copy a plane, one launch, one
 * download, besides the copy of the tables. */
static void
test_calls (void)
{
  static const struct {
    const char *name;
    pp_format (*format) (int width, int height);
    int n;
    bool large; /* regions that cover the frame */
    pp_fit fit;
    unsigned pinned;
    struct counts calls;
  } jobs[] = {
    { "gathered", nv12_format, 16, false, PP_FIT_STRETCH, 3, { 2, 1, 1 } },
    { "gathered, with padding", nv12_format, 16, false, PP_FIT_LETTERBOX, 3,
        { 2, 1, 1 } },
    { "one plane gathered", rgb_format, 5, false, PP_FIT_STRETCH, 3,
        { 2, 1, 1 } },
    { "together", nv12_format, 16, true, PP_FIT_STRETCH, 3, { 4, 0, 1 } },
    { "staged", nv12_format, 16, false, PP_FIT_STRETCH, 0, { 3, 0, 1 } },
    { "half staged", nv12_format, 16, false, PP_FIT_STRETCH, 1, { 3, 1, 1 } },
    { "staged together", nv12_format, 16, true, PP_FIT_STRETCH, 0,
        { 3, 0, 1 } },
    { "as many as there can be", nv12_format, PP_MAX_PICTURES, false,
        PP_FIT_LETTERBOX, 3, { 4, 0, 1 } },
  };
  pp_device *device = open_device (2);

  for (int i = 0; i < LENGTH (jobs); i++) {
    pp_spec spec = letterbox_spec (24, 24);
    const pp_format format = jobs[i].format (640, 360);
    struct frame frame;
    pp_rect rects[PP_MAX_PICTURES];

    spec.fit = jobs[i].fit;
    pick_regions (rects, jobs[i].n, &format, (unsigned) i);
    for (int r = 0; r < jobs[i].n && jobs[i].large; r++)
      rects[r] = (pp_rect){ r, 2 * r, 500 + r, 300 + r };
    frame_init (
        &frame, pp_device_arena (device), &spec, format, 0, (unsigned) i);
    frame_set_regions (&frame, &spec, format, rects, jobs[i].n);
    const struct counts before = count_calls ();
    frame_submit (&frame, device, jobs[i].pinned);
    frame_check (&frame, jobs[i].name);
    frame_check_callbacks (&frame, jobs[i].name);
    const struct counts after = count_calls (), *calls = &jobs[i].calls;
    EXPECT (backend != &fake_backend ||
            (after.copies - before.copies == calls->copies &&
                after.gathers - before.gathers == calls->gathers &&
                after.launches - before.launches == calls->launches),
        "%s: %d copies, %d gathers, %d launches", jobs[i].name,
        after.copies - before.copies, after.gathers - before.gathers,
        after.launches - before.launches);
    EXPECT (backend->unified ||
            (frame.info.bytes_down == frame.tensor_size &&
                frame.info.bytes_up <= frame.source_size &&
                (frame.info.bytes_staged > 0) == (jobs[i].pinned != 3)),
        "%s: %zu bytes up, %zu down, %zu staged", jobs[i].name,
        frame.info.bytes_up, frame.info.bytes_down, frame.info.bytes_staged);
    frame_clear (&frame);
  }
  pp_device_close (&device);
}

/* Every way of denoising and of moving, among jobs of one picture, in order. */
static void
test_order (void)
{
  enum {
    FRAMES = 60
  };
  static struct frame frame[FRAMES];

  for (int streams = 1; streams <= 4; streams += 3) {
    pp_device *device = open_device (streams);
    frames_ended = 0;
    for (int i = 0; i < FRAMES; i++) {
      pp_spec spec = letterbox_spec (20 + i % 3, 16);
      const pp_format format = i % 5 == 0 ? p010_format (200 + i, 101)
          : i % 2                         ? rgb_format (160, 90 + i)
                                          : nv12_format (320 + i, 180);
      pp_rect rects[PP_MAX_PICTURES];

      spec.denoise = i % 4 == 1 ? PP_DENOISE_MEDIAN
          : i % 4 == 2          ? PP_DENOISE_GAUSSIAN
                                : PP_DENOISE_NONE;
      spec.method = (pp_method) (i % PP_N_METHODS);
      spec.antialias = i % 3 == 0;
      /* 16 bits: rows have twice the bytes */
      frame_init (&frame[i], pp_device_arena (device), &spec, format,
          i % 5 == 0 ? format.width : i % 4, (unsigned) i);
      if (i % 6 != 5) {
        const int n = 1 + i * 7 % 20;
        pick_regions (rects, n, &format, (unsigned) i);
        if (i % 3 == 1)
          rects[0] = (pp_rect){ 0, 0, format.width, format.height };
        frame_set_regions (&frame[i], &spec, format, rects, n);
      }
      frame_submit (&frame[i], device, (unsigned) (i / 2 % 4));
    }
    frames_check_order (frame, FRAMES, device, "order");
    for (int i = 0; i < FRAMES; i++)
      frame_clear (&frame[i]);
    pp_device_close (&device);
  }
}

/* Slices in any order, with gaps that nobody writes to. */
static void
test_slices (void)
{
  static const int slice_of[] = { 3, 0, 6, 5, 8 };
  enum {
    N = LENGTH (slice_of),
    SLICES = 10
  };
  pp_device *device = open_device (2);

  for (int fit = 0; fit <= PP_FIT_LETTERBOX; fit++) {
    pp_spec spec = letterbox_spec (20, 30);
    const pp_format format = nv12_format (640, 360);
    struct frame frame;
    pp_rect rects[N];

    spec.fit = (pp_fit) fit;
    pick_regions (rects, N, &format, 9);
    frame_init (&frame, pp_device_arena (device), &spec, format, 0, 1);
    frame_set_regions (&frame, &spec, format, rects, N);
    const size_t slice = frame.tensor_size / N;
    uint8_t *block =
        pp_arena_alloc (pp_device_arena (device), SLICES * slice, NULL);
    memset (block, 0x77, SLICES * slice);
    pp_task task = frame_task (&frame, 3);
    for (int i = 0; i < N; i++)
      frame.region[i].tensor = block + (size_t) slice_of[i] * slice;
    frame.job = pp_submit (device, &task, NULL);
    frame.submitted = 1;
    EXPECT (pp_job_wait (frame.job, NULL) == PP_OK, "wait");
    int filled = 0;
    for (int s = 0; s < SLICES; s++) {
      int picture = -1, wrong = 0;
      for (int i = 0; i < N; i++)
        picture = slice_of[i] == s ? i : picture;
      for (size_t b = 0; b < slice; b++)
        wrong += block[(size_t) s * slice + b] !=
            (picture < 0 ? 0x77 : frame.expected[(size_t) picture * slice + b]);
      EXPECT (wrong == 0, "%d bytes of slice %d", wrong, s);
      filled += picture >= 0;
    }
    EXPECT (filled == N, "%d slices", filled);
    frame_clear (&frame);
    pp_arena_free (pp_device_arena (device), block, SLICES * slice);
  }
  pp_device_close (&device);
}

/* Who made the padding, the record says. */
static void
test_padding (void)
{
  const pp_spec spec = letterbox_spec (32, 32);
  const pp_format format = rgb_format (320, 180);
  const pp_rect rects[] = { { 0, 0, 40, 20 }, { 60, 0, 20, 40 },
    { 100, 100, 30, 30 } };
  pp_device *device = open_device (2);
  struct frame frame;

  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 3);
  frame_set_regions (&frame, &spec, format, rects, LENGTH (rects));
  for (int i = 0; i < LENGTH (rects); i++)
    frame.region_padding[i] = 77;
  frame_submit (&frame, device, 3);
  frame_check (&frame, "regions");
  for (int i = 0; i < LENGTH (rects); i++)
    EXPECT (frame.region_padding[i] == 0, "picture %d: %d", i,
        (int) frame.region_padding[i]);
  frame_clear (&frame);

  /* Plans that stay leave a record, and their padding is not written again. */
  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 4);
  frame_set_regions (&frame, &spec, format, rects, LENGTH (rects));
  for (int i = 0; i < LENGTH (rects); i++) {
    pp_plan_unref (&frame.region[i].plan);
    frame.region[i].plan = make_plan (&spec, &format, &rects[i]);
  }
  frame_submit (&frame, device, 3);
  frame_check (&frame, "plans that stay");
  for (int i = 0; i < LENGTH (rects); i++)
    EXPECT (
        frame.region_padding[i] == frame.region[i].plan->id, "picture %d", i);
  memset (frame.tensor, 0x77, 4);
  pp_job_unref (&frame.job);
  frame_submit (&frame, device, 0);
  pp_job_wait (frame.job, NULL);
  EXPECT (frame.tensor[0] == 0x77, "padding was written again");
  frame_clear (&frame);
  pp_device_close (&device);
}

static void
test_refused (void)
{
  const pp_spec spec = letterbox_spec (16, 16), other = sized_spec (16, 17);
  const pp_format format = rgb_format (64, 48);
  const pp_rect rects[] = { { 0, 0, 10, 10 }, { 5, 5, 20, 10 } };
  pp_device *device = open_device (1);
  struct frame frame;

  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 3);
  frame_set_regions (&frame, &spec, format, rects, 2);
  pp_task task = frame_task (&frame, 3);
  const pp_picture second = frame.region[1];

  task.n_pictures = 0;
  expect_refused (device, &task, "task has 0 pictures");
  task.n_pictures = PP_MAX_PICTURES + 1;
  expect_refused (device, &task, "task has 65 pictures");
  task.n_pictures = 2;
  frame.region[1].tensor = frame.tensor + 4;
  expect_refused (device, &task, "pictures 0 and 1 are 4 bytes apart");
  frame.region[1] = second;
  frame.region[1].tensor = NULL;
  expect_refused (device, &task, "picture 1 has no tensor");
  frame.region[1] = second;
  frame.region[1].plan = make_plan (&other, &format, NULL);
  expect_refused (device, &task, "the tensor of picture 1 is 16x17");
  pp_plan_unref (&frame.region[1].plan);
  frame.region[1] = second;
  pp_error error = { 0 };
  EXPECT (pp_device_reserve_pictures (device, frame.plan, 65, &error) ==
              PP_BAD_ARGUMENT &&
          strstr (error.text, "n_pictures is 65") != NULL,
      "%s", error.text);
  EXPECT (frame.inputs_done == 0 && frame.dones == 0, "called back");
  frame_clear (&frame);
  pp_device_close (&device);
}

/* Where there is room for so many, jobs allocate nothing, whatever the regions.
 */
static void
test_reserved (void)
{
  enum {
    N = 16,
    JOBS = 40
  };
  const pp_spec spec = letterbox_spec (48, 48);
  const pp_format format = nv12_format (960, 540);
  pp_device *device = open_device (2);
  static struct frame frame;
  int device_allocs = 0, host_allocs = 0;

  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 3);
  EXPECT (pp_device_reserve_pictures (device, frame.plan, N, NULL) == PP_OK,
      "reserve");
  frame_clear (&frame);
  for (unsigned i = 0; i < JOBS; i++) {
    pp_rect rects[N];

    pick_regions (rects, N, &format, i);
    for (int r = 0; r < N && i % 5 == 0; r++)
      rects[r] = (pp_rect){ r, r, 900, 500 };
    frame_init (&frame, pp_device_arena (device), &spec, format, 0, i);
    frame_set_regions (&frame, &spec, format, rects, N);
    if (i == 0) { /* the frame's own memory is there */
      device_allocs = fake_count (FAKE_DEVICE_ALLOC);
      host_allocs = fake_count (FAKE_HOST_ALLOC);
    }
    frame_submit (&frame, device, 3);
    frame_check (&frame, "reserved");
    frame_clear (&frame);
  }
  EXPECT (fake_count (FAKE_DEVICE_ALLOC) == device_allocs &&
          fake_count (FAKE_HOST_ALLOC) == host_allocs,
      "%d and %d allocations", fake_count (FAKE_DEVICE_ALLOC) - device_allocs,
      fake_count (FAKE_HOST_ALLOC) - host_allocs);
  pp_device_close (&device);
}

/* How long each thread of the process has run, nanoseconds; by its number. */
static int
read_runtimes (int *thread, uint64_t *runtime)
{
  DIR *tasks = opendir ("/proc/self/task");
  struct dirent *task;
  int n = 0;

  while (tasks != NULL && (task = readdir (tasks)) != NULL && n < MAX_THREADS) {
    char path[300];
    unsigned long long time = 0;
    snprintf (path, sizeof path, "/proc/self/task/%s/schedstat", task->d_name);
    FILE *file = task->d_name[0] != '.' ? fopen (path, "r") : NULL;
    if (file == NULL)
      continue;
    if (fscanf (file, "%llu", &time) == 1) {
      thread[n] = atoi (task->d_name);
      runtime[n++] = time;
    }
    fclose (file);
  }
  if (tasks != NULL)
    closedir (tasks);
  return n;
}

/* How many threads ran for a tenth of the longest of them, since before. */
static int
count_busy (int n_before, const int *thread_before, const uint64_t *before)
{
  int thread[MAX_THREADS], busy = 0;
  uint64_t runtime[MAX_THREADS], longest = 0;
  const int n = read_runtimes (thread, runtime);

  for (int i = 0; i < n; i++)
    for (int b = 0; b < n_before; b++)
      if (thread[i] == thread_before[b])
        runtime[i] -= before[b];
  for (int i = 0; i < n; i++)
    longest = runtime[i] > longest ? runtime[i] : longest;
  for (int i = 0; i < n; i++)
    busy += runtime[i] * 10 > longest;
  return busy;
}

/* On the CPU, several workers make the pictures of one job; one that is busy
 * elsewhere is not waited for. */
static void
test_shared (void)
{
  enum {
    N = 48
  };
  const pp_spec spec = letterbox_spec (400, 400);
  const pp_format format = nv12_format (1920, 1080);
  pp_rect rects[N];
  static struct frame frame;
  int busy = 0;

  if (!backend->unified || pp_count_cores () < 2)
    return;
  pp_device *device = open_device (2);
  frame_init (&frame, pp_device_arena (device), &spec, format, 0, 3);
  pick_regions (rects, N, &format, 5);
  frame_set_regions (&frame, &spec, format, rects, N);
  /* A machine that has other things to do may let one run alone for a while. */
  for (int tries = 0; tries < 50 && busy < 2; tries++) {
    int thread[MAX_THREADS];
    uint64_t runtime[MAX_THREADS];

    memset (frame.source, tries, 1); /* on_input_done has filled it */
    const int n = read_runtimes (thread, runtime);
    pp_task task = frame_task (&frame, 3);
    task.input_done = NULL;
    task.done = NULL;
    pp_job *job = pp_submit (device, &task, NULL);
    EXPECT (pp_job_wait (job, NULL) == PP_OK, "wait");
    pp_job_unref (&job);
    busy = count_busy (n, thread, runtime);
  }
  EXPECT (busy >= 2, "%d threads made %d pictures", busy, N);
  frame_clear (&frame);
  pp_device_close (&device);
}

/* The job waits for another one on its device, on whichever stream. */
static void
test_after (void)
{
  pp_device *device = open_device (2);

  for (unsigned round = 0; round < 20; round++) {
    struct frame first, second;
    pp_rect rects[12];
    const pp_spec spec = sized_spec (30, 20);
    const pp_format format = rgb_format (512, 512);

    frame_init_first (&first, pp_device_arena (device), 512, round);
    frame_init (&second, pp_device_arena (device), &spec, format, 0, 1);
    /* What the reference makes of the first one's tensor. */
    second.view.plane[0] = first.expected;
    pick_regions (rects, LENGTH (rects), &format, round);
    frame_set_regions (&second, &spec, format, rects, LENGTH (rects));
    frame_submit (&first, device, 1);
    frame_submit_after (&second, device, 1, &first);
    frame_check (&second, "after");
    frame_clear (&second);
    frame_clear (&first);
  }
  pp_device_close (&device);
}

/* Closing waits for the jobs; plans outlive what made them and the device. */
static void
test_close_in_flight (void)
{
  enum {
    FRAMES = 6
  };
  static struct frame frame[FRAMES];

  for (unsigned round = 0; round < 10; round++) {
    pp_device *device = open_device (3);
    const pp_spec spec = letterbox_spec (40, 40);
    const pp_format format = nv12_format (801, 601);
    for (unsigned i = 0; i < FRAMES; i++) {
      pp_rect rects[20];
      frame_init (&frame[i], pp_device_arena (device), &spec, format, 3, i);
      pick_regions (rects, LENGTH (rects), &format, i);
      frame_set_regions (&frame[i], &spec, format, rects, LENGTH (rects));
      frame_submit (&frame[i], device, i % 2 ? 3 : 0);
      pp_region_plans_free (&frame[i].regions);
    }
    pp_device_close (&device);
    frames_check_closed (frame, FRAMES);
  }
}

static const struct suite_test tests[] = {
  { "calls", test_calls },
  { "order", test_order },
  { "slices", test_slices },
  { "padding", test_padding },
  { "refused", test_refused },
  { "reserved", test_reserved },
  { "shared", test_shared },
  { "after", test_after },
  { "close_in_flight", test_close_in_flight },
};

int
main (int argc, char **argv)
{
  return suite_main (tests, LENGTH (tests), argc, argv);
}
