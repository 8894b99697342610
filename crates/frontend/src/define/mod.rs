//! Definitions: a graph, the view of it that the user asked for, and the record of how it was written.
//!
//! `builder` (the builder) · `declare` (inputs) · `call` (ops by name) · `scalar` (elementwise ops) · `tensor_ops` (what
//! moves data) · `folds` · `complex/` (complex numbers as pairs) · `composites` (softmax and kin) · `random` · `external`
//! (sorts, scatter, products of matrices) · `attention` · `groups` (of ops) · `sizes` and `arguments` (what calls take) · `object` (things of
//! the language) · `checkpoint` (what rejected calls take back) · `record` (as written) · `outline` (a view as a definition
//! of its own) · `error`.

mod arguments;
mod attention;
mod builder;
mod call;
mod checkpoint;
mod complex;
mod composites;
mod declare;
mod error;
mod external;
mod folds;
mod function;
mod gathers;
mod groups;
mod outline;
mod random;
mod scalar;
mod scans;
mod sizes;
mod slices;
mod tensor_ops;
#[cfg(test)]
mod tests;

pub(crate) use arguments::default;
pub use builder::DefinitionBuilder;
pub use error::DefineError;
pub use outline::{AsWritten, Origin, Outlined, outline, outline_as_written, outline_lambda};
