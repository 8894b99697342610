//! How often a kernel computes a value again that has fewer axes than the loops around it: a function of weights for each row, a
//! table of positions for each head. What lacks the inner axes of a loop nest is computed outside of them; what lacks outer
//! ones is computed anew in each of their iterations.

use ir::graph::{Fusion, Node, TensorOp};
use rustc_hash::{FxHashMap, FxHashSet};
use scheduler::legal::Witness;
use scheduler::space::Axis;

use super::amounts::Amounts;

/// Cycles of an element from which on ops that are computed again count, together with what they alone are computed from.
/// Fewer are hidden behind the memory traffic of the kernel.
const COSTLY: u64 = 7;

/// A set of axes, by the places of their loops.
type Axes = u64;

/// How often each node is computed for each of its elements, where that is more than once and costs something.
#[derive(Default)]
pub(super) struct Repeats {
    times: FxHashMap<Node, u64>,
}

impl Repeats {
    /// Those of a kernel.
    pub fn of(amounts: &Amounts<'_>, view: &Fusion, witness: &Witness) -> Repeats {
        let loops = Loops::of(witness);
        let all: Axes = loops.set(witness.order.iter().copied());
        let is_narrow = |&node: &Node| loops.made(node) != all && amounts.cycles(node) > 0;
        if witness.order.len() > Axes::BITS as usize || !view.order().iter().any(is_narrow) {
            return Repeats::default();
        }
        let around = loops.around(amounts, view);
        let is_fold = |node: Node| matches!(amounts.graph.node(node).op, TensorOp::Fold { .. });
        let times = |&node: &Node| {
            let own = if is_fold(node) { 0 } else { loops.made(node) };
            let outer = (1_u64 << own.checked_ilog2()?) - 1;
            let missing = loops.axes(around[&node] & !own & outer);
            let sizes = missing.map(|axis| amounts.hints.value(witness.space.size(axis)));
            Some((node, sizes.fold(1, u64::saturating_mul)))
        };
        let times = view.order().iter().filter_map(times).filter(|&(_, times)| times > 1).collect();
        let mut repeats = Repeats { times };
        repeats.keep_costly(amounts, view);
        repeats
    }

    /// Forgets what is cheap, and not needed for what is costly alone.
    fn keep_costly(&mut self, amounts: &Amounts<'_>, view: &Fusion) {
        let mut cycles: FxHashMap<Node, u64> = FxHashMap::default();
        for &node in view.order().iter().filter(|node| self.times.contains_key(node)) {
            let operands = amounts.graph.node(node).operands.iter();
            let own = amounts.cycles(node) / amounts.of(node.into()).elements.max(1);
            let before = operands.filter_map(|operand| cycles.get(&operand.node)).copied();
            cycles.insert(node, before.fold(own, u64::saturating_add));
        }
        let mut costly: FxHashSet<Node> = FxHashSet::default();
        for &node in view.order().iter().rev() {
            if cycles.get(&node).is_some_and(|&cycles| cycles >= COSTLY) || costly.contains(&node) {
                costly.insert(node);
                costly.extend(amounts.graph.node(node).operands.iter().map(|operand| operand.node));
            }
        }
        self.times.retain(|node, _| costly.contains(node));
    }

    /// How often a node is computed for each of its elements.
    pub fn times(&self, node: Node) -> u64 {
        self.times.get(&node).copied().unwrap_or(1)
    }
}

/// The loops of a kernel: outside those that blocks divide, inside those of its stages. Where no stage waits for a fold the lanes
/// take the contiguous axis, and are innermost.
struct Loops<'w> {
    witness: &'w Witness,
    order: Vec<Axis>,
    places: FxHashMap<Axis, u32>,
}

impl<'w> Loops<'w> {
    fn of(witness: &'w Witness) -> Loops<'w> {
        let waits = witness.scanned.is_some() || witness.folds.iter().any(|fold| !fold.terminal);
        let lane = witness.order.last().filter(|_| !waits);
        let is_outer = |axis: &Axis| witness.workers.contains(axis) && Some(axis) != lane;
        let (mut order, inner): (Vec<Axis>, Vec<Axis>) =
            witness.order.iter().partition(|axis| is_outer(axis));
        order.extend(inner);
        let places = order.iter().copied().zip(0..).collect();
        Loops { witness, order, places }
    }

    fn set(&self, axes: impl Iterator<Item = Axis>) -> Axes {
        axes.filter_map(|axis| self.places.get(&axis)).fold(0, |set, place| set | 1_u64.wrapping_shl(*place))
    }

    fn axes(&self, set: Axes) -> impl Iterator<Item = Axis> + '_ {
        let order = self.order.iter().enumerate();
        order.filter(move |(place, _)| set >> place & 1 == 1).map(|(_, &axis)| axis)
    }

    /// The axes of what a node makes.
    fn made(&self, node: Node) -> Axes {
        self.set(self.witness.space.axes_of(node.into()).iter().flatten().copied())
    }

    /// The axes of the loops in which each node is computed: its own, and those of what uses it, up to folds, whose results stay,
    /// and to index maps, which are counted where they are followed.
    fn around(&self, amounts: &Amounts<'_>, view: &Fusion) -> FxHashMap<Node, Axes> {
        let mut around: FxHashMap<Node, Axes> =
            view.order().iter().map(|&node| (node, self.made(node))).collect();
        let folded = self.witness.folds.iter().map(|fold| (fold.node, self.set(fold.domain())));
        let folded: FxHashMap<Node, Axes> = folded.collect();
        for &node in view.order().iter().rev() {
            let inside = folded.get(&node).copied().unwrap_or(around[&node]);
            for (k, operand) in amounts.graph.node(node).operands.iter().enumerate() {
                let is_moved = self.witness.space.moves(amounts.graph, node, k);
                if let Some(operand) = around.get_mut(&operand.node).filter(|_| !is_moved) {
                    *operand |= inside;
                }
            }
        }
        around
    }
}
