/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A format's samples -> R'G'B' in 0...255.
 */
#ifndef PP_COLOUR_H
#define PP_COLOUR_H

#include "plan.h"

/* Fills matrix, to_gray and gray. PP_BAD_ARGUMENT where a factor is not finite
 * in float. */
pp_status pp_colour_init (pp_numbers *numbers, const pp_format *format,
    pp_channels channels, pp_error *error);

#endif
