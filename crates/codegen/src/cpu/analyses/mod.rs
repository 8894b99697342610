//! The choices of code generation that depend on cost, made before an instruction is written. None changes a bit that a
//! kernel defines; each is a pure function with its own tests, and `emit` follows it.
//!
//! `integer_min_max` (half types compared as integers) · `deinterleave` (loops that read words of bf16) · `interleave`
//! (stores that fill memory in turn) · `redundant_rounding` (casts that undo a lossless rounding) · `hoist` (indices in
//! front of a body, found for each body).

pub(crate) mod deinterleave;
pub(crate) mod hoist;
pub(crate) mod integer_min_max;
pub(crate) mod interleave;
pub(crate) mod redundant_rounding;

use kernel::{Contractions, Kernel};

use deinterleave::Deinterleaved;
use integer_min_max::IntegerMinMax;
use interleave::InterleavedStores;
use redundant_rounding::RedundantRoundings;

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
}

impl Analyses {
    /// Of a kernel for instructions that widen groups of `group` lanes, and that multiply and add at once (`fma`) or not.
    pub(crate) fn of(kernel: &Kernel, group: u32, fma: bool) -> Analyses {
        let integer_min_max = IntegerMinMax::of(kernel);
        Analyses {
            deinterleaved: Deinterleaved::of(kernel, group, &integer_min_max),
            integer_min_max,
            interleaved: InterleavedStores::of(kernel),
            contractions: if fma { Contractions::of(kernel) } else { Contractions::default() },
            roundings: RedundantRoundings::of(kernel),
        }
    }
}
