/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * For thread sanitizer. GLib and GStreamer are not built with it, and their
 * locks and counts are made of instructions that it does not see: what they
 * order looks like a race. Linked into a program, these functions stand before
 * theirs, do what theirs do and tell what that orders. Locks, reference counts,
 * atomic queues and buffer pools are enough.
 */
#define GLIB_DISABLE_DEPRECATION_WARNINGS
#include <dlfcn.h>
#include <gst/gst.h>

void __tsan_acquire (void *address);
void __tsan_release (void *address);

static void *
find_real (void **address, const gchar *name)
{
  void *found = __atomic_load_n (address, __ATOMIC_ACQUIRE);

  if (found == NULL) {
    found = dlsym (RTLD_NEXT, name);
    __atomic_store_n (address, found, __ATOMIC_RELEASE);
  }
  return found;
}

/* The function of that name in the libraries, as a variable real. */
#define FIND_REAL(name)                                                        \
  static void *address;                                                        \
  __typeof__ (&name) real;                                                     \
  *(void **) &real = find_real (&address, #name)

#define DEFINE_LOCK(type, prefix)                                              \
  void (prefix##_lock) (type * lock)                                           \
  {                                                                            \
    FIND_REAL (prefix##_lock);                                                 \
    real (lock);                                                               \
    __tsan_acquire (lock);                                                     \
  }                                                                            \
  void (prefix##_unlock) (type * lock)                                         \
  {                                                                            \
    FIND_REAL (prefix##_unlock);                                               \
    __tsan_release (lock);                                                     \
    real (lock);                                                               \
  }                                                                            \
  gboolean (prefix##_trylock) (type * lock)                                    \
  {                                                                            \
    FIND_REAL (prefix##_trylock);                                              \
    const gboolean locked = real (lock);                                       \
    if (locked)                                                                \
      __tsan_acquire (lock);                                                   \
    return locked;                                                             \
  }

DEFINE_LOCK (GMutex, g_mutex)
DEFINE_LOCK (GRecMutex, g_rec_mutex)

void (g_cond_wait) (GCond *cond, GMutex *mutex)
{
  FIND_REAL (g_cond_wait);
  __tsan_release (mutex);
  real (cond, mutex);
  __tsan_acquire (mutex);
}

gboolean (g_cond_wait_until) (GCond *cond, GMutex *mutex, gint64 end)
{
  FIND_REAL (g_cond_wait_until);
  __tsan_release (mutex);
  const gboolean signalled = real (cond, mutex, end);
  __tsan_acquire (mutex);
  return signalled;
}

/* Who drops the last reference comes after all who dropped theirs. */
#define DEFINE_UNREF(type, function)                                           \
  void (function) (type object)                                                \
  {                                                                            \
    FIND_REAL (function);                                                      \
    __tsan_release (object);                                                   \
    __tsan_acquire (object);                                                   \
    real (object);                                                             \
  }

DEFINE_UNREF (gpointer, g_object_unref)
DEFINE_UNREF (gpointer, gst_object_unref)
DEFINE_UNREF (GstMiniObject *, gst_mini_object_unref)

void
gst_atomic_queue_push (GstAtomicQueue *queue, gpointer data)
{
  FIND_REAL (gst_atomic_queue_push);
  __tsan_release (queue);
  real (queue, data);
}

gpointer
gst_atomic_queue_pop (GstAtomicQueue *queue)
{
  FIND_REAL (gst_atomic_queue_pop);
  const gpointer data = real (queue);
  __tsan_acquire (queue);
  return data;
}

/* A pool's queue is inside GStreamer, whose calls of its own functions come to no
 * other: the methods around it are wrapped, in the class that all pools inherit. */
static GstBufferPoolClass pool_methods;

static void
release_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  __tsan_release (buffer);
  pool_methods.release_buffer (pool, buffer);
}

static GstFlowReturn
acquire_buffer (
    GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  const GstFlowReturn flow = pool_methods.acquire_buffer (pool, buffer, params);

  if (flow == GST_FLOW_OK)
    __tsan_acquire (*buffer);
  return flow;
}

static void
free_buffer (GstBufferPool *pool, GstBuffer *buffer)
{
  __tsan_acquire (buffer);
  pool_methods.free_buffer (pool, buffer);
}

/* Asked for before any class inherits. */
GType
gst_buffer_pool_get_type (void)
{
  static gsize wrapped;
  FIND_REAL (gst_buffer_pool_get_type);
  const GType type = real ();

  if (g_once_init_enter (&wrapped)) {
    GstBufferPoolClass *methods = g_type_class_ref (type);
    pool_methods = *methods;
    methods->release_buffer = release_buffer;
    methods->acquire_buffer = acquire_buffer;
    methods->free_buffer = free_buffer;
    g_once_init_leave (&wrapped, 1);
  }
  return type;
}
