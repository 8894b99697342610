//! Definition files: nvFuser's definition language read and written.
//!
//! `read` (a file, from its syntax) · `body` and `lambda` (tree to definition) · `inputs` (what to run it on) · `print`.

mod body;
mod inputs;
mod lambda;
mod print;
mod read;

pub use inputs::{Distribution, InputSpec, TensorSpec};
pub use print::{NameStyle, Which, numbers, print, print_as_written, print_record, print_view};
pub use read::{File, decode, parse};
