#include <math.h>
#include <stdbool.h>
#include <string.h>

// Number of the lane that runs now, and of its block.
extern long long lane, block_number;

// Lets the other lanes come as far.
void barrier(void);

static inline long long min(long long a, long long b) { return b < a ? b : a; }
static inline long long max(long long a, long long b) { return b > a ? b : a; }

// What an atomic minimum is where lanes run one after another.
static inline void lower(long long *word, long long value) {
  if (value < *word) *word = value;
}

static inline float f32_of_bits(unsigned bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline double f64_of_bits(unsigned long long bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
