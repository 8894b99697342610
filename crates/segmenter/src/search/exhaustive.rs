//! The fastest of all segmentations of a tiny fusion, by branch and bound: over the values that are kept, those of most bytes
//! first, then by dynamic programming over the sets of them that are made. What a lower bound shows to be no faster than the
//! best known segmentation is left out.

use std::cmp::Reverse;

use ir::graph::{Node, TensorOp, Val};
use rustc_hash::FxHashMap;

use super::pricing::{Price, Pricing};
use super::segment::Segment;
use super::{MAX_SMALL_NODES, SearchProblem};
use crate::bound::Terms;
use crate::cost::Amounts;
use crate::segmentation::Segmentation;

/// The most values that may be kept, and outputs.
const MAX_VALS: usize = 24;

/// The most values that segments make together.
const MAX_MADE: usize = 10;

/// What a search through all segmentations found.
#[derive(Clone, Debug)]
pub struct Optimum {
    /// The seconds of the fastest.
    pub seconds: f64,
    /// Whether all were considered, so that none is faster.
    pub is_proved: bool,
    /// The most segments of one that was considered; all others are slower even if one launch runs all their segments.
    pub max_segments: usize,
    /// Nodes of segments that were looked at.
    pub steps: usize,
    /// A segmentation that takes so long, if that is less than was known before.
    pub segmentation: Option<Segmentation>,
}

/// The optimum, where some segmentation takes `known` seconds, searched for in so many `steps` at most: nodes of segments
/// that are looked at. `None` where there are too many values.
pub fn optimum(problem: SearchProblem<'_>, known: f64, steps: usize) -> Option<Optimum> {
    let SearchProblem { graph, fusion, hints, target, constraints, .. } = problem;
    if fusion.order().len() > MAX_SMALL_NODES || !constraints.is_empty() {
        return None;
    }
    let amounts = Amounts::new(graph, hints, target);
    let (pricing, terms) = (Pricing::of(problem), Terms::of(&amounts, fusion)?);
    let mut search = Exhaustive::of(problem, &pricing, &terms)?;
    (search.seconds, search.steps_left) = (known, steps);
    let is_proved = search.choose(0, 0, 0).is_ok();
    let segmentation = search.best.take().map(Segmentation::new);
    let Exhaustive { seconds, max_segments, steps_left, .. } = search;
    Some(Optimum { seconds, is_proved, max_segments, steps: steps - steps_left, segmentation })
}

/// Pairs of sets of values that are looked at in the time of a node.
const SETS_PER_STEP: usize = 64;

/// There are too many segmentations.
struct TooMany;

/// Sets of values by their numbers, each a bit.
type Set = u32;

/// The members of a set.
fn members(set: Set) -> impl Iterator<Item = usize> {
    let after = |&left: &Set| Some(left & (left - 1)).filter(|&left| left != 0);
    std::iter::successors(Some(set).filter(|&set| set != 0), after).map(|left| left.trailing_zeros() as usize)
}

/// The fastest segments that make a set of values.
#[derive(Clone, Copy)]
struct Reached {
    seconds: f64,
    /// What the last of them makes, by place.
    last: usize,
}

/// The search for the optimum.
struct Exhaustive<'p, 'a> {
    problem: SearchProblem<'a>,
    pricing: &'p Pricing<'a>,
    terms: &'p Terms<'p>,
    /// The values that may be kept or not, those of most bytes first, then the outputs.
    vals: Vec<Val>,
    /// How many may be kept or not.
    free: usize,
    /// The seconds of segments, by what they make and which kept values they read; `None` for those that are no step.
    known: FxHashMap<(Set, Set), Option<f64>>,
    /// Those of the best segmentation.
    seconds: f64,
    best: Option<Vec<Vec<Val>>>,
    max_segments: usize,
    steps_left: usize,
}

