/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where CUDA is not built in, no device opens whose memory could be read.
 */
#include "checkplain.h"

#include <stdlib.h>

double
check_time_plain (const check_plain *pictures, int n, int batch, int n_streams,
    int launches, int rounds)
{
  (void) pictures;
  (void) n;
  (void) batch;
  (void) n_streams;
  (void) launches;
  (void) rounds;
  abort ();
}
