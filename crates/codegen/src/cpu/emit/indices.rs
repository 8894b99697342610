//! Index expressions as i64 arithmetic, and how the index of an access varies over the lanes.
//!
//! Division rounds to minus infinity, as the algebra defines. A divisor of zero, with which no iteration ever runs, counts
//! as one, so that code moved in front of a loop cannot trap; nor can the smallest integer over -1, which wraps.

use index::{Atom, Expr, Monomial};

use super::operand::{Element, Operand, Term, Type};
use super::scope::Scope;
use crate::cpu::analyses::interleave::short_stride;

/// How an index varies over the lanes.
#[derive(Clone, Copy)]
pub(super) enum Lanewise {
    /// The same element for all lanes: its index.
    Same(Operand),
    /// Neighbouring lanes take neighbouring elements: an index that does not depend on the lanes, and the iteration of lane
    /// 0.
    Neighbours(Operand, Operand),
    /// Neighbouring lanes take elements a few apart: the index of lane 0, and the distance from lane to lane.
    Strided(Operand, u32),
    /// Neighbouring lanes take neighbouring elements in reverse order: the index of lane 0.
    Reversed(Operand),
    /// Any element: a vector of indices.
    Any(Operand),
}

impl Scope<'_> {
    /// The value of an expression. Scalar, unless a symbol in it is bound to a vector.
    pub(super) fn index(&mut self, e: &Expr) -> Operand {
        if let Some(known) = self.hoisted.sum(e) {
            return known;
        }
        let zero = Operand::integer(0, Type::scalar(Element::I64));
        let mut terms = e.terms().iter();
        let Some(first) = terms.next() else { return zero };
        let mut sum = self.term(&first.monomial, first.coefficient);
        for term in terms {
            let next = self.term(&term.monomial, term.coefficient);
            sum = self.w.binary("add", sum, next);
        }
        sum
    }

    pub(super) fn term(&mut self, monomial: &Monomial, coefficient: i64) -> Operand {
        let mut product: Option<Operand> = None;
        for (atom, power) in monomial.factors() {
            let factor = self.atom(atom);
            for _ in 0..*power {
                product = Some(product.map_or(factor, |product| self.w.binary("mul", product, factor)));
            }
        }
        match product {
            None => Operand::integer(coefficient, Type::scalar(Element::I64)),
            Some(product) if coefficient == 1 => product,
            Some(product) => self.w.binary("mul", product, coefficient),
        }
    }

    pub(super) fn atom(&mut self, atom: &Atom) -> Operand {
        if let Some(known) = self.hoisted.atom(atom) {
            return known;
        }
        match atom {
            Atom::Sym(sym) => *self
                .symbols
                .get(sym)
                .expect("the kernel was verified: symbols are bound where they are used"),
            Atom::FloorDiv(a, b) => self.quotient(a, b),
            Atom::Mod(a, b) => self.remainder(a, b),
            Atom::Min(a, b) => self.extremum("llvm.smin", a, b),
            Atom::Max(a, b) => self.extremum("llvm.smax", a, b),
        }
    }

    fn extremum(&mut self, intrinsic: &str, a: &Expr, b: &Expr) -> Operand {
        let (a, b) = (self.index(a), self.index(b));
        self.w.overloaded(intrinsic, a, &[b])
    }

    fn quotient(&mut self, a: &Expr, b: &Expr) -> Operand {
        let a = self.index(a);
        if let Some(shift) = power_of_two(b) {
            return self.w.binary("ashr", a, i64::from(shift));
        }
        let divisor = self.divisor(b);
        let (quotient, _, below) = self.divide(a, b, divisor);
        let one_less = self.w.convert("sext", below, Element::I64);
        self.w.binary("add", quotient, one_less)
    }

    fn remainder(&mut self, a: &Expr, b: &Expr) -> Operand {
        let a = self.index(a);
        if let Some(shift) = power_of_two(b) {
            return self.w.binary("and", a, (1_i64 << shift) - 1);
        }
        let divisor = self.divisor(b);
        let (_, remainder, below) = self.divide(a, b, divisor);
        let up = self.w.select(below, divisor, 0);
        self.w.binary("add", remainder, up)
    }

    /// Truncated quotient and remainder, and whether the quotient is above the floor.
    fn divide(&mut self, a: Operand, b: &Expr, divisor: Operand) -> (Operand, Operand, Operand) {
        let quotient = self.truncated(a, b, divisor);
        let back = self.w.binary("mul", quotient, divisor);
        let remainder = self.w.binary("sub", a, back);
        let inexact = self.w.compare("icmp ne", remainder, 0);
        let signs = self.w.binary("xor", remainder, divisor);
        let opposite = self.w.compare("icmp slt", signs, 0);
        let below = self.w.binary("and", inexact, opposite);
        (quotient, remainder, below)
    }

    /// The truncated quotient. A divisor that is an input may be -1: then it is the wrapped negation.
    fn truncated(&mut self, a: Operand, b: &Expr, divisor: Operand) -> Operand {
        if b.as_const().is_some_and(|constant| constant != -1) {
            return self.w.binary("sdiv", a, divisor);
        }
        let minus_one = self.w.compare("icmp eq", divisor, -1);
        let safe = self.w.select(minus_one, 1, divisor);
        let quotient = self.w.binary("sdiv", a, safe);
        let negated = self.w.binary("sub", Operand::integer(0, a.ty), a);
        self.w.select(minus_one, negated, quotient)
    }

    fn divisor(&mut self, b: &Expr) -> Operand {
        let divisor = self.index(b);
        if b.as_const().is_some_and(|constant| constant != 0) {
            return divisor;
        }
        let zero = self.w.compare("icmp eq", divisor, 0);
        self.w.select(zero, 1, divisor)
    }

    /// How the index varies over the lanes of the loop that the code is in.
    pub(super) fn lanewise(&mut self, e: &Expr) -> Lanewise {
        let mut varies = false;
        e.visit_symbols(&mut |symbol| {
            varies |= self.symbols.get(&symbol).is_some_and(|bound| bound.ty.lanes.is_some());
        });
        let Some(lane) = self.lane.filter(|lane| e.mentions(lane.variable)) else {
            let index = self.index(e);
            return if varies { Lanewise::Any(index) } else { Lanewise::Same(index) };
        };
        let iteration = self.symbols[&lane.variable];
        match e.split_linear(lane.variable).filter(|_| !varies) {
            Some((coefficient, rest)) if coefficient.is_one() => {
                Lanewise::Neighbours(self.index(&rest), iteration)
            }
            Some((coefficient, rest)) => {
                let (rest, stride) = (self.index(&rest), self.index(&coefficient));
                let first = self.w.binary("mul", iteration, stride);
                let first = self.w.binary("add", rest, first);
                match (coefficient.as_const(), short_stride(&coefficient)) {
                    (Some(-1), _) => Lanewise::Reversed(first),
                    (_, Some(stride)) => Lanewise::Strided(first, stride),
                    (_, None) => Lanewise::Any(self.strided(first, stride)),
                }
            }
            None => {
                let for_loop = self.w.binary("add", Operand::iota(Element::I64, self.lanes()), iteration);
                self.symbols.insert(lane.variable, for_loop);
                let index = self.index(e);
                self.symbols.insert(lane.variable, iteration);
                Lanewise::Any(index)
            }
        }
    }

    /// The index of each lane, from that of lane 0 and the distance from lane to lane.
    pub(super) fn strided(&mut self, first: Operand, stride: impl Into<Term>) -> Operand {
        let steps = self.w.binary("mul", Operand::iota(Element::I64, self.lanes()), stride);
        self.w.binary("add", steps, first)
    }

    /// The index of each lane as a vector, or one scalar for all.
    pub(super) fn index_value(&mut self, e: &Expr) -> Operand {
        match self.lanewise(e) {
            Lanewise::Same(index) | Lanewise::Any(index) => index,
            Lanewise::Strided(first, stride) => self.strided(first, i64::from(stride)),
            Lanewise::Reversed(first) => self.strided(first, -1),
            Lanewise::Neighbours(rest, iteration) => {
                let first = self.w.binary("add", rest, iteration);
                self.w.binary("add", Operand::iota(Element::I64, self.lanes()), first)
            }
        }
    }
}

/// The exponent, of a constant that is a positive power of two.
fn power_of_two(e: &Expr) -> Option<u32> {
    e.as_const().filter(|&c| c > 0 && c & (c - 1) == 0).map(i64::trailing_zeros)
}
