//! The sizes that are expected, for which decisions are taken.

use index::{Expr, Sym};
use rustc_hash::FxHashMap;

/// The largest value that is expected of anything: more bytes than machines have, and few enough to be summed and
/// multiplied by small factors.
const MOST: u64 = 1 << 48;

/// Sizes that the size symbols are expected to have. A symbol without one counts as 1024.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    sizes: FxHashMap<Sym, i64>,
}

impl Hints {
    /// Hints from known sizes.
    pub fn new(sizes: impl IntoIterator<Item = (Sym, i64)>) -> Hints {
        Hints { sizes: sizes.into_iter().collect() }
    }

    /// Whether every symbol of an expression has a size of its own.
    pub fn know(&self, expr: &Expr) -> bool {
        expr.symbols().iter().all(|sym| self.sizes.contains_key(sym))
    }

    /// An expression's expected value, from 0 to 2^48.
    pub fn value(&self, expr: &Expr) -> u64 {
        let value = expr.eval(&|sym| Some(self.sizes.get(&sym).copied().unwrap_or(1024)));
        value.map_or(MOST, |value| (value.max(0) as u64).min(MOST))
    }
}
