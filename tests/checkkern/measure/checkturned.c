/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --bench-turned: the CPU's kernel on pictures that are turned by 90
 * degrees, beside upright pictures with a tensor of the same size. Both take
 * turns, and what counts are medians of the thread's own time, so that other
 * programs disturb both alike.
 */
#include "checkturned.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "tests/checkkern/checkrun.h"
#include "tests/common/times.h"

/* Frames and tensors that take turns, so that the last result is not simply
 * found in a cache. */
#define N_TURNS 4
/* For each job. */
#define SECONDS 0.6
#define MAX_SAMPLES 2000
/* What a turned picture may take, in upright ones. */
#define LIMIT 1.3

/* One of each class: what is read, resampled and mixed differs. */
static const char *const formats[] = { "RGB", "BGRx", "GBR", "NV12", "I420",
  "Y42B", "Y444", "YUY2", "GRAY8", "P010_10LE", "I420_10LE", "I422_12BE",
  "GBR12LE", "ARGB64LE" };

static const struct output {
  const char *name;
  pp_type type;
  pp_layout layout;
  int surface; /* bytes of a pixel of it; 0: none */
} outputs[] = {
  { "float32", PP_TYPE_FLOAT32, PP_LAYOUT_NCHW, 0 },
  { "float16", PP_TYPE_FLOAT16, PP_LAYOUT_NCHW, 0 },
  { "uint8", PP_TYPE_UINT8, PP_LAYOUT_NCHW, 0 },
  { "float32 nhwc", PP_TYPE_FLOAT32, PP_LAYOUT_NHWC, 0 },
  { "float16 nhwc", PP_TYPE_FLOAT16, PP_LAYOUT_NHWC, 0 },
  { "uint8 nhwc", PP_TYPE_UINT8, PP_LAYOUT_NHWC, 0 },
  { "RGBx", PP_TYPE_UINT8, PP_LAYOUT_NHWC, 4 },
};

/* Besides 1080p -> 640 x 640, letterboxed: rows of a power of two, small and large
 * tensors. */
static const struct scaling {
  const char *name;
  int width, height; /* of the tensor */
  pp_fit fit;
  pp_method method;
} scalings[] = {
  { "letterbox 640", 640, 640, PP_FIT_LETTERBOX, PP_METHOD_BILINEAR },
  { "stretch 640", 640, 640, PP_FIT_STRETCH, PP_METHOD_BILINEAR },
  { "nearest 640", 640, 640, PP_FIT_STRETCH, PP_METHOD_NEAREST },
  { "letterbox 224", 224, 224, PP_FIT_LETTERBOX, PP_METHOD_BILINEAR },
  { "letterbox 512", 512, 512, PP_FIT_LETTERBOX, PP_METHOD_BILINEAR },
  { "letterbox 1024", 1024, 1024, PP_FIT_LETTERBOX, PP_METHOD_BILINEAR },
  { "stretch 2048", 2048, 2048, PP_FIT_STRETCH, PP_METHOD_BILINEAR },
};

#define N(array) (sizeof (array) / sizeof *(array))

/* The two pictures that are compared, each in N_TURNS frames and tensors. */
struct side {
  check_case check;
  check_run runs[N_TURNS];
  void *tensor[N_TURNS], *scratch;
  double took[MAX_SAMPLES];
};

static void
make_case (check_case *check, const char *format, const struct output *output,
    const struct scaling *scaling, pp_direction direction)
{
  pp_spec *spec = &check->spec;
  const size_t row = (size_t) scaling->width * (size_t) output->surface;

  *check = (check_case){ .number = 0 };
  check_case_frame (check, format, 1920, 1080);
  spec->width = scaling->width;
  spec->height = scaling->height;
  spec->fit = scaling->fit;
  spec->method = scaling->method;
  spec->type = output->type;
  spec->layout = output->layout;
  spec->direction = direction;
  if (output->surface != 0)
    spec->surface = (pp_surface){ row * (size_t) scaling->height,
      output->surface, row, { 0, 1, 2 } };
  check_case_normalize (check);
}

