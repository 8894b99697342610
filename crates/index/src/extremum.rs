//! The smaller and the larger of two expressions. Flattens nested ones, so that each operand occurs once, in a fixed order,
//! and decides those that differ by a constant; `Facts` handles bounds of symbols.

use super::{Atom, Expr};

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Min,
    Max,
}

impl Expr {
    /// The smaller of two expressions. On a local variable write `Expr::min(&a, &b)`.
    pub fn min(&self, other: &Expr) -> Expr {
        extremum(Side::Min, self, other)
    }

    /// The larger of two expressions. On a local variable write `Expr::max(&a, &b)`.
    pub fn max(&self, other: &Expr) -> Expr {
        extremum(Side::Max, self, other)
    }
}

fn extremum(side: Side, a: &Expr, b: &Expr) -> Expr {
    if a.is_overflow() || b.is_overflow() {
        return Expr::overflow();
    }
    let mut operands = vec![];
    flatten(side, a, &mut operands);
    flatten(side, b, &mut operands);
    operands.sort();
    let mut kept: Vec<Expr> = vec![];
    for operand in operands {
        // Of two operands a constant apart, one decides.
        match kept.iter_mut().find_map(|k| (&operand - &*k).as_const().map(|gap| (k, gap))) {
            Some((k, gap)) if (gap < 0) == (side == Side::Min) => *k = operand,
            Some(_) => {}
            None => kept.push(operand),
        }
    }
    kept.sort();
    let pair = |a, b| Expr::from_atom(if side == Side::Min { Atom::Min(a, b) } else { Atom::Max(a, b) });
    kept.into_iter().reduce(pair).unwrap_or_else(Expr::overflow)
}

fn flatten(side: Side, e: &Expr, operands: &mut Vec<Expr>) {
    match (side, e.as_atom()) {
        (Side::Min, Some(Atom::Min(a, b))) | (Side::Max, Some(Atom::Max(a, b))) => {
            flatten(side, a, operands);
            flatten(side, b, operands);
        }
        _ => operands.push(e.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sym;
    use super::*;

    #[test]
    fn operands_have_one_order_and_constants_decide() {
        let (a, b) = (&Expr::sym(Sym::from_u32(0)), &Expr::sym(Sym::from_u32(1)));
        assert_eq!(Expr::min(&a.min(b), a), b.min(a));
        assert_eq!(a.min(&(a + 3)), *a);
        assert_eq!(a.max(&(a + 3)), a + 3);
        assert_eq!(Expr::max(&a.max(b), &(a - 1)), a.max(b));
        assert_eq!(Expr::constant(4).min(Expr::constant(7)), Expr::constant(4));
    }
}
