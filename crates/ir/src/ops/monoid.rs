//! The monoids that folds combine with: their states, identities and names.

use smallvec::{SmallVec, smallvec};

use crate::{DType, Scalar};

/// What a fold combines with.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Monoid {
    /// `a + b`.
    Sum,
    /// `a * b`.
    Prod,
    /// The larger; NaN wins.
    Max,
    /// The smaller; NaN wins.
    Min,
    /// Mean, sum of squared deviations and count, combined as Chan, Golub and LeVeque do (1983).
    Welford,
}

impl Monoid {
    /// Every monoid.
    pub const ALL: &'static [Monoid] =
        &[Monoid::Sum, Monoid::Prod, Monoid::Max, Monoid::Min, Monoid::Welford];

    /// Its name in texts.
    pub fn name(self) -> &'static str {
        match self {
            Monoid::Sum => "sum",
            Monoid::Prod => "prod",
            Monoid::Max => "max",
            Monoid::Min => "min",
            Monoid::Welford => "welford",
        }
    }

    /// The monoid called `name`, if there is one.
    pub fn from_name(name: &str) -> Option<Monoid> {
        Self::ALL.iter().copied().find(|monoid| monoid.name() == name)
    }

    /// The dtypes of its states over elements of this dtype. Welford's states, the count too, have the element's.
    pub fn state_dtypes(self, element: DType) -> SmallVec<[DType; 3]> {
        match self {
            Monoid::Welford => smallvec![element; 3],
            _ => smallvec![element],
        }
    }

    /// What a fold of nothing gives, one scalar a state.
    pub fn identity(self, element: DType) -> SmallVec<[Scalar; 3]> {
        match self {
            Monoid::Sum => smallvec![Scalar::zero(element)],
            Monoid::Prod => smallvec![Scalar::one(element)],
            Monoid::Max => smallvec![Scalar::lowest(element)],
            Monoid::Min => smallvec![Scalar::highest(element)],
            Monoid::Welford => smallvec![Scalar::zero(element); 3],
        }
    }
}
