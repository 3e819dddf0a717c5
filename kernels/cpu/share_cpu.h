/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Several pictures on several workers: the worker of the job's stream asks those
 * of the other streams to help, and each takes a picture at a time until none is
 * left.
 */
#ifndef PP_SHARE_CPU_H
#define PP_SHARE_CPU_H

#include "kernels/engine/backend.h"

/* As launch_pictures of backend.h. */
pp_status pp_share_pictures (pp_stream *stream, const pp_team *team,
    const pp_launch *launches, int n, bool padding, pp_error *error);

/* Makes rows of one picture on the stream's worker. By an operation of it. */
pp_status pp_run_launch (
    pp_stream *stream, const pp_launch *launch, pp_error *error);

#endif
