//! The random sequences that a call seeds: one for each draw of the definition that names no sequence.

use index::{Expr, Sym};
use ir::graph::{Graph, SymbolSource};

/// The number of draws, and the symbols for the seed and the offset that a call supplies.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::define) struct Draws {
    symbols: Option<[Sym; 2]>,
    count: u32,
}

impl Draws {
    /// The `count` draws of an existing graph.
    pub fn of(graph: &Graph, count: u32) -> Draws {
        let known = |source| graph.symbol_of(&source);
        let symbols = known(SymbolSource::Seed).zip(known(SymbolSource::Offset));
        Draws { symbols: symbols.map(|(seed, offset)| [seed, offset]), count }
    }

    /// Whether the call seeds nothing.
    pub fn is_empty(self) -> bool {
        self.count == 0
    }

    /// How many sequences there are.
    pub fn count(self) -> u32 {
        self.count
    }

    /// The seed of the call, and an offset that no other draw of the definition has.
    pub fn next(&mut self, graph: &mut Graph) -> [Expr; 2] {
        let add = || [SymbolSource::Seed, SymbolSource::Offset].map(|source| graph.add_symbol(source));
        let [seed, offset] = *self.symbols.get_or_insert_with(add);
        let number = i64::from(self.count);
        self.count += 1;
        [Expr::sym(seed), Expr::sym(offset) + number]
    }
}
