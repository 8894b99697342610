//! Bodies: functions of a few scalars, with the dtype of every step, as the lambdas of a definition give them.
//!
//! A body is an immutable value: parameters, steps with operands before users, results. It refers to no graph, no task and
//! no fusion that uses it. It is evaluated over any [`BodyArith`]; its text is `body_text.rs`.

use std::sync::Arc;

use smallvec::SmallVec;

use super::{Arith, Operand, ScalarOp, signature};
use crate::{DType, Scalar};

/// The values that bodies are evaluated over: as for expressions, with explicit dtypes.
pub trait BodyArith: Arith {
    /// A constant.
    fn scalar(&mut self, constant: Scalar) -> Self::V;

    /// `value` of dtype `from` as one of dtype `to`.
    fn cast(&mut self, value: &Self::V, from: DType, to: DType) -> Self::V;
}

/// One step of a body. Operands are numbers: those of parameters first, then those of the steps before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum BodyStep {
    /// A constant.
    Constant(Scalar),
    /// A conversion.
    Cast(DType, usize),
    /// A primitive and its operands, which have its compute dtypes.
    Apply(ScalarOp, SmallVec<[usize; 3]>),
}

/// A function of scalars.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Body {
    /// Dtypes of the parameters, then of the steps.
    dtypes: Vec<DType>,
    steps: Vec<BodyStep>,
    results: SmallVec<[usize; 3]>,
}

impl Body {
    /// A body from its parts. `None` if a step refers to none before it, applies an op to other dtypes than its compute
    /// dtypes, or computes in half types, which have no arithmetic.
    pub fn new(
        params: &[DType],
        steps: Vec<BodyStep>,
        results: impl IntoIterator<Item = usize>,
    ) -> Option<Body> {
        let results: SmallVec<[usize; 3]> = results.into_iter().collect();
        let mut body = Body { dtypes: params.to_vec(), steps: Vec::new(), results };
        for step in steps {
            let dtype = body.dtype_of(&step).filter(|dtype| !dtype.is_storage_only())?;
            body.dtypes.push(dtype);
            body.steps.push(step);
        }
        body.results.iter().all(|&result| result < body.dtypes.len()).then_some(body)
    }

    fn dtype_of(&self, step: &BodyStep) -> Option<DType> {
        match step {
            BodyStep::Constant(scalar) => Some(scalar.dtype()),
            BodyStep::Cast(dtype, arg) => self.dtypes.get(*arg).map(|_| *dtype),
            BodyStep::Apply(op, args) => {
                let dtypes: Option<SmallVec<[DType; 3]>> =
                    args.iter().map(|&arg| self.dtypes.get(arg).copied()).collect();
                let dtypes = dtypes?;
                let operands: Vec<Operand> = dtypes.iter().map(|&dtype| Operand::tensor(dtype)).collect();
                let signature = signature(*op, &operands).ok()?;
                (signature.compute.as_slice() == dtypes.as_slice()).then_some(signature.result_compute)
            }
        }
    }

    /// Dtypes of the parameters.
    pub fn params(&self) -> &[DType] {
        &self.dtypes[..self.dtypes.len() - self.steps.len()]
    }

    /// The steps, operands before users.
    pub fn steps(&self) -> &[BodyStep] {
        &self.steps
    }

    /// The dtypes of the parameters, then of the steps.
    pub fn dtypes(&self) -> &[DType] {
        &self.dtypes
    }

    /// The numbers whose values are the results.
    pub fn results(&self) -> &[usize] {
        &self.results
    }

    /// The values of the results for these values of the parameters.
    pub fn eval<A: BodyArith>(&self, arith: &mut A, params: &[A::V]) -> Vec<A::V> {
        let mut values: Vec<A::V> = params.to_vec();
        for step in &self.steps {
            let value = match step {
                BodyStep::Constant(scalar) => arith.scalar(*scalar),
                BodyStep::Cast(to, arg) => arith.cast(&values[*arg], self.dtypes[*arg], *to),
                BodyStep::Apply(op, args) => {
                    let args: SmallVec<[A::V; 3]> = args.iter().map(|&arg| values[arg].clone()).collect();
                    arith.apply(*op, &args)
                }
            };
            values.push(value);
        }
        self.results.iter().map(|&result| values[result].clone()).collect()
    }
}

/// A monoid from a definition: how two runs of elements combine, and the identity.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Lambda {
    body: Arc<Body>,
    identity: SmallVec<[Scalar; 3]>,
}

impl Lambda {
    /// A monoid of `identity.len()` states. `None` unless the body takes the states of one run and then those of the other,
    /// and returns such states.
    pub fn new(body: Body, identity: impl IntoIterator<Item = Scalar>) -> Option<Lambda> {
        let identity: SmallVec<[Scalar; 3]> = identity.into_iter().collect();
        let states: Vec<DType> = identity.iter().map(|scalar| scalar.dtype()).collect();
        let results: Vec<DType> = body.results.iter().map(|&result| body.dtypes[result]).collect();
        let both = [&states[..], &states[..]].concat();
        let fits = !states.is_empty() && results == states && *body.params() == both[..];
        fits.then(|| Lambda { body: Arc::new(body), identity })
    }

    /// How two runs combine.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The states before any element.
    pub fn identity(&self) -> &[Scalar] {
        &self.identity
    }
}
