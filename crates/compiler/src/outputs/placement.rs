//! Layouts of outputs: that of the input that they are written to, or their axes in an order of their own.
//!
//! Takes a fusion and the layouts of its inputs. Returns only layouts that are not row-major without gaps.

use ir::graph::{Axes, Fusion, Graph, Output, TensorOp, Val};
use ir::layout::LayoutClass;
use rustc_hash::FxHashMap;

/// The layout of a value because it is an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// As the input of this number, to which it is written.
    Like(usize),
    /// Without gaps, the axes from the outermost in memory to the innermost.
    Ordered(Axes),
}

impl Placement {
    /// The layout that it gives a value if inputs have these.
    pub fn layout(&self, inputs: &[LayoutClass]) -> LayoutClass {
        match self {
            Placement::Like(input) => inputs[*input].clone(),
            Placement::Ordered(order) => LayoutClass::Ordered(order.clone()),
        }
    }
}

/// The placements of computed values that are not row-major because they are outputs. If a value is several outputs, the
/// first counts, but those written to an input take precedence. Results of external ops are always row-major.
pub(crate) fn placements(
    graph: &Graph,
    fusion: &Fusion,
    layouts: &[LayoutClass],
) -> FxHashMap<Val, Placement> {
    let computed = |output: &&Output| {
        !fusion.is_input(output.val) && !matches!(graph.op(output.val), TensorOp::External(_))
    };
    let (written, others): (Vec<&Output>, Vec<&Output>) =
        fusion.outputs().iter().filter(computed).partition(|output| output.alias.is_some());
    let mut placements: FxHashMap<Val, Option<Placement>> = FxHashMap::default();
    for output in written {
        let input = output.alias.map(|input| input as usize).filter(|&input| {
            layouts.get(input).is_some_and(|layout| layout.is_writable(graph.shape(output.val)))
        });
        let placement = placements.entry(output.val).or_default();
        *placement = placement.take().or(input.map(Placement::Like));
    }
    for output in others {
        let order = || (!output.order.is_empty()).then(|| Placement::Ordered(output.order.clone()));
        placements.entry(output.val).or_insert_with(order);
    }
    placements.into_iter().filter_map(|(val, placement)| Some((val, placement?))).collect()
}
