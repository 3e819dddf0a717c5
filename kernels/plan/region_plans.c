/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Plans for regions of a format's frames. All that does not depend on the
 * region is taken from a plan for the whole frame, tap tables and plans from a
 * cache.
 */
#include <stdlib.h>

#include "kernels/engine/backend.h"
#include "parts.h"
#include "plan_pool.h"

/* Most plans at once, which take 150 MB. */
#define MAX_PLANS (1 << 16)

struct pp_region_plans {
  pp_spec spec;
  pp_format format;
  /* NULL for formats that have two tables in a plane, which are none of
   * GStreamer's: their plans are made one by one. */
  pp_plan_pool *pool;
};

pp_region_plans *
pp_region_plans_new (
    const pp_spec *spec, const pp_format *format, int n_plans, pp_error *error)
{
  if (n_plans < 1 || n_plans > MAX_PLANS) {
    pp_fail (error, PP_BAD_ARGUMENT, "n_plans is %d, must be 1 to %d", n_plans,
        MAX_PLANS);
    return NULL;
  }

  pp_plan *frame = pp_plan_new (spec, format, NULL, error);

  if (frame == NULL)
    return NULL;

  const int side =
      format->width > format->height ? format->width : format->height;
  const bool cached = pp_rows_one_table_a_plane (&frame->numbers);
  pp_region_plans *plans = calloc (1, sizeof *plans);

  if (plans != NULL) {
    plans->spec = *spec;
    plans->format = *format;
    if (cached)
      plans->pool = pp_plan_pool_new (frame, spec, side, n_plans);
  }
  pp_plan_unref (&frame);
  if (plans == NULL || (cached && plans->pool == NULL)) {
    pp_region_plans_free (&plans);
    pp_fail (error, PP_NO_MEMORY,
        "allocating the plans of %d regions of %dx%d frames failed", n_plans,
        format->width, format->height);
  }
  return plans;
}

void
pp_region_plans_free (pp_region_plans **address)
{
  pp_region_plans *plans = *address;

  *address = NULL;
  if (plans == NULL)
    return;
  pp_plan_pool_unref (&plans->pool);
  free (plans);
}

pp_plan *
pp_region_plans_get (
    pp_region_plans *plans, const pp_rect *region, pp_error *error)
{
  if (pp_source_check (region, &plans->format, error) != PP_OK)
    return NULL;

  pp_plan *plan = plans->pool != NULL ? pp_plan_pool_get (plans->pool) : NULL;

  if (plan != NULL) {
    const pp_status status =
        pp_plan_fill_region (plan, &plans->spec, &plans->format, region, error);

    if (status == PP_OK)
      return plan;
    pp_plan_unref (&plan);
    if (status != PP_NO_MEMORY)
      return NULL;
  }
  return pp_plan_new (&plans->spec, &plans->format, region, error);
}
