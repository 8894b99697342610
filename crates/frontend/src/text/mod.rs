//! Definition files: nvFuser's definition language read and written.
//!
//! `read` (a file, from its syntax) · `body`, `members` and `lambda` (tree to definition) · `inputs` (to run it on) ·
//! `print` · `arithmetic` (evaluates numbers) · `arguments` (of a call as written) · `numbers` (of results in print).

mod arguments;
mod arithmetic;
mod body;
mod inputs;
mod lambda;
mod members;
mod numbers;
mod print;
mod read;

pub use inputs::{Distribution, InputSpec, TensorSpec};
pub use numbers::numbers;
pub use print::{NameStyle, Which, print, print_as_written, print_record, print_view};
pub use read::{File, decode, parse};
