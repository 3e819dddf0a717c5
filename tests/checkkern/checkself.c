/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * checkkern --self-test: what checkkern must not let pass.
 *
 * The comparison on the host is given broken kernels. That of a device, which
 * needs the engine's way with memory of its own, is given the same as the
 * kernels of the fake device, and bytes that are spoilt when a job has ended.
 */
#include "checkself.h"

#include <stdlib.h>

#include "tests/fake/backend_fake.h"
#include "checkrun.h"
#include "kernels/engine/engine.h"

/* Cases that a broken kernel may pass before it must have been caught, and
 * those that one without a fault must pass on a device, which takes longer. */
#define BROKEN_CASES 10000
#define DEVICE_CASES 1000
/* Cases in each of which every spoilt byte must be caught. */
#define SPOILT_CASES 25

struct totals {
  int passed, failed;
};

static void
print_result (struct totals *totals, bool good, const char *where,
    const char *what, const char *result)
{
  totals->passed += good;
  totals->failed += !good;
  printf ("%s %s, %s: %s\n", good ? "ok    " : "FAILED", where, what, result);
}

/* What the broken device launches. By the thread that queues. */
static broken_fault launched;

/* With the tables that were uploaded, as the fake device itself. */
static pp_status
launch_broken (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  const pp_status status = fake_backend.stream_sync (stream, error);
  pp_plan plan = *launch->plan;
  plan.index = (int32_t *) launch->index;
  plan.weight = (float *) launch->weight;
  if (status == PP_OK)
    broken_apply_rows (&plan, &launch->source, launch->tensor, launch->first,
        launch->last, launched);
  return status;
}

static pp_device *
open_fake (const pp_backend *backend)
{
  pp_error error;
  pp_device *device = pp_device_open_backend (
      backend, -1, &(pp_device_options){ .streams = 1 }, &error);
  if (!device) {
    fprintf (stderr, "checkkern: %s\n", error.text);
    exit (2);
  }
  return device;
}

/* Frames of 8K are slow, and tell of one fault alone, which is seen in no other.
 */
static bool
is_worth_it (int number, broken_fault fault)
{
  const bool large =
      number >= check_first_large () && number < check_walk_length ();
  return large == (fault == BROKEN_WRAPPED_COLUMN);
}

/* Which of n cases catches the fault, on the host or the broken device; -1 if
 * none does. Cases without a plan catch nothing: they fail in checkkern. */
static int
caught_by (uint64_t seed, broken_fault fault, pp_device *device, int n)
{
  pp_arena *arena = device ? pp_device_arena (device) : NULL;
  /* What should pass is reported when it does not. */
  FILE *report = fault == BROKEN_NONE ? stdout : NULL;
  launched = fault;
  for (int i = 0; i < n; i++) {
    if (!is_worth_it (i, fault))
      continue;
    check_case check;
    check_run run;
    const check_random random = check_case_init (&check, seed, i);
    const bool caught = check_run_init (&run, &check, random, arena, report) &&
        !(device ? check_device (&run, device) : check_broken (&run, fault));
    check_run_clear (&run);
    if (caught)
      return i;
  }
  return -1;
}

static void
test_fault (
    struct totals *totals, uint64_t seed, broken_fault fault, pp_device *device)
{
  const int n = device && fault == BROKEN_NONE ? DEVICE_CASES : BROKEN_CASES;
  const int number = caught_by (seed, fault, device, n);
  char result[64];
  if (number >= 0)
    snprintf (result, sizeof result, "caught by case %d", number);
  else
    snprintf (result, sizeof result, "passed %d cases", n);
  print_result (totals, (number >= 0) == (fault != BROKEN_NONE),
      device ? "device" : "host", broken_name (fault), result);
}

/* Faults that a kernel on the fake device can have: not those that reach beyond
 * the rows of a launch, which may be under way, or beyond the device's memory,
 * which has no guards. Padding is the host's. */
static bool
is_for_device (broken_fault fault)
{
  return fault < BROKEN_LAYOUT && fault != BROKEN_BORDER;
}

static void
test_broken_device (struct totals *totals, uint64_t seed)
{
  pp_backend backend = fake_backend;
  backend.launch = launch_broken;
  pp_device *device = open_fake (&backend);
  for (int f = 0; f < N_BROKEN; f++)
    if (is_for_device ((broken_fault) f))
      test_fault (totals, seed, (broken_fault) f, device);
  pp_device_close (&device);
}

/* How many of the first cases the spoilt byte is seen in. */
static int
count_caught (uint64_t seed, pp_device *device, check_spoil spoil)
{
  int n = 0;
  for (int i = 0; i < SPOILT_CASES; i++) {
    check_case check;
    check_run run;
    const check_random random = check_case_init (&check, seed, i);
    n +=
        check_run_init (&run, &check, random, pp_device_arena (device), NULL) &&
        !check_device_spoilt (&run, device, spoil);
    check_run_clear (&run);
  }
  return n;
}

static void
test_spoils (struct totals *totals, uint64_t seed)
{
  static const char *const names[] = { [CHECK_SPOIL_NOTHING] = "nothing",
    [CHECK_SPOIL_TENSOR] = "a byte of the tensor",
    [CHECK_SPOIL_BEFORE] = "a byte before the tensor",
    [CHECK_SPOIL_BEHIND] = "a byte behind the tensor",
    [CHECK_SPOIL_SOURCE] = "a byte of the source" };
  pp_device *device = open_fake (&fake_backend);
  for (int t = 0; t < CHECK_N_SPOILS; t++)
    for (int job = 0; job < CHECK_DEVICE_JOBS; job++) {
      if (t == CHECK_SPOIL_NOTHING && job > 0)
        continue;
      const check_spoil spoil = { (check_spoilt) t, job };
      const int n = count_caught (seed, device, spoil);
      char what[64], result[64];
      snprintf (what, sizeof what, "%s spoilt after job %d", names[t], job);
      snprintf (
          result, sizeof result, "caught in %d of %d cases", n, SPOILT_CASES);
      print_result (totals, n == (t == CHECK_SPOIL_NOTHING ? 0 : SPOILT_CASES),
          "device", what, result);
    }
  pp_device_close (&device);
}

/* A device that fails leaves the tensor as it was. */
static void
test_failing_device (struct totals *totals, uint64_t seed)
{
  pp_device *device = open_fake (&fake_backend);
  check_case check;
  check_run run;
  const check_random random = check_case_init (&check, seed, 0);
  fake_fail (FAKE_LAUNCH, 1, true);
  const bool caught =
      check_run_init (&run, &check, random, pp_device_arena (device), NULL) &&
      !check_device (&run, device);
  check_run_clear (&run);
  fake_reset ();
  pp_device_close (&device);
  print_result (
      totals, caught, "device", "a failure", caught ? "caught" : "passed");
}

int
check_self (uint64_t seed)
{
  struct totals totals = { 0, 0 };
  for (int f = 0; f < N_BROKEN; f++)
    test_fault (&totals, seed, (broken_fault) f, NULL);
  test_broken_device (&totals, seed);
  test_spoils (&totals, seed);
  test_failing_device (&totals, seed);
  printf ("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed;
}
