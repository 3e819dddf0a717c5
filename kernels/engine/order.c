/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order in which a device's jobs are queued on their streams: that of
 * submission, although pageable ones get ready out of order.
 *
 * One thread at a time queues. Whoever makes the oldest unqueued job ready queues
 * it and all ready ones behind it; threads that come meanwhile leave their jobs
 * to that one and go on. So a pinned frame with nothing ahead of it is queued by
 * pp_submit's caller itself, one behind a staged frame by the thread that copied
 * that one.
 *
 * No deadlock: pp_submit's caller waits for older jobs of the device and for the
 * job that its own must come after, staging threads for that one, the thread
 * that queues for the lock of a stream, which is held for one job's calls. A job
 * is named after pp_submit returned it, and one device's jobs are queued in
 * order, so nothing ever waits for a later one.
 */
#include "engine.h"

void
pp_order_queue_ready (pp_device *device)
{
  if (device->queueing)
    return;
  for (;;) {
    pp_job *job = device->next_to_queue;

    if (job == NULL || job->state != PP_JOB_READY)
      return;
    device->queueing = true;
    pthread_mutex_unlock (&device->lock);
    if (job->error.status == PP_OK)
      job->queued = pp_queue_job (device, job, &job->error) == PP_OK;
    pthread_mutex_lock (&device->lock);
    device->queueing = false;
    /* From here on it may end, but not before the lock is given up. */
    job->state = PP_JOB_QUEUED;
    device->next_to_queue = job->next;
    pthread_cond_broadcast (&device->changed);
  }
}
