//! Monoids: how folds (reductions) combine elements, in any grouping.
//!
//! A fold starts from the identity of each state. `lift` makes states of one element, `step` takes one more element into
//! states, `combine` joins the states of two runs of elements, the first before the second, and `finish` gives the
//! results. All expressions compute in the compute dtype of the element. Shapes and axes are the graph's.

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::expr::ScalarExpr;
use super::expr_parser;
use crate::dtype::DType;
use crate::scalar::Scalar;

/// The monoids that folds know by name.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Monoid {
    /// The sum of the elements.
    Sum,
    /// The product of the elements.
    Prod,
    /// The greatest element; NaN if any is.
    Max,
    /// The least element; NaN if any is.
    Min,
    /// Mean, sum of squared deviations from it, and count, by Welford's method.
    Welford,
}

/// What a row of the table of monoids says.
#[derive(Debug)]
pub struct MonoidRow {
    /// The name, as in the definition language where it has one.
    pub name: &'static str,
    /// The states a fold carries.
    pub states: &'static [State],
    /// States of one element: an expression over `x`.
    pub lift: &'static str,
    /// States after one more element: over the states and `x`.
    pub step: &'static str,
    /// States of two runs together: over the states with `_a` and with `_b` behind their names.
    pub combine: &'static str,
    /// Results: over the states.
    pub finish: &'static str,
    /// Does the fold give the same bits in every order of elements?
    pub exact: bool,
    /// The error of a fold of n elements in any grouping of depth h, u being half a unit in the last place of 1.
    pub error: &'static str,
    /// One sentence for the user.
    pub doc: &'static str,
}

/// One state of a monoid. Its dtype is that of the element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct State {
    /// Its name in the expressions.
    pub name: &'static str,
    /// The value before any element.
    pub identity: Identity,
}

/// The value of a state before any element, in every dtype.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Identity {
    /// 0, or false.
    Zero,
    /// 1, or true.
    One,
    /// Minus infinity, the least integer, or false.
    Lowest,
    /// Infinity, the greatest integer, or true.
    Highest,
}

impl Identity {
    /// The value as a constant of `dtype`.
    pub fn scalar(self, dtype: DType) -> Scalar {
        match self {
            Identity::Zero => Scalar::zero(dtype),
            Identity::One => Scalar::one(dtype),
            Identity::Lowest => Scalar::lowest(dtype),
            Identity::Highest => Scalar::highest(dtype),
        }
    }
}

const fn state(name: &'static str, identity: Identity) -> State {
    State { name, identity }
}

const SUM: MonoidRow = MonoidRow {
    name: "sum",
    states: &[state("sum", Identity::Zero)],
    lift: "x",
    step: "sum + x",
    combine: "sum_a + sum_b",
    finish: "sum",
    exact: false,
    error: "(n - 1) u times the sum of the elements' magnitudes, in any order (Rump 2012); integers exact, wrapped",
    doc: "The sum of the elements; 0 of none.",
};

const PROD: MonoidRow = MonoidRow {
    name: "prod",
    states: &[state("product", Identity::One)],
    lift: "x",
    step: "product * x",
    combine: "product_a * product_b",
    finish: "product",
    exact: false,
    error: "n u times the result's magnitude, short of overflow and underflow; integers exact, wrapped",
    doc: "The product of the elements; 1 of none.",
};

const MAX: MonoidRow = MonoidRow {
    name: "max",
    states: &[state("greatest", Identity::Lowest)],
    lift: "x",
    step: "maximum(greatest, x)",
    combine: "maximum(greatest_a, greatest_b)",
    finish: "greatest",
    exact: true,
    error: "none of its own; at most the greatest of the elements' errors",
    doc: "The greatest element, NaN if any is; the dtype's least of none.",
};

const MIN: MonoidRow = MonoidRow {
    name: "min",
    states: &[state("least", Identity::Highest)],
    lift: "x",
    step: "minimum(least, x)",
    combine: "minimum(least_a, least_b)",
    finish: "least",
    exact: true,
    error: "none of its own; at most the greatest of the elements' errors",
    doc: "The least element, NaN if any is; the dtype's greatest of none.",
};

