//! Lambdas of rescaled sums: one state is a maximum m, and the others are sums `s * exp(a - m) + t * exp(b - m)` of those of
//! two runs with maxima a and b, as in online softmax.
//!
//! The body is evaluated on terms, once for each order that a and b may have, NaN included, so that the order of operands
//! does not matter. The factor of the larger maximum, exp(0), may be left out. Then an infinite element counts for itself.
//! Sums may be wider than the maximum.

use std::cmp::Ordering;

use crate::{Arith, Body, BodyArith, BodyStep, DType, Lambda, Scalar, ScalarOp};

/// The factor of an exponent of 2, as in f32.
const LOG2_E: f64 = std::f32::consts::LOG2_E as f64;

/// A lambda of rescaled sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rescaled {
    /// The state that is a maximum; all others are sums.
    pub maximum: usize,
    /// The sums if the maximum is infinite.
    pub infinite: Infinite,
    /// The exponential that rescales single elements: exp, or a cheaper one if that is what rescales some run.
    exponential: ScalarOp,
}

/// The sums if the maximum is infinite. The terms of finite elements are multiplied by 0 then.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Infinite {
    /// NaN: each sum is multiplied by exp(0), computed as exp(a - a).
    Nan,
    /// The term of the infinite element if there is one, and NaN if there are several.
    One,
    /// The sum of the terms of the infinite elements.
    All,
}

/// The result of a step of the body, for two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Term {
    Number(f64),
    Truth(bool),
    /// NaN, as one maximum is NaN and the result depends on it.
    Nan,
    /// The larger maximum, or either of two equal ones; the first one if they have no order.
    Larger,
    Smaller,
    /// The smaller maximum less the larger one, or the larger less the smaller.
    Difference {
        negative: bool,
    },
    /// The smaller maximum less the larger one, as an exponent of 2.
    Exponent,
    /// exp of a maximum less the larger one.
    Scale(Factor),
    /// The sum of one run.
    Sum {
        state: usize,
        run: usize,
        by: Option<Factor>,
    },
    /// The sums of both runs together: that of the smaller maximum, if one is smaller, is rescaled by less than 1. `plain`
    /// of them are not rescaled.
    Total {
        state: usize,
        smaller: Option<usize>,
        plain: usize,
    },
    Other,
}

/// The factor that rescales a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Factor {
    /// exp(0).
    One,
    /// exp of the smaller maximum less the larger one.
    Less,
}

/// The rescaled sums of a lambda, if it has a maximum and sums that are rescaled by it, and runs begin with sums of zero and
/// a finite maximum: infinite elements below that count for nothing.
pub fn rescaled(lambda: &Lambda) -> Option<Rescaled> {
    let (body, init) = (lambda.body(), lambda.identity());
    let are_floats = body.dtypes().iter().all(|of| matches!(of, DType::F32 | DType::F64 | DType::Bool));
    let begins = |maximum: usize| {
        let mut others = init.iter().enumerate().filter(|(state, _)| *state != maximum);
        init[maximum].as_f64().is_finite() && others.all(|(_, scalar)| scalar.as_f64() == 0.0)
    };
    let found = |maximum| {
        let rescaling = Rescaling { body, states: init.len(), maximum };
        let infinite = begins(maximum).then(|| rescaling.infinite()).flatten()?;
        Some(Rescaled { maximum, infinite, exponential: exponential(body) })
    };
    (0..init.len()).filter(|_| are_floats && init.len() > 1).find_map(found)
}

/// The cheapest exponential of a body.
fn exponential(body: &Body) -> ScalarOp {
    let cheaper = |step: &BodyStep| match step {
        BodyStep::Apply(op, _)
            if is_exponential(*op) && !matches!(op, ScalarOp::Exp | ScalarOp::ExpNonpositive) =>
        {
            Some(*op)
        }
        _ => None,
    };
    body.steps().iter().find_map(cheaper).unwrap_or(ScalarOp::ExpNonpositive)
}

impl Rescaled {
    /// Whether several elements at once give what they give one after the other.
    pub(crate) fn takes_several(&self) -> bool {
        self.infinite != Infinite::One
    }

