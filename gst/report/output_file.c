/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Writes a new file in the folder of the old one, gives it the old one's owner,
 * group and mode, and renames it to the old one's name.
 */

#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* The limit that Linux has. */
#define MAX_LINKS 40

static gchar *
say_errno (gint error)
{
  return g_strdup (g_strerror (error));
}

/* path without links among its folders. If the file itself is a link, it stays. */
static gchar *
resolve_folder (const gchar *path, gchar **reason)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *name = g_path_get_basename (path);
  gchar *real = realpath (folder, NULL);

  if (real == NULL) {
    *reason = say_errno (errno);
    return NULL;
  }
  gchar *result = g_build_filename (real, name, NULL);
  free (real);
  return result;
}

static gchar *
follow_links (const gchar *path, gchar **reason)
{
  gchar *target = resolve_folder (path, reason);

  for (gint links = 0; target != NULL; links++) {
    g_autofree gchar *link = g_file_read_link (target, NULL);
    if (link == NULL)
      return target;
    if (links == MAX_LINKS) {
      *reason = say_errno (ELOOP);
      g_clear_pointer (&target, g_free);
      break;
    }
    g_autofree gchar *folder = g_path_get_dirname (target);
    g_autofree gchar *next = g_path_is_absolute (link)
        ? g_strdup (link)
        : g_build_filename (folder, link, NULL);
    g_free (target);
    target = resolve_folder (next, reason);
  }
  return target;
}

/* Whether target can be replaced: a regular file that may be written, or none.
 * *status is the file's; its st_nlink is 0 if there is none. */
static gboolean
check_old_file (const gchar *target, struct stat *status, gchar **reason)
{
  status->st_nlink = 0;
  if (lstat (target, status) != 0) {
    if (errno == ENOENT)
      return TRUE;
    *reason = say_errno (errno);
  } else if (S_ISLNK (status->st_mode)) {
    *reason = g_strdup ("a link was put there after the start");
  } else if (S_ISDIR (status->st_mode)) {
    *reason = g_strdup ("it is a folder");
  } else if (!S_ISREG (status->st_mode)) {
    *reason = g_strdup ("it is no regular file");
  } else if (faccessat (AT_FDCWD, target, W_OK, AT_EACCESS) != 0) {
    *reason = say_errno (errno);
  } else {
    return TRUE;
  }
  return FALSE;
}

/* Gives file the owner, group and mode of the old one; FALSE and *reason if that
 * is not possible. The owner comes first, since changing it clears bits of the
 * mode. */
static gboolean
copy_ownership (gint file, const struct stat *old, gchar **reason)
{
  struct stat status;

  if (fstat (file, &status) != 0) {
    *reason = say_errno (errno);
    return FALSE;
  }
  if ((status.st_uid != old->st_uid || status.st_gid != old->st_gid) &&
      fchown (file, old->st_uid, old->st_gid) != 0) {
    *reason = g_strdup_printf ("its owner and group, %u:%u, cannot be kept: %s",
        (guint) old->st_uid, (guint) old->st_gid, g_strerror (errno));
    return FALSE;
  }
  if (fchmod (file, old->st_mode & 07777) != 0) {
    *reason = say_errno (errno);
    return FALSE;
  }
  return TRUE;
}

/* Makes an empty file in target's folder that can be renamed to target. Returns
 * its descriptor, and its name in *path (to be freed); -1 with *reason. */
static gint
make_new_file (const gchar *target, gchar **path, gchar **reason)
{
  struct stat old;

  if (!check_old_file (target, &old, reason))
    return -1;
  gchar *beside = g_strconcat (target, ".XXXXXX", NULL);
  /* A file that replaces none gets what the umask leaves. */
  const gint file = g_mkstemp_full (
      beside, O_WRONLY | O_CLOEXEC, old.st_nlink > 0 ? 0600 : 0666);
  if (file < 0) {
    *reason = say_errno (errno);
    g_free (beside);
    return -1;
  }
  if (old.st_nlink > 0 && !copy_ownership (file, &old, reason)) {
    close (file);
    g_unlink (beside);
    g_free (beside);
    return -1;
  }
  *path = beside;
  return file;
}

/* Closes file in any case. 0 or the errno of what failed. */
static gint
write_and_close (gint file, const GString *text)
{
  gsize done = 0;
  gint error = 0;

  while (done < text->len && error == 0) {
    const gssize written = write (file, text->str + done, text->len - done);
    if (written >= 0)
      done += (gsize) written;
    else if (errno != EINTR)
      error = errno;
  }
  /* Before the rename: after a crash there is the old file or the new one. */
  if (error == 0 && fsync (file) != 0)
    error = errno;
  if (close (file) != 0 && error == 0)
    error = errno;
  return error;
}

gchar *
gst_pp_output_file_find (const gchar *path, gchar **reason)
{
  gchar *target = follow_links (path, reason);
  gchar *beside = NULL;

  if (target == NULL)
    return NULL;
  const gint file = make_new_file (target, &beside, reason);
  if (file < 0) {
    g_free (target);
    return NULL;
  }
  close (file);
  g_unlink (beside);
  g_free (beside);
  return target;
}

gboolean
gst_pp_output_file_write (
    const gchar *target, const GString *text, gchar **reason)
{
  struct stat old;
  g_autofree gchar *beside = NULL;
  const gint file = make_new_file (target, &beside, reason);

  if (file < 0)
    return FALSE;
  const gint error = write_and_close (file, text);
  gboolean good = error == 0;
  if (!good)
    *reason = say_errno (error);
  /* Others may have put something there while the text was written. */
  good = good && check_old_file (target, &old, reason);
  if (good && g_rename (beside, target) != 0) {
    *reason = say_errno (errno);
    good = FALSE;
  }
  if (!good)
    g_unlink (beside);
  return good;
}
