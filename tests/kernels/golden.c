/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The golden cases: every kernel against what the libraries that people train
 * with make of the same frame (golden/README.md). Caps, buffers and properties
 * are read by the element's own functions. Argument: cases.tsv.
 */
#include <gst/video/video.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gst/buffers/input.h"
#include "gst/caps/inputformat.h"
#include "gst/settings/enums.h"
#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

#include "tests/common/elementspec.h"
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

/* The columns of cases.tsv, in order. */
enum column {
  NAME,
  LIBRARY,
  INPUT,
  FORMAT,
  WIDTH,
  HEIGHT,
  COLORIMETRY,
  CHROMA_SITE,
  PROPERTIES,
  EXPECTED,
  DIMS,
  TYPE,
  MAX_ABS,
  MEAN_ABS,
  REASON,
  N_COLUMNS
};

static const gchar *const column_names[] = { "case", "library", "input",
  "format", "width", "height", "colorimetry", "chroma_site", "properties",
  "expected", "dims", "type", "max_abs", "mean_abs", "reason", NULL };

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

static gboolean
parse_info (gchar **columns, GstVideoInfo *info)
{
  g_autoptr (GString) text = g_string_new (NULL);

  g_string_printf (text,
      "video/x-raw,format=%s,width=%s,height=%s,framerate=1/1", columns[FORMAT],
      columns[WIDTH], columns[HEIGHT]);
  if (!g_str_equal (columns[COLORIMETRY], "-"))
    g_string_append_printf (text, ",colorimetry=%s", columns[COLORIMETRY]);
  if (!g_str_equal (columns[CHROMA_SITE], "-"))
    g_string_append_printf (text, ",chroma-site=%s", columns[CHROMA_SITE]);

  g_autoptr (GstCaps) caps = gst_caps_from_string (text->str);

  if (caps && gst_pp_video_info_from_caps (info, caps))
    return TRUE;
  g_print ("%s: caps are refused: %s\n", columns[NAME], text->str);
  return FALSE;
}

/* A file of exactly size bytes, beside cases.tsv; free it. */
static gchar *
load (gchar **columns, const gchar *folder, const gchar *name, gsize size)
{
  g_autofree gchar *path = g_build_filename (folder, name, NULL);
  g_autoptr (GError) error = NULL;
  gchar *data;
  gsize length;

  if (!g_file_get_contents (path, &data, &length, &error)) {
    g_print ("%s: %s\n", columns[NAME], error->message);
    return NULL;
  }
  if (length == size)
    return data;
  g_print ("%s: %s has %zu bytes, expected %zu\n", columns[NAME], path, length,
      size);
  g_free (data);
  return NULL;
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

/* The file's dimensions must be the spec's: a tensor of the same number of
 * elements in another layout would only look like wrong numbers. */
static gboolean
check_dims (gchar **columns, const pp_spec *spec)
{
  const int n = pp_channels_count (spec->channels);
  g_autofree gchar *dims = spec->layout == PP_LAYOUT_NCHW
      ? g_strdup_printf ("%d:%d:%d:1", spec->width, spec->height, n)
      : g_strdup_printf ("%d:%d:%d:1", n, spec->width, spec->height);

  const gchar *type = gst_pp_enum_nick (gst_pp_types, (gint) spec->type);

  if (g_str_equal (dims, columns[DIMS]) && g_str_equal (type, columns[TYPE]))
    return TRUE;
  g_print ("%s: the file is %s %s, the properties say %s %s\n", columns[NAME],
      columns[TYPE], columns[DIMS], type, dims);
  return FALSE;
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
check_plan (gchar **columns, const gchar *folder, const pp_plan *plan,
    const pp_spec *spec, const pp_format *format, const GstVideoInfo *info)
{
  const gsize size = GST_VIDEO_INFO_SIZE (info);
  gchar *input = load (columns, folder, columns[INPUT], size);
  g_autofree gchar *expected =
      load (columns, folder, columns[EXPECTED], plan->tensor_size);
  g_autofree gchar *reason = NULL;
  gboolean right = TRUE;
  GstPpInput frame;

  if (!input || !expected) {
    g_free (input);
    return FALSE;
  }
  if (!gst_pp_input_map (
          &frame, info, FALSE, gst_buffer_new_wrapped (input, size), &reason)) {
    g_print ("%s: %s\n", columns[NAME], reason);
    return FALSE;
  }
  for (guint k = 0; k < n_kernels; k++)
    right = check_kernel (columns, k, plan, &frame.view, expected) && right;
  right = check_directions (columns, spec, format, &frame.view) && right;
  gst_pp_input_clear (&frame);
  return right;
}

static gboolean
check_case (gchar **columns, const gchar *folder, const pp_spec *spec)
{
  GstVideoInfo info;
  pp_format format;
  pp_error error;
  g_autofree gchar *reason = NULL;

  if (!check_dims (columns, spec) || !parse_info (columns, &info))
    return FALSE;
  if (!gst_pp_format_from_video_info (&info, &format, &reason)) {
    g_print ("%s: no format: %s\n", columns[NAME], reason);
    return FALSE;
  }

  pp_plan *plan = pp_plan_new (spec, &format, NULL, &error);

  if (!plan) {
    g_print ("%s: no plan: %s\n", columns[NAME], error.text);
    return FALSE;
  }

  const gboolean right =
      check_plan (columns, folder, plan, spec, &format, &info);

  pp_plan_unref (&plan);
  return right;
}

static void
run_case (gchar **columns, const gchar *folder)
{
  g_autofree gchar *reason = NULL;
  pp_spec spec;

  if (g_strv_length (columns) != N_COLUMNS ||
      !g_ascii_islower (columns[NAME][0])) {
    g_print ("%s: not a case of %d columns\n", columns[NAME], N_COLUMNS);
    totals.failed++;
  } else if (!test_spec_from_properties (columns[PROPERTIES], &spec, &reason)) {
    g_print ("%s: %s\n", columns[NAME], reason);
    totals.failed++;
  } else if (check_case (columns, folder, &spec)) {
    totals.passed++;
  } else {
    totals.failed++;
  }
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
  g_autoptr (GError) error = NULL;
  g_autofree gchar *text = NULL;
  pp_error failure;

  gst_init (NULL, NULL);
  if (argc != 2) {
    g_printerr ("usage: %s cases.tsv\n", argv[0]);
    return 2;
  }
  if (!g_file_get_contents (argv[1], &text, NULL, &error)) {
    g_printerr ("%s\n", error->message);
    return 1;
  }

  device = pp_device_open (PP_BACKEND_CUDA, -1, NULL, &failure);
  if (device == NULL) {
    g_print ("SKIP cuda: %s\n", failure.text);
    n_kernels--;
  }

  g_autofree gchar *folder = g_path_get_dirname (argv[1]);
  g_auto (GStrv) lines = g_strsplit (g_strchomp (text), "\n", -1);
  g_auto (GStrv) header = g_strsplit (lines[0] ? lines[0] : "", "\t", -1);

  if (!g_strv_equal ((const gchar *const *) header, column_names)) {
    g_printerr ("%s: the first line does not name the columns\n", argv[1]);
    return 1;
  }
  for (guint i = 1; lines[i]; i++) {
    g_auto (GStrv) columns = g_strsplit (lines[i], "\t", -1);

    run_case (columns, folder);
  }
  print_totals ();
  pp_device_close (&device);
  return totals.failed > 0 || totals.passed == 0 || totals.turned == 0;
}
