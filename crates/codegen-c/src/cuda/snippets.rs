//! The types and functions that CUDA lacks: name, dependencies and text.

use crate::c::{Helper, Snippet};

/// Defines the function from a snippet to its row.
macro_rules! rows {
    ($($variant:ident = $name:literal, needs [$($needed:ident),*], $text:expr;)+) => {
        /// The type or function in CUDA C++.
        pub(super) fn snippet(snippet: Snippet) -> &'static Helper {
            match snippet {
                $(Snippet::$variant => &Helper { name: $name, needs: &[$(Snippet::$needed),*], text: $text },)+
            }
        }
    };
}

rows! {
    Bf16 = "bf16", needs [], "typedef unsigned short bf16;  // by its bits\n";
    F16 = "f16", needs [], "typedef unsigned short f16;  // by its bits\n";
    F8E4M3 = "f8e4m3", needs [], "typedef unsigned char f8e4m3;  // by its bits\n";
    F8E5M2 = "f8e5m2", needs [], "typedef unsigned char f8e5m2;  // by its bits\n";
    F8E8M0 = "f8e8m0", needs [], "typedef unsigned char f8e8m0;  // by its bits\n";
    Vec = "vec", needs [], VEC;
    Hold = "hold", needs [], HOLD;
    Fetch = "fetch", needs [], FETCH;
    AwaitFetches = "await_fetches", needs [], AWAIT_FETCHES;
    Bf16ToF32 = "bf16_to_f32", needs [Bf16], BF16_TO_F32;
    F32ToBf16 = "f32_to_bf16", needs [Bf16], F32_TO_BF16;
    F16ToF32 = "f16_to_f32", needs [F16], F16_TO_F32;
    F32ToF16 = "f32_to_f16", needs [F16], F32_TO_F16;
    F8E4M3ToF32 = "f8e4m3_to_f32", needs [F8E4M3], F8E4M3_TO_F32;
    F32ToF8E4M3 = "f32_to_f8e4m3", needs [F8E4M3], F32_TO_F8E4M3;
    F8E5M2ToF32 = "f8e5m2_to_f32", needs [F8E5M2, F16ToF32], F8E5M2_TO_F32;
    F32ToF8E5M2 = "f32_to_f8e5m2", needs [F8E5M2], F32_TO_F8E5M2;
    F8E8M0ToF32 = "f8e8m0_to_f32", needs [F8E8M0], F8E8M0_TO_F32;
    F32ToF8E8M0 = "f32_to_f8e8m0", needs [F8E8M0], F32_TO_F8E8M0;
    F64ToF32Odd = "f64_to_f32_odd", needs [], F64_TO_F32_ODD;
    F32ToI32 = "__float2int_rz", needs [], "";
    F32ToI64 = "f32_to_i64", needs [], F32_TO_I64;
    F32ToU64 = "f32_to_u64", needs [], F32_TO_U64;
    F64ToI32 = "f64_to_i32", needs [], F64_TO_I32;
    F64ToI64 = "f64_to_i64", needs [], F64_TO_I64;
    F64ToU64 = "f64_to_u64", needs [], F64_TO_U64;
    Cluster = "cluster", needs [], CLUSTER;
    Partner = "partner", needs [], PARTNER;
    OverBlock = "over_block", needs [Partner], OVER_BLOCK;
    OverCluster = "over_cluster", needs [Cluster, Partner], OVER_CLUSTER;
    FloorDiv = "floor_div", needs [], FLOOR_DIV;
    FloorMod = "floor_mod", needs [], FLOOR_MOD;
    SmallFloorDiv = "small_floor_div", needs [], SMALL_FLOOR_DIV;
    SmallFloorMod = "small_floor_mod", needs [], SMALL_FLOOR_MOD;
}

// A plain store would store a struct, which compilers delay: it then occupies registers that loads could use.
const VEC: &str = "\
// Neighbours that are loaded and stored together, 16 bytes at a time.
template <class T, int N> struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) vec { T at[N]; };
template <int N, class T> static __device__ inline vec<T, N> load(const T* p) { return *(const vec<T, N>*)p; }
template <class T, int N> static __device__ inline void store(T* p, const vec<T, N>& x) {
  if constexpr (sizeof(x) < 16) *(vec<T, N>*)p = x;
  else for (int i = 0; i < (int)sizeof(x) / 16; i++) __stwb((uint4*)p + i, ((const uint4*)&x)[i]);
}
";

// Emits no instruction, but makes a variable whole words there.
const HOLD: &str = "\
template <class T> static __device__ inline void hold(T& x) {
  for (int i = 0; i < (int)sizeof(x) / 4; i++) PTX(\"\" : \"+r\"(((unsigned*)&x)[i]));
}
";

