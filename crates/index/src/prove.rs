//! Proofs from facts. Every `true` holds wherever the facts hold and both sides have a value; `false` means that no
//! proof was found, never that there is none.
//!
//! Inequalities are proved by intervals, and where these are too wide by taking away known inequalities, times
//! something that is not negative, so that a term vanishes (a search in the manner of Farkas' lemma, with its steps
//! counted).

use std::borrow::Cow;
use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::normalize::{atoms, is_nonzero};
use super::refute::is_refuted;
use super::{Atom, Expr, Facts, Term};

/// Known inequalities that a proof may add up when it takes away the highest negative term each time.
const MAX_DIRECTED_DEPTH: u32 = 16;
/// Known inequalities that a proof may add up when it tries all.
const MAX_DEPTH: u32 = 3;
/// Sums that a proof may look at in either way.
const MAX_STEPS: u32 = 96;
/// Minima and maxima of which a proof may look at each operand by itself.
const MAX_CASES: u32 = 3;

impl Facts {
    /// True if the two are proved equal.
    pub fn prove_eq(&self, a: &Expr, b: &Expr) -> bool {
        if a == b {
            return !a.is_overflow();
        }
        self.is_zero(&self.normalize(&(a - b)))
    }

    /// True if a simplified expression is proved zero.
    pub(super) fn is_zero(&self, difference: &Expr) -> bool {
        if let Some(difference) = difference.as_const() {
            return difference == 0;
        }
        let is_multiple_of_zero = || self.relations().any(|zero| difference.exact_quotient(zero).is_some());
        let opened = || self.normalize(&open_remainders(difference));
        difference.is_zero()
            || self.interval(difference).as_point() == Some(0)
            || is_multiple_of_zero()
            || opened().is_zero()
    }

    /// True if two expressions are proved equal that are in their simplest forms already. Beside relations, quotients and
    /// remainders alone leave one value in two such forms.
    pub fn prove_eq_of_simplest(&self, a: &Expr, b: &Expr) -> bool {
        let may_differ = self.relations().next().is_some() || [a, b].into_iter().any(Expr::has_division);
        if may_differ { self.prove_eq(a, b) } else { a == b && !a.is_overflow() }
    }

    /// True if the two are proved different.
    pub fn prove_ne(&self, a: &Expr, b: &Expr) -> bool {
        self.is_never_zero(&self.normalize(&(a - b)))
    }

    /// True if a simplified expression is proved other than zero.
    pub(super) fn is_never_zero(&self, difference: &Expr) -> bool {
        if difference.is_overflow() {
            return false;
        }
        let constant = difference.constant_term();
        let divisor = self.divisor(&(difference - constant));
        is_nonzero(self, difference, |e| self.is_nonnegative(e))
            || constant.checked_rem(divisor).is_some_and(|rest| rest != 0)
    }

    /// True if the first is proved to be at most the second.
    pub fn prove_le(&self, a: &Expr, b: &Expr) -> bool {
        self.is_nonnegative(&self.normalize(&(b - a)))
    }

    /// True if the ranges of the symbols that their difference mentions tell that the first is at most the second. Costs a
    /// look at each term, whatever the answer.
    pub fn is_le_by_ranges(&self, a: &Expr, b: &Expr) -> bool {
        let difference = b - a;
        !difference.is_overflow() && self.interval(&difference).is_nonnegative()
    }

    /// True if the first is proved to be less than the second.
    pub fn prove_lt(&self, a: &Expr, b: &Expr) -> bool {
        self.prove_le(&(a + 1), b)
    }

    /// True if `e` is proved to be an integer times `d`. Zero divides zero only.
    pub fn prove_divides(&self, d: &Expr, e: &Expr) -> bool {
        if d.is_one() {
            return !e.is_overflow();
        }
        self.divides(&self.normalize(d), &self.normalize(e))
    }

    /// True if the expression, as it stands, is certainly zero or more.
    pub(super) fn is_nonnegative(&self, e: &Expr) -> bool {
        crate::work::count(crate::work::AlgebraWork::Asked, 1);
        let mut sums = Search::over(self);
        let mut is_proved = || {
            Search::over(self).directed(e, MAX_DIRECTED_DEPTH)
                || splits(self, e, MAX_CASES)
                || (1..=MAX_DEPTH).any(|depth| sums.all(e, depth))
        };
        self.interval(e).is_nonnegative() || (!is_refuted(self, e) && is_proved())
    }