impl<'p, 'a> Exhaustive<'p, 'a> {
    /// `None` if there are too many values.
    fn of(
        problem: SearchProblem<'a>,
        pricing: &'p Pricing<'a>,
        terms: &'p Terms<'p>,
    ) -> Option<Exhaustive<'p, 'a>> {
        let SearchProblem { graph, fusion, .. } = problem;
        let results = fusion.order().iter().flat_map(|&node| graph.results(node));
        let mut vals: Vec<Val> =
            results.filter(|&val| is_candidate(&problem, &pricing.amounts, val)).collect();
        vals.sort_by_key(|&val| (Reverse(terms.bytes_of_keeping(val)), val));
        let free = vals.len();
        vals.extend(Segmentation::whole(fusion)?.segments.concat());
        let (known, best) = (FxHashMap::default(), None);
        let (seconds, max_segments, steps_left) = (f64::INFINITY, 0, 0);
        let search = Exhaustive {
            problem,
            pricing,
            terms,
            vals,
            free,
            known,
            seconds,
            best,
            max_segments,
            steps_left,
        };
        (search.vals.len() <= MAX_VALS).then_some(search)
    }

    /// Keeps the values from this number on or not, beside others that move so many bytes.
    fn choose(&mut self, number: usize, kept: Set, bytes: u64) -> Result<(), TooMany> {
        if number == self.free {
            let outputs = (self.free..self.vals.len()).fold(0, |set, output| set | 1 << output);
            return self.divide(kept | outputs);
        }
        let more = bytes.saturating_add(self.terms.bytes_of_keeping(self.vals[number]));
        if self.may_be_best(self.terms.seconds_keeping(more)) {
            self.choose(number + 1, kept | 1 << number, more)?;
        }
        self.choose(number + 1, kept, bytes)
    }

    /// Whether what takes so many seconds at least may be faster than the best known.
    fn may_be_best(&self, seconds: f64) -> bool {
        let price = |seconds| Price { seconds, rejected: 0 };
        price(seconds).rounded_down().is_below(price(self.seconds))
    }

    /// Finds the fastest segments that make these values, and keep no others.
    fn divide(&mut self, kept: Set) -> Result<(), TooMany> {
        let count = kept.count_ones() as usize;
        if count > MAX_MADE {
            return Err(TooMany);
        }
        self.max_segments = self.max_segments.max(count);
        let subsets = Subsets::of(self, kept);
        let all = subsets.all.len() - 1;
        self.steps_left = self.steps_left.checked_sub(all * all / SETS_PER_STEP).ok_or(TooMany)?;
        let mut reached: Vec<Option<Reached>> = vec![None; all + 1];
        reached[0] = Some(Reached { seconds: 0.0, last: 0 });
        for made in 0..all {
            let Some(Reached { seconds, .. }) = reached[made] else { continue };
            let left = all & !made;
            let mut next = left;
            while next > 0 {
                let Subset { set, read, seconds: minimum } = subsets.all[next];
                let others = seconds + subsets.all[left & !next].seconds;
                if read & !subsets.all[made].set & !set == 0
                    && self.may_be_best(others + minimum)
                    && let Some(own) = self.price(set, read & !set, kept, others)?
                {
                    let after = Reached { seconds: seconds + own, last: next };
                    let best = reached[made | next].get_or_insert(after);
                    if after.seconds < best.seconds {
                        *best = after;
                    }
                }
                next = (next - 1) & left;
            }
        }
        if let Some(found) = reached[all].filter(|found| self.may_be_best(found.seconds)) {
            let before = |&made: &usize| Some(made & !reached[made]?.last).filter(|&before| before > 0);
            let made = std::iter::successors(Some(all), before).filter_map(|made| reached[made]);
            let mut segments: Vec<Vec<Val>> =
                made.map(|reached| self.vals_of(subsets.all[reached.last].set)).collect();
            segments.reverse();
            (self.seconds, self.best) = (found.seconds, Some(segments));
        }
        Ok(())
    }

