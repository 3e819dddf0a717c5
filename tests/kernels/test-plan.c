/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans: what is read of a frame, numbers, padding, references.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reference/reference.h"

#include "tests/common/formats.h"

static void
test_references (void)
{
  const pp_format format = nv12_format (64, 48);
  const pp_spec spec = sized_spec (8, 8);
  pp_plan *a = make_plan (&spec, &format, NULL);
  pp_plan *b = make_plan (&spec, &format, NULL);
  pp_plan *none = NULL;

  if (!a || !b)
    return;
  EXPECT (a->id != 0 && b->id != 0 && a->id != b->id, "%llu, %llu",
      (unsigned long long) a->id, (unsigned long long) b->id);

  pp_plan *again = pp_plan_ref (a);

  EXPECT (again == a && a->references == 2, "%d references", a->references);
  pp_plan_unref (&again);
  EXPECT (!again && a->references == 1, "%d references", a->references);
  pp_plan_unref (&a);
  pp_plan_unref (&b);
  pp_plan_unref (&none);
  EXPECT (!a && !b, "not cleared");
}

static void
test_extents (void)
{
  static const struct {
    pp_format (*format) (int width, int height);
    int width, height;
    pp_rect source;
    pp_fit fit;
    pp_rect extent[2]; /* of the planes, bytes and rows */
  } rows[] = {
    { rgb_format, 64, 48, { 0, 0, 64, 48 }, PP_FIT_STRETCH,
        { { 0, 0, 192, 48 } } },
    { rgb_format, 64, 48, { 5, 7, 11, 13 }, PP_FIT_STRETCH,
        { { 15, 7, 33, 13 } } },
    /* resized to 10x8, cropped to 8x8: columns 6.4 to 57.6 */
    { rgb_format, 64, 48, { 0, 0, 64, 48 }, PP_FIT_CROP,
        { { 18, 0, 156, 48 } } },
    { nv12_format, 64, 48, { 0, 0, 64, 48 }, PP_FIT_STRETCH,
        { { 0, 0, 64, 48 }, { 0, 0, 64, 24 } } },
    { nv12_format, 63, 47, { 0, 0, 63, 47 }, PP_FIT_STRETCH,
        { { 0, 0, 63, 47 }, { 0, 0, 64, 24 } } },
    /* odd: columns 5 to 15 are chroma 2 to 7, rows 7 to 19 are 3 to 9 */
    { nv12_format, 64, 48, { 5, 7, 11, 13 }, PP_FIT_STRETCH,
        { { 5, 7, 11, 13 }, { 4, 3, 12, 7 } } },
    { nv12_format, 64, 48, { 63, 47, 1, 1 }, PP_FIT_STRETCH,
        { { 63, 47, 1, 1 }, { 62, 23, 2, 1 } } },
    { p010_format, 64, 48, { 5, 7, 11, 13 }, PP_FIT_STRETCH,
        { { 10, 7, 22, 13 }, { 8, 3, 24, 7 } } },
    /* Y at 2 x, Cb at 4 (x / 2) + 1, Cr at 4 (x / 2) + 3 */
    { yuy2_format, 64, 48, { 0, 0, 64, 48 }, PP_FIT_STRETCH,
        { { 0, 0, 128, 48 } } },
    { yuy2_format, 64, 48, { 5, 7, 1, 13 }, PP_FIT_STRETCH,
        { { 9, 7, 3, 13 } } },
    { yuy2_format, 63, 48, { 62, 0, 1, 1 }, PP_FIT_STRETCH,
        { { 124, 0, 4, 1 } } },
  };

  for (int i = 0; i < LENGTH (rows); i++) {
    const pp_format format = rows[i].format (rows[i].width, rows[i].height);
    pp_spec spec = sized_spec (8, 8);

    spec.method = PP_METHOD_AREA;
    spec.fit = rows[i].fit;

    pp_plan *plan = make_plan (&spec, &format, &rows[i].source);

    if (!plan)
      continue;
    for (int p = 0; p < PP_MAX_PLANES; p++) {
      const pp_rect is = pp_plan_plane_extent (plan, p);
      const pp_rect should = p < 2 ? rows[i].extent[p] : (pp_rect){ 0 };

      EXPECT (memcmp (&is, &should, sizeof is) == 0,
          "row %d, plane %d: %dx%d at %d,%d, not %dx%d at %d,%d", i, p,
          is.width, is.height, is.x, is.y, should.width, should.height,
          should.x, should.y);
    }
    pp_plan_unref (&plan);
  }
}

