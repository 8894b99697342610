//! The search for the fastest segmentation under the cost model, starting from one that merging found.
//!
//! Moves change which values are kept in memory and which segments make them; each is taken if the changed segments take
//! less time and are as legal as before. If a lower bound shows that nothing can be gained, no move is tried; and legality
//! is asked only where a lower bound of the changed segments' time is smaller. What else a segment computes follows from
//! what is kept, so a value that is no longer kept is recomputed wherever it is read: unary chains from inputs, casts,
//! broadcasts, factories.
//!
//! `state` (a segmentation being changed) · `segment` (one of its segments) · `places` (where they make, read and compute
//! what) · `pricing` (what segments cost) · `order` (the order of segments). Moves are functions over the state: `exchange`
//! (values dropped, or others kept instead) · `keep` (values kept that are computed repeatedly) · `transfer` (values made by
//! another segment) · `shift` (values kept in the place of others) · `between` (one value kept in the place of two) ·
//! `redivide` (segments in a row divided anew) · `join` (segments that read the same) · `tried` (moves that did not pay) ·
//! `descend` (moves as long as any pays) · `exhaustive` (all segmentations of a tiny fusion) · `retry` (a move that does not
//! pay by itself, then those that follow from it) · `shrink` (less memory at any cost in time).

mod between;
mod descend;
mod exchange;
mod exhaustive;
mod join;
mod keep;
mod order;
mod places;
mod pricing;
mod redivide;
mod retry;
mod segment;
mod shift;
mod shrink;
mod state;
mod transfer;
mod tried;

use ir::graph::{Fusion, Graph};
use scheduler::hints::Hints;
use target::Target;

pub use self::exhaustive::{Optimum, optimum};

use self::descend::{ALL, descend};
use self::pricing::{Price, ROUNDING};
use self::retry::retry;
use self::shrink::{in_memory_order, peak_bytes, shrink};
use self::state::{STEPS_OF_RETRIES, State};
use super::bound::{bound_seconds, compulsory_seconds};
use super::constraints::Constraints;
use super::legality::Legality;
use super::segmentation::Segmentation;

/// The problem that a search solves.
#[derive(Clone, Copy, Debug)]
pub struct SearchProblem<'a> {
    pub graph: &'a Graph,
    /// The fusion that is cut into segments.
    pub fusion: &'a Fusion,
    /// The constraints of the user's groups.
    pub constraints: &'a Constraints,
    /// Which groups are one kernel.
    pub legality: &'a Legality,
    /// The sizes to decide for.
    pub hints: &'a Hints,
    pub target: &'a Target,
}

/// Nodes up to which a fusion is small.
const MAX_SMALL_NODES: usize = 64;

/// The relative gain below which no move is tried.
const MIN_GAIN: f64 = 1e-3;

/// Nodes up to which a fusion is tiny: all segmentations are tried for any gain.
const MAX_TINY_NODES: usize = 16;

/// Nodes of segments that the search for the optimum may look at.
const STEPS_OF_ALL: usize = 1 << 13;

/// The relative gain below which moves are not retried in large fusions: there that takes as long as all other planning.
const MIN_GAIN_OF_RETRIES: f64 = 0.05;

/// Nodes up to which a fusion is not large for `MIN_GAIN_OF_RETRIES`.
const MAX_RETRIED_NODES: usize = 32;

impl SearchProblem<'_> {
    /// Whether the fusion is so small that many moves can be tried.
    fn is_small(&self) -> bool {
        self.fusion.order().len() <= MAX_SMALL_NODES
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct SearchResult {
    /// The segmentation, in an order with a low memory peak.
    pub segmentation: Segmentation,
    /// The bytes of that peak.
    pub peak: u64,
    /// Nodes that moves looked at.
    pub steps: usize,
}

/// The segmentation that moves reach from `start`.
pub fn search(problem: SearchProblem<'_>, start: Segmentation) -> SearchResult {
    result(&found(problem, start))
}

/// The same with a memory peak of `limit` bytes at most; if none is found that needs so few, the one of those found that
/// needs the fewest.
pub fn search_within(problem: SearchProblem<'_>, start: Segmentation, limit: u64) -> SearchResult {
    let mut found = found(problem, start.clone());
    shrink(&mut found, limit);
    if peak_bytes(&found) <= limit {
        return result(&found);
    }
    let mut other = State::new(problem, start);
    shrink(&mut other, limit);
    if peak_bytes(&other) < peak_bytes(&found) { result(&other) } else { result(&found) }
}

/// A lower bound of the seconds of any segmentation: the whole one for a small fusion, where moves take longer than it does;
/// for a larger one that which is found fast.
fn bound(state: &State<'_>) -> f64 {
    let (amounts, fusion) = (&state.pricing.amounts, state.problem.fusion);
    if state.problem.is_small() {
        bound_seconds(amounts, fusion)
    } else {
        compulsory_seconds(amounts, fusion)
    }
}

/// The state that moves reach.
fn found<'a>(problem: SearchProblem<'a>, start: Segmentation) -> State<'a> {
    let mut state = State::new(problem, start);
    let bound = bound(&state);
    if !state.is_within(bound * (1.0 + MIN_GAIN)) {
        let steps = state.steps_left - STEPS_OF_RETRIES;
        descend(&mut state, ALL, steps, |_| false);
        let is_retried = problem.fusion.order().len() <= MAX_RETRIED_NODES;
        retry(&mut state, bound * (1.0 + if is_retried { MIN_GAIN } else { MIN_GAIN_OF_RETRIES }));
    }
    exhaust(&mut state, bound);
    state
}

