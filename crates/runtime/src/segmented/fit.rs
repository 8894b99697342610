//! Whether segments are those of a definition.

use index::Expr;
use ir::definition::Definition;
use ir::graph::Val;
use rustc_hash::FxHashSet;

use super::parts::{SegmentDefinition, SegmentInput};
use crate::Error;

/// Checks that each segment takes and makes values of the definition, in their types, and takes none before it is made; and
/// that every output is made.
///
/// # Errors
/// [`Error::Segment`] for the first segment that does not fit, then [`Error::Missing`].
pub(super) fn require_of(definition: &Definition, segments: &[SegmentDefinition]) -> Result<(), Error> {
    let mut made: FxHashSet<Val> = definition.fusion.inputs().iter().copied().collect();
    for segment in segments {
        let reject = |problem| Error::Segment { segment: segment.name.clone(), problem };
        require_counts(segment).map_err(reject)?;
        let inputs = segment.inputs.iter().zip(segment.definition.fusion.inputs()).enumerate();
        for (place, (source, &input)) in inputs {
            let SegmentInput::Val(val) = source else { continue };
            if !made.contains(val) {
                let problem = format!("its input {place} is a value that no segment before it makes");
                return Err(reject(problem));
            }
            require_type(definition, *val, segment, input)
                .map_err(|problem| reject(format!("its input {place} {problem}")))?;
        }
        let outputs = segment.outputs.iter().zip(segment.definition.fusion.outputs()).enumerate();
        for (place, (val, output)) in outputs {
            require_type(definition, *val, segment, output.val)
                .map_err(|problem| reject(format!("its output {place} {problem}")))?;
        }
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

/// Checks that a value of the definition has the dtype, the rank and the known sizes of a segment's value.
fn require_type(
    definition: &Definition,
    val: Val,
    segment: &SegmentDefinition,
    own: Val,
) -> Result<(), String> {
    if val.node.as_u32() as usize >= definition.graph.len() {
        return Err("is no value of the definition".to_owned());
    }
    let (expected, given) = (definition.graph.ty(val), segment.definition.graph.ty(own));
    let agree = |(a, b): (&Expr, &Expr)| match (a.as_const(), b.as_const()) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    };
    let fits = expected.dtype == given.dtype
        && expected.rank() == given.rank()
        && expected.shape.iter().zip(&given.shape).all(agree);
    if fits { Ok(()) } else { Err(format!("is {given}, where the definition has {expected}")) }
}
