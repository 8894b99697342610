//! Definitions: a graph, the view of it that the user asked for, and the record of how it was written.
//!
//! `definer` (the builder) · `declare` (inputs) · `call` (ops by name) · `scalar` (elementwise ops) · `forms` (what moves
//! data) · `folds` · `complex/` (complex numbers as pairs) · `composites` (softmax and kin) · `random` · `library` (sorts,
//! scatter, products of matrices) · `attention` · `sizes` and `arguments` (what calls take) · `object` (things of the
//! language) · `checkpoint` (what refused calls take back) · `record` (as written) · `lift` (a view as a definition of its
//! own) · `error`.

mod arguments;
mod attention;
mod call;
mod checkpoint;
mod complex;
mod composites;
mod declare;
mod definer;
mod error;
mod folds;
mod forms;
mod function;
mod gathers;
mod library;
mod lift;
mod object;
mod random;
mod record;
mod scalar;
mod scans;
mod sizes;
mod slices;
#[cfg(test)]
mod tests;

pub(crate) use arguments::default;
pub use definer::Definer;
pub use error::DefineError;
pub use function::{Function, Term};
pub use lift::{Lifted, Origin, lift};
pub use object::{Argument, Object, Value};
pub use record::{Action, DeclaredLayout, Entry, EntryData, InputDecl, Record, Site, Statement};

use crate::graph::{Fusion, Graph, Signature, Tasks, Val};
use crate::index::Sym;

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The container of its nodes.
    pub graph: Graph,
    /// What it takes and gives.
    pub fusion: Fusion,
    /// How it was written.
    pub record: Record,
    /// The composites in it, as tasks of kind `Pattern`.
    pub patterns: Tasks,
    /// How many of its draws of random numbers take the sequence of the call.
    pub draws: u32,
}

impl Definition {
    /// The user's name for a value, or the graph's.
    pub fn name_of(&self, val: Val) -> String {
        self.record.name_of(val).map_or_else(|| val.to_string(), str::to_owned)
    }

    /// The inputs as declared, in order.
    pub fn input_decls(&self) -> &[InputDecl] {
        self.record.inputs()
    }

    /// What is demanded of its inputs.
    pub fn signature(&self) -> Signature {
        let signature = Signature::new(&self.graph, &self.fusion, |place| self.record.input_name(place));
        signature.because(|size| self.record.demand_of(size))
    }

    /// What complaints call an input: its position, and the user's name for it or else the line that declares it.
    pub fn input_name(&self, place: usize) -> String {
        Signature::input_in_words(place, self.record.input_name(place))
    }

    /// The name of a size symbol, as the command line takes it: `i0`, `i1`, …
    pub fn symbol_name(&self, symbol: Sym) -> String {
        symbol.to_string()
    }
}