/* Memory that ends where the plan's extent ends, so that a sanitizer sees every
 * step beyond; free with free_view. */
static pp_view
copy_extents (const pp_plan *plan, const pp_view *frame)
{
  pp_view copy = { 0 };

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect e = pp_plan_plane_extent (plan, p);
    uint8_t *plane = e.height > 0 ? malloc ((size_t) e.width * e.height) : NULL;

    if (!plane)
      continue;
    for (int y = 0; y < e.height; y++)
      memcpy (plane + (size_t) y * e.width,
          frame->plane[p] + (e.y + y) * frame->stride[p] + e.x, e.width);
    copy.plane[p] = plane;
    copy.stride[p] = e.width;
  }
  return copy;
}

static void
free_view (pp_view *view)
{
  for (int p = 0; p < PP_MAX_PLANES; p++)
    free ((void *) view->plane[p]);
}

/* The kernel reads the extents and nothing else. */
static void
check_reads (const pp_spec *spec, const pp_format *format,
    const pp_rect *source, const pp_view *frame)
{
  pp_plan *plan = make_plan (spec, format, source);

  if (!plan)
    return;

  const size_t size = pp_plan_tensor_size (plan);
  uint8_t *whole = malloc (size), *alone = malloc (size);
  const pp_view cropped = pp_plan_crop_view (plan, frame);
  pp_view copy = copy_extents (plan, frame);

  pp_apply_c (plan, &cropped, whole);
  pp_apply_c (plan, &copy, alone);
  EXPECT (memcmp (whole, alone, size) == 0,
      "method %d, fit %d, source %dx%d at %d,%d: depends on what is outside",
      (int) spec->method, (int) spec->fit, source->width, source->height,
      source->x, source->y);
  free_view (&copy);
  free (whole);
  free (alone);
  pp_plan_unref (&plan);
}

static void
test_reads (void)
{
  static pp_format (*const formats[]) (int, int) = { rgb_format, gray_format,
    nv12_format, yuy2_format, p010_format };
  enum {
    WIDTH = 41,
    HEIGHT = 27,
    STRIDE = 256
  };
  static uint8_t bytes[2][HEIGHT * STRIDE];
  const pp_view frame = { { bytes[0], bytes[1] }, { STRIDE, STRIDE } };

  srand (1);
  for (size_t i = 0; i < sizeof bytes; i++)
    ((uint8_t *) bytes)[i] = (uint8_t) rand ();
  for (int i = 0; i < 3000; i++) {
    const pp_format format = formats[i % LENGTH (formats)](WIDTH, HEIGHT);
    const int width = 1 + rand () % WIDTH, height = 1 + rand () % HEIGHT;
    const pp_rect source = { rand () % (WIDTH - width + 1),
      rand () % (HEIGHT - height + 1), width, height };
    pp_spec spec = sized_spec (1 + rand () % 30, 1 + rand () % 30);

    spec.fit = (pp_fit) (rand () % PP_N_FITS);
    spec.method = (pp_method) (rand () % PP_N_METHODS);
    spec.antialias = rand () % 2;
    spec.denoise = (pp_denoise) (rand () % PP_N_DENOISES);
    spec.denoise_size =
        3 + 2 * (rand () % (spec.denoise == PP_DENOISE_MEDIAN ? 2 : 3));
    spec.type = (pp_type) (rand () % PP_N_TYPES);
    spec.layout = (pp_layout) (rand () % PP_N_LAYOUTS);
    spec.channels = (pp_channels) (rand () % PP_N_CHANNEL_ORDERS);
    check_reads (&spec, &format, &source, &frame);
  }
}

