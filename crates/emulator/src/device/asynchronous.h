// Copies to shared memory that go on while a thread does. In one order they land at once; in the others at the thread's wait for
// them, and their places are poisoned until then. Random orders draw which.
// Gives `fetch`, `await_fetches`, `end_copies` and `forget_copies`.
#pragma once
#include "fibers.h"
#include "memory.h"

namespace cuemu {
struct Copy { void* to; const void* from; unsigned bytes, group; };
// Of a thread: those that have not landed, and the number of the group that the next is in.
struct Copies { Copy* list; unsigned count, room, group; };
static Copies copies[MAX_THREADS];

static Copies& copies_of_thread() { return copies[current - threads]; }

static void fetch(void* to, const void* from, unsigned bytes) {
  bool at_once = order == FORWARD || (order == RANDOM && random_below(2));
  if (at_once) {
    memcpy(to, from, bytes);
    return;
  }
  memset(to, POISON, bytes);
  Copies& own = copies_of_thread();
  if (own.count == own.room) {
    own.room = own.room ? 2 * own.room : 16;
    own.list = (Copy*)realloc(own.list, own.room * sizeof(Copy));
    if (!own.list) abort();
  }
  own.list[own.count++] = {to, from, bytes, own.group};
}

static void await_fetches(unsigned pending) {
  Copies& own = copies_of_thread();
  own.group++;
  unsigned left = 0;
  for (unsigned i = 0; i < own.count; i++) {
    const Copy& copy = own.list[i];
    if (copy.group + pending < own.group) memcpy(copy.to, copy.from, copy.bytes);
    else own.list[left++] = copy;
  }
  own.count = left;
}

// When a thread ends.
static void end_copies() {
  Copies& own = copies_of_thread();
  if (own.count) stop("a thread ends before what it copies has landed");
  own.group = 0;
}

// Those of a launch that ended with an error.
static void forget_copies() {
  for (unsigned i = 0; i < mapped; i++) copies[i].count = copies[i].group = 0;
}

__attribute__((destructor)) static void free_copies() {
  for (Copies& of_thread : copies) free(of_thread.list);
  memset(copies, 0, sizeof copies);
}
}  // namespace cuemu
