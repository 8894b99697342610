//! Quotients and remainders of a block's number and of sizes: each gets a variable, declared at the top, as a division takes
//! more instructions than the rest of an index.

use index::{Atom, Expr, Sym};
use indexmap::IndexMap;
use kernel::Kernel;

/// Those of a kernel so far, by name and text, in an order in which none needs a later one.
pub(super) struct Hoisted {
    block: Sym,
    arguments: Vec<Sym>,
    divisions: IndexMap<Atom, String>,
}

impl Hoisted {
    pub(super) fn new(kernel: &Kernel) -> Hoisted {
        Hoisted { block: kernel.block, arguments: kernel.arguments.clone(), divisions: IndexMap::new() }
    }

    /// Whether a division is the same for all lanes and can be done early: its divisor is not zero in any block.
    pub(super) fn takes(&self, a: &Expr, b: &Expr) -> bool {
        let is_block = |symbol: &Sym| *symbol == self.block;
        let is_known = |symbol: &Sym| is_block(symbol) || self.arguments.contains(symbol);
        let of_block = a.symbols().iter().any(is_block);
        a.symbols().iter().chain(&b.symbols()).all(is_known) && (of_block || b.as_const().is_some())
    }

    /// The variable of a division; `text` defines it if it is new.
    pub(super) fn variable(&mut self, division: &Atom, text: String) -> String {
        let place = self.divisions.get_index_of(division).unwrap_or(self.divisions.len());
        self.divisions.entry(division.clone()).or_insert(text);
        format!("d{place}")
    }

    /// Names and texts.
    pub(super) fn declarations(&self) -> impl DoubleEndedIterator<Item = (String, &str)> {
        self.divisions.values().enumerate().map(|(place, text)| (format!("d{place}"), text.as_str()))
    }
}
