/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The kernel clears the page with the id in every fork's child, however it was
 * forked: pthread_atfork would miss _Fork and clone.
 */
#include "process.h"

#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* Atomic. A page of its own, or NULL; in it 0: not asked yet, since the start or
 * the fork. */
static pid_t *known;

static void
make_page (void)
{
#ifdef MADV_WIPEONFORK
  pid_t *page = mmap (NULL, sizeof *page, PROT_READ | PROT_WRITE,
      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (page == MAP_FAILED)
    return;
  if (madvise (page, sizeof *page, MADV_WIPEONFORK) == 0)
    __atomic_store_n (&known, page, __ATOMIC_RELEASE);
  else
    munmap (page, sizeof *page);
#endif
}

pid_t
pp_process_id (void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pid_t *page = __atomic_load_n (&known, __ATOMIC_ACQUIRE);
  pid_t id = page != NULL ? __atomic_load_n (page, __ATOMIC_RELAXED) : 0;

  if (id != 0)
    return id;
  pthread_once (&once, make_page);
  id = getpid ();
  page = __atomic_load_n (&known, __ATOMIC_ACQUIRE);
  if (page != NULL)
    __atomic_store_n (page, id, __ATOMIC_RELAXED);
  return id;
}
