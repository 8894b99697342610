//! A segment of a segmentation that is being changed: what it makes, and the nodes that compute it. Its view and cost are
//! computed on demand: most changes are rejected before.

use std::cell::OnceCell;
use std::cmp::Ordering;

use ir::graph::{Cone, Fusion, Node, Val};

use super::SearchProblem;
use crate::cost::{Amounts, Seconds, min_seconds};
use crate::segmentation::{segment_cone, view_of};
use crate::worker_axes::WorkerAxes;

/// A relative gain below this counts as none: sums of seconds are rounded.
const ROUNDING: f64 = 1e-9;

/// The cost of segments.
#[derive(Clone, Copy, Default)]
pub(super) struct Price {
    pub seconds: f64,
    /// How many of them no engine runs as one step.
    pub rejected: usize,
}

impl Price {
    /// The sum of two.
    pub fn plus(self, other: Price) -> Price {
        Price { seconds: self.seconds + other.seconds, rejected: self.rejected + other.rejected }
    }

    /// The sum without one of its terms.
    pub fn minus(self, other: Price) -> Price {
        Price { seconds: self.seconds - other.seconds, rejected: self.rejected - other.rejected }
    }

    /// The same, but no more than any sum of the same seconds.
    pub fn rounded_down(self) -> Price {
        Price { seconds: self.seconds * (1.0 - ROUNDING), ..self }
    }

    /// Whether fewer segments are rejected, or as many, and this is less by more than rounding.
    pub fn is_below(self, other: Price) -> bool {
        let is_less = self.seconds < other.seconds * (1.0 - ROUNDING);
        self.rejected < other.rejected || (self.rejected == other.rejected && is_less)
    }

    /// The order of prices.
    pub fn compare(self, other: Price) -> Ordering {
        self.rejected.cmp(&other.rejected).then(self.seconds.total_cmp(&other.seconds))
    }
}

/// A segment. One that makes nothing any more stays as an empty entry.
pub(super) struct Segment {
    pub made: Vec<Val>,
    cone: Cone,
    view: OnceCell<Fusion>,
    minimum: OnceCell<Price>,
    price: OnceCell<Price>,
}

impl Segment {
    /// The segment that makes these values while others are in memory.
    pub fn new(problem: &SearchProblem<'_>, mut made: Vec<Val>, is_kept: impl Fn(Val) -> bool) -> Segment {
        made.sort_unstable();
        let cone = segment_cone(problem.graph, problem.fusion, &made, is_kept);
        let (view, minimum, price) = Default::default();
        Segment { made, cone, view, minimum, price }
    }

    /// What it reads, ascending.
    pub fn inputs(&self) -> &[Val] {
        self.cone.inputs()
    }

    /// The nodes that it computes, operands before users.
    pub fn order(&self) -> &[Node] {
        self.cone.order()
    }

    /// Whether it reads a value.
    pub fn reads(&self, val: Val) -> bool {
        self.inputs().binary_search(&val).is_ok()
    }

    /// Whether it computes a node.
    pub fn contains(&self, node: Node) -> bool {
        self.order().binary_search(&node).is_ok()
    }

    /// Whether it computes a value.
    pub fn computes(&self, val: Val) -> bool {
        self.contains(val.node) && !self.reads(val)
    }

    /// The segment as a view.
    pub fn view(&self, problem: &SearchProblem<'_>) -> &Fusion {
        self.view.get_or_init(|| view_of(problem.graph, problem.fusion, &self.made, self.cone.clone()))
    }

    /// What it costs.
    pub fn price(&self, problem: &SearchProblem<'_>, amounts: &Amounts<'_>) -> Price {
        *self.price.get_or_init(|| {
            let view = self.view(problem);
            let answer = problem.legality.of(problem.graph, view);
            let told = self.minimum.get().map_or(0, |minimum| minimum.rejected);
            debug_assert!(told == 0 || answer.is_err(), "a group is legal that leaves no axis to workers");
            Price {
                seconds: Seconds::with(amounts, view, &answer).total(),
                rejected: usize::from(answer.is_err()),
            }
        })
    }

    /// A lower bound of the seconds of any segments that together compute and write what it does, and these values that it
    /// computes.
    pub fn min_seconds_writing(
        &self,
        problem: &SearchProblem<'_>,
        amounts: &Amounts<'_>,
        vals: &[Val],
    ) -> f64 {
        min_seconds(amounts, &[&self.made, vals].concat(), &self.cone, || self.view(problem))
    }

    /// A lower bound of its cost, whatever its kernel.
    pub fn minimum(
        &self,
        problem: &SearchProblem<'_>,
        amounts: &Amounts<'_>,
        workers: &WorkerAxes<'_>,
    ) -> Price {
        *self.minimum.get_or_init(|| Price {
            seconds: min_seconds(amounts, &self.made, &self.cone, || self.view(problem)),
            rejected: usize::from(workers.none_in(&self.made, &self.cone)),
        })
    }
}
