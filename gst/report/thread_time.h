/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the streaming thread's time goes, for the diagnosis.
 */
#ifndef GST_PP_PACE_H
#define GST_PP_PACE_H

#include <gst/gst.h>

#include "diagnosis.h"

G_BEGIN_DECLS

/* From one frame's submission to the next's, in microseconds. */
typedef struct {
  gdouble place[GST_PP_N_PLACES];
  gdouble waited; /* in maps of tensors, by any thread */
} GstPpSpent;

/* The streaming thread's. */
typedef struct {
  GstClockTime since;  /* end of the last stretch; NONE: not known */
  GstClockTime waited; /* as the memory counts it, when last taken */
  GstPpSpent spent;    /* not taken yet */
} GstPpPace;

/* Forgets everything. */
void gst_pp_pace_init (GstPpPace *pace);
/* The time since the last call was spent in place. */
void gst_pp_pace_count (GstPpPace *pace, GstPpPlace place);
/* The time until the next call belongs to no place: the pipeline stands still,
 * or stood still since the last call. */
void gst_pp_pace_skip (GstPpPace *pace);
/* Moves what was counted since the last call to *spent. waited: how long
 * consumers have waited so far, nanoseconds; starts again at 0 with a new pool.
 */
void gst_pp_pace_take (GstPpPace *pace, GstClockTime waited, GstPpSpent *spent);

G_END_DECLS

#endif
