/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans of any spec, format and rectangle. Most inputs are a good one with a few
 * fields that have any value. Where there is a plan, both kernels of the host
 * make the same bits of a frame that has exactly the bytes that the plan says it
 * reads, and of the image that a device would have of that frame.
 */
#include "kernels/cpu/kernel_cpu.h"
#include "kernels/reference/reference.h"

#include "input.h"
#include "tests/checkkern/checkcases.h"
#include "tests/kernels/rowimage.h"

/* Larger plans are made, but not applied: bytes, and multiplications. The
 * faster an input runs, the more of them are tried. */
#define MOST_BYTES (1 << 13)
#define MOST_WORK (1 << 16)
#define MOST_WEIGHTS (1 << 16)

static const char *const names[] = { "NV12", "RGB", "I420", "BGRx", "YUY2",
  "P010_10LE", "GRAY8", "GBR", "UYVY", "YUV9", "ARGB64LE", "Y41B", "NV21",
  "I422_12BE", "GRAY16_BE", "Y212_LE", "RGB48BE", "AYUV" };

static void
take_component (input *in, pp_component *component)
{
  int *const fields[] = { &component->plane, &component->offset,
    &component->pixel_stride, &component->sub_x, &component->sub_y,
    &component->depth, &component->shift };

  *fields[take_index (in, LENGTH (fields))] = take_int (in);
}

/* One field of a format gets any value. */
static void
spoil_format (input *in, pp_format *format)
{
  const int c = take_index (in, PP_MAX_COMPONENTS);
  int *const ints[] = { &format->width, &format->height, &format->par_n,
    &format->par_d, &format->n_components, &format->sample_bytes,
    &format->offset[c], &format->scale[c] };
  const int field = take_index (in, LENGTH (ints) + 8);

  if (field < LENGTH (ints))
    *ints[field] = take_int (in);
  else if (field == LENGTH (ints))
    format->model = (pp_model) take_int (in);
  else if (field == LENGTH (ints) + 1)
    format->kr = take_real (in);
  else if (field == LENGTH (ints) + 2)
    format->kb = take_real (in);
  else
    take_component (in, &format->component[c]);
}

static pp_format
take_format (input *in)
{
  const char *name = names[take_index (in, LENGTH (names))];
  const int width = take_mostly (in, 1, 64), height = take_mostly (in, 1, 64);
  pp_format format;

  MUST (check_format_init (&format, name, width, height), "no format %s", name);
  const unsigned bits = take_byte (in);
  format.cosited_x = bits & 1;
  format.cosited_y = bits & 2;
  format.big_endian = format.sample_bytes == 2 && (bits & 4);
  for (unsigned n = bits >> 3 & 3; n > 0; n--)
    spoil_format (in, &format);
  return format;
}

/* One field of a spec gets any value. */
static void
spoil_spec (input *in, pp_spec *spec)
{
  const int c = take_index (in, PP_MAX_CHANNELS);
  int *const ints[] = { &spec->width, &spec->height, &spec->resize,
    &spec->denoise_size, &spec->quant_zero_point };
  double *const reals[] = { &spec->crop_fraction, &spec->denoise_sigma,
    &spec->scale, &spec->mean[c], &spec->std[c], &spec->pad_value[c],
    &spec->quant_scale };
  const int field = take_index (in, LENGTH (ints) + LENGTH (reals));

  if (field < LENGTH (ints))
    *ints[field] = take_int (in);
  else
    *reals[field - LENGTH (ints)] = take_real (in);
}

static pp_spec
take_spec (input *in)
{
  pp_spec spec;

  pp_spec_init (&spec);
  spec.width = take_mostly (in, 1, 48);
  spec.height = take_mostly (in, 1, 48);
  spec.layout = (pp_layout) take_mostly (in, 0, PP_N_LAYOUTS - 1);
  spec.type = (pp_type) take_mostly (in, 0, PP_N_TYPES - 1);
  spec.channels = (pp_channels) take_mostly (in, 0, PP_N_CHANNEL_ORDERS - 1);
  spec.fit = (pp_fit) take_mostly (in, 0, PP_N_FITS - 1);
  spec.method = (pp_method) take_mostly (in, 0, PP_N_METHODS - 1);
  spec.denoise = (pp_denoise) take_mostly (in, 0, PP_N_DENOISES - 1);
  const unsigned bits = take_byte (in);
  spec.antialias = bits & 1;
  spec.ignore_pixel_aspect_ratio = bits & 2;
  spec.pad_align = (pp_align) (bits >> 2 & 1);
  for (unsigned n = bits >> 3 & 7; n > 0; n--)
    spoil_spec (in, &spec);
  return spec;
}

static pp_rect
take_rect (input *in, const pp_format *format)
{
  const bool usual = format->width > 0 && format->width < 224 &&
      format->height > 0 && format->height < 224;
  const int x = usual ? take_mostly (in, 0, format->width - 1) : take_int (in);
  const int y = usual ? take_mostly (in, 0, format->height - 1) : take_int (in);
  const bool inside =
      x >= 0 && x < format->width && y >= 0 && y < format->height && usual;

  const int width =
      inside ? take_mostly (in, 1, format->width - x) : take_int (in);
  const int height =
      inside ? take_mostly (in, 1, format->height - y) : take_int (in);

  return (pp_rect){ x, y, width, height };
}