/* A source rectangle gives what a frame of these pixels alone gives. */
static void
test_crop_is_a_frame (void)
{
  enum {
    WIDTH = 40,
    HEIGHT = 30
  };
  static uint8_t bytes[2][HEIGHT * WIDTH];
  const pp_rect source = { 6, 4, 21, 15 };
  const pp_view frame = { { bytes[0], bytes[1] }, { WIDTH, WIDTH } };
  const pp_view cut = { { bytes[0] + 4 * WIDTH + 6, bytes[1] + 2 * WIDTH + 6 },
    { WIDTH, WIDTH } };
  const pp_format large = nv12_format (WIDTH, HEIGHT);
  const pp_format small = nv12_format (source.width, source.height);
  pp_spec spec = sized_spec (17, 19);
  float a[3 * 17 * 19], b[3 * 17 * 19];

  for (size_t i = 0; i < sizeof bytes; i++)
    ((uint8_t *) bytes)[i] = (uint8_t) (i * i * 31 >> 3);
  spec.method = PP_METHOD_LANCZOS;
  spec.denoise = PP_DENOISE_GAUSSIAN;

  pp_plan *of_large = make_plan (&spec, &large, &source);
  pp_plan *of_small = make_plan (&spec, &small, NULL);

  if (of_large && of_small) {
    const pp_view from_large = pp_plan_crop_view (of_large, &frame);
    const pp_view from_small = pp_plan_crop_view (of_small, &cut);

    pp_apply_c (of_large, &from_large, a);
    pp_apply_c (of_small, &from_small, b);
    EXPECT (memcmp (a, b, sizeof a) == 0, "first elements %g, %g", a[0], b[0]);
  }
  pp_plan_unref (&of_large);
  pp_plan_unref (&of_small);
}

/* A picture of 2x1 in a tensor of 4x7: the content is in rows 2 and 3. */
static void
test_padding (void)
{
  static const struct {
    pp_type type;
    pp_channels channels;
    uint32_t pad[3]; /* of R, G, B: value of channel t is t + 1 */
  } rows[] = {
    { PP_TYPE_FLOAT32, PP_CHANNELS_RGB,
        { 0x3f800000, 0x40000000, 0x40400000 } },
    { PP_TYPE_FLOAT32, PP_CHANNELS_BGR,
        { 0x40400000, 0x40000000, 0x3f800000 } },
    { PP_TYPE_FLOAT16, PP_CHANNELS_RGB, { 0x3c00, 0x4000, 0x4200 } },
    { PP_TYPE_FLOAT16, PP_CHANNELS_GRAY, { 0x3c00, 0, 0 } },
    { PP_TYPE_UINT8, PP_CHANNELS_BGR, { 8, 7, 6 } },
    { PP_TYPE_INT8, PP_CHANNELS_RGB, { 6, 7, 8 } },
  };
  const pp_format format = rgb_format (2, 1);

  for (int i = 0; i < 2 * LENGTH (rows); i++) {
    const int row = i / 2;
    const size_t size = pp_type_size (rows[row].type);
    pp_spec spec = sized_spec (4, 7);

    spec.layout = (pp_layout) (i % 2);
    spec.type = rows[row].type;
    spec.channels = rows[row].channels;
    spec.fit = PP_FIT_LETTERBOX;
    spec.scale = 0.5;
    spec.quant_scale = 1;
    spec.quant_zero_point = 5;
    for (int t = 0; t < 3; t++) {
      spec.pad_value[t] = 10 * (t + 1);
      spec.mean[t] = 3 * (t + 1);
      spec.std[t] = 2;
    }

    pp_plan *plan = make_plan (&spec, &format, NULL);
    uint8_t tensor[3 * 4 * 7 * 4];

    if (!plan)
      continue;
    memset (tensor, 0xEE, sizeof tensor);
    pp_plan_fill_padding (plan, tensor);

    const pp_numbers *n = &plan->numbers;
    int wrong = 0;

    for (int c = 0; c < n->n_channels; c++)
      for (int y = 0; y < 7; y++)
        for (int x = 0; x < 4; x++) {
          const bool content = y == 2 || y == 3;
          const uint32_t expected = content ? 0xEEEEEEEE : rows[row].pad[c];
          const int64_t at =
              n->channel[c] + y * n->row_stride + x * n->pixel_stride;

          wrong += memcmp (tensor + at * size, &expected, size) != 0;
        }
    EXPECT (wrong == 0, "row %d, layout %d: %d elements, pad is %#x %#x %#x",
        row, i % 2, wrong, n->pad[0], n->pad[1], n->pad[2]);

    /* and the content, where there is no picture */
    uint64_t record = 0;

    pp_plan_fill_tensor (plan, tensor, &record);
    wrong = record == 0;
    for (int c = 0; c < n->n_channels; c++)
      for (int p = 0; p < 4 * 7; p++)
        wrong += memcmp (tensor +
                         (n->channel[c] + p / 4 * n->row_stride +
                             p % 4 * n->pixel_stride) *
                             size,
                     &rows[row].pad[c], size) != 0;
    EXPECT (wrong == 0, "row %d, layout %d: %d elements are no padding", row,
        i % 2, wrong);
    pp_plan_unref (&plan);
  }
}

