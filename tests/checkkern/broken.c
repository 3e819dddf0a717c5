/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The operation, plainly, with a fault of choice. Shares no arithmetic with the
 * engine: only the plan.
 */
#include "broken.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What every function below needs. */
struct picture {
  const pp_plan *plan;
  const pp_numbers *numbers;
  const pp_view *view;
  broken_fault fault;
  int first, last; /* rows of the content that are made */
  /* each component's medians, row by row and a column wider, since a fault
   * reads one further; NULL where there is no median */
  float *medians[PP_MAX_COMPONENTS];
};

static const char *const names[N_BROKEN] = {
  [BROKEN_NONE] = "none",
  [BROKEN_HALF_PIXEL] = "half pixel",
  [BROKEN_BORDER] = "border off by one",
  [BROKEN_MISSING_TAP] = "a tap missing",
  [BROKEN_DESCENDING] = "taps descending",
  [BROKEN_HORIZONTAL_FIRST] = "horizontal first",
  [BROKEN_FUSED] = "fused multiply-add",
  [BROKEN_STRIDE] = "wrong stride",
  [BROKEN_WRAPPED_COLUMN] = "wrapped column",
  [BROKEN_BYTE_ORDER] = "byte order ignored",
  [BROKEN_GARBAGE_BITS] = "garbage bits counted",
  [BROKEN_MEDIAN_BORDER] = "wrong border of the median",
  [BROKEN_MEDIAN_NEIGHBOUR] = "a neighbour of the median missing",
  [BROKEN_SWAPPED_CHROMA] = "swapped chroma",
  [BROKEN_MISSING_CLAMP] = "missing clamp",
  [BROKEN_WRONG_MEAN] = "wrong channel's mean",
  [BROKEN_TRUNCATED_FLOAT16] = "truncated float16",
  [BROKEN_HALF_UP] = "round half up",
  [BROKEN_UNSATURATED] = "not saturated",
  [BROKEN_FOURTH] = "transparent",
  [BROKEN_LAYOUT] = "swapped layout",
  [BROKEN_TURN] = "axes not swapped",
  [BROKEN_MIRROR] = "mirrored the other way",
  [BROKEN_PADDING] = "padding unwritten",
  [BROKEN_PAST_END] = "write past the end",
  [BROKEN_BEFORE_START] = "write before the start",
  [BROKEN_INPUT] = "write to the input",
};

const char *
broken_name (broken_fault fault)
{
  return names[fault];
}

/* As it is stored. */
static float
value_at (const struct picture *p, int component, int column, int row)
{
  const pp_numbers *numbers = p->numbers;
  const pp_source *s = &numbers->source[component];
  const size_t stride = p->fault == BROKEN_STRIDE
      ? (size_t) p->plan->extent[s->plane].width
      : p->view->stride[s->plane];
  if (p->fault == BROKEN_WRAPPED_COLUMN)
    column &= 0xfff;
  const uint8_t *at = p->view->plane[s->plane] +
      (size_t) (s->first_row + row) * stride + s->first_byte +
      (ptrdiff_t) column * s->pixel_stride;
  if (numbers->sample_bytes == 1)
    return at[0];
  const bool big = numbers->big_endian && p->fault != BROKEN_BYTE_ORDER;
  const int sample = big ? at[0] << 8 | at[1] : at[1] << 8 | at[0];
  if (p->fault == BROKEN_GARBAGE_BITS)
    return (float) (sample >> s->shift);
  return (float) (sample >> s->shift & s->mask);
}

/* Where a border's neighbour i of n samples is. */
static int
inside (const struct picture *p, int i, int n)
{
  const int last = n - 1;
  if (p->fault == BROKEN_MEDIAN_BORDER && n > 3)
    return i < 0 ? -i : i > last ? 2 * last - i : i;
  return i < 0 ? 0 : i > last ? last : i;
}

