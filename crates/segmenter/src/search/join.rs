//! Joins segments that read the same values, so that these are read once: merging along the graph never considers segments
//! that do not depend on each other. In small fusions any two segments may join, which saves a launch, unless the gain is
//! tiny and more is in memory then, or both do the same and are launched together anyway.

use ir::graph::Val;

use super::SearchProblem;
use super::shrink;
use super::state::{Change, State};
use super::tried::LocalMove;
use crate::group_classes::GroupRef;
use crate::joined::Joined;
use crate::legality::Verdict;
use crate::structure::Structure;
use target::limits::MAX_JOINED_STATEMENTS;

/// Joins the segments of each pair that gains by it; returns whether any did.
pub(super) fn join(state: &mut State<'_>) -> bool {
    let is_small = state.problem.is_small();
    let mut is_changed = false;
    for later in 1..state.segments.len() {
        if !(is_small || shares(state, later)) || is_external(state, later) {
            continue;
        }
        for earlier in 0..later {
            let share = share_tensors(state, earlier, later);
            let saves_launch = is_small && !have_like_ops(state, earlier, later);
            if state.steps_left > 0 && (saves_launch || share) {
                is_changed |= may_join(state, earlier, later)
                    && state.attempt(LocalMove::Join, &[earlier, later], None, |state| {
                        try_join(state, earlier, later, share)
                    });
            }
        }
    }
    is_changed
}

/// Whether a segment reads a tensor that another reads or makes, or makes what another reads.
fn shares(state: &State<'_>, place: usize) -> bool {
    let segment = &state.segments[place];
    let readers = |val: &Val| state.places.readers(*val).len();
    let is_of_others = |val: &Val| readers(val) > 1 || state.places.maker(*val).is_some();
    segment.inputs().iter().any(is_of_others) || segment.made.iter().any(|val| readers(val) > 0)
}

/// Whether two segments read a common tensor, or one reads what the other makes.
pub(super) fn share_tensors(state: &State<'_>, earlier: usize, later: usize) -> bool {
    #[cfg(test)]
    tests::COMPARED.with(|count| count.set(count.get() + 1));
    let [earlier, later] = [earlier, later].map(|place| &state.segments[place]);
    let is_tensor = |val: &&Val| state.problem.graph.ty(**val).rank() > 0;
    let tensors = earlier.inputs().iter().filter(is_tensor);
    tensors.chain(&earlier.made).any(|&val| later.reads(val))
        || later.made.iter().any(|&val| earlier.reads(val))
}

/// Whether some segments do the same, so that one launch may run them, which their prices do not know.
pub(super) fn are_some_alike(state: &State<'_>) -> bool {
    let places: Vec<usize> = state.in_order();
    let is_like = |(number, &later): (usize, &usize)| {
        places[..number].iter().any(|&earlier| have_like_ops(state, earlier, later))
    };
    places.iter().enumerate().any(is_like)
}

fn have_like_ops(state: &State<'_>, earlier: usize, later: usize) -> bool {
    let graph = state.problem.graph;
    let [earlier, later] = [earlier, later].map(|place| state.segments[place].view(&state.problem));
    Structure::may_have_like_ops(graph, earlier, later)
        && Structure::of(graph, earlier).has_ops_of(Structure::of(graph, later))
}

/// Whether kernels might compute two segments as one.
fn may_join(state: &mut State<'_>, earlier: usize, later: usize) -> bool {
    let may_join = !is_external(state, earlier) && !state.are_separated(earlier, later);
    if !may_join {
        state.steps_left = state.steps_left.saturating_sub(1);
    }
    may_join
}

/// Tries to join two segments. Those that do not `share` a tensor save only a launch, which may not be worth memory for
/// what both read.
fn try_join(state: &mut State<'_>, earlier: usize, later: usize, share: bool) -> bool {
    let pair = [earlier, later].map(|place| state.segments[place].view(&state.problem));
    let readers = |val: Val| state.places.readers(val).len();
    let SearchProblem { graph, fusion, .. } = state.problem;
    let joined = Joined::of(graph, fusion, pair, readers);
    if !is_short(state, &joined) {
        return false;
    }
    let made = vec![(earlier, joined.made), (later, Vec::new())];
    let change = Change { made, kept: Vec::new(), dropped: joined.dropped };
    if share { state.improve(change) } else { shrink::improve_in_memory(state, change) }
}

/// Whether a segment is an external op, which joins no other segment.
fn is_external(state: &State<'_>, place: usize) -> bool {
    let (segment, problem) = (&state.segments[place], &state.problem);
    let class = segment.class(problem);
    let verdict = problem.legality.verdict_of(problem.graph, class, || segment.view(problem));
    verdict == Verdict::External
}

/// Whether two segments as one are short code.
fn is_short(state: &State<'_>, Joined { made, view, .. }: &Joined) -> bool {
    let (facts, inputs, order) = (view.facts(), view.inputs(), view.order());
    let group = GroupRef { facts, inputs, order, made };
    let verdict = state.problem.legality.verdict(state.problem.graph, group, || view);
    matches!(verdict, Verdict::Kernel { statements } if statements <= MAX_JOINED_STATEMENTS)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use crate::search::tests::searched;

    thread_local! {
        /// Pairs of segments that were compared by what they read.
        pub static COMPARED: Cell<usize> = const { Cell::new(0) };
    }

    #[test]
    fn segments_that_share_nothing_are_not_compared() {
        let pair = |number: usize| {
            let tensor = "fd.define_tensor(shape=[-1], contiguity=True)";
            format!(
                "    x{number} = {tensor}\n    y{number} = {tensor}\n    fd.add_output(fd.ops.add(x{number}, y{number}))\n"
            )
        };
        let pairs: String = (0..300).map(pair).collect();
        let source = format!("def pairs(fd):\n{pairs}");
        assert_eq!(segments_of(&source), 300);
    }

    #[test]
    fn external_ops_are_not_compared() {
        let product = |number: usize| format!("    x{} = fd.ops.matmul(x{number}, y)\n", number + 1);
        let products: String = (0..200).map(product).collect();
        let tensor = "fd.define_tensor(shape=[-1, -1], contiguity=True)";
        let source = format!(
            "def products(fd):\n    x0 = {tensor}\n    y = {tensor}\n{products}    fd.add_output(x200)\n"
        );
        assert_eq!(segments_of(&source), 200);
    }

    /// The number of segments of a definition in which none are compared.
    fn segments_of(source: &str) -> usize {
        let before = COMPARED.with(Cell::get);
        let (found, _) = searched(source);
        assert_eq!(COMPARED.with(Cell::get) - before, 0);
        found.segments.len()
    }
}
