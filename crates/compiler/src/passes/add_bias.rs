//! Gives products of matrices the bias that is added to them, for a library that adds it before rounding: then the sum is
//! written in the operands' type, instead of the product in the compute type.
//!
//! Takes products that are used by nothing but the sum, and, for operands of a half type, sums that are used by nothing but
//! the rounding.

use ir::graph::{ExternalOp, Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{DType, ScalarOp};
use rustc_hash::FxHashSet;

/// The pass; values that are `kept` stay.
pub fn add_bias(graph: &mut Graph, fusion: &Fusion, kept: &FxHashSet<Val>) -> (Fusion, ValMap) {
    let is_chosen = |node: &Node| is_sum_of_its_own(graph, fusion, kept, *node);
    let chosen: FxHashSet<Node> = fusion.order().iter().copied().filter(is_chosen).collect();
    let vanished: FxHashSet<Val> = chosen.iter().flat_map(|&node| vanishing(graph, node)).collect();
    let (view, map) = rewrite(graph, fusion, |graph, facts, node, operands| {
        let sum = Sum::of(graph, &graph.node(node).op, operands).filter(|_| chosen.contains(&node))?;
        let Sum { arg, weight, bias, dtype, .. } = sum;
        let weight = match weight {
            Weight::ByRows(weight) => weight,
            Weight::ByColumns(matrix) => {
                let transposed = TensorOp::Permute([1, 0].into_iter().collect());
                graph.add(transposed, &[matrix], facts).expect("a matrix has two axes").into()
            }
        };
        let linear = TensorOp::External(ExternalOp::Linear(dtype));
        let linear = graph.add(linear, &[arg, weight, bias], facts);
        Some(vec![linear.expect("product and sum had these shapes").into()])
    });
    let mut left = ValMap::new();
    map.iter().filter(|(old, _)| !vanished.contains(old)).for_each(|(old, new)| left.insert(old, new));
    (view, left)
}

/// The product and the sum before it is rounded, which are no longer made.
fn vanishing(graph: &Graph, node: Node) -> Vec<Val> {
    let data = graph.node(node);
    let product = Sum::of(graph, &data.op, &data.operands).map(|sum| sum.product);
    let rounded = matches!(data.op, TensorOp::Cast(_)).then(|| data.operands[0]);
    product.into_iter().chain(rounded).collect()
}

/// Whether a node is, or rounds, the only use of a product: its sum with a bias.
fn is_sum_of_its_own(graph: &Graph, fusion: &Fusion, kept: &FxHashSet<Val>, node: Node) -> bool {
    let data = graph.node(node);
    let Some(Sum { product, bias, .. }) = Sum::of(graph, &data.op, &data.operands) else { return false };
    let is_free = |val: Val| fusion.uses(val).len() == 1 && !fusion.is_output(val) && !kept.contains(&val);
    let rounds = matches!(data.op, TensorOp::Cast(_));
    let (of_product, of_bias) = (graph.shape(product), graph.shape(bias));
    // A bias of one element may be repeated, and the product's rows too.
    let fits = of_product.last().is_some_and(|columns| fusion.facts().prove_eq(columns, &of_bias[0]));
    fits && *of_product == *graph.shape(node.into())
        && is_free(product)
        && (!rounds || is_free(data.operands[0]))
}

/// A product with a vector that is added to each of its rows.
struct Sum {
    product: Val,
    arg: Val,
    weight: Weight,
    bias: Val,
    /// The type of the operands, and of the sum once it is rounded.
    dtype: DType,
}

/// The second operand of a product.
#[derive(Clone, Copy)]
enum Weight {
    /// A matrix that is transposed for the product.
    ByRows(Val),
    /// The matrix itself.
    ByColumns(Val),
}

impl Sum {
    /// That of a node with these operands: a sum of f32, or the rounding of a sum to a half type.
    fn of(graph: &Graph, op: &TensorOp, operands: &[Val]) -> Option<Sum> {
        let (dtype, terms) = match op {
            TensorOp::Map(ScalarOp::Add) => (DType::F32, operands),
            TensorOp::Cast(dtype @ (DType::F16 | DType::BF16)) => {
                let is_sum = matches!(graph.op(operands[0]), TensorOp::Map(ScalarOp::Add));
                (*dtype, is_sum.then(|| graph.operands(operands[0]))?)
            }
            _ => return None,
        };
        let &[left, right] = terms else { return None };
        let of = |product: Val, addend: Val| {
            let is_product = matches!(graph.op(product), TensorOp::External(ExternalOp::Matmul(DType::F32)));
            let [arg, matrix] = *is_product.then(|| graph.operands(product))? else { return None };
            let suits = graph.dtype(arg) == dtype;
            let (weight, bias) = (weight(graph, matrix)?, bias(graph, addend)?);
            let suits = suits && graph.dtype(bias) == dtype;
            suits.then_some(Sum { product, arg, weight, bias, dtype })
        };
        of(left, right).or_else(|| of(right, left))
    }
}

/// The matrix that all batches of an operand are, transposed or not.
fn weight(graph: &Graph, operand: Val) -> Option<Weight> {
    let matrix = match graph.op(operand) {
        TensorOp::Broadcast(new) if new.ends_with(&[false, false]) => graph.operands(operand)[0],
        _ => operand,
    };
    if graph.shape(matrix).len() != 2 {
        return None;
    }
    Some(match graph.op(matrix) {
        TensorOp::Permute(order) if order[..] == [1, 0] => Weight::ByRows(graph.operands(matrix)[0]),
        _ => Weight::ByColumns(matrix),
    })
}

/// The vector that a value repeats along the last axis, before it was widened.
fn bias(graph: &Graph, mut val: Val) -> Option<Val> {
    loop {
        val = match graph.op(val) {
            TensorOp::Cast(DType::F32) => graph.operands(val)[0],
            TensorOp::Expand(sizes) if sizes.last() == graph.shape(graph.operands(val)[0]).last() => {
                graph.operands(val)[0]
            }
            TensorOp::Broadcast(new) if new.last() == Some(&false) => graph.operands(val)[0],
            _ => break,
        };
    }
    (graph.shape(val).len() == 1).then_some(val)
}
