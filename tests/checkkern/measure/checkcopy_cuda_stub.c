/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Where CUDA is not built in, no device opens whose copies could be timed.
 */
#include "checkcopy.h"

#include <stdlib.h>

double
check_time_device_copy (size_t size, int n_turns, int n_copies, int rounds)
{
  (void) size;
  (void) n_turns;
  (void) n_copies;
  (void) rounds;
  abort ();
}
