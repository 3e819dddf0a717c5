/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern: every kernel against the reference, bit by bit, after dav1d's
 * checkasm. The CPU kernel always, the GPU's where a device opens.
 *
 *   checkkern                 the walk over all formats, methods, types and
 *                             layouts, then some random cases, then batches
 *   checkkern --long          many random cases
 *   checkkern --fake          the walk on the fake device, too: how frames and
 *                             tensors move, or stay on the device
 *   checkkern --self-test     kernels and results broken on purpose, all to be
 *                             caught
 *   checkkern --bench         times, of what was found right
 *   checkkern --bench-turned  the CPU's, of turned pictures beside upright ones
 *   checkkern --bench-device  the same on a GPU, of frames that are there and
 *                             tensors that stay there
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "measure/checkbench.h"
#include "measure/checkdevice.h"
#include "measure/checkturned.h"
#include "checkbatch.h"
#include "checkrun.h"
#include "checkself.h"

#include "kernels/engine/engine.h"
#include "tests/fake/backend_fake.h"

/* Random cases after the walk. */
#define COUNT 20000
#define COUNT_LONG 60000
/* Batches, on each device. */
#define BATCHES 600
#define BATCHES_LONG 20000
/* Mismatches that are printed in full. */
#define MOST_REPORTS 5

struct options {
  uint64_t seed;
  int count, batches, only; /* only: -1 for all */
  bool cpu_only, fake, self_test, bench, bench_turned, bench_device;
};

struct totals {
  int passed, failed;
};

static void
count (struct totals *totals, bool good)
{
  totals->passed += good;
  totals->failed += !good;
}

static void
check_number (const struct options *options, int number, pp_device *device,
    struct totals *totals)
{
  FILE *report = totals->failed < MOST_REPORTS ? stdout : NULL;
  pp_arena *arena = device ? pp_device_arena (device) : NULL;
  check_case check;
  check_run run;
  const check_random random = check_case_init (&check, options->seed, number);
  if (!check_run_init (&run, &check, random, arena, report)) {
    count (totals, false);
  } else {
    count (totals, check_cpu (&run));
    if (device)
      count (totals, check_device (&run, device));
  }
  check_run_clear (&run);
}

/* On the CPU with several workers, on the fake device, which checks what is
 * copied where, and on a GPU. */
static void
check_batches (
    const struct options *options, pp_device *gpu, struct totals *totals)
{
  const pp_device_options several = { .streams = 3 };
  pp_device *device[] = { pp_device_open_backend (
                              &pp_backend_cpu, -1, &several, NULL),
    pp_device_open_backend (&fake_backend, -1, &several, NULL), gpu };

  for (int i = 0; i < options->batches; i++)
    for (size_t d = 0; d < sizeof device / sizeof *device; d++)
      if (device[d] != NULL)
        count (totals,
            check_batch (options->seed, i, device[d], CHECK_BATCH_NOTHING,
                totals->failed < MOST_REPORTS ? stdout : NULL));
  pp_device_close (&device[0]);
  pp_device_close (&device[1]);
}

static int
check_all (const struct options *options, pp_device *device)
{
  const int first = options->only >= 0 ? options->only : 0;
  const int last = options->only >= 0 ? options->only + 1
                                      : check_walk_length () + options->count;
  struct totals totals = { 0, 0 };
  pp_device *fake = options->fake
      ? pp_device_open_backend (&fake_backend, -1, NULL, NULL)
      : NULL;
  for (int i = first; i < last; i++) {
    check_number (options, i, device, &totals);
    if (fake != NULL)
      check_number (options, i, fake, &totals);
  }
  pp_device_close (&fake);
  if (options->only < 0)
    check_batches (options, device, &totals);
  printf ("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed > 0;
}

static void
usage (FILE *to)
{
  fprintf (to,
      "usage: checkkern [--seed N] [--count N] [--batches N] [--long]\n"
      "                 [--only N] [--cpu] [--fake]\n"
      "                 [--self-test | --bench | --bench-turned | --bench-device]\n"
      "  --seed N     of the random numbers; the time by default\n"
      "  --count N    random cases after the walk, %d by default\n"
      "  --batches N  batches on each device, %d by default\n"
      "  --long       %d random cases and %d batches\n"
      "  --only N     one case, as a report names it\n"
      "  --cpu        leave the GPU alone\n"
      "  --fake       cases on the fake device, too\n"
      "  --self-test  broken kernels and results must be caught\n"
      "  --bench      times\n"
      "  --bench-turned  the CPU's, of turned pictures beside upright ones\n"
      "  --bench-device  times on a GPU, without transfers\n",
      COUNT, BATCHES, COUNT_LONG, BATCHES_LONG);
}

static void
parse (int argc, char **argv, struct options *options)
{
  static const struct option known[] = {
    { "seed", required_argument, NULL, 's' },
    { "count", required_argument, NULL, 'c' },
    { "batches", required_argument, NULL, 'n' },
    { "long", no_argument, NULL, 'l' },
    { "only", required_argument, NULL, 'o' },
    { "cpu", no_argument, NULL, 'p' },
    { "fake", no_argument, NULL, 'f' },
    { "self-test", no_argument, NULL, 't' },
    { "bench", no_argument, NULL, 'b' },
    { "bench-turned", no_argument, NULL, 'u' },
    { "bench-device", no_argument, NULL, 'd' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
  };
  int option;
  while ((option = getopt_long (argc, argv, "", known, NULL)) != -1)
    switch (option) {
      case 's':
        options->seed = strtoull (optarg, NULL, 0);
        break;
      case 'c':
        options->count = atoi (optarg);
        break;
      case 'n':
        options->batches = atoi (optarg);
        break;
      case 'l':
        options->count = COUNT_LONG;
        options->batches = BATCHES_LONG;
        break;
      case 'o':
        options->only = atoi (optarg);
        break;
      case 'p':
        options->cpu_only = true;
        break;
      case 'f':
        options->fake = true;
        break;
      case 't':
        options->self_test = true;
        break;
      case 'b':
        options->bench = true;
        break;
      case 'u':
        options->bench_turned = true;
        break;
      case 'd':
        options->bench_device = true;
        break;
      case 'h':
        usage (stdout);
        exit (0);
      default:
        usage (stderr);
        exit (2);
    }
}

/* The GPU, or NULL after having said why not. */
static pp_device *
open_device (void)
{
  pp_error error;
  pp_device *device = pp_device_open (
      PP_BACKEND_CUDA, -1, &(pp_device_options){ .streams = 1 }, &error);
  if (device)
    printf ("%s\n", pp_device_name (device));
  else
    printf ("no GPU: %s\n", error.text);
  return device;
}

int
main (int argc, char **argv)
{
  struct options options = {
    .seed = (uint64_t) time (NULL),
    .count = COUNT,
    .batches = BATCHES,
    .only = -1,
  };
  parse (argc, argv, &options);
  /* What was found is not lost when a long run is stopped. */
  setvbuf (stdout, NULL, _IOLBF, 0);
  printf ("seed %llu\n", (unsigned long long) options.seed);
  if (options.self_test)
    return check_self (options.seed) > 0;
  if (options.bench_turned)
    return check_bench_turned () > 0;

  pp_device *device = options.cpu_only ? NULL : open_device ();
  if (options.bench_device && device == NULL)
    return 77; /* skipped */
  const int result = options.bench ? check_bench (device) > 0
      : options.bench_device       ? check_bench_device (device) > 0
                                   : check_all (&options, device);
  pp_device_close (&device);
  return result;
}
