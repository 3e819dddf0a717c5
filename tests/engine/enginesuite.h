/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For suites of the engine that run on one backend, which the first argument
 * names: cpu, cuda or fake. Those behind it name tests; without any, all run.
 */
#ifndef ENGINESUITE_H
#define ENGINESUITE_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/engine/engine.h"

#include "tests/fake/backend_fake.h"
#include "engineframe.h"

#define SKIP 77

struct suite_test {
  const char *name;
  void (*run) (void);
};

static const pp_backend *backend;

/* Whether the name is a backend's. */
static inline bool
suite_select (const char *name)
{
  static const pp_backend *const backends[] = { &pp_backend_cpu,
    &pp_backend_cuda, &fake_backend };

  for (int b = 0; b < LENGTH (backends); b++)
    if (strcmp (name, backends[b]->name) == 0)
      backend = backends[b];
  return backend != NULL;
}

static inline pp_device *
open_device (int streams)
{
  pp_error error = { 0 };
  pp_device *device = pp_device_open_backend (
      backend, -1, &(pp_device_options){ .streams = streams }, &error);

  EXPECT (device != NULL, "%d streams: %s", streams, error.text);
  if (device == NULL)
    exit (expect_end ());
  pp_device_time_all (device, true);
  return device;
}

/* All, or those that the command line names behind the backend. */
static inline bool
is_wanted (const char *name, int argc, char **argv)
{
  for (int a = 2; a < argc; a++)
    if (strcmp (argv[a], name) == 0)
      return true;
  return argc == 2;
}

/* 0; else main's exit status: 77 where the backend has no device. */
static inline int
suite_check_device (void)
{
  pp_error error = { 0 };
  pp_device *device = pp_device_open_backend (backend, -1, NULL, &error);

  if (device == NULL) {
    printf ("SKIP: %s\n", error.text);
    return error.status == PP_NO_DEVICE ? SKIP : 1;
  }
  printf ("%s\n", pp_device_name (device));
  pp_device_close (&device);
  return 0;
}

/* main's exit status. */
static inline int
suite_main (const struct suite_test *tests, int n, int argc, char **argv)
{
  if (argc < 2 || !suite_select (argv[1])) {
    fprintf (stderr, "usage: %s cpu|cuda|fake [TEST...]\n", argv[0]);
    return 2;
  }

  const int unusable = suite_check_device ();

  if (unusable != 0)
    return unusable;
  setvbuf (stdout, NULL, _IOLBF, 0);
  for (int t = 0; t < n; t++)
    if (is_wanted (tests[t].name, argc, argv)) {
      printf ("%s\n", tests[t].name);
      tests[t].run ();
    }
  return expect_end ();
}

#endif
