//! Index maps downstream of folds and scans. A slice, pad, cat, gather or reshape reads its operand at other indices than
//! those of the loops. Pointwise operands are computed there; the result of a fold is known only at the indices of the
//! loops. So a fold may precede an index map that moves no axis of its result: the statistic of a row serves the whole row,
//! however its elements are moved.

use ir::graph::{Fusion, Graph, Node, Val};
use rustc_hash::FxHashSet;

use super::Rejection;
use super::needs::Needs;
use space::{AxisTable, Moved, Space};

/// Rejects a group in which an index map needs a fold at other indices than the loops', or any scan. The index of a gather
/// is an operand like any other.
pub(super) fn reject_moved_folds(
    graph: &Graph,
    view: &Fusion,
    space: &Space,
    needs: &Needs,
    table: &mut AxisTable,
) -> Result<(), Rejection> {
    if !space.has_index_maps() {
        return Ok(());
    }
    let mut reads = MovedReads { graph, view, table, seen: FxHashSet::default() };
    for (position, &node) in view.order().iter().enumerate() {
        for (k, &val) in graph.node(node).operands.iter().enumerate() {
            let Some(maker) = space.maker(position, k) else { continue };
            if !space.moves(position, k) {
                continue;
            }
            let behind = match (needs.scan(maker), needs.folds(maker).is_empty()) {
                (Some(scan), _) => Some(format!("scan {scan}")),
                (None, true) => None,
                (None, false) => reads.moved_fold(node, k).map(|fold| format!("fold {fold}")),
            };
            if let Some(behind) = behind {
                let reason = format!("is read at other indices than it is computed at, after the {behind}");
                return Err(Rejection { val, reason, is_monotone: false });
            }
        }
    }
    Ok(())
}

/// Values that index maps read at other indices than the loops'.
struct MovedReads<'a> {
    graph: &'a Graph,
    view: &'a Fusion,
    table: &'a mut AxisTable,
    seen: FxHashSet<(Val, Moved)>,
}

impl MovedReads<'_> {
    /// A fold that operand `k` of an index map needs at other indices than the loops'.
    fn moved_fold(&mut self, node: Node, k: usize) -> Option<Node> {
        let graph = self.graph;
        let mut stack = vec![(graph.node(node).operands[k], self.table.moved(graph, node, k, &[]))];
        while let Some((val, moved)) = stack.pop() {
            if moved.is_empty() || self.view.is_input(val) || !self.seen.insert((val, moved.clone())) {
                continue;
            }
            if graph.op(val).is_fold() {
                return Some(val.node);
            }
            for (k, &operand) in graph.operands(val).iter().enumerate() {
                stack.push((operand, self.table.moved(graph, val.node, k, &moved)));
            }
        }
        None
    }
}
