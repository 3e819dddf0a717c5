/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "figures.h"

#include "tests/common/elementutil.h"

#ifdef HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

#define MIB ((gsize) 1 << 20)
/* A thread's stack comes and goes; a GPU's memory is given in pieces of 2 MiB. */
#define MAPPED_ROOM (16 * MIB)
#define DEVICE_ROOM (4 * MIB)

/* In use on the current GPU; 0 where there is none. */
static gsize
device_memory (void)
{
  size_t available = 0, total = 0;

#ifdef HAVE_CUDA
  if (cudaMemGetInfo (&available, &total) != cudaSuccess)
    return 0;
#endif
  return total - available;
}

Figures
figures_take (gint backend, const gchar *unit, guint n, gint64 begin)
{
  const Figures now = { test_n_threads (), test_n_files (),
    test_resident_memory (), test_virtual_memory (),
    g_str_equal (test_backend (backend), "cuda") ? device_memory () : 0 };

  g_print ("%8u %s: %6.1f MiB, %.1f mapped, %.1f on the GPU, %u threads, %u "
           "files, %.1f s\n",
      n, unit, (gdouble) now.memory / MIB, (gdouble) now.mapped / MIB,
      (gdouble) now.device / MIB, now.threads, now.files,
      (gdouble) (g_get_monotonic_time () - begin) / G_USEC_PER_SEC);
  return now;
}

void
figures_expect_flat (const Figures *warm, const Figures *now)
{
  test_expect_flat (warm->memory);
  fail_unless (now->threads <= warm->threads, "%u threads, %u when warm",
      now->threads, warm->threads);
  /* A sanitizer maps what it likes. */
  fail_unless (
      test_is_sanitized () || now->mapped <= warm->mapped + MAPPED_ROOM,
      "%" G_GSIZE_FORMAT " bytes mapped, %" G_GSIZE_FORMAT " when warm",
      now->mapped, warm->mapped);
  fail_unless (now->device <= warm->device + DEVICE_ROOM,
      "%" G_GSIZE_FORMAT " bytes on the GPU, %" G_GSIZE_FORMAT " when warm",
      now->device, warm->device);
  fail_unless (now->files <= warm->files, "%u files, %u when warm", now->files,
      warm->files);
}
