//! What code generation chooses by cost, found on a kernel before an instruction is written. None changes a result
//! that a kernel defines to the bit; each is a pure function with tests of its own, and `emit` writes what it found.
//!
//! `integer_min_max` (half types compared as integers) · `deinterleave` (loops that read words of bf16) · `interleave` (stores that
//! fill memory in turn) ·
//! `redundant_rounding` (casts that give back what was there) · `hoist` (indices in front of a body, asked for body by body).

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

/// What was found of a whole kernel.
pub(crate) struct Analyses {
    /// The accumulators that hold integers in place of what they fold.
    pub integer_min_max: IntegerMinMax,
    /// The loops whose lanes are deinterleaved.
    pub deinterleaved: Deinterleaved,
    /// The stores that fill memory in turn.
    pub interleaved: InterleavedStores,
    /// The sums that take a product.
    pub contractions: Contractions,
    /// The casts that give back what was there.
    pub roundings: RedundantRoundings,
}

impl Analyses {
    /// Of a kernel for instructions that widen groups of so many lanes, and that multiply and add at once or not.
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
