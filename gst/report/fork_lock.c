/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Each process makes a mutex of its own at its first use. The parent's is kept:
 * the thread that forked may hold it and unlock it later.
 */

#include "fork_lock.h"

#include <unistd.h>

typedef struct _Mutex Mutex;

struct _Mutex {
  GRecMutex mutex;
  pid_t process;
  Mutex *parent; /* the parent process'; NULL: there is none */
};

static Mutex *
new_mutex (Mutex *parent)
{
  Mutex *mutex = g_new0 (Mutex, 1);

  g_rec_mutex_init (&mutex->mutex);
  mutex->process = getpid ();
  mutex->parent = parent;
  return mutex;
}

static void
free_mutex (Mutex *mutex)
{
  g_rec_mutex_clear (&mutex->mutex);
  g_free (mutex);
}

void
gst_pp_fork_lock_init (GstPpForkLock *lock)
{
  lock->mutex = new_mutex (NULL);
}

void
gst_pp_fork_lock_clear (GstPpForkLock *lock)
{
  while (lock->mutex != NULL) {
    Mutex *mutex = lock->mutex;
    lock->mutex = mutex->parent;
    free_mutex (mutex);
  }
}

static GRecMutex *
own_mutex (GstPpForkLock *lock)
{
  Mutex *mutex = g_atomic_pointer_get (&lock->mutex);

  /* Another thread of the child may put its mutex there first. */
  while (mutex->process != getpid ()) {
    Mutex *own = new_mutex (mutex);
    if (!g_atomic_pointer_compare_and_exchange (&lock->mutex, mutex, own))
      free_mutex (own);
    mutex = g_atomic_pointer_get (&lock->mutex);
  }
  return &mutex->mutex;
}

GRecMutex *
gst_pp_fork_lock_take (GstPpForkLock *lock)
{
  GRecMutex *mutex = own_mutex (lock);

  g_rec_mutex_lock (mutex);
  return mutex;
}

GRecMutex *
gst_pp_fork_lock_try (GstPpForkLock *lock)
{
  GRecMutex *mutex = own_mutex (lock);

  return g_rec_mutex_trylock (mutex) ? mutex : NULL;
}
