//! The position of a call's draws in the sequence of random numbers.
//!
//! Takes the seed that was set and the draws since, returns the values of their symbols.

use index::Sym;

use super::{Graph, SymbolSource};

/// The position of a call's draws: the seed that was set, and how many draws there were since.
///
/// The draw number `k` of a definition takes the sequence of the seed at `offset + k`, so a call's draws equal those with an
/// explicit seed and offset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stream {
    pub seed: u64,
    /// The offset of the next draw.
    pub offset: u64,
}

impl Stream {
    /// The beginning of the sequence of a seed.
    pub fn new(seed: u64) -> Stream {
        Stream { seed, offset: 0 }
    }

    /// The values of a graph's symbols for a stream; none if nothing is drawn.
    pub fn symbols(self, graph: &Graph) -> impl Iterator<Item = (Sym, i64)> + '_ {
        let value = move |source: &SymbolSource| match source {
            SymbolSource::Seed => Some(self.seed as i64),
            SymbolSource::Offset => Some(self.offset as i64),
            SymbolSource::InputSize { .. } | SymbolSource::ScalarInput { .. } | SymbolSource::Computed(_) => {
                None
            }
        };
        graph.symbols().iter().filter_map(move |(sym, source)| Some((sym, value(source)?)))
    }
}
