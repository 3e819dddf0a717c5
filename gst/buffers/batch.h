/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A buffer that is being filled: a block with a slice for each picture. A tensor
 * of one picture is a batch of one. For elements of any base class: pictures may
 * come one after the other from one pad, or one from each pad.
 */
#ifndef GST_PP_BATCH_H
#define GST_PP_BATCH_H

#include <gst/gst.h>

#include "frame.h"
#include "meta.h"

G_BEGIN_DECLS

/* The streaming thread's. All zero: none is open. */
typedef struct {
  GstBuffer *buffer; /* owned; NULL: none is open */
  guint size;        /* slices */
  guint n_pictures;  /* in it so far */
  guint64 filled;    /* bit i: slice i has a picture */
  pp_plan
      *plan; /* of a picture, while some are missing: it says what padding is */
} GstPpBatch;

/* Opens a batch of size pictures, of slice_size bytes each; none may be open. Takes
 * buffer, which is from a tensor pool, and has the times, flags and metas that it
 * will leave with. FALSE and *reason (free it) if its memory is not such a block,
 * or somebody else holds it. */
gboolean gst_pp_batch_open (GstPpBatch *batch, GstBuffer *buffer, guint size,
    gsize slice_size, gchar **reason);

/* Adds n pictures of a frame: writes their metas, and queues the job that fills
 * their slices, which have none yet: those from pictures[0].index on. Indices
 * ascend. attach: the buffer keeps the frame's. Otherwise as gst_pp_frame_submit; on
 * FALSE nothing was added. */
gboolean gst_pp_batch_add (GstPpBatch *batch, const GstPpPicture *pictures,
    pp_plan *const *plans, guint n, gboolean attach, GstPpFrame *frame,
    pp_device *device, GstPpFrameDone done, gpointer owner, pp_error *error);

/* For pictures that come one after the other: the buffer's times and flags become
 * those of its frames until now and of next, which comes behind them. */
void gst_pp_batch_extend (GstPpBatch *batch, GstBuffer *next);

/* The same: whether frames after such an event share no batch with those before. */
gboolean gst_pp_batch_ends_at (GstEventType type);

gboolean gst_pp_batch_is_full (const GstPpBatch *batch);
/* Makes the slices padding that have no picture; those on the device by jobs, whose
 * frames come from spare. FALSE and *error where one cannot be queued. Otherwise
 * as gst_pp_frame_submit_padding. */
gboolean gst_pp_batch_fill (GstPpBatch *batch, GstAtomicQueue *spare,
    pp_device *device, GstPpFrameDone done, gpointer owner, pp_error *error);
/* The buffer (transfer full), which may leave at once, if the batch is full or was
 * filled; none is open afterwards. NULL: no batch is open, or it has no picture; it
 * is discarded then. */
GstBuffer *gst_pp_batch_close (GstPpBatch *batch);
/* Discards the buffer. */
void gst_pp_batch_clear (GstPpBatch *batch);

G_END_DECLS

#endif
