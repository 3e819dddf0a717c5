/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A source that costs nothing: it takes buffers from the pool that downstream
 * proposes and fills each only once. Properties: caps, and GstBaseSrc's
 * num-buffers.
 */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <gst/base/gstpushsrc.h>

/* Makes the element "benchsource" known to this process. */
void bench_source_register (void);

#endif
