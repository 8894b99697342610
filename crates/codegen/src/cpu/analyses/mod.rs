//! The choices of code generation that depend on cost, made before an instruction is written. None changes a bit that a
//! kernel defines; each is a pure function with its own tests, and `emit` follows it.
//!
//! `integer_min_max` (half types compared as integers) · `deinterleave` (loops that read words of bf16) · `interleave`
//! (stores that fill memory in turn) · `redundant_rounding` (casts that undo a lossless rounding) · `combined`
//! (operations computed at their only user) · `short_nans` (values that are rounded without a look at NaNs) · `hoist` (indices in
//! front of a body, found for each body).

pub(crate) mod combined;
pub(crate) mod deinterleave;
pub(crate) mod hoist;
pub(crate) mod integer_min_max;
pub(crate) mod interleave;
pub(crate) mod redundant_rounding;
pub(crate) mod short_nans;

use kernel::{Contractions, Kernel};

use crate::cpu::Isa;

use combined::CombinedOps;
use deinterleave::Deinterleaved;
use integer_min_max::IntegerMinMax;
use interleave::InterleavedStores;
use redundant_rounding::RedundantRoundings;
use short_nans::ShortNans;

/// The analyses of a whole kernel.
pub(crate) struct Analyses {
    /// The accumulators that hold integers instead of floats.
    pub integer_min_max: IntegerMinMax,
    /// The loops whose lanes are deinterleaved.
    pub deinterleaved: Deinterleaved,
    /// The stores that fill memory in turn.
    pub interleaved: InterleavedStores,
    /// The sums that take a product.
    pub contractions: Contractions,
    /// The casts that undo a lossless rounding.
    pub roundings: RedundantRoundings,
    /// The operations that are computed at their users.
    pub combined: CombinedOps,
    /// The values whose NaNs need no care when they are rounded.
    pub short_nans: ShortNans,
}

impl Analyses {
    /// Of a kernel for an instruction set.
    pub(crate) fn of(kernel: &Kernel, isa: &Isa) -> Analyses {
        let integer_min_max = IntegerMinMax::of(kernel);
        let contractions = if isa.fma { Contractions::of(kernel) } else { Contractions::default() };
        Analyses {
            deinterleaved: Deinterleaved::of(kernel, isa.group(), &integer_min_max),
            integer_min_max,
            interleaved: InterleavedStores::of(kernel),
            combined: if isa.avx512 {
                CombinedOps::default()
            } else {
                CombinedOps::of(kernel, &contractions)
            },
            contractions,
            roundings: RedundantRoundings::of(kernel),
            short_nans: ShortNans::of(kernel),
        }
    }
}
