//! Whether an edited segment has the same inputs and outputs as before.

use ir::definition::Definition;
use ir::graph::{Output, Type, Val};

/// The first difference in inputs or outputs between an edited definition and the original, if there is one.
pub(super) fn change(was: &Definition, is: &Definition) -> Option<String> {
    let given = |definition: &Definition| -> Vec<Val> {
        definition.fusion.outputs().iter().map(|output: &Output| output.val).collect()
    };
    let inputs = differences("input", (was, was.fusion.inputs()), (is, is.fusion.inputs()));
    let outputs = || differences("output", (was, &given(was)), (is, &given(is)));
    inputs.or_else(outputs).or_else(|| written(is))
}

/// An output that is written to an input: segments only make values, and the whole definition writes.
fn written(is: &Definition) -> Option<String> {
    let place = is.fusion.outputs().iter().position(|output| output.alias.is_some())?;
    Some(format!("output {place} is written to an input"))
}

fn differences(kind: &str, was: (&Definition, &[Val]), is: (&Definition, &[Val])) -> Option<String> {
    if was.1.len() != is.1.len() {
        return Some(format!("it has {} {kind}s and had {}", is.1.len(), was.1.len()));
    }
    let differs = |place: usize| {
        let (old, new) = (was.0.graph.ty(was.1[place]), is.0.graph.ty(is.1[place]));
        let facts = [was.0.fusion.facts(), is.0.fusion.facts()];
        let same_sizes = old.rank() == new.rank()
            && old.shape.iter().zip(&new.shape).all(|(a, b)| facts.iter().any(|facts| facts.prove_eq(a, b)));
        let is_same = old.dtype == new.dtype && same_sizes;
        (!is_same).then(|| in_words(kind, place, old, new))
    };
    (0..was.1.len()).find_map(differs)
}

fn in_words(kind: &str, place: usize, was: &Type, is: &Type) -> String {
    format!("{kind} {place} is {is} and was {was}")
}