    /// True if the expression is zero or more by ranges and one known inequality, or by what defines one of its atoms; or
    /// if it is a sum with a min, or less a max, and is zero or more with either operand in its place.
    pub(super) fn follows_simply(&self, e: &Expr) -> bool {
        Search::over(self).directed(e, 1) || splits(self, e, MAX_CASES)
    }
}

/// What defines an atom, as expressions that are zero or more.
fn definition(facts: &Facts, atom: &Atom) -> Vec<Expr> {
    let is_nonnegative = |e: &Expr| facts.interval(e).is_nonnegative();
    let value = Expr::from_atom(atom.clone());
    let mut known = match atom {
        Atom::FloorDiv(x, d) if is_nonnegative(d) => vec![x - d * &value, d * &value + d - 1 - x],
        Atom::Mod(x, d) if is_nonnegative(d) && is_nonnegative(x) => vec![d - 1 - &value, x - &value],
        Atom::Mod(_, d) if is_nonnegative(d) => vec![d - 1 - &value],
        Atom::Sym(_) | Atom::FloorDiv(..) | Atom::Mod(..) => vec![],
        Atom::Min(a, b) => vec![a - &value, b - &value],
        Atom::Max(a, b) => vec![&value - a, &value - b],
    };
    known.retain(|e| !e.is_overflow());
    known
}

/// Splits into cases until nothing is left to split; at most `cases` splits within each other.
fn splits(facts: &Facts, e: &Expr, cases: u32) -> bool {
    let Some((a, b)) = by_cases(e) else { return false };
    let holds = |e: &Expr| {
        Search::over(facts).directed(e, MAX_DIRECTED_DEPTH) || (cases > 1 && splits(facts, e, cases - 1))
    };
    holds(&a) && holds(&b)
}

/// A search for known inequalities that show an expression to be zero or more.
struct Search<'f> {
    facts: &'f Facts,
    /// Sums that it may still look at.
    steps: u32,
    /// What defines the atoms of those that it looked at.
    defined: FxHashMap<Atom, Vec<Expr>>,
}

impl<'f> Search<'f> {
    fn over(facts: &'f Facts) -> Search<'f> {
        Search { facts, steps: MAX_STEPS, defined: FxHashMap::default() }
    }

    /// Takes away the highest negative term, again and again: an index of many dimensions needs as many steps.
    fn directed(&mut self, e: &Expr, depth: u32) -> bool {
        if e.is_overflow() || self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        if self.facts.interval(e).is_nonnegative() || self.facts.is_assumed(e) {
            return true;
        }
        let Some(highest) = varying_terms(e).find(|term| term.coefficient < 0) else { return false };
        let terms = std::slice::from_ref(highest);
        depth > 0 && self.less_a_hypothesis(e, terms, |search, less| search.directed(less, depth - 1))
    }

    /// Tries all sums of exactly `depth` known inequalities that share a term with what they are taken from.
    fn all(&mut self, e: &Expr, depth: u32) -> bool {
        if e.is_overflow() || self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        if depth == 0 {
            return self.facts.interval(e).is_nonnegative();
        }
        self.less_a_hypothesis(e, e.terms(), |search, less| search.all(less, depth - 1))
    }

    /// Whether something holds of an expression less a known inequality, for any that changes one of these terms; looks as
    /// long as there are steps.
    fn less_a_hypothesis(
        &mut self,
        e: &Expr,
        terms: &[Term],
        holds: impl Fn(&mut Self, &Expr) -> bool,
    ) -> bool {
        for known in self.hypotheses(e, terms) {
            if self.steps == 0 {
                return false;
            }
            crate::work::count(crate::work::AlgebraWork::Tried, 1);
            let scales = self.scales(terms, &known);
            if scales.into_iter().any(|scale| holds(self, &(e - scale * &*known))) {
                return true;
            }
        }
        false
    }

    /// What a known inequality may be multiplied by so that one of the terms goes away, or changes to the better.
    fn scales<'t>(&self, terms: &'t [Term], known: &'t Expr) -> Vec<Expr> {
        if let [term] = terms {
            let mentions = |by: &&Term| by.monomial.lead().is_some_and(|lead| term.monomial.power(lead) > 0);
            let scales = known.terms().iter().filter(mentions).filter_map(|by| scale(term, by));
            return self.nonnegative_ones(scales.collect());
        }
        let mut by_lead: BTreeMap<&Atom, Vec<&Term>> = BTreeMap::new();
        for (lead, by) in known.terms().iter().filter_map(|by| Some((by.monomial.lead()?, by))) {
            by_lead.entry(lead).or_default().push(by);
        }
        let sharing = |term: &'t Term| {
            let atoms = term.monomial.factors().iter().map(|(atom, _)| atom);
            atoms.filter_map(|atom| by_lead.get(atom)).flatten().map(move |by| (term, *by))
        };
        self.nonnegative_ones(
            terms.iter().flat_map(sharing).filter_map(|(term, by)| scale(term, by)).collect(),
        )
    }

    /// Those that are zero or more, each once.
    fn nonnegative_ones(&self, mut scales: Vec<Expr>) -> Vec<Expr> {
        scales.sort();
        scales.dedup();
        scales.retain(|scale| self.facts.interval(scale).is_nonnegative());
        scales
    }

    /// Expressions that are zero or more: the assumed ones that share something with these terms of `e`, and those that
    /// define the atoms of `e`.
    fn hypotheses(&mut self, e: &Expr, terms: &[Term]) -> impl Iterator<Item = Cow<'f, Expr>> + use<'f> {
        let (facts, mut known) = (self.facts, Vec::new());
        for atom in atoms(e) {
            let define = |atom: &Atom| definition(facts, atom);
            let defined = self.defined.entry(atom).or_insert_with_key(define);
            known.extend(defined.iter().cloned());
        }
        let assumed = facts.inequalities_sharing(terms).map(Cow::Borrowed);
        assumed.chain(known.into_iter().map(Cow::Owned))
    }
}

