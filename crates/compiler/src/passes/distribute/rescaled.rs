//! Lambdas of rescaled sums: of whose states one is a maximum m, and the others are sums `s * exp(a - m) + t * exp(b - m)` of
//! those of two runs with maxima a and b, as in online softmax.
//!
//! The body is evaluated on terms, once for each order that a and b may have, so that the order of operands is of no account. Both
//! sums must be rescaled, the one by exp(0) too: that is NaN where the maximum is infinite, as when each element is rescaled once.

use std::cmp::Ordering;

use ops::{Arith, Body, BodyArith, DType, Lambda, Scalar, ScalarOp};

/// What a step of the body is, of two runs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Term {
    Number(f64),
    /// The larger maximum, or either of two that are equal.
    Larger,
    Smaller,
    /// The smaller maximum less the larger one, or the larger less the smaller.
    Difference {
        negative: bool,
    },
    /// exp of a maximum less the larger one.
    Scale(Factor),
    /// The sum of one run.
    Sum {
        state: usize,
        run: usize,
        by: Option<Factor>,
    },
    /// The sums of both runs together, both rescaled: that of the smaller maximum, if one is smaller, by less than 1.
    Total {
        state: usize,
        smaller: Option<usize>,
    },
    Other,
}

/// What a sum is rescaled by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Factor {
    /// exp(0).
    One,
    /// exp of the smaller maximum less the larger one.
    Less,
}

/// The state that is a maximum, if all others are sums that are rescaled by it, and runs begin with sums of zero and
/// a finite maximum: below that one, infinite elements count for nothing.
pub(super) fn maximum_of(lambda: &Lambda) -> Option<usize> {
    let (body, init) = (lambda.body(), lambda.identity());
    let dtype = init[0].dtype();
    let alike = matches!(dtype, DType::F32 | DType::F64) && body.dtypes().iter().all(|&of| fits(of, dtype));
    let is_maximum = |&maximum: &usize| {
        let mut others = init.iter().enumerate().filter(|(state, _)| *state != maximum);
        let orders = [Ordering::Less, Ordering::Equal, Ordering::Greater];
        init[maximum].as_f64().is_finite()
            && others.all(|(_, scalar)| scalar.as_f64() == 0.0)
            && orders.into_iter().all(|order| rescales(body, init.len(), maximum, order))
    };
    (0..init.len()).find(|maximum| alike && init.len() > 1 && is_maximum(maximum))
}

fn fits(of: DType, dtype: DType) -> bool {
    of == dtype || of == DType::Bool
}

/// Whether a body rescales its sums where the maximum of the first run compares so with that of the second.
fn rescales(body: &Body, states: usize, maximum: usize, order: Ordering) -> bool {
    let larger = usize::from(order == Ordering::Less);
    let term = |param: usize| match (param / states, param % states) {
        (run, state) if state != maximum => Term::Sum { state, run, by: None },
        (run, _) if run == larger || order == Ordering::Equal => Term::Larger,
        _ => Term::Smaller,
    };
    let params: Vec<Term> = (0..2 * states).map(term).collect();
    let results = body.eval(&mut Terms, &params);
    let smaller = (order != Ordering::Equal).then_some(1 - larger);
    let expected = |state| if state == maximum { Term::Larger } else { Term::Total { state, smaller } };
    results.into_iter().enumerate().all(|(state, result)| result == expected(state))
}

/// Evaluates on terms.
struct Terms;

impl BodyArith for Terms {
    fn scalar(&mut self, constant: Scalar) -> Term {
        if constant.dtype().is_float() { Term::Number(constant.as_f64()) } else { Term::Other }
    }

    fn cast(&mut self, value: &Term, from: DType, to: DType) -> Term {
        if from == to { *value } else { Term::Other }
    }
}

impl Arith for Terms {
    type V = Term;

    fn apply(&mut self, op: ScalarOp, args: &[Term]) -> Term {
        match *args {
            [a] => unary(op, a),
            [a, b] => binary(op, a, b),
            _ => Term::Other,
        }
    }

    fn constant(&mut self, value: f64) -> Term {
        Term::Number(value)
    }
}

fn unary(op: ScalarOp, a: Term) -> Term {
    match (op, a) {
        (ScalarOp::Neg, Term::Difference { negative }) => Term::Difference { negative: !negative },
        (ScalarOp::Abs, Term::Difference { .. }) => Term::Difference { negative: false },
        (ScalarOp::Neg | ScalarOp::Abs, Term::Number(0.0)) => Term::Number(0.0),
        (ScalarOp::Exp, Term::Difference { negative: true }) => Term::Scale(Factor::Less),
        (ScalarOp::Exp, Term::Number(0.0)) => Term::Scale(Factor::One),
        _ => Term::Other,
    }
}

fn binary(op: ScalarOp, a: Term, b: Term) -> Term {
    match (op, a, b) {
        (_, Term::Larger | Term::Smaller, Term::Larger | Term::Smaller) => of_maxima(op, a, b),
        (ScalarOp::Mul, Term::Scale(factor), Term::Sum { state, run, by: None })
        | (ScalarOp::Mul, Term::Sum { state, run, by: None }, Term::Scale(factor)) => {
            Term::Sum { state, run, by: Some(factor) }
        }
        (
            ScalarOp::Add,
            Term::Sum { state, run, by: Some(a) },
            Term::Sum { state: of, run: other, by: Some(b) },
        ) if state == of && run != other => {
            let smaller = [(run, a), (other, b)].into_iter().find(|&(_, factor)| factor == Factor::Less);
            Term::Total { state, smaller: smaller.map(|(run, _)| run) }
        }
        _ => Term::Other,
    }
}

/// An op on the maxima of two runs, or on one of them twice.
fn of_maxima(op: ScalarOp, a: Term, b: Term) -> Term {
    let size = |term| u8::from(term == Term::Larger);
    let order = size(a).cmp(&size(b));
    match op {
        ScalarOp::Maximum => {
            if order.is_lt() {
                b
            } else {
                a
            }
        }
        ScalarOp::Minimum => {
            if order.is_lt() {
                a
            } else {
                b
            }
        }
        ScalarOp::Sub if order.is_eq() => Term::Number(0.0),
        ScalarOp::Sub => Term::Difference { negative: order.is_lt() },
        _ => Term::Other,
    }
}