/* A frame of which there is nothing but what the plan reads. */
typedef struct frame {
  uint8_t *block[PP_MAX_PLANES];
  pp_view view; /* as of pp_plan_crop_view */
} frame;

static size_t
frame_size (const pp_plan *plan)
{
  size_t size = 0;

  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect extent = pp_plan_plane_extent (plan, p);

    size += (size_t) extent.width * (size_t) extent.height;
  }
  return size;
}

static void
frame_init (frame *frame, const pp_plan *plan, input *in)
{
  check_random random = { take_word (in) };

  *frame = (struct frame){ .block = { NULL } };
  for (int p = 0; p < PP_MAX_PLANES; p++) {
    const pp_rect extent = pp_plan_plane_extent (plan, p);
    const size_t lead = take_byte (in) % 4;
    const size_t stride = (size_t) extent.width + take_byte (in) % 40;

    if (extent.height == 0)
      continue;
    const size_t size =
        (size_t) (extent.height - 1) * stride + (size_t) extent.width;
    frame->block[p] = malloc (lead + size);
    MUST (frame->block[p] != NULL, "no memory");
    frame->view.plane[p] = frame->block[p] + lead;
    frame->view.stride[p] = stride;
    check_fill_random (&random, frame->block[p] + lead, size);
  }
}

static void
frame_clear (frame *frame)
{
  for (int p = 0; p < PP_MAX_PLANES; p++)
    free (frame->block[p]);
}

/* The tensor in two parts, as threads might. */
static void
apply_cpu (const pp_plan *plan, const pp_view *source, int split, void *tensor)
{
  const int rows = plan->numbers.content_height;
  const size_t size = (pp_apply_cpu_scratch (plan) + 63) / 64 * 64;
  void *scratch = aligned_alloc (64, size > 0 ? size : 64);

  MUST (scratch != NULL, "no memory");
  pp_plan_fill_padding (plan, tensor);
  pp_apply_cpu (plan, source, tensor, split % rows, rows, scratch);
  pp_apply_cpu (plan, source, tensor, 0, split % rows, scratch);
  free (scratch);
}

static void
check_tensors (const pp_plan *plan, input *in)
{
  const size_t size = pp_plan_tensor_size (plan);
  uint8_t *expected = malloc (size), *tensor = malloc (size);
  const int split = (int) take_byte (in);
  const unsigned staged = take_byte (in);
  frame frame;

  MUST (expected != NULL && tensor != NULL, "no memory");
  frame_init (&frame, plan, in);
  MUST (pp_apply_c (plan, &frame.view, expected), "no memory");
  memset (tensor, 0xa5, size);
  apply_cpu (plan, &frame.view, split, tensor);
  MUST (memcmp (tensor, expected, size) == 0, "the CPU's bits are others");

  memset (tensor, 0xa5, size);
  const pp_facts facts = facts_of (plan, staged, frame.view.stride);
  MUST (run_recipe (plan, &facts, &frame.view, split & 1, tensor),
      "wrong recipe");
  MUST (memcmp (tensor, expected, size) == 0, "the recipe's bits are others");

  frame_clear (&frame);
  free (tensor);
  free (expected);
}

static int64_t
work (const pp_plan *plan)
{
  const pp_numbers *n = &plan->numbers;
  const int64_t size = plan->median.size;

  return n->n_components *
      ((int64_t) n->content_width * n->content_height * n->x[0].n_taps *
              n->y[0].n_taps +
          (int64_t) frame_size (plan) * size * size * size);
}

static void
check_geometry (const pp_plan *plan, const pp_spec *spec)
{
  pp_geometry g;

  pp_plan_get_geometry (plan, &g);
  for (int i = 0; i < 6; i++)
    MUST (isfinite (g.matrix[i]), "m%d is %g", i, g.matrix[i]);
  MUST (g.target.width >= 1 && g.target.height >= 1 &&
          g.target.x < spec->width && g.target.y < spec->height &&
          (int64_t) g.target.x + g.target.width > 0 &&
          (int64_t) g.target.y + g.target.height > 0,
      "the picture is %dx%d at %d,%d", g.target.width, g.target.height,
      g.target.x, g.target.y);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  pp_spec spec = take_spec (&in);
  const pp_format format = take_format (&in);
  const bool cropped = take_bool (&in);
  const pp_rect source = take_rect (&in, &format);
  spec.direction = (pp_direction) take_mostly (&in, 0, PP_N_DIRECTIONS - 1);
  pp_error error = { PP_OK, "" };
  pp_plan *plan =
      pp_plan_new (&spec, &format, cropped ? &source : NULL, &error);

  if (plan == NULL) {
    MUST (error.status != PP_OK && error.text[0] != '\0', "no reason");
    return 0;
  }
  check_geometry (plan, &spec);
  if (plan->n_weight <= MOST_WEIGHTS)
    MUST (rows_are_listed (plan) && rows_are_indexed (plan), "wrong rows");
  if (frame_size (plan) <= MOST_BYTES &&
      pp_plan_tensor_size (plan) <= MOST_BYTES && work (plan) <= MOST_WORK)
    check_tensors (plan, &in);
  pp_plan_unref (&plan);
  return 0;
}
