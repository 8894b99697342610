//! Moves index maps before folds: a slice, pad or cat of a function of folded rows becomes the function of the sliced,
//! padded or concatenated rows. Folds and their readers at other indices are then one kernel.
//!
//! ```text
//! pad (x - mean x, 0)  =  where (inside, p - mean p, 0)  with  p = pad (x, 0)     along axes that no fold reduces
//! ```
//!
//! No bit of an element changes: a fold takes its elements in the same order as before. Whether it pays is not decided here:
//! overlapping slices are computed twice, and folds over padding for nothing.

mod index_maps;

use std::collections::BTreeMap;

use index::Facts;
use ir::graph::{Fusion, Graph, Node, TensorOp, Val, ValMap, rewrite};
use ops::ScalarOp;
use rustc_hash::{FxHashMap, FxHashSet};

use self::index_maps::{Along, IndexMaps};

/// The last of consecutive index maps, and an equal value for which they are moved before folds.
pub type Hoisted = (Node, Val);

/// The most index maps that are moved.
const MAX_HOISTED: usize = 8;

/// The first index maps that can be moved before folds, each with its replacement. Values that are `kept` in memory are read
/// from there.
pub fn hoistable(graph: &mut Graph, fusion: &Fusion, kept: &FxHashSet<Val>) -> Vec<Hoisted> {
    let behind_folds = behind_folds(graph, fusion, kept);
    let mut facts = Facts::clone(fusion.facts());
    let last = |node: &&Node| index_maps::is_last(graph, fusion, **node);
    let chosen: Vec<Node> = fusion.order().iter().filter(last).copied().collect();
    let hoisted = chosen.into_iter().filter_map(|node| {
        let maps = IndexMaps::behind(graph, fusion, node)?;
        let computed = Computed::of(graph, &behind_folds, &maps)?;
        let value = computed.at(graph, &mut facts, &maps)?;
        (graph.ty(value) == graph.ty(node.into())).then_some((node, value))
    });
    hoisted.take(MAX_HOISTED).collect()
}

/// The pass, for some of the movable index maps.
pub fn hoist(graph: &mut Graph, fusion: &Fusion, chosen: &[Hoisted]) -> (Fusion, ValMap) {
    let chosen: FxHashMap<Node, Val> = chosen.iter().copied().collect();
    rewrite(graph, fusion, |_, _, node, _| chosen.get(&node).map(|&value| vec![value]))
}

/// The nodes computed from folds without passing through a value in memory.
fn behind_folds(graph: &Graph, fusion: &Fusion, kept: &FxHashSet<Val>) -> FxHashSet<Node> {
    let mut found = FxHashSet::default();
    for &node in fusion.order() {
        let is_fold = matches!(graph.node(node).op, TensorOp::Fold { .. });
        let is_kept = graph.results(node).any(|val| kept.contains(&val));
        let is_behind = || graph.node(node).operands.iter().any(|operand| found.contains(&operand.node));
        if !is_kept && (is_fold || is_behind()) {
            found.insert(node);
        }
    }
    found
}

/// The nodes that are recomputed before index maps, and the axes of the mapped value that theirs correspond to.
struct Computed<'a> {
    source: Val,
    /// Operands first.
    nodes: Vec<(Node, Along)>,
    behind_folds: &'a FxHashSet<Node>,
}

impl<'a> Computed<'a> {
    /// From folds to the mapped value; `None` if no folds on the way have moving rows, or if something else cannot be moved
    /// past.
    fn of(graph: &Graph, behind_folds: &'a FxHashSet<Node>, maps: &IndexMaps) -> Option<Computed<'a>> {
        let mut waiting: BTreeMap<Node, Along> = BTreeMap::from([(maps.source.node, maps.axes())]);
        let (mut nodes, mut moves_folds) = (Vec::new(), false);
        // A node's number is larger than its operands', so all users of a node come before it.
        while let Some((node, along)) = waiting.pop_last() {
            if behind_folds.contains(&node) {
                moves_folds |= matches!(graph.node(node).op, TensorOp::Fold { .. });
                for (operand, along) in operands(graph, node, &along)? {
                    if !index_maps::move_any_of(graph, operand, &along) {
                        continue;
                    }
                    if *waiting.entry(operand.node).or_insert_with(|| along.clone()) != along {
                        return None;
                    }
                }
            }
            nodes.push((node, along));
        }
        nodes.reverse();
        moves_folds.then_some(Computed { source: maps.source, nodes, behind_folds })
    }

    /// All of it at the indices that index maps ask for, with their fill elsewhere.
    fn at(&self, graph: &mut Graph, facts: &mut Facts, maps: &IndexMaps) -> Option<Val> {
        let mut moved: FxHashMap<Val, Val> = FxHashMap::default();
        for (node, along) in &self.nodes {
            let results: Vec<Val> = graph.results(*node).collect();
            if self.behind_folds.contains(node) {
                let operands: Vec<Val> = graph.node(*node).operands.to_vec();
                let operands: Vec<Val> =
                    operands.into_iter().map(|val| moved.get(&val).copied().unwrap_or(val)).collect();
                let op = maps.resized(graph, *node, along);
                let made = graph.add(op, &operands, facts).ok()?;
                moved.extend(results.into_iter().zip(graph.results(made)));
            } else {
                for val in results {
                    moved.insert(val, maps.applied(graph, facts, val, along)?);
                }
            }
        }
        maps.filled(graph, facts, moved[&self.source])
    }
}

/// The operands of a node that have axes, each with the corresponding axes; `None` if index maps cannot be moved past it.
fn operands(graph: &Graph, node: Node, along: &Along) -> Option<Vec<(Val, Along)>> {
    let with_new = |new: &[u8]| -> Along {
        let mut old = along.iter();
        let rank = along.len() + new.len();
        (0..rank as u8).map(|axis| if new.contains(&axis) { None } else { *old.next()? }).collect()
    };
    let of_operand: Along = match &graph.node(node).op {
        TensorOp::Map(ScalarOp::SegmentSet) => return None,
        TensorOp::Map(_) | TensorOp::Cast(_) | TensorOp::Expand(_) => along.clone(),
        TensorOp::Broadcast(new) => {
            along.iter().zip(new).filter(|(_, new)| !**new).map(|(axis, _)| *axis).collect()
        }
        TensorOp::Squeeze(axes) | TensorOp::Fold { axes, .. } => with_new(axes),
        TensorOp::Permute(order) => {
            let place = |axis: u8| order.iter().position(|&from| from == axis);
            (0..order.len() as u8).map(|axis| along[place(axis)?]).collect()
        }
        TensorOp::Scan { axis, .. } if along[usize::from(*axis)].is_none() => along.clone(),
        _ => return None,
    };
    let with_axes = graph.node(node).operands.iter().filter(|&&val| !graph.shape(val).is_empty());
    Some(with_axes.map(|&val| (val, of_operand.clone())).collect())
}
