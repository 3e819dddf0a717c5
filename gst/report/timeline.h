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

/* The last frames of a run, which are the ones in the file. */
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
/* Writes the file, unless it holds all frames already. element and device: names
 * of any bytes; bottleneck: the word. FALSE with *reason (to be freed), which
 * names the path; the file that was there is then unchanged. */
gboolean gst_pp_timeline_write (GstPpTimeline *timeline, const gchar *element,
    const gchar *device, const gchar *bottleneck, gchar **reason);

G_END_DECLS

#endif
