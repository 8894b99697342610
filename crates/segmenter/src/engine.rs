//! What runs a group: a kernel, or an external op.

use ir::graph::{Fusion, Graph};
use scheduler::legal::{Rejection, Witness, legal_with};
use space::AxisTable;

use super::external::{ExternalCall, external_call};

/// What runs a group.
#[derive(Clone, Debug)]
pub enum Engine {
    /// A kernel of ours.
    Kernel(Box<Witness>),
    /// An external op, which a library runs.
    External(ExternalCall),
}

/// The engine that runs a group of a fusion as one step.
///
/// # Errors
/// Why nothing does: the rejection of a kernel.
pub fn engine(graph: &Graph, view: &Fusion, table: &mut AxisTable) -> Result<Engine, Rejection> {
    match external_call(graph, view) {
        Some(call) => Ok(Engine::External(call)),
        None => legal_with(graph, view, table).map(|witness| Engine::Kernel(Box::new(witness))),
    }
}
