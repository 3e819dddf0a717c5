/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process.h"

#include <pthread.h>
#include <unistd.h>

/* Atomic. 0: not asked yet, since the start or the fork. */
static pid_t known;
static bool forks_are_noticed;

static void
forget (void)
{
  __atomic_store_n (&known, 0, __ATOMIC_RELAXED);
}

static void
notice_forks (void)
{
  forks_are_noticed = pthread_atfork (NULL, NULL, forget) == 0;
}

pid_t
pp_process_id (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pid_t id = __atomic_load_n (&known, __ATOMIC_RELAXED);

  if (id != 0)
    return id;
  pthread_once (&once, notice_forks);
  id = getpid ();
  if (forks_are_noticed)
    __atomic_store_n (&known, id, __ATOMIC_RELAXED);
  return id;
}
