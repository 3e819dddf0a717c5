/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the engine is asked for with an element's properties. For programs that
 * the element is linked into.
 */
#ifndef ELEMENTSPEC_H
#define ELEMENTSPEC_H

#include <glib.h>

#include "kernels/preproc.h"

/* text: properties as on a launch line, width and height among them; the
 * element's own functions read them. FALSE and *reason, which names the setting
 * that the element does not have or refuses; free it. */
gboolean test_spec_from_properties (
    const gchar *text, pp_spec *spec, gchar **reason);

#endif
