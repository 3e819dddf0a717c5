/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that lie on the device and tensors that stay there, on every backend that
 * has memory of its own; the CPU refuses them.
 */
#include "enginesuite.h"

#define ON_DEVICE (SOURCE_ON_DEVICE | TENSOR_ON_DEVICE)

static const char *const place_names[] = { "host to host", "device to host",
  "host to device", "device to device" };

/* What moved over the bus, and which stages there were. */
static void
check_info (const struct frame *frame, unsigned place, const char *what)
{
  const pp_job_info *info = &frame->info;
  const bool up = (place & SOURCE_ON_DEVICE) == 0;
  const bool down = (place & TENSOR_ON_DEVICE) == 0;

  EXPECT ((info->bytes_up > 0) == up && (info->bytes_down > 0) == down &&
          (up || info->bytes_staged == 0),
      "%s, %s: %zu bytes up, %zu down, %zu staged", what, place_names[place],
      info->bytes_up, info->bytes_down, info->bytes_staged);
  EXPECT (info->timed && (up || info->times.uploaded == info->times.start) &&
          (down || info->times.computed == info->times.done),
      "%s, %s: start %g, uploaded %g, computed %g, done %g", what,
      place_names[place], info->times.start, info->times.uploaded,
      info->times.computed, info->times.done);
}

/* Every way of denoising, filter, turn and type, at addresses and with strides
 * that suit the fast kernels and that do not, in all four combinations. */
static void
test_places (void)
{
  static const struct {
    const char *name;
    pp_format (*format) (int width, int height);
    int pad; /* more than a byte a pixel, or three */
  } formats[] = { { "NV12", nv12_format, 0 }, { "RGB", rgb_format, 0 },
    { "P010", p010_format, 100 }, { "YUY2", yuy2_format, 100 } };
  static const int pads[] = { 0, 1, 12 };
  static const size_t leads[] = { 0, 1, 2, 6, 16 };
  pp_device *device = open_device (3);
  int number = 0;

  for (int f = 0; f < LENGTH (formats); f++)
    for (int i = 0; i < 60; i++, number++) {
      const pp_format format = formats[f].format (
          88 + i % 3, 61 + i % 2); /* strides of 8 bytes, and odd ones */
      pp_spec spec = letterbox_spec (30 + i % 4, 26);
      struct frame frame[4];

      spec.method = (pp_method) (i % PP_N_METHODS);
      spec.antialias = i % 2 == 1;
      spec.denoise = (pp_denoise) (i % PP_N_DENOISES);
      spec.direction = (pp_direction) (i % PP_N_DIRECTIONS);
      spec.type = (pp_type) (i % PP_N_TYPES);
      spec.layout = (pp_layout) (i / 2 % PP_N_LAYOUTS);
      for (unsigned place = 0; place < 4; place++) {
        frame_init (&frame[place], pp_device_arena (device), &spec, format,
            formats[f].pad + pads[i % LENGTH (pads)], (unsigned) number);
        frame_place (&frame[place], pp_device_memory (device), place,
            leads[i % LENGTH (leads)]);
        frame_submit (&frame[place], device, (unsigned) i % 4);
      }
      for (unsigned place = 0; place < 4; place++) {
        frame_check (&frame[place], formats[f].name);
        frame_check_callbacks (&frame[place], place_names[place]);
        check_info (&frame[place], place, formats[f].name);
        frame_clear (&frame[place]);
      }
    }
  pp_device_close (&device);
}

