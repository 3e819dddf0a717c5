/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A fork has the process' memory, but neither its threads nor what a device gave
 * to it: there, nothing that was opened before can be used or waited for, and
 * what another thread had locked stays locked. So whatever could wait asks first
 * whether it is where it was made.
 */
#ifndef PP_PROCESS_H
#define PP_PROCESS_H

#include <sys/types.h>

#include "backend.h"

/* As getpid, but without a system call: it is asked several times a frame. Any
 * thread. */
pid_t pp_process_id (void);

/* Whether process, where something was made, is another than this one. */
static inline bool
pp_is_foreign (pid_t process)
{
  return process != pp_process_id ();
}

static inline pp_status
pp_fail_foreign (pid_t process, pp_error *error)
{
  return pp_fail (error, PP_DEVICE_FAILED,
      "the device was opened by process %ld, and process %ld was forked from "
      "it: a device does not survive a fork",
      (long) process, (long) pp_process_id ());
}

#endif
