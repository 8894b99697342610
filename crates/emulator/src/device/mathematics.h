// CUDA's functions on numbers and bits, over the C library; conversions of half types for `#ifdef CUEMU` branches.
// Rounding of the fast forms (__expf, rsqrtf, …) is the C library's: compare within the ops' bounds, not bit by bit.
#pragma once
#include <stdint.h>
#include <string.h>

// Declared by hand: <math.h> in C++ would double the compile time of a kernel.
#define CUEMU_UNARY(NAME)                                                                    \
  extern "C" float NAME##f(float) noexcept;                                                  \
  extern "C" double NAME(double) noexcept;                                                   \
  static inline float NAME(float x) { return NAME##f(x); }
#define CUEMU_BINARY(NAME)                                                                   \
  extern "C" float NAME##f(float, float) noexcept;                                           \
  extern "C" double NAME(double, double) noexcept;                                           \
  static inline float NAME(float x, float y) { return NAME##f(x, y); }
CUEMU_UNARY(exp) CUEMU_UNARY(exp2) CUEMU_UNARY(expm1) CUEMU_UNARY(log) CUEMU_UNARY(log2) CUEMU_UNARY(log10)
CUEMU_UNARY(log1p) CUEMU_UNARY(sqrt) CUEMU_UNARY(cbrt) CUEMU_UNARY(sin) CUEMU_UNARY(cos) CUEMU_UNARY(tan)
CUEMU_UNARY(asin) CUEMU_UNARY(acos) CUEMU_UNARY(atan) CUEMU_UNARY(sinh) CUEMU_UNARY(cosh) CUEMU_UNARY(tanh)
CUEMU_UNARY(asinh) CUEMU_UNARY(acosh) CUEMU_UNARY(atanh) CUEMU_UNARY(erf) CUEMU_UNARY(erfc) CUEMU_UNARY(lgamma)
CUEMU_UNARY(tgamma) CUEMU_UNARY(floor) CUEMU_UNARY(ceil) CUEMU_UNARY(rint) CUEMU_UNARY(nearbyint)
CUEMU_UNARY(round) CUEMU_UNARY(trunc) CUEMU_UNARY(fabs)
CUEMU_BINARY(fmax) CUEMU_BINARY(fmin) CUEMU_BINARY(pow) CUEMU_BINARY(fmod) CUEMU_BINARY(remainder)
CUEMU_BINARY(atan2) CUEMU_BINARY(copysign) CUEMU_BINARY(hypot) CUEMU_BINARY(nextafter) CUEMU_BINARY(fdim)
extern "C" float fmaf(float, float, float) noexcept;
extern "C" double fma(double, double, double) noexcept;
static inline float fma(float x, float y, float z) { return fmaf(x, y, z); }
extern "C" float ldexpf(float, int) noexcept;
extern "C" double ldexp(double, int) noexcept;

static inline float rsqrtf(float x) { return 1.f / sqrtf(x); }
static inline double rsqrt(double x) { return 1. / sqrt(x); }
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline float exp10f(float x) { return powf(10.f, x); }
static inline float fdividef(float x, float y) { return x / y; }
static inline float __fdividef(float x, float y) { return x / y; }
static inline float __expf(float x) { return expf(x); }
static inline float __exp10f(float x) { return exp10f(x); }
static inline float __logf(float x) { return logf(x); }
static inline float __log2f(float x) { return log2f(x); }
static inline float __log10f(float x) { return log10f(x); }
static inline float __powf(float x, float y) { return powf(x, y); }
static inline float __sinf(float x) { return sinf(x); }
static inline float __cosf(float x) { return cosf(x); }
static inline float __tanf(float x) { return tanf(x); }
static inline float __saturatef(float x) { return x > 0.f ? (x < 1.f ? x : 1.f) : 0.f; }
static inline float __fadd_rn(float x, float y) { return x + y; }
static inline float __fsub_rn(float x, float y) { return x - y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fdiv_rn(float x, float y) { return x / y; }
static inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
static inline float __frcp_rn(float x) { return 1.f / x; }
static inline float __fsqrt_rn(float x) { return sqrtf(x); }
static inline float __frsqrt_rn(float x) { return (float)(1. / sqrt((double)x)); }
static inline double __dadd_rn(double x, double y) { return x + y; }
static inline double __dsub_rn(double x, double y) { return x - y; }
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline double __ddiv_rn(double x, double y) { return x / y; }
static inline double __fma_rn(double x, double y, double z) { return fma(x, y, z); }
static inline double __dsqrt_rn(double x) { return sqrt(x); }

template <class T> static inline bool isnan(T x) { return __builtin_isnan(x); }
template <class T> static inline bool isinf(T x) { return __builtin_isinf(x); }
template <class T> static inline bool isfinite(T x) { return __builtin_isfinite(x); }
template <class T> static inline bool signbit(T x) { return __builtin_signbit(x); }

#define CUEMU_EXTREMA(T)                                                                     \
  static inline T min(T x, T y) { return y < x ? y : x; }                                    \
  static inline T max(T x, T y) { return x < y ? y : x; }
CUEMU_EXTREMA(int) CUEMU_EXTREMA(unsigned) CUEMU_EXTREMA(long) CUEMU_EXTREMA(unsigned long)
CUEMU_EXTREMA(long long) CUEMU_EXTREMA(unsigned long long)
static inline float min(float x, float y) { return fminf(x, y); }
static inline float max(float x, float y) { return fmaxf(x, y); }
static inline double min(double x, double y) { return fmin(x, y); }
static inline double max(double x, double y) { return fmax(x, y); }

namespace cuemu {
template <class To, class From> static inline To bit_cast(From from) {
  static_assert(sizeof(To) == sizeof(From), "bits are kept, so sizes agree");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}
// A device saturates where C++ leaves the result open. Of a NaN it makes zero between 32-bit types, and the highest bit
// alone where either side has 64.
template <class To, class From> static inline To saturate(From x, To lowest, To highest) {
  if (__builtin_isnan(x)) return sizeof(From) + sizeof(To) == 8 ? 0 : (To)(1ull << (8 * sizeof(To) - 1));
  if (x <= (From)lowest) return lowest;
  if (x >= (From)highest) return highest;
  return (To)x;
}
}  // namespace cuemu
static inline float __uint_as_float(unsigned x) { return cuemu::bit_cast<float>(x); }
static inline float __int_as_float(int x) { return cuemu::bit_cast<float>(x); }
static inline unsigned __float_as_uint(float x) { return cuemu::bit_cast<unsigned>(x); }
static inline int __float_as_int(float x) { return cuemu::bit_cast<int>(x); }
static inline double __longlong_as_double(long long x) { return cuemu::bit_cast<double>(x); }
static inline long long __double_as_longlong(double x) { return cuemu::bit_cast<long long>(x); }
#define CUEMU_TO_INTEGER(FROM, SUFFIX, ROUNDING)                                             \
  static inline int __##FROM##2int_##SUFFIX(FROM x) {                                        \
    return cuemu::saturate<int>(ROUNDING(x), -0x7fffffff - 1, 0x7fffffff);                   \
  }                                                                                          \
  static inline unsigned __##FROM##2uint_##SUFFIX(FROM x) {                                  \
    return cuemu::saturate<unsigned>(ROUNDING(x), 0u, 0xffffffffu);                          \
  }                                                                                          \
  static inline long long __##FROM##2ll_##SUFFIX(FROM x) {                                   \
    return cuemu::saturate<long long>(ROUNDING(x), -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll); \
  }                                                                                          \
  static inline unsigned long long __##FROM##2ull_##SUFFIX(FROM x) {                         \
    return cuemu::saturate<unsigned long long>(ROUNDING(x), 0ull, 0xffffffffffffffffull);    \
  }