/* Parts of a frame, apart and one over the other, small and large. */
static void
test_regions (void)
{
  enum {
    N = 9
  };
  pp_device *device = open_device (2);

  for (unsigned i = 0; i < 48; i++) {
    const unsigned place = i % 4;
    const pp_format format =
        i % 8 < 4 ? nv12_format (321, 200) : rgb_format (201, 120);
    pp_spec spec = letterbox_spec (24, 20);
    pp_rect rects[N];
    struct frame frame;

    spec.denoise = (pp_denoise) (i / 4 % PP_N_DENOISES);
    spec.direction = (pp_direction) (i % PP_N_DIRECTIONS);
    for (int r = 0; r < N; r++)
      rects[r] = i / 12 % 2 == 0
          ? (pp_rect){ 15 * r, 7 * r, 11 + r, 30 + 4 * r }
          : (pp_rect){ r, 2 * r, 150 + r, 80 + r };
    frame_init (
        &frame, pp_device_arena (device), &spec, format, (int) i % 3, i);
    frame_set_regions (&frame, &spec, format, rects, N);
    frame_place (&frame, pp_device_memory (device), place, i % 5);
    frame_submit (&frame, device, i / 3);
    frame_check (&frame, place_names[place]);
    frame_check_callbacks (&frame, place_names[place]);
    check_info (&frame, place, "regions");
    frame_clear (&frame);
  }
  pp_device_close (&device);
}

/* The tensors of a batch, as the reference makes them. */
struct batch {
  pp_plan *plan;
  pp_arena *memory;
  size_t slice;
  int n;
  uint8_t *block, *expected, *found;
  uint64_t *padding;
};

static void
batch_init (struct batch *batch, pp_device *device, pp_plan *plan, int n)
{
  pp_error error = { 0 };

  batch->plan = plan;
  batch->memory = pp_arena_ref (pp_device_memory (device));
  batch->slice = pp_plan_tensor_size (plan);
  batch->n = n;
  batch->block = pp_arena_alloc (batch->memory, n * batch->slice, &error);
  EXPECT (batch->block != NULL, "%s", error.text);
  batch->expected = malloc (n * batch->slice);
  batch->found = malloc (n * batch->slice);
  batch->padding = calloc ((size_t) n, sizeof *batch->padding);
}

static void
batch_clear (struct batch *batch)
{
  pp_arena_free (batch->memory, batch->block, batch->n * batch->slice);
  pp_arena_unref (&batch->memory);
  free (batch->padding);
  free (batch->found);
  free (batch->expected);
}

static void
batch_check (struct batch *batch, const char *what)
{
  pp_error error = { 0 };

  EXPECT (pp_arena_download (batch->memory, batch->block, batch->found,
              batch->n * batch->slice, &error) == PP_OK,
      "%s: %s", what, error.text);
  for (int i = 0; i < batch->n; i++)
    EXPECT (memcmp (batch->found + i * batch->slice,
                batch->expected + i * batch->slice, batch->slice) == 0,
        "%s: slice %d", what, i);
}

/* The slices of the set bits get no picture. */
static pp_job *
fill (struct batch *batch, pp_device *device, unsigned unfilled)
{
  pp_picture pictures[PP_MAX_PICTURES];
  pp_task task = {
    .pictures = pictures, .tensors_on_device = true, .padding_only = true
  };
  pp_error error = { 0 };

  for (int i = 0; i < batch->n; i++)
    if ((unfilled >> i & 1) != 0) {
      uint64_t none = 0;

      pictures[task.n_pictures++] = (pp_picture){ batch->plan,
        batch->block + i * batch->slice, &batch->padding[i] };
      pp_plan_fill_tensor (
          batch->plan, batch->expected + i * batch->slice, &none);
    }
  pp_job *job = pp_submit (device, &task, &error);
  EXPECT (job != NULL, "%s", error.text);
  return job;
}

/* Slices that frames fill, from the host and from the device, and slices that get
 * none; the same block again and again, with other slices unfilled. */
