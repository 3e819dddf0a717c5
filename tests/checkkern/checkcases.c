/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What checkkern checks: formats, specs and frames, made from a seed.
 */
#include "checkcases.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) ((int) (sizeof (array) / sizeof *(array)))

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
 * generators, 2014). */
uint64_t
check_next (check_random *random)
{
  uint64_t z = random->state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

int
check_between (check_random *random, int low, int high)
{
  return low + (int) (check_next (random) % (uint64_t) (high - low + 1));
}

bool
check_one_in (check_random *random, int n)
{
  return check_between (random, 1, n) == 1;
}

double
check_real (check_random *random, double low, double high)
{
  return low + (high - low) * (double) (check_next (random) >> 11) * 0x1p-53;
}

void
check_fill_random (check_random *random, void *bytes, size_t size)
{
  uint8_t *to = bytes;
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t value = check_next (random);
    memcpy (to + i, &value, size - i < 8 ? size - i : 8);
  }
}

/* The third to fifth fields apply to all components; offset and pixel_stride
 * are bytes, sub_x and sub_y apply to Cb and Cr. */
typedef struct format_row {
  const char *name;
  pp_model model;
  int sample_bytes, depth, shift;
  bool big_endian;
  int sub_x, sub_y;
  struct {
    int plane, offset, pixel_stride;
  } component[PP_MAX_COMPONENTS];
} format_row;

#define RGB PP_MODEL_RGB
#define YUV PP_MODEL_YUV
#define GRAY PP_MODEL_GRAY

