//! The values of size symbols as far as the command line and files say them.

use std::collections::BTreeMap;

use ir::define::Definition;
use ir::graph::SymbolSource;
use ir::index::Sym;

use super::request::Request;
use crate::failure::Failure;

/// Values of size symbols that are known before any data is made.
#[derive(Debug, Default)]
pub struct Sizes {
    known: BTreeMap<Sym, i64>,
}

impl Sizes {
    /// What `--size` says.
    ///
    /// # Errors
    /// When it names a symbol that the definition does not have.
    pub fn requested(definition: &Definition, request: &Request) -> Result<Sizes, Failure> {
        let mut sizes = Sizes::default();
        for (name, size) in request.sizes_by_name() {
            let mut symbols = definition.graph.symbols().keys();
            let symbol = symbols.find(|&symbol| definition.symbol_name(symbol) == name);
            sizes.known.insert(symbol.ok_or_else(|| unknown(definition, name))?, size);
        }
        Ok(sizes)
    }

    /// Adds the sizes of an input that is there.
    ///
    /// # Errors
    /// When `--size` said otherwise.
    pub fn observe(&mut self, definition: &Definition, input: usize, sizes: &[usize]) -> Result<(), Failure> {
        let val = definition.fusion.inputs()[input];
        for (axis, (expr, &size)) in definition.graph.shape(val).iter().zip(sizes).enumerate() {
            let Some(symbol) = expr.as_sym() else { continue };
            let said = *self.known.entry(symbol).or_insert(size as i64);
            if said != size as i64 {
                let (symbol, name) = (definition.symbol_name(symbol), definition.name_of(val));
                let message = format!(
                    "--size {symbol}={said}: axis {axis} of the data given for `{name}` has size {size}"
                );
                return Err(Failure::user(message));
            }
        }
        Ok(())
    }

    /// Adds what follows from the equalities that the definition implies.
    pub fn propagate(&mut self, definition: &Definition) {
        let facts = definition.fusion.facts();
        let mut before = usize::MAX;
        while before != self.known.len() {
            before = self.known.len();
            for (symbol, value) in facts.equalities() {
                if let Some(&size) = self.known.get(&symbol) {
                    value.as_sym().map(|other| self.known.entry(other).or_insert(size));
                } else if let Ok(size) = value.eval(&|symbol| self.known.get(&symbol).copied()) {
                    self.known.insert(symbol, size);
                }
            }
        }
    }

    /// The sizes of an input's axes, `None` where unknown.
    pub fn of_input(&self, definition: &Definition, input: usize) -> Vec<Option<i64>> {
        let shape = definition.graph.shape(definition.fusion.inputs()[input]);
        shape.iter().map(|size| size.eval(&|symbol| self.known.get(&symbol).copied()).ok()).collect()
    }

    /// All known values.
    pub fn known(&self) -> impl Iterator<Item = (Sym, i64)> + '_ {
        self.known.iter().map(|(&symbol, &size)| (symbol, size))
    }
}

fn unknown(definition: &Definition, name: &str) -> Failure {
    let describe = |(symbol, source): (Sym, &SymbolSource)| {
        let of = |ordinal: u32| definition.name_of(definition.fusion.inputs()[ordinal as usize]);
        match *source {
            SymbolSource::InputSize { ordinal, axis } => format!("{symbol} (axis {axis} of {})", of(ordinal)),
            SymbolSource::ScalarInput { ordinal } => format!("{symbol} (the scalar {})", of(ordinal)),
        }
    };
    let there: Vec<String> = definition.graph.symbols().iter().map(describe).collect();
    let there = if there.is_empty() { "no symbolic size".to_owned() } else { there.join(", ") };
    Failure::user(format!("--size: the definition has no size `{name}`; it has {there}"))
}
