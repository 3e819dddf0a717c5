/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the fake device's contexts have: blocks, streams, events, threads that
 * entered. A kernel that reads the host's memory, a copy the wrong way or of
 * pageable memory, one that ends in the next buffer, or a call with another context
 * current, which would give the right numbers here, abort. Any thread.
 */
#ifndef FAKEOBJECTS_H
#define FAKEOBJECTS_H

#include <stddef.h>
#include <stdint.h>

enum fake_kind {
  FAKE_CONTEXTS,
  FAKE_HOST_BLOCKS,
  FAKE_DEVICE_BLOCKS,
  FAKE_STREAMS,
  FAKE_EVENTS,
  FAKE_ENTERED,
  FAKE_KINDS
};

/* Of contexts, which need no more than that; fake_live tells. */
void fake_count_live (enum fake_kind kind, int change);
/* handle: of its context. size: bytes of a block, else 0. */
void fake_add_object (
    enum fake_kind kind, const void *handle, const void *memory, size_t size);
void fake_remove_object (enum fake_kind kind, const void *memory);

/* The context becomes the thread's current one, and no more. */
void fake_enter_context (const void *handle);
void fake_leave_context (const void *handle);
/* Abort unless the context is current, or the bytes are in one block: of pinned
 * memory, or on the device, of the stream's context. */
void fake_require_entered (const void *handle);
void fake_require_pinned (const void *address, size_t size);
void fake_require_on_device (
    const void *stream, const void *address, size_t size);
/* The handle of a stream's context. */
const void *fake_context_of (const void *stream);

#endif
