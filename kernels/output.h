/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tensor's elements: normalisation, type, layout, padding.
 */
#ifndef PP_OUTPUT_H
#define PP_OUTPUT_H

#include "plan.h"

/* Fills what numbers holds from mul on, but for the content. PP_BAD_ARGUMENT
 * where a constant is not finite in float or the zero point is not of the type.
 * The spec has been checked (spec.c). */
pp_status pp_output_init (
    pp_numbers *numbers, const pp_spec *spec, pp_error *error);

#endif
