/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A frame's buffer, mapped: GstVideoMeta and GstVideoCropMeta -> the engine's view
 * of the planes. What upstream says about its buffers is checked here,
 * once; all other files rely on it.
 */
#ifndef GST_PP_INPUT_H
#define GST_PP_INPUT_H

#include <gst/video/video.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* One frame, mapped for reading. */
typedef struct {
  GstVideoFrame frame;
  GstBuffer *buffer; /* owned; NULL: nothing is mapped */
  pp_view view;
  gint width, height; /* of the stored frame, which crop meta cuts */
  pp_rect crop;       /* of GstVideoCropMeta, else the whole frame */
  gboolean on_device; /* view has addresses on the device */
} GstPpInput;

/* Maps buffer and takes over the caller's reference to it, also on failure.
 * on_device: its caps say that it is in CUDA memory; gst_pp_input_wait comes before
 * the device reads it. On FALSE, nothing stays mapped and *reason says why; free it.
 * Unmapped by gst_pp_input_clear, from any thread. */
gboolean gst_pp_input_map (GstPpInput *input, const GstVideoInfo *info,
    gboolean on_device, GstBuffer *buffer, gchar **reason);
/* Waits on the host until what was queued to write a frame in CUDA memory is done.
 * On FALSE, a call of CUDA's failed, and *reason says so; free it. */
gboolean gst_pp_input_wait (const GstPpInput *input, gchar **reason);
void gst_pp_input_clear (GstPpInput *input);

/* Whether the bytes that plan reads are all in the mapped planes. If a GstVideoMeta
 * maps planes with a function of its own, which gives addresses but no sizes, its
 * planes are taken to be large enough. On FALSE, *reason names the plane and both
 * sizes; free it. */
gboolean gst_pp_input_check (
    const GstPpInput *input, const pp_plan *plan, gchar **reason);
/* A set of planes: bit p is 1 if all that plan reads of plane p lies in pinned
 * memory of this backend. input must have passed gst_pp_input_check for plan. */
guint gst_pp_input_pinned_planes (
    const GstPpInput *input, const pp_plan *plan, pp_backend_id backend);

G_END_DECLS

#endif