    /// The seconds of the segment that makes these values and reads those; `None` if it is no step, or together with `others`
    /// surely not faster than the best.
    fn price(&mut self, made: Set, read: Set, kept: Set, others: f64) -> Result<Option<f64>, TooMany> {
        if let Some(&known) = self.known.get(&(made, read)) {
            return Ok(known);
        }
        let segment = self.segment(made, kept);
        self.steps_left = self.steps_left.checked_sub(segment.order().len()).ok_or(TooMany)?;
        let minimum = segment.minimum(&self.problem, self.pricing).price();
        if minimum.rejected == 0 && !self.may_be_best(others + minimum.seconds) {
            return Ok(None);
        }
        let price = segment.price(&self.problem, self.pricing);
        let seconds = (price.rejected == 0).then_some(price.seconds);
        self.known.insert((made, read), seconds);
        Ok(seconds)
    }

    fn segment(&self, made: Set, kept: Set) -> Segment {
        let is_kept = |val: Val| members(kept).any(|number| self.vals[number] == val);
        Segment::new(&self.problem, self.vals_of(made), is_kept)
    }

    fn vals_of(&self, set: Set) -> Vec<Val> {
        let mut vals: Vec<Val> = members(set).map(|number| self.vals[number]).collect();
        vals.sort_unstable();
        vals
    }
}

/// A set of values that segments make, all of them kept.
#[derive(Clone, Copy)]
struct Subset {
    set: Set,
    /// The kept values that are read for one of them.
    read: Set,
    /// A lower bound of the seconds of the segments that make them.
    seconds: f64,
}

/// All sets of the values that are kept, by the places of their members among those.
struct Subsets {
    all: Vec<Subset>,
}

impl Subsets {
    fn of(search: &Exhaustive<'_, '_>, kept: Set) -> Subsets {
        let target = search.problem.target;
        let mut all = vec![Subset { set: 0, read: 0, seconds: 0.0 }];
        for number in members(kept) {
            let segment = search.segment(1 << number, kept);
            let read = members(kept).filter(|&other| segment.reads(search.vals[other]));
            let read = read.fold(0, |set: Set, other| set | 1 << other);
            let bytes = search.pricing.amounts.of(search.vals[number]).bytes;
            let seconds = bytes as f64 / target.bandwidth;
            let with = |before: &Subset| Subset {
                set: before.set | 1 << number,
                read: before.read | read,
                seconds: before.seconds.max(target.launch) + seconds,
            };
            let more: Vec<Subset> = all.iter().map(with).collect();
            all.extend(more);
        }
        Subsets { all }
    }
}

/// Whether it may pay to keep a value: it is computed and used, and not only for one of no more bytes that a kernel computes
/// from it and scalars that are given, element by element. Keeping that instead takes no longer: its maker computes it once, and no reader does.
fn is_candidate(problem: &SearchProblem<'_>, amounts: &Amounts<'_>, val: Val) -> bool {
    let SearchProblem { graph, fusion, .. } = *problem;
    let is_replaced_by = |user: Node| {
        let is_known = |&other: &Val| {
            let is_scalar = fusion.is_input(other) && graph.shape(other).is_empty();
            other == val || is_scalar || matches!(graph.op(other), TensorOp::Constant(_) | TensorOp::Size(_))
        };
        let bytes = |val: Val| amounts.of(val).bytes;
        let op = &graph.node(user).op;
        matches!(op, TensorOp::Broadcast(_) | TensorOp::Map(_) | TensorOp::Cast(_))
            && !op.is_boundary()
            && graph.node(user).operands.iter().all(is_known)
            && bytes(user.into()) <= bytes(val)
    };
    if fusion.is_input(val) || fusion.is_output(val) {
        return false;
    }
    match (graph.op(val), fusion.uses(val)) {
        (TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Iota(_), _) | (_, []) => false,
        (op, _) if matches!(op, TensorOp::External(_)) || op.is_boundary() => true,
        (_, &[user]) => !is_replaced_by(user),
        _ => true,
    }
}