/// An expression with a min that it contains as a summand, or a max that is taken from it, replaced by each operand: it is
/// the smaller of the two.
fn by_cases(e: &Expr) -> Option<(Expr, Expr)> {
    e.terms().iter().find_map(|term| {
        let atom = term.monomial.as_atom()?;
        let (a, b) = match (atom, term.coefficient > 0) {
            (Atom::Min(a, b), true) | (Atom::Max(a, b), false) => (a, b),
            _ => return None,
        };
        let with =
            |operand: &Expr| e + (operand - Expr::from_atom(atom.clone())) * Expr::constant(term.coefficient);
        Some((with(a), with(b)))
    })
}

fn varying_terms(e: &Expr) -> impl Iterator<Item = &Term> {
    e.terms().iter().filter(|term| !term.monomial.is_one())
}

/// How often a term is taken from another of the same sign: a negative one all up, a positive one not beyond zero.
fn scale(term: &Term, by: &Term) -> Option<Expr> {
    crate::work::count(crate::work::AlgebraWork::Scaled, 1);
    if (term.coefficient < 0) != (by.coefficient < 0) {
        return None;
    }
    let (wanted, given) = (term.coefficient.unsigned_abs(), by.coefficient.unsigned_abs());
    let times = if term.coefficient < 0 { wanted.div_ceil(given) } else { wanted / given };
    let monomial = term.monomial.over(&by.monomial)?;
    Some(Expr::from_term(i64::try_from(times).ok()?, monomial)).filter(|scale| !scale.is_zero())
}

