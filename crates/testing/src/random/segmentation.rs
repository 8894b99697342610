//! A random valid segmentation: any values kept, any of them together, as long as none is needed before it is made. An
//! external op is alone, most often together with its operands in memory.

use ferrofuse::{Definition, Segmentation};
use ir::graph::{TensorOp, Val};

use super::Draws;

/// How often values are drawn before each gets a separate segment.
const TRIES: usize = 20;

/// A random segmentation.
pub fn segmentation(definition: &Definition, draws: &mut Draws) -> Segmentation {
    let kept = kept(definition, draws);
    let fits = |drawn: &Segmentation| drawn.check(&definition.graph, &definition.fusion).is_ok();
    let drawn = (0..TRIES).map(|_| grouped(definition, &kept, draws)).find(fits);
    // Operands come before users, so this one is always valid.
    drawn.unwrap_or_else(|| Segmentation::new(kept.iter().map(|&val| vec![val]).collect()))
}

/// The outputs and some other values, operands before users.
fn kept(definition: &Definition, draws: &mut Draws) -> Vec<Val> {
    let (graph, fusion) = (&definition.graph, &definition.fusion);
    let chance = draws.one_of(&[0, 5, 15, 30, 60]);
    let values = fusion.order().iter().flat_map(|&node| graph.results(node));
    let read = if draws.percent(90) { read_by_external_ops(definition) } else { Vec::new() };
    let mut chosen = |val: Val| match graph.op(val) {
        _ if fusion.is_output(val) || read.contains(&val) => true,
        TensorOp::External(_) => true,
        TensorOp::Constant(_) | TensorOp::Size(_) => draws.percent(chance / 5),
        _ => draws.percent(chance),
    };
    values.filter(|&val| !fusion.is_input(val) && chosen(val)).collect()
}

/// The operands of external ops.
fn read_by_external_ops(definition: &Definition) -> Vec<Val> {
    let (graph, order) = (&definition.graph, definition.fusion.order().iter());
    let library = order.filter(|node| matches!(graph.node(**node).op, TensorOp::External(_)));
    let mut stack: Vec<Val> = library.flat_map(|&node| graph.node(node).operands.iter().copied()).collect();
    let mut read = Vec::new();
    while let Some(val) = stack.pop() {
        match graph.op(val) {
            op if op.is_view() => stack.extend(graph.operands(val)),
            _ => read.push(val),
        }
    }
    read
}

fn grouped(definition: &Definition, kept: &[Val], draws: &mut Draws) -> Segmentation {
    let alone = draws.one_of(&[10, 40, 80]);
    let (mut segments, mut library): (Vec<Vec<Val>>, Vec<Vec<Val>>) = (Vec::new(), Vec::new());
    for &val in kept {
        if matches!(definition.graph.op(val), TensorOp::External(_)) {
            match library.last_mut() {
                Some(made) if made[0].node == val.node => made.push(val),
                _ => library.push(vec![val]),
            }
        } else if segments.is_empty() || draws.percent(alone) {
            segments.push(vec![val]);
        } else {
            let late = if draws.percent(70) { segments.len() - 1 } else { draws.below(segments.len()) };
            segments[late].push(val);
        }
    }
    segments.iter_mut().for_each(|made| made.sort_unstable());
    segments.append(&mut library);
    // Ordered by the last value that each makes, so that segments come before their readers.
    segments.sort_by_key(|made| made.last().copied());
    Segmentation::new(segments)
}
