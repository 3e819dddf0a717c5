/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Launches on a device that a test imitates.
 */
#ifndef UPLOADEDPLAN_H
#define UPLOADEDPLAN_H

#include <stddef.h>
#include <string.h>

#include "kernels/plan/operations.h"

/* What a kernel reads of the launch's plan, with the tables that were uploaded
 * instead of the plan's own. References and what follows them are no kernel's:
 * other threads may be counting them. */
static inline pp_plan
uploaded_plan (const pp_launch *launch)
{
  pp_plan plan = { 0 };

  memcpy (&plan, launch->plan, offsetof (pp_plan, references));
  plan.index = (int32_t *) launch->index;
  plan.weight = (float *) launch->weight;
  memcpy (plan.numbers.x, plan.block_x, sizeof plan.block_x);
  memcpy (plan.numbers.y, plan.block_y, sizeof plan.block_y);
  return plan;
}

#endif
