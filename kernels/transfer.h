/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a job moves over the bus, queued on its lane, and the device buffers
 * that this takes. Not for unified backends.
 */
#ifndef PP_TRANSFER_H
#define PP_TRANSFER_H

#include "engine.h"

/* Whether the lane's buffers hold a job of plan. */
bool pp_lane_has_room (const struct pp_lane *lane, const pp_plan *plan);

/* Each fills its part of launch with the addresses on the device. Tables first:
 * the upload uses them. */
pp_status pp_upload_tables (pp_device *device, struct pp_lane *lane,
    const pp_plan *plan, pp_launch *launch, pp_error *error);
/* A band of the job's source, whose staged planes are in its slot. */
pp_status pp_upload_source (pp_device *device, pp_job *job,
    struct pp_lane *lane, const pp_band *band, pp_launch *launch,
    pp_error *error);
/* A band of the content, by the stream; the padding is in the block already. */
pp_status pp_download (pp_device *device, pp_job *job,
    const struct pp_lane *lane, pp_stream *stream, const pp_band *band,
    pp_error *error);

#endif
