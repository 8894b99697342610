//! Scans inside a kernel: states that run along with the loop of the scanned axis.
//!
//! A scan is no stage of its own. Each loop nest of a stage that needs it, directly or behind elementwise values, runs it
//! anew, as it would compute any other value anew:
//!
//! ```text
//! for rows and other axes            the last of them mapped to the lanes, where there is one
//!   acc a0 = identity                one set of states a lane, or one where no axis is left to map
//!   for x in 0 .. size               the scanned axis, walked in order by whoever holds the states
//!     element = …                    what is scanned, at this index
//!     set a0 = step(a0, element)
//!     …                              whatever needs the scan at this index
//! ```
//!
//! So the scanned axis is the innermost loop of the nest, lanes take the axis before it, and a scan, what feeds it and
//! what follows it share one pass. Legality has seen to it that a group scans along one axis only, that workers do not
//! divide it and that nothing asks for a scan at another index than the loops stand at. A scan of a scan steps in the
//! same iteration, behind it.

use ir::graph::{Node, TensorOp, Val};
use ir::kernel::Value;
use rustc_hash::FxHashSet;

use super::fold::States;
use super::nest::Nest;
use crate::space::Axis;

/// The loops of a nest that are still to be opened, from the outside in.
pub(super) struct Loops {
    pub outer: Vec<Axis>,
    /// Walked in tiles, together with the lanes'.
    pub cross: Option<Axis>,
    /// Mapped to the lanes.
    pub lane: Option<Axis>,
    /// The scanned axis, if the nest scans.
    pub scanned: Option<Axis>,
}

impl Nest<'_> {
    /// The order of the loops over these axes in a nest that runs these scans. Lanes are only mapped where they do not
    /// share what an iteration of the scanned axis adds to: `shares` says so of an axis.
    pub fn loops(&self, axes: &[Axis], scans: &[Node], shares: impl Fn(Axis, Axis) -> bool) -> Loops {
        let is_scanned = |axis: &Axis| !scans.is_empty() && Some(*axis) == self.witness().scanned;
        let scanned = axes.iter().copied().find(is_scanned);
        let mut outer: Vec<Axis> = axes.iter().copied().filter(|axis| !is_scanned(axis)).collect();
        let may_map = |lane: &Axis| {
            !self.emitter.builder.in_lanes() && !scanned.is_some_and(|inner| shares(*lane, inner))
        };
        let lane = outer.last().copied().filter(may_map);
        outer.truncate(outer.len() - usize::from(lane.is_some()));
        let cross = lane.filter(|_| scanned.is_none()).and_then(|lane| self.crossing(&outer, lane));
        outer.retain(|axis| Some(*axis) != cross);
        Loops { outer, cross, lane, scanned }
    }

    /// The scans that values need at the index where the loops stand, operands before users.
    pub fn scans_of(&self, vals: Vec<Val>) -> Vec<Node> {
        let group = self.emitter.group;
        let (mut stack, mut seen, mut scans) = (vals, FxHashSet::default(), Vec::new());
        while let Some(val) = stack.pop() {
            let at_hand = group.view.is_input(val) || self.knobs.persistent.contains_key(&(val, self.row()));
            if at_hand || matches!(group.graph.op(val), TensorOp::Fold { .. }) || !seen.insert(val) {
                continue;
            }
            if self.scanned_by(val.node) && !scans.contains(&val.node) {
                scans.push(val.node);
            }
            stack.extend(group.graph.operands(val).iter().copied());
        }
        scans.sort_unstable();
        scans
    }

    /// Whether a node is a scan whose axis a loop walks.
    fn scanned_by(&self, node: Node) -> bool {
        let group = self.emitter.group;
        match group.graph.node(node).op {
            TensorOp::Scan { axis, .. } => {
                !group.witness.space.axes_of(node.into())[axis as usize].is_empty()
            }
            _ => false,
        }
    }

    /// Opens the states of scans, walks the scanned axis around what `body` emits, and steps before it in each iteration.
    pub fn run_scans(&mut self, scans: &[Node], walk: impl FnOnce(&mut Self), body: impl FnOnce(&mut Self)) {
        let group = self.emitter.group;
        let mut running = Vec::with_capacity(scans.len());
        for &scan in scans {
            let states = States::of(group.graph, scan);
            running.push((scan, states, self.open_with(states.total_identity())));
        }
        walk(self);
        for (scan, states, accumulators) in running {
            let element = self.element(scan);
            let new = states.advance(&mut self.emitter, &accumulators, &element);
            let results = states.finish(&mut self.emitter, &new);
            self.know(scan, group.witness.space.axes_of(scan.into()), &results);
        }
        body(self);
    }

    /// A scan along an axis of size 1: the element itself, made a state.
    pub fn single_scan(&mut self, val: Val) -> Value {
        let states = States::of(self.emitter.group.graph, val.node);
        let identity: Vec<Value> =
            states.identity().into_iter().map(|init| self.emitter.constant(init)).collect();
        let element = self.element(val.node);
        let new = states.step(&mut self.emitter, &identity, &element);
        states.finish(&mut self.emitter, &new)[val.result as usize]
    }
}