    /// The states of a run after more elements: each sum is rescaled once for all of them. `are_one` tells of each state
    /// whether it is a sum of the constant 1: the factors of elements are added up before they are widened then.
    pub fn take<A: BodyArith>(
        &self,
        arith: &mut A,
        dtypes: &[DType],
        (states, elements): (&[A::V], &[Vec<A::V>]),
        are_one: &[bool],
    ) -> Vec<A::V> {
        let mut largest = Pairwise::of(ScalarOp::Maximum);
        elements.iter().for_each(|element| largest.push(arith, element[self.maximum].clone()));
        let largest = largest.total(arith);
        let largest = arith.apply(ScalarOp::Maximum, &[states[self.maximum].clone(), largest]);
        let own = self.factor(arith, ScalarOp::ExpNonpositive, &states[self.maximum], &largest);
        let mut sums: Vec<Pairwise<A::V>> = states.iter().map(|_| Pairwise::of(ScalarOp::Add)).collect();
        for element in elements {
            let factor = self.factor(arith, self.exponential, &element[self.maximum], &largest);
            for (state, sum) in sums.iter_mut().enumerate().filter(|(state, _)| *state != self.maximum) {
                let term = match are_one[state] {
                    true => factor.clone(),
                    false => {
                        let factor = widened(arith, &factor, [dtypes[self.maximum], dtypes[state]]);
                        arith.apply(ScalarOp::Mul, &[element[state].clone(), factor])
                    }
                };
                sum.push(arith, term);
            }
        }
        let mut after = states.to_vec();
        for (state, sum) in sums.into_iter().enumerate().filter(|(state, _)| *state != self.maximum) {
            let casts = [dtypes[self.maximum], dtypes[state]];
            let sum = sum.total(arith);
            let sum = if are_one[state] { widened(arith, &sum, casts) } else { sum };
            let own = widened(arith, &own, casts);
            let rescaled = arith.apply(ScalarOp::Mul, &[states[state].clone(), own]);
            after[state] = arith.apply(ScalarOp::Add, &[rescaled, sum]);
        }
        after[self.maximum] = largest;
        after
    }

    /// What rescales the sum of a run with this maximum, or an element.
    fn factor<A: BodyArith>(&self, arith: &mut A, exponential: ScalarOp, key: &A::V, largest: &A::V) -> A::V {
        let mut less = arith.apply(ScalarOp::Sub, &[key.clone(), largest.clone()]);
        if exponential.is_short_exp2() {
            let factor = arith.constant(LOG2_E);
            less = arith.apply(ScalarOp::Mul, &[less, factor]);
        }
        let factor = arith.apply(exponential, &[less]);
        if self.infinite == Infinite::Nan {
            return factor;
        }
        let (is_largest, one) =
            (arith.apply(ScalarOp::Eq, &[key.clone(), largest.clone()]), arith.constant(1.0));
        arith.apply(ScalarOp::Where, &[is_largest, one, factor])
    }
}

/// A factor of one dtype in another.
fn widened<A: BodyArith>(arith: &mut A, factor: &A::V, [from, to]: [DType; 2]) -> A::V {
    if from == to { factor.clone() } else { arith.cast(factor, from, to) }
}

/// Values combined in pairs, and the results in pairs again. Each is combined as early as it can be, so that few values are
/// alive at a time.
struct Pairwise<V> {
    op: ScalarOp,
    /// What has no partner yet, with how often it was combined.
    waiting: Vec<(V, u32)>,
}

impl<V: Clone> Pairwise<V> {
    fn of(op: ScalarOp) -> Pairwise<V> {
        Pairwise { op, waiting: Vec::new() }
    }

    fn push(&mut self, arith: &mut impl BodyArith<V = V>, value: V) {
        let (mut value, mut level) = (value, 0);
        while let Some((earlier, _)) = self.waiting.pop_if(|(_, of)| *of == level) {
            (value, level) = (arith.apply(self.op, &[earlier, value]), level + 1);
        }
        self.waiting.push((value, level));
    }