/* The one of n values that has at most half of the others on either side. */
static float
middle_of (const float *values, int n)
{
  for (int i = 0; i < n; i++) {
    int below = 0, equal = 0;
    for (int j = 0; j < n; j++) {
      below += values[j] < values[i];
      equal += values[j] == values[i];
    }
    if (below <= n / 2 && n / 2 < below + equal)
      return values[i];
  }
  return values[0];
}

static float
median_at (const struct picture *p, int component, int column, int row)
{
  const pp_source *s = &p->numbers->source[component];
  const int size = p->plan->median.size;
  float values[49];
  int n = 0;
  for (int y = row - size / 2; y <= row + size / 2; y++)
    for (int x = column - size / 2; x <= column + size / 2; x++)
      values[n++] = value_at (
          p, component, inside (p, x, s->columns), inside (p, y, s->rows));
  return middle_of (values, n - (p->fault == BROKEN_MEDIAN_NEIGHBOUR));
}

/* The first row that the taps of the picture's rows read, and the one behind
 * the last. */
static void
rows_read (const struct picture *p, const pp_source *s, int *first, int *last)
{
  const pp_axis *axis = &p->numbers->y[s->axes];
  *first = s->rows;
  *last = 0;
  for (int o = p->first; o < p->last; o++) {
    const int row = p->plan->index[axis->first + o];
    *first = row < *first ? row : *first;
    *last = row + axis->n_taps > *last ? row + axis->n_taps : *last;
  }
}

static void
make_medians (struct picture *p)
{
  for (int c = 0; p->plan->median.size > 0 && c < p->numbers->n_components;
       c++) {
    const pp_source *s = &p->numbers->source[c];
    const int width = s->columns + 1;
    p->medians[c] = malloc ((size_t) width * (size_t) s->rows * sizeof (float));
    if (!p->medians[c])
      abort ();
    int first, last;
    rows_read (p, s, &first, &last);
    for (int y = first; y < last; y++)
      for (int x = 0; x < width; x++)
        p->medians[c][(ptrdiff_t) y * width + x] = median_at (p, c, x, y);
  }
}

/* As the taps see it. */
static float
sample_at (const struct picture *p, int component, int column, int row)
{
  const int width = p->numbers->source[component].columns + 1;
  if (p->medians[component])
    return p->medians[component][(ptrdiff_t) row * width + column];
  return value_at (p, component, column, row);
}

static float
multiply_add (const struct picture *p, float a, float b, float sum)
{
  if (p->fault == BROKEN_FUSED)
    return fmaf (a, b, sum);
  const float product = a * b;
  return sum + product;
}

/* The weighted sum along one axis at output o. Along y, column is the sample's
 * column; along x each tap is a sum along y of its own. */
static float
sum_along (
    const struct picture *p, int component, bool along_x, int o, int other)
{
  const int axes = p->numbers->source[component].axes;
  const bool inner = along_x == (p->fault == BROKEN_HORIZONTAL_FIRST);
  const pp_axis *axis = along_x ? &p->numbers->x[axes] : &p->numbers->y[axes];
  int first = p->plan->index[axis->first + o];
  int n_taps = axis->n_taps;
  if (along_x && p->fault == BROKEN_MISSING_TAP && n_taps > 1)
    n_taps--;
  if (along_x && p->fault == BROKEN_BORDER && o == axis->n_out - 1)
    first++;

  float sum = 0;
  for (int k = 0; k < n_taps; k++) {
    const int j = p->fault == BROKEN_DESCENDING ? n_taps - 1 - k : k;
    const float weight =
        p->plan->weight[axis->first_weight + (ptrdiff_t) j * axis->n_out + o];
    float value;
    if (!inner)
      value = sum_along (p, component, !along_x, other, first + j);
    else if (along_x)
      value = sample_at (p, component, first + j, other);
    else
      value = sample_at (p, component, other, first + j);
    sum = multiply_add (p, weight, value, sum);
  }
  return sum;
}

