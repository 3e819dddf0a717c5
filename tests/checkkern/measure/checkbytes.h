/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a kernel moves at least: each byte of a row that taps with a weight read,
 * and each byte of the content, once.
 */
#ifndef CHECKBYTES_H
#define CHECKBYTES_H

#include "kernels/plan/plan.h"

/* Rows of a plane's extent that are read. */
int check_rows_read (const pp_plan *plan, int plane);
/* Bytes of the content. */
size_t check_bytes_written (const pp_plan *plan);
/* Bytes that are read and written. */
double check_bytes_moved (const pp_plan *plan);

#endif
