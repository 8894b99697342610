//! Facts that are asked again and again about much the same expressions, as those of an open loop are.

use super::normalize::SimplestAtoms;
use super::{Contradiction, Expr, Facts};

/// Facts that remember how they simplified quotients, remainders, minima and maxima, until something new is assumed. Its
/// answers are those of [`Facts`].
#[derive(Default)]
pub struct Prover {
    facts: Facts,
    met: SimplestAtoms,
}

impl Prover {
    /// Nothing was asked yet.
    pub fn new(facts: Facts) -> Prover {
        Prover { facts, met: SimplestAtoms::default() }
    }

    /// What is known.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Assumes that the first expression is at most the second, unless that is impossible.
    ///
    /// # Errors
    /// When the facts exclude it.
    pub fn assume_le(&mut self, a: &Expr, b: &Expr) -> Result<(), Contradiction> {
        self.met = SimplestAtoms::default();
        self.facts.assume_le(a, b)
    }

    /// True if the first is proved to be at most the second.
    pub fn prove_le(&self, a: &Expr, b: &Expr) -> bool {
        self.facts.is_nonnegative(&self.facts.normalize_after(&(b - a), &self.met))
    }

    /// True if the first is proved to be less than the second.
    pub fn prove_lt(&self, a: &Expr, b: &Expr) -> bool {
        self.prove_le(&(a + 1), b)
    }
}
