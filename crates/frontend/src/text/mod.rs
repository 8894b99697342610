//! Definition files: nvFuser's definition language read and written.
//!
//! `lexer` · `grammar` and `expression` (tokens to tree) · `syntax` (the tree) · `read` (a
//! file) · `body` (tree to definition) · `inputs` (what to run it on) · `print`.

mod body;
mod diagnostic;
mod expression;
mod grammar;
mod inputs;
mod lambda;
mod lexer;
mod print;
mod read;
mod syntax;

pub use inputs::{Distribution, InputSpec, TensorSpec};
pub use print::{NameStyle, Which, numbers, print, print_as_written, print_record, print_view};
pub use read::{File, decode, parse};
