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

use index::{Expr, Facts, Sym};
use rustc_hash::FxHashMap;

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

    /// Checks that a value has the dtype and rank of a value of `part`, a part of this definition, and no size that is another
    /// constant or symbol. `sizes` has the sizes here of symbols of the part, as far as they are to be compared.
    ///
    /// # Errors
    /// What is different, in words.
    pub fn require_type(
        &self,
        val: Val,
        part: &Definition,
        own: Val,
        sizes: &FxHashMap<Sym, Expr>,
    ) -> Result<(), String> {
        if !self.graph.has(val) {
            return Err("is no value of the definition".to_owned());
        }
        let (expected, given) = (self.graph.ty(val), part.graph.ty(own));
        let differ = |(here, there): (&Expr, &Expr)| {
            let is_known = there.symbols().iter().all(|symbol| sizes.contains_key(symbol));
            let there = there.substitute(&|symbol| sizes.get(&symbol).cloned());
            is_known && are_distinct(self.fusion.facts(), here, &there)
        };
        let fits = expected.dtype == given.dtype
            && expected.rank() == given.rank()
            && !expected.shape.iter().zip(&given.shape).any(differ);
        if fits { Ok(()) } else { Err(format!("is {given}, where the definition has {expected}")) }
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

/// Whether two sizes are two constants or two symbols that are not proved equal.
fn are_distinct(facts: &Facts, a: &Expr, b: &Expr) -> bool {
    let [a, b] = [a, b].map(|size| facts.normalize(size));
    let are_constants = a.as_const().is_some() && b.as_const().is_some();
    let are_symbols = a.as_sym().is_some() && b.as_sym().is_some();
    (are_constants || are_symbols) && !facts.prove_eq(&a, &b)
}
