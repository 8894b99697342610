//! A segmentation that moves change: what is kept, the segments as views, and what each costs.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use ir::graph::{Fusion, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::SearchProblem;
use crate::segment::cost::{Amounts, Seconds, min_seconds};
use crate::segment::segmentation::{Segmentation, segment_view};

/// Nodes that moves may look at for each of the fusion's, and for small ones besides.
const STEPS: usize = 64;
const STEPS_OF_SMALL: usize = 1 << 12;

/// Nodes that moves may look at.
fn budget(fusion: &Fusion) -> usize {
    fusion.order().len().saturating_mul(STEPS).saturating_add(STEPS_OF_SMALL)
}

/// A gain below this part of the time is none: sums of seconds are rounded.
const ROUNDING: f64 = 1e-9;

/// A segment of a segmentation that is being changed. One that makes nothing any more stays as an empty place.
#[derive(Clone)]
pub(super) struct Segment {
    pub made: Vec<Val>,
    pub view: Fusion,
    price: OnceCell<Price>,
}

/// What segments cost.
#[derive(Clone, Copy, Default)]
pub(super) struct Price {
    pub seconds: f64,
    /// How many of them nothing runs as one step.
    pub rejected: usize,
}

impl Price {
    /// Whether this is less, by more than rounding.
    pub(super) fn is_below(self, other: Price) -> bool {
        self.rejected <= other.rejected && self.seconds < other.seconds * (1.0 - ROUNDING)
    }
}

impl Segment {
    fn new(made: Vec<Val>, view: Fusion) -> Segment {
        Segment { made, view, price: OnceCell::new() }
    }

    /// Whether it computes a value.
    pub(super) fn computes(&self, val: Val) -> bool {
        self.view.contains(val.node) && !self.view.is_input(val)
    }
}

/// What a move changes.
#[derive(Default)]
pub(super) struct Change {
    /// What segments make from then on, by place; the place behind the last is a new segment's.
    pub made: Vec<(usize, Vec<Val>)>,
    /// Values that are kept from then on; they are among those made.
    pub kept: Vec<Val>,
    /// Values that are no longer kept.
    pub dropped: Vec<Val>,
}

