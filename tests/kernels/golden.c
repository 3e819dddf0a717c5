/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The golden cases: every kernel against what the libraries that people train
 * with make of the same frame (golden/README.md). Caps, buffers and properties
 * are read by the element's own functions. Argument: cases.tsv.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

#include "goldencase.h"
#include "turnedframe.h"

#define MAX_GROUPS 26
/* Of values in 0...255: as much as another order of sums may change. */
#define OTHER_ORDER (255 * 0x1p-20)

static void
apply_c (const pp_plan *plan, const pp_view *frame, void *tensor)
{
  const pp_view source = pp_plan_crop_view (plan, frame);

  if (!pp_apply_c (plan, &source, tensor))
    g_error ("no memory for the reference");
}

static void
apply_cpu (const pp_plan *plan, const pp_view *frame, void *tensor)
{
  const pp_view source = pp_plan_crop_view (plan, frame);
  const size_t size = pp_apply_cpu_scratch (plan);
  /* aligned_alloc wants whole multiples of the alignment. */
  void *scratch = aligned_alloc (64, (size + 63) / 64 * 64);

  pp_plan_fill_padding (plan, tensor);
  pp_apply_cpu (
      plan, &source, tensor, 0, plan->numbers.content_height, scratch);
  free (scratch);
}

/* Where there is one. */
static pp_device *device;

static void
apply_cuda (const pp_plan *plan, const pp_view *frame, void *tensor)
{
  pp_arena *arena = pp_device_arena (device);
  void *block = pp_arena_alloc (arena, plan->tensor_size, NULL);
  pp_error error = { 0 };
  const pp_picture picture = { .plan = (pp_plan *) plan, .tensor = block };
  const pp_task task = {
    .pictures = &picture, .n_pictures = 1, .view = *frame
  };
  pp_job *job = pp_submit (device, &task, &error);

  if (job == NULL || pp_job_wait (job, &error) != PP_OK)
    g_error ("%s", error.text);
  memcpy (tensor, block, plan->tensor_size);
  pp_device_drain (device, NULL);
  pp_job_unref (&job);
  pp_arena_free (arena, block, plan->tensor_size);
}

static const struct kernel {
  const gchar *name;
  void (*apply) (const pp_plan *plan, const pp_view *frame, void *tensor);
} kernels[] = {
  { "c", apply_c },
  { "cpu", apply_cpu },
  { "cuda", apply_cuda },
};

/* The last one needs the device. */
static guint n_kernels = G_N_ELEMENTS (kernels);

typedef struct result {
  guint cases;
  gdouble worst; /* of difference / bound, both of max and of mean */
} result;

static struct {
  result groups[MAX_GROUPS][G_N_ELEMENTS (kernels)];
  guint passed, failed;
  guint turned; /* cases and directions compared with a frame turned before */
} totals;

static gboolean
parse_number (const gchar *text, gdouble *value)
{
  gchar *end;

  *value = g_ascii_strtod (text, &end);
  return end != text && *end == '\0';
}

static gdouble
float16_value (guint16 bits)
{
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const gdouble sign = bits & 0x8000 ? -1 : 1;

  if (exponent == 31)
    return fraction ? NAN : sign * INFINITY;
  if (exponent == 0)
    return sign * ldexp (fraction, -24);
  return sign * ldexp (1024 + fraction, exponent - 25);
}

static gdouble
element (pp_type type, const void *tensor, gsize i)
{
  switch (type) {
    case PP_TYPE_FLOAT32:
      return ((const gfloat *) tensor)[i];
    case PP_TYPE_FLOAT16:
      return float16_value (((const guint16 *) tensor)[i]);
    case PP_TYPE_UINT8:
      return ((const guint8 *) tensor)[i];
    case PP_TYPE_INT8:
      return ((const gint8 *) tensor)[i];
    case PP_N_TYPES:
      break;
  }
  return NAN;
}

struct difference {
  gdouble max, mean;
  gsize at; /* the element of max */
};

