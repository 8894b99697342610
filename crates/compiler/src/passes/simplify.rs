//! Drops ops without effect: copies, lossless casts, moves that move nothing, arithmetic on constants. Squares and cubes
//! become products, as torch has them.
//!
//! A value of a half type is always rounded, so a cast down stays; only a cast up that is undone, or followed by another
//! cast, is dropped. A copy that the user wants as a boundary stays.

use index::{Expr, Facts};
use ir::graph::{Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::{DType, ScalarOp};

use super::PassContext;

/// The pass.
pub fn simplify(graph: &mut Graph, context: &PassContext<'_>) -> (Fusion, ValMap) {
    rewrite(graph, context.fusion, |graph, facts, node, operands| {
        simpler(graph, facts, node, operands).map(|val| vec![val])
    })
}

/// The value that a node's only result equals, if it is a simpler one.
fn simpler(graph: &mut Graph, facts: &mut Facts, node: Node, operands: &[Val]) -> Option<Val> {
    let op = graph.node(node).op.clone();
    match &op {
        TensorOp::Map(scalar_op) if scalar_op.moves_bits() && *scalar_op != ScalarOp::SegmentSet => {
            Some(operands[0])
        }
        TensorOp::Map(scalar_op) => fold_constants(graph, facts, *scalar_op, operands).or_else(|| {
            let is_power =
                *scalar_op == ScalarOp::Pow && matches!(graph.dtype(operands[0]), DType::F32 | DType::F64);
            if is_power { small_power(graph, facts, operands[0], operands[1]) } else { None }
        }),
        TensorOp::Cast(dtype) => simpler_cast(graph, facts, *dtype, operands[0]),
        TensorOp::Permute(order) if order.iter().enumerate().all(|(axis, &from)| axis == from as usize) => {
            Some(operands[0])
        }
        TensorOp::Expand(sizes) | TensorOp::Reshape(sizes) => {
            let shape = graph.shape(operands[0]);
            // Other ops check which sizes of a shape are written as 1, so that must not change.
            let is_kept = |(a, b): (&Expr, &Expr)| a.is_one() == b.is_one() && facts.prove_eq(a, b);
            let same = shape.len() == sizes.len() && shape.iter().zip(sizes).all(is_kept);
            same.then_some(operands[0])
        }
        TensorOp::Squeeze(axes) => {
            let TensorOp::Broadcast(new) = graph.op(operands[0]) else { return None };
            let undone = new.iter().enumerate().all(|(axis, &new)| new == axes.contains(&(axis as u8)));
            undone.then(|| graph.operands(operands[0])[0])
        }
        TensorOp::Cat(_) if operands.len() == 1 => Some(operands[0]),
        _ => None,
    }
}

fn fold_constants(
    graph: &mut Graph,
    facts: &mut Facts,
    scalar_op: ScalarOp,
    operands: &[Val],
) -> Option<Val> {
    let constants: Option<Vec<_>> = operands.iter().map(|&val| graph.as_constant(val)).collect();
    let folded = scalar_op.of_scalars(&constants?)?;
    Some(graph.add(TensorOp::Constant(folded), &[], facts).expect("constants are always accepted").into())
}

/// A number to the power of 1, 2 or 3.
fn small_power(graph: &mut Graph, facts: &mut Facts, base: Val, exponent: Val) -> Option<Val> {
    let exponent = graph.as_constant(exponent)?.as_f64();
    let factors = [1.0, 2.0, 3.0].into_iter().position(|power| power == exponent)?;
    let mut power = base;
    for _ in 0..factors {
        power = graph.add(TensorOp::Map(ScalarOp::Mul), &[power, base], facts).ok()?.into();
    }
    Some(power)
}

fn simpler_cast(graph: &mut Graph, facts: &mut Facts, to: DType, operand: Val) -> Option<Val> {
    if graph.dtype(operand) == to {
        return Some(operand);
    }
    if let Some(constant) = graph.as_constant(operand) {
        return Some(
            graph
                .add(TensorOp::Constant(constant.cast(to)), &[], facts)
                .expect("constants are accepted")
                .into(),
        );
    }
    let TensorOp::Cast(middle) = graph.op(operand) else { return None };
    let source = graph.operands(operand)[0];
    let from = graph.dtype(source);
    if !holds(*middle, from) {
        return None;
    }
    // Out-of-range values wrap when converted from an integer, but not from a float.
    if middle.is_float() && from.is_int() && to.is_int() && to != from && !holds(to, from) {
        return None;
    }
    if from == to {
        return Some(source);
    }
    Some(graph.add(TensorOp::Cast(to), &[source], facts).expect("casts are always accepted").into())
}

/// Whether every value of `narrow` is a value of `wide`, so that a cast through it loses nothing.
fn holds(wide: DType, narrow: DType) -> bool {
    use DType::{BF16, Bool, F8E4M3, F8E5M2, F8E8M0, F16, F32, F64, I8, I16, I32, U8, U16, U32};
    if wide.is_int() && (narrow.is_int() || narrow == Bool) {
        return ops::promote(narrow, wide) == Some(wide);
    }
    matches!(
        (narrow, wide),
        (F8E4M3 | F8E5M2, F16)
            | (F8E4M3 | F8E5M2 | F8E8M0, BF16)
            | (F8E4M3 | F8E5M2 | F8E8M0 | F16 | BF16, F32 | F64)
            | (I8 | U8, F16 | BF16)
            | (I8 | I16 | U8 | U16, F32)
            | (I8 | I16 | I32 | U8 | U16 | U32 | F32, F64)
            | (Bool, F32 | F64)
    )
}
