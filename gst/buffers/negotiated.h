/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What caps and settings were negotiated for the frames of one pad, and the plans
 * made of them: every new crop makes a plan, and the last few are kept.
 */
#ifndef GST_PP_NEGOTIATED_H
#define GST_PP_NEGOTIATED_H

#include <gst/video/video.h>

#include "gst/report/error.h"
#include "gst/settings/orientation.h"
#include "gst/settings/settings.h"
#include "gst/caps/tensorcaps.h"

G_BEGIN_DECLS

/* Plans that are kept. Where more crops than this alternate, each frame makes its
 * plan again. */
#define GST_PP_MAX_PLANS 8
/* Plans for regions that are allocated beforehand: of several frames under way. */
#define GST_PP_REGION_PLANS 512

/* The streaming thread's. */
typedef struct {
  GstElement *element; /* not a reference; may be NULL */
  const gchar *pad; /* the pad's name, outlives this; NULL: there is only one */
  /* What plans are made of. Whoever changes these calls forget_plans. */
  GstPpSettings settings;
  guint settings_serial; /* which change of the live settings that is */
  GstVideoInfo info;
  gboolean cuda; /* frames are in CUDA memory, by their caps */
  GstPpTensor tensor;
  GstPpOrientation orientation; /* what tags say of the stream's */
  gboolean swapped; /* tensors that have the frame's size have it turned */
  struct {
    pp_plan *plan;
    gint width, height; /* of the stored frame */
    pp_rect picture;    /* in it, the crop property applied */
  } entry[GST_PP_MAX_PLANS];
  guint next;
  /* For regions of frames of one size; NULL: none were needed yet. */
  pp_region_plans *region_plans;
  gint region_width, region_height; /* of these frames */
  /* of the crop property */
  pp_rect missed;     /* a picture of which it has no pixel; width 0: none */
  gchar *warned_crop; /* the value that a warning was about; owned */
} GstPpNegotiated;

/* element: named in the debug log, or NULL; outlives negotiated. */
void gst_pp_negotiated_init (GstPpNegotiated *negotiated, GstElement *element);
/* Forgets the plans. */
void gst_pp_negotiated_forget_plans (GstPpNegotiated *negotiated);
/* Forgets everything. */
void gst_pp_negotiated_clear (GstPpNegotiated *negotiated);

/* The plan for a frame of width x height whose picture, after crop meta, is
 * picture; the crop property is applied to it. The reference is negotiated's own
 * and valid until the next call. NULL with *fault and *reason, which is to be
 * freed. */
pp_plan *gst_pp_negotiated_find_plan (GstPpNegotiated *negotiated, gint width,
    gint height, const pp_rect *picture, GstPpFault *fault, gchar **reason);

/* The plan for a region of a frame of width x height; one reference. NULL as
 * above. */
pp_plan *gst_pp_negotiated_get_region_plan (GstPpNegotiated *negotiated,
    gint width, gint height, const pp_rect *region, GstPpFault *fault,
    gchar **reason);

/* Posts one warning for each value of the crop property that has no pixel of a
 * picture since the last call: such pictures are converted whole. Call it after
 * gst_pp_negotiated_find_plan. */
void gst_pp_negotiated_warn_crop (
    GstPpNegotiated *negotiated, GstElement *element);
/* Forgets which values warnings were about: a new start tells them again. */
void gst_pp_negotiated_forget_warnings (GstPpNegotiated *negotiated);

/* Writes what was negotiated to the debug log. held: how many tensors are. */
void gst_pp_negotiated_log (const GstPpNegotiated *negotiated,
    const pp_device *device, guint held, const GstCaps *video);

/* Makes room on the device for the largest picture that the caps allow, which is
 * the whole frame, and for the one that the crop property leaves now. FALSE as
 * above. */
gboolean gst_pp_negotiated_reserve (GstPpNegotiated *negotiated,
    pp_device *device, GstPpFault *fault, gchar **reason);

G_END_DECLS

#endif
