//! Steps of bodies on rational functions of counts, which are integers of at least one, and of other states.

use super::ratio::{Known, Ratio};
use crate::{Arith, BodyArith, DType, Scalar, ScalarOp};

/// The value of a step of a body.
#[derive(Clone, Debug)]
pub(super) enum Term {
    /// A float.
    Real(Ratio),
    /// An integer: a count.
    Integer(Ratio),
    Bool(bool),
    /// Anything else.
    Other,
}

impl Term {
    /// Whether it is a number that is this function.
    pub fn is(&self, ratio: &Ratio) -> bool {
        matches!(self, Term::Real(own) | Term::Integer(own) if own.is(ratio))
    }
}

/// Evaluates on terms.
pub(super) struct Terms {
    /// The dtype of means; steps in narrower ones are not taken as real arithmetic.
    pub dtype: DType,
    pub known: Known,
}

impl BodyArith for Terms {
    fn scalar(&mut self, constant: Scalar) -> Term {
        let number = || Ratio::of_number(constant.as_f64());
        match constant.dtype() {
            DType::Bool => Term::Bool(constant.as_bool()),
            dtype if dtype.is_float() => number().map_or(Term::Other, Term::Real),
            dtype if dtype.is_int() => number().map_or(Term::Other, Term::Integer),
            _ => Term::Other,
        }
    }

    fn cast(&mut self, value: &Term, _: DType, to: DType) -> Term {
        match value {
            Term::Real(ratio) | Term::Integer(ratio) if to.is_float() && to.size() >= self.dtype.size() => {
                Term::Real(ratio.clone())
            }
            Term::Integer(ratio) if to.holds_sizes() => Term::Integer(ratio.clone()),
            Term::Bool(truth) if to == DType::Bool => Term::Bool(*truth),
            _ => Term::Other,
        }
    }
}

impl Arith for Terms {
    type V = Term;

    fn apply(&mut self, op: ScalarOp, args: &[Term]) -> Term {
        match (op, args) {
            (ScalarOp::Set, [value]) => value.clone(),
            (ScalarOp::Where, [Term::Bool(true), value, _] | [Term::Bool(false), _, value]) => value.clone(),
            (_, [Term::Bool(a)]) if op == ScalarOp::LogicalNot => Term::Bool(!a),
            (_, [Term::Bool(a), Term::Bool(b)]) => of_truths(op, *a, *b),
            (_, [Term::Real(a)]) => self.unary(op, a).map_or(Term::Other, Term::Real),
            (_, [Term::Real(a), Term::Real(b)]) => {
                let real = self.binary(op, a, b).map(Term::Real);
                real.or_else(|| self.compared(op, a, b)).unwrap_or(Term::Other)
            }
            (ScalarOp::Add, [Term::Integer(a), Term::Integer(b)]) => Term::Integer(a.plus(b)),
            (_, [Term::Integer(a), Term::Integer(b)]) => {
                let extreme = self.extreme(op, a, b).map(Term::Integer);
                extreme.or_else(|| self.compared(op, a, b)).unwrap_or(Term::Other)
            }
            _ => Term::Other,
        }
    }

    fn constant(&mut self, value: f64) -> Term {
        Ratio::of_number(value).map_or(Term::Other, Term::Real)
    }
}

fn of_truths(op: ScalarOp, a: bool, b: bool) -> Term {
    match op {
        ScalarOp::LogicalAnd => Term::Bool(a & b),
        ScalarOp::LogicalOr => Term::Bool(a | b),
        _ => Term::Other,
    }
}

impl Terms {
    fn unary(&self, op: ScalarOp, a: &Ratio) -> Option<Ratio> {
        match op {
            ScalarOp::Neg => Some(a.negative()),
            ScalarOp::Reciprocal => a.reciprocal(&self.known),
            _ => None,
        }
    }

    fn binary(&self, op: ScalarOp, a: &Ratio, b: &Ratio) -> Option<Ratio> {
        match op {
            ScalarOp::Add => Some(a.plus(b)),
            ScalarOp::Sub => Some(a.plus(&b.negative())),
            ScalarOp::Mul => Some(a.times(b)),
            ScalarOp::Div => Some(a.times(&b.reciprocal(&self.known)?)),
            ScalarOp::Pow => b.is(&Ratio::of_number(2.0)?).then(|| a.times(a)),
            _ => self.extreme(op, a, b),
        }
    }

    /// The larger or the smaller one, if it is known which is.
    fn extreme(&self, op: ScalarOp, a: &Ratio, b: &Ratio) -> Option<Ratio> {
        let [left, right] = a.compared(b)?;
        let is_first_less = match () {
            () if self.known.is_at_most(&left, &right) => true,
            () if self.known.is_at_most(&right, &left) => false,
            () => return None,
        };
        match op {
            ScalarOp::Maximum => Some(if is_first_less { b } else { a }.clone()),
            ScalarOp::Minimum => Some(if is_first_less { a } else { b }.clone()),
            _ => None,
        }
    }

    /// How they compare, if that is known.
    fn compared(&self, op: ScalarOp, a: &Ratio, b: &Ratio) -> Option<Term> {
        let [left, right] = a.compared(b)?;
        let (known, is) = (&self.known, |yes: bool, no: bool| (yes || no).then_some(Term::Bool(yes)));
        match op {
            ScalarOp::Lt => is(known.is_less(&left, &right), known.is_at_most(&right, &left)),
            ScalarOp::Gt => is(known.is_less(&right, &left), known.is_at_most(&left, &right)),
            ScalarOp::Le => is(known.is_at_most(&left, &right), known.is_less(&right, &left)),
            ScalarOp::Ge => is(known.is_at_most(&right, &left), known.is_less(&left, &right)),
            ScalarOp::Eq => is(a.is(b), known.differ(&left, &right)),
            ScalarOp::Ne => is(known.differ(&left, &right), a.is(b)),
            _ => None,
        }
    }
}
