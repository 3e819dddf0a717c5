/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A long run of decoders whose frames become tensors on the GPU.
 */
#ifndef DECODEDSOAK_H
#define DECODEDSOAK_H

#include <glib.h>

/* Sends so many frames in all through eight pipelines at once, of nvh264dec and the
 * element, which repeat a clip of 1080p, and fails if what the process or the GPU has
 * grows after a tenth of them. Prints figures ten times. Says SKIP where the decoder
 * or the clip is missing. */
void decoded_soak (gint backend, guint frames);

#endif
