//! Monoids on constants: a `reduce` of two lanes in the interpreter.

use crate::{Arith, BodyArith, DType, Monoid, Scalar, ScalarOp};

/// Constants of a dtype; `None` if an op is undefined.
struct Constants(DType);

impl Arith for Constants {
    type V = Option<Scalar>;

    fn apply(&mut self, op: ScalarOp, args: &[Self::V]) -> Self::V {
        let args: Option<Vec<Scalar>> = args.iter().copied().collect();
        op.of_scalars(&args?)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        Some(Scalar::written(self.0, value))
    }
}

impl BodyArith for Constants {
    fn scalar(&mut self, constant: Scalar) -> Self::V {
        Some(constant)
    }

    fn cast(&mut self, value: &Self::V, _: DType, to: DType) -> Self::V {
        value.map(|value| value.cast(to))
    }
}

/// The states of two runs of elements as one, the lower run first. `None` if the monoid does not compute in the states'
/// dtypes.
pub fn combine(monoid: &Monoid, low: &[Scalar], high: &[Scalar]) -> Option<Vec<Scalar>> {
    let some = |states: &[Scalar]| -> Vec<Option<Scalar>> { states.iter().copied().map(Some).collect() };
    let dtype = low.first()?.dtype();
    monoid.combine(&mut Constants(dtype), &some(low), &some(high)).into_iter().collect()
}

/// Whether a monoid can have states of these dtypes: as many as it has, none of a half type, floats for Welford.
pub fn computes(monoid: &Monoid, states: &[DType]) -> bool {
    let plain = !states.iter().any(|dtype| dtype.is_storage_only());
    let real = *monoid != Monoid::Welford || states.iter().all(|dtype| dtype.is_float());
    if !plain || !real || states.len() != monoid.states() {
        return false;
    }
    let identity = monoid.identity(states);
    let dtypes = |scalars: &[Scalar]| scalars.iter().map(|scalar| scalar.dtype()).eq(states.iter().copied());
    dtypes(&identity) && combine(monoid, &identity, &identity).is_some_and(|combined| dtypes(&combined))
}
