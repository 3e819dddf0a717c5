/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the clips are: in the folder that PP_MEDIA names, else in ../shared/media
 * beside the source tree, else in tests/media. The program is built with SOURCE_ROOT.
 */
#ifndef TEST_MEDIA_H
#define TEST_MEDIA_H

#include <glib.h>

/* NULL: there is no such folder. */
static inline const gchar *
test_media_folder (void)
{
  const gchar *const folders[] = { g_getenv ("PP_MEDIA"),
    SOURCE_ROOT "/../shared/media", SOURCE_ROOT "/tests/media" };

  for (guint f = 0; f < G_N_ELEMENTS (folders); f++)
    if (folders[f] != NULL && g_file_test (folders[f], G_FILE_TEST_IS_DIR))
      return folders[f];
  return NULL;
}

/* NULL: it is not there. Free it. */
static inline gchar *
test_media_path (const gchar *file)
{
  const gchar *folder = test_media_folder ();
  gchar *path = folder != NULL ? g_build_filename (folder, file, NULL) : NULL;

  if (path != NULL && !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    g_clear_pointer (&path, g_free);
  return path;
}

#endif
