/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Programs that end while threads are in a library, here a page of memory that
 * the library's handler unmaps at exit.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/cuda/exit_gate.h"

#include "tests/common/expect.h"
#include "tests/common/startprogram.h"

#define PROGRAMS 20
#define THREADS 3
#define PAGE 4096

static uint8_t *library;

/* And there is more to do before the process is gone. */
static void
take_library_away (void)
{
  const struct timespec moment = { .tv_nsec = 5000000 };

  munmap (library, PAGE);
  nanosleep (&moment, NULL);
}

/* Calls as long as it may, then does without, as a thread of the element; each
 * has a part of the page. */
static void *
work (void *data)
{
  volatile uint8_t *part = data;

  while (pp_exit_gate_enter ()) {
    for (int i = 0; i < 100 * PAGE; i++)
      part[i % (PAGE / THREADS)]++;
    pp_exit_gate_leave ();
  }
  for (;;)
    pause ();
  return NULL;
}

/* Stops nothing. */
static int
end_in_the_middle (void)
{
  const struct timespec moment = { .tv_nsec = 5000000 };
  pthread_t thread[THREADS];

  library = mmap (
      NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  atexit (take_library_away);
  pp_exit_gate_install ();
  for (int t = 0; t < THREADS; t++)
    pthread_create (
        &thread[t], NULL, work, (void *) (library + t * (PAGE / THREADS)));
  nanosleep (&moment, NULL);
  return 0;
}

static void
test_programs (const char *self)
{
  for (int p = 0; p < PROGRAMS; p++) {
    int status = -1;
    const pid_t child = fork ();

    if (child == 0) {
      execl ("/bin/sh", "sh", "-c", START_PROGRAM, "sh", self, "--end",
          (char *) NULL);
      _exit (2);
    }
    EXPECT (waitpid (child, &status, 0) == child && status == 0,
        "program %d ended with status %d", p, status);
  }
}

/* A child of fork ends at once, whoever is inside in its parent. */
static void
test_fork (void)
{
  int status = -1;

  pp_exit_gate_install ();
  EXPECT (pp_exit_gate_enter (), "closed");
  const time_t start = time (NULL);
  fflush (stdout);
  const pid_t child = fork ();
  if (child == 0)
    exit (0);
  EXPECT (waitpid (child, &status, 0) == child && status == 0,
      "the child ended with status %d", status);
  EXPECT (
      time (NULL) - start < 10, "it took %d s", (int) (time (NULL) - start));
  pp_exit_gate_leave ();
}

static bool has_left;

static void *
stay_a_moment (void *unused)
{
  const struct timespec moment = { .tv_nsec = 50000000 };

  nanosleep (&moment, NULL);
  __atomic_store_n (&has_left, true, __ATOMIC_SEQ_CST);
  pp_exit_gate_leave ();
  return unused;
}

/* The last test: the gate stays closed. */
static void
test_close (void)
{
  pthread_t thread;

  EXPECT (pp_exit_gate_enter () && pp_exit_gate_enter (), "closed");
  pp_exit_gate_leave ();
  pthread_create (&thread, NULL, stay_a_moment, NULL);
  pp_exit_gate_close ();
  EXPECT (__atomic_load_n (&has_left, __ATOMIC_SEQ_CST),
      "closed with somebody inside");
  pthread_join (thread, NULL);
  EXPECT (!pp_exit_gate_enter (), "open again");
}

int
main (int argc, char **argv)
{
  if (argc == 2 && strcmp (argv[1], "--end") == 0)
    return end_in_the_middle ();
  test_programs (argv[0]);
  test_fork ();
  test_close ();
  return expect_end ();
}
