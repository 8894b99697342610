//! The loop program of one launch: data, builder, text, verifier.

pub mod build;
mod line;
mod literal;
pub mod parse;
pub mod print;
pub mod program;
pub mod uniformity;
pub mod verify;

pub use build::KernelBuilder;
pub use parse::{ParseError, parse};
pub use program::*;
pub use uniformity::{per_lane, uniformity};
pub use verify::{Violation, Violations, verify};