/* NaN on either side is an infinite difference; equal infinities are none. */
static struct difference
compare (pp_type type, const void *got, const void *expected, gsize n)
{
  struct difference d = { 0 };

  for (gsize i = 0; i < n; i++) {
    const gdouble a = element (type, got, i), b = element (type, expected, i);
    gdouble here = a == b ? 0 : fabs (a - b);

    if (isnan (here))
      here = INFINITY;
    if (here > d.max) {
      d.max = here;
      d.at = i;
    }
    d.mean += here / n;
  }
  return d;
}

/* How much of its bound a difference uses; over 1 is a failure. */
static gdouble
used (gdouble difference, gdouble bound)
{
  return difference == 0 ? 0 : difference / bound;
}

static gboolean
check_kernel (gchar **columns, guint k, const pp_plan *plan,
    const pp_view *frame, const void *expected)
{
  const pp_type type = (pp_type) plan->numbers.type;
  const gsize n = plan->tensor_size / pp_type_size (type);
  g_autofree void *tensor = g_malloc (plan->tensor_size);
  result *group = &totals.groups[columns[NAME][0] - 'a'][k];
  gdouble max_bound, mean_bound = INFINITY;

  if (!parse_number (columns[MAX_ABS], &max_bound) ||
      (!g_str_equal (columns[MEAN_ABS], "-") &&
          !parse_number (columns[MEAN_ABS], &mean_bound))) {
    g_print ("%s: cannot read the bounds\n", columns[NAME]);
    return FALSE;
  }
  /* Poison: an element that is not written differs. */
  memset (tensor, 0xFF, plan->tensor_size);
  kernels[k].apply (plan, frame, tensor);

  const struct difference d = compare (type, tensor, expected, n);
  const gdouble worst =
      fmax (used (d.max, max_bound), used (d.mean, mean_bound));

  group->cases++;
  group->worst = fmax (group->worst, worst);
  if (worst <= 1)
    return TRUE;
  g_print ("%s, kernel %s: max %g of %g, mean %g of %g; element %zu is %.9g, "
           "%s has %.9g\n",
      columns[NAME], kernels[k].name, d.max, max_bound, d.mean, mean_bound,
      d.at, element (type, tensor, d.at), columns[LIBRARY],
      element (type, expected, d.at));
  return FALSE;
}

/* The pixels' own values, by the reference; free it. */
static gfloat *
make_values (const pp_spec *spec, pp_direction direction,
    const pp_format *format, const pp_view *frame, gsize *n)
{
  pp_spec plain = *spec, standard;

  pp_spec_init (&standard);
  plain.direction = direction;
  plain.type = PP_TYPE_FLOAT32;
  plain.scale = 1;
  memcpy (plain.mean, standard.mean, sizeof plain.mean);
  memcpy (plain.std, standard.std, sizeof plain.std);

  pp_plan *plan = pp_plan_new (&plain, format, NULL, NULL);
  const gsize size = pp_plan_tensor_size (plan);
  gfloat *values = g_malloc (size);

  apply_c (plan, frame, values);
  pp_plan_unref (&plan);
  *n = size / sizeof *values;
  return values;
}

/* Turned on its way, the frame gives what it gives if it was turned before, but
 * for the order of sums. The kernels give the reference's bits. */
static gboolean
check_direction (gchar **columns, const pp_spec *spec, pp_direction direction,
    const pp_format *format, const pp_view *frame)
{
  pp_rect source = { 0, 0, format->width, format->height };
  struct turned_frame turned;
  gsize n, n_expected;

  turned_frame_init (&turned, format, frame, direction, &source);
  g_autofree gfloat *is = make_values (spec, direction, format, frame, &n);
  g_autofree gfloat *expected = make_values (
      spec, PP_DIRECTION_IDENTITY, &turned.format, &turned.view, &n_expected);
  turned_frame_clear (&turned);

  const struct difference d = compare (PP_TYPE_FLOAT32, is, expected, n);
  if (n == n_expected && d.max <= OTHER_ORDER)
    return TRUE;
  g_print ("%s, direction %d: max %g; element %zu is %.9g, and %.9g of the "
           "frame that was turned before\n",
      columns[NAME], (int) direction, d.max, d.at, is[d.at], expected[d.at]);
  return FALSE;
}