/// Writes each `x % d` as `x - d*(x // d)`.
fn open_remainders(e: &Expr) -> Expr {
    e.map_atoms(&mut |atom| match atom {
        Atom::Mod(x, d) => Some(x - d * x.floor_div(d)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Range, Sym};
    use super::*;

    fn sizes(count: u32) -> Facts {
        let mut facts = Facts::new();
        (0..count).for_each(|index| facts.assume_range(Sym::from_u32(index), 0, None));
        facts
    }

    #[test]
    fn an_address_stays_inside_its_buffer() {
        // Row i0 of i1, column 4*i2 + i3 of i4 = 4*i5, in a tensor of i1*i4 elements.
        let mut facts = sizes(6);
        facts.assume_lt(&Expr::read("i0"), &Expr::read("i1")).unwrap();
        facts.assume_lt(&Expr::read("i2"), &Expr::read("i5")).unwrap();
        facts.assume_range(Sym::from_u32(3), 0, 3);
        facts.assume_equal(&Expr::read("i4"), &Expr::read("4*i5")).unwrap();
        assert!(facts.prove_lt(&Expr::read("i0*i4 + 4*i2 + i3"), &Expr::read("i1*i4")));
        assert!(!facts.prove_lt(&Expr::read("i0*i4 + 4*i2 + i3 + 1"), &Expr::read("i1*i4")));
        assert!(facts.prove_le(&Expr::zero(), &Expr::read("i0*i4 + 4*i2 + i3")));
    }

    #[test]
    fn an_index_of_eight_dimensions_stays_inside() {
        let mut facts = sizes(16);
        let (mut index, mut count) = (Expr::zero(), Expr::one());
        for dimension in 0..8 {
            let (variable, extent) =
                (Expr::read(&format!("i{dimension}")), Expr::read(&format!("i{}", 8 + dimension)));
            facts.assume_lt(&variable, &extent).unwrap();
            index = index * &extent + variable;
            count = count * extent;
        }
        assert!(facts.prove_lt(&index, &count));
        assert!(!facts.prove_lt(&(index + 1), &count));
    }

    #[test]
    fn rounding_is_bounded() {
        let facts = sizes(2);
        assert!(facts.prove_le(&Expr::read("(i0 // 4)*4"), &Expr::read("i0")));
        assert!(facts.prove_lt(&Expr::read("i0"), &Expr::read("(i0 // 4)*4 + 4")));
        assert!(!facts.prove_le(&Expr::read("i0"), &Expr::read("(i0 // 4)*4")));
        assert!(facts.prove_le(&Expr::read("min(i0, 2*i1)"), &Expr::read("i0 + i1")));
        assert!(facts.prove_le(&Expr::read("i0 % 8"), &Expr::read("i0")));
        assert!(facts.prove_eq(&Expr::read("i0 % 4"), &Expr::read("i0 - (i0 // 4)*4")));
    }

    #[test]
    fn simplest_forms_are_compared_as_they_are_or_proved() {
        let mut facts = sizes(4);
        let equal = |facts: &Facts, a: &str, b: &str| {
            let [a, b] = [a, b].map(|text| facts.normalize(&Expr::read(text)));
            assert_eq!(facts.prove_eq_of_simplest(&a, &b), facts.prove_eq(&a, &b), "{a} and {b}");
            facts.prove_eq_of_simplest(&a, &b)
        };
        assert!(equal(&facts, "i0 + i1", "i1 + i0"));
        assert!(!equal(&facts, "min(i0, 7)", "min(i0, 8)"));
        assert!(equal(&facts, "i0 % 4", "i0 - (i0 // 4)*4"));
        assert!(!equal(&facts, "i0*i1", "6*i2"));
        facts.assume_equal(&Expr::read("i0*i1"), &Expr::read("6*i2")).unwrap();
        assert!(equal(&facts, "i0*i1*i3", "6*i2*i3"));
        assert!(!facts.prove_eq_of_simplest(&Expr::overflow(), &Expr::overflow()));
    }

    #[test]
    fn different_by_parity_sign_or_range() {
        let mut facts = sizes(3);
        facts.assume_multiple(&Expr::read("i0"), 6);
        assert!(facts.prove_ne(&Expr::read("i0 + 9*i1"), &Expr::read("1")));
        assert!(facts.prove_ne(&Expr::read("i0"), &Expr::read("-1")));
        assert!(!facts.prove_ne(&Expr::read("i0"), &Expr::read("6")));
        assert!(!facts.prove_ne(&Expr::read("i0"), &Expr::read("i1")));
        facts.assume_lt(&Expr::read("i1"), &Expr::read("i2")).unwrap();
        assert!(facts.prove_ne(&Expr::read("i1"), &Expr::read("i2")));
    }

    #[test]
    fn divisibility_is_by_numbers_and_by_sizes() {
        let mut facts = sizes(3);
        facts.assume_equal(&Expr::read("i2"), &Expr::read("i0*i1")).unwrap();
        facts.assume_multiple(&Expr::read("i1"), 32);
        assert!(facts.prove_divides(&Expr::read("i0"), &Expr::read("i2")));
        assert!(facts.prove_divides(&Expr::read("16*i0"), &Expr::read("3*i2")));
        assert!(!facts.prove_divides(&Expr::read("64"), &Expr::read("i2")));
        assert!(facts.prove_divides(&Expr::zero(), &Expr::zero()));
        assert!(!facts.prove_divides(&Expr::zero(), &Expr::read("i0")));
    }

    #[test]
    fn assumptions_are_found_among_many() {
        let mut facts = sizes(2);
        let slack = |k: i64| Expr::read("i0") - Expr::constant(k) * Expr::read("i1");
        for k in 1..300 {
            facts.assume_le(&Expr::zero(), &slack(k)).unwrap();
            assert!(facts.prove_le(&Expr::zero(), &slack(k)), "{k} of them");
        }
    }

    #[test]
    fn an_equality_that_an_inequality_excludes_is_rejected() {
        let mut facts = sizes(3);
        facts.assume_le(&Expr::constant(1), &Expr::read("i0*i1")).unwrap();
        let before = facts.clone();
        assert!(facts.assume_equal(&Expr::read("i1"), &Expr::zero()).is_err());
        assert_eq!(facts, before);
        facts.assume_equal(&Expr::read("i1"), &Expr::read("i2")).unwrap();
        assert!(facts.assume_equal(&Expr::read("i2"), &Expr::zero()).is_err());
    }

    #[test]
    fn a_relation_is_solved_when_it_can_be() {
        let mut facts = sizes(3);
        facts.assume_equal(&Expr::read("i0*i1"), &Expr::read("20")).unwrap();
        facts.assume_equal(&Expr::read("3*i2*i1"), &Expr::read("8*i1")).unwrap();
        assert!(facts.assume_equal(&Expr::read("i1"), &Expr::read("5")).is_err(), "3*i2 = 8");
        assert!(facts.assume_equal(&Expr::read("i1"), &Expr::read("6")).is_err(), "6*i0 = 20");
        let mut facts = sizes(2);
        facts.assume_equal(&Expr::read("i0*i1"), &Expr::read("20")).unwrap();
        facts.assume_equal(&Expr::read("i1"), &Expr::read("5")).unwrap();
        assert_eq!(facts.value(Sym::from_u32(0)), Some(&Expr::constant(4)));
        assert_eq!(facts.relations().count(), 0);
    }

    #[test]
    fn contradictions_are_rejected_and_leave_the_facts() {
        let mut facts = sizes(3);
        facts.assume_range(Sym::from_u32(0), 1, 8);
        let before = facts.clone();
        assert!(facts.assume_equal(&Expr::read("i0"), &Expr::read("0")).is_err());
        assert!(facts.assume_equal(&Expr::read("i0"), &Expr::read("-i1")).is_err());
        assert!(facts.assume_equal(&Expr::read("2*i0"), &Expr::read("4*i1 + 1")).is_err());
        assert!(facts.assume_equal(&Expr::read("i0"), &Expr::read("i0 + 1")).is_err());
        let error = facts.assume_le(&Expr::read("i1 + 9"), &Expr::read("i0")).unwrap_err();
        assert_eq!(error.to_string(), "`i1 + 9 <= i0` contradicts what is known");
        assert_eq!(facts, before);
    }

    #[test]
    fn facts_of_a_solved_symbol_pass_to_its_value() {
        let mut facts = sizes(3);
        facts.assume_range(Sym::from_u32(2), 2, 9);
        facts.assume_multiple(&Expr::read("i2"), 4);
        facts.assume_equal(&Expr::read("i2"), &Expr::read("i0")).unwrap();
        assert_eq!(facts.bounds(&Expr::read("i0")), Range::new(Some(2), Some(9)));
        assert!(facts.prove_divides(&Expr::read("4"), &Expr::read("i0")));
        facts.assume_range(Sym::from_u32(2), 4, None);
        assert_eq!(facts.bounds(&Expr::read("i0")).lo(), Some(4));
        assert_eq!(facts.equalities().map(|(sym, _)| sym.to_string()).collect::<Vec<_>>(), ["i2"]);
    }

    #[test]
    fn nothing_is_proved_of_overflow() {
        let (facts, lost) = (Facts::new(), Expr::overflow());
        assert!(!facts.prove_eq(&lost, &lost) && !facts.prove_ne(&lost, &Expr::read("1")));
        assert!(!facts.prove_le(&lost, &lost) && !facts.prove_divides(&Expr::read("1"), &lost));
        assert_eq!(facts.bounds(&lost), Range::ALL);
    }
}
