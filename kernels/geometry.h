/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where the picture goes: how it is fitted into the tensor.
 */
#ifndef PP_GEOMETRY_H
#define PP_GEOMETRY_H

#include "preproc.h"

/* Arguments have been checked (spec.c), but not together: PP_BAD_ARGUMENT
 * where the picture would be resized beyond what tap tables can count. */
pp_status pp_geometry_init (pp_geometry *geometry, const pp_spec *spec,
    const pp_format *format, const pp_rect *source, pp_error *error);

#endif
