//! What runs a group: a kernel, or a library.

use ir::graph::{Fusion, Graph};

use super::legal::{Refusal, legal};
use super::library::{LibraryCall, library_call};
use super::witness::Witness;

/// What runs a group.
#[derive(Clone, Debug)]
pub enum Engine {
    /// A kernel of ours.
    Kernel(Box<Witness>),
    /// A library of the machine.
    Library(LibraryCall),
}

/// What runs a group as one step.
///
/// # Errors
/// Why nothing does: the refusal of a kernel.
pub fn engine(graph: &Graph, view: &Fusion) -> Result<Engine, Refusal> {
    match library_call(graph, view) {
        Some(call) => Ok(Engine::Library(call)),
        None => legal(graph, view).map(|witness| Engine::Kernel(Box::new(witness))),
    }
}
