//! Where outputs lie in memory: like the input that they are written to, or with their axes in an order of their own.
//!
//! Takes a fusion and the layouts of its inputs. Only what lies otherwise than row-major without gaps is told.

use ir::graph::{Axes, Form, Fusion, Graph, Output, Val};
use rustc_hash::FxHashMap;

use crate::layout::Layout;

/// How a value lies in memory because it is an output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// As the input of this number, to which it is written.
    Like(usize),
    /// Without gaps, the axes from the outermost in memory to the innermost.
    Ordered(Axes),
}

impl Placement {
    /// The layout that it gives a value, where inputs have these.
    pub fn layout(&self, inputs: &[Layout]) -> Layout {
        match self {
            Placement::Like(input) => inputs[*input].clone(),
            Placement::Ordered(order) => Layout::Ordered(order.clone()),
        }
    }
}

/// The computed values that do not lie row-major, because they are outputs. Of several outputs of one value the first
/// counts, but those that are written to an input come before all others. A library's results always lie row-major.
pub fn placements(graph: &Graph, fusion: &Fusion, layouts: &[Layout]) -> FxHashMap<Val, Placement> {
    let computed = |output: &&Output| {
        !fusion.is_input(output.val) && !matches!(graph.form(output.val), Form::Library(_))
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
