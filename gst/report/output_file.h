/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Replaces a user's file as a whole and keeps its owner, group and mode. If
 * anything fails, the file stays as it was. Readers find the old content or all
 * of the new one, never a part.
 */
#ifndef GST_PP_OUTPUT_FILE_H
#define GST_PP_OUTPUT_FILE_H

#include <glib.h>

G_BEGIN_DECLS

/* The absolute path of the file that path leads to, which need not exist; to be
 * freed. Follows all links, so that later changes of links do not count. NULL
 * with *reason (to be freed) if gst_pp_output_file_write would fail now. */
gchar *gst_pp_output_file_find (const gchar *path, gchar **reason);
/* Makes text the content of the file at target, a result of the above. FALSE
 * with *reason (to be freed): also if a link or anything else that is no regular
 * file has come there. */
gboolean gst_pp_output_file_write (
    const gchar *target, const GString *text, gchar **reason);

G_END_DECLS

#endif
