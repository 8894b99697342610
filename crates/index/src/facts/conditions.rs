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
    /// The facts that mention some of these symbols, ranges and multiples of the symbols themselves left out; `None` if they
    /// are more than `most` of a kind, if they mention other symbols as well, or if a symbol has a value.
    pub(crate) fn conditions_on_alone(
        &self,
        symbols: &BTreeSet<Sym>,
        most: usize,
    ) -> Option<Vec<Condition<'_>>> {
        if symbols.iter().any(|&sym| self.value(sym).is_some()) {
            return None;
        }
        let concerned = |e: &&Expr| symbols.iter().any(|&sym| e.mentions(sym));
        let is = |range: Range| move |about| Condition { about, range, multiple: 1 };
        let zeros = self.relations.iter().filter(concerned).map(is(Range::point(0)));
        let known = self.nonnegative.mentioning(symbols).into_iter();
        let known = known.filter_map(|number| self.nonnegative.get(number));
        let nonnegative = known.map(is(Range::new(Some(0), None)));
        let divided = self.multiples.iter().filter(|(e, _)| concerned(&e));
        let divided =
            divided.map(|(about, multiple)| Condition { about, range: Range::ALL, multiple: *multiple });
        let dependents = symbols.iter().filter_map(|sym| self.dependents.get(sym)).flatten();
        let solved = dependents.collect::<BTreeSet<_>>().into_iter().map(|&sym| Condition {
            about: &self.equalities[&sym],
            range: self.range(sym),
            multiple: self.multiple(sym),
        });
        let mut all: Vec<Condition<'_>> = Vec::new();
        let kinds: [&mut dyn Iterator<Item = Condition<'_>>; 4] =
            [&mut { zeros }, &mut { nonnegative }, &mut { divided }, &mut { solved }];
        for kind in kinds {
            let before = all.len();
            all.extend(kind.take(most + 1));
            if all.len() - before > most {
                return None;
            }
        }
        all.iter().all(|condition| condition.about.symbols().is_subset(symbols)).then_some(all)
    }
}