// A copy of 16 bytes bypasses L1. Fewer than 4 have no instruction: they are copied synchronously.
const FETCH: &str = "\
// Copies neighbours to shared memory while the thread goes on.
template <int N, class T> static __device__ inline void fetch(T* to, const T* from) {
  constexpr int SIZE = sizeof(T) * N < 16 ? sizeof(T) * N : 16;
#ifdef CUEMU
  cuemu::fetch(to, from, sizeof(T) * N);
#else
  for (int i = 0; i < (int)sizeof(T) * N; i += SIZE) {
    const unsigned shared = (unsigned)__cvta_generic_to_shared((char*)to + i);
    if constexpr (SIZE == 16)
      asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(shared), \"l\"((const char*)from + i) : \"memory\");
    else if constexpr (SIZE >= 4)
      asm volatile(\"cp.async.ca.shared.global [%0], [%1], %2;\"
                   :: \"r\"(shared), \"l\"((const char*)from + i), \"n\"(SIZE) : \"memory\");
    else *to = *from;
  }
#endif
}
";

const AWAIT_FETCHES: &str = "\
// Waits for what was fetched but for the last groups; what was fetched since the call before is one.
template <int PENDING> static __device__ inline void await_fetches() {
#ifdef CUEMU
  cuemu::await_fetches(PENDING);
#else
  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");
  asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(PENDING) : \"memory\");
#endif
}
";

const BF16_TO_F32: &str = "\
static __device__ inline float bf16_to_f32(bf16 x) {
  float y = __uint_as_float((unsigned)x << 16);
  PTX(\"mov.b32 %0, {%1, %2};\" : \"=f\"(y) : \"h\"((bf16)0), \"h\"(x));
  return y;
}
";

const F32_TO_BF16: &str = "\
// To nearest, ties to even; every NaN becomes one quiet NaN.
static __device__ inline bf16 f32_to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  bf16 y = x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  PTX(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));
  return y;
}
";

const F16_TO_F32: &str = "\
static __device__ inline float f16_to_f32(f16 x) {
#ifdef CUEMU
  return cuemu::half_to_float(x);
#else
  float y;
  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));
  return y;
#endif
}
";

const F32_TO_F16: &str = "\
static __device__ inline f16 f32_to_f16(float x) {
#ifdef CUEMU
  return cuemu::float_to_half(x);
#else
  f16 y;
  asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(y) : \"f\"(x));
  return y;
#endif
}
";

const F8E4M3_TO_F32: &str = "\
// Exponent and significand, moved to their places, are the value times 2^-120.
static __device__ inline float f8e4m3_to_f32(f8e4m3 x) {
  const unsigned magnitude = x & 0x7f;
  if (magnitude == 0x7f) return __uint_as_float(0x7fc00000);
  const float y = __uint_as_float(magnitude << 20) * __uint_as_float(0x7b800000);
  return x & 0x80 ? -y : y;
}
";

const F32_TO_F8E4M3: &str = "\
// To nearest, ties to even; beyond 448 and for NaN the one NaN. A sum with 2^14 rounds what is subnormal.
static __device__ inline f8e4m3 f32_to_f8e4m3(float x) {
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80, bits = __float_as_uint(x) & 0x7fffffff;
  if (bits > 0x43e80000) return 0x7f;
  if (bits < 0x3c800000) return sign | (__float_as_uint(__uint_as_float(bits) + 16384.0f) - 0x46800000);
  return sign | (bits - 0x3c000000 + 0x7ffff + (bits >> 20 & 1)) >> 20;
}
";

const F8E5M2_TO_F32: &str = "\
// It is the upper byte of an f16.
static __device__ inline float f8e5m2_to_f32(f8e5m2 x) { return f16_to_f32((f16)(x << 8)); }
";

const F32_TO_F8E5M2: &str = "\
// To nearest, ties to even; every NaN becomes the one NaN. A sum with 2^7 rounds what is subnormal.
static __device__ inline f8e5m2 f32_to_f8e5m2(float x) {
  const unsigned sign = __float_as_uint(x) >> 24 & 0x80, bits = __float_as_uint(x) & 0x7fffffff;
  if (bits > 0x7f800000) return 0x7f;
  if (bits < 0x38800000) return sign | (__float_as_uint(__uint_as_float(bits) + 128.0f) - 0x43000000);
  const unsigned rounded = (bits - 0x38000000 + 0xfffff + (bits >> 21 & 1)) >> 21;
  return sign | (rounded < 0x7c ? rounded : 0x7c);
}
";

