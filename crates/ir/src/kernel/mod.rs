//! The loop program of one launch: data, text, verifier, interpreter.
pub mod program;

pub use program::*;
