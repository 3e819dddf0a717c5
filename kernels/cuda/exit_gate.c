/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A counter of threads that are in a call, and a handler that closes the gate
 * at exit: exit_gate.h says why.
 */
#include "exit_gate.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The exit of the process waits this long for calls to return, and looks this
 * often, microseconds. */
#define MAX_WAIT 1000000
#define PAUSE 100

static bool closed; /* atomic */
static int inside;  /* threads; atomic */
static pid_t installed_by;

bool
pp_exit_gate_enter (void)
{
  __atomic_fetch_add (&inside, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n (&closed, __ATOMIC_SEQ_CST))
    return true;
  pp_exit_gate_leave ();
  return false;
}

void
pp_exit_gate_leave (void)
{
  __atomic_fetch_sub (&inside, 1, __ATOMIC_SEQ_CST);
}

void
pp_exit_gate_close (void)
{
  const struct timespec pause = { .tv_nsec = PAUSE * 1000 };

  __atomic_store_n (&closed, true, __ATOMIC_SEQ_CST);
  for (int waited = 0; waited < MAX_WAIT; waited += PAUSE) {
    if (__atomic_load_n (&inside, __ATOMIC_SEQ_CST) == 0)
      return;
    nanosleep (&pause, NULL);
  }
}

/* Not in a forked child: the threads that it would wait for are not there. */
static void
close_at_exit (void)
{
  if (getpid () == installed_by)
    pp_exit_gate_close ();
}

static void
install (void)
{
  installed_by = getpid ();
  atexit (close_at_exit);
}

void
pp_exit_gate_install (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;

  pthread_once (&once, install);
}