const F8E8M0_TO_F32: &str = "\
// A power of two by its exponent; the smallest is subnormal in a float.
static __device__ inline float f8e8m0_to_f32(f8e8m0 x) {
  return __uint_as_float(x == 0 ? 0x00400000 : x == 0xff ? 0x7fc00000 : (unsigned)x << 23);
}
";

const F32_TO_F8E8M0: &str = "\
// The nearest power of two to the magnitude, halfway the greater one; 0xff beyond the largest and for NaN.
static __device__ inline f8e8m0 f32_to_f8e8m0(float x) {
  const unsigned bits = __float_as_uint(x) & 0x7fffffff, exponent = bits >> 23;
  if (exponent == 0xff) return 0xff;
  return exponent + ((bits & 0x7fffff) >= 0x400000 + (exponent == 0));
}
";

const F64_TO_F32_ODD: &str = "\
// To odd where inexact, so that rounding the result to a storage type is as rounding x itself.
static __device__ inline float f64_to_f32_odd(double x) {
  const float nearest = (float)x;
  unsigned bits = __float_as_uint(nearest);
  if (fabs((double)nearest) > fabs(x)) bits -= 1;
  if ((double)nearest != x) bits |= 1;
  return __uint_as_float(bits);
}
";

const F32_TO_I64: &str = "\
static __device__ inline long long f32_to_i64(float x) { return x == x ? __float2ll_rz(x) : 0; }
";

const F32_TO_U64: &str = "\
static __device__ inline unsigned long long f32_to_u64(float x) { return x == x ? __float2ull_rz(x) : 0; }
";

const F64_TO_I32: &str = "\
static __device__ inline int f64_to_i32(double x) { return x == x ? __double2int_rz(x) : 0; }
";

const F64_TO_I64: &str = "\
static __device__ inline long long f64_to_i64(double x) { return x == x ? __double2ll_rz(x) : 0; }
";

const F64_TO_U64: &str = "\
static __device__ inline unsigned long long f64_to_u64(double x) { return x == x ? __double2ull_rz(x) : 0; }
";