    /// The combination of at least one value.
    fn total(mut self, arith: &mut impl BodyArith<V = V>) -> V {
        let (mut total, _) = self.waiting.pop().expect("a value");
        while let Some((earlier, _)) = self.waiting.pop() {
            total = arith.apply(self.op, &[earlier, total]);
        }
        total
    }
}

/// A body with a state that may be the maximum.
struct Rescaling<'b> {
    body: &'b Body,
    states: usize,
    maximum: usize,
}

impl Rescaling<'_> {
    /// Its sums if the maximum is infinite, if it rescales them.
    fn infinite(&self) -> Option<Infinite> {
        let propagates_nan = self.results(None).iter().all(|result| *result == Term::Nan);
        let plain = |order| self.plain(order).filter(|_| propagates_nan);
        match (plain(Ordering::Less)?, plain(Ordering::Equal)?, plain(Ordering::Greater)?) {
            (0, 0, 0) => Some(Infinite::Nan),
            (1, 1, 1) => Some(Infinite::One),
            (1, 2, 1) => Some(Infinite::All),
            _ => None,
        }
    }

    /// How many of two sums it does not rescale if the maximum of the first run compares to that of the second in this way;
    /// `None` unless all states agree.
    fn plain(&self, order: Ordering) -> Option<usize> {
        let (results, larger) = (self.results(Some(order)), larger(order));
        let smaller = (order != Ordering::Equal).then_some(1 - larger);
        let [first, ..] = results[usize::from(self.maximum == 0)..] else { return None };
        let Term::Total { plain, .. } = first else { return None };
        let expected = |state| match state == self.maximum {
            true => Term::Larger,
            false => Term::Total { state, smaller, plain },
        };
        results.iter().enumerate().all(|(state, result)| *result == expected(state)).then_some(plain)
    }

    /// Its results for two runs whose maxima compare in this way; they have no order if one is NaN.
    fn results(&self, order: Option<Ordering>) -> Vec<Term> {
        let larger = larger(order.unwrap_or(Ordering::Greater));
        let term = |param: usize| match (param / self.states, param % self.states) {
            (run, state) if state != self.maximum => Term::Sum { state, run, by: None },
            (run, _) if run == larger || order == Some(Ordering::Equal) => Term::Larger,
            _ => Term::Smaller,
        };
        let params: Vec<Term> = (0..2 * self.states).map(term).collect();
        self.body.eval(&mut Terms { are_ordered: order.is_some() }, &params)
    }
}

/// The run with the larger maximum.
fn larger(order: Ordering) -> usize {
    usize::from(order == Ordering::Less)
}

/// Evaluates on terms.
struct Terms {
    are_ordered: bool,
}

impl BodyArith for Terms {
    fn scalar(&mut self, constant: Scalar) -> Term {
        if constant.dtype().is_float() { Term::Number(constant.as_f64()) } else { Term::Other }
    }

    fn cast(&mut self, value: &Term, from: DType, to: DType) -> Term {
        match value {
            _ if from == to => *value,
            Term::Number(_) | Term::Scale(_) | Term::Nan if from.size() < to.size() => *value,
            _ => Term::Other,
        }
    }
}

impl Arith for Terms {
    type V = Term;

    fn apply(&mut self, op: ScalarOp, args: &[Term]) -> Term {
        match *args {
            [a] => unary(op, a),
            [a, b] => self.binary(op, a, b),
            [Term::Truth(condition), a, b] if op == ScalarOp::Where => {
                if condition {
                    a
                } else {
                    b
                }
            }
            _ => Term::Other,
        }
    }

    fn constant(&mut self, value: f64) -> Term {
        Term::Number(value)
    }
}

fn is_exponential(op: ScalarOp) -> bool {
    op.is_exp() || op.is_short_exp2()
}