/// Takes the optimum instead of a state, where it can be found and gains.
fn exhaust(state: &mut State<'_>, bound: f64) {
    let (problem, Price { seconds, rejected }) = (state.problem, state.total());
    let is_tiny = problem.fusion.order().len() <= MAX_TINY_NODES;
    let enough = bound * (1.0 + if is_tiny { ROUNDING } else { MIN_GAIN });
    if !problem.is_small() || rejected > 0 || state.is_within(enough) || join::are_some_alike(state) {
        return;
    }
    let Some(found) = optimum(problem, seconds, STEPS_OF_ALL) else { return };
    let steps_left = state.steps_left.saturating_sub(found.steps);
    match found.segmentation {
        Some(segmentation) => *state = State { steps_left, ..State::new(problem, segmentation) },
        None => state.steps_left = steps_left,
    }
}

fn result(state: &State<'_>) -> SearchResult {
    let (segmentation, peak) = in_memory_order(state);
    SearchResult { segmentation, peak, steps: state.steps_taken() }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;
    use scheduler::hints::Hints;
    use target::Target;

    use super::*;
    use crate::greedy_with;
    use crate::legality::Group;

    /// The segmentation that the search finds for a definition, and the answers that it used.
    pub(super) fn searched(source: &str) -> (Segmentation, Legality) {
        let definition = frontend::text::parse(source).expect("a definition").definition;
        let (graph, fusion) = (&definition.graph, &definition.fusion);
        let (target, hints) = (Target::cpu(512), Hints::default());
        let (constraints, legality) = (Constraints::default(), Legality::default());
        let problem = SearchProblem {
            graph,
            fusion,
            constraints: &constraints,
            legality: &legality,
            hints: &hints,
            target: &target,
        };
        let found = search(problem, greedy_with(graph, fusion, &constraints, &legality));
        (found.segmentation, legality)
    }

    /// The groups of a definition whose answers were computed.
    fn found(body: &str) -> Vec<Group> {
        let input = "    y = fd.define_tensor(shape=[-1, -1], contiguity=True)\n";
        let source = format!("def chain(fd):\n{input}{body}    fd.add_output(y)\n");
        let (segmentation, legality) = searched(&source);
        assert!(segmentation.segments.len() > 1);
        legality.found()
    }

    /// Greedy merging and the search ask about each group once.
    #[test]
    fn an_answer_is_found_once_for_each_group() {
        let step = |number: usize| match number % 5 {
            0 => "    y = fd.ops.sub(y, fd.ops.mean(y, dims=[1], keepdim=True))\n",
            1 => "    y = fd.ops.add(y, fd.ops.sum(y, dims=[0], keepdim=True))\n",
            2 => "    y = fd.ops.permute(fd.ops.exp(y), dims=[1, 0])\n",
            _ => "    y = fd.ops.sin(y)\n",
        };
        let found = found(&(0..300).map(step).collect::<String>());
        let distinct: FxHashSet<&Group> = found.iter().collect();
        assert!(found.len() > 100);
        assert_eq!(distinct.len(), found.len());
    }

    /// Of folds of rows and columns in turn no two fit one kernel: most changes are rejected by what they cost at least.
    #[test]
    fn few_groups_are_asked_about_where_none_can_be_joined() {
        let step = |number: usize| {
            let mean = format!("fd.ops.mean(y, dims=[{}], keepdim=True)", number % 2);
            format!("    y = fd.ops.add(fd.ops.mul(fd.ops.sub(y, {mean}), 1.5), y)\n")
        };
        let found = found(&(0..25).map(step).collect::<String>());
        assert!(found.len() < 680, "{} groups", found.len());
    }
}
