/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What must hold of a spec, a format and a source rectangle. Checked once, at
 * the door of pp_plan_new; everything behind trusts it.
 */
#ifndef PP_SPEC_H
#define PP_SPEC_H

#include "preproc.h"

/* PP_OK, or PP_BAD_ARGUMENT with the first field that is wrong and its value.
 * Fields of the spec are named as the element's properties are. */
pp_status pp_spec_check (const pp_spec *spec, pp_error *error);
pp_status pp_format_check (const pp_format *format, pp_error *error);
/* The rectangle must have pixels and lie in the format's frame. */
pp_status pp_source_check (
    const pp_rect *source, const pp_format *format, pp_error *error);

#endif
