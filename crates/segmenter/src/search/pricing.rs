//! What segments cost: found once for each class of them.

use std::cell::RefCell;
use std::cmp::Ordering;

use ir::graph::{Cone, Fusion, Val};
use rustc_hash::FxHashMap;

use super::SearchProblem;
use crate::cost::{Amounts, Seconds, min_seconds};
use crate::group_classes::GroupClass;
use crate::worker_axes::WorkerAxes;

/// A relative gain below this counts as none: sums of seconds are rounded.
pub(super) const ROUNDING: f64 = 1e-9;

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

/// A lower bound of the cost of a segment.
#[derive(Clone, Copy)]
pub(super) struct Minimum {
    seconds: Seconds,
    /// Whether surely no engine runs it as one step.
    is_rejected: bool,
}

impl Minimum {
    /// As a price.
    pub fn price(self) -> Price {
        Price { seconds: self.seconds.total(), rejected: usize::from(self.is_rejected) }
    }
}

/// What the segments of a problem cost.
pub(super) struct Pricing<'a> {
    problem: SearchProblem<'a>,
    pub amounts: Amounts<'a>,
    workers: WorkerAxes<'a>,
    known: RefCell<FxHashMap<GroupClass, Price>>,
}

impl<'a> Pricing<'a> {
    /// Nothing is known yet.
    pub fn of(problem: SearchProblem<'a>) -> Pricing<'a> {
        let amounts = Amounts::new(problem.graph, problem.hints, problem.target);
        let workers = WorkerAxes::of(problem.graph, problem.fusion);
        Pricing { problem, amounts, workers, known: RefCell::default() }
    }

    /// What a segment of this class costs.
    pub fn price<'v>(&self, class: GroupClass, view: impl FnOnce() -> &'v Fusion) -> Price {
        let SearchProblem { graph, legality, .. } = self.problem;
        if let Some(&known) = self.known.borrow().get(&class) {
            return known;
        }
        let view = view();
        let answer = legality.of(graph, view);
        let seconds = Seconds::with(&self.amounts, view, &answer).total();
        let price = Price { seconds, rejected: usize::from(answer.is_err()) };
        self.known.borrow_mut().insert(class, price);
        price
    }

    /// A lower bound of the cost of a segment that makes these values, whatever its kernel.
    pub fn minimum<'v>(&self, made: &[Val], cone: &Cone, view: impl FnOnce() -> &'v Fusion) -> Minimum {
        let seconds = min_seconds(&self.amounts, made, cone, view);
        Minimum { seconds, is_rejected: self.workers.none_in(made, cone) }
    }

    /// The same if these values are written too.
    pub fn writing(&self, minimum: Minimum, vals: &[Val]) -> Price {
        let seconds = minimum.seconds.moving(self.amounts.bytes(vals), self.problem.target);
        Price { seconds: seconds.total(), rejected: 0 }
    }
}
