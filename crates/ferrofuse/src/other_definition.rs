//! Whether a cut, or a plan, is of a definition.

use compiler::Cut;
use ir::definition::Definition;
use thiserror::Error;

/// A cut or a plan of another definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the cut is of another definition")]
pub struct OtherDefinition;

/// Rejects a cut, or a plan, of another definition.
///
/// # Errors
/// When it is of another.
pub(crate) fn require_cut_of(definition: &Definition, cut: &Cut) -> Result<(), OtherDefinition> {
    let have_as_many_outputs = cut.fusion.outputs().len() == definition.fusion.outputs().len();
    let is_of = have_as_many_outputs && cut.graph.begins_with(&definition.graph);
    if is_of { Ok(()) } else { Err(OtherDefinition) }
}
