//! Definitions: a graph, the view of it that the user asked for, and the record of how it was written.
//!
//! `record` (as written) · `source_line` (where) · `object` (objects of the language) · `function` (lambdas as written).
//! Data only: the crate `frontend` makes, reads and prints definitions.

mod function;
mod object;
mod record;
mod source_line;

pub use function::{Function, Term};
pub use object::{CallArgument, NamedValue, Object};
pub use record::{Action, DeclaredLayout, Entry, EntryData, InputDecl, Mark, Record, Site, Statement};
pub use source_line::SourceLine;

use index::Sym;

use crate::graph::{Fusion, Graph, InputSignature, Tasks, Val};

/// A definition.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The container of its nodes.
    pub graph: Graph,
    /// Its inputs, outputs and nodes.
    pub fusion: Fusion,
    /// How it was written.
    pub record: Record,
    /// Its composites, and the user's groups.
    pub tasks: Tasks,
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

    /// The constraints on its inputs.
    pub fn signature(&self) -> InputSignature {
        let signature = InputSignature::new(&self.graph, &self.fusion, |place| self.record.input_name(place));
        let constraints = self.record.constraints(self.fusion.facts());
        signature.because(|size| constraints.get(size).cloned())
    }

    /// The name of an input in diagnostics: its position, and the user's name for it or otherwise the line that declares it.
    pub fn input_name(&self, place: usize) -> String {
        InputSignature::input_in_words(place, self.record.input_name(place))
    }

    /// The name of a size symbol, as the command line takes it: `i0`, `i1`, …
    pub fn symbol_name(&self, symbol: Sym) -> String {
        symbol.to_string()
    }
}
