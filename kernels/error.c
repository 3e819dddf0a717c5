/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The one function that makes an error.
 */
#include "backend.h"

#include <stdarg.h>
#include <stdio.h>

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
