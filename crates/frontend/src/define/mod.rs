//! Definitions: a graph, the view of it that the user asked for, and the record of how it was written.
//!
//! `definer` (the builder) · `declare` (inputs) · `call` (ops by name) · `scalar` (elementwise ops) · `forms` (what moves
//! data) · `folds` · `complex/` (complex numbers as pairs) · `composites` (softmax and kin) · `random` · `library` (sorts,
//! scatter, products of matrices) · `attention` · `sizes` and `arguments` (what calls take) · `object` (things of the
//! language) · `checkpoint` (what refused calls take back) · `record` (as written) · `lift` (a view as a definition of its
//! own) · `error`.

mod arguments;
mod attention;
mod call;
mod checkpoint;
mod complex;
mod composites;
mod declare;
mod definer;
mod error;
mod folds;
mod forms;
mod function;
mod gathers;
mod library;
mod lift;
mod random;
mod scalar;
mod scans;
mod sizes;
mod slices;
#[cfg(test)]
mod tests;

pub(crate) use arguments::default;
pub use definer::Definer;
pub use error::DefineError;
pub use lift::{Lifted, Origin, lift};
