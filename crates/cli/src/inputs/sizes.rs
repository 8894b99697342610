//! The values of size symbols, as far as the command line and files determine them.

use index::Sym;
use ir::definition::Definition;
use ir::graph::{Sizes, SymbolSource};

use super::request::{Request, check_once};
use crate::failure::Failure;

/// Values of size symbols that are known before any data is made.
#[derive(Debug, Default)]
pub struct KnownSizes {
    known: Sizes,
    /// Those among them that were requested.
    requested: Vec<(Sym, i64)>,
}

impl KnownSizes {
    /// The values of `--size`.
    ///
    /// # Errors
    /// When it names a symbol that the definition does not have, or one twice.
    pub fn requested(definition: &Definition, request: &Request) -> Result<KnownSizes, Failure> {
        let mut sizes = KnownSizes::default();
        check_once("--size", request.sizes.iter().map(|(name, _)| name.as_str()))?;
        for (name, size) in &request.sizes {
            let mut symbols = definition.graph.symbols().keys();
            let symbol = symbols.find(|&symbol| definition.symbol_name(symbol) == *name);
            let symbol = symbol.ok_or_else(|| unknown(definition, name))?;
            sizes.known.set(symbol, *size);
            sizes.requested.push((symbol, *size));
        }
        Ok(sizes)
    }

    /// Rejects requested sizes that no input has: a run computes them.
    ///
    /// # Errors
    /// The first such size.
    pub fn reject_computed(&self, definition: &Definition) -> Result<(), Failure> {
        let is_computed = |(symbol, _): &&(Sym, i64)| {
            matches!(definition.graph.symbols().get(*symbol), Some(SymbolSource::Computed(_)))
        };
        let Some(&(symbol, size)) = self.requested.iter().find(is_computed) else { return Ok(()) };
        let symbol = definition.symbol_name(symbol);
        let message = format!("--size {symbol}={size}: a run computes {symbol} of scalars");
        Err(Failure::user_with_help(message, "give these scalars by --input NAME=NUMBER".to_owned()))
    }

    /// Adds the sizes of an existing input.
    ///
    /// # Errors
    /// When `--size` gave another value.
    pub fn observe(&mut self, definition: &Definition, input: usize, sizes: &[usize]) -> Result<(), Failure> {
        let val = definition.fusion.inputs()[input];
        let (shape, sizes) = (definition.graph.shape(val), sizes.iter().map(|&size| size as i64));
        self.known.observe(shape, &sizes.clone().collect::<Vec<_>>());
        for (axis, (expr, size)) in shape.iter().zip(sizes).enumerate() {
            let Some((symbol, said)) = expr.as_sym().and_then(|sym| Some((sym, self.known.get(sym)?))) else {
                continue;
            };
            if said != size {
                let (symbol, name) = (definition.symbol_name(symbol), definition.name_of(val));
                let message = format!(
                    "--size {symbol}={said}: axis {axis} of the data given for `{name}` has size {size}"
                );
                return Err(Failure::user(message));
            }
        }
        Ok(())
    }

    /// Adds the value of an existing scalar input, where that is a size.
    ///
    /// # Errors
    /// When `--size` gave another value.
    pub fn observe_scalar(
        &mut self,
        definition: &Definition,
        input: usize,
        value: i64,
    ) -> Result<(), Failure> {
        let Some(symbol) = scalar_symbol(definition, input) else { return Ok(()) };
        if let Some(said) = self.known.get(symbol).filter(|&said| said != value) {
            let name = definition.name_of(definition.fusion.inputs()[input]);
            let symbol = definition.symbol_name(symbol);
            return Err(Failure::user(format!(
                "--size {symbol}={said}: the number given for `{name}` is {value}"
            )));
        }
        self.known.set(symbol, value);
        Ok(())
    }

    /// Adds the consequences of the equalities that the definition implies.
    pub fn propagate(&mut self, definition: &Definition) {
        self.known.propagate(definition.fusion.facts());
    }

    /// The sizes of an input's axes, `None` if unknown.
    pub fn of_input(&self, definition: &Definition, input: usize) -> Vec<Option<i64>> {
        let shape = definition.graph.shape(definition.fusion.inputs()[input]);
        shape.iter().map(|size| self.known.value(size).ok()).collect()
    }

    /// The value of a scalar input that is a size, `None` if unknown.
    pub fn of_scalar(&self, definition: &Definition, input: usize) -> Option<i64> {
        self.known.get(scalar_symbol(definition, input)?)
    }

    /// All known values.
    pub fn values(&self) -> &Sizes {
        &self.known
    }
}

fn scalar_symbol(definition: &Definition, input: usize) -> Option<Sym> {
    definition.graph.symbol_of(&SymbolSource::ScalarInput { ordinal: input as u32 })
}

fn unknown(definition: &Definition, name: &str) -> Failure {
    let describe = |(symbol, source): (Sym, &SymbolSource)| {
        let of = |ordinal: u32| definition.name_of(definition.fusion.inputs()[ordinal as usize]);
        match *source {
            SymbolSource::Computed(_) => Some(format!("{symbol} (computed of scalars)")),
            SymbolSource::InputSize { ordinal, axis } => {
                Some(format!("{symbol} (axis {axis} of {})", of(ordinal)))
            }
            SymbolSource::ScalarInput { ordinal } => Some(format!("{symbol} (the scalar {})", of(ordinal))),
            SymbolSource::Seed | SymbolSource::Offset => None,
        }
    };
    let there: Vec<String> = definition.graph.symbols().iter().filter_map(describe).collect();
    let there = if there.is_empty() { "no symbolic size".to_owned() } else { there.join(", ") };
    Failure::user(format!("--size: the definition has no size `{name}`; it has {there}"))
}