static void
test_batches (void)
{
  enum {
    N = 5,
    ROUNDS = 12
  };
  const pp_spec spec = letterbox_spec (36, 30);
  const pp_format format = nv12_format (160, 90);
  pp_device *device = open_device (3);
  pp_plan *plan = make_plan (&spec, &format, NULL);
  struct batch batch;
  static struct frame frame[N];

  batch_init (&batch, device, plan, N);
  for (unsigned round = 0; round < ROUNDS; round++) {
    const unsigned unfilled = round % 3 == 2 ? 0 : (round * 7 + 1) % 31;

    for (int i = 0; i < N; i++) {
      const unsigned place = (round + (unsigned) i) % 2 ? SOURCE_ON_DEVICE : 0;

      frame_init (&frame[i], pp_device_arena (device), &spec, format, 0,
          round * N + (unsigned) i);
      pp_plan_unref (&frame[i].plan);
      frame[i].plan = pp_plan_ref (plan);
      if ((unfilled >> i & 1) != 0)
        continue;
      frame_place (&frame[i], pp_device_memory (device), place, 0);
      memcpy (batch.expected + i * batch.slice, frame[i].expected, batch.slice);
      pp_task task = frame_task (&frame[i], 3);
      frame[i].picture.tensor = batch.block + i * batch.slice;
      frame[i].picture.padding = &batch.padding[i];
      task.tensors_on_device = true;
      frame[i].submitted = 1;
      frame[i].job = pp_submit (device, &task, NULL);
    }
    pp_job *filling = unfilled != 0 ? fill (&batch, device, unfilled) : NULL;
    for (int i = 0; i < N; i++)
      if (frame[i].job != NULL)
        EXPECT (pp_job_wait (frame[i].job, NULL) == PP_OK, "slice %d", i);
    if (filling != NULL)
      EXPECT (pp_job_wait (filling, NULL) == PP_OK, "padding");
    pp_job_unref (&filling);
    batch_check (&batch, "batch");
    for (int i = 0; i < N; i++)
      frame_clear (&frame[i]);
  }
  batch_clear (&batch);
  pp_plan_unref (&plan);
  pp_device_close (&device);
}

/* Submits one frame to slice 0. */
static void
fill_slice (struct batch *batch, pp_device *device, const pp_spec *spec,
    const pp_format *format, unsigned seed)
{
  struct frame frame;

  frame_init (&frame, pp_device_arena (device), spec, *format, 0, seed);
  pp_task task = frame_task (&frame, 3);
  frame.picture = (pp_picture){ batch->plan, batch->block, batch->padding };
  task.tensors_on_device = true;
  frame.submitted = 1;
  frame.job = pp_submit (device, &task, NULL);
  memcpy (batch->expected, frame.expected, batch->slice);
  EXPECT (pp_job_wait (frame.job, NULL) == PP_OK, "slice");
  frame_clear (&frame);
}

/* Padding is written where the record says that it is not there, and only then:
 * what somebody writes there in between, and does not tell, stays. */
static void
test_padding (void)
{
  const pp_spec spec = letterbox_spec (32, 32);
  const pp_format format = rgb_format (120, 60);
  pp_device *device = open_device (2);
  pp_plan *plan = make_plan (&spec, &format, NULL);
  const uint8_t other = 0x77;
  struct batch batch;

  batch_init (&batch, device, plan, 1);
  fill_slice (&batch, device, &spec, &format, 1);
  batch_check (&batch, "first");
  const int written = fake_count (FAKE_PAD);
  pp_arena_upload (batch.memory, batch.block, &other, 1, NULL);
  fill_slice (&batch, device, &spec, &format, 2);
  batch.expected[0] = other;
  batch_check (&batch, "noted");
  pp_job *job = fill (&batch, device, 1);
  EXPECT (pp_job_wait (job, NULL) == PP_OK, "padding");
  pp_job_unref (&job);
  batch_check (&batch, "padding only");
  pp_arena_upload (batch.memory, batch.block, &other, 1, NULL);
  job = fill (&batch, device, 1);
  EXPECT (pp_job_wait (job, NULL) == PP_OK, "padding");
  pp_job_unref (&job);
  batch.expected[0] = other;
  batch_check (&batch, "padding only, noted");
  /* A picture over padding: what is around it is there. */
  fill_slice (&batch, device, &spec, &format, 3);
  batch.expected[0] = other;
  batch_check (&batch, "picture over padding");
  batch.padding[0] = 0;
  fill_slice (&batch, device, &spec, &format, 4);
  batch_check (&batch, "not noted");
  EXPECT (backend != &fake_backend || fake_count (FAKE_PAD) == written + 2,
      "padding was written %d times", fake_count (FAKE_PAD) - written);
  /* A job that notes padding may fail. Then its device has failed, and the next
   * one must not believe the note. */
  pp_device_close (&device);
  device = open_device (2);
  pp_arena_upload (batch.memory, batch.block, &other, 1, NULL);
  fill_slice (&batch, device, &spec, &format, 5);
  batch_check (&batch, "another device");
  batch_clear (&batch);
  pp_plan_unref (&plan);
  pp_device_close (&device);
}

