/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What this process has: threads and descriptors.
 */
#ifndef RESOURCES_H
#define RESOURCES_H

#include <dirent.h>
#include <stdbool.h>
#include <unistd.h>

#define THREADS "/proc/self/task"
#define DESCRIPTORS "/proc/self/fd"

/* Entries of one of these directories. */
static inline int
count_resources (const char *directory)
{
  DIR *entries = opendir (directory);
  int count = -2; /* . and .. */

  while (entries != NULL && readdir (entries) != NULL)
    count++;
  if (entries != NULL)
    closedir (entries);
  return count;
}

/* Whether the count gets there: a thread that was joined is listed a moment
 * longer. */
static inline bool
resources_become (const char *directory, int count)
{
  for (int waited = 0; waited < 2000; waited++) {
    if (count_resources (directory) == count)
      return true;
    usleep (1000);
  }
  return false;
}

#endif