static gboolean
check_turned_kernels (gchar **columns, const pp_spec *spec,
    pp_direction direction, const pp_format *format, const pp_view *frame)
{
  pp_spec turned = *spec;

  turned.direction = direction;
  pp_plan *plan = pp_plan_new (&turned, format, NULL, NULL);
  const gsize size = pp_plan_tensor_size (plan);
  g_autofree guint8 *expected = g_malloc (size), *tensor = g_malloc (size);
  gboolean right = TRUE;

  apply_c (plan, frame, expected);
  for (guint k = 1; k < n_kernels; k++) {
    memset (tensor, 0xFF, size);
    kernels[k].apply (plan, frame, tensor);
    if (memcmp (tensor, expected, size) == 0)
      continue;
    g_print ("%s, direction %d, kernel %s: not the reference's bits\n",
        columns[NAME], (int) direction, kernels[k].name);
    right = FALSE;
  }
  pp_plan_unref (&plan);
  return right;
}

static gboolean
check_directions (gchar **columns, const pp_spec *spec, const pp_format *format,
    const pp_view *frame)
{
  gboolean right = TRUE;

  for (gint d = 0; d < PP_N_DIRECTIONS; d++) {
    const pp_direction direction = (pp_direction) d;

    right =
        check_turned_kernels (columns, spec, direction, format, frame) && right;
    if (!can_turn_before (format, direction))
      continue;
    totals.turned++;
    right = check_direction (columns, spec, direction, format, frame) && right;
  }
  return right;
}

static gboolean
check_kernels (const GoldenCase *golden, const pp_plan *plan)
{
  g_autofree gchar *expected =
      golden_load (golden, golden->columns[EXPECTED], plan->tensor_size);
  const pp_view *frame = &golden->frame.view;
  gboolean right = TRUE;

  if (expected == NULL)
    return FALSE;
  for (guint k = 0; k < n_kernels; k++)
    right = check_kernel (golden->columns, k, plan, frame, expected) && right;
  return check_directions (
             golden->columns, &golden->spec, &golden->format, frame) &&
      right;
}

static gboolean
check_case (const GoldenCase *golden)
{
  pp_error error;
  pp_plan *plan = pp_plan_new (&golden->spec, &golden->format, NULL, &error);

  if (plan == NULL) {
    g_print ("%s: no plan: %s\n", golden->columns[NAME], error.text);
    return FALSE;
  }

  const gboolean right = check_kernels (golden, plan);

  pp_plan_unref (&plan);
  return right;
}

static void
run_case (const gchar *line, const gchar *folder)
{
  GoldenCase golden;
  const gboolean right =
      golden_case_init (&golden, line, folder) && check_case (&golden);

  golden_case_clear (&golden);
  totals.passed += right;
  totals.failed += !right;
}

static void
print_totals (void)
{
  g_print ("\ngroup  cases");
  for (guint k = 0; k < n_kernels; k++)
    g_print ("  %12s", kernels[k].name);
  g_print ("   (worst difference / bound)\n");
  for (guint g = 0; g < MAX_GROUPS; g++) {
    const result *row = totals.groups[g];

    if (row[0].cases == 0)
      continue;
    g_print ("%5c  %5u", 'a' + g, row[0].cases);
    for (guint k = 0; k < n_kernels; k++)
      g_print ("  %12.3g", row[k].worst);
    g_print ("\n");
  }
  g_print ("%u passed, %u failed; %u turned\n", totals.passed, totals.failed,
      totals.turned);
}

int
main (int argc, char **argv)
{
  pp_error failure;

  gst_init (NULL, NULL);
  if (argc != 2) {
    g_printerr ("usage: %s cases.tsv\n", argv[0]);
    return 2;
  }

  g_auto (GStrv) lines = golden_read (argv[1]);
  g_autofree gchar *folder = g_path_get_dirname (argv[1]);

  if (lines == NULL)
    return 1;
  device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &failure);
  if (device == NULL) {
    g_print ("SKIP cuda: %s\n", failure.text);
    n_kernels--;
  }
  for (guint i = 0; lines[i] != NULL; i++)
    run_case (lines[i], folder);
  print_totals ();
  pp_device_close (&device);
  return totals.failed > 0 || totals.passed == 0 || totals.turned == 0;
}
