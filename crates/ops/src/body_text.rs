//! The text of a lambda, for graphs and kernels: the identity, the steps, the results.
//!
//! ```text
//! lambda(f32 -inf, f32 0; p4 = maximum p0, p2; p5 = const f32 1; p6 = cast f64 p5; p4, p5)
//! ```
//! Parameters are `p0`, `p1`, …, the states of one run and then those of the other; steps are numbered on from there.

use std::fmt;

use super::body::{Body, BodyStep, Lambda};
use super::{Monoid, ScalarOp};
use crate::{DType, Scalar, literal};

impl fmt::Display for Lambda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spelled = |scalar: &Scalar| format!("{} {}", scalar.dtype(), literal::print(*scalar));
        let identity: Vec<String> = self.identity().iter().map(spelled).collect();
        write!(f, "lambda({}; ", identity.join(", "))?;
        let first = self.body().params().len();
        for (number, step) in self.body().steps().iter().enumerate() {
            write!(f, "p{} = ", first + number)?;
            match step {
                BodyStep::Constant(scalar) => write!(f, "const {}", spelled(scalar))?,
                BodyStep::Cast(dtype, arg) => write!(f, "cast {dtype} p{arg}")?,
                BodyStep::Apply(scalar_op, args) => write!(f, "{} {}", scalar_op.name(), numbers(args))?,
            }
            write!(f, "; ")?;
        }
        write!(f, "{})", numbers(self.body().results()))
    }
}

/// The name of a row, or the lambda written out.
impl fmt::Display for Monoid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Monoid::Lambda(lambda) => lambda.fmt(f),
            named => f.write_str(named.name()),
        }
    }
}

fn numbers(numbers: &[usize]) -> String {
    let names: Vec<String> = numbers.iter().map(|number| format!("p{number}")).collect();
    names.join(", ")
}

/// The lambda of a text between `lambda(` and `)`; `None` if it is none.
pub fn parse(text: &str) -> Option<Lambda> {
    let parts: Vec<&str> = text.split(';').map(str::trim).collect();
    let [identity, steps @ .., results] = &parts[..] else { return None };
    let identity: Vec<Scalar> = identity.split(',').map(scalar).collect::<Option<_>>()?;
    let states = identity.iter().map(|scalar| scalar.dtype());
    let params: Vec<DType> = states.clone().chain(states).collect();
    let mut read = Vec::new();
    for (number, text) in steps.iter().enumerate() {
        let (name, right) = text.split_once('=')?;
        if operand(name)? != params.len() + number {
            return None;
        }
        read.push(step(right.trim())?);
    }
    let results: Vec<usize> = results.split(',').map(operand).collect::<Option<_>>()?;
    Lambda::new(Body::new(&params, read, results)?, identity)
}

fn step(text: &str) -> Option<BodyStep> {
    let (op, rest) = text.split_once(' ')?;
    match op {
        "const" => scalar(rest).map(BodyStep::Constant),
        "cast" => {
            let (dtype, arg) = rest.trim().split_once(' ')?;
            Some(BodyStep::Cast(dtype.parse().ok()?, operand(arg)?))
        }
        _ => Some(BodyStep::Apply(
            ScalarOp::from_name(op)?,
            rest.split(',').map(operand).collect::<Option<_>>()?,
        )),
    }
}

fn scalar(text: &str) -> Option<Scalar> {
    let (dtype, number) = text.trim().split_once(' ')?;
    literal::parse(dtype.parse().ok()?, number.trim())
}

fn operand(text: &str) -> Option<usize> {
    text.trim().strip_prefix('p').and_then(index::integer)
}
