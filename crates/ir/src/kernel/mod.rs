//! The loop program of one launch: data, builder, text, verifier, interpreter.

pub mod build;
mod combine;
mod fault;
pub mod interpret;
mod line;
mod literal;
mod memory;
mod order;
pub mod parse;
pub mod print;
pub mod program;
mod race;
pub mod uniformity;
pub mod verify;

pub use build::{KernelArith, KernelBuilder};
pub use interpret::{Fault, LaneOrder, Memory, Options, interpret};
pub use parse::{ParseError, parse};
pub use program::*;
pub use uniformity::{per_lane, uniformity};
pub use verify::{Violation, Violations, verify};