static float
resample (const struct picture *p, int component, int x, int y)
{
  if (p->fault == BROKEN_HORIZONTAL_FIRST)
    return sum_along (p, component, false, y, x);
  const float here = sum_along (p, component, true, x, y);
  if (p->fault != BROKEN_HALF_PIXEL || x + 1 >= p->numbers->content_width)
    return here;
  return (here + sum_along (p, component, true, x + 1, y)) / 2;
}

/* R, G, B or gray at (x, y) of the content, in 0...255. */
static void
shade_at (const struct picture *p, int x, int y, float *shade)
{
  const pp_numbers *numbers = p->numbers;
  float in[PP_MAX_COMPONENTS] = { 0 };
  for (int c = 0; c < numbers->n_components; c++)
    in[c] = resample (p, c, x, y);
  if (p->fault == BROKEN_SWAPPED_CHROMA) {
    const float cb = in[1];
    in[1] = in[2];
    in[2] = cb;
  }
  for (int r = 0; r < 3; r++) {
    const float *m = numbers->matrix[numbers->n_components == 1 ? 0 : r];
    float sum = m[0] * in[0];
    if (numbers->n_components == 3) {
      sum = sum + m[1] * in[1];
      sum = sum + m[2] * in[2];
    }
    sum = sum + m[3];
    if (p->fault != BROKEN_MISSING_CLAMP)
      sum = sum > 0 ? sum < 255 ? sum : 255 : 0;
    shade[r] = sum;
  }
  if (numbers->to_gray && numbers->n_components == 3) {
    float gray = numbers->gray[0] * shade[0];
    gray = gray + numbers->gray[1] * shade[1];
    shade[0] = gray + numbers->gray[2] * shade[2];
  }
}

static const size_t element_size[] = {
  [PP_TYPE_FLOAT32] = 4,
  [PP_TYPE_FLOAT16] = 2,
  [PP_TYPE_UINT8] = 1,
  [PP_TYPE_INT8] = 1,
};

/* By exact arithmetic in double: the value in units of the last place. */
static uint16_t
to_float16 (const struct picture *p, float value)
{
  const uint16_t sign = signbit (value) ? 0x8000 : 0;
  const double magnitude = fabs ((double) value);
  if (magnitude == 0)
    return sign;
  int exponent = isinf (magnitude) ? 16 : ilogb (magnitude);
  if (exponent < -14)
    exponent = -14;
  const double units = ldexp (magnitude, 10 - exponent);
  const double rounded =
      p->fault == BROKEN_TRUNCATED_FLOAT16 ? floor (units) : nearbyint (units);
  if (ldexp (rounded, exponent - 10) >= 65536)
    return sign | 0x7c00;
  return (uint16_t) (sign | (((exponent + 14) << 10) + (int) rounded));
}

static uint8_t
to_integer (const struct picture *p, float value)
{
  const pp_numbers *numbers = p->numbers;
  if (p->fault != BROKEN_UNSATURATED)
    value = value > numbers->lo ? value < numbers->hi ? value : numbers->hi
                                : numbers->lo;
  const double rounded =
      p->fault == BROKEN_HALF_UP ? floor (value + 0.5) : nearbyint (value);
  return (uint8_t) ((int64_t) fmod (rounded, 65536) + numbers->zero_point);
}

static void
write_element (
    const struct picture *p, uint8_t *tensor, int64_t place, float value)
{
  uint8_t *to = tensor + place * (int64_t) element_size[p->numbers->type];
  if (p->numbers->type == PP_TYPE_FLOAT32) {
    memcpy (to, &value, sizeof value);
  } else if (p->numbers->type == PP_TYPE_FLOAT16) {
    const uint16_t half = to_float16 (p, value);
    memcpy (to, &half, sizeof half);
  } else {
    *to = to_integer (p, value);
  }
}

