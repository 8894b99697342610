//! Definitions: a graph, the view of it that the user asked for, and the record of how it was written.
//!
//! Each uses those before it: `error` · `arguments` (of calls) · `builder` (of ops) · `families` (ops on real arguments, one
//! file for each family) · `complex` (complex numbers as pairs) · `call` (ops by name) · `definition` (the builder that
//! users drive) · `outline` (a view as a definition of its own).

mod arguments;
mod builder;
mod call;
mod complex;
mod definition;
mod error;
mod families;
mod outline;

pub(crate) use arguments::default;
pub use definition::DefinitionBuilder;
pub use error::DefineError;
pub use outline::{AsWritten, Origin, Outlined, outline, outline_as_written, outline_lambda};
