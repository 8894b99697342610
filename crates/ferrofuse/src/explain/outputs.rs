//! How those outputs of a plan lie in memory that are not row-major: their strides, as formulas over sizes.

use compiler::Plan;
use compiler::layout::Layout;
use ir::define::Definition;
use ir::graph::{Axes, Val};
use ir::index::Expr;
use rustc_hash::FxHashMap;
use serde::Serialize;

use super::names::output_names;

/// An output and how it lies in memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputExplanation {
    /// The user's name.
    pub name: String,
    /// Its strides in elements, at any sizes; `None` where they are those of a strided input that it is written to.
    pub strides: Option<Vec<String>>,
}

/// The outputs that are not row-major, in the order of the definition. `layouts` tells of the inputs that kernels read.
pub(super) fn outputs(
    definition: &Definition,
    plan: &Plan,
    layouts: &FxHashMap<Val, &Layout>,
) -> Vec<OutputExplanation> {
    let is_strided =
        |input: u32| matches!(layouts.get(&plan.fusion.inputs()[input as usize]), Some(Layout::Strided(_)));

    let outputs = output_names(definition).into_iter().zip(plan.fusion.outputs());
    outputs
        .filter_map(|(name, output)| {
            let has_order = !output.order.is_empty();
            let strides = has_order.then(|| strides(plan.graph.shape(output.val), &output.order));
            (has_order || output.alias.is_some_and(is_strided)).then_some(OutputExplanation { name, strides })
        })
        .collect()
}

/// Products of the sizes of all axes further in.
fn strides(shape: &[Expr], order: &Axes) -> Vec<String> {
    let mut strides = vec![String::new(); shape.len()];
    let mut stride = Expr::one();
    for &axis in order.iter().rev() {
        let axis = usize::from(axis);
        strides[axis] = stride.to_string();
        stride = stride * shape[axis].clone();
    }
    strides
}
