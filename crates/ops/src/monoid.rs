//! Monoids: how folds (reductions) combine elements, in any grouping.
//!
//! A monoid is a named row of the table here, or a body that a definition brings along ([`Lambda`]), whose states are
//! the elements themselves. A fold starts from the identity of each state. Of a row, `of_element` makes states of one element,
//! `step` takes one more element into states, `combine` joins the states of two runs of elements, the first before the
//! second, and `finish` gives the results; its expressions compute in the dtype of the first operand. A body is `step`
//! and `combine` at once. Shapes and axes are the graph's.

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::body::{BodyArith, Lambda};
use super::expr::{Arith, ScalarExpr};
use super::expr_parser;
use super::rescaled::{Rescaled, rescaled};
use crate::{DType, Scalar};

/// How a fold or a scan combines: a row of the table by name, or a body from the definition.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Monoid {
    /// The sum of the elements.
    Sum,
    /// The product of the elements.
    Prod,
    /// The largest element; NaN if any is.
    Max,
    /// The smallest element; NaN if any is.
    Min,
    /// Mean, sum of squared deviations from it, and count.
    Welford,
    /// The largest element and the smallest number of those that are as large.
    Argmax,
    /// The smallest element and the smallest number of those that are as small.
    Argmin,
    /// States that are the elements themselves, combined by a body.
    Lambda(Lambda),
}

/// A row of the table of monoids.
#[derive(Debug)]
pub struct MonoidRow {
    /// The name, as in the definition language where it has one.
    pub name: &'static str,
    /// The states of a fold.
    pub states: &'static [State],
    /// The operands: an element is one of each.
    pub operands: &'static [&'static str],
    /// States of one element: an expression over the operands.
    pub of_element: &'static str,
    /// States after one more element: over the states and the operands.
    pub step: &'static str,
    /// The same for states that have taken an element, if that is less work.
    pub next: Option<&'static str>,
    /// States of two runs together: over the states with `_a` and with `_b` after their names.
    pub combine: &'static str,
    /// Results: over the states.
    pub finish: &'static str,
    /// Does the fold give the same bits in every order of elements?
    pub exact: bool,
    /// The dtype in which long folds of f32 continue.
    pub totals: Totals,
    /// The error of a fold of n elements in any grouping of depth h, u being half a unit in the last place of 1.
    pub error: &'static str,
    /// One sentence for the user.
    pub doc: &'static str,
}

/// The dtype in which a long fold of f32 adds up the results of blocks of a few elements, so that its rounding errors do not
/// grow with its length.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Totals {
    /// In the dtype of the states.
    Same,
    /// In f64: each lane adds the states of a block to its own totals. The states are few.
    OfBlocks,
    /// In f64: the states of the lanes are widened when they are combined at the end of a block, for all lanes at once.
    OfLanes,
}

/// One state of a monoid. Its dtype is that of the operand of its number, or of the last operand.
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
    /// Minus infinity, the smallest integer, or false.
    Lowest,
    /// Infinity, the largest integer, or true.
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
    operands: &["x"],
    of_element: "x",
    step: "sum + x",
    next: None,
    combine: "sum_a + sum_b",
    finish: "sum",
    exact: false,
    totals: Totals::OfBlocks,
    error: "n u times the sum of the elements' magnitudes, of f32 at most 96 u, in any order, products added unrounded; \
            integers exact, wrapped",
    doc: "The sum of the elements; 0 of none.",
};

const PROD: MonoidRow = MonoidRow {
    name: "prod",
    states: &[state("product", Identity::One)],
    operands: &["x"],
    of_element: "x",
    step: "product * x",
    next: None,
    combine: "product_a * product_b",
    finish: "product",
    exact: false,
    totals: Totals::Same,
    error: "n u times the result's magnitude, short of overflow and underflow; integers exact, wrapped",
    doc: "The product of the elements; 1 of none.",
};

