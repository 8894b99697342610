//! The cycles that each node of a graph takes on a machine: for a vector of elements on a CPU, for one element on a GPU's
//! lane.

use ir::graph::{Graph, Node, TensorOp, Val};
use ops::cycles::{cpu, gpu};
use ops::{Body, BodyStep, DType, Monoid, ScalarOp};
use target::{Processor, Target};

/// What differs between machines.
#[derive(Clone, Copy, Debug)]
pub struct OpCycles {
    scalar_op: fn(ScalarOp, DType) -> u64,
    /// Of a conversion from one dtype to another.
    cast: fn(DType, DType) -> u64,
}

impl OpCycles {
    /// The cycles of a machine's ops.
    pub fn of(target: &Target) -> OpCycles {
        match target.processor {
            Processor::Cpu(_) => OpCycles { scalar_op: cpu::scalar_op, cast: cpu::cast },
            Processor::Gpu(_) => OpCycles { scalar_op: gpu::scalar_op, cast: gpu::cast },
        }
    }

    /// Cycles of a node, for each element that it takes or makes.
    pub fn of_node(&self, graph: &Graph, node: Node) -> u64 {
        let data = graph.node(node);
        match &data.op {
            TensorOp::Map(op) => (self.scalar_op)(*op, graph.dtype(node.into())),
            TensorOp::Cast(dtype) => (self.cast)(graph.dtype(data.operands[0]), *dtype),
            TensorOp::Iota(_) => 1,
            TensorOp::Pad { .. } => 2,
            TensorOp::Cat(_) => data.operands.len() as u64,
            TensorOp::Gather(_) => 10,
            TensorOp::Fold { monoid: monoid @ Monoid::Lambda(lambda), axes } => {
                let is_across = !axes.iter().any(|&axis| is_contiguous(graph, data.operands[0], axis.into()));
                let cycles = self.of_body(lambda.body());
                // Rows across the lanes are jammed, so that sums are rescaled once for all of them.
                if is_across && monoid.rescaled().is_some() { cycles.div_ceil(2) } else { cycles }
            }
            TensorOp::Fold { .. } => 1,
            // Along the contiguous axis one element follows another; across it lanes scan side by side.
            TensorOp::Scan { .. } if scans_memory(graph, node) => 350,
            TensorOp::Scan { .. } => 4,
            _ => 0,
        }
    }

    /// Cycles of the body of a lambda.
    fn of_body(&self, body: &Body) -> u64 {
        let dtypes = &body.dtypes()[body.params().len()..];
        let cycles = |(step, &dtype): (&BodyStep, &DType)| match step {
            BodyStep::Apply(op, _) => (self.scalar_op)(*op, dtype),
            BodyStep::Cast(..) => 1,
            BodyStep::Constant(_) => 0,
        };
        body.steps().iter().zip(dtypes).map(cycles).sum()
    }
}

/// Whether a node scans along the contiguous axis, so that its kernel takes one element after the other.
pub fn scans_memory(graph: &Graph, node: Node) -> bool {
    let data = graph.node(node);
    matches!(data.op, TensorOp::Scan { axis, .. } if is_contiguous(graph, data.operands[0], axis.into()))
}

/// Whether a value is contiguous along an axis: as the input that it re-indexes, else along the last axis.
fn is_contiguous(graph: &Graph, val: Val, axis: usize) -> bool {
    let operands = || graph.node(val.node).operands.iter().copied();
    let has_rank = |operand: &Val| graph.ty(*operand).rank() == graph.ty(val).rank();
    match graph.op(val) {
        TensorOp::Permute(axes) => is_contiguous(graph, graph.node(val.node).operands[0], axes[axis].into()),
        TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Slice { .. } | TensorOp::Pad { .. } => {
            operands().find(has_rank).is_some_and(|operand| is_contiguous(graph, operand, axis))
        }
        TensorOp::Input { layout, .. } => match layout.order.last() {
            Some(&last) => usize::from(last) == axis,
            None => axis + 1 == graph.ty(val).rank(),
        },
        _ => axis + 1 == graph.ty(val).rank(),
    }
}
