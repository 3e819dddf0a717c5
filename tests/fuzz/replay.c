/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a fuzz target on files that are kept, where there is no libFuzzer.
 * Arguments: files, and folders of files; those that begin with - are for
 * libFuzzer.
 */
#include <dirent.h>

#include "input.h"

/* Targets that prepare nothing have none of their own. */
__attribute__ ((weak)) int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  (void) argc;
  (void) argv;
  return 0;
}

/* How many inputs were run: 1, or 0 where the file cannot be read. */
static int
run_file (const char *path)
{
  FILE *file = fopen (path, "rb");
  uint8_t *data = NULL;
  long size = -1;

  if (file != NULL && fseek (file, 0, SEEK_END) == 0)
    size = ftell (file);
  if (size >= 0)
    data = malloc ((size_t) size + 1);
  if (data != NULL)
    rewind (file);

  const bool good =
      data != NULL && fread (data, 1, (size_t) size, file) == (size_t) size;

  if (good)
    LLVMFuzzerTestOneInput (data, (size_t) size);
  else
    printf ("%s cannot be read\n", path);
  free (data);
  if (file != NULL)
    fclose (file);
  return good;
}

/* The same for all files of a folder. */
static int
run_folder (DIR *folder, const char *path)
{
  const struct dirent *entry;
  int count = 0;

  while ((entry = readdir (folder)) != NULL) {
    char file[4096];

    if (entry->d_name[0] == '.')
      continue;
    snprintf (file, sizeof file, "%s/%s", path, entry->d_name);
    count += run_file (file);
  }
  return count;
}

int
main (int argc, char **argv)
{
  int count = 0;

  LLVMFuzzerInitialize (&argc, &argv);
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] == '-')
      continue;

    DIR *folder = opendir (argv[i]);

    count += folder != NULL ? run_folder (folder, argv[i]) : run_file (argv[i]);
    if (folder != NULL)
      closedir (folder);
  }
  printf ("%d inputs\n", count);
  return count == 0;
}
