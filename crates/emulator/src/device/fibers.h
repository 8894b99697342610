// Threads of one block as fibers on one OS thread: stacks, the context switch, the choice of who runs next.
// Gives `current`, `block`, `wait`, `wake`, `yield` and `stop`. A thread runs until it waits: there is no
// preemption, so what two thread orders both get right may still race on a device. Does not know why threads wait.
#pragma once
#include "language.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace cuemu {
const unsigned WARP = 32, MAX_CLUSTER = 8, MAX_THREADS = MAX_CLUSTER * 1024, MAX_WARPS = MAX_THREADS / WARP;
const size_t STACK = 128 * 1024, PAGE = 4096;
const uint64_t MAX_YIELDS = 20 * 1000 * 1000;

enum Order : uint32_t { FORWARD, REVERSE, RANDOM };
struct Counters { uint64_t switches, barriers, warp_operations, yields, static_shared_bytes; };

struct Warp;
struct Thread {
  void* stack_pointer;
  uint3 index, block;
  unsigned lane;
  Warp* warp;
  bool exited;
  const char* waits_for;         // nullptr while it can run
  int line;                      // of its latest barrier or warp operation
  uint64_t given, received;      // what it brings to a warp operation and takes from it
  unsigned source;               // the lane a shuffle reads
};
struct Exchange { unsigned mask, arrived; int kind, line; };   // one warp operation in flight
struct Warp { Thread* threads; unsigned count, ready; Exchange exchanges[WARP]; };
struct Block { uint3 index; unsigned count, alive, arrived, warp_count, ready_warps[MAX_WARPS / 32], ready_words; int line, votes; };

static Block block;
static Thread* current;
static Thread threads[MAX_THREADS];
static Warp warps[MAX_WARPS];
static dim3 grid_size, block_size;
static unsigned cluster;         // how many blocks run as one
static Order order;
static uint64_t random_state;
static Counters counters;
static char message[2048];       // empty while all is well
static void* launcher_stack_pointer;
static unsigned char* stacks;
static unsigned mapped, guarded; // how many stacks there are, and how many have their page that faults
static void (*thread_body)();

extern "C" void cuemu_switch(void** save_stack_pointer, void* stack_pointer);
__asm__(
    ".text\n.hidden cuemu_switch\n.globl cuemu_switch\n.type cuemu_switch,@function\ncuemu_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
    ".size cuemu_switch,.-cuemu_switch\n");

// Back to the launcher for good: after an error, or when the last thread of the block has left.
static void leave_block() {
  void* abandoned;
  cuemu_switch(&abandoned, launcher_stack_pointer);
  abort();
}

// Ends the launch with an error.
__attribute__((format(printf, 1, 2))) static void stop(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vsnprintf(message, sizeof message, format, values);
  va_end(values);
  leave_block();
}

static bool same_state(const Thread& a, const Thread& b) {
  return a.exited == b.exited && a.waits_for == b.waits_for && a.line == b.line;
}

// "threads 0..15 wait at __syncthreads in line 12; threads 16..31 have exited"
static void describe_threads(char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (unsigned first = 0, last; first < block.count && used < size; first = last + 1) {
    const Thread& thread = threads[first];
    for (last = first; last + 1 < block.count && same_state(thread, threads[last + 1]);) last++;
    const char* separator = first ? "; " : "";
    if (thread.exited)
      used += snprintf(text + used, size - used, "%sthreads %u..%u have exited", separator, first, last);
    else
      used += snprintf(text + used, size - used, "%sthreads %u..%u wait at %s in line %d", separator, first, last,
                       thread.waits_for, thread.line);
  }
}

static void stop_deadlocked() {
  char states[1500];
  describe_threads(states, sizeof states);
  stop("deadlock in block (%u,%u,%u): %s", block.index.x, block.index.y, block.index.z, states);
}

static unsigned random_below(unsigned bound) {
  random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(((random_state >> 32) * bound) >> 32);
}

static unsigned choose(unsigned candidates, Order by) {
  if (by == FORWARD) return __builtin_ctz(candidates);
  if (by == REVERSE) return 31 - __builtin_clz(candidates);
  unsigned shift = random_below(32);
  unsigned rotated = candidates >> shift | candidates << (-shift & 31);
  return (__builtin_ctz(rotated) + shift) & 31;
}

// Of those that can run; only a cluster has more than 32.
static unsigned choose_warp(Order by) {
  unsigned word = block.ready_words == 1 ? 0 : choose(block.ready_words, by);
  return word * 32 + choose(block.ready_warps[word], by);
}

static void wake(Thread* thread) {
  thread->waits_for = nullptr;
  thread->warp->ready |= 1u << thread->lane;
  unsigned number = thread->warp - warps;
  block.ready_warps[number / 32] |= 1u << number % 32;
  block.ready_words |= 1u << number / 32;
}

