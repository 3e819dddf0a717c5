/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * One frame's way through the device: mapped with the plan that fits it,
 * submitted, let go of.
 */
#ifndef GST_PP_FRAME_H
#define GST_PP_FRAME_H

#include <gst/gst.h>

#include "gst/report/stats.h"
#include "input.h"
#include "negotiated.h"

G_BEGIN_DECLS

typedef struct _GstPpFrame GstPpFrame;

/* The frame's picture is complete (error NULL) or never will be; on a thread of
 * the device. */
typedef void (*GstPpFrameDone) (gpointer owner, const GstPpFrame *frame,
    const pp_job_info *info, const pp_error *error);

struct _GstPpFrame {
  GstAtomicQueue *spare; /* where it goes when it is done; not owned */
  GstPpInput input;
  gpointer owner; /* outlives it */
  GstPpFrameDone done;
  GstPpSpent spent;    /* before it was submitted */
  GstPpPart part;      /* set before it is submitted */
  gboolean urgent;     /* as in pp_task; set before it is submitted */
  guint pinned_planes; /* as in pp_task */
  GstClockTime submitted;
};

/* Maps input (transfer full) and finds its plan, whose reference is negotiated's.
 * NULL with *fault and *reason, which is to be freed. spare outlives all frames:
 * it holds those that are done, for the next ones. Allocating on one thread and
 * freeing on another would cost more with every frame. */
GstPpFrame *gst_pp_frame_new (GstAtomicQueue *spare,
    GstPpNegotiated *negotiated, GstBuffer *input, pp_plan **plan,
    GstPpFault *fault, gchar **reason);
/* For a frame that was not submitted. */
void gst_pp_frame_free (GstPpFrame *frame);
/* Frees spare and its frames. No frame may be under way. */
void gst_pp_frame_free_spare (GstAtomicQueue *spare);

/* Finds out which planes the device can read where they lie; before submit. */
void gst_pp_frame_find_pinned (
    GstPpFrame *frame, const pp_device *device, pp_plan *const *plans, guint n);
/* Queues the job that fills n slices of memory, which then carry the job, from
 * number slice on: one for each plan, at most PP_MAX_PICTURES. They have the plans'
 * tensor size. Takes frame; done is called exactly once if TRUE is returned, else
 * never. */
gboolean gst_pp_frame_submit (GstPpFrame *frame, pp_device *device,
    pp_plan *const *plans, guint n, GstMemory *memory, guint slice,
    GstPpFrameDone done, gpointer owner, pp_error *error);

G_END_DECLS

#endif
