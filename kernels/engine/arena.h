/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pinned memory, and the context it belongs to: what outlives a device.
 */
#ifndef PP_ARENA_H
#define PP_ARENA_H

#include "backend.h"

/* Opens the backend's device index. NULL with the backend's error. */
pp_arena *pp_arena_new (const pp_backend *backend, int index, pp_error *error);

/* Lives as long as the arena. */
pp_context *pp_arena_context (pp_arena *arena);
/* What is free is given back at once from now on, and not kept for later. */
void pp_arena_keep_nothing (pp_arena *arena);

#endif