/* Where channel c's element (x, y) is, in elements. */
static int64_t
place_of (const struct picture *p, int c, int x, int y)
{
  const pp_numbers *n = p->numbers;
  if (p->fault == BROKEN_TURN && n->swapped)
    return n->channel[c] + ((int64_t) y * n->width + x) * n->row_stride;
  if (p->fault == BROKEN_MIRROR && x >= n->content_x &&
      x < n->content_x + n->content_width)
    x = 2 * n->content_x + n->content_width - 1 - x;
  if (p->fault != BROKEN_LAYOUT)
    return n->channel[c] + y * n->row_stride + x * n->pixel_stride;
  const int64_t pixel = (int64_t) y * n->width + x;
  const bool planar = (n->swapped ? n->row_stride : n->pixel_stride) == 1;
  return planar ? pixel * n->n_channels + c
                : (int64_t) c * n->width * n->height + pixel;
}

static void
write_content (const struct picture *p, uint8_t *tensor)
{
  const pp_numbers *n = p->numbers;
  for (int y = p->first; y < p->last; y++)
    for (int x = 0; x < n->content_width; x++) {
      float shade[PP_MAX_CHANNELS];
      shade_at (p, x, y, shade);
      for (int c = 0; c < n->n_channels; c++) {
        const int a =
            p->fault == BROKEN_WRONG_MEAN ? (c + 1) % n->n_channels : c;
        const float product = shade[c] * n->mul[c];
        write_element (p, tensor,
            place_of (p, c, x + n->content_x, y + n->content_y),
            product + n->add[a]);
      }
      if (n->fourth)
        tensor[(y + n->content_y) * n->row_stride +
            (x + n->content_x) * n->pixel_stride + 3] =
            p->fault == BROKEN_FOURTH ? 0 : PP_GAP_BYTE;
    }
}

static void
write_padding (const struct picture *p, uint8_t *tensor)
{
  const pp_numbers *n = p->numbers;
  const size_t size = element_size[n->type];
  for (int y = 0; y < n->height; y++)
    for (int x = 0; x < n->width; x++) {
      const int left = x - n->content_x, top = y - n->content_y;
      if (left >= 0 && left < n->content_width && top >= 0 &&
          top < n->content_height)
        continue;
      for (int c = 0; c < n->n_channels; c++) {
        uint8_t *to = tensor + place_of (p, c, x, y) * (int64_t) size;
        for (size_t b = 0; b < size; b++)
          to[b] = (uint8_t) (n->pad[c] >> 8 * b);
      }
    }
}

void
broken_apply_rows (const pp_plan *plan, const pp_view *source, void *tensor,
    int first_row, int last_row, broken_fault fault)
{
  struct picture picture = { plan, &plan->numbers, source, fault, first_row,
    last_row, { NULL } };

  make_medians (&picture);
  write_content (&picture, tensor);
  for (int c = 0; c < PP_MAX_COMPONENTS; c++)
    free (picture.medians[c]);
}

void
broken_apply (const pp_plan *plan, const pp_view *source, void *tensor,
    broken_fault fault)
{
  const pp_numbers *n = &plan->numbers;
  const struct picture picture = { plan, n, source, fault, 0, n->content_height,
    { NULL } };
  const int64_t elements = (int64_t) n->n_channels * n->width * n->height;

  if (plan->gaps && fault != BROKEN_PADDING)
    memset (tensor, PP_GAP_BYTE, plan->tensor_size);
  broken_apply_rows (plan, source, tensor, 0, n->content_height, fault);
  if (fault != BROKEN_PADDING)
    write_padding (&picture, tensor);
  if (fault == BROKEN_PAST_END)
    write_element (&picture, tensor, elements, 1);
  if (fault == BROKEN_BEFORE_START)
    write_element (&picture, tensor, -1, 1);
  if (fault == BROKEN_INPUT)
    *(uint8_t *) (uintptr_t) source->plane[n->source[0].plane] ^= 1;
}
