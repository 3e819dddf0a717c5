/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A .cu file for the host: KERNEL is its name.
 */
#include "language.h"

/* Not for the C++ library, which spells the attribute so. */
#define __noinline__ __attribute__ ((noinline))

#include KERNEL
