/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a kernel that was compiled for the host, block after block. A block's
 * threads are called one after the other on a stack. One that waits for others,
 * for a barrier or a shuffle, keeps its stack, and the next thread gets another.
 */
#include "language.h"

#include <pthread.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#define STACK_SIZE (64 * 1024)
#define MAX_WARPS 32
#define MAX_PARAMETERS 4096
/* What a block may have without asking for more. */
#define SHARED_FLOATS (48 * 1024 / 4)

thread_local uint3 threadIdx, blockIdx;
thread_local dim3 blockDim, gridDim;
__thread float shared[SHARED_FLOATS];

/* What runs on a stack while others wait on theirs. switch_stacks goes on where to
 * waits, and returns when somebody switches to from. */
#ifdef __x86_64__
/* swapcontext asks the kernel for the thread's signals each time, which would take
 * nine tenths of all time. */
struct stack_position {
  void *top; /* the callee's registers, and where it goes on */
};

extern "C" void hostcuda_switch (void **from_top, void *to_top);
asm(".text\n"
    ".globl hostcuda_switch\n"
    ".hidden hostcuda_switch\n"
    ".type hostcuda_switch, @function\n"
    "hostcuda_switch:\n"
    "  pushq %rbp\n"
    "  pushq %rbx\n"
    "  pushq %r12\n"
    "  pushq %r13\n"
    "  pushq %r14\n"
    "  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n"
    "  popq %r14\n"
    "  popq %r13\n"
    "  popq %r12\n"
    "  popq %rbx\n"
    "  popq %rbp\n"
    "  ret\n"
    ".size hostcuda_switch, . - hostcuda_switch\n");

static void
switch_stacks (stack_position &from, stack_position &to)
{
  hostcuda_switch (&from.top, to.top);
}

/* The first switch to position calls function, which never returns. */
static void
start_stack (stack_position &position, char *stack, void (*function) ())
{
  void **top = (void **) ((uintptr_t) (stack + STACK_SIZE) & ~(uintptr_t) 15);

  *--top = nullptr; /* where it would return to */
  *--top = (void *) function;
  for (int registers = 0; registers < 6; registers++)
    *--top = nullptr;
  position.top = top;
}
#else
struct stack_position {
  ucontext_t context;
};

static void
switch_stacks (stack_position &from, stack_position &to)
{
  swapcontext (&from.context, &to.context);
}

static void
start_stack (stack_position &position, char *stack, void (*function) ())
{
  getcontext (&position.context);
  position.context.uc_stack.ss_sp = stack;
  position.context.uc_stack.ss_size = STACK_SIZE;
  position.context.uc_link = nullptr;
  makecontext (&position.context, function, 0);
}
#endif

