// Shared memory of the running block (the module's thread-local image), atomics, fences, cached loads.
// Gives `find_shared_memory`, `poison_shared_memory`, `first_byte_written_beyond`. Only fibers of one OS thread
// touch this memory, so an atomic is a plain read and write, and the memory model is not emulated.
#pragma once
#include <link.h>
#include "fibers.h"

namespace cuemu {
const size_t MAX_SHARED = 227 * 1024, MAX_STATIC_SHARED = 48 * 1024;
const unsigned char POISON = 0xff;   // a NaN as any float, -1 as any integer

// The dynamic array under the assembler name `smem`: a kernel may declare it with any element type.
__attribute__((aligned(128), used)) static thread_local unsigned char dynamic_shared[MAX_SHARED] __asm__("smem");

struct SharedMemory { unsigned char *begin, *end; size_t dynamic_bytes; };
static SharedMemory shared;

static int find_image(dl_phdr_info* info, size_t, void* inside) {
  bool mine = false;
  const ElfW(Phdr)* image = nullptr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + header.p_vaddr, address = (uintptr_t)inside;
    if (header.p_type == PT_LOAD && address >= start && address < start + header.p_memsz) mine = true;
    if (header.p_type == PT_TLS) image = &header;
  }
  if (!mine || !image) return 0;
  shared.begin = (unsigned char*)info->dlpi_tls_data;
  shared.end = shared.begin + image->p_memsz;
  return 1;
}

static bool find_shared_memory(size_t dynamic_bytes) {
  *(volatile unsigned char*)dynamic_shared = POISON;  // the first touch makes this thread's image
  shared = {};
  shared.dynamic_bytes = dynamic_bytes;
  return dl_iterate_phdr(find_image, (void*)&find_image) && shared.begin;
}

static void poison_shared_memory() {
  unsigned char* after = dynamic_shared + MAX_SHARED;
  memset(shared.begin, POISON, dynamic_shared - shared.begin);
  memset(dynamic_shared, POISON, shared.dynamic_bytes);
  memset(after, POISON, shared.end - after);
}

static void poison_unused_shared_memory() {
  memset(dynamic_shared + shared.dynamic_bytes, POISON, MAX_SHARED - shared.dynamic_bytes);
}

// Where a kernel wrote past the dynamic bytes of its launch, or -1.
static long first_byte_written_beyond() {
  // Bytes that equal their neighbours are all alike; the C library compares many at a time.
  const unsigned char* beyond = dynamic_shared + shared.dynamic_bytes;
  size_t count = MAX_SHARED - shared.dynamic_bytes;
  if (count == 0 || (beyond[0] == POISON && memcmp(beyond, beyond + 1, count - 1) == 0)) return -1;
  for (size_t i = shared.dynamic_bytes; i < MAX_SHARED; i++)
    if (dynamic_shared[i] != POISON) return (long)i;
  return -1;
}

template <class T> struct Same { typedef T type; };  // keeps an argument out of type deduction
#define CUEMU_ATOMIC(NAME, NEW_VALUE)                                                        \
  template <class T> T NAME(T* place, typename Same<T>::type value) {                        \
    T old = *place;                                                                          \
    *place = (T)(NEW_VALUE);                                                                 \
    return old;                                                                              \
  }
CUEMU_ATOMIC(atomicAdd, old + value)
CUEMU_ATOMIC(atomicSub, old - value)
CUEMU_ATOMIC(atomicMax, value > old ? value : old)
CUEMU_ATOMIC(atomicMin, value < old ? value : old)
CUEMU_ATOMIC(atomicExch, value)
CUEMU_ATOMIC(atomicAnd, old & value)
CUEMU_ATOMIC(atomicOr, old | value)
CUEMU_ATOMIC(atomicXor, old ^ value)
template <class T> T atomicCAS(T* place, typename Same<T>::type expected, typename Same<T>::type value) {
  T old = *place;
  if (old == expected) *place = value;
  return old;
}
template <class T> T load(const T* place) {
  __asm__ volatile("" ::: "memory");  // an uncached load may not be kept in a register from before
  return *place;
}
template <class T> void store(T* place, typename Same<T>::type value) { *place = value; }
}  // namespace cuemu

using cuemu::atomicAdd;
using cuemu::atomicAnd;
using cuemu::atomicCAS;
using cuemu::atomicExch;
using cuemu::atomicMax;
using cuemu::atomicMin;
using cuemu::atomicOr;
using cuemu::atomicSub;
using cuemu::atomicXor;
#define __threadfence() __asm__ volatile("" ::: "memory")
#define __threadfence_block() __asm__ volatile("" ::: "memory")
#define __ldg(place) ::cuemu::load(place)
#define __ldcg(place) ::cuemu::load(place)
#define __ldcs(place) ::cuemu::load(place)
#define __stwb(place, value) ::cuemu::store((place), (value))
#define __stcg(place, value) ::cuemu::store((place), (value))
#define __stcs(place, value) ::cuemu::store((place), (value))
