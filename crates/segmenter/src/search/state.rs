//! A segmentation that moves change: the kept values, the segments, and the cost of each.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use ir::graph::{Fusion, Node, TensorOp, Val};
use rustc_hash::{FxHashMap, FxHashSet};

use super::SearchProblem;
use super::places::Places;
use super::pricing::{Price, Pricing};
use super::segment::Segment;
use super::tried::Tried;
use crate::segmentation::{Segmentation, segment_cone, segment_view};

/// Nodes that moves may visit per node of the fusion, and for small fusions besides.
const STEPS_PER_NODE: usize = 64;
const STEPS_OF_SMALL: usize = 1 << 12;

/// Nodes that moves that do not pay by themselves may visit besides.
pub(super) const STEPS_OF_RETRIES: usize = 1 << 14;

/// Nodes that moves may visit.
fn budget(fusion: &Fusion) -> usize {
    let steps = fusion.order().len().saturating_mul(STEPS_PER_NODE);
    steps.saturating_add(STEPS_OF_SMALL + STEPS_OF_RETRIES)
}

/// What a move changes.
#[derive(Default)]
pub(super) struct Change {
    /// What segments make from then on, by place; the place after the last is a new segment's.
    pub made: Vec<(usize, Vec<Val>)>,
    /// Values that are kept from then on; they are among those made.
    pub kept: Vec<Val>,
    /// Values that are no longer kept.
    pub dropped: Vec<Val>,
}

/// The segments that a change puts in places.
pub(super) type Changed = BTreeMap<usize, Rc<Segment>>;

/// A segmentation being changed.
#[derive(Clone)]
pub(super) struct State<'a> {
    pub problem: SearchProblem<'a>,
    pub kept: FxHashSet<Val>,
    pub segments: Vec<Rc<Segment>>,
    pub places: Places,
    /// Nodes that moves may still visit.
    pub steps_left: usize,
    pub pricing: Rc<Pricing<'a>>,
    pub tried: Rc<Tried>,
}

