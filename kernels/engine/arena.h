/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pinned memory, memory on the device, and the contexts that they belong to:
 * what outlives a device.
 */
#ifndef PP_ARENA_H
#define PP_ARENA_H

#include "backend.h"

/* Opens a context of the backend; index and handle: as in pp_backend.open.
 * on_device: of memory on the device, else of pinned memory. NULL with the
 * backend's error. */
pp_arena *pp_arena_new (const pp_backend *backend, int index, void *handle,
    bool on_device, pp_error *error);
/* Of memory on the device, in the context of pinned. NULL without memory. */
pp_arena *pp_arena_new_beside (pp_arena *pinned, pp_error *error);
/* done, which may be NULL, is called with user when the arena has let go of its
 * context. Before anything else uses the arena. */
void pp_arena_set_done (pp_arena *arena, void (*done) (void *user), void *user);

/* Lives as long as the arena. */
pp_context *pp_arena_context (pp_arena *arena);
/* What is free is given back at once from now on, and not kept for later. */
void pp_arena_keep_nothing (pp_arena *arena);

#endif