/// A segmentation being changed.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub problem: SearchProblem<'a>,
    pub kept: FxHashSet<Val>,
    pub segments: Vec<Segment>,
    /// The place of the segment that makes each value.
    pub makers: FxHashMap<Val, usize>,
    /// How many segments read each value.
    pub readers: FxHashMap<Val, usize>,
    /// Nodes that moves may still look at.
    pub steps: usize,
    pub amounts: Rc<Amounts<'a>>,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: SearchProblem<'a>, start: Segmentation) -> State<'a> {
        let kept = start.kept();
        let views = start.views(problem.graph, problem.fusion);
        let segments = start.segments.into_iter().zip(views);
        let segments: Vec<Segment> = segments.map(|(made, view)| Segment::new(made, view)).collect();
        let amounts = Rc::new(Amounts::new(problem.graph, problem.hints, problem.target));
        let (makers, readers) = (FxHashMap::default(), FxHashMap::default());
        let steps = budget(problem.fusion);
        let mut state = State { problem, kept, segments: Vec::new(), makers, readers, steps, amounts };
        state.replace(segments.into_iter().enumerate().collect());
        state
    }

    /// Nodes that moves looked at.
    pub(super) fn steps_taken(&self) -> usize {
        budget(self.problem.fusion) - self.steps
    }

    /// The segments that make something, each behind those that it reads from.
    pub(super) fn segmentation(&self) -> Segmentation {
        let made = self.in_order().into_iter().map(|place| self.segments[place].made.clone());
        Segmentation { segments: made.collect() }
    }

    /// The places of these segments.
    pub(super) fn in_order(&self) -> Vec<usize> {
        let mut order = self.order();
        order.retain(|&place| !self.segments[place].made.is_empty());
        order
    }

    /// Makes a change if segments then take less time, and no more of them are rejected.
    pub(super) fn improve(&mut self, change: Change) -> bool {
        self.make_if(change, Price::is_below)
    }

    /// Makes a change if the segments that it touches cost what they should, after and before, and still have an order.
    pub(super) fn make_if(&mut self, change: Change, pays: impl Fn(Price, Price) -> bool) -> bool {
        let touched = self.touched(&change);
        let nodes = touched.iter().filter_map(|&place| self.segments.get(place));
        self.steps = self.steps.saturating_sub(nodes.map(|segment| segment.view.order().len()).sum());
        let Change { made, kept, dropped } = change;
        let mut made: FxHashMap<usize, Vec<Val>> = made.into_iter().collect();
        self.set_kept(&kept, &dropped);
        let changed: FxHashMap<usize, Segment> = touched
            .iter()
            .map(|&place| {
                let mut made = made.remove(&place).unwrap_or_else(|| self.segments[place].made.clone());
                made.sort_unstable();
                let view = segment_view(self.problem.graph, self.problem.fusion, &made, |val| {
                    self.kept.contains(&val)
                });
                (place, Segment::new(made, view))
            })
            .collect();
        let before = self.price(touched.iter().filter_map(|&place| self.segments.get(place)));
        let after = || touched.iter().map(|place| &changed[place]);
        // What nothing runs as one step has no time for what it computes.
        let may_pay = before.rejected > 0 || self.may_pay(after(), |price| pays(price, before));
        let is_made = may_pay
            && pays(self.price(after()), before)
            && self.is_allowed(&touched, &changed)
            && self.has_order(&changed);
        if is_made {
            self.replace(changed);
        } else {
            self.set_kept(&dropped, &kept);
        }
        is_made
    }

    /// Whether the groups of the user allow the segments that a change leaves in these places.
    fn is_allowed(&self, touched: &[usize], changed: &FxHashMap<usize, Segment>) -> bool {
        let before = touched.iter().filter_map(|&place| self.segments.get(place));
        let before: Vec<&[Node]> = before.map(|segment| segment.view.order()).collect();
        let after: Vec<&[Node]> = touched.iter().map(|place| changed[place].view.order()).collect();
        self.problem.constraints.allow(&after, &before)
    }

    fn set_kept(&mut self, kept: &[Val], dropped: &[Val]) {
        self.kept.extend(kept);
        dropped.iter().for_each(|val| {
            self.kept.remove(val);
        });
    }

    fn replace(&mut self, changed: FxHashMap<usize, Segment>) {
        let mut changed: Vec<(usize, Segment)> = changed.into_iter().collect();
        changed.sort_unstable_by_key(|(place, _)| *place);
        for old in changed.iter().filter_map(|(place, _)| self.segments.get(*place)) {
            old.made.iter().for_each(|val| {
                self.makers.remove(val);
            });
            old.view.inputs().iter().for_each(|val| *self.readers.entry(*val).or_default() -= 1);
        }
        for (place, segment) in changed {
            self.makers.extend(segment.made.iter().map(|&val| (val, place)));
            segment.view.inputs().iter().for_each(|&val| *self.readers.entry(val).or_default() += 1);
            match self.segments.get_mut(place) {
                Some(old) => *old = segment,
                None => self.segments.push(segment),
            }
        }
    }

    /// The places of segments that make other values than before, compute what is kept or read what is dropped.
    fn touched(&self, change: &Change) -> Vec<usize> {
        let mut touched: BTreeSet<usize> = change.made.iter().map(|(place, _)| *place).collect();
        let is_touched = |segment: &Segment| {
            change.kept.iter().any(|&val| segment.computes(val))
                || change.dropped.iter().any(|&val| segment.view.is_input(val))
        };
        touched.extend((0..self.segments.len()).filter(|&place| is_touched(&self.segments[place])));
        touched.into_iter().collect()
    }

    /// Whether all segments are legal and take no more than so many seconds.
    pub(super) fn is_within(&self, seconds: f64) -> bool {
        let Price { seconds: taken, rejected } = self.total();
        rejected == 0 && taken <= seconds
    }

    /// What all segments cost.
    pub(super) fn total(&self) -> Price {
        self.price(self.segments.iter())
    }

    /// What segments cost together; those that make nothing cost nothing.
    fn price<'s>(&self, segments: impl Iterator<Item = &'s Segment>) -> Price {
        let prices =
            segments.filter(|segment| !segment.made.is_empty()).map(|segment| self.of_segment(segment));
        prices.fold(Price::default(), |sum, price| Price {
            seconds: sum.seconds + price.seconds,
            rejected: sum.rejected + price.rejected,
        })
    }

    /// Whether segments may cost what pays. What they cost at least, whatever they are as kernels, is looked at first; then
    /// the kernels one by one, the smallest first, as long as that may pay with the smallest of the others.
    fn may_pay<'s>(&self, segments: impl Iterator<Item = &'s Segment>, pays: impl Fn(Price) -> bool) -> bool {
        let mut left: Vec<&Segment> = segments.filter(|segment| !segment.made.is_empty()).collect();
        left.sort_by_key(|segment| segment.view.order().len());
        let minimum = |segment: &Segment| min_seconds(&self.amounts, &segment.view);
        let minima: Vec<f64> = left.iter().map(|segment| minimum(segment)).collect();
        let mut so_far = Price { seconds: minima.iter().sum(), rejected: 0 };
        let mut may_pay = |more: f64, rejected: usize| {
            so_far = Price { seconds: so_far.seconds + more, rejected: so_far.rejected + rejected };
            pays(Price { seconds: so_far.seconds * (1.0 - ROUNDING), ..so_far })
        };
        may_pay(0.0, 0)
            && left.into_iter().zip(minima).all(|(segment, minimum)| {
                let price = self.of_segment(segment);
                may_pay(price.seconds - minimum, price.rejected)
            })
    }

    fn of_segment(&self, segment: &Segment) -> Price {
        let SearchProblem { graph, legality, .. } = self.problem;
        *segment.price.get_or_init(|| {
            let answer = legality.of(graph, &segment.view);
            Price {
                seconds: Seconds::with(&self.amounts, &segment.view, &answer).total(),
                rejected: usize::from(answer.is_err()),
            }
        })
    }

    /// Whether a value may be kept or not: it is computed, and no constant.
    pub(super) fn is_free(&self, val: Val) -> bool {
        let is_constant = matches!(self.problem.graph.op(val), TensorOp::Constant(_) | TensorOp::Size(_));
        !is_constant && !self.problem.fusion.is_input(val) && !self.problem.fusion.is_output(val)
    }

    /// Whether a value is not kept and could be.
    pub(super) fn may_be_kept(&self, val: Val) -> bool {
        self.is_free(val) && !self.kept.contains(&val)
    }

    /// What segments make, each value with the place of its maker, in the order they stand.
    pub(super) fn made(&self) -> Vec<(usize, Val)> {
        let made = |(place, segment): (usize, &Segment)| {
            segment.made.iter().map(|&val| (place, val)).collect::<Vec<(usize, Val)>>()
        };
        self.segments.iter().enumerate().flat_map(made).collect()
    }

    /// What a segment makes without a value.
    pub(super) fn without(&self, place: usize, val: Val) -> (usize, Vec<Val>) {
        let made = self.segments[place].made.iter().copied().filter(|&other| other != val);
        (place, made.collect())
    }

    /// A new segment that makes values which another computes or makes, and what that makes before them.
    pub(super) fn split(&self, place: usize, vals: &[Val]) -> Change {
        let SearchProblem { graph, fusion, .. } = self.problem;
        let view = segment_view(graph, fusion, vals, |val| self.kept.contains(&val));
        let kept: Vec<Val> = vals.iter().copied().filter(|val| !self.kept.contains(val)).collect();
        let moves = |val: &Val| view.is_input(*val) || vals.contains(val);
        let (moved, behind): (Vec<Val>, Vec<Val>) =
            self.segments[place].made.iter().copied().partition(moves);
        let made = moved.into_iter().chain(kept.iter().copied()).collect();
        let made = vec![(place, behind), (self.segments.len(), made)];
        Change { made, kept, dropped: Vec::new() }
    }

    /// What a segment makes with more values; one in the place behind the last, these alone.
    pub(super) fn with(&self, place: usize, vals: &[Val]) -> (usize, Vec<Val>) {
        let made = self.segments.get(place).map(|segment| segment.made.clone()).unwrap_or_default();
        (place, made.into_iter().chain(vals.iter().copied()).collect())
    }
}
