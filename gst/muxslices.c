/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "muxslices.h"

#include <string.h>

void
gst_pp_mux_slices_list (GstPpMuxSlices *slices, GstElement *element)
{
  memset (slices, 0, sizeof *slices);
  GST_OBJECT_LOCK (element);
  for (GList *l = element->sinkpads; l != NULL; l = l->next) {
    GstCudaPreprocMuxPad *pad = gst_object_ref (l->data);
    slices->pad[pad->index] = pad;
  }
  GST_OBJECT_UNLOCK (element);
}

void
gst_pp_mux_slices_clear (GstPpMuxSlices *slices)
{
  for (guint i = 0; i < GST_PP_MAX_BATCH; i++)
    gst_clear_object (&slices->pad[i]);
}

gboolean
gst_pp_mux_slices_is_taken (GstElement *element, guint index)
{
  gboolean taken = FALSE;

  GST_OBJECT_LOCK (element);
  for (GList *l = element->sinkpads; l != NULL; l = l->next)
    taken |= GST_CUDA_PREPROC_MUX_PAD (l->data)->index == index;
  GST_OBJECT_UNLOCK (element);
  return taken;
}

guint
gst_pp_mux_slices_count (GstElement *element)
{
  guint n = 1;

  GST_OBJECT_LOCK (element);
  for (GList *l = element->sinkpads; l != NULL; l = l->next)
    n = MAX (n, GST_CUDA_PREPROC_MUX_PAD (l->data)->index + 1);
  GST_OBJECT_UNLOCK (element);
  return n;
}

void
gst_pp_mux_slices_warn (GstElement *element, guint index, guint slices)
{
  GST_ELEMENT_WARNING (element, CORE, PAD,
      ("There is no pad sink_%u: batches have %u pictures", index, slices),
      ("Set batch-size to the number of streams before the element starts."));
}
