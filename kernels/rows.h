/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which rows of each plane a device with memory of its own gets.
 */
#ifndef PP_ROWS_H
#define PP_ROWS_H

#include "plan.h"

/* Decides rows and makes device_index of a plan that is complete but for them.
 * False when memory is exhausted. */
bool pp_rows_init (pp_plan *plan);

#endif
