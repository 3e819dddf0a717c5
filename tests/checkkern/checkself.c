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
#include <string.h>

#include "tests/fake/backend_fake.h"
#include "tests/fake/uploadedplan.h"
#include "checkbatch.h"
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

/* As the fake device itself. */
static pp_status
launch_broken (pp_stream *stream, const pp_launch *launch, pp_error *error)
{
  const pp_status status = fake_backend.stream_sync (stream, error);
  const pp_plan plan = uploaded_plan (launch);

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

/* What is wrong with launches of several pictures. */
enum batch_fault {
  NO_FAULT,
  SWAPPED_SLICES,  /* of the first two pictures */
  MISSING_PICTURE, /* the last */
  NO_PADDING,
  NO_PADDING_ON_DEVICE, /* which a step of its own makes */
  CONTENT_MISTAKEN,     /* unfilled slices get padding around, others all */
  N_BATCH_FAULTS
};

static enum batch_fault batch_fault;

static pp_status
launch_broken_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error)
{
  pp_launch broken[PP_MAX_PICTURES];

  memcpy (broken, launches, (size_t) n * sizeof *launches);
  if (batch_fault == SWAPPED_SLICES && n > 1) {
    broken[0].tensor = launches[1].tensor;
    broken[1].tensor = launches[0].tensor;
  }
  return fake_backend.launch_pictures (stream, team, broken,
      n - (batch_fault == MISSING_PICTURE && n > 1),
      padding && batch_fault != NO_PADDING, error);
}

static pp_status
pad_broken (pp_stream *stream, const pp_launch *launches, int n, bool content,
    pp_error *error)
{
  if (batch_fault == NO_PADDING_ON_DEVICE)
    return PP_OK;
  return fake_backend.pad (
      stream, launches, n, content != (batch_fault == CONTENT_MISTAKEN), error);
}

/* How many of the first batches do not pass. */
static int
count_batches (uint64_t seed, pp_device *device, check_batch_spoilt spoilt)
{
  int n = 0;
  for (int i = 0; i < SPOILT_CASES; i++)
    n += !check_batch (seed, i, device, spoilt, NULL);
  return n;
}

static void
test_batches (struct totals *totals, uint64_t seed)
{
  static const char *const faults[] = { [NO_FAULT] = "none",
    [SWAPPED_SLICES] = "two slices swapped",
    [MISSING_PICTURE] = "a picture missing",
    [NO_PADDING] = "padding unwritten",
    [NO_PADDING_ON_DEVICE] = "padding on the device unwritten",
    [CONTENT_MISTAKEN] = "padding and unfilled slices mistaken" };
  static const char *const spoils[] = { [CHECK_BATCH_NOTHING] = "nothing",
    [CHECK_BATCH_SLICE] = "a byte of a slice",
    [CHECK_BATCH_UNFILLED] = "a byte of an unfilled slice",
    [CHECK_BATCH_SOURCE] = "a byte of a frame" };
  pp_backend backend = fake_backend;
  backend.launch_pictures = launch_broken_pictures;
  backend.pad = pad_broken;
  pp_device *device = open_fake (&backend);
  char result[64];

  for (int f = 0; f < N_BATCH_FAULTS; f++) {
    batch_fault = (enum batch_fault) f;
    const int n = count_batches (seed, device, CHECK_BATCH_NOTHING);
    snprintf (
        result, sizeof result, "caught in %d of %d batches", n, SPOILT_CASES);
    print_result (
        totals, (n > 0) == (f != NO_FAULT), "batch", faults[f], result);
  }
  batch_fault = NO_FAULT;
  for (int s = 0; s < CHECK_BATCH_N_SPOILS; s++) {
    const int n = count_batches (seed, device, (check_batch_spoilt) s);
    char what[64];
    snprintf (what, sizeof what, "%s spoilt", spoils[s]);
    snprintf (
        result, sizeof result, "caught in %d of %d batches", n, SPOILT_CASES);
    print_result (totals, n == (s == CHECK_BATCH_NOTHING ? 0 : SPOILT_CASES),
        "batch", what, result);
  }
  pp_device_close (&device);
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
  test_batches (&totals, seed);
  printf ("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed;
}