/* Strides of every layout and order: each element of the tensor once. */
static void
test_strides (void)
{
  const pp_format format = rgb_format (6, 5);

  for (int layout = 0; layout < PP_N_LAYOUTS; layout++)
    for (int channels = 0; channels < PP_N_CHANNEL_ORDERS; channels++) {
      const int count = pp_channels_count ((pp_channels) channels);
      int seen[3 * 5 * 4] = { 0 }, wrong = 0;
      pp_spec spec = sized_spec (5, 4);

      spec.layout = (pp_layout) layout;
      spec.channels = (pp_channels) channels;

      pp_plan *plan = make_plan (&spec, &format, NULL);

      if (!plan)
        continue;

      const pp_numbers *n = &plan->numbers;

      for (int i = 0; i < count * 5 * 4; i++) {
        const int x = i % 5, y = i / 5 % 4, c = i / 20;
        const int t = channels == PP_CHANNELS_BGR ? 2 - c : c;
        const int64_t at =
            n->channel[c] + y * n->row_stride + x * n->pixel_stride;

        wrong += at !=
            (layout == PP_LAYOUT_NCHW ? (t * 4 + y) * 5 + x
                                      : (y * 5 + x) * count + t);
        seen[at]++;
      }
      for (int i = 0; i < count * 5 * 4; i++)
        wrong += seen[i] != 1;
      EXPECT (
          wrong == 0, "layout %d, channels %d: %d", layout, channels, wrong);
      EXPECT (pp_plan_tensor_size (plan) == (size_t) count * 5 * 4 * 4,
          "%zu bytes", pp_plan_tensor_size (plan));
      pp_plan_unref (&plan);
    }
}

/* The matrix of known colours: white, black and grey of each range; mean and
 * std follow the tensor's channels. */
static void
test_numbers (void)
{
  const pp_format nv12 = nv12_format (8, 8), p010 = p010_format (8, 8);
  const pp_format *formats[] = { &nv12, &p010 };
  pp_spec spec = sized_spec (8, 8);

  spec.channels = PP_CHANNELS_BGR;
  for (int t = 0; t < 3; t++) {
    spec.mean[t] = t;
    spec.std[t] = t + 1;
  }
  for (int i = 0; i < LENGTH (formats); i++) {
    pp_plan *plan = make_plan (&spec, formats[i], NULL);
    const double unit = i == 0 ? 1 : 4;

    if (!plan)
      continue;
    for (int c = 0; c < 3; c++) {
      const float *m = plan->numbers.matrix[c];
      const double gray = (m[1] + m[2]) * 128 * unit + m[3];
      const double black = m[0] * 16 * unit + gray;
      const double white = m[0] * 235 * unit + gray;
      const int t = 2 - c;

      EXPECT (fabs (black) < 1e-4 && fabs (white - 255) < 1e-4,
          "format %d, colour %d: black %g, white %g", i, c, black, white);
      EXPECT (plan->numbers.mul[c] == (float) (1. / 255 / (t + 1)) &&
              plan->numbers.add[c] == (float) (-(double) t / (t + 1)),
          "colour %d: mul %.9g, add %.9g", c, plan->numbers.mul[c],
          plan->numbers.add[c]);
    }
    pp_plan_unref (&plan);
  }
}

