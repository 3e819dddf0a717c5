/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Replacing a user's file: owner, group, mode and links stay, and where that
 * cannot be, the file does.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/common/expect.h"
#include "gst/report/output_file.h"

/* Of nobody's; what only root can give. */
#define OTHER_USER 12345
#define OTHER_GROUP 54321

static gchar *folder;

static gchar *
path_of (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* Whether path could be written; *reason is to be freed where not. */
static gboolean
replace (const gchar *path, const gchar *content, gchar **reason)
{
  g_autofree gchar *target = gst_pp_output_file_find (path, reason);

  if (target == NULL)
    return FALSE;
  GString *text = g_string_new (content);
  const gboolean written = gst_pp_output_file_write (target, text, reason);
  g_string_free (text, TRUE);
  return written;
}

static void
expect_content (const gchar *path, const gchar *expected)
{
  g_autofree gchar *text = NULL;

  EXPECT (g_file_get_contents (path, &text, NULL, NULL), "no %s", path);
  EXPECT (g_strcmp0 (text, expected) == 0, "%s holds %s", path, text);
}

static void
expect_replaced (const gchar *path, const gchar *content)
{
  g_autofree gchar *reason = NULL;

  EXPECT (replace (path, content, &reason), "%s: %s", path, reason);
  expect_content (path, content);
}

static void
expect_refused (const gchar *path, const gchar *why)
{
  g_autofree gchar *reason = NULL;

  EXPECT (!replace (path, "new", &reason), "%s was written", path);
  EXPECT (reason != NULL && strstr (reason, why) != NULL, "%s: %s, not %s",
      path, reason, why);
}

static void
test_modes (void)
{
  static const guint modes[] = { 0600, 0640, 0666, 0755, 02660, 0400 };
  g_autofree gchar *path = path_of ("mode.json");

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++) {
    struct stat status;

    g_unlink (path);
    g_file_set_contents (path, "old", -1, NULL);
    g_chmod (path, (gint) modes[i]);
    if (g_access (path, W_OK) == 0) {
      expect_replaced (path, "new");
    } else {
      expect_refused (path, "Permission denied");
      expect_content (path, "old");
    }
    EXPECT (stat (path, &status) == 0 && (status.st_mode & 07777) == modes[i],
        "mode %o became %o", modes[i], status.st_mode & 07777);
  }
  g_unlink (path);
}

/* A file that its owner may not write stays, although its folder would let it be
 * replaced. Root, who may write any, becomes somebody else for it. */
static void
test_read_only (void)
{
  g_autofree gchar *path = path_of ("read-only.json");
  const gboolean root = geteuid () == 0;
  struct stat status;

  g_file_set_contents (path, "old", -1, NULL);
  g_chmod (path, 0400);
  if (root) {
    EXPECT (chown (path, OTHER_USER, OTHER_GROUP) == 0 &&
            chown (folder, OTHER_USER, OTHER_GROUP) == 0 &&
            setegid (OTHER_GROUP) == 0 && seteuid (OTHER_USER) == 0,
        "%s", g_strerror (errno));
  }
  expect_refused (path, "Permission denied");
  expect_content (path, "old");
  EXPECT (stat (path, &status) == 0 && (status.st_mode & 07777) == 0400,
      "mode %o", status.st_mode & 07777);
  if (root) {
    EXPECT (seteuid (0) == 0 && setegid (0) == 0 && chown (folder, 0, 0) == 0,
        "%s", g_strerror (errno));
  }
  g_unlink (path);
}

/* A new file has what the umask leaves. */
static void
test_new_file (void)
{
  g_autofree gchar *path = path_of ("new.json");
  const mode_t mask = umask (027);
  struct stat status;

  expect_replaced (path, "first");
  umask (mask);
  EXPECT (stat (path, &status) == 0 && (status.st_mode & 07777) == 0640,
      "mode %o", status.st_mode & 07777);
  g_unlink (path);
}

/* Root gives the new file the old one's owner. Anybody else cannot, and must not
 * take it over. */
static void
test_owner (void)
{
  g_autofree gchar *path = path_of ("owner.json");
  struct stat status;

  if (geteuid () != 0) {
    g_print ("SKIP owner: only root can make another user's file\n");
    return;
  }
  g_file_set_contents (path, "old", -1, NULL);
  g_chmod (path, 0666);
  EXPECT (chown (path, OTHER_USER, OTHER_GROUP) == 0, "%s", g_strerror (errno));
  expect_replaced (path, "new");
  EXPECT (stat (path, &status) == 0 && status.st_uid == OTHER_USER &&
          status.st_gid == OTHER_GROUP && (status.st_mode & 07777) == 0666,
      "%u:%u, mode %o", (guint) status.st_uid, (guint) status.st_gid,
      status.st_mode & 07777);

  g_chmod (folder, 0777);
  EXPECT (seteuid (OTHER_USER + 1) == 0, "%s", g_strerror (errno));
  expect_refused (path, "its owner and group, 12345:54321, cannot be kept");
  expect_content (path, "new");
  EXPECT (seteuid (0) == 0, "%s", g_strerror (errno));
  g_chmod (folder, 0700);
  EXPECT (stat (path, &status) == 0 && status.st_uid == OTHER_USER, "%u",
      (guint) status.st_uid);
  g_unlink (path);
}