/// Chan, Golub and LeVeque's combination. An empty second run must leave the first as it is, infinities included, hence the
/// selection; an empty first run has weight 1 on the second and needs none.
const WELFORD: MonoidRow = MonoidRow {
    name: "welford",
    states: &[state("mean", Identity::Zero), state("m2", Identity::Zero), state("count", Identity::Zero)],
    lift: "x, 0, 1",
    step: "n = count + 1; d = x - mean; m = mean + d / n; m, m2 + d * (x - m), n",
    combine: "n = count_a + count_b; d = mean_b - mean_a; w = count_b / maximum(n, 1); \
              empty = eq(count_b, 0); \
              where(empty, mean_a, mean_a + d * w), \
              where(empty, m2_a, m2_a + m2_b + d * d * (count_a * w)), n",
    finish: "mean, m2, count",
    exact: false,
    error: "mean: n u times the mean magnitude, a few times over; m2: n n u times the same squared in the worst case, and \
            n u times itself where the deviations are not small beside the mean (Chan, Golub and LeVeque 1983)",
    doc: "Mean, sum of squared deviations from the mean, and count of the elements.",
};

/// The four expressions of a monoid, parsed.
#[derive(Debug)]
pub struct MonoidExprs {
    /// One parameter, the element; a result per state.
    pub lift: ScalarExpr,
    /// The states, then the element; a result per state.
    pub step: ScalarExpr,
    /// The states of the first run, then those of the second; a result per state.
    pub combine: ScalarExpr,
    /// The states; a result per result of the fold.
    pub finish: ScalarExpr,
}

impl Monoid {
    /// Every monoid, in declaration order.
    pub const ALL: &'static [Monoid] =
        &[Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::Welford];

    /// Its row.
    pub fn row(self) -> &'static MonoidRow {
        match self {
            Monoid::Sum => &SUM,
            Monoid::Prod => &PROD,
            Monoid::Max => &MAX,
            Monoid::Min => &MIN,
            Monoid::Welford => &WELFORD,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The monoid called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Monoid> {
        Self::ALL.iter().copied().find(|monoid| monoid.name() == name)
    }

    /// Its expressions.
    pub fn exprs(self) -> &'static MonoidExprs {
        static PARSED: LazyLock<Vec<MonoidExprs>> =
            LazyLock::new(|| Monoid::ALL.iter().copied().map(parsed).collect());
        &PARSED[self as usize]
    }

    /// The number of results of a fold: 1, or 3 for Welford.
    pub fn results(self) -> usize {
        self.exprs().finish.results().len()
    }

    /// The dtypes of its states over elements of this dtype: the element's, Welford's count too.
    pub fn state_dtypes(self, element: DType) -> SmallVec<[DType; 3]> {
        self.row().states.iter().map(|_| element).collect()
    }

    /// The states before any element, which are what a fold of nothing gives.
    pub fn identity(self, element: DType) -> SmallVec<[Scalar; 3]> {
        self.row().states.iter().map(|state| state.identity.scalar(element)).collect()
    }
}

/// A text that is no expression is a bug of the table, which the tests of every row would show.
fn parsed(monoid: Monoid) -> MonoidExprs {
    let row = monoid.row();
    let read = |text: &str, params: &[String]| {
        let params: Vec<&str> = params.iter().map(String::as_str).collect();
        expr_parser::parse(text, &params).unwrap_or_else(|error| panic!("monoid `{}`: {error}", row.name))
    };
    let suffixed =
        |suffix: &str| row.states.iter().map(move |state| format!("{}{suffix}", state.name)).collect();
    let states: Vec<String> = suffixed("");
    let element = vec!["x".to_owned()];
    let both: Vec<String> = [suffixed("_a"), suffixed("_b")].concat();
    MonoidExprs {
        lift: read(row.lift, &element),
        step: read(row.step, &[states.clone(), element].concat()),
        combine: read(row.combine, &both),
        finish: read(row.finish, &states),
    }
}
