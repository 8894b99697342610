// One launch: checks the sizes, runs the blocks one after another, gives a report. The only exported symbols.
#pragma once
#include "asynchronous.h"
#include "barriers.h"
#include "faults.h"
#include "fibers.h"
#include "language.h"
#include "mathematics.h"
#include "memory.h"

// Both structs are mirrored in launch.rs.
extern "C" struct CuemuRequest {
  uint32_t grid[3], block[3];
  uint64_t static_shared_bytes, dynamic_shared_bytes, seed;
  uint32_t order, cluster;
};
extern "C" struct CuemuReport {
  cuemu::Counters counters;
  char message[sizeof cuemu::message];
};

namespace cuemu {
static void** kernel_arguments;

struct Call {
  template <class... A> Call(void (*kernel)(A...), A... values) { kernel(values...); }
};
// Braces fix the order of evaluation, so each parameter takes the next argument.
template <class... A> static void call(void (*kernel)(A...), void** arguments) {
  int next = 0;
  Call{kernel, *(A*)arguments[next++]...};
}

// One letter a parameter: p pointer, r pointer to constants, f float, d double, i and l integers of 4 and 8 bytes, s structure of
// words of 8 bytes, ? anything else.
template <class T> struct Letter {
  static const char value = __is_class(T) ? (alignof(T) == 8 ? 's' : '?') : sizeof(T) == 4 ? 'i' : sizeof(T) == 8 ? 'l' : '?';
};
template <class T> struct Letter<T*> { static const char value = 'p'; };
template <class T> struct Letter<const T*> { static const char value = 'r'; };
template <> struct Letter<float> { static const char value = 'f'; };
template <> struct Letter<double> { static const char value = 'd'; };
template <class... A> static const char* signature(void (*)(A...)) {
  static const char letters[] = {Letter<A>::value..., 0};
  return letters;
}

// The bytes of each parameter.
template <class... A> static const uint32_t* sizes(void (*)(A...)) {
  static const uint32_t bytes[] = {(uint32_t)sizeof(A)..., 0};
  return bytes;
}

static bool reject(const char* format, size_t a, size_t b) {
  snprintf(message, sizeof message, format, a, b);
  return false;
}

static bool prepare_launch(const CuemuRequest& request) {
  grid_size = dim3(request.grid[0], request.grid[1], request.grid[2]);
  block_size = dim3(request.block[0], request.block[1], request.block[2]);
  order = (Order)request.order;
  cluster = request.cluster;
  random_state = request.seed;
  message[0] = 0;
  counters = {};
  if (request.dynamic_shared_bytes > MAX_SHARED)
    return reject("%zu bytes of dynamic shared memory asked, a block has at most %zu", request.dynamic_shared_bytes,
                  MAX_SHARED);
  unsigned count = block_size.x * block_size.y * block_size.z * cluster;
  if (!map_stacks(count) || !find_shared_memory(request.dynamic_shared_bytes))
    return reject("no memory for the stacks or the shared memory of a block", 0, 0);
  size_t fixed = counters.static_shared_bytes = request.static_shared_bytes;
  if (fixed > MAX_STATIC_SHARED)
    return reject("the kernel declares %zu bytes of static shared memory, at most %zu are allowed", fixed,
                  MAX_STATIC_SHARED);
  if (fixed + shared.dynamic_bytes > MAX_SHARED)
    return reject("static and dynamic shared memory make %zu bytes, a block has at most %zu",
                  fixed + shared.dynamic_bytes, MAX_SHARED);
  return true;
}

static uint3 block_index(uint64_t number) {
  uint64_t clusters = grid_size.x / cluster, row = number / clusters;
  return {(unsigned)(number % clusters) * cluster, (unsigned)(row % grid_size.y), (unsigned)(row / grid_size.y)};
}

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b) { return b ? greatest_common_divisor(b, a % b) : a; }

// Blocks in a random order without a list of them: start anywhere, step by a number prime to the count.
static void run_blocks() {
  uint64_t count = (uint64_t)grid_size.x / cluster * grid_size.y * grid_size.z, step = 1, number = 0;
  if (order == REVERSE) step = count - 1, number = count - 1;
  if (order == RANDOM) {
    number = random_below(count < 0xffffffff ? (unsigned)count : 0xffffffff);
    step = 1 + random_below(0x7fffffff) % count;
    while (greatest_common_divisor(step, count) != 1) step++;
  }
  for (uint64_t i = 0; i < count && !message[0]; i++, number = (number + step) % count) {
    poison_shared_memory();
    run_block(block_index(number));
  }
}

static void launch(const CuemuRequest& request, void (*body)(), void** arguments) {
  if (!prepare_launch(request)) return;
  forget_copies();
  thread_body = body;
  kernel_arguments = arguments;
  poison_unused_shared_memory();
  catch_faults();
  run_blocks();
  release_faults();
  long beyond = message[0] ? -1 : first_byte_written_beyond();
  if (beyond >= 0)
    reject("the kernel wrote to byte %zu of its dynamic shared memory, which has %zu", beyond, shared.dynamic_bytes);
}
}  // namespace cuemu

#define CUEMU_EXPORT(KERNEL, CLUSTER)                                                        \
  static void cuemu_body_##KERNEL() {                                                        \
    cuemu::call(KERNEL, cuemu::kernel_arguments);                                            \
    cuemu::end_copies();                                                                     \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) const char* cuemu_signature_##KERNEL() { \
    return cuemu::signature(KERNEL);                                                         \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) const uint32_t* cuemu_sizes_##KERNEL() {   \
    return cuemu::sizes(KERNEL);                                                             \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) uint32_t cuemu_cluster_##KERNEL() {      \
    return CLUSTER;                                                                          \
  }                                                                                          \
  extern "C" __attribute__((visibility("default"))) int cuemu_launch_##KERNEL(               \
      const CuemuRequest* request, void** arguments, CuemuReport* report) {                  \
    cuemu::launch(*request, cuemu_body_##KERNEL, arguments);                                 \
    report->counters = cuemu::counters;                                                      \
    memcpy(report->message, cuemu::message, sizeof report->message);                         \
    return cuemu::message[0] ? 1 : 0;                                                        \
  }