impl<'a> State<'a> {
    pub(super) fn new(problem: SearchProblem<'a>, start: Segmentation) -> State<'a> {
        let kept = start.kept();
        let segment = |made| Rc::new(Segment::new(&problem, made, |val| kept.contains(&val)));
        let segments: Vec<Rc<Segment>> = start.segments.into_iter().map(segment).collect();
        let pricing = Rc::new(Pricing::of(problem));
        let (places, tried, steps_left) = (Places::default(), Rc::default(), budget(problem.fusion));
        let mut state = State { problem, kept, segments: Vec::new(), places, steps_left, pricing, tried };
        state.replace(segments.into_iter().enumerate().collect());
        state
    }

    /// Nodes that moves visited.
    pub(super) fn steps_taken(&self) -> usize {
        budget(self.problem.fusion) - self.steps_left
    }

    /// The segments that make something, each after those that it reads from.
    pub(super) fn segmentation(&self) -> Segmentation {
        let made = self.in_order().into_iter().map(|place| self.segments[place].made.clone());
        Segmentation::new(made.collect())
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

    /// Makes a change if the costs before and after satisfy `pays`, and the segments still have an order.
    pub(super) fn make_if(&mut self, change: Change, pays: impl Fn(Price, Price) -> bool) -> bool {
        let touched = self.touched(&change);
        self.tried.note_touched(&touched, self.segments.len());
        let old = || touched.iter().filter_map(|&place| self.segments.get(place));
        let steps_left = self.steps_left.saturating_sub(old().map(|segment| segment.order().len()).sum());
        let before = self.price(old());
        self.steps_left = steps_left;
        let Change { made, kept, dropped } = change;
        self.set_kept(&kept, &dropped);
        let changed = self.changed(&touched, made, before, |price| pays(price, before));
        match changed {
            Some(changed) => self.replace(changed),
            None => {
                self.set_kept(&dropped, &kept);
                return false;
            }
        }
        true
    }

    /// The changed segments in the places that a change touches, if their cost pays. Lower bounds of their costs are checked
    /// before they are evaluated as kernels.
    fn changed(
        &self,
        touched: &[usize],
        made: Vec<(usize, Vec<Val>)>,
        before: Price,
        pays: impl Fn(Price) -> bool,
    ) -> Option<Changed> {
        let mut made: FxHashMap<usize, Vec<Val>> = made.into_iter().collect();
        let (mut changed, mut minimum) = (Changed::new(), Price::default());
        // A segment that no engine runs as one step has no computing time, so it may cost less than the lower bound of a
        // kernel.
        let is_bounded = before.rejected == 0;
        for &place in touched {
            let made = made.remove(&place).unwrap_or_else(|| self.segments[place].made.clone());
            let segment = Rc::new(Segment::new(&self.problem, made, |val| self.kept.contains(&val)));
            if is_bounded && !segment.made.is_empty() {
                minimum = minimum.plus(self.minimum(&segment));
                if !pays(minimum.rounded_down()) {
                    return None;
                }
            }
            changed.insert(place, segment);
        }
        let is_made = self.keeps_order(&changed)
            && self.is_allowed(touched, &changed)
            && (!is_bounded || self.may_pay(&changed, minimum, &pays))
            && pays(self.price(changed.values()));
        is_made.then_some(changed)
    }

    /// Whether segments have an order after a change.
    fn keeps_order(&self, changed: &Changed) -> bool {
        let has_order = self.has_order(changed);
        if !has_order {
            self.tried.note_without_order();
        }
        has_order
    }

    /// Whether the cost of segments may pay: they are evaluated as kernels one by one, the smallest first, while that may
    /// pay together with the lower bounds of the others. `minimum` is a lower bound for all together.
    fn may_pay(&self, changed: &Changed, minimum: Price, pays: impl Fn(Price) -> bool) -> bool {
        let mut left: Vec<&Segment> = changed.values().map(|segment| &**segment).collect();
        left.retain(|segment| !segment.made.is_empty());
        left.sort_by_key(|segment| segment.order().len());
        let mut so_far = minimum;
        left.into_iter().all(|segment| {
            so_far = so_far.plus(self.of_segment(segment)).minus(self.minimum(segment));
            pays(so_far.rounded_down())
        })
    }

    fn minimum(&self, segment: &Segment) -> Price {
        segment.minimum(&self.problem, &self.pricing).price()
    }

    pub(super) fn of_segment(&self, segment: &Segment) -> Price {
        segment.price(&self.problem, &self.pricing)
    }

    /// Whether a segment, or several that together compute what it does, may take less time if they write values that it
    /// computes: not if a lower bound of that is no less than what it takes.
    pub(super) fn may_pay_to_write(&self, place: usize, vals: &[Val]) -> bool {
        let segment = &self.segments[place];
        let before = self.of_segment(segment);
        before.rejected > 0 || {
            let minimum = segment.minimum(&self.problem, &self.pricing);
            self.pricing.writing(minimum, vals).rounded_down().is_below(before)
        }
    }

    /// Whether the user's groups allow the segments that a change puts in these places.
    fn is_allowed(&self, touched: &[usize], changed: &Changed) -> bool {
        let before = touched.iter().filter_map(|&place| self.segments.get(place));
        let before: Vec<&[Node]> = before.map(|segment| segment.order()).collect();
        let after: Vec<&[Node]> = changed.values().map(|segment| segment.order()).collect();
        self.problem.constraints.allow(&after, &before)
    }

    fn set_kept(&mut self, kept: &[Val], dropped: &[Val]) {
        self.kept.extend(kept);
        dropped.iter().for_each(|val| {
            self.kept.remove(val);
        });
    }

    fn replace(&mut self, changed: Changed) {
        for (&place, old) in changed.keys().filter_map(|place| Some((place, self.segments.get(*place)?))) {
            self.places.remove(place, old);
        }
        for (place, segment) in changed {
            self.places.add(place, &segment);
            match self.segments.get_mut(place) {
                Some(old) => *old = segment,
                None => self.segments.push(segment),
            }
        }
    }

    /// The places of segments that make other values than before, compute a newly kept one or read a dropped one.
    fn touched(&self, change: &Change) -> Vec<usize> {
        let mut touched: BTreeSet<usize> = change.made.iter().map(|(place, _)| *place).collect();
        touched.extend(change.kept.iter().flat_map(|&val| self.computing(val)));
        touched.extend(change.dropped.iter().flat_map(|&val| self.places.readers(val)));
        touched.into_iter().collect()
    }

    /// The places of the segments that compute a value, ascending.
    pub(super) fn computing(&self, val: Val) -> impl Iterator<Item = usize> {
        let places = self.places.computing(val.node).iter().copied();
        places.filter(move |&place| self.segments[place].computes(val))
    }

    /// Whether all segments are legal and take `seconds` at most.
    pub(super) fn is_within(&self, seconds: f64) -> bool {
        let Price { seconds: taken, rejected } = self.total();
        rejected == 0 && taken <= seconds
    }

    /// The cost of all segments.
    pub(super) fn total(&self) -> Price {
        self.price(self.segments.iter())
    }

    /// The cost of segments together; those that make nothing cost nothing.
    pub(super) fn price<'s>(&self, segments: impl Iterator<Item = &'s Rc<Segment>>) -> Price {
        let prices =
            segments.filter(|segment| !segment.made.is_empty()).map(|segment| self.of_segment(segment));
        prices.fold(Price::default(), Price::plus)
    }

    /// Whether a value may be kept or not: it is computed, and neither a constant nor an iota.
    pub(super) fn is_free(&self, val: Val) -> bool {
        let op = self.problem.graph.op(val);
        let is_constant = matches!(op, TensorOp::Constant(_) | TensorOp::Size(_) | TensorOp::Iota(_));
        !is_constant && !self.problem.fusion.is_input(val) && !self.problem.fusion.is_output(val)
    }

    /// Whether a value is not kept and could be.
    pub(super) fn may_be_kept(&self, val: Val) -> bool {
        self.is_free(val) && !self.kept.contains(&val)
    }

    /// Makes the first of the changes around each kept value of a small fusion that pays; returns whether any was made.
    pub(super) fn improve_around_each(&mut self, changes: impl Fn(&Self, Val) -> Vec<Change>) -> bool {
        let made = if self.problem.is_small() { self.made() } else { Vec::new() };
        let mut is_changed = false;
        for (_, val) in made {
            is_changed |=
                self.steps_left > 0 && changes(self, val).into_iter().any(|change| self.improve(change));
        }
        is_changed
    }

    /// The values that segments make, each with the place of its maker, in their order.
    pub(super) fn made(&self) -> Vec<(usize, Val)> {
        let made = |(place, segment): (usize, &Rc<Segment>)| {
            segment.made.iter().map(|&val| (place, val)).collect::<Vec<(usize, Val)>>()
        };
        self.segments.iter().enumerate().flat_map(made).collect()
    }

    /// The values that a segment makes without this one.
    pub(super) fn without(&self, place: usize, val: Val) -> (usize, Vec<Val>) {
        let made = self.segments[place].made.iter().copied().filter(|&other| other != val);
        (place, made.collect())
    }

    /// A new segment that makes values which another computes or makes, and the values that the other makes before them.
    pub(super) fn split(&self, place: usize, vals: &[Val]) -> Change {
        let SearchProblem { graph, fusion, .. } = self.problem;
        let view = segment_view(graph, fusion, vals, |val| self.kept.contains(&val));
        self.splitting(place, vals, |val| view.is_input(val))
    }

    /// The same, but the other makes only what it computes from them.
    pub(super) fn split_before(&self, place: usize, vals: &[Val]) -> Change {
        let SearchProblem { graph, fusion, .. } = self.problem;
        let is_before = |val: Val| {
            let is_input = |other: Val| other != val && (vals.contains(&other) || self.kept.contains(&other));
            let cone = segment_cone(graph, fusion, &[val], is_input);
            !cone.inputs().iter().any(|input| vals.contains(input))
        };
        self.splitting(place, vals, is_before)
    }

    fn splitting(&self, place: usize, vals: &[Val], is_moved: impl Fn(Val) -> bool) -> Change {
        let kept: Vec<Val> = vals.iter().copied().filter(|val| !self.kept.contains(val)).collect();
        let made = self.segments[place].made.iter().copied();
        let (moved, behind): (Vec<Val>, Vec<Val>) =
            made.partition(|&val| vals.contains(&val) || is_moved(val));
        let made = moved.into_iter().chain(kept.iter().copied()).collect();
        let made = vec![(place, behind), (self.segments.len(), made)];
        Change { made, kept, dropped: Vec::new() }
    }

    /// The values that a segment makes, with more of them; a new segment, in the place after the last, makes these alone.
    pub(super) fn with(&self, place: usize, vals: &[Val]) -> (usize, Vec<Val>) {
        let made = self.segments.get(place).map(|segment| segment.made.clone()).unwrap_or_default();
        (place, made.into_iter().chain(vals.iter().copied()).collect())
    }
}
