// Reports as errors of the launch what would kill the process: bad addresses, division by zero, stack overflow,
// and, when the kernel was compiled with the undefined-behaviour sanitizer, each of its findings with a line.
// Acts only on the OS thread that launched, only while a block runs.
#pragma once
#include <pthread.h>
#include <signal.h>
#include "fibers.h"

namespace cuemu {
const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
const unsigned SIGNAL_COUNT = 4;
static struct sigaction previous_actions[SIGNAL_COUNT];
static stack_t previous_stack;
static pthread_t launching_thread;
static bool launching;
static unsigned char signal_stack[64 * 1024];

static void stop_at_fault(const char* what, const void* address) {
  char after[64] = "";
  if (current->line) snprintf(after, sizeof after, ", after line %d", current->line);
  uint3 at = current->block, thread = current->index;
  stop("%s at address %p by thread (%u,%u,%u) of block (%u,%u,%u)%s", what, address, thread.x, thread.y, thread.z, at.x,
       at.y, at.z, after);
}

static bool in_stack_guard(const void* address) {
  uintptr_t offset = (uintptr_t)address - (uintptr_t)stacks;
  return offset < mapped * STACK && offset % STACK < PAGE;
}

// A fault of another thread is for the handler before this one, which may be that of another copy of the emulator.
static void pass_on(int number, siginfo_t* info, void* context) {
  for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
    if (SIGNALS[i] != number) continue;
    if (previous_actions[i].sa_flags & SA_SIGINFO) return previous_actions[i].sa_sigaction(number, info, context);
    sigaction(number, &previous_actions[i], nullptr);  // the instruction faults again
  }
}

static void on_signal(int number, siginfo_t* info, void* context) {
  if (!launching || !pthread_equal(pthread_self(), launching_thread)) return pass_on(number, info, context);
  if (number == SIGFPE) stop_at_fault("integer division by zero", info->si_addr);
  if (in_stack_guard(info->si_addr)) stop_at_fault("stack overflow", info->si_addr);
  stop_at_fault(number == SIGILL ? "illegal instruction" : "bad memory access", info->si_addr);
}

static void catch_faults() {
  launching = true;
  launching_thread = pthread_self();
  stack_t stack = {};
  stack.ss_sp = signal_stack;
  stack.ss_size = sizeof signal_stack;
  sigaltstack(&stack, &previous_stack);
  struct sigaction action = {};
  action.sa_sigaction = on_signal;
  // The handler never returns, so the signal must not stay blocked.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (unsigned i = 0; i < SIGNAL_COUNT; i++) sigaction(SIGNALS[i], &action, &previous_actions[i]);
}

static void release_faults() {
  launching = false;
  for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
    struct sigaction now;
    // Another copy of the emulator may have put its handler in front: it takes that away itself.
    if (!sigaction(SIGNALS[i], nullptr, &now) && now.sa_sigaction == on_signal)
      sigaction(SIGNALS[i], &previous_actions[i], nullptr);
  }
  sigaltstack(&previous_stack, nullptr);
}

struct SourceLocation { const char* file; unsigned line, column; };
}  // namespace cuemu

// The sanitizer calls these by name with a record that opens with the place; its own library is not needed.
#define CUEMU_FINDING(NAME, TEXT)                                                            \
  extern "C" __attribute__((visibility("hidden"), used)) void __ubsan_handle_##NAME(cuemu::SourceLocation* at) { \
    cuemu::stop("%s in line %u, column %u", TEXT, at->line, at->column);                     \
  }
CUEMU_FINDING(out_of_bounds, "index out of bounds")
CUEMU_FINDING(type_mismatch_v1, "null or misaligned access")
CUEMU_FINDING(pointer_overflow, "pointer arithmetic out of range")
CUEMU_FINDING(shift_out_of_bounds, "shift out of range")
CUEMU_FINDING(add_overflow, "signed addition overflows")
CUEMU_FINDING(sub_overflow, "signed subtraction overflows")
CUEMU_FINDING(mul_overflow, "signed multiplication overflows")
CUEMU_FINDING(negate_overflow, "signed negation overflows")
CUEMU_FINDING(divrem_overflow, "integer division by zero or of the smallest integer by -1")
CUEMU_FINDING(float_cast_overflow, "float out of the integer's range (a device saturates: use __float2int_rz)")