/* A picture with bytes that are no element's, which are written with the padding.
 */
static void
test_surfaces (void)
{
  pp_spec spec = letterbox_spec (20, 18);
  const pp_format format = nv12_format (64, 36);
  pp_device *device = open_device (1);

  spec.type = PP_TYPE_UINT8;
  spec.surface = (pp_surface){
    .size = 96 * 18, .pixel_stride = 4, .row_stride = 96, .offset = { 2, 1, 0 }
  };
  for (unsigned place = 0; place < 4; place++) {
    struct frame frame;

    spec.fit = place == ON_DEVICE ? PP_FIT_STRETCH : PP_FIT_LETTERBOX;
    frame_init (&frame, pp_device_arena (device), &spec, format, 0, place);
    frame_place (&frame, pp_device_memory (device), place, 0);
    frame_submit (&frame, device, 3);
    frame_check (&frame, place_names[place]);
    frame_clear (&frame);
  }
  pp_plan *plan = make_plan (&spec, &format, NULL);
  struct batch batch;
  batch_init (&batch, device, plan, 1);
  pp_job *job = fill (&batch, device, 1);
  EXPECT (pp_job_wait (job, NULL) == PP_OK, "padding");
  pp_job_unref (&job);
  batch_check (&batch, "surface without a picture");
  batch_clear (&batch);
  pp_plan_unref (&plan);
  pp_device_close (&device);
}

/* A tensor on the device is the next job's frame, which waits for it. */
static void
test_after (void)
{
  pp_device *device = open_device (2);

  for (unsigned round = 0; round < 20; round++) {
    struct frame first, second;
    pp_spec spec = sized_spec (256, 200);

    spec.type = PP_TYPE_UINT8;
    spec.layout = PP_LAYOUT_NHWC;
    frame_init (&first, pp_device_arena (device), &spec, rgb_format (700, 500),
        0, round);
    frame_place (&first, pp_device_memory (device), round % 4 | 2, 0);
    spec = letterbox_spec (64, 64);
    frame_init (&second, pp_device_arena (device), &spec, rgb_format (256, 200),
        0, round);
    /* What the reference makes of the first one's tensor. */
    second.view.plane[0] = first.expected;
    const pp_view view = pp_plan_crop_view (second.plan, &second.view);
    pp_apply_c (second.plan, &view, second.expected);
    frame_place (&second, pp_device_memory (device),
        round % 2 ? TENSOR_ON_DEVICE : 0, 0);
    frame_submit (&first, device, 3);
    pp_task task = frame_task (&second, 0);
    task.on_device = true;
    task.view.plane[0] = first.device_tensor;
    task.after = first.job;
    second.submitted = 1;
    second.job = pp_submit (device, &task, NULL);
    frame_check (&second, "after");
    frame_check (&first, "before");
    frame_clear (&second);
    frame_clear (&first);
  }
  pp_device_close (&device);
}

/* What is on the device needs no room in the streams' buffers, and jobs allocate
 * nothing. */
