//! The functions that a kernel's text calls and CUDA does not have, each put before the kernel once and only if
//! needed. Takes requests, gives their text in a fixed order.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use indexmap::IndexSet;

use super::reduce::Reduction;

/// A type or function of the prelude, in the order of printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Snippet {
    Bf16,
    F16,
    Bf16ToF32,
    F32ToBf16,
    F16ToF32,
    F32ToF16,
    F64ToF32Odd,
    F32ToI64,
    F64ToI32,
    F64ToI64,
    FloorDiv,
    FloorMod,
}

impl Snippet {
    const ALL: [Snippet; 12] = [
        Snippet::Bf16,
        Snippet::F16,
        Snippet::Bf16ToF32,
        Snippet::F32ToBf16,
        Snippet::F16ToF32,
        Snippet::F32ToF16,
        Snippet::F64ToF32Odd,
        Snippet::F32ToI64,
        Snippet::F64ToI32,
        Snippet::F64ToI64,
        Snippet::FloorDiv,
        Snippet::FloorMod,
    ];

    /// The word that the kernel's text uses.
    pub(super) fn name(self) -> &'static str {
        match self {
            Snippet::Bf16 => "bf16",
            Snippet::F16 => "f16",
            Snippet::Bf16ToF32 => "bf16_to_f32",
            Snippet::F32ToBf16 => "f32_to_bf16",
            Snippet::F16ToF32 => "f16_to_f32",
            Snippet::F32ToF16 => "f32_to_f16",
            Snippet::F64ToF32Odd => "f64_to_f32_odd",
            Snippet::F32ToI64 => "f32_to_i64",
            Snippet::F64ToI32 => "f64_to_i32",
            Snippet::F64ToI64 => "f64_to_i64",
            Snippet::FloorDiv => "floor_div",
            Snippet::FloorMod => "floor_mod",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Snippet::Bf16 => "typedef unsigned short bf16;  // by its bits\n",
            Snippet::F16 => "typedef unsigned short f16;  // by its bits\n",
            Snippet::Bf16ToF32 => BF16_TO_F32,
            Snippet::F32ToBf16 => F32_TO_BF16,
            Snippet::F16ToF32 => F16_TO_F32,
            Snippet::F32ToF16 => F32_TO_F16,
            Snippet::F64ToF32Odd => F64_TO_F32_ODD,
            Snippet::F32ToI64 => F32_TO_I64,
            Snippet::F64ToI32 => F64_TO_I32,
            Snippet::F64ToI64 => F64_TO_I64,
            Snippet::FloorDiv => FLOOR_DIV,
            Snippet::FloorMod => FLOOR_MOD,
        }
    }
}

const BF16_TO_F32: &str = "\
static __device__ inline float bf16_to_f32(bf16 x) { return __uint_as_float((unsigned)x << 16); }
";

const F32_TO_BF16: &str = "\
// To nearest, ties to even; every NaN becomes the one quiet NaN.
static __device__ inline bf16 f32_to_bf16(float x) {
  const unsigned bits = __float_as_uint(x);
  return x != x ? 0x7fc0 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
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

const F64_TO_F32_ODD: &str = "\
// To odd where inexact, so that rounding the result to a half type is as rounding x itself.
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

const F64_TO_I32: &str = "\
static __device__ inline int f64_to_i32(double x) { return x == x ? __double2int_rz(x) : 0; }
";

const F64_TO_I64: &str = "\
static __device__ inline long long f64_to_i64(double x) { return x == x ? __double2ll_rz(x) : 0; }
";

const FLOOR_DIV: &str = "\
static __device__ inline long long floor_div(long long a, long long b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
";

const FLOOR_MOD: &str = "\
static __device__ inline long long floor_mod(long long a, long long b) {
  const long long rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
";

/// What has been asked for.
#[derive(Debug, Default)]
pub(super) struct Prelude {
    snippets: BTreeSet<Snippet>,
    /// Functions of the op table, in the order of their first use.
    ops: IndexSet<&'static str>,
    reductions: IndexSet<Reduction>,
    /// Texts of `reductions`.
    reduction_texts: Vec<String>,
}

impl Prelude {
    /// Asks for a function, and the type it speaks of.
    pub(super) fn add(&mut self, snippet: Snippet) {
        match snippet {
            Snippet::Bf16ToF32 | Snippet::F32ToBf16 => self.add(Snippet::Bf16),
            Snippet::F16ToF32 | Snippet::F32ToF16 => self.add(Snippet::F16),
            _ => {}
        }
        self.snippets.insert(snippet);
    }

    /// Asks for functions of the op table.
    pub(super) fn add_op(&mut self, text: &'static str) {
        self.ops.insert(text);
    }

    /// Whether the reduction is new; its text must then follow.
    pub(super) fn lacks(&self, reduction: &Reduction) -> bool {
        !self.reductions.contains(reduction)
    }

    /// Adds a reduction with its text.
    pub(super) fn add_reduction(&mut self, reduction: Reduction, text: String) {
        self.reductions.insert(reduction);
        self.reduction_texts.push(text);
    }

    /// Shared memory that the reductions declare.
    pub(super) fn static_shared_bytes(&self) -> u32 {
        self.reductions.iter().map(Reduction::shared_bytes).sum()
    }

    /// Every word that the fixed texts of the prelude use.
    pub(super) fn all_texts() -> impl Iterator<Item = &'static str> {
        Snippet::ALL.into_iter().map(Snippet::text)
    }
}

impl Display for Prelude {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let snippets = self.snippets.iter().map(|snippet| snippet.text());
        let ops = self.ops.iter().copied();
        let reductions = self.reduction_texts.iter().map(String::as_str);
        let mut texts = snippets.chain(ops).chain(reductions).peekable();
        let any = texts.peek().is_some();
        texts.try_for_each(|text| f.write_str(text))?;
        f.write_str(if any { "\n" } else { "" })
    }
}
