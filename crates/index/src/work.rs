//! How much work the algebra does, counted for tests, in debug builds alone: time says little on a busy machine.

use std::cell::Cell;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlgebraWork {
    /// An inequality that was to be proved.
    Asked,
    /// A term that was put in its place in a sum.
    Placed,
    /// An inequality that a proof tried.
    Tried,
    /// A term of an inequality that a proof compared with one of what it proves.
    Scaled,
}

thread_local! {
    static COUNTS: [Cell<usize>; 4] = const { [const { Cell::new(0) }; 4] };
}

/// Adds to a count of this thread.
#[inline]
pub(crate) fn count(work: AlgebraWork, more: usize) {
    if !cfg!(debug_assertions) {
        return;
    }
    COUNTS.with(|counts| counts[work as usize].set(counts[work as usize].get() + more));
}

/// How much of it this thread does in a call.
pub fn counted(work: AlgebraWork, act: impl FnOnce()) -> usize {
    let now = || COUNTS.with(|counts| counts[work as usize].get());
    let before = now();
    act();
    now() - before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, Facts, Sym};

    fn symbols(count: u32) -> impl Iterator<Item = Expr> {
        (0..count).map(|number| Expr::sym(Sym::from_u32(number)))
    }

    fn sizes(count: u32) -> Facts {
        let mut facts = Facts::new();
        (0..count).for_each(|number| facts.assume_range(Sym::from_u32(number), 0, None));
        facts
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn each_term_of_a_long_sum_is_placed_once() {
        let summands: Vec<Expr> = symbols(400).collect();
        let placed = counted(AlgebraWork::Placed, || {
            assert_eq!(summands.into_iter().sum::<Expr>().terms().len(), 400)
        });
        assert!(placed <= 400, "{placed}");
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn a_sum_of_which_nothing_is_known_is_not_built_again() {
        let (facts, sum): (Facts, Expr) = (sizes(400), symbols(400).sum());
        assert_eq!(counted(AlgebraWork::Placed, || assert_eq!(facts.normalize(&sum), sum)), 0);
        assert_eq!(counted(AlgebraWork::Placed, || assert_eq!(sum.substitute(&|_| None), sum)), 0);
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn a_value_is_put_into_a_long_sum_in_one_step() {
        let sum: Expr = symbols(400).sum();
        let value = |sym: Sym| (sym.as_u32() == 7).then(|| Expr::constant(5));
        let placed = counted(AlgebraWork::Placed, || assert_eq!(sum.substitute(&value).constant_term(), 5));
        assert!(placed <= 3 * 400, "{placed}");
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn a_long_sum_is_divided_term_by_term() {
        let even: Expr = symbols(400).map(|symbol| symbol * 2).sum();
        let halved = || assert_eq!(even.exact_quotient(&Expr::constant(2)), Some(symbols(400).sum()));
        let placed = counted(AlgebraWork::Placed, halved);
        assert!(placed <= 3 * 400, "{placed}");
    }

    /// Inequalities of other symbols than those of a proof, as many as asked for; what it takes to prove one and to fail at one.
    fn tried_beside(others: u32) -> usize {
        let mut facts = sizes(4 + 2 * others);
        let sym = |number| Expr::sym(Sym::from_u32(number));
        for pair in 0..others {
            facts.assume_lt(&sym(4 + 2 * pair), &sym(5 + 2 * pair)).expect("new symbols");
        }
        facts.assume_lt(&sym(0), &sym(1)).expect("new symbols");
        counted(AlgebraWork::Tried, || {
            assert!(facts.prove_lt(&(sym(0) * sym(2)), &(sym(1) * sym(2) + 1)));
            assert!(!facts.prove_lt(&sym(2), &sym(3)));
        })
    }

    /// What it takes to prove where a variable stands in a cat of `parts` parts, between two of their ends.
    fn scaled_in_a_cat(parts: u32) -> usize {
        let (mut facts, var) = (sizes(parts + 1), Expr::sym(Sym::from_u32(parts)));
        let end = |count| symbols(count).sum::<Expr>();
        facts.assume_le(&end(parts / 2), &var).expect("a new symbol");
        facts.assume_lt(&var, &end(parts / 2 + 1)).expect("a new symbol");
        counted(AlgebraWork::Scaled, || {
            assert!(facts.prove_le(&end(parts / 4), &var));
            assert!(!facts.prove_lt(&var, &end(parts / 4)));
        })
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn proofs_about_long_sums_do_not_pair_all_terms() {
        let (short, long) = (scaled_in_a_cat(16), scaled_in_a_cat(256));
        assert!(long <= 20 * short, "{short} and {long}");
    }

    #[test]
    #[cfg_attr(not(debug_assertions), ignore = "the algebra counts its work in debug builds")]
    fn proofs_try_inequalities_that_share_symbols() {
        assert_eq!(tried_beside(4), tried_beside(200));
    }
}
