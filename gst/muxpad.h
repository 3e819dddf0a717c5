/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A sink pad of cudapreprocmux: which slice of a batch its frames fill, and what
 * was negotiated for them.
 */
#ifndef GST_PP_MUX_PAD_H
#define GST_PP_MUX_PAD_H

#include <gst/base/gstaggregator.h>

#include "buffers/negotiated.h"

G_BEGIN_DECLS

#define GST_TYPE_CUDA_PREPROC_MUX_PAD (gst_cuda_preproc_mux_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstCudaPreprocMuxPad, gst_cuda_preproc_mux_pad, GST,
    CUDA_PREPROC_MUX_PAD, GstAggregatorPad)

struct _GstCudaPreprocMuxPad {
  GstAggregatorPad parent;
  guint index; /* of the slice; the pad's number */
  /* Keeps the base class from taking the segment away, which it does when a flush
   * ends, on the thread of the flush. */
  GMutex segment_lock;
  gboolean flushing; /* a flush is ending; under that lock */
  /* The source pad's thread's. */
  GstCaps *caps;       /* of the frames that come next; NULL: not known */
  gboolean negotiated; /* for those caps and the source pad's */
  GstPpNegotiated what;
  gboolean in_context;         /* the last frame was in CUDA memory */
  gboolean warned;             /* that it has no slice */
  GstClockTime frame_duration; /* by the caps; NONE where they do not say */
};

/* What of buffer, which has a time, lies in the pad's segment: its running time
 * there, or NONE if nothing does. */
GstClockTime gst_pp_mux_pad_running_time (
    GstCudaPreprocMuxPad *pad, GstBuffer *buffer);

/* Returns whether the pad has a segment of time, which stays until it is unlocked.
 * Lock and unlock on the source pad's thread. */
gboolean gst_pp_mux_pad_lock_segment (GstCudaPreprocMuxPad *pad);
void gst_pp_mux_pad_unlock_segment (GstCudaPreprocMuxPad *pad);
/* Waits for the unlocking. From then on, and until it is reset, there is no segment
 * to lock. */
void gst_pp_mux_pad_set_flushing (GstCudaPreprocMuxPad *pad, gboolean flushing);

/* Forgets what was negotiated, when the element stops. */
void gst_pp_mux_pad_forget (GstCudaPreprocMuxPad *pad);

/* The number that a name such as sink_3 has. FALSE for any other name. */
gboolean gst_pp_mux_pad_number (const gchar *name, guint *number);
/* A floating reference; templ is the request pad template. */
GstCudaPreprocMuxPad *gst_pp_mux_pad_new (
    GstElement *element, GstPadTemplate *templ, guint index);

G_END_DECLS

#endif
