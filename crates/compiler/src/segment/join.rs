//! Segments that read the same values and do not wait for each other become one, so that these are read once. Merging along
//! the graph never meets them. A join must move fewer bytes, be no slower as the cost model sees it, and leave workers as
//! much to divide and as many folds to divide among them as before.

use ir::graph::Val;

use super::code::LARGEST;
use super::engine::Engine;
use super::recompute::{Search, Segment};
use super::segmentation::segment_view;

/// Legality is asked of at most so many nodes for each of the fusion's.
const BUDGET: usize = 16;

/// Statements of a kernel beyond which fewer bytes are no longer less time.
const STATEMENTS: u64 = LARGEST / 4;

impl Search<'_> {
    /// Joins the segments of each pair that gains by it; whether any did.
    pub(super) fn join(&mut self) -> bool {
        let mut budget = self.fusion.order().len().saturating_mul(BUDGET);
        let mut is_changed = false;
        for later in 1..self.segments.len() {
            for earlier in 0..later {
                let nodes = [earlier, later].map(|number| self.segments[number].view.order().len());
                if nodes.iter().sum::<usize>() <= budget && self.reads_alike(earlier, later) {
                    budget -= nodes.iter().sum::<usize>();
                    is_changed |= self.try_join(earlier, later);
                }
            }
        }
        is_changed
    }

    /// Whether two segments read a tensor that both need.
    fn reads_alike(&self, earlier: usize, later: usize) -> bool {
        let [earlier, later] = [earlier, later].map(|number| &self.segments[number].view);
        let is_tensor = |val: &&Val| self.graph.ty(**val).rank() > 0;
        earlier.inputs().iter().filter(is_tensor).any(|&val| later.is_input(val))
    }

    fn try_join(&mut self, earlier: usize, later: usize) -> bool {
        let Some((place, emptied)) = self.place(earlier, later) else { return false };
        let both = [earlier, later].map(|number| &self.segments[number]);
        let mut made: Vec<Val> = both.iter().flat_map(|segment| &segment.made).copied().collect();
        made.sort_unstable();
        let is_read = |val: Val| {
            let others =
                self.segments.iter().enumerate().filter(|(number, _)| ![earlier, later].contains(number));
            self.fusion.is_output(val) || others.into_iter().any(|(_, other)| other.view.is_input(val))
        };
        let (made, gone): (Vec<Val>, Vec<Val>) = made.into_iter().partition(|&val| is_read(val));
        let mut kept = self.kept.clone();
        gone.iter().for_each(|val| {
            kept.remove(val);
        });
        let view = segment_view(self.graph, self.fusion, &made, &kept);
        let joined = Segment::new(made, view);
        let gains = self.moved(&[&joined]) < self.moved(&both)
            && self.is_as_good(&[&joined], &both)
            && self.divides_as_well(&joined, both);
        if gains {
            self.kept = kept;
            self.segments[place] = joined;
            self.segments[emptied] =
                Segment::new(Vec::new(), segment_view(self.graph, self.fusion, &[], &self.kept));
        }
        gains
    }

    /// Which of the two places in the order a join of these segments can take, and which it leaves empty. None where one waits
    /// for the other through a third.
    fn place(&self, earlier: usize, later: usize) -> Option<(usize, usize)> {
        let between = &self.segments[earlier + 1..later];
        let reads =
            |reader: &Segment, maker: &Segment| maker.made.iter().any(|&val| reader.view.is_input(val));
        let [first, last] = [earlier, later].map(|number| &self.segments[number]);
        if !between.iter().any(|other| reads(last, other)) {
            Some((earlier, later))
        } else if !between.iter().any(|other| reads(other, first)) {
            Some((later, earlier))
        } else {
            None
        }
    }

    /// Whether workers have as many elements to divide as those of each part had, the same folds to divide, and short code.
    fn divides_as_well(&self, joined: &Segment, parts: [&Segment; 2]) -> bool {
        let [Some(joined), Some(first), Some(second)] =
            [joined, parts[0], parts[1]].map(|segment| self.division(segment))
        else {
            return false;
        };
        joined.statements <= STATEMENTS
            && joined.elements >= first.elements.max(second.elements)
            && joined.inner_folds == first.inner_folds + second.inner_folds
    }

    /// How the kernel of a segment divides its work; none where it is no kernel.
    fn division(&self, segment: &Segment) -> Option<Division> {
        match &*self.legality.of(self.graph, &segment.view) {
            Ok(Engine::Kernel(witness)) => Some(Division {
                elements: self.hints.value(&witness.divided()),
                inner_folds: witness.folds.iter().filter(|fold| !fold.terminal).count(),
                statements: witness.statements,
            }),
            Ok(Engine::External(_)) | Err(_) => None,
        }
    }
}

/// How a kernel divides its work.
struct Division {
    /// The elements of the axes that workers may divide.
    elements: u64,
    /// Folds that no workers share.
    inner_folds: usize,
    statements: u64,
}
