/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A recursive mutex that works in a forked child. A child has only the thread
 * that forked: a plain mutex that another thread of the parent held at that
 * moment stays locked for ever.
 */
#ifndef GST_PP_FORK_LOCK_H
#define GST_PP_FORK_LOCK_H

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  gpointer mutex; /* the newest process' */
} GstPpForkLock;

void gst_pp_fork_lock_init (GstPpForkLock *lock);
/* Nobody may hold it, in this process. */
void gst_pp_fork_lock_clear (GstPpForkLock *lock);

/* Waits. Returns what to unlock with g_rec_mutex_unlock. What the lock guards
 * may be half changed in a child. Any thread. */
GRecMutex *gst_pp_fork_lock_take (GstPpForkLock *lock);
/* The same without waiting; NULL if another thread holds it. */
GRecMutex *gst_pp_fork_lock_try (GstPpForkLock *lock);

G_END_DECLS

#endif
