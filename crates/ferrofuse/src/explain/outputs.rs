//! The layouts of a plan's outputs that are views or not row-major: the source of each view, and strides as formulas.

use compiler::Plan;
use index::Expr;
use ir::definition::Definition;
use ir::graph::{Axes, Val};
use ir::layout::LayoutClass;
use serde::{Deserialize, Serialize};

use super::Explainer;
use crate::names::output_names;

/// An output and its layout in memory.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct OutputExplanation {
    /// The user's name.
    pub name: String,
    /// The input, or the value that a segment makes, whose memory it shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view_of: Option<String>,
    /// The value of which it is a copy, made after the segments: no two outputs share memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy_of: Option<String>,
    /// Its strides in elements, as formulas over sizes; `None` if they follow from the tensor that it is a view of or is
    /// written to.
    pub strides: Option<Vec<String>>,
}

/// The outputs that are views or not row-major, in the order of the definition.
pub(super) fn outputs(
    definition: &Definition,
    plan: &Plan,
    explainer: &Explainer<'_>,
) -> Vec<OutputExplanation> {
    let layout = |input: u32| explainer.layouts.get(&plan.fusion.inputs()[input as usize]);
    let is_strided = |input: u32| layout(input).is_some_and(|layout| **layout != LayoutClass::Dense);
    let outputs = output_names(definition).into_iter().zip(plan.fusion.outputs()).zip(&plan.views);
    let outputs = outputs.zip(plan.copies());
    outputs
        .filter_map(|(((name, output), view), copied)| {
            let source = view.as_ref().map(|view| (view.source, explainer.names.of(view.source)));
            // A value computed in the order of memory is the output itself.
            let is_other = |(val, source): &(Val, String)| plan.fusion.is_input(*val) || *source != name;
            let view_of = source.filter(is_other).map(|(_, source)| source).filter(|_| copied.is_none());
            let copy_of = copied.map(|val| explainer.names.of(val));
            let has_order = !output.order.is_empty();
            let strides = has_order.then(|| strides(plan.graph.shape(output.val), &output.order));
            let is_told =
                view_of.is_some() || copy_of.is_some() || has_order || output.alias.is_some_and(is_strided);
            is_told.then_some(OutputExplanation { name, view_of, copy_of, strides })
        })
        .collect()
}

/// For each axis the product of the sizes of the axes inside it.
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
