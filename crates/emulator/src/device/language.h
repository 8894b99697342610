// The words of CUDA C++ that are no library: qualifiers, vector types, dim3.
// Gives declarations only; nothing here runs.
#pragma once
#if !defined(__x86_64__) || !defined(__linux__)
#error "the CUDA emulator switches stacks with x86-64 System V code and reads ELF headers: it needs x86-64 Linux"
#endif
#define CUEMU 1
#define PTX(...)  // instructions behind C that does the same

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
// At block scope thread_local implies static and stays legal after extern, so both static shared arrays and the
// dynamic one compile. The module's thread-local image then *is* the shared memory of the running block.
#define __shared__ thread_local

// Alignments are CUDA's: a vector of two is aligned to its size, one of four to its size but at most 16 bytes.
#define CUEMU_VECTOR(T, N, ALIGN2, ALIGN4)                                                   \
  struct N##1 { T x; };                                                                      \
  struct __attribute__((aligned(ALIGN2))) N##2 { T x, y; };                                  \
  struct N##3 { T x, y, z; };                                                                \
  struct __attribute__((aligned(ALIGN4))) N##4 { T x, y, z, w; };                            \
  static inline N##1 make_##N##1(T x) { return {x}; }                                        \
  static inline N##2 make_##N##2(T x, T y) { return {x, y}; }                                \
  static inline N##3 make_##N##3(T x, T y, T z) { return {x, y, z}; }                        \
  static inline N##4 make_##N##4(T x, T y, T z, T w) { return {x, y, z, w}; }
CUEMU_VECTOR(signed char, char, 2, 4)
CUEMU_VECTOR(unsigned char, uchar, 2, 4)
CUEMU_VECTOR(short, short, 4, 8)
CUEMU_VECTOR(unsigned short, ushort, 4, 8)
CUEMU_VECTOR(int, int, 8, 16)
CUEMU_VECTOR(unsigned, uint, 8, 16)
CUEMU_VECTOR(float, float, 8, 16)
CUEMU_VECTOR(long long, longlong, 16, 16)
CUEMU_VECTOR(unsigned long long, ulonglong, 16, 16)
CUEMU_VECTOR(double, double, 16, 16)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
