//! Loops over subranges: a partitioned axis is walked from breakpoint to breakpoint, so that a subrange needs no predicate
//! for what a cat or a pad chooses.

use index::Expr;
use kernel::LoopKind;

use super::LoopEmitter;
use super::open::Subrange;
use scheduler::legal::cut;
use space::Axis;

impl LoopEmitter<'_> {
    /// The subranges that the loop of an axis walks.
    pub(super) fn subranges_of(&mut self, axis: Axis) -> Vec<Subrange> {
        let group = self.emitter.group;
        let is_cut = group.schedule.partition.contains(&axis);
        let cut = || cut(group.graph, group.view, &group.witness.space, axis).filter(|_| is_cut);
        let breakpoints =
            self.breakpoints.entry(axis).or_insert_with(|| cut().map_or(Vec::new(), |cut| cut.breakpoints));
        let mut ends = breakpoints.clone();
        ends.push(group.schedule.extent(group.witness, axis));
        let ends: Vec<Expr> = ends.iter().map(|end| self.emitter.size(end)).collect();
        let begins = std::iter::once(Expr::zero()).chain(ends.iter().cloned());
        begins.zip(ends.iter().cloned()).collect()
    }

    /// The intersection of a subrange and the part of an axis that is walked now.
    pub(super) fn common(&mut self, axis: Axis, (first, last): &Subrange) -> Subrange {
        let (begin, end) = self.range(axis);
        let mut within = Expr::min(&end, last);
        if within.is_overflow() && self.open_loops.part(axis).is_none() {
            // The minimum of a long cat's extent and a subrange's end is too long a term; but no subrange ends beyond the
            // extent.
            let chunk = self.emitter.group.schedule.chunk(axis);
            within = chunk.map_or(last.clone(), |chunk| Expr::min(&(&begin + chunk as i64), last));
        }
        (Expr::max(&begin, first), within)
    }

    /// Opens the loop of an axis over the intersection of a subrange and the block's part of it.
    pub(super) fn open_subrange(&mut self, axis: Axis, kind: LoopKind, all: &[Subrange], number: usize) {
        match all {
            [_] => self.open_axis(axis, kind),
            _ => {
                let (begin, end) = self.common(axis, &all[number]);
                let width = self.width_of(axis, kind);
                let is_whole = |end: &Expr| self.emitter.divides(width, end);
                let width = if is_whole(&begin) && is_whole(&end) { width } else { 1 };
                let var = self.emitter.open_wide_loop(&axis.to_string(), begin, end, kind, width);
                self.open_loops.walks(axis, var, &all[number]);
            }
        }
        self.subranges.insert(axis, number);
    }

    /// Closes it.
    pub(super) fn close_subrange(&mut self, axis: Axis) {
        self.subranges.remove(&axis);
        self.close_axis(axis);
    }

    /// Which subrange of an axis its loop walks, by number.
    pub fn subrange_of(&self, axis: Axis) -> usize {
        self.subranges.get(&axis).copied().unwrap_or(0)
    }
}
