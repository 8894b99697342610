//! The axes of outputs that repeat according to the definition, determined independently of the compiler: their stride must
//! be 0.
//!
//! An axis of an elementwise result repeats if all operands that have it repeat; one that a fold keeps repeats if all folded
//! operands do. Tensors filled with a scalar have an element for each index. Ops that move elements are skipped: nothing is
//! promised for them.

use ferrofuse::{ArrayView, Definition};
use ir::graph::{Axes, Graph, Output, TensorOp, Val};
use rustc_hash::FxHashMap;

/// For each output the axes that must have stride 0, if the definition does not determine its memory otherwise: none for
/// outputs that are written to an input or have a memory order, or that re-index an input that the call writes to and so are
/// copies.
pub(super) fn repeated(definition: &Definition, inputs: &[ArrayView<'_>]) -> Vec<Axes> {
    let Definition { graph, fusion, .. } = definition;
    let mut known: FxHashMap<Val, Axes> = FxHashMap::default();
    for (&input, view) in fusion.inputs().iter().zip(inputs) {
        if let TensorOp::Input { layout, .. } = graph.op(input) {
            // An empty tensor may have any strides.
            let comes_so = |axis: &u8| view.strides()[usize::from(*axis)] == 0 && !view.sizes().contains(&0);
            known.insert(input, layout.expanded.iter().copied().filter(comes_so).collect());
        }
    }
    for &node in fusion.order() {
        for val in graph.results(node) {
            known.insert(val, of_node(graph, val, &known));
        }
    }
    let written = fusion.outputs().iter().filter_map(|output| output.alias);
    let written: Vec<Val> = written.map(|input| fusion.inputs()[input as usize]).collect();
    let is_copied = |output: &Output| written.contains(&source(graph, output.val));
    let is_free = |output: &Output| output.alias.is_none() && output.order.is_empty() && !is_copied(output);
    let axes = |output: &Output| match is_free(output) {
        true => known[&output.val].clone(),
        false => Axes::new(),
    };
    fusion.outputs().iter().map(axes).collect()
}

fn of_node(graph: &Graph, val: Val, known: &FxHashMap<Val, Axes>) -> Axes {
    let operands = graph.operands(val);
    let rank = graph.shape(val).len() as u8;
    let has = |operand: Val, axis: u8| {
        graph.shape(operand).get(usize::from(axis)).is_some_and(|size| !size.is_one())
    };
    // Whether all operands that have an axis repeat along it, and at least one has it.
    let everywhere = |axis: &u8| {
        let mut having = operands.iter().filter(|&&operand| has(operand, *axis)).peekable();
        having.peek().is_some() && having.all(|operand| known[operand].contains(axis))
    };
    let is_empty = |&axis: &u8| graph.shape(operands[0])[usize::from(axis)].is_zero();
    match graph.op(val) {
        TensorOp::Map(_) | TensorOp::Cast(_) => (0..rank).filter(everywhere).collect(),
        TensorOp::Expand(_) if is_filled(graph, val) => Axes::new(),
        TensorOp::Expand(_) => {
            let grows = |axis: &u8| has(val, *axis) && (!has(operands[0], *axis) || everywhere(axis));
            (0..rank).filter(grows).collect()
        }
        TensorOp::Permute(order) => {
            (0..rank).filter(|&axis| known[&operands[0]].contains(&order[usize::from(axis)])).collect()
        }
        TensorOp::Broadcast(new) => {
            let kept: Vec<u8> = (0..rank).filter(|&axis| !new[usize::from(axis)]).collect();
            known[&operands[0]].iter().map(|&axis| kept[usize::from(axis)]).collect()
        }
        // A fold of no elements is a constant.
        TensorOp::Fold { axes: gone, .. } if gone.iter().any(is_empty) => Axes::new(),
        TensorOp::Squeeze(gone) | TensorOp::Fold { axes: gone, .. } => {
            let from = graph.shape(operands[0]).len() as u8;
            let kept = (0..from).filter(|axis| !gone.contains(axis));
            kept.enumerate().filter(|(_, axis)| everywhere(axis)).map(|(place, _)| place as u8).collect()
        }
        _ => Axes::new(),
    }
}

/// The value that this one re-indexes or repeats, or itself.
fn source(graph: &Graph, mut val: Val) -> Val {
    let moves = |op: &TensorOp| match op {
        TensorOp::Map(scalar_op) => scalar_op.moves_bits(),
        TensorOp::Broadcast(_) | TensorOp::Expand(_) | TensorOp::Permute(_) | TensorOp::Squeeze(_) => true,
        op => matches!(op, TensorOp::Reshape(_) | TensorOp::Slice { .. }),
    };
    while moves(graph.op(val)) {
        val = graph.operands(val)[0];
    }
    val
}

/// Whether all elements are one scalar, or functions of one: the compiler may drop functions without effect, and then sees a
/// filled tensor. The compiler has a separate function for this, so that its answer is checked too.
fn is_filled(graph: &Graph, mut val: Val) -> bool {
    let keeps = |op: &TensorOp| match op {
        TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Broadcast(_) | TensorOp::Expand(_) => true,
        op => matches!(op, TensorOp::Permute(_) | TensorOp::Squeeze(_) | TensorOp::Reshape(_)),
    };
    while !graph.shape(val).is_empty() {
        match graph.operands(val) {
            &[operand] if keeps(graph.op(val)) => val = operand,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use ferrofuse::{DType, define};
    use ir::array::Array;

    use super::*;

    /// The axes of a body's output over `row`, declared 3 by 4 with stride 0 on the first axis, and `x` of 3 by 4.
    fn repeated_axes(body: &str) -> Vec<u8> {
        let text = format!(
            "def f(fd):
    row = fd.define_tensor(shape=[3, 4], contiguity=[None, True], dtype=DataType.Float)
    x = fd.define_tensor(shape=[3, 4], contiguity=True, dtype=DataType.Float)
    fd.add_output({body})
"
        );
        let (row, x) = (Array::zeros(DType::F32, &[4]), Array::zeros(DType::F32, &[3, 4]));
        let (row, x) = (row.expect("small"), x.expect("small"));
        let layout = row.view().layout().broadcast(&[true, false]).expanded(&[3, 4]);
        let inputs = [row.view().relaid(layout).expect("inside"), x.view()];
        repeated(&define(&text).expect("defines"), &inputs)[0].to_vec()
    }

    #[test]
    fn an_axis_repeats_where_all_operands_do() {
        let cases: [(&str, &[u8]); 14] = [
            ("fd.ops.exp(row)", &[0]),
            ("fd.ops.mul(row, fd.ops.neg(row))", &[0]),
            ("fd.ops.mul(row, x)", &[]),
            ("fd.ops.permute(row, dims=[1, 0])", &[1]),
            ("fd.ops.broadcast(row, is_broadcast_dim=[True, False, False])", &[1]),
            ("fd.ops.sum(row, dims=[1])", &[0]),
            ("fd.ops.sum(row, dims=[0])", &[]),
            ("fd.ops.exp(fd.ops.full(shape=[3, 4], fill_value=1.0, dtype=DataType.Float))", &[]),
            ("fd.ops.stride_order(fd.ops.exp(row), [0, 1])", &[]),
            ("fd.ops.set(row)", &[0]),
            (
                "fd.ops.expand(fd.ops.set(fd.ops.broadcast(fd.ops.sum(x, dims=[0, 1]), [True, True])), [3, 4])",
                &[],
            ),
            // Tensors that one scalar fills, in any way.
            (
                "fd.ops.expand(fd.ops.broadcast(fd.ops.squeeze(fd.ops.sum(row, dims=[0, 1], keepdim=True), \
                 dims=[0, 1]), [True]), [4])",
                &[],
            ),
            // A view of an input that the same call writes to is a copy.
            ("fd.ops.set(row))\n    fd.add_output(x, row", &[]),
            (
                "fd.ops.expand(fd.ops.broadcast(fd.ops.reshape(x, [12]), [True, False]), [2, 12]))\n    \
                 fd.add_output(row, x",
                &[],
            ),
        ];
        for (body, axes) in cases {
            assert_eq!(repeated_axes(body), axes, "{body}");
        }
    }
}