CUEMU_TO_INTEGER(float, rz, trunc) CUEMU_TO_INTEGER(float, rn, rint)
CUEMU_TO_INTEGER(float, rd, floor) CUEMU_TO_INTEGER(float, ru, ceil)
CUEMU_TO_INTEGER(double, rz, trunc) CUEMU_TO_INTEGER(double, rn, rint)

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((uint64_t)x * y >> 32); }
static inline int __mulhi(int x, int y) { return (int)((int64_t)x * y >> 32); }
static inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
static inline unsigned __brev(unsigned x) {
  unsigned reversed = 0;
  for (int i = 0; i < 32; i++) reversed |= (x >> i & 1) << (31 - i);
  return reversed;
}

// Half types are kept as their bits. To a half type: round to nearest, ties to even; a NaN becomes 0x7fff.
namespace cuemu {
static inline float bfloat16_to_float(unsigned short bits) { return __uint_as_float((unsigned)bits << 16); }
static inline unsigned short float_to_bfloat16(float value) {
  unsigned bits = __float_as_uint(value);
  if (isnan(value)) return 0x7fff;
  return (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static inline float half_to_float(unsigned short bits) {
  unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31, mantissa = bits & 1023;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000 | mantissa << 13);
  if (exponent) return __uint_as_float(sign | (exponent + 112) << 23 | mantissa << 13);
  return copysignf(ldexpf((float)mantissa, -24), __uint_as_float(sign));
}
static inline unsigned short float_to_half(float value) {
  unsigned bits = __float_as_uint(value), sign = bits >> 16 & 0x8000;
  float magnitude = fabsf(value);
  if (isnan(value)) return 0x7fff;
  if (magnitude >= 65520.f) return (unsigned short)(sign | 0x7c00);
  if (magnitude < 0x1p-14f) return (unsigned short)(sign | (unsigned)rintf(ldexpf(magnitude, 24)));
  bits &= 0x7fffffff;
  bits += 0xfff + (bits >> 13 & 1);
  return (unsigned short)(sign | (bits - 0x38000000) >> 13);
}
}  // namespace cuemu

// The inverses of the error functions, by Halley's iteration on the side where no digits cancel.
namespace cuemu {
static inline double erf_step(double x, double excess) {
  const double step = excess / (1.12837916709551257 * exp(-x * x));
  return x - step / (1.0 + x * step);
}
static inline double inverse_erf_near_zero(double y) {
  const double square = 3.14159265358979324 * y * y;
  double x = 0.886226925452758014 * y * (1.0 + square * (1.0 / 12.0 + square * (7.0 / 480.0)));
  for (int i = 0; i < 3; i++) x = erf_step(x, erf(x) - y);
  return x;
}
// Below 1e-200, where erfc nears the smallest double, its logarithm is solved.
static inline double inverse_erfc_tail(double y) {
  if (!(y > 0.0)) return y == 0.0 ? __builtin_inf() : __builtin_nan("");
  const double t = sqrt(2.0 * (0.693147180559945309 - log(y)));
  double x = (t - (2.30753 + 0.27061 * t) / (1.0 + t * (0.99229 + 0.04481 * t))) * 0.707106781186547524;
  if (y >= 1e-200) {
    for (int i = 0; i < 3; i++) x = erf_step(x, y - erfc(x));
    return x;
  }
  for (int i = 0; i < 8; i++) {
    const double h = 0.5 / (x * x), series = 1.0 - h * (1.0 - h * (3.0 - h * (15.0 - h * (105.0 - h * 945.0))));
    x = sqrt(-log(y) - log(x * 1.77245385090551603) + log(series));
  }
  return x;
}
}  // namespace cuemu
static inline double erfinv(double y) {
  if (fabs(y) < 0.5) return cuemu::inverse_erf_near_zero(y);
  return copysign(cuemu::inverse_erfc_tail(1.0 - fabs(y)), y);
}
static inline double erfcinv(double y) {
  if (y >= 0.5 && y < 1.5) return cuemu::inverse_erf_near_zero(1.0 - y);
  return y < 0.5 ? cuemu::inverse_erfc_tail(y) : -cuemu::inverse_erfc_tail(2.0 - y);
}
static inline float erfinvf(float y) { return (float)erfinv((double)y); }
static inline float erfcinvf(float y) { return (float)erfcinv((double)y); }