/* uint8 alone gives the pixels' own values, at the smallest and largest. */
static void
test_sizes (void)
{
  static const int sizes[][2] = { { 1, 1 }, { 1, 32768 }, { 32768, 1 },
    { 3, 2 } };

  for (int i = 0; i < LENGTH (sizes); i++) {
    const int width = sizes[i][0], height = sizes[i][1];
    const size_t n = (size_t) width * height;
    const pp_format format = gray_format (width, height);
    pp_spec spec = sized_spec (width, height);
    uint8_t *pixels = malloc (n), *tensor = malloc (n);

    spec.type = PP_TYPE_UINT8;
    spec.channels = PP_CHANNELS_GRAY;

    pp_plan *plan = make_plan (&spec, &format, NULL);

    if (plan) {
      const pp_view frame = { { pixels }, { width } };
      const pp_view source = pp_plan_crop_view (plan, &frame);

      for (size_t p = 0; p < n; p++)
        pixels[p] = (uint8_t) (p * 7);
      pp_apply_c (plan, &source, tensor);
      EXPECT (memcmp (pixels, tensor, n) == 0, "%dx%d differs", width, height);
    }
    pp_plan_unref (&plan);
    free (pixels);
    free (tensor);
  }
}

/* The nearest of all float16 values by plain search in double. */
static uint16_t
search_float16 (float value)
{
  const double target = fabs ((double) value);
  const uint16_t sign = signbit (value) ? 0x8000 : 0;
  uint16_t low = 0, high = 0x7c00; /* low <= target < high, 0x7c00 is 2^16 */

  while (high - low > 1) {
    const uint16_t middle = (uint16_t) ((low + high) / 2);
    const int exponent = middle >> 10;
    const double here = exponent == 0
        ? ldexp (middle, -24)
        : ldexp ((middle & 1023) + 1024, exponent - 25);

    if (here <= target)
      low = middle;
    else
      high = middle;
  }

  const int exponent = low >> 10;
  const double step = ldexp (1, (exponent > 1 ? exponent : 1) - 25);
  const double base = exponent == 0
      ? ldexp (low, -24)
      : ldexp ((low & 1023) + 1024, exponent - 25);
  const bool up =
      target - base > step / 2 || (target - base == step / 2 && (low & 1));

  return (uint16_t) (sign | (low + (up ? 1 : 0)));
}

static void
test_float16 (void)
{
  uint32_t wrong = 0, example = 0;

  /* Every exponent and the low bits that decide a tie, and a prime's stride. */
  for (uint64_t i = 0; i < 1 << 22; i++) {
    const uint32_t bits =
        i < 1 << 21 ? (uint32_t) (i * 2053) : (uint32_t) (i << 11) + (i & 1);
    float value;

    memcpy (&value, &bits, sizeof value);
    if (isnan (value))
      continue;
    if (pp_float16 (value) != search_float16 (value)) {
      wrong++;
      example = bits;
    }
  }
  EXPECT (wrong == 0, "%u wrong, %#x", wrong, example);
  EXPECT (pp_float16 (65519.996f) == 0x7bff && pp_float16 (65520) == 0x7c00 &&
          pp_float16 (-INFINITY) == 0xfc00 &&
          (pp_float16 (NAN) & 0x7fff) > 0x7c00,
      "%#x %#x %#x %#x", pp_float16 (65519.996f), pp_float16 (65520),
      pp_float16 (-INFINITY), pp_float16 (NAN));
}

int
main (void)
{
  test_references ();
  test_extents ();
  test_reads ();
  test_crop_is_a_frame ();
  test_padding ();
  test_strides ();
  test_numbers ();
  test_sizes ();
  test_float16 ();
  return expect_end ();
}
