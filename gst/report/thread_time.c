/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "thread_time.h"

#include <string.h>

void
gst_pp_pace_init (GstPpPace *pace)
{
  memset (pace, 0, sizeof *pace);
  pace->since = GST_CLOCK_TIME_NONE;
}

void
gst_pp_pace_count (GstPpPace *pace, GstPpPlace place)
{
  const GstClockTime now = gst_util_get_timestamp ();

  if (GST_CLOCK_TIME_IS_VALID (pace->since))
    pace->spent.place[place] +=
        (gdouble) (now - pace->since) / (gdouble) GST_USECOND;
  pace->since = now;
}

void
gst_pp_pace_skip (GstPpPace *pace)
{
  pace->since = GST_CLOCK_TIME_NONE;
}

void
gst_pp_pace_take (GstPpPace *pace, GstClockTime waited, GstPpSpent *spent)
{
  const GstClockTime before = waited >= pace->waited ? pace->waited : 0;

  *spent = pace->spent;
  spent->waited = (gdouble) (waited - before) / (gdouble) GST_USECOND;
  pace->waited = waited;
  memset (&pace->spent, 0, sizeof pace->spent);
}
