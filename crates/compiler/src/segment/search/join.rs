//! Segments that read the same values become one, so that these are read once: merging along the graph never meets those that
//! do not wait for each other. In small fusions any two may, which saves a launch, unless that is nearly nothing and more is in
//! memory then, or both do the same and one launch runs them anyway.

use ir::graph::{Fusion, Val};
use scheduler::legal::LARGEST;

use super::SearchProblem;
use super::state::{Change, State};
use crate::segment::engine::Engine;
use crate::segment::joined::Joined;
use crate::segment::structure::Structure;

/// Statements of a kernel beyond which fewer bytes are no longer less time.
pub(crate) const STATEMENTS: u64 = LARGEST / 4;

impl State<'_> {
    /// Joins the segments of each pair that gains by it; whether any did.
    pub(super) fn join(&mut self) -> bool {
        let is_small = self.problem.is_small();
        let mut is_changed = false;
        for later in 1..self.segments.len() {
            for earlier in 0..later {
                let are_alike = self.read_alike(earlier, later);
                let saves_launch = is_small && !self.have_like_ops(earlier, later);
                if self.steps > 0 && (saves_launch || are_alike) {
                    is_changed |= self.try_join(earlier, later, are_alike);
                }
            }
        }
        is_changed
    }

    /// Whether two segments read a tensor that both need, or one what the other makes.
    pub(super) fn read_alike(&self, earlier: usize, later: usize) -> bool {
        let [earlier, later] = [earlier, later].map(|place| &self.segments[place]);
        let is_tensor = |val: &&Val| self.problem.graph.ty(**val).rank() > 0;
        let tensors = earlier.view.inputs().iter().filter(is_tensor);
        tensors.chain(&earlier.made).any(|&val| later.view.is_input(val))
            || later.made.iter().any(|&val| earlier.view.is_input(val))
    }

    fn have_like_ops(&self, earlier: usize, later: usize) -> bool {
        let structure = |place: usize| Structure::of(self.problem.graph, &self.segments[place].view);
        structure(earlier).has_ops_of(structure(later))
    }

    /// Segments that are not `alike` only save a launch together, which may not be worth memory for what both of them read.
    fn try_join(&mut self, earlier: usize, later: usize, are_alike: bool) -> bool {
        if self.are_parted(earlier, later) {
            return false;
        }
        let pair = [earlier, later].map(|place| &self.segments[place].view);
        let readers = |val: Val| self.readers.get(&val).copied().unwrap_or(0);
        let SearchProblem { graph, fusion, .. } = self.problem;
        let joined = Joined::of(graph, fusion, pair, readers);
        if !self.is_short(&joined.view) {
            return false;
        }
        let made = vec![(earlier, joined.made), (later, Vec::new())];
        let change = Change { made, kept: Vec::new(), dropped: joined.dropped };
        match are_alike {
            true => self.improve(change),
            false => self.improve_in_memory(change),
        }
    }

    /// Whether a segment is short code.
    fn is_short(&self, view: &Fusion) -> bool {
        match &*self.problem.legality.of(self.problem.graph, view) {
            Ok(Engine::Kernel(witness)) => witness.statements <= STATEMENTS,
            Ok(Engine::External(_)) | Err(_) => false,
        }
    }
}
