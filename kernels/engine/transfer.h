/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a job moves over the bus, queued on its track, and the device buffers
 * that this takes. Not for unified backends. All by whoever has the turn on the
 * track.
 */
#ifndef PP_TRANSFER_H
#define PP_TRANSFER_H

#include "engine.h"

/* Each fills its part of launch with the addresses on the device. Tables first:
 * the upload uses them. */
pp_status pp_upload_tables (pp_device *device, int stream, const pp_plan *plan,
    pp_launch *launch, pp_error *error);
/* A band of the job's source, whose staged planes are in its slot. */
pp_status pp_upload_source (pp_device *device, pp_job *job, const pp_band *band,
    pp_launch *launch, pp_error *error);
/* A band of the content, by stream, which need not be the track's own; the
 * padding is in the block already. */
pp_status pp_download (pp_device *device, pp_job *job, pp_stream *stream,
    const pp_band *band, pp_error *error);

#endif
