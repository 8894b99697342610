//! Graphs, views of them and tasks: what a tensor program is.
//!
//! `node` (forms and types) · `library` (forms that a library computes) · `container` · `shape` (the rule of each form) ·
//! `fusion` (views) · `signature` (what a view demands of its inputs) · `sizes` (values of size symbols) · `stream` (random numbers of a call) · `computed` (those
//! that scalars make) · `task` (named, nested, overlapping views) · `rewrite` (how passes change a program) · `collect` ·
//! `verify` · `dump`. What it all means is the crate `reference`.

mod collect;
mod computed;
mod container;
mod dump;
mod fusion;
mod library;
mod node;
mod rewrite;
mod shape;
mod signature;
mod sizes;
mod stream;
mod task;
mod verify;

pub use computed::{ComputedSize, Known};
pub(crate) use container::truncate;
pub use container::{Graph, Mark, SymbolSource};
pub use dump::dump;
pub use fusion::{Fusion, Output, ViewError};
pub use library::Library;
pub use node::{Axes, Form, InputLayout, Node, NodeData, Shape, Type, Val};
pub use rewrite::{ValMap, rewrite};
pub use shape::{ShapeError, infer};
pub use signature::{InputError, Signature};
pub use sizes::{SizeError, Sizes};
pub use stream::Stream;
pub use task::{Dropped, Task, TaskData, TaskError, TaskKind, Tasks};
pub use verify::Broken;