/* Who keeps the newest file under a link finds it there again, also where there
 * was none yet. */
static void
test_links (void)
{
  g_autofree gchar *link = path_of ("link.json");
  g_autofree gchar *second = path_of ("second.json");
  g_autofree gchar *kept = path_of ("kept.json");

  EXPECT (symlink ("second.json", link) == 0, "%s", g_strerror (errno));
  EXPECT (symlink (kept, second) == 0, "%s", g_strerror (errno));
  for (guint i = 0; i < 2; i++) {
    expect_replaced (link, i == 0 ? "first" : "second");
    EXPECT (g_file_test (link, G_FILE_TEST_IS_SYMLINK) &&
            g_file_test (second, G_FILE_TEST_IS_SYMLINK),
        "a link is gone");
    EXPECT (!g_file_test (kept, G_FILE_TEST_IS_SYMLINK), "%s is a link", kept);
    expect_content (kept, i == 0 ? "first" : "second");
  }
  g_unlink (link);
  g_unlink (second);
  g_unlink (kept);

  /* One in a circle leads nowhere. */
  g_autofree gchar *other = path_of ("loop.json");
  EXPECT (symlink ("loop.json", link) == 0 && symlink ("link.json", other) == 0,
      "%s", g_strerror (errno));
  expect_refused (link, "symbolic links");
  EXPECT (g_file_test (link, G_FILE_TEST_IS_SYMLINK) &&
          g_file_test (other, G_FILE_TEST_IS_SYMLINK),
      "a link is gone");
  g_unlink (link);
  g_unlink (other);
}

/* What happens between find and write: folders and links that lead elsewhere, and
 * another current folder, do not count; what has come to the place does. */
static void
test_meanwhile (void)
{
  static const gchar *const parts[] = { "one", "two" };
  g_autofree gchar *way = path_of ("way");
  g_autofree gchar *path = path_of ("way/file.json");
  g_autofree gchar *one = path_of ("one/file.json");
  g_autofree gchar *two = path_of ("two/file.json");
  g_autofree gchar *before = g_get_current_dir ();
  g_autofree gchar *reason = NULL;
  GString *text = g_string_new ("text");

  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree gchar *part = path_of (parts[i]);
    g_mkdir (part, 0700);
  }
  EXPECT (symlink ("one", way) == 0, "%s", g_strerror (errno));
  g_autofree gchar *target = gst_pp_output_file_find (path, &reason);
  g_unlink (way);
  EXPECT (symlink ("two", way) == 0, "%s", g_strerror (errno));
  EXPECT (gst_pp_output_file_write (target, text, &reason), "%s", reason);
  expect_content (one, "text");
  EXPECT (!g_file_test (two, G_FILE_TEST_EXISTS), "%s was written", two);
  g_unlink (one);

  EXPECT (g_chdir (folder) == 0, "%s", g_strerror (errno));
  g_autofree gchar *relative =
      gst_pp_output_file_find ("one/file.json", &reason);
  EXPECT (g_chdir (before) == 0, "%s", g_strerror (errno));
  EXPECT (gst_pp_output_file_write (relative, text, &reason), "%s", reason);
  expect_content (one, "text");
  g_unlink (one);

  EXPECT (symlink (two, one) == 0, "%s", g_strerror (errno));
  EXPECT (!gst_pp_output_file_write (target, text, &reason) &&
          strstr (reason, "a link was put there") != NULL,
      "%s", reason);
  EXPECT (g_file_test (one, G_FILE_TEST_IS_SYMLINK) &&
          !g_file_test (two, G_FILE_TEST_EXISTS),
      "the link was replaced or followed");
  g_unlink (one);
  g_unlink (way);
  for (guint i = 0; i < G_N_ELEMENTS (parts); i++) {
    g_autofree gchar *part = path_of (parts[i]);
    EXPECT (g_rmdir (part) == 0, "something was left in %s", part);
  }
  g_string_free (text, TRUE);
}

int
main (void)
{
  folder = g_dir_make_tmp ("output-file-XXXXXX", NULL);
  test_modes ();
  test_read_only ();
  test_new_file ();
  test_owner ();
  test_links ();
  test_meanwhile ();
  EXPECT (g_rmdir (folder) == 0, "something was left in %s", folder);
  g_free (folder);
  return expect_end ();
}
