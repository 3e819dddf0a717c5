/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Recipes run without a device: memcpy stands for copies and gathers, the
 * reference or the CPU's kernel for launches. Functions that check print a line
 * about what is wrong and return whether all is right.
 */
#ifndef ROWIMAGE_H
#define ROWIMAGE_H

#include "kernels/plan/recipe.h"

/* The listed rows are ascending, inside the extents, and what their groups say.
 */
bool rows_are_listed (const pp_plan *plan);
/* Every tap reads a row of the image, and if it weighs something, the right
 * one. */
bool rows_are_indexed (const pp_plan *plan);

/* Row i of those that are listed, counted in the plane's extent. */
int listed_row (const pp_plan *plan, int plane, int i);

/* The facts of a frame with these planes staged; bit p: plane p. */
pp_facts facts_of (
    const pp_plan *plan, unsigned staged, const size_t stride[PP_MAX_PLANES]);

/* What is in place, and so moves nothing. */
enum place {
  IN_HOST_MEMORY = 0,
  SOURCE_IN_PLACE = 1,
  TENSOR_IN_PLACE = 2,
  BOTH_IN_PLACE = 3,
  UNIFIED = 7 /* both, and the tables */
};
void set_place (pp_facts *facts, enum place place);

/* Makes the tensor by the recipe that follows from the facts. source: a view from
 * pp_plan_crop_view. cpu: by the CPU's kernel, which two bands need. Every write
 * must stay in its buffer, which has no byte more than the engine reserves, and
 * the bytes that move must be those that the recipe says. */
bool run_recipe (const pp_plan *plan, const pp_facts *facts,
    const pp_view *source, bool cpu, void *tensor);

#endif
