//! What runs a group: a kernel, or a library.

use ir::graph::{Fusion, Graph};

use super::external::{ExternalCall, external_call};
use super::legal::{Rejection, legal};
use super::witness::Witness;

/// What runs a group.
#[derive(Clone, Debug)]
pub enum Engine {
    /// A kernel of ours.
    Kernel(Box<Witness>),
    /// A library of the machine.
    External(ExternalCall),
}

/// What runs a group as one step.
///
/// # Errors
/// Why nothing does: the rejection of a kernel.
pub fn engine(graph: &Graph, view: &Fusion) -> Result<Engine, Rejection> {
    match external_call(graph, view) {
        Some(call) => Ok(Engine::External(call)),
        None => legal(graph, view).map(|witness| Engine::Kernel(Box::new(witness))),
    }
}