/* FALSE where the kernel's bits are wrong. */
static bool
side_init (struct side *side)
{
  bool good = true;

  for (int t = 0; t < N_TURNS; t++) {
    const check_random random = { (uint64_t) t };
    good &= check_run_init (&side->runs[t], &side->check, random, NULL, stdout);
  }
  if (!good || !check_cpu (&side->runs[0]))
    return false;
  const pp_plan *plan = side->runs[0].plan;
  side->scratch = aligned_alloc (64, pp_apply_cpu_scratch (plan));
  for (int t = 0; t < N_TURNS; t++) {
    side->tensor[t] =
        aligned_alloc (256, (side->runs[t].size + 255) & ~(size_t) 255);
    if (side->tensor[t] == NULL || side->scratch == NULL)
      abort ();
    pp_plan_fill_padding (plan, side->tensor[t]);
  }
  return true;
}

static void
side_clear (struct side *side)
{
  for (int t = 0; t < N_TURNS; t++) {
    check_run_clear (&side->runs[t]);
    free (side->tensor[t]);
  }
  free (side->scratch);
}

static double
time_turn (struct side *side, int t)
{
  const pp_plan *plan = side->runs[t].plan;
  const pp_view view = pp_plan_crop_view (plan, &side->runs[t].view);
  const double start = clock_time (CLOCK_THREAD_CPUTIME_ID);

  pp_apply_cpu (plan, &view, side->tensor[t], 0, plan->numbers.content_height,
      side->scratch);
  return clock_time (CLOCK_THREAD_CPUTIME_ID) - start;
}

static double
find_median (double *took, int n)
{
  qsort (took, (size_t) n, sizeof *took, compare_times);
  return took[n / 2];
}

/* Returns turned / upright, or 0 where one of them is wrong. */
static double
bench (const char *format, const struct output *output,
    const struct scaling *scaling)
{
  struct side upright = { 0 }, turned = { 0 };
  double ratio = 0;

  make_case (&upright.check, format, output, scaling, PP_DIRECTION_IDENTITY);
  make_case (&turned.check, format, output, scaling, PP_DIRECTION_90R);
  const bool upright_right = side_init (&upright);
  if (side_init (&turned) && upright_right) {
    const double end = monotonic_time () + SECONDS * 1e6;
    int n = 0;

    for (; n < MAX_SAMPLES && monotonic_time () < end; n++) {
      upright.took[n] = time_turn (&upright, n % N_TURNS);
      turned.took[n] = time_turn (&turned, n % N_TURNS);
    }
    const double a = find_median (upright.took, n);
    const double b = find_median (turned.took, n);
    ratio = b / a;
    printf ("%-15s %-10s %-13s %9.1f %9.1f %6.2f%s\n", scaling->name, format,
        output->name, a, b, ratio, ratio > LIMIT ? " !" : "");
  }
  side_clear (&upright);
  side_clear (&turned);
  return ratio;
}

int
check_bench_turned (void)
{
  int wrong = 0, n = 0, slow = 0;
  double worst = 0;

  printf ("%-15s %-10s %-13s %9s %9s %6s\n", "job", "in", "out", "upright us",
      "90r us", "ratio");
  for (size_t s = 0; s < N (scalings); s++)
    for (size_t f = 0; f < N (formats); f++)
      for (size_t o = 0; o < N (outputs); o++) {
        /* Other scalings with RGB and NV12 alone. */
        if (s > 0 && strcmp (formats[f], "RGB") && strcmp (formats[f], "NV12"))
          continue;
        const double ratio = bench (formats[f], &outputs[o], &scalings[s]);
        wrong += ratio == 0;
        slow += ratio > LIMIT;
        worst = ratio > worst ? ratio : worst;
        n++;
      }
  printf ("%d of %d above %.1f, the worst %.2f\n", slow, n, LIMIT, worst);
  return wrong;
}
