/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The order in which a device's jobs are queued on their streams: that of
 * submission, although pageable ones get ready out of order.
 *
 * One thread at a time queues. The thread that makes the oldest unqueued job
 * ready queues it and all ready jobs after it. Other threads leave their jobs
 * to that thread and go on. So pp_submit's caller itself queues a pinned frame
 * that has nothing ahead of it. A pinned frame behind a staged one is queued by
 * the thread that copied the staged one.
 *
 * There is no deadlock. pp_submit's caller waits for older jobs of the device
 * and for the job in task.after. Staging threads wait for the job in
 * task.after. The thread that queues waits only for a stream's lock, which is
 * held for one job's calls. task.after can only be a job that pp_submit has
 * returned, and one device's jobs are queued in order, so nothing ever waits
 * for a later job.
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
    /* The completion thread may end it as soon as the lock is released. */
    job->state = PP_JOB_QUEUED;
    device->next_to_queue = job->next;
    pthread_cond_broadcast (&device->changed);
  }
}
