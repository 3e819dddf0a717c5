/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Batches beside single tensors, for programs with any device.
 */
#ifndef SLICECASES_H
#define SLICECASES_H

#include <glib.h>

/* Every format and many settings: each slice has the bits that its frame's tensor
 * has alone, in full batches and in ones that leave unfilled. backend: as
 * test_harness takes it. */
void slices_expect_single_tensors (gint backend);

#endif
