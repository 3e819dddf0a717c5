/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The library's backends.
 */
#ifndef PP_BACKENDS_H
#define PP_BACKENDS_H

#include "backend.h"

/* The backend with the id; always there, since one that is not built has a stub
 * that opens nothing. */
const pp_backend *pp_backend_find (pp_backend_id id);

#endif
