/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames as others describe them: any GstVideoInfo, buffers that are short or in
 * pieces, metas that say anything. They are refused with a reason, or every byte
 * that the plan reads is there.
 */
#include "gst/buffers/input.h"
#include "gst/buffers/negotiated.h"
#include "kernels/reference/reference.h"

#include "gstinput.h"

/* Most bytes of a buffer, and of pixels that are converted. */
#define MOST_BYTES (1 << 16)

static gboolean
take_info (input *in, GstVideoInfo *info)
{
  const GstVideoFormat format = (GstVideoFormat) (2 + take_index (in, 126));
  const gint width = take_mostly (in, 1, 40);
  const gint height = take_mostly (in, 1, 40);
  /* what the template lets through */
  const gboolean possible = width >= 1 && width <= PP_MAX_SIZE && height >= 1 &&
      height <= PP_MAX_SIZE;

  gst_video_info_init (info);
  if (!possible || gst_video_format_to_string (format) == NULL ||
      !gst_video_info_set_format (info, format, width, height))
    return FALSE;
  if (take_bool (in)) {
    info->colorimetry.range = (GstVideoColorRange) take_index (in, 3);
    info->colorimetry.matrix = (GstVideoColorMatrix) take_index (in, 7);
    info->chroma_site = (GstVideoChromaSite) take_index (in, 32);
  }
  if (take_bool (in)) {
    info->par_n = take_int (in);
    info->par_d = take_int (in);
  }
  return TRUE;
}

/* A piece that ends where its memory does, so that no read behind it goes
 * unseen. */
static GstMemory *
new_piece (input *in, gsize size)
{
  const gsize lead = take_byte (in) % 5;
  guint8 *data = g_malloc (lead + size + (size == 0));

  memset (data, (int) take_byte (in), lead + size);
  return gst_memory_new_wrapped (
      GST_MEMORY_FLAG_READONLY, data, lead + size, lead, size, data, g_free);
}

static GstBuffer *
take_buffer (input *in, const GstVideoInfo *info)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize left = MIN (info->size, MOST_BYTES);
  const gint size = take_index (in, 4);

  if (size >= 2) {
    const gsize given = take_word (in) % MOST_BYTES;
    left = size == 2 ? given : left - MIN (left, given);
  }
  for (gint pieces = take_index (in, 4); pieces > 0; pieces--) {
    const gsize piece = left > 0 ? take_word (in) % left : 0;

    gst_buffer_append_memory (buffer, new_piece (in, piece));
    left -= piece;
  }
  gst_buffer_append_memory (buffer, new_piece (in, left));
  return buffer;
}

static void
spoil_meta (input *in, GstVideoMeta *meta)
{
  const gint plane = take_index (in, GST_VIDEO_MAX_PLANES);

  switch (take_index (in, 8)) {
    case 0:
      meta->format = (GstVideoFormat) take_index (in, 128);
      break;
    case 1:
      meta->width = (guint) take_int (in);
      break;
    case 2:
      meta->height = (guint) take_int (in);
      break;
    case 3:
      meta->n_planes = (guint) take_int (in);
      break;
    case 4:
      meta->offset[plane] = (gsize) take_word (in) << 32;
      break;
    case 5:
      meta->stride[plane] = take_int (in);
      break;
    default:
      meta->offset[plane] = (gsize) (gssize) take_int (in);
      break;
  }
}

static void
take_metas (input *in, const GstVideoInfo *info, GstBuffer *buffer)
{
  if (take_bool (in)) {
    GstVideoMeta *meta = gst_buffer_add_video_meta_full (buffer,
        GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
        (guint) GST_VIDEO_INFO_WIDTH (info),
        (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
        (gsize *) info->offset, (gint *) info->stride);

    for (gint n = take_index (in, 8); n > 0; n--)
      spoil_meta (in, meta);
  }
  if (take_bool (in)) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = (guint) take_mostly (in, 0, 16);
    crop->y = (guint) take_mostly (in, 0, 16);
    crop->width = (guint) take_mostly (in, 1, 24);
    crop->height = (guint) take_mostly (in, 1, 24);
  }
}

static void
take_settings (input *in, GstPpNegotiated *negotiated)
{
  GstPpSettings *settings = &negotiated->settings;

  const gint width = 1 + take_index (in, 16);
  const gint height = 1 + take_index (in, 16);

  negotiated->tensor =
      (GstPpTensor){ width, height, 3, PP_LAYOUT_NHWC, PP_TYPE_UINT8, 1 };
  settings->method = take_index (in, PP_N_METHODS);
  settings->fit = take_index (in, PP_N_FITS);
  settings->denoise = take_index (in, PP_N_DENOISES);
  settings->antialias = take_bool (in);
}

/* Reads what the plan reads; a sanitizer sees whether it is there. */
static void
convert (const GstPpInput *input, const pp_plan *plan)
{
  const pp_view view = pp_plan_crop_view (plan, &input->view);
  guint8 *tensor = g_malloc (pp_plan_tensor_size (plan));

  MUST (pp_apply_c (plan, &view, tensor), "no memory");
  g_free (tensor);
}

static void
check_input (const GstPpInput *input, GstPpNegotiated *negotiated)
{
  GstPpFault fault;
  gchar *reason = NULL;
  const pp_plan *plan = gst_pp_negotiated_find_plan (
      negotiated, input->width, input->height, &input->crop, &fault, &reason);

  if (plan == NULL || !gst_pp_input_check (input, plan, &reason)) {
    must_be_reason (reason);
    return;
  }
  MUST (gst_pp_input_pinned_planes (input, plan, PP_BACKEND_CPU) == 0,
      "others' memory is not ours");
  if (input->crop.width * input->crop.height <= MOST_BYTES)
    convert (input, plan);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  input in = { data, size };
  GstPpNegotiated negotiated;
  GstPpInput input;
  gchar *reason = NULL;

  gst_pp_negotiated_init (&negotiated, NULL);
  take_settings (&in, &negotiated);
  if (take_info (&in, &negotiated.info)) {
    GstBuffer *buffer = take_buffer (&in, &negotiated.info);

    take_metas (&in, &negotiated.info, buffer);
    negotiated.settings.video_direction = take_index (&in, PP_N_DIRECTIONS);
    if (gst_pp_input_map (&input, &negotiated.info, FALSE, buffer, &reason)) {
      check_input (&input, &negotiated);
      gst_pp_input_clear (&input);
    } else {
      must_be_reason (reason);
    }
  }
  gst_pp_negotiated_clear (&negotiated);
  return 0;
}
