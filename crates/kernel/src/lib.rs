//! The loop program of one launch: data, builder, text, verifier. The crate `reference` defines its meaning.

pub mod build;
mod contraction;
mod fetch;
mod in_place;
mod joined;
mod line;
pub mod parse;
pub mod print;
pub mod program;
mod scratch;
mod strips;
mod transpose;
pub mod uniformity;
pub mod verify;
mod width;

pub use build::{KernelBuilder, OpenBody, identifier};
pub use contraction::{ContractedStep, Contractions};
pub use fetch::{fetched_arrays, synchronous};
pub use in_place::may_share_memory;
pub use joined::{JoinedReductions, joined_reductions};
pub use parse::{ParseError, parse};
pub use program::*;
pub use scratch::ScratchLayout;
pub use strips::strip_length;
pub use transpose::Transpose;
pub use uniformity::{per_lane, stays_even, uniformity};
pub use verify::{Violation, Violations, verify};
pub use width::{ContiguousAccesses, fresh, from_zero, has_width, is_contiguous, one_at_a_time};