// One warp runs as far as it can before the next begins: that is the schedule which shows a missing barrier.
// The random order mostly does the same, from warp to warp at random.
static Thread* take_ready_thread(Order by) {
  if (!block.ready_words) return nullptr;
  unsigned mine = current->warp - warps;
  bool stay = by == RANDOM && (block.ready_warps[mine / 32] >> mine % 32 & 1) && random_below(8);
  unsigned chosen = stay ? mine : choose_warp(by);
  Warp& warp = warps[chosen];
  unsigned lane = choose(warp.ready, by);
  warp.ready &= ~(1u << lane);
  if (!warp.ready) block.ready_warps[chosen / 32] &= ~(1u << chosen % 32);
  if (!block.ready_warps[chosen / 32]) block.ready_words &= ~(1u << chosen / 32);
  return &warp.threads[lane];
}

static void run_another_thread(Order by = order) {
  Thread *self = current, *next = take_ready_thread(by);
  if (!next) stop_deadlocked();
  if (next == self) return;
  counters.switches++;
  current = next;
  cuemu_switch(&self->stack_pointer, next->stack_pointer);
}

// Returns when another thread has called `wake` for this one.
static void wait(const char* reason, int line) {
  current->waits_for = reason;
  current->line = line;
  run_another_thread();
}

// __nanosleep: lets others run, drawn at random in every order, since a fixed choice would starve the one that is
// spun on. Blocks run one after another, so a spin on another block never ends.
static void yield(int line) {
  if (++counters.yields > MAX_YIELDS) stop("line %d: the threads spin for ever", line);
  current->line = line;
  wake(current);
  run_another_thread(RANDOM);
}

static void thread_main() {
  thread_body();
  current->exited = true;
  block.alive--;
  if (!block.alive) leave_block();
  run_another_thread();
}

__attribute__((destructor)) static void unmap_stacks() {
  if (stacks) munmap(stacks, mapped * STACK);
  stacks = nullptr;
  mapped = guarded = 0;
}

// Stacks for so many threads, each above a page that faults; kept until the module is unloaded. The system allows a process
// about 65000 ranges of memory, and each guarded page makes two.
static bool map_stacks(unsigned count) {
  if (count > mapped) {
    unmap_stacks();
    unsigned most = count > 1024 ? MAX_THREADS : 1024;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* map = mmap(nullptr, most * STACK, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (map == MAP_FAILED) return false;
    stacks = (unsigned char*)map;
    mapped = most;
  }
  for (; guarded < count; guarded++)
    if (mprotect(stacks + guarded * STACK, PAGE, PROT_NONE)) return false;
  return true;
}

static void prepare_thread(unsigned number) {
  Thread& thread = threads[number];
  thread = {};
  unsigned rank = number / (block.count / cluster), own = number % (block.count / cluster);
  thread.index = {own % block_size.x, own / block_size.x % block_size.y, own / block_size.x / block_size.y};
  thread.block = {block.index.x + rank, block.index.y, block.index.z};
  thread.lane = number % WARP;
  thread.warp = &warps[number / WARP];
  // Stacks whose tops share their low address bits would all fall into one set of the first-level cache.
  uintptr_t top = (uintptr_t)(stacks + (number + 1) * STACK) - 64 - number % 32 * 128;
  void** slot = (void**)top;
  *--slot = nullptr;
  *--slot = (void*)thread_main;
  for (int i = 0; i < 6; i++) *--slot = nullptr;
  thread.stack_pointer = slot;
}

// A block; or all blocks of a cluster as one, which share their memory and barriers.
static void run_block(uint3 index) {
  unsigned count = block_size.x * block_size.y * block_size.z * cluster;
  block = {};
  block.index = index;
  block.count = block.alive = count;
  block.warp_count = (count + WARP - 1) / WARP;
  for (unsigned i = 0; i < block.warp_count; i++) {
    warps[i] = {};
    warps[i].threads = &threads[i * WARP];
    warps[i].count = count - i * WARP < WARP ? count - i * WARP : WARP;
  }
  for (unsigned i = 0; i < count; i++) {
    prepare_thread(i);
    wake(&threads[i]);
  }
  current = &threads[0];
  current = take_ready_thread(order);
  cuemu_switch(&launcher_stack_pointer, current->stack_pointer);
}
}  // namespace cuemu

#define threadIdx (::cuemu::current->index)
#define blockIdx (::cuemu::current->block)
#define blockDim (::cuemu::block_size)
#define gridDim (::cuemu::grid_size)
#define warpSize 32
#define __nanosleep(nanoseconds) ((void)(nanoseconds), ::cuemu::yield(__LINE__))
#define __trap() ::cuemu::stop("line %d: __trap", __LINE__)
