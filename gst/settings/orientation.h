/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a stream's tags say of its orientation, for video-direction=auto, read as
 * videoflip of GStreamer 1.28 reads them.
 */
#ifndef GST_PP_ORIENTATION_H
#define GST_PP_ORIENTATION_H

#include <gst/gst.h>

#include "kernels/preproc.h"

G_BEGIN_DECLS

/* The streaming thread's. */
typedef struct {
  gchar *stream_id;   /* of the last STREAM_START; owned; NULL: none came yet */
  gboolean of_stream; /* direction comes from tags of the stream */
  pp_direction of_all;    /* what tags of the whole medium say */
  pp_direction direction; /* what counts */
} GstPpOrientation;

/* Forgets all tags. Also initialises a zeroed one. */
void gst_pp_orientation_clear (GstPpOrientation *orientation);

/* STREAM_START: another stream begins without tags. */
void gst_pp_orientation_start_stream (
    GstPpOrientation *orientation, const gchar *stream_id);
/* TAG. Whether the tags name an orientation. Tags of a stream count more than
 * those of the whole medium, whichever came last; without an orientation they
 * take back what earlier ones of their scope said. */
gboolean gst_pp_orientation_take_tags (
    GstPpOrientation *orientation, const GstTagList *tags);

/* What a TAG event (transfer full) tells elements behind one that turned the
 * frames as it says: the same, but for the orientation, which is upright. */
GstEvent *gst_pp_orientation_upright_event (GstEvent *event);

G_END_DECLS

#endif
