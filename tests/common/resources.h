/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What this process has: threads and descriptors.
 */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREADS "/proc/self/task"
#define DESCRIPTORS "/proc/self/fd"

/* The kernel's PF_EXITING. */
#define THREAD_IS_EXITING 4

/* Whether this process runs in qemu-user, as meson.build says. That keeps 280 KiB
 * of each thread that has ended, has threads exit after they were joined, and takes
 * RLIMIT_AS without telling the kernel. */
static inline bool
is_emulated (void)
{
  return getenv ("PP_EMULATED") != NULL;
}

/* A thread that was joined is listed a moment longer. */
static inline bool
has_ended (const char *thread)
{
  char path[64], text[512] = "";
  unsigned flags = 0;

  snprintf (path, sizeof path, THREADS "/%.16s/stat", thread);
  FILE *file = fopen (path, "r");
  if (file == NULL)
    return true;
  const size_t length = fread (text, 1, sizeof text - 1, file);
  fclose (file);
  text[length] = '\0';
  /* What comes before the last parenthesis is the name. */
  const char *rest = strrchr (text, ')');
  return rest != NULL &&
      sscanf (rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) == 1 &&
      (flags & THREAD_IS_EXITING) != 0;
}

/* Entries of one of these directories. */
static inline int
count_resources (const char *directory)
{
  const bool of_threads = strcmp (directory, THREADS) == 0;
  DIR *entries = opendir (directory);
  const struct dirent *entry;
  int count = 0;

  while (entries != NULL && (entry = readdir (entries)) != NULL)
    count +=
        entry->d_name[0] != '.' && !(of_threads && has_ended (entry->d_name));
  if (entries != NULL)
    closedir (entries);
  return count;
}

/* Whether the count gets there, where something else is still ending. In an
 * emulator it may have had threads that were ending: there may be fewer. */
static inline bool
resources_become (const char *directory, int count)
{
  const bool may_be_fewer = is_emulated () && strcmp (directory, THREADS) == 0;

  for (int waited = 0; waited < 2000; waited++) {
    const int now = count_resources (directory);
    if (now == count || (may_be_fewer && now < count))
      return true;
    usleep (1000);
  }
  return false;
}

#endif
