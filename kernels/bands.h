/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The two bands that a frame can be made in. Pure; host only.
 */
#ifndef PP_BANDS_H
#define PP_BANDS_H

#include "plan.h"

/* Sets the bands and whether they are used; the plan's rows are set. */
void pp_bands_init (pp_plan *plan);

#endif
