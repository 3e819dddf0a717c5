/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Two settings that differ in several properties, for tests that change from one
 * to the other while frames are converted.
 */
#ifndef TWOSETTINGS_H
#define TWOSETTINGS_H

#include "tests/common/elementframes.h"
#include "tests/common/elementutil.h"

/* With a picture of 128 in padding of 128, all of the tensor is outcome; any
 * mixture of the two gives another number. */
static const struct {
  gdouble scale;
  const gchar *mean, *std;
  gfloat outcome;
} settings[] = { { 1, "0", "1", 128 }, { 2, "100,100,100", "2", 78 } };

/* A thread that changes them. */
typedef struct {
  GstHarness *h;
  gint done; /* atomic */
} Setter;

static inline void
use_settings (GstHarness *h, guint i)
{
  gst_harness_set (h, "cudapreproc", "scale", settings[i].scale, "mean",
      settings[i].mean, "std", settings[i].std, "pad-value", "128", NULL);
}

/* Which of them made the tensor, which must be one of them. */
static inline guint
expect_settings (GstBuffer *tensor)
{
  gfloat first;

  fail_unless (
      gst_buffer_extract (tensor, 0, &first, sizeof first) == sizeof first);
  const guint i = first == settings[0].outcome ? 0 : 1;
  test_expect_float (tensor, settings[i].outcome);
  return i;
}

#endif