// The stores of a cluster's fold are counted where they arrive: cluster barriers would make threads wait for all their
// stores anywhere, and lose cached data. A block that has not begun has no memory yet; once all folds have arrived, nobody
// writes to a block any more, and it may end.
const CLUSTER: &str = "\
#if __CUDA_ARCH__ >= 900
// For calls with even and with odd numbers: whether a block has been given what others store for it.
static __shared__ unsigned long long arrivals[2];
static __device__ inline unsigned address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
// Others may write to the memory of a block that has begun: each says so, and waits for all before it writes.
static __device__ inline unsigned begin_cluster() {
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2; i++)
      asm volatile(\"mbarrier.init.shared::cta.b64 [%0], 1;\" :: \"r\"(address(&arrivals[i])) : \"memory\");
    asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");
  }
  asm volatile(\"barrier.cluster.arrive.relaxed.aligned;\" ::: \"memory\");
  return 0;
}
static __device__ inline void await_cluster() {
  asm volatile(\"barrier.cluster.wait.acquire.aligned;\" ::: \"memory\");
}
// Stores to the place in another block that a slot has in this one.
template <class T> static __device__ inline void store_in(unsigned block, T* slot, const T& x, unsigned call) {
  unsigned to, count;
  asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(to) : \"r\"(address(slot)), \"r\"(block));
  asm(\"mapa.shared::cluster.u32 %0, %1, %2;\" : \"=r\"(count) : \"r\"(address(&arrivals[call % 2])), \"r\"(block));
  for (int i = 0; i < (int)sizeof(T) / 4; i++)
    asm volatile(\"st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];\"
                 :: \"r\"(to + 4 * i), \"r\"(((const unsigned*)&x)[i]), \"r\"(count) : \"memory\");
}
// Waits until this many bytes have arrived.
static __device__ inline void await_stores(unsigned bytes, unsigned call) {
  const unsigned count = address(&arrivals[call % 2]);
  if (threadIdx.x == 0)
    asm volatile(\"mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\" :: \"r\"(count), \"r\"(bytes) : \"memory\");
  for (unsigned done = 0; !done;)
    asm volatile(\"{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }\"
                 : \"=r\"(done) : \"r\"(count), \"r\"(call / 2 % 2) : \"memory\");
}
#else  // Older GPUs have no clusters; the emulator runs the blocks of one as one block.
#undef __cluster_dims__
#define __cluster_dims__(...)
static __device__ inline unsigned begin_cluster() { return 0; }
static __device__ inline void await_cluster() {}
template <class T> static __device__ inline void store_in(unsigned, T* slot, const T& x, unsigned) { *slot = x; }
static __device__ inline void await_stores(unsigned, unsigned) { __syncthreads(); }
#endif
";

const PARTNER: &str = "\
template <class T> static __device__ inline T partner(T x, unsigned stride) { return (T)__shfl_xor_sync(~0u, x, stride); }
";

// One barrier per call. A thread can be one call ahead of others, which then still read the other set of slots.
const OVER_BLOCK: &str = "\
// What the states of all threads combine to, for every thread: of each warp, then of the warps, by halves.
template <int WARPS, class T> static __device__ inline T over_block(T mine, T (*combine)(T, T), unsigned call) {
  __shared__ T slots[2][WARPS];
  for (unsigned stride = 16; stride > 0; stride /= 2) mine = combine(mine, partner(mine, stride));
  if (threadIdx.x % 32 == 0) slots[call % 2][threadIdx.x / 32] = mine;
  __syncthreads();
  mine = slots[call % 2][threadIdx.x % WARPS];
  for (unsigned stride = WARPS / 2; stride > 0; stride /= 2) mine = combine(mine, partner(mine, stride));
  return mine;
}
";

// Each warp stores its states to all blocks, so that none reads another's memory. Calls alternate between two sets of slots,
// as over a block: a thread that waits for a call's stores also waits for all reads of the previous call.
const OVER_CLUSTER: &str = "\
// What the states of all threads of a cluster combine to, for every thread: of each warp, then of the warps, by halves.
template <int BLOCKS, int WARPS, bool ORDERED, class T>
static __device__ inline T over_cluster(T mine, T (*combine)(T, T), unsigned call) {
  constexpr int SLOTS = BLOCKS * WARPS, LANES = SLOTS < 32 ? SLOTS : 32;
  struct Slot { alignas(4) alignas(T) T state; };
  __shared__ Slot slots[2][SLOTS];
  const unsigned lane = threadIdx.x % 32, warp = blockIdx.x % BLOCKS * WARPS + threadIdx.x / 32;
  const auto joined = [=](T mine, unsigned stride) {
    const T other = partner(mine, stride);
    return ORDERED && (lane & stride) ? combine(other, mine) : combine(mine, other);
  };
  for (unsigned stride = 16; stride > 0; stride /= 2) mine = joined(mine, stride);
  if (call == 0) await_cluster();
  if (lane < BLOCKS) store_in(lane, &slots[call % 2][warp], Slot{mine}, call);
  await_stores(sizeof(Slot) * SLOTS, call);
  T parts[SLOTS / LANES];
  for (int i = 0; i < SLOTS / LANES; i++) parts[i] = slots[call % 2][lane % LANES + i * LANES].state;
  for (int half = SLOTS / LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) parts[i] = combine(parts[i], parts[i + half]);
  mine = parts[0];
  for (unsigned stride = LANES / 2; stride > 0; stride /= 2) mine = joined(mine, stride);
  return mine;
}
";

const FLOOR_DIV: &str = "\
static __device__ inline long long floor_div(long long a, long long b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
";

// By one 32-bit division: 64-bit ones are a call, around which registers are saved.
const SMALL_FLOOR_DIV: &str = "\
static __device__ inline long long small_floor_div(unsigned a, long long b) {
  const unsigned long long size = b < 0 ? -(unsigned long long)b : b;
  if (size > a) return b < 0 && a > 0 ? -1 : 0;
  const unsigned quotient = a / (unsigned)size;
  return b < 0 ? -(long long)quotient - (a % (unsigned)size > 0) : quotient;
}
";

const SMALL_FLOOR_MOD: &str = "\
static __device__ inline long long small_floor_mod(unsigned a, long long b) {
  const unsigned long long size = b < 0 ? -(unsigned long long)b : b;
  const long long remainder = size > a ? a : a % (unsigned)size;
  return b < 0 && remainder > 0 ? remainder + b : remainder;
}
";

const FLOOR_MOD: &str = "\
static __device__ inline long long floor_mod(long long a, long long b) {
  const long long remainder = a % b;
  return remainder != 0 && (remainder < 0) != (b < 0) ? remainder + b : remainder;
}
";

#[cfg(test)]
mod tests {
    use ops::DType;

    use super::*;

    #[test]
    fn every_storage_type_has_a_name_and_functions() {
        let name = |wanted| snippet(wanted).name;
        for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_narrow_float()) {
            let short = dtype.short_name();
            assert_eq!(Snippet::type_of(dtype).map(name), Some(short));
            assert_eq!(name(Snippet::widening(dtype)), format!("{short}_to_f32"));
            assert_eq!(name(Snippet::narrowing(dtype)), format!("f32_to_{short}"));
        }
        assert_eq!(Snippet::type_of(DType::F32), None);
    }
}