static void
test_reserved (void)
{
  const pp_spec spec = letterbox_spec (64, 64);
  const pp_format format = nv12_format (400, 300);

  for (unsigned place = 0; place < 4; place++) {
    pp_device *device = open_device (2);
    struct frame frame[6];

    for (int i = 0; i < LENGTH (frame); i++) {
      frame_init (
          &frame[i], pp_device_arena (device), &spec, format, 0, (unsigned) i);
      frame_place (&frame[i], pp_device_memory (device), place, 0);
      pp_plan_unref (&frame[i].plan);
      frame[i].plan = make_plan (&spec, &format, NULL);
    }
    EXPECT (pp_device_reserve_in_place (device, frame[0].plan, 1,
                (place & SOURCE_ON_DEVICE) != 0,
                (place & TENSOR_ON_DEVICE) != 0, NULL) == PP_OK,
        "%s", place_names[place]);
    for (int s = 0; s < 2; s++) {
      const pp_buffer *buffer = device->stream[s]->buffer;

      EXPECT ((buffer[PP_BUFFER_IMAGE].size == 0) ==
                  ((place & SOURCE_ON_DEVICE) != 0) &&
              (buffer[PP_BUFFER_TENSOR].size == 0) ==
                  ((place & TENSOR_ON_DEVICE) != 0),
          "%s: %zu and %zu bytes", place_names[place],
          buffer[PP_BUFFER_IMAGE].size, buffer[PP_BUFFER_TENSOR].size);
    }
    const int allocated =
        fake_count (FAKE_DEVICE_ALLOC) + fake_count (FAKE_HOST_ALLOC);
    for (int i = 0; i < LENGTH (frame); i++)
      frame_submit (&frame[i], device, 3);
    for (int i = 0; i < LENGTH (frame); i++)
      frame_check (&frame[i], place_names[place]);
    EXPECT (fake_count (FAKE_DEVICE_ALLOC) + fake_count (FAKE_HOST_ALLOC) ==
            allocated,
        "%s: jobs allocated", place_names[place]);
    for (int i = 0; i < LENGTH (frame); i++)
      frame_clear (&frame[i]);
    pp_device_close (&device);
  }
}

static void
test_refused (void)
{
  const pp_spec spec = letterbox_spec (16, 16);
  pp_device *device = open_device (1);
  pp_arena *arena = pp_device_arena (device);
  struct frame frame;
  pp_error error = { 0 };

  frame_init (&frame, arena, &spec, nv12_format (64, 48), 0, 1);
  pp_task task = frame_task (&frame, 3);
  task.padding_only = true;
  expect_refused (device, &task, "padding_only is set without tensors_on_dev");
  task.padding_only = false;
  if (backend->unified) {
    task.on_device = true;
    expect_refused (device, &task, "on_device is set, but cpu has no memory");
    task.on_device = false;
    task.tensors_on_device = true;
    expect_refused (device, &task, "tensors_on_device is set, but cpu has no");
    EXPECT (
        pp_device_memory (device) == NULL && pp_device_context (device) == NULL,
        "the CPU has memory of its own");
  } else {
    frame_place (&frame, pp_device_memory (device), ON_DEVICE, 0);
    task = frame_task (&frame, 3);
    task.view.plane[1] = NULL;
    expect_refused (device, &task, "plane 1 is NULL");
    task = frame_task (&frame, 3);
    frame.picture.tensor = frame.device_tensor + 2;
    expect_refused (device, &task, "must be at a multiple of 4 bytes");
  }
  EXPECT (pp_arena_download (arena, frame.source, frame.tensor, 4, &error) ==
              PP_BAD_ARGUMENT &&
          strstr (error.text, "the arena is of host memory") != NULL,
      "%s", error.text);
  EXPECT (pp_arena_upload (arena, frame.source, frame.tensor, 4, &error) ==
              PP_BAD_ARGUMENT &&
          strstr (error.text, "pp_arena_upload of 4 bytes") != NULL,
      "%s", error.text);
  EXPECT (frame.inputs_done == 0 && frame.dones == 0, "called back");
  frame_clear (&frame);
  pp_device_close (&device);
}

static const struct suite_test tests[] = {
  { "places", test_places },
  { "regions", test_regions },
  { "batches", test_batches },
  { "padding", test_padding },
  { "surfaces", test_surfaces },
  { "after", test_after },
  { "reserved", test_reserved },
  { "refused", test_refused },
};

/* The CPU, which has no memory of its own, runs only the last one. */
int
main (int argc, char **argv)
{
  const bool cpu = argc >= 2 && strcmp (argv[1], pp_backend_cpu.name) == 0;
  const int skipped = cpu ? LENGTH (tests) - 1 : 0;

  return suite_main (tests + skipped, LENGTH (tests) - skipped, argc, argv);
}
