//! Facts of all kinds in one form.

use std::collections::BTreeSet;

use super::{Facts, Range};
use crate::{Expr, Sym};

/// What a fact says of an expression.
pub(crate) struct Condition<'f> {
    pub about: &'f Expr,
    pub range: Range,
    /// What divides it.
    pub multiple: i64,
}

impl Facts {
    /// The facts that mention some of these symbols, except for ranges and multiples of the symbols themselves. `None` if one
    /// of these facts mentions another symbol, if there are more than `most` of a kind, or if one of the symbols has a value.
    pub(crate) fn conditions_within(
        &self,
        symbols: &BTreeSet<Sym>,
        most: usize,
    ) -> Option<Vec<Condition<'_>>> {
        if symbols.iter().any(|&sym| self.value(sym).is_some()) {
            return None;
        }
        let concerned = |e: &&Expr| symbols.iter().any(|&sym| e.mentions(sym));
        let within = |range: Range| move |about| Condition { about, range, multiple: 1 };
        let zeros = self.relations.iter().filter(concerned).map(within(Range::point(0)));
        let known = self.nonnegative.mentioning(symbols).into_iter();
        let known = known.filter_map(|number| self.nonnegative.get(number));
        let nonnegative = known.map(within(Range::new(Some(0), None)));
        let divided = self.multiples.iter().filter(|(e, _)| concerned(&e));
        let divided =
            divided.map(|(about, multiple)| Condition { about, range: Range::ALL, multiple: *multiple });
        let dependents = symbols.iter().filter_map(|sym| self.dependents.get(sym)).flatten();
        let dependents: BTreeSet<Sym> = dependents.copied().collect();
        let solved = dependents.into_iter().map(|sym| Condition {
            about: &self.equalities[&sym],
            range: self.range(sym),
            multiple: self.multiple(sym),
        });
        let kinds: [Vec<Condition<'_>>; 4] = [
            zeros.take(most + 1).collect(),
            nonnegative.take(most + 1).collect(),
            divided.take(most + 1).collect(),
            solved.take(most + 1).collect(),
        ];
        let is_within = |condition: &Condition<'_>| condition.about.symbols().is_subset(symbols);
        let are_within = kinds.iter().all(|kind| kind.len() <= most && kind.iter().all(is_within));
        are_within.then(|| kinds.into_iter().flatten().collect())
    }
}