static const format_row formats[] = {
  { "RGB", RGB, 1, 8, 0, false, 0, 0,
      { { 0, 0, 3 }, { 0, 1, 3 }, { 0, 2, 3 } } },
  { "BGR", RGB, 1, 8, 0, false, 0, 0,
      { { 0, 2, 3 }, { 0, 1, 3 }, { 0, 0, 3 } } },
  { "BGRx", RGB, 1, 8, 0, false, 0, 0,
      { { 0, 2, 4 }, { 0, 1, 4 }, { 0, 0, 4 } } },
  { "ARGB", RGB, 1, 8, 0, false, 0, 0,
      { { 0, 1, 4 }, { 0, 2, 4 }, { 0, 3, 4 } } },
  { "GBR", RGB, 1, 8, 0, false, 0, 0,
      { { 2, 0, 1 }, { 0, 0, 1 }, { 1, 0, 1 } } },
  { "RGB48BE", RGB, 2, 16, 0, true, 0, 0,
      { { 0, 0, 6 }, { 0, 2, 6 }, { 0, 4, 6 } } },
  { "ARGB64LE", RGB, 2, 16, 0, false, 0, 0,
      { { 0, 2, 8 }, { 0, 4, 8 }, { 0, 6, 8 } } },
  { "GBR12LE", RGB, 2, 12, 0, false, 0, 0,
      { { 2, 0, 2 }, { 0, 0, 2 }, { 1, 0, 2 } } },
  { "NV12", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 1, 0, 2 }, { 1, 1, 2 } } },
  { "NV21", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 1, 1, 2 }, { 1, 0, 2 } } },
  { "I420", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  { "YV12", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 2, 0, 1 }, { 1, 0, 1 } } },
  { "YUY2", YUV, 1, 8, 0, false, 1, 0,
      { { 0, 0, 2 }, { 0, 1, 4 }, { 0, 3, 4 } } },
  { "UYVY", YUV, 1, 8, 0, false, 1, 0,
      { { 0, 1, 2 }, { 0, 0, 4 }, { 0, 2, 4 } } },
  { "AYUV", YUV, 1, 8, 0, false, 0, 0,
      { { 0, 1, 4 }, { 0, 2, 4 }, { 0, 3, 4 } } },
  { "Y42B", YUV, 1, 8, 0, false, 1, 0,
      { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  { "Y444", YUV, 1, 8, 0, false, 0, 0,
      { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  { "Y41B", YUV, 1, 8, 0, false, 2, 0,
      { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  { "YUV9", YUV, 1, 8, 0, false, 2, 2,
      { { 0, 0, 1 }, { 1, 0, 1 }, { 2, 0, 1 } } },
  { "P010_10LE", YUV, 2, 10, 6, false, 1, 1,
      { { 0, 0, 2 }, { 1, 0, 4 }, { 1, 2, 4 } } },
  { "I420_10LE", YUV, 2, 10, 0, false, 1, 1,
      { { 0, 0, 2 }, { 1, 0, 2 }, { 2, 0, 2 } } },
  { "I420_12LE", YUV, 2, 12, 0, false, 1, 1,
      { { 0, 0, 2 }, { 1, 0, 2 }, { 2, 0, 2 } } },
  { "I422_12BE", YUV, 2, 12, 0, true, 1, 0,
      { { 0, 0, 2 }, { 1, 0, 2 }, { 2, 0, 2 } } },
  { "P012_LE", YUV, 2, 12, 4, false, 1, 1,
      { { 0, 0, 2 }, { 1, 0, 4 }, { 1, 2, 4 } } },
  { "Y212_LE", YUV, 2, 12, 4, false, 1, 0,
      { { 0, 0, 4 }, { 0, 2, 8 }, { 0, 6, 8 } } },
  { "P016_BE", YUV, 2, 16, 0, true, 1, 1,
      { { 0, 0, 2 }, { 1, 0, 4 }, { 1, 2, 4 } } },
  /* No format of GStreamer's, but the engine takes them. */
  { "Cb for Cr", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 1, 0, 2 }, { 1, 0, 2 } } },
  { "Cr a pixel on", YUV, 1, 8, 0, false, 1, 1,
      { { 0, 0, 1 }, { 1, 0, 2 }, { 1, 3, 2 } } },
  { "GRAY8", GRAY, 1, 8, 0, false, 0, 0, { { 0, 0, 1 } } },
  { "GRAY16_LE", GRAY, 2, 16, 0, false, 0, 0, { { 0, 0, 2 } } },
  { "GRAY16_BE", GRAY, 2, 16, 0, true, 0, 0, { { 0, 0, 2 } } },
};

#undef RGB
#undef YUV
#undef GRAY

/* Kr and Kb of BT.601, BT.709 and BT.2020. */
static const double luma_weights[][2] = {
  { 0.299, 0.114 },
  { 0.2126, 0.0722 },
  { 0.2627, 0.0593 },
};

/* Limited range is 16...235 and 16...240 at 8 bits, shifted up at more. */
static void
set_range (pp_format *format, int depth, bool limited)
{
  const int unit = 1 << (depth - 8), all = (1 << depth) - 1;
  for (int c = 0; c < format->n_components; c++) {
    const bool chroma = format->model == PP_MODEL_YUV && c > 0;
    format->offset[c] = chroma ? 128 * unit : limited ? 16 * unit : 0;
    format->scale[c] = !limited ? all : chroma ? 224 * unit : 219 * unit;
  }
}

static void
format_from_row (
    pp_format *format, const format_row *row, int width, int height)
{
  *format = (pp_format){
    .model = row->model,
    .width = width,
    .height = height,
    .par_n = 1,
    .par_d = 1,
    .n_components = row->model == PP_MODEL_GRAY ? 1 : 3,
    .sample_bytes = row->sample_bytes,
    .big_endian = row->big_endian,
    .kr = luma_weights[1][0],
    .kb = luma_weights[1][1],
    .cosited_x = row->sub_x > 0,
  };
  for (int c = 0; c < format->n_components; c++)
    format->component[c] = (pp_component){
      .plane = row->component[c].plane,
      .offset = row->component[c].offset,
      .pixel_stride = row->component[c].pixel_stride,
      .sub_x = c > 0 ? row->sub_x : 0,
      .sub_y = c > 0 ? row->sub_y : 0,
      .depth = row->depth,
      .shift = row->shift,
    };
  set_range (format, row->depth, row->model == PP_MODEL_YUV);
}

bool
check_format_init (pp_format *format, const char *name, int width, int height)
{
  for (int i = 0; i < LENGTH (formats); i++)
    if (strcmp (formats[i].name, name) == 0) {
      format_from_row (format, &formats[i], width, height);
      return true;
    }
  return false;
}

void
check_case_planes (check_case *check)
{
  const pp_format *format = &check->format;
  check->n_planes = 0;
  for (int c = 0; c < format->n_components; c++) {
    const pp_component *component = &format->component[c];
    const int p = component->plane;
    const int columns =
        (format->width + (1 << component->sub_x) - 1) >> component->sub_x;
    const size_t end = (size_t) (component->offset +
        (columns - 1) * component->pixel_stride + format->sample_bytes);
    while (check->n_planes <= p)
      check->row_bytes[check->n_planes++] = 0;
    if (check->row_bytes[p] < end)
      check->row_bytes[p] = end;
    check->rows[p] = (size_t) (format->height + (1 << component->sub_y) - 1) >>
        component->sub_y;
    check->stride[p] = check->row_bytes[p];
    check->lead[p] = 0;
  }
}

void
check_case_frame (check_case *check, const char *format, int width, int height)
{
  if (!check_format_init (&check->format, format, width, height))
    abort ();
  check->format_name = format;
  check->source = (pp_rect){ 0, 0, width, height };
  check_case_planes (check);
  pp_spec_init (&check->spec);
}

void
check_case_normalize (check_case *check)
{
  /* as torchvision gives them */
  static const double mean[] = { 0.485, 0.456, 0.406 };
  static const double std[] = { 0.229, 0.224, 0.225 };

  if (check->spec.type == PP_TYPE_UINT8)
    return;
  memcpy (check->spec.mean, mean, sizeof mean);
  memcpy (check->spec.std, std, sizeof std);
}

/* Mostly small: there the borders are, and a plain kernel is slow. */
static int
pick_size (check_random *random)
{
  if (check_one_in (random, 8))
    return check_between (random, 1, 3);
  if (check_one_in (random, 40))
    return check_between (random, 100, 300);
  return check_between (random, 1, check_one_in (random, 2) ? 16 : 64);
}

static void
pick_format (check_case *check, check_random *random, const format_row *row)
{
  int width = pick_size (random), height = pick_size (random);
  /* Rows longer than what any kernel takes at once. */
  if (check_one_in (random, 50)) {
    width = check_between (random, 1000, 2500);
    height = check_between (random, 1, 4);
  }
  pp_format *format = &check->format;
  format_from_row (format, row, width, height);
  check->format_name = row->name;
  if (check_one_in (random, 3)) {
    format->par_n = check_between (random, 1, 5);
    format->par_d = check_between (random, 1, 5);
  }
  set_range (format, row->depth, check_one_in (random, 2));
  const int weights = check_between (random, 0, LENGTH (luma_weights) - 1);
  format->kr = luma_weights[weights][0];
  format->kb = luma_weights[weights][1];
  format->cosited_x = check_one_in (random, 2);
  format->cosited_y = check_one_in (random, 2);

  check_case_planes (check);
  for (int p = 0; p < check->n_planes; p++)
    if (check_one_in (random, 2)) {
      check->stride[p] += (size_t) check_between (random, 0, 70);
      check->lead[p] = (size_t) check_between (random, 0, 33);
    }
}

static void
pick_source (check_case *check, check_random *random)
{
  const int width = check->format.width, height = check->format.height;
  check->source = (pp_rect){ 0, 0, width, height };
  check->cropped = check_one_in (random, 2);
  if (!check->cropped)
    return;
  pp_rect *source = &check->source;
  source->x = check_between (random, 0, width - 1);
  source->y = check_between (random, 0, height - 1);
  source->width = check_between (random, 1, width - source->x);
  source->height = check_between (random, 1, height - source->y);
}

static void
pick_filter (pp_spec *spec, check_random *random)
{
  static const int largest[] = {
    [PP_DENOISE_GAUSSIAN] = 7, [PP_DENOISE_MEDIAN] = 5
  };
  spec->antialias = check_one_in (random, 2);
  spec->denoise = (pp_denoise) check_between (random, 0, PP_N_DENOISES - 1);
  if (spec->denoise == PP_DENOISE_NONE)
    return;
  spec->denoise_size =
      2 * check_between (random, 1, largest[spec->denoise] / 2) + 1;
  if (spec->denoise == PP_DENOISE_GAUSSIAN && check_one_in (random, 2))
    spec->denoise_sigma = check_real (random, 0.3, 3);
}

static void
pick_numbers (pp_spec *spec, check_random *random)
{
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    if (check_one_in (random, 2))
      spec->pad_value[c] = check_real (random, 0, 255);
  if (spec->type == PP_TYPE_INT8)
    spec->quant_zero_point = check_between (random, -128, 127);
  else if (check_one_in (random, 2))
    spec->quant_zero_point = check_between (random, 0, 255);
  /* The pixels' own values, of which some are halves that must be rounded. */
  if (check_one_in (random, 3))
    return;

  if (check_one_in (random, 3))
    spec->scale = check_one_in (random, 2) ? 1 : check_real (random, 1e-3, 2);
  /* float16's subnormals and overflow */
  if (spec->type == PP_TYPE_FLOAT16 && check_one_in (random, 4))
    spec->scale = check_one_in (random, 2) ? 1e-7 : 1000;
  for (int c = 0; c < PP_MAX_CHANNELS; c++) {
    if (check_one_in (random, 2)) {
      spec->mean[c] = check_real (random, -1, 1);
      spec->std[c] = check_real (random, 0.1, 1);
    }
  }
  if (check_one_in (random, 2))
    spec->quant_scale = check_real (random, 0.005, 0.05);
}

static void
pick_geometry (check_case *check, check_random *random)
{
  pp_spec *spec = &check->spec;
  const pp_rect *source = &check->source;
  spec->width = pick_size (random);
  spec->height = pick_size (random);
  /* Whole ratios, where taps meet samples, and the picture as it is. */
  const int divisor = check_between (random, 1, 4);
  if (check_one_in (random, 3) && source->width / divisor > 0 &&
      source->height / divisor > 0) {
    spec->width = source->width / divisor;
    spec->height = source->height / divisor;
  }
  spec->fit = (pp_fit) check_between (random, 0, PP_N_FITS - 1);
  spec->pad_align = (pp_align) check_between (random, 0, PP_ALIGN_TOP_LEFT);
  spec->ignore_pixel_aspect_ratio = check_one_in (random, 4);
  if (spec->fit == PP_FIT_LETTERBOX)
    return;
  const int shorter = spec->width < spec->height ? spec->width : spec->height;
  if (check_one_in (random, 4))
    spec->resize = shorter + check_between (random, 0, 20);
  else if (check_one_in (random, 4))
    spec->crop_fraction = check_real (random, 0.5, 1);
}

/* 8K, where offsets and coordinates are largest: few, and small tensors, since
 * each takes as long as a thousand others. */
static const struct large_row {
  const char *format;
  pp_fit fit;
  pp_method method;
  bool antialias;
  int width, height;
  pp_direction direction;
} large[] = {
  { "RGB", PP_FIT_LETTERBOX, PP_METHOD_LANCZOS, false, 64, 64, 0 },
  { "RGB", PP_FIT_STRETCH, PP_METHOD_BILINEAR, true, 64, 36, PP_DIRECTION_90L },
  { "NV12", PP_FIT_LETTERBOX, PP_METHOD_BILINEAR, true, 48, 64, 0 },
  { "NV12", PP_FIT_STRETCH, PP_METHOD_BICUBIC, false, 61, 47, 0 },
  { "P010_10LE", PP_FIT_STRETCH, PP_METHOD_AREA, true, 33, 21, 0 },
  { "P010_10LE", PP_FIT_LETTERBOX, PP_METHOD_BILINEAR, false, 64, 64,
      PP_DIRECTION_180 },
};

#define LARGE_WIDTH 7680
#define LARGE_HEIGHT 4320

static void
make_large (check_case *check, const struct large_row *row)
{
  pp_spec *spec = &check->spec;

  check_case_frame (check, row->format, LARGE_WIDTH, LARGE_HEIGHT);
  spec->width = row->width;
  spec->height = row->height;
  spec->fit = row->fit;
  spec->method = row->method;
  spec->antialias = row->antialias;
  spec->direction = row->direction;
  check->fill = CHECK_FILL_RANDOM;
}

int
check_first_large (void)
{
  return LENGTH (formats) * PP_N_METHODS * PP_N_TYPES * PP_N_LAYOUTS;
}

/* As video frames lie, and as they might. */
static void
pick_surface (pp_spec *spec, check_random *random)
{
  static const int pixels[] = { 1, 3, 4 };
  static const size_t orders[][PP_MAX_CHANNELS] = { { 0, 1, 2 }, { 2, 1, 0 },
    { 1, 2, 0 } };
  const size_t channels = (size_t) pp_channels_count (spec->channels);
  const size_t *order = orders[check_between (random, 0, 2)];
  pp_surface *surface = &spec->surface;

  surface->pixel_stride =
      channels == 1 ? 1 : pixels[check_between (random, 0, 2)];
  surface->row_stride = (size_t) spec->width * (size_t) surface->pixel_stride +
      (size_t) check_between (random, 0, 5);
  const size_t plane = surface->row_stride * (size_t) spec->height;
  const bool planar = surface->pixel_stride == 1;
  surface->size = planar ? plane * channels : plane;
  surface->size +=
      surface->size < 7 ? 0 : (size_t) check_between (random, 0, 7);
  for (size_t c = 0; c < channels; c++)
    surface->offset[c] = channels == 1 ? 0 : order[c] * (planar ? plane : 1);
}

int
check_walk_length (void)
{
  return check_first_large () + LENGTH (large);
}

check_random
check_case_init (check_case *check, uint64_t seed, int number)
{
  check_random random = { seed + (uint64_t) number * 0x2545f4914f6cdd1d };
  const int first_large = check_first_large ();
  *check = (check_case){ .seed = seed, .number = number };
  if (number >= first_large && number < check_walk_length ()) {
    make_large (check, &large[number - first_large]);
    return random;
  }
  /* Below the walk's length the number itself says which of each. */
  uint64_t walk =
      number < first_large ? (uint64_t) number : check_next (&random);
  const int format = (int) (walk % LENGTH (formats));
  walk /= LENGTH (formats);
  pick_format (check, &random, &formats[format]);
  pick_source (check, &random);

  pp_spec *spec = &check->spec;
  pp_spec_init (spec);
  spec->method = (pp_method) (walk % PP_N_METHODS);
  walk /= PP_N_METHODS;
  spec->type = (pp_type) (walk % PP_N_TYPES);
  walk /= PP_N_TYPES;
  spec->layout = (pp_layout) (walk % PP_N_LAYOUTS);
  spec->channels =
      (pp_channels) check_between (&random, 0, PP_N_CHANNEL_ORDERS - 1);
  pick_geometry (check, &random);
  pick_filter (spec, &random);
  pick_numbers (spec, &random);
  if (spec->type == PP_TYPE_UINT8 && check_one_in (&random, 2))
    pick_surface (spec, &random);
  check->fill = check_one_in (&random, 2)
      ? CHECK_FILL_RANDOM
      : (check_fill) check_between (&random, 0, CHECK_N_FILLS - 1);
  if (check_one_in (&random, 2))
    spec->direction =
        (pp_direction) check_between (&random, 1, PP_N_DIRECTIONS - 1);
  return random;
}

/* Whatever the fill, the bits around 2-byte values are garbage. */
static void
spoil_unused_bits (
    const check_case *check, int plane, uint8_t *bytes, check_random *random)
{
  const pp_format *format = &check->format;
  const pp_component *c = &format->component[0];
  if (format->sample_bytes == 1 || c->depth == 16)
    return;
  const unsigned unused = ~(((1u << c->depth) - 1) << c->shift);
  for (size_t y = 0; y < check->rows[plane]; y++) {
    uint8_t *row = bytes + y * check->stride[plane];
    for (size_t i = 0; i + 1 < check->row_bytes[plane]; i += 2) {
      const unsigned garbage = (unsigned) check_next (random) & unused;
      row[i + format->big_endian] ^= (uint8_t) garbage;
      row[i + !format->big_endian] ^= (uint8_t) (garbage >> 8);
    }
  }
}

void
check_fill_plane (
    const check_case *check, int plane, uint8_t *bytes, check_random *random)
{
  const size_t stride = check->stride[plane], rows = check->rows[plane];
  const size_t size = stride * rows;
  const size_t sample = (size_t) check->format.sample_bytes;
  switch (check->fill) {
    case CHECK_FILL_RANDOM:
      check_fill_random (random, bytes, size);
      break;
    case CHECK_FILL_MIN:
    case CHECK_FILL_HOT:
      memset (bytes, 0, size);
      break;
    case CHECK_FILL_MAX:
      memset (bytes, 0xff, size);
      break;
    case CHECK_FILL_ALTERNATE:
      for (size_t i = 0; i < size; i++)
        bytes[i] = (i % stride / sample + i / stride) % 2 ? 0xff : 0;
      break;
    case CHECK_N_FILLS:
      break;
  }
  if (check->fill == CHECK_FILL_HOT)
    bytes[check_next (random) % rows * stride +
        check_next (random) % check->row_bytes[plane]] = 0xff;
  spoil_unused_bits (check, plane, bytes, random);
}

static void
print_spec (const pp_spec *s, FILE *to)
{
  static const char *const layouts[] = { "nchw", "nhwc" };
  static const char *const types[] = { "float32", "float16", "uint8", "int8" };
  static const char *const channels[] = { "rgb", "bgr", "gray" };
  static const char *const fits[] = { "stretch", "letterbox", "crop" };
  static const char *const methods[] = { "nearest", "bilinear", "bicubic",
    "lanczos", "area" };
  static const char *const denoises[] = { "none", "gaussian", "median" };
  static const char *const directions[] = { "identity", "90r", "180", "90l",
    "horiz", "vert", "ul-lr", "ur-ll" };
  fprintf (to,
      "  spec %dx%d %s %s %s direction %s fit %s%s%s resize %d fraction %.17g\n",
      s->width, s->height, layouts[s->layout], types[s->type],
      channels[s->channels], directions[s->direction], fits[s->fit],
      s->pad_align == PP_ALIGN_TOP_LEFT ? " top-left" : "",
      s->ignore_pixel_aspect_ratio ? " ignore-par" : "", s->resize,
      s->crop_fraction);
  fprintf (to, "  %s%s, denoise %s size %d sigma %.17g\n", methods[s->method],
      s->antialias ? " antialias" : "", denoises[s->denoise], s->denoise_size,
      s->denoise_sigma);
  if (s->surface.size > 0)
    fprintf (to,
        "  surface of %zu bytes, pixels %d, rows %zu, offsets %zu %zu %zu\n",
        s->surface.size, s->surface.pixel_stride, s->surface.row_stride,
        s->surface.offset[0], s->surface.offset[1], s->surface.offset[2]);
  fprintf (to, "  scale %.17g quant %.17g %d\n", s->scale, s->quant_scale,
      s->quant_zero_point);
  for (int c = 0; c < PP_MAX_CHANNELS; c++)
    fprintf (to, "  [%d] mean %.17g std %.17g pad %.17g\n", c, s->mean[c],
        s->std[c], s->pad_value[c]);
}

void
check_case_print (const check_case *check, FILE *to)
{
  static const char *const fills[] = { "random", "min", "max", "alternate",
    "hot" };
  const pp_format *f = &check->format;
  fprintf (to, "  seed %llu, case %d\n", (unsigned long long) check->seed,
      check->number);
  fprintf (to, "  format %s %dx%d par %d/%d kr %g kb %g cosited %d %d\n",
      check->format_name, f->width, f->height, f->par_n, f->par_d, f->kr, f->kb,
      f->cosited_x, f->cosited_y);
  for (int c = 0; c < f->n_components; c++)
    fprintf (to, "  component %d: offset %d scale %d\n", c, f->offset[c],
        f->scale[c]);
  for (int p = 0; p < check->n_planes; p++)
    fprintf (to, "  plane %d: %zu rows of %zu bytes, stride %zu, lead %zu\n", p,
        check->rows[p], check->row_bytes[p], check->stride[p], check->lead[p]);
  fprintf (to, "  source %dx%d at %d,%d%s, fill %s\n", check->source.width,
      check->source.height, check->source.x, check->source.y,
      check->cropped ? "" : " (all)", fills[check->fill]);
  print_spec (&check->spec, to);
}
