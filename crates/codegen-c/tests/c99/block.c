// Runs a kernel, one block after another and one lane after another: each runs until it waits for the others. Reads the
// number of blocks, the bytes of scratch, arguments and buffers, and writes the buffers.

#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

long long lane, block_number;
unsigned char* smem;

static ucontext_t scheduler, lanes[LANES];
static unsigned char stacks[LANES][1 << 16];
static bool ended[LANES];
static long long arguments[ARGUMENTS + 1];
static void* buffers[BUFFERS];

void barrier(void) { swapcontext(&lanes[lane], &scheduler); }

static void run_lane(void) {
  KERNEL;
  ended[lane] = true;
}

static void run_block(void) {
  for (lane = 0; lane < LANES; lane++) {
    getcontext(&lanes[lane]);
    lanes[lane].uc_stack.ss_sp = stacks[lane];
    lanes[lane].uc_stack.ss_size = sizeof stacks[lane];
    lanes[lane].uc_link = &scheduler;
    makecontext(&lanes[lane], run_lane, 0);
    ended[lane] = false;
  }
  for (bool some = true; some;) {
    some = false;
    for (lane = 0; lane < LANES; lane++) {
      if (ended[lane]) continue;
      swapcontext(&scheduler, &lanes[lane]);
      some = some || !ended[lane];
    }
  }
}

static void take(void* to, size_t bytes) {
  if (fread(to, 1, bytes, stdin) != bytes) exit(2);
}

static long long number(void) {
  long long x;
  take(&x, sizeof x);
  return x;
}

static void* aligned(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 16, bytes + 1) != 0) exit(3);
  return memory;
}

int main(void) {
  const long long blocks = number();
  smem = aligned(number());
  for (int i = 0; i < ARGUMENTS; i++) arguments[i] = number();
  size_t bytes[BUFFERS];
  for (int i = 0; i < BUFFERS; i++) {
    bytes[i] = number();
    buffers[i] = aligned(bytes[i]);
    take(buffers[i], bytes[i]);
  }
  for (block_number = 0; block_number < blocks; block_number++) run_block();
  for (int i = 0; i < BUFFERS; i++) fwrite(buffers[i], 1, bytes[i], stdout);
  return 0;
}
