/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A fork has the process' memory, but neither its threads nor what a device gave
 * to it. There, nothing that was opened before can be used or waited for, and
 * what another thread had locked stays locked. So every function that could wait
 * checks first that it is in the process that made its object.
 */
#ifndef PP_FORKED_H
#define PP_FORKED_H

#include <sys/types.h>
#include <unistd.h>

#include "backend.h"

/* Whether this is a fork of process, where something was made. */
static inline bool
pp_is_forked (pid_t process)
{
  return process != getpid ();
}

static inline pp_status
pp_fail_forked (pid_t process, pp_error *error)
{
  return pp_fail (error, PP_DEVICE_FAILED,
      "the device was opened by process %ld, and process %ld was forked from "
      "it: a device does not survive a fork",
      (long) process, (long) getpid ());
}

#endif
