//! The integer algebra of sizes, strides and loop variables.
//!
//! An [`Expr`] is a polynomial with integer coefficients over symbols and over four opaque forms (floor division, modulo,
//! min, max), always in canonical order, so equal polynomials are equal values. [`Facts`] has what is known about the
//! symbols (ranges, equalities, divisibility, inequalities), and simplifies and proves with it.
//!
//! Two rules hold everywhere:
//! * **Refinement.** A simplification may make an expression defined where it was not (a division by zero that
//!   cancels), and never the other way round; where both are defined they are equal.
//! * **No panic, no wrap.** Arithmetic is checked. An expression that outgrows the algebra becomes the absorbing form
//!   [`Expr::overflow`], whose evaluation is an error and about which nothing can be proved.
//!
//! The owner of a symbol knows its meaning (which size, which loop); this crate knows only numbers.
//!
//! Here is also what reads the small texts of all crates above: their lines (`scanner`) and their numbers (`integer`).

mod arithmetic;
mod divisibility;
mod division;
mod evaluate;
mod expr;
mod extremum;
mod facts;
mod integer;
mod known;
mod normalize;
#[cfg(test)]
mod properties;
mod prove;
mod prover;
mod refute;
mod reshape;
mod sample;
mod scanner;
mod sizes;
mod substitute;
mod text;
pub mod work;

pub use evaluate::EvalError;
pub use expr::{Atom, Expr, Monomial, Term};
pub use facts::{Contradiction, Facts, Range};
pub use integer::{integer, real};
pub use prover::Prover;
pub use reshape::{AxisGroup, axis_groups};
pub use sample::Sample;
pub use scanner::{Scanner, TextLines};
pub use sizes::{SizeNumber, SizeTable};
pub use text::ParseError;

use cranelift_entity::entity_impl;

/// A size, a stride or a loop variable: an integer whose value is known when a kernel runs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Sym(u32);
entity_impl!(Sym, "i");
