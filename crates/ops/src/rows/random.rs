//! The row of random bits. Uniform and normal numbers are expressions over them, in [`frontend::define`].

use crate::philox;
use crate::row::{Algebra, CSpelling, CpuSpelling, CpuSpellings, IntMeaning, Primitive};
use crate::spread::Spread;
use crate::typing::Typing;

pub(crate) const PHILOX: Primitive = Primitive {
    name: "philox",
    params: &["seed", "offset", "number"],
    typing: Typing::Counter,
    algebra: Algebra::NONE,
    float: None,
    int: Some(IntMeaning::Ternary(|seed, offset, number, ty| {
        ty.wrap(i64::from(philox::word(seed, offset, number)))
    })),
    boolean: None,
    cuda: CSpelling::NONE.and_int("philox({0}, {1}, {2})").with_helper(PHILOX_CUDA),
    cpu: CpuSpellings::int(CpuSpelling::Philox),
    ulp: 0.0,
    spread: Spread::Exact,
    doc: "Word `number` of the random sequence of a seed at an offset, from 0 to 2^32 - 1: Philox 4x32-10 of the counter (offset, number / 4) under the key seed.",
};

const PHILOX_CUDA: &str = "\
// Word `number` of the random sequence of a seed at an offset: Philox 4x32-10.
__device__ inline long long philox(long long seed, long long offset, long long number) {
  unsigned long long block = (unsigned long long)number / 4;
  unsigned a = (unsigned)offset, b = (unsigned)((unsigned long long)offset >> 32);
  unsigned c = (unsigned)block, d = (unsigned)(block >> 32);
  unsigned low_key = (unsigned)seed, high_key = (unsigned)((unsigned long long)seed >> 32);
  for (int round = 0; round < 10; ++round) {
    unsigned long long p = 0xD2511F53ull * a, q = 0xCD9E8D57ull * c;
    a = (unsigned)(q >> 32) ^ b ^ low_key;
    b = (unsigned)q;
    c = (unsigned)(p >> 32) ^ d ^ high_key;
    d = (unsigned)p;
    low_key += 0x9E3779B9u;
    high_key += 0xBB67AE85u;
  }
  return number & 2 ? (number & 1 ? d : c) : (number & 1 ? b : a);
}
";
