//! Gathers whose indices are counted: `iota`, repeated along other axes, with numbers that the graph knows. Where no index
//! can be out of range, the position in the source follows from that in the result, as in a flip: nothing is read or
//! checked.

use index::{Expr, Facts};
use ir::graph::{Graph, TensorOp, Val};
use ops::DType;

/// The indices along an axis of a source: the first, the step from one to the next, and how many there are.
pub(crate) struct Counted {
    pub start: Expr,
    pub step: Expr,
    length: Expr,
}

impl Counted {
    /// The counted indices of a gather and the axis of the result that they vary along (`None` if there is one index), if
    /// none can be out of range.
    pub fn of(graph: &Graph, facts: &Facts, gather: Val) -> Option<(Counted, Option<usize>)> {
        let &TensorOp::Gather(axis) = graph.op(gather) else { return None };
        let [source, indices] = graph.operands(gather) else { unreachable!("a gather has two operands") };
        let (iota, along) = repeated(graph, *indices)?;
        let TensorOp::Iota(length) = graph.op(iota) else { return None };
        let [start, step] = graph.operands(iota) else { unreachable!("an iota has two operands") };
        let (start, step) = (graph.as_size(*start)?, graph.as_size(*step)?);
        // Numbers of fewer bits wrap.
        let counted =
            (graph.dtype(iota) == DType::I64).then(|| Counted { start, step, length: length.clone() })?;
        counted.is_within(&graph.shape(*source)[axis as usize], facts).then_some((counted, along))
    }

    /// Whether all are proved to be indices of an axis of this size. If there are none, the first and last may be any.
    fn is_within(&self, size: &Expr, facts: &Facts) -> bool {
        let last = &self.start + &self.step * (&self.length - 1);
        let Some(step) = self.step.as_const() else { return false };
        let (low, high) = if step < 0 { (&last, &self.start) } else { (&self.start, &last) };
        facts.prove_le(&Expr::zero(), low) && facts.prove_lt(high, size)
    }
}

/// The iota that a value repeats along other axes, and the axis that it lies along, if it has more than one element.
fn repeated(graph: &Graph, mut val: Val) -> Option<(Val, Option<usize>)> {
    let mut axes: Vec<usize> = (0..graph.ty(val).rank()).collect();
    loop {
        match graph.op(val) {
            TensorOp::Iota(length) => return Some((val, (!length.is_one()).then(|| axes[0]))),
            TensorOp::Broadcast(new) => {
                let mut new = new.iter();
                axes.retain(|_| new.next() == Some(&false));
            }
            TensorOp::Expand(_) => {}
            _ => return None,
        }
        val = graph.operands(val)[0];
    }
}
