/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "muxround.h"

#include <string.h>

/* Stands for a GAP event. */
static gboolean
is_gap (GstBuffer *frame)
{
  return GST_BUFFER_FLAG_IS_SET (frame, GST_BUFFER_FLAG_GAP) &&
      gst_buffer_get_size (frame) == 0;
}

/* FALSE after posting why a frame cannot be part of a batch. */
static gboolean
check_frame (
    GstPpConverter *converter, GstCudaPreprocMuxPad *pad, GstBuffer *frame)
{
  if (!GST_BUFFER_PTS_IS_VALID (frame))
    gst_pp_converter_post_reason (converter, GST_PP_FAULT_INPUT,
        g_strdup_printf ("A frame on %s has no timestamp", GST_PAD_NAME (pad)));
  else if (!pad->negotiated)
    gst_pp_converter_post_reason (converter, GST_PP_FAULT_INPUT,
        g_strdup_printf (
            "A frame came on %s before its caps", GST_PAD_NAME (pad)));
  else
    return TRUE;
  return FALSE;
}

/* Puts frame, which is taken, in slice index. FALSE after posting why not. */
static gboolean
add_frame (GstPpMuxRound *round, GstPpConverter *converter, guint index,
    GstBuffer *frame)
{
  GstCudaPreprocMuxPad *pad = round->slices.pad[index];
  g_autoptr (GstBuffer) taken = frame;

  if (is_gap (frame))
    return TRUE;
  if (!check_frame (converter, pad, frame))
    return FALSE;
  const GstClockTime time = gst_pp_mux_pad_running_time (pad, frame);
  if (!GST_CLOCK_TIME_IS_VALID (time)) /* flushed since it was clipped */
    return TRUE;
  if (!GST_CLOCK_TIME_IS_VALID (round->earliest) || time < round->earliest) {
    round->earliest = time;
    round->duration = GST_BUFFER_DURATION (frame);
  }
  round->discont |= GST_BUFFER_FLAGS (frame) & GST_BUFFER_FLAG_DISCONT;
  round->frame[index] = g_steal_pointer (&taken);
  round->frames++;
  return TRUE;
}

/* For a pad that was requested just before the number of slices was known, and has
 * none. */
static void
drop_frame (GstElement *element, GstCudaPreprocMuxPad *pad, guint n_slices)
{
  if (gst_aggregator_pad_drop_buffer (&pad->parent) && !pad->warned)
    gst_pp_mux_slices_warn (element, pad->index, n_slices);
  pad->warned = TRUE;
}

gboolean
gst_pp_mux_round_take (
    GstPpMuxRound *round, GstPpConverter *converter, guint n_slices)
{
  memset (round, 0, sizeof *round);
  round->ended = TRUE;
  round->earliest = round->duration = GST_CLOCK_TIME_NONE;
  gst_pp_mux_slices_list (&round->slices, converter->element);
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++) {
    GstCudaPreprocMuxPad *pad = round->slices.pad[i];
    if (pad == NULL)
      continue;
    if (i >= n_slices) {
      drop_frame (converter->element, pad, n_slices);
      continue;
    }
    GstBuffer *frame = gst_aggregator_pad_pop_buffer (&pad->parent);
    round->ended = round->ended && frame == NULL &&
        gst_aggregator_pad_is_eos (&pad->parent);
    if (frame != NULL && !add_frame (round, converter, i, frame))
      return FALSE;
  }
  return TRUE;
}

void
gst_pp_mux_round_clear (GstPpMuxRound *round)
{
  gst_pp_mux_slices_clear (&round->slices);
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++)
    gst_clear_buffer (&round->frame[i]);
}