const MAX: MonoidRow = MonoidRow {
    name: "max",
    states: &[state("largest", Identity::Lowest)],
    operands: &["x"],
    of_element: "x",
    step: "maximum(largest, x)",
    next: None,
    combine: "maximum(largest_a, largest_b)",
    finish: "largest",
    exact: true,
    totals: Totals::Same,
    error: "none of its own; at most the largest of the elements' errors",
    doc: "The largest element, NaN if any is; the dtype's smallest of none.",
};

const MIN: MonoidRow = MonoidRow {
    name: "min",
    states: &[state("smallest", Identity::Highest)],
    operands: &["x"],
    of_element: "x",
    step: "minimum(smallest, x)",
    next: None,
    combine: "minimum(smallest_a, smallest_b)",
    finish: "smallest",
    exact: true,
    totals: Totals::Same,
    error: "none of its own; at most the largest of the elements' errors",
    doc: "The smallest element, NaN if any is; the dtype's largest of none.",
};

/// Sums of deviations from the first element of a run, and of their squares (Chan, Golub and LeVeque 1983, shifted data):
/// the deviations of equal elements are zero, and a large mean cancels before anything is rounded. Runs are combined by
/// moving the second to the shift of the first, which squares the distance of the two; so that is done in `f64`, where it
/// loses nothing of `f32`. An empty first run takes the shift of the second, and an empty second run adds zeros.
const WELFORD: MonoidRow = MonoidRow {
    name: "welford",
    states: &[
        state("shift", Identity::Zero),
        state("sum", Identity::Zero),
        state("squares", Identity::Zero),
        state("count", Identity::Zero),
    ],
    operands: &["x"],
    of_element: "x, 0, 0, 1",
    step: "s = where(eq(count, 0), x, shift); d = x - s; s, sum + d, squares + d * d, count + 1",
    next: Some("d = x - shift; shift, sum + d, squares + d * d, count + 1"),
    combine: "s = where(eq(count_a, 0), shift_b, shift_a); d = shift_b - s; moved = sum_b + count_b * d; \
              s, sum_a + moved, squares_a + (squares_b + d * (sum_b + moved)), count_a + count_b",
    finish: "many = gt(count, 1); m = sum / count; \
             where(many, shift + m, shift), where(many, squares - sum * m, squares), count",
    exact: false,
    totals: Totals::OfLanes,
    error: "mean: as a sum of the deviations over n, and u times itself; m2: as a sum of the squared deviations from the \
            first elements of runs, which of f32 have 64 elements at most (Chan, Golub and LeVeque 1983)",
    doc: "Mean, sum of squared deviations from the mean, and count of the elements.",
};

/// Ties go to the smallest number, and NaN wins: `ne(x, x)` detects it in every dtype. The numbers make the order strict, so
/// that runs may combine in any order.
macro_rules! arg_row {
    ($name:literal, $beats:literal, $identity:expr, $doc:literal) => {
        MonoidRow {
            name: $name,
            states: &[state("best", $identity), state("number", Identity::Highest)],
            operands: &["x", "k"],
            of_element: "x, k",
            step: concat!(
                "over = logical_or(",
                $beats,
                "(x, best), logical_and(ne(x, x), eq(best, best))); \
                 under = logical_or(",
                $beats,
                "(best, x), logical_and(ne(best, best), eq(x, x))); \
                 take = logical_or(over, logical_and(logical_not(under), lt(k, number))); \
                 where(take, x, best), where(take, k, number)"
            ),
            next: None,
            combine: concat!(
                "over = logical_or(",
                $beats,
                "(best_b, best_a), logical_and(ne(best_b, best_b), eq(best_a, best_a))); \
                 under = logical_or(",
                $beats,
                "(best_a, best_b), logical_and(ne(best_a, best_a), eq(best_b, best_b))); \
                 take = logical_or(over, logical_and(logical_not(under), lt(number_b, number_a))); \
                 where(take, best_b, best_a), where(take, number_b, number_a)"
            ),
            finish: "best, number",
            exact: true,
            totals: Totals::Same,
            error: "none of its own; elements whose errors overlap may change places",
            doc: $doc,
        }
    };
}

