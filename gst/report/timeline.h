/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The timeline: on which stream each frame was uploaded, computed and
 * downloaded, and when. It is written to a file, for trace viewers or as a
 * picture.
 */
#ifndef GST_PP_TIMELINE_H
#define GST_PP_TIMELINE_H

#include <gst/gst.h>

#include "error.h"
#include "kernels/preproc.h"

G_BEGIN_DECLS

/* How many frames the file has at most: the last ones of a run. */
#define GST_PP_TIMELINE_FRAMES 4096

/* The caller serialises. */
typedef struct _GstPpTimeline GstPpTimeline;

/* A timeline without frames, for a file at path. The ending says which kind:
 * .json for a Chrome trace, .svg for a picture. Links are followed now, and a
 * relative path starts from the folder that is the current one now.
 * NULL, with *fault and *reason (to be freed), which names path, if the ending is
 * another or the file could not be written. */
GstPpTimeline *gst_pp_timeline_new (
    const gchar *path, GstPpFault *fault, gchar **reason);
void gst_pp_timeline_free (GstPpTimeline *timeline);
/* Adds a job that ended well; jobs come in order. */
void gst_pp_timeline_add (GstPpTimeline *timeline, const pp_job_info *info);
/* Writes the file, unless no frame was added since it was last written. element and
 * device are names, in which bytes need not be UTF-8; bottleneck is a word of
 * gst_pp_bottleneck_name. FALSE with *reason (to be freed), which names the path; an
 * older file there is then unchanged. */
gboolean gst_pp_timeline_write (GstPpTimeline *timeline, const gchar *element,
    const gchar *device, const gchar *bottleneck, gchar **reason);
/* The times of the frames that follow begin anew: these frames are drawn after all
 * before them. */
void gst_pp_timeline_change_clock (GstPpTimeline *timeline);

G_END_DECLS

#endif
