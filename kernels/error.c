/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Error constructors, used by all of kernels/; declared in engine/backend.h.
 */
#include "engine/backend.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

pp_status
pp_fail (pp_error *error, pp_status status, const char *format, ...)
{
  if (error) {
    va_list arguments;

    va_start (arguments, format);
    error->status = status;
    vsnprintf (error->text, sizeof error->text, format, arguments);
    va_end (arguments);
  }
  return status;
}

/* Bytes; 0 where it is not known. Not with stdio, which would allocate. */
static size_t
available_memory (void)
{
  static const char name[] = "MemAvailable:";
  char text[512] = "";
  const int file = open ("/proc/meminfo", O_RDONLY | O_CLOEXEC);

  if (file < 0)
    return 0;
  const ssize_t length = read (file, text, sizeof text - 1);
  close (file);
  const char *line = length > 0 ? strstr (text, name) : NULL;
  return line != NULL ? strtoull (line + sizeof name - 1, NULL, 10) * 1024 : 0;
}

pp_memory_left
pp_describe_memory_left (void)
{
  pp_memory_left left;
  struct rlimit limit;
  const int length = snprintf (left.text, sizeof left.text,
      "the machine has %zu available", available_memory ());

  if (getrlimit (RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    snprintf (left.text + length, sizeof left.text - (size_t) length,
        ", the process may map %llu in all",
        (unsigned long long) limit.rlim_cur);
  return left;
}

pp_status
pp_fail_memory (pp_error *error, const char *call, size_t size)
{
  return pp_fail (error, PP_NO_MEMORY, "%s of %zu bytes failed, %s", call, size,
      pp_describe_memory_left ().text);
}
