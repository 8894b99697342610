//! The expressions of monoids on constants of one dtype: what a `reduce` of the interpreter does with two lanes.

use crate::ops::{Arith, Monoid, Prim};
use crate::{DType, Scalar};

/// Constants of a dtype; `None` where an op has no meaning.
struct Constants(DType);

impl Arith for Constants {
    type V = Option<Scalar>;

    fn apply(&mut self, prim: Prim, args: &[Self::V]) -> Self::V {
        let args: Option<Vec<Scalar>> = args.iter().copied().collect();
        prim.of_scalars(&args?)
    }

    fn constant(&mut self, value: f64) -> Self::V {
        Some(Scalar::written(self.0, value))
    }
}

/// The states of two runs of elements as one, the lower run first. `None` if the monoid does not compute in the states'
/// dtype, which is that of the first.
pub(super) fn combine(monoid: Monoid, low: &[Scalar], high: &[Scalar]) -> Option<Vec<Scalar>> {
    let dtype = low.first()?.dtype();
    let states: Vec<Option<Scalar>> = low.iter().chain(high).copied().map(Some).collect();
    monoid.exprs().combine.eval_all(&mut Constants(dtype), &states).into_iter().collect()
}

/// Whether the states of a monoid can be combined in a dtype: halves are storage only, Welford's states are floats.
pub(super) fn computes(monoid: Monoid, dtype: DType) -> bool {
    let identity = monoid.identity(dtype);
    let real = monoid != Monoid::Welford || dtype.is_float();
    real && !dtype.is_storage_only() && combine(monoid, &identity, &identity).is_some()
}
