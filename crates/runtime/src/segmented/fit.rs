//! Whether segments are those of a definition.

use index::{Expr, Sym};
use ir::definition::Definition;
use ir::graph::Val;
use rustc_hash::{FxHashMap, FxHashSet};

use super::parts::{SegmentDefinition, SegmentInput};
use crate::Error;

/// Checks that each segment takes and makes values of the definition, in their types, and takes none before it is made; and
/// that every output is made.
///
/// # Errors
/// [`Error::Segment`] for the first segment that does not fit, then [`Error::Missing`].
pub fn require_segments(definition: &Definition, segments: &[SegmentDefinition]) -> Result<(), Error> {
    let mut made: FxHashSet<Val> = definition.fusion.inputs().iter().copied().collect();
    for segment in segments {
        let fits = require_counts(segment).and_then(|()| require_values(definition, segment, &made));
        fits.map_err(|problem| Error::Segment { segment: segment.name.clone(), problem })?;
        made.extend(&segment.outputs);
    }
    match definition.fusion.outputs().iter().position(|output| !made.contains(&output.val)) {
        Some(output) => Err(Error::Missing { output }),
        None => Ok(()),
    }
}

fn require_counts(segment: &SegmentDefinition) -> Result<(), String> {
    let fusion = &segment.definition.fusion;
    let (sources, inputs) = (segment.inputs.len(), fusion.inputs().len());
    let (values, outputs) = (segment.outputs.len(), fusion.outputs().len());
    match (sources == inputs, values == outputs) {
        (false, _) => Err(format!("{sources} sources are given for its {inputs} inputs")),
        (_, false) => Err(format!("{values} values are given for its {outputs} outputs")),
        (true, true) => Ok(()),
    }
}

/// Checks the inputs of a segment, given what is there before it, and its outputs.
fn require_values(
    definition: &Definition,
    segment: &SegmentDefinition,
    made: &FxHashSet<Val>,
) -> Result<(), String> {
    let own = &segment.definition.fusion;
    let sizes = if segment.is_edited { Vec::new() } else { segment.sizes(definition) };
    let sizes: FxHashMap<Sym, Expr> = sizes.into_iter().collect();
    let is_there = |symbol: &Sym| definition.graph.symbols().get(*symbol).is_some();
    for (place, (source, &input)) in segment.inputs.iter().zip(own.inputs()).enumerate() {
        let fits = match source {
            SegmentInput::Val(val) if !made.contains(val) => {
                Err("is a value that no segment before it makes".to_owned())
            }
            SegmentInput::Val(val) => definition.require_type(*val, &segment.definition, input, &sizes),
            SegmentInput::Size(size) if size.symbols().iter().all(is_there) => Ok(()),
            SegmentInput::Size(size) => Err(format!("is {size}, which is no size of the definition")),
        };
        fits.map_err(|problem| format!("its input {place} {problem}"))?;
    }
    let outputs = segment.outputs.iter().zip(own.outputs());
    outputs.enumerate().try_for_each(|(place, (&val, output))| {
        let fits = definition.require_type(val, &segment.definition, output.val, &sizes);
        fits.map_err(|problem| format!("its output {place} {problem}"))
    })
}