const ARGMAX: MonoidRow = arg_row!(
    "argmax",
    "gt",
    Identity::Lowest,
    "The largest element and its number, the first of equals; NaN is the largest."
);

const ARGMIN: MonoidRow = arg_row!(
    "argmin",
    "lt",
    Identity::Highest,
    "The smallest element and its number, the first of equals; NaN is the smallest."
);

/// The expressions of a monoid, parsed.
#[derive(Debug)]
pub struct MonoidExprs {
    /// The operands; a result per state.
    pub of_element: ScalarExpr,
    /// The states, then the operands; a result per state.
    pub step: ScalarExpr,
    /// Likewise, of states that have taken an element.
    pub next: ScalarExpr,
    /// The states of the first run, then those of the second; a result per state.
    pub combine: ScalarExpr,
    /// The states; a result per result of the fold.
    pub finish: ScalarExpr,
}

impl Monoid {
    /// Every monoid of the table, in table order.
    pub const NAMED: &'static [Monoid] = &[
        Monoid::Sum,
        Monoid::Prod,
        Monoid::Max,
        Monoid::Min,
        Monoid::Welford,
        Monoid::Argmax,
        Monoid::Argmin,
    ];

    const ROWS: [&'static MonoidRow; 7] = [&SUM, &PROD, &MAX, &MIN, &WELFORD, &ARGMAX, &ARGMIN];

    fn place(&self) -> Option<usize> {
        Self::NAMED.iter().position(|named| named == self)
    }

    /// Its row, if the table has it.
    pub fn row(&self) -> Option<&'static MonoidRow> {
        self.place().map(|place| Self::ROWS[place])
    }

    /// Its name; that of every body is `lambda`.
    pub fn name(&self) -> &'static str {
        self.row().map_or("lambda", |row| row.name)
    }

    /// The monoid of the table called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Monoid> {
        Self::NAMED.iter().find(|monoid| monoid.name() == name).cloned()
    }

    /// Its expressions, if the table has it.
    pub fn exprs(&self) -> Option<&'static MonoidExprs> {
        static PARSED: LazyLock<Vec<MonoidExprs>> =
            LazyLock::new(|| Monoid::ROWS.into_iter().map(parsed).collect());
        self.place().map(|place| &PARSED[place])
    }

    /// How many operands a fold takes, all of one shape.
    pub fn operands(&self) -> usize {
        match self {
            Monoid::Lambda(lambda) => lambda.identity().len(),
            named => named.row().map_or(1, |row| row.operands.len()),
        }
    }

    /// The number of results of a fold.
    pub fn results(&self) -> usize {
        match self {
            Monoid::Lambda(lambda) => lambda.identity().len(),
            named => named.exprs().map_or(1, |exprs| exprs.finish.results().len()),
        }
    }

    /// Whether two runs give the same bits in both orders, and there is only one state.
    pub fn is_symmetric(&self) -> bool {
        matches!(self, Monoid::Sum | Monoid::Prod | Monoid::Max | Monoid::Min)
    }

    /// The sums that it rescales, if it may take several elements at once: then it rescales them once for all.
    pub fn rescaled(&self) -> Option<Rescaled> {
        let Monoid::Lambda(lambda) = self else { return None };
        rescaled(lambda).filter(Rescaled::takes_several)
    }

    /// The number of states of a fold.
    pub fn states(&self) -> usize {
        self.row().map_or_else(|| self.results(), |row| row.states.len())
    }

    /// The dtypes of its results over operands of these dtypes: result `k` has that of operand `k`, or of the last.
    pub fn result_dtypes(&self, operands: &[DType]) -> SmallVec<[DType; 4]> {
        (0..self.results()).map(|result| operands[result.min(operands.len() - 1)]).collect()
    }

    /// The dtypes of its states, likewise.
    pub fn state_dtypes(&self, operands: &[DType]) -> SmallVec<[DType; 4]> {
        (0..self.states()).map(|state| operands[state.min(operands.len() - 1)]).collect()
    }

    /// The dtype in which folds of operands of these dtypes continue after a block.
    pub fn totals(&self, operands: &[DType]) -> Totals {
        let row = self.row().filter(|_| operands == [DType::F32]);
        row.map_or(Totals::Same, |row| row.totals)
    }

    /// The states before any element, and so those of an empty fold.
    pub fn identity(&self, operands: &[DType]) -> SmallVec<[Scalar; 4]> {
        match self {
            Monoid::Lambda(lambda) => lambda.identity().into(),
            named => {
                let states = named.row().map_or(&[][..], |row| row.states).iter();
                states
                    .zip(self.state_dtypes(operands))
                    .map(|(state, dtype)| state.identity.scalar(dtype))
                    .collect()
            }
        }
    }

    /// The states after one more element, which has a value for each operand.
    pub fn step<A: BodyArith>(&self, arith: &mut A, states: &[A::V], element: &[A::V]) -> Vec<A::V> {
        let params = [states, element].concat();
        match (self, self.exprs()) {
            (Monoid::Lambda(lambda), _) => lambda.body().eval(arith, &params),
            (_, Some(exprs)) => exprs.step.eval_all(arith, &params),
            (_, None) => unreachable!("a monoid is a body or a row"),
        }
    }

    /// [`Monoid::step`] of states that have taken an element.
    pub fn next<A: BodyArith>(&self, arith: &mut A, states: &[A::V], element: &[A::V]) -> Vec<A::V> {
        match self.exprs() {
            Some(exprs) => exprs.next.eval_all(arith, &[states, element].concat()),
            None => self.step(arith, states, element),
        }
    }

    /// The states of two runs together, the first before the second.
    pub fn combine<A: BodyArith>(&self, arith: &mut A, first: &[A::V], second: &[A::V]) -> Vec<A::V> {
        let params = [first, second].concat();
        match (self, self.exprs()) {
            (Monoid::Lambda(lambda), _) => lambda.body().eval(arith, &params),
            (_, Some(exprs)) => exprs.combine.eval_all(arith, &params),
            (_, None) => unreachable!("a monoid is a body or a row"),
        }
    }

    /// The results of a fold that ends with these states.
    pub fn finish<A: Arith>(&self, arith: &mut A, states: &[A::V]) -> Vec<A::V> {
        self.exprs().map_or_else(|| states.to_vec(), |exprs| exprs.finish.eval_all(arith, states))
    }
}

/// A text that is no expression is a bug of the table, which the tests of every row would show.
fn parsed(row: &'static MonoidRow) -> MonoidExprs {
    let read = |text: &str, params: &[String]| {
        let params: Vec<&str> = params.iter().map(String::as_str).collect();
        expr_parser::parse(text, &params).unwrap_or_else(|error| panic!("monoid `{}`: {error}", row.name))
    };
    let suffixed =
        |suffix: &str| row.states.iter().map(move |state| format!("{}{suffix}", state.name)).collect();
    let states: Vec<String> = suffixed("");
    let element: Vec<String> = row.operands.iter().map(|&name| name.to_owned()).collect();
    let stepped = [states.clone(), element.clone()].concat();
    let both: Vec<String> = [suffixed("_a"), suffixed("_b")].concat();
    MonoidExprs {
        of_element: read(row.of_element, &element),
        step: read(row.step, &stepped),
        next: read(row.next.unwrap_or(row.step), &stepped),
        combine: read(row.combine, &both),
        finish: read(row.finish, &states),
    }
}
