//! Graphs, views of them and tasks: the representation of tensor programs.
//!
//! `node` (tensor ops and types) · `external` (ops that no kernel computes) · `container` · `shape` (the rule of each op) ·
//! `fusion` (views) · `cone` (the nodes that compute some values) · `signature` (the constraints of a view on its inputs) ·
//! `sizes` (values of size symbols) · `stream` (random numbers of a call) · `computed` (those that scalars make) · `task`
//! (named, nested, overlapping views) · `group` (those that the user made) · `pattern` (composites) · `rewrite` (how passes
//! change a program) · `collect` · `verify` · `dump`. The crate `reference` defines the meaning.

mod collect;
mod computed;
mod cone;
mod container;
mod dump;
mod external;
mod formulas;
mod fusion;
mod group;
mod node;
mod pattern;
mod rewrite;
mod shape;
mod signature;
mod sizes;
mod stream;
mod task;
mod verify;

pub use computed::{ComputedSize, Known};
pub use cone::Cone;
pub(crate) use container::truncate;
pub use container::{Graph, Mark, SymbolSource};
pub use dump::{dump, op_line};
pub use external::ExternalOp;
pub use formulas::{Formula, Formulas};
pub use fusion::{Fusion, Output, ViewError};
pub use group::{DeviceStream, GroupDecl, GroupOptions};
pub use node::{Axes, InputLayout, Node, NodeData, Shape, TensorOp, Type, Val};
pub use rewrite::{ValMap, rewrite};
pub use shape::{ShapeError, infer};
pub use signature::{InputError, InputSignature};
pub use sizes::{SizeError, Sizes};
pub use stream::Stream;
pub use task::{Dropped, Task, TaskData, TaskError, TaskKind, Tasks};
pub use verify::Broken;
