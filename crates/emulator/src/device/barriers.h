// Block barriers, warp barriers, shuffles and votes, each a rendezvous of fibers.
// An error ends the launch: threads at different barriers, a mask without the caller, lanes that disagree,
// a shuffle from a lane outside the mask. Stricter than a device, which lets exited threads miss a barrier.
#pragma once
#include "fibers.h"

namespace cuemu {
// Returns for how many threads of the block the predicate holds.
static int sync_block(int line, bool predicate) {
  counters.barriers++;
  if (block.arrived && block.line != line)
    stop("divergent barrier in block (%u,%u,%u): some threads are at line %d, others at line %d", block.index.x,
         block.index.y, block.index.z, block.line, line);
  if (!block.arrived) block.votes = 0;
  block.line = line;
  block.votes += predicate;
  if (++block.arrived < block.count) {
    wait("__syncthreads", line);
    return (int)current->received;
  }
  block.arrived = 0;
  for (unsigned i = 0; i < block.count; i++) {
    threads[i].received = block.votes;
    if (&threads[i] != current) wake(&threads[i]);
  }
  // The last to arrive has no right to go first: the order decides.
  wake(current);
  run_another_thread();
  return (int)current->received;
}

enum Kind { SHUFFLE, BALLOT, SYNC };
static const char* const KIND_NAMES[] = {"a shuffle", "a vote", "__syncwarp"};

// The operation under way with this mask, or a free place: diverged lanes may meet under several masks at once.
static Exchange& find_exchange(Warp& warp, unsigned mask) {
  for (Exchange& exchange : warp.exchanges)
    if (exchange.arrived && exchange.mask == mask) return exchange;
  for (Exchange& exchange : warp.exchanges)
    if (!exchange.arrived) return exchange;
  abort();  // each of the 32 places would hold a lane of its own
}

static void check_mask(const Warp& warp, unsigned mask, int kind, int line) {
  unsigned existing = warp.count == WARP ? ~0u : (1u << warp.count) - 1;
  if (!(mask >> current->lane & 1))
    stop("line %d: lane %u calls %s with mask 0x%08x, which does not name it", line, current->lane, KIND_NAMES[kind],
         mask);
  if (mask & ~existing)
    stop("line %d: the mask 0x%08x of %s names lanes that this warp of %u threads lacks", line, mask, KIND_NAMES[kind],
         warp.count);
}

static void deliver(Warp& warp, unsigned mask, int kind, int line) {
  uint64_t ballot = 0;
  for (unsigned lane = 0; lane < warp.count; lane++)
    if (mask >> lane & 1 && warp.threads[lane].given) ballot |= 1u << lane;
  for (unsigned lane = 0; lane < warp.count; lane++) {
    if (!(mask >> lane & 1)) continue;
    Thread& thread = warp.threads[lane];
    if (kind == SHUFFLE && !(mask >> thread.source & 1))
      stop("line %d: lane %u shuffles from lane %u, which mask 0x%08x does not name", line, lane, thread.source, mask);
    thread.received = kind == SHUFFLE ? warp.threads[thread.source].given : ballot;
  }
}

static uint64_t warp_operation(int kind, int line, unsigned mask, uint64_t value, unsigned source) {
  counters.warp_operations++;
  Warp& warp = *current->warp;
  check_mask(warp, mask, kind, line);
  Exchange& exchange = find_exchange(warp, mask);
  if (exchange.arrived && exchange.kind != kind)
    stop("line %d: lanes disagree: %s here, %s in line %d (mask 0x%08x)", line, KIND_NAMES[kind],
         KIND_NAMES[exchange.kind], exchange.line, mask);
  current->given = value;
  current->source = source;
  exchange = {mask, exchange.arrived | 1u << current->lane, kind, line};
  if (exchange.arrived != mask) {
    wait(KIND_NAMES[kind], line);
    return current->received;
  }
  exchange.arrived = 0;
  deliver(warp, mask, kind, line);
  for (unsigned lane = 0; lane < warp.count; lane++)
    if (mask >> lane & 1) wake(&warp.threads[lane]);
  run_another_thread();
  return current->received;
}

template <class T> static T shuffle(int line, unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  uint64_t bits = 0;
  memcpy(&bits, &value, sizeof value);
  bits = warp_operation(SHUFFLE, line, mask, bits, source);
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The shuffles keep to segments of `width` lanes (a power of two); outside its segment a lane reads itself.
template <class T> static T shuffle_index(int line, unsigned mask, T value, int source, int width = 32) {
  int lane = current->lane;
  return shuffle(line, mask, value, (lane & -width) | (source & (width - 1)));
}
template <class T> static T shuffle_xor(int line, unsigned mask, T value, int bits, int width = 32) {
  int lane = current->lane, source = lane ^ bits;
  return shuffle(line, mask, value, (source & -width) > (lane & -width) ? lane : source);
}
template <class T> static T shuffle_down(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  unsigned lane = current->lane, place = lane & (width - 1);
  return shuffle(line, mask, value, place + delta >= (unsigned)width ? lane : lane + delta);
}
template <class T> static T shuffle_up(int line, unsigned mask, T value, unsigned delta, int width = 32) {
  unsigned lane = current->lane, place = lane & (width - 1);
  return shuffle(line, mask, value, place < delta ? lane : lane - delta);
}

static unsigned vote(int line, unsigned mask, bool predicate) {
  return (unsigned)warp_operation(BALLOT, line, mask, predicate, 0);
}
static void sync_warp(int line, unsigned mask = 0xffffffffu) {
  warp_operation(SYNC, line, mask, 0, 0);
}
}  // namespace cuemu

#define __syncthreads() ((void)::cuemu::sync_block(__LINE__, false))
#define __syncthreads_count(predicate) ::cuemu::sync_block(__LINE__, (predicate))
#define __syncthreads_or(predicate) ((int)(::cuemu::sync_block(__LINE__, (predicate)) != 0))
#define __syncthreads_and(predicate) ((int)(::cuemu::sync_block(__LINE__, (predicate)) == (int)::cuemu::block.count))
#define __syncwarp(...) ::cuemu::sync_warp(__LINE__ __VA_OPT__(, ) __VA_ARGS__)
#define __shfl_sync(...) ::cuemu::shuffle_index(__LINE__, __VA_ARGS__)
#define __shfl_xor_sync(...) ::cuemu::shuffle_xor(__LINE__, __VA_ARGS__)
#define __shfl_down_sync(...) ::cuemu::shuffle_down(__LINE__, __VA_ARGS__)
#define __shfl_up_sync(...) ::cuemu::shuffle_up(__LINE__, __VA_ARGS__)
#define __ballot_sync(mask, predicate) ::cuemu::vote(__LINE__, (mask), (predicate))
#define __any_sync(mask, predicate) ((int)(::cuemu::vote(__LINE__, (mask), (predicate)) != 0))
#define __all_sync(mask, predicate) ((int)(::cuemu::vote(__LINE__, (mask), (predicate)) == (mask)))