namespace
{

/* The kernel's argument, passed by value. Whatever it is, its bytes lie where
 * those of this one do. */
struct parameters {
  alignas (16) char bytes[MAX_PARAMETERS];
};

typedef void (*kernel_function) (parameters);

struct fiber {
  stack_position position;
  std::unique_ptr<char[]> stack{ new char[STACK_SIZE] };
  uint3 thread; /* the one that waits on it */
};

/* Threads that wait for each other: a block's or a warp's. */
struct barrier {
  int alive = 0;
  std::vector<fiber *> waiting;
};

struct warp {
  barrier lanes;
  unsigned value[2][32]; /* of shuffles, in turns */
};

struct block {
  kernel_function kernel;
  const parameters *argument;
  unsigned next = 0, n_threads = 0; /* not yet called; all */
  barrier all;
  warp warps[MAX_WARPS];
  std::deque<fiber *> ready;       /* to go on */
  std::vector<unsigned char> turn; /* of each thread's next shuffle */
};

thread_local block *current;
thread_local fiber *running;
thread_local stack_position scheduler;
/* Fibers that run nothing: they wait for the next thread to call. */
thread_local std::vector<std::unique_ptr<fiber>> fibers;
thread_local std::vector<fiber *> idle;

unsigned
number_of (const uint3 &thread)
{
  return (thread.z * blockDim.y + thread.y) * blockDim.x + thread.x;
}

void
release (barrier &b)
{
  for (fiber *f : b.waiting)
    current->ready.push_back (f);
  b.waiting.clear ();
}

void
end_thread (unsigned number)
{
  barrier &lanes = current->warps[number / warpSize].lanes;

  for (barrier *b : { &lanes, &current->all }) {
    b->alive--;
    if ((int) b->waiting.size () == b->alive)
      release (*b);
  }
}

void
wait_at (barrier &b)
{
  fiber *self = running;

  self->thread = threadIdx;
  b.waiting.push_back (self);
  if ((int) b.waiting.size () == b.alive)
    release (b);
  switch_stacks (self->position, scheduler);
  threadIdx = self->thread;
}

/* A fiber calls threads until none is left, and then sleeps until a block needs
 * it again. */
void
call_threads ()
{
  for (;;) {
    while (current->next < current->n_threads) {
      const unsigned number = current->next++;
      threadIdx = { number % blockDim.x, number / blockDim.x % blockDim.y,
        number / blockDim.x / blockDim.y };
      current->kernel (*current->argument);
      end_thread (number);
    }
    idle.push_back (running);
    switch_stacks (running->position, scheduler);
  }
}

fiber *
take_idle_fiber ()
{
  if (idle.empty ()) {
    fibers.emplace_back (new fiber);
    fiber *f = fibers.back ().get ();
    start_stack (f->position, f->stack.get (), call_threads);
    return f;
  }
  fiber *f = idle.back ();
  idle.pop_back ();
  return f;
}

/* False if threads wait for others that never come. */
bool
run_block (kernel_function kernel, const parameters *argument)
{
  block b;

  b.kernel = kernel;
  b.argument = argument;
  b.n_threads = blockDim.x * blockDim.y * blockDim.z;
  b.turn.assign (b.n_threads, 0);
  b.all.alive = (int) b.n_threads;
  for (unsigned i = 0; i < b.n_threads; i++)
    b.warps[i / warpSize].lanes.alive++;
  current = &b;
  while (b.next < b.n_threads || !b.ready.empty ()) {
    if (b.next < b.n_threads) {
      running = take_idle_fiber ();
    } else {
      running = b.ready.front ();
      b.ready.pop_front ();
    }
    switch_stacks (scheduler, running->position);
  }
  current = nullptr;
  return b.all.alive == 0;
}

/* The argument's size is not known here. It lies on the caller's stack, so up to
 * the stack's end there is something to read. */
__attribute__ ((no_sanitize ("address"))) void
copy_argument (parameters &to, const void *from)
{
  pthread_attr_t attributes;
  void *start;
  size_t size;

  pthread_getattr_np (pthread_self (), &attributes);
  pthread_attr_getstack (&attributes, &start, &size);
  pthread_attr_destroy (&attributes);
  const volatile char *bytes = (const volatile char *) from;
  const size_t there = (const char *) start + size - (const char *) from;
  for (size_t i = 0; i < sizeof to.bytes && i < there; i++)
    to.bytes[i] = bytes[i];
}

} // namespace

void
__syncthreads ()
{
  wait_at (current->all);
}

unsigned
hostcuda_shuffle (unsigned value, int lane)
{
  const unsigned number = number_of (threadIdx);
  warp &w = current->warps[number / warpSize];
  /* A value is read before any lane can give the one after the next. */
  const int turn = current->turn[number]++ & 1;

  w.value[turn][number % warpSize] = value;
  wait_at (w.lanes);
  return w.value[turn][lane];
}

extern "C" cudaError_t
cudaLaunchKernel (const void *function, dim3 grid, dim3 threads,
    void **arguments, size_t shared_size, cudaStream_t)
{
  parameters argument;

  if (threads.x * threads.y * threads.z == 0 ||
      threads.x * threads.y * threads.z > MAX_WARPS * warpSize ||
      grid.x * grid.y * grid.z == 0 || shared_size > sizeof shared)
    return cudaErrorInvalidConfiguration;
  copy_argument (argument, arguments[0]);
  gridDim = grid;
  blockDim = threads;
  for (blockIdx.z = 0; blockIdx.z < grid.z; blockIdx.z++)
    for (blockIdx.y = 0; blockIdx.y < grid.y; blockIdx.y++)
      for (blockIdx.x = 0; blockIdx.x < grid.x; blockIdx.x++) {
        /* What a block leaves there, the next one must not read. */
        std::memset (shared, 0xff, shared_size); /* not a number */
        if (!run_block ((kernel_function) function, &argument))
          return cudaErrorLaunchFailure;
      }
  return cudaSuccess;
}
