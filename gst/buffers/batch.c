/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "batch.h"

#include "gst/caps/tensorcaps.h"
#include "arena_memory.h"
#include "tensor_pool.h"

/* GstPpBatch.filled has a bit for each. */
G_STATIC_ASSERT (GST_PP_MAX_BATCH <= 64);

/* Flags of a buffer that one of its frames is enough for, and those that all of
 * them must have. */
#define FLAGS_OF_ANY                                                           \
  (GST_BUFFER_FLAG_DISCONT | GST_BUFFER_FLAG_RESYNC | GST_BUFFER_FLAG_CORRUPTED)
#define FLAGS_OF_ALL (GST_BUFFER_FLAG_GAP | GST_BUFFER_FLAG_DROPPABLE)

static GstMemory *
get_memory (const GstPpBatch *batch)
{
  return gst_buffer_peek_memory (batch->buffer, 0);
}

gboolean
gst_pp_batch_open (GstPpBatch *batch, GstBuffer *buffer, guint size,
    gsize slice_size, gchar **reason)
{
  if (!gst_pp_tensor_pool_check_buffer (
          buffer, size, size * slice_size, reason)) {
    gst_buffer_unref (buffer);
    return FALSE;
  }
  *batch = (GstPpBatch){ .buffer = buffer, .size = size };
  gst_pp_memory_forget_jobs (get_memory (batch));
  return TRUE;
}

gboolean
gst_pp_batch_add (GstPpBatch *batch, const GstPpPicture *pictures,
    pp_plan *const *plans, guint n, gboolean attach, GstPpFrame *frame,
    pp_device *device, GstPpFrameDone done, gpointer owner, pp_error *error)
{
  const guint slice = (guint) pictures[0].index;

  gst_pp_meta_set (batch->buffer, batch->n_pictures, n,
      batch->n_pictures + n == batch->size, pictures);
  if (attach)
    gst_buffer_add_parent_buffer_meta (batch->buffer, frame->input.buffer);
  if (!gst_pp_frame_submit (frame, device, plans, n, get_memory (batch), slice,
          done, owner, error))
    return FALSE;
  if (batch->size > 1 && batch->plan != plans[0]) {
    pp_plan_unref (&batch->plan);
    batch->plan = pp_plan_ref (plans[0]);
  }
  batch->n_pictures += n;
  for (guint i = 0; i < n; i++)
    batch->filled |= G_GUINT64_CONSTANT (1) << (slice + i);
  return TRUE;
}

/* From the buffer's PTS to the end of next, where both are known. */
static GstClockTime
duration_until (const GstBuffer *buffer, const GstBuffer *next)
{
  if (!GST_BUFFER_PTS_IS_VALID (buffer) || !GST_BUFFER_PTS_IS_VALID (next) ||
      !GST_BUFFER_DURATION_IS_VALID (next))
    return GST_CLOCK_TIME_NONE;
  const GstClockTime end = GST_BUFFER_PTS (next) + GST_BUFFER_DURATION (next);
  return end > GST_BUFFER_PTS (buffer) ? end - GST_BUFFER_PTS (buffer)
                                       : GST_CLOCK_TIME_NONE;
}

void
gst_pp_batch_extend (GstPpBatch *batch, GstBuffer *next)
{
  GstBuffer *buffer = batch->buffer;

  GST_BUFFER_DURATION (buffer) = duration_until (buffer, next);
  GST_BUFFER_OFFSET_END (buffer) = GST_BUFFER_OFFSET_END (next);
  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAGS (next) & FLAGS_OF_ANY);
  GST_BUFFER_FLAG_UNSET (buffer, ~GST_BUFFER_FLAGS (next) & FLAGS_OF_ALL);
}

gboolean
gst_pp_batch_ends_at (GstEventType type)
{
  return type == GST_EVENT_STREAM_START || type == GST_EVENT_CAPS ||
      type == GST_EVENT_SEGMENT || type == GST_EVENT_SEGMENT_DONE ||
      type == GST_EVENT_GAP || type == GST_EVENT_EOS;
}

gboolean
gst_pp_batch_is_full (const GstPpBatch *batch)
{
  return batch->buffer != NULL && batch->n_pictures == batch->size;
}

gboolean
gst_pp_batch_fill (GstPpBatch *batch, GstAtomicQueue *spare, pp_device *device,
    GstPpFrameDone done, gpointer owner, pp_error *error)
{
  if (batch->n_pictures == 0 || batch->n_pictures == batch->size)
    return TRUE;
  const gsize slice_size = pp_plan_tensor_size (batch->plan);
  GstMemory *memory = get_memory (batch);
  guint8 *data = gst_pp_memory_get_data (memory);

  for (guint i = 0; i < batch->size; i++) {
    if (batch->filled >> i & 1)
      continue;
    if (!gst_pp_memory_is_on_device (memory))
      pp_plan_fill_tensor (batch->plan, data + i * slice_size,
          gst_pp_memory_get_padding (memory, i));
    else if (!gst_pp_frame_submit_padding (
                 spare, device, batch->plan, memory, i, done, owner, error))
      return FALSE;
  }
  gst_pp_meta_truncate (batch->buffer, batch->n_pictures);
  return TRUE;
}

GstBuffer *
gst_pp_batch_close (GstPpBatch *batch)
{
  if (batch->n_pictures == 0) {
    gst_pp_batch_clear (batch);
    return NULL;
  }
  pp_plan_unref (&batch->plan);
  batch->n_pictures = 0;
  return g_steal_pointer (&batch->buffer);
}

void
gst_pp_batch_clear (GstPpBatch *batch)
{
  pp_plan_unref (&batch->plan);
  gst_clear_buffer (&batch->buffer);
  batch->n_pictures = 0;
}
