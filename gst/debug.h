/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The debug category of all files of the plugin: GST_DEBUG=cudapreproc:5. A file
 * that logs includes this header after the others.
 */
#ifndef GST_PP_DEBUG_H
#define GST_PP_DEBUG_H

#include <gst/gst.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_preproc_debug);
#define GST_CAT_DEFAULT gst_cuda_preproc_debug

/* Creates the category; every element's class_init calls it first. Any thread,
 * any number of times. */
void gst_pp_debug_init (void);

G_END_DECLS

#endif