fn unary(op: ScalarOp, a: Term) -> Term {
    match (op, a) {
        (ScalarOp::Neg | ScalarOp::Abs, Term::Nan) => Term::Nan,
        (exponential, Term::Nan) if is_exponential(exponential) => Term::Nan,
        (ScalarOp::Neg, Term::Difference { negative }) => Term::Difference { negative: !negative },
        (ScalarOp::Abs, Term::Difference { .. }) => Term::Difference { negative: false },
        (ScalarOp::Neg | ScalarOp::Abs, Term::Number(0.0)) => Term::Number(0.0),
        (exp, Term::Difference { negative: true }) if exp.is_exp() => Term::Scale(Factor::Less),
        (exp2, Term::Exponent) if exp2.is_short_exp2() => Term::Scale(Factor::Less),
        (exponential, Term::Number(0.0)) if is_exponential(exponential) => Term::Scale(Factor::One),
        _ => Term::Other,
    }
}

impl Terms {
    fn binary(&self, op: ScalarOp, a: Term, b: Term) -> Term {
        let is_arithmetic = matches!(
            op,
            ScalarOp::Add | ScalarOp::Sub | ScalarOp::Mul | ScalarOp::Maximum | ScalarOp::Minimum
        );
        match (op, a, b) {
            (_, Term::Nan, _) | (_, _, Term::Nan) if is_arithmetic => Term::Nan,
            (_, Term::Nan | Term::Larger | Term::Smaller, Term::Nan | Term::Larger | Term::Smaller) => {
                self.of_maxima(op, a, b)
            }
            (ScalarOp::Mul, Term::Difference { negative: true }, Term::Number(factor))
                if factor == LOG2_E =>
            {
                Term::Exponent
            }
            (ScalarOp::Mul, Term::Number(0.0), Term::Number(factor)) if factor.is_finite() => {
                Term::Number(0.0)
            }
            (ScalarOp::Mul, factor, Term::Sum { state, run, by: None })
            | (ScalarOp::Mul, Term::Sum { state, run, by: None }, factor) => match factor {
                Term::Scale(factor) => Term::Sum { state, run, by: Some(factor) },
                Term::Number(1.0) => Term::Sum { state, run, by: None },
                _ => Term::Other,
            },
            (ScalarOp::Add, Term::Sum { state, run, by: a }, Term::Sum { state: of, run: other, by: b })
                if state == of && run != other =>
            {
                let sums = [(run, a), (other, b)];
                let smaller = sums.iter().find(|(_, by)| *by == Some(Factor::Less)).map(|&(run, _)| run);
                let plain = sums.iter().filter(|(_, by)| by.is_none()).count();
                Term::Total { state, smaller, plain }
            }
            _ => Term::Other,
        }
    }

    /// An op on the maxima of two runs, or on one of them twice.
    fn of_maxima(&self, op: ScalarOp, a: Term, b: Term) -> Term {
        let is_twice = a == b;
        if !self.are_ordered && is_twice && a != Term::Nan {
            return Term::Other;
        }
        let size = |term| u8::from(term == Term::Larger);
        let order = self.are_ordered.then(|| size(a).cmp(&size(b)));
        match (op, order) {
            (ScalarOp::Maximum | ScalarOp::Minimum | ScalarOp::Sub, None) => Term::Nan,
            (ScalarOp::Maximum, Some(order)) => [a, b][usize::from(order.is_lt())],
            (ScalarOp::Minimum, Some(order)) => [a, b][usize::from(order.is_gt())],
            (ScalarOp::Sub, Some(Ordering::Equal)) => Term::Number(0.0),
            (ScalarOp::Sub, Some(order)) => Term::Difference { negative: order.is_lt() },
            (ScalarOp::Eq, order) => Term::Truth(order == Some(Ordering::Equal)),
            (ScalarOp::Ne, order) => Term::Truth(order != Some(Ordering::Equal)),
            (ScalarOp::Lt, order) => Term::Truth(order.is_some_and(Ordering::is_lt)),
            (ScalarOp::Le, order) => Term::Truth(order.is_some_and(Ordering::is_le)),
            (ScalarOp::Gt, order) => Term::Truth(order.is_some_and(Ordering::is_gt)),
            (ScalarOp::Ge, order) => Term::Truth(order.is_some_and(Ordering::is_ge)),
            _ => Term::Other,
        }
    }
}
